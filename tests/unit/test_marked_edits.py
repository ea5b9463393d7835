"""The packaged rules held against edits of older rules that were read one by one."""

from __future__ import annotations

import csv
import re
from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from ietest_fast.lexicon import Tagger
from ietest_fast.transform.synonyms import RuleSet, WordChoice, build_from_texts

if TYPE_CHECKING:
    from pathlib import Path

_EDIT = re.compile(r"\[\[(.*?) -> (.*?)\]\]")

#: Edits among the marked ones that the rules make too, and how many of them were marked as sound.
MEASURED = {"strict": (28, 28), "careful": (40, 40), "broad": (366, 209)}


def _count(shared: Path, rules: RuleSet) -> tuple[int, int]:
    """Count the marked edits that are made, and those among them that are sound."""
    with (shared / "data/soundness/edits.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    marks: Counter[str] = Counter()
    with Tagger.load() as tagger:
        for corpus in ("snli", "mnli"):
            own = [row for row in rows if row["corpus"] == corpus]
            texts = pa.array([_EDIT.sub(lambda edit: edit[1], row["text"]) for row in own])
            kind = WordChoice(texts="captions" if corpus == "snli" else "any")
            if rules == "strict":
                kind = WordChoice(texts="any")
            rephrase = build_from_texts([texts], rules=rules, tagger=tagger, words=kind)
            made = rephrase.transform(pa.table({"text": texts}), ["text"])
            found = {
                (edit["row"], edit["start"], edit["new"].lower()) for edit in made.edits.to_pylist()
            }
            for i, row in enumerate(own):
                edit = _EDIT.search(row["text"])
                assert edit is not None
                start = len(row["text"][: edit.start()].encode())
                marks[row["ok"]] += (i, start, edit[2].lower()) in found
    return marks["0"] + marks["1"], marks["1"]


@pytest.mark.slow
@pytest.mark.parametrize("rules", MEASURED)
def test_precision_on_marked_edits_does_not_fall(shared: Path, rules: RuleSet) -> None:
    n_before, sound_before = MEASURED[rules]
    n, sound = _count(shared, rules)
    print(f"syn.{rules}: {sound} of {n} marked edits are sound ({sound / n:.1%})")
    assert sound / n >= sound_before / n_before - 0.02, (
        f"syn.{rules}: of the marked edits that it makes, {sound / n:.1%} are sound, and "
        f"{sound_before / n_before:.1%} were before; read what it makes now, and narrow its table"
    )
    assert n >= 0.8 * n_before, f"syn.{rules} makes {n} of the marked edits, and made {n_before}"
