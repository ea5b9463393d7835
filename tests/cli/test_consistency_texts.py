"""Texts beside answers to wordings: those of two models, of two sources, of an item."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import ietest_fast as ie
from ietest_fast.cli.main import main
from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    Rows = list[dict[str, Any]]

FORMATS = ("csv", "jsonl", "parquet")
QUICK: dict[str, Any] = {"n_resamples": 50, "n_threads": 1}


def answers(start: str = "A", *, n_items: int = 6) -> Rows:
    """Items with three paraphrases, half of whose answers are right."""
    return [
        {
            "item": item,
            "version": version,
            "gold": "neutral",
            "predicted": "neutral" if (item + place) % 2 else "entailment",
            "premise": f"{start} man {item} sleeps.",
            "hypothesis": f"He rests, {item}, {version}.",
        }
        for item in range(n_items)
        for place, version in enumerate(["original", "p0", "p1", "p2"])
    ]


def other_words() -> Rows:
    """The same items as another source has them: paraphrases with other texts."""
    end = {True: "", False: " Now."}
    return [
        row | {"hypothesis": row["hypothesis"] + end[row["version"] == "original"]}
        for row in answers()
    ]


def write(path: Path, rows: Rows) -> Path:
    frame = pd.DataFrame(rows)
    if path.suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(["consistency", *map(str, arguments), "-S", "50"])
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, " ".join(captured.err.split())


@pytest.mark.parametrize("form", FORMATS)
def test_originals_of_two_sources_have_the_same_texts(
    tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    one = write(tmp_path / f"one.{form}", answers())
    other = write(tmp_path / f"other.{form}", answers("Another"))
    status, said, err = run(capsys, "--source", f"h={one}", "--source", f"a={other}")
    assert (status, said) == (1, "")
    assert f"other.{form}, column 'premise': the original of item " in err
    assert "has another premise than in" in err
    with pytest.raises(InputError, match="has another premise than in"):
        ie.consistency(sources={"h": pd.DataFrame(answers()), "a": str(other)}, **QUICK)


def test_sources_with_other_columns_of_texts_are_joined(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What only one file has cannot be compared; a missing text is an empty one."""
    bare = [{name: row[name] for name in list(row)[:4]} for row in answers()]
    one = write(tmp_path / "one.csv", answers())
    other = write(tmp_path / "other.parquet", bare)
    status, _, err = run(capsys, "--source", f"h={one}", "--source", f"a={other}")
    assert (status, err) == (0, "")
    empty = [row | {"premise": ""} for row in answers()]
    missing = [row | {"premise": None} for row in answers()]
    frames = {"h": pd.DataFrame(empty), "a": pd.DataFrame(missing)}
    assert ie.consistency(sources=frames, **QUICK).n_items == 6


@pytest.mark.parametrize("form", FORMATS)
def test_two_models_have_answered_the_same_texts(
    tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    one = write(tmp_path / f"one.{form}", answers())
    rows = answers()
    for row in rows:
        row["hypothesis"] += "!" if row["version"] == "p1" else ""
    other = write(tmp_path / f"other.{form}", rows)
    status, said, err = run(capsys, one, other)
    assert (status, said) == (1, "")
    assert (
        f"other.{form}, column 'hypothesis': in 6 of 24 wordings that one and other have, the texts"
        " differ: version 'p1' of item '0', for one, is 'He rests, 0, p1.!' of other, and 'He "
        "rests, 0, p1.' of one; let both models answer the same texts, or give other texts other "
        "names"
    ) in err


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("start", "status"), [("A", 0), ("Another", 1)])
def test_columns_of_texts_may_have_other_names(
    tmp_path: Path, form: str, start: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {"premise": "sentence1", "hypothesis": "sentence2"}
    rows = [{names.get(key, key): value for key, value in row.items()} for row in answers(start)]
    one, other = (
        write(tmp_path / f"{name}.{form}", each)
        for name, each in (("one", answers()), ("other", rows))
    )
    found, _, err = run(capsys, one, other)
    assert found == status, err
    assert ("column 'sentence1': in 24 of 24 wordings that one and other have" in err) == status
    status, _, err = run(capsys, "--source", f"h={one}", "--source", f"a={other}")
    assert status == 1
    assert "column 'sentence1': is called 'premise' in" in err


def test_two_profiles_are_of_the_same_texts() -> None:
    one, other = (
        ie.consistency(pd.DataFrame(answers(start)), **QUICK) for start in ("A", "Another")
    )
    for compare in (lambda: one.compare(other), lambda: ie.consistency_curve({1: one, 2: other})):
        with pytest.raises(InputError, match=r"in 24 of 24 wordings .*'Another man 0 sleeps\.' of"):
            compare()


def test_rows_in_another_order_are_the_same_texts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """So are copies of a version, of which one model has more."""
    one = write(tmp_path / "one.csv", answers())
    other = write(tmp_path / "other.csv", answers()[::-1][:20])
    status, said, err = run(capsys, one, other, "--json")
    assert (status, err) == (0, "")
    (pair,) = json.loads(said)["pairs"]
    assert pair["n_buckets"] == 5
    copies: Rows = []
    for row in answers():
        version = row["version"]
        copy = 0 if version == "original" else int(version[1:])
        copies.append(row | {"version": version[:1].replace("o", "original"), "copy": copy})
    swapped = [row | {"copy": {1: 2, 2: 1}.get(row["copy"], row["copy"])} for row in copies]
    given = [
        write(tmp_path / f"{name}.parquet", rows)
        for name, rows in {"all": copies, "swapped": swapped, "few": copies[:-1]}.items()
    ]
    status, said, err = run(capsys, *given, "--json")
    assert (status, err) == (0, "")
    assert len(json.loads(said)["pairs"]) == 3


@pytest.mark.parametrize("form", FORMATS)
def test_sources_that_share_no_item_are_refused(
    tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row | {"item": f"item {row['item']}"} for row in answers()]
    one = write(tmp_path / f"one.{form}", answers())
    other = write(tmp_path / f"other.{form}", rows)
    status, said, err = run(capsys, "--source", f"h={one}", "--source", f"a={other}")
    assert (status, said) == (1, "")
    expected = (
        "column 'item': a shares no item with h: a has 'item 0', h '0'; sources hold paraphrases of"
        " the same items, so name them alike"
    )
    assert f"other.{form}, {expected}" in err
    with pytest.raises(InputError, match="a shares no item with h and b"):
        ie.consistency(
            sources={"h": str(one), "b": pd.DataFrame(other_words()), "a": pd.DataFrame(rows)},
            **QUICK,
        )


@pytest.mark.parametrize("form", FORMATS)
def test_sources_that_share_some_items_say_how_many(
    tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    one = write(tmp_path / f"one.{form}", answers())
    few = write(tmp_path / f"few.{form}", answers(n_items=4))
    status, said, err = run(capsys, "--source", f"h={one}", "--source", f"a={few}")
    assert (status, err) == (0, "")
    expected = "h and a share 4 items (h has 6, a 4): the two are compared on these."
    assert expected in " ".join(said.split())
    assert expected in ie.consistency(sources={"h": str(one), "a": str(few)}, **QUICK).warnings
    other = write(tmp_path / f"other.{form}", other_words())
    whole = ie.consistency(sources={"h": str(one), "a": str(other)}, **QUICK)
    assert not any("share" in line for line in whole.warnings)


def test_paraphrases_for_a_model_say_what_sources_share() -> None:
    made = pd.DataFrame(answers()).rename(columns={"gold": "label"}).drop(columns="predicted")
    few = made[made["item"] < 2]

    def answer(texts: list[Any]) -> list[str]:
        return ["neutral"] * len(texts)

    asked: dict[str, Any] = {"labels": ("entailment", "neutral", "contradiction"), **QUICK}
    profile = ie.consistency(answer, sources={"h": made, "a": few}, **asked)
    expected = "h and a share 2 items (h has 6, a 2): the two are compared on these."
    assert expected in profile.warnings
    with pytest.raises(InputError, match="a shares no item with h"):
        ie.consistency(answer, sources={"h": few, "a": made[made["item"] > 2]}, **asked)


EQUAL = (
    "Warning: 7 of 18 paraphrases have the texts (premise, hypothesis) of the original, or of "
    "another paraphrase of the item: version 'p0' of item '0', for one. Equal wordings make P_C too"
    " high; leave them out."
)


def equal_answers() -> Rows:
    """All paraphrases of two items are their originals, and two of a third item are one."""
    rows = answers()
    for row in rows[:8]:
        row["hypothesis"] = f"He rests, {row['item']}."
    rows[2]["hypothesis"] = f"He  rests, {rows[2]['item']}. "  # nobody sees the difference
    rows[10]["hypothesis"] = rows[9]["hypothesis"]
    return rows


@pytest.mark.parametrize("form", FORMATS)
def test_paraphrases_that_reword_nothing_are_counted(
    tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log = write(tmp_path / f"log.{form}", equal_answers()[::-1][:-4] + equal_answers()[:4])
    status, said, err = run(capsys, log)
    assert (status, err) == (0, "")
    assert "Warning: 7 of 18 paraphrases have the texts (premise, hypothesis) of" in said
    status, said, err = run(capsys, write(tmp_path / f"sound.{form}", answers()))
    assert (status, err) == (0, "")
    assert "paraphrases have the texts" not in said


def test_paraphrases_for_a_model_that_reword_nothing_are_counted(tmp_path: Path) -> None:
    rows = [row | {"item": str(row["item"])} for row in equal_answers()]
    assert EQUAL in ie.consistency(pd.DataFrame(rows), **QUICK).warnings
    made = pd.DataFrame(rows).rename(columns={"gold": "label"}).drop(columns="predicted")

    def answer(texts: list[Any]) -> list[str]:
        return ["neutral"] * len(texts)

    asked: dict[str, Any] = {"labels": ("entailment", "neutral", "contradiction"), **QUICK}
    out = tmp_path / "out.parquet"
    profile = ie.consistency(answer, made, out=out, **asked)
    assert profile.warnings.count(EQUAL) == 1
    assert ie.consistency(out, **QUICK).warnings == profile.warnings
    # A model that sees the same words of two different wordings is consistent.
    seen = ie.consistency(answer, made.iloc[12:], input_columns="premise", **asked)
    assert not any("paraphrases have the texts" in line for line in seen.warnings)
