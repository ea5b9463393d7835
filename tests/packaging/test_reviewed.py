"""The tables of substitutions that were read, in tools/reviewed."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "tools" / "reviewed"
CONDITION = re.compile(r"(?:prev2?|next2?)!?=[^|;]+(?:\|[^|;]+)*|form=[a-z]+(?:\|[a-z]+)*")
FORMS = {
    "NOUN": {"singular", "plural"},
    "VERB": {"base", "s", "past", "part", "ing"},
    "ADJ": {"pos", "comp", "sup"},
    "ADV": {"pos", "comp", "sup"},
}

if not FOLDER.is_dir():
    pytest.skip("tools/reviewed is not part of an installation", allow_module_level=True)


def read(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.mark.parametrize("name", ["substitutions.tsv", "narrowed.tsv"])
def test_conditions_are_written_as_the_page_says(name: str) -> None:
    for row in read(name):
        assert row["pos"] in FORMS
        if row["when"] == "always":
            continue
        for condition in row["when"].split(";"):
            assert CONDITION.fullmatch(condition.strip()), row
            if condition.startswith("form="):
                assert set(condition[5:].split("|")) <= FORMS[row["pos"]], row


def test_verdicts_follow_from_what_was_read() -> None:
    for row in read("substitutions.tsv"):
        n, accepted = int(row["n_read"]), int(row["n_accepted"])
        expected = "unread" if n == 0 else "refuse" if accepted <= n / 2 else "restrict"
        assert row["verdict"] == ("accept" if n and accepted == n else expected), row
        assert bool(row["faults"]) == (accepted < n), row


def test_words_that_were_left_alone_have_no_substitute() -> None:
    replaced = {(row["lemma"], row["pos"]) for row in read("substitutions.tsv")}
    assert not replaced & {(row["lemma"], row["pos"]) for row in read("left_alone.tsv")}


def test_of_two_verdicts_the_stricter_counts() -> None:
    order = ["never", "only", "always"]
    rows = read("broad_nouns.tsv")
    assert len({(row["old"], row["new"]) for row in rows}) == len(rows)
    for row in rows:
        readers = [row["reader_1"], row["reader_2"]]
        assert row["verdict"] == min(readers, key=order.index), row
        for reader, when in zip(readers, (row["when_1"], row["when_2"]), strict=True):
            assert bool(when) == (reader == "only"), row
