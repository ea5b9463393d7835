"""The numbers in docs/consistency.md are what the commands beside them print."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ietest_fast as ie
from command_line import run_here
from ietest_fast.corpus import demo_corpus
from ietest_fast.experiment import check_config
from ietest_fast.experiment.run import run
from toys import Swap, toy_splits

PAGE = Path(__file__).parents[2] / "docs" / "consistency.md"
_CUT = re.compile(r" {2,}")


def blocks(text: str) -> list[str]:
    """Return the blocks of output, those without a language."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [body for language, body in found if not language]


def read_tables(printed: str) -> list[tuple[list[str], list[list[str]], list[bool]]]:
    """Return the heads, the cells, and the columns that are right-aligned, of printed tables."""
    lines = printed.splitlines()
    found = []
    for place, line in enumerate(lines):
        if set(line.strip()) != {"─"}:
            continue
        head = lines[place - 1]
        rows = []
        for row in lines[place + 1 :]:
            if not row.startswith("  ") or not row.strip():
                break
            rows.append(row)
        spans = [[match.span() for match in re.finditer(r"\S+(?: \S+)*", row)] for row in rows]
        heads = [match.span() for match in re.finditer(r"\S+(?: \S+)*", head)]
        is_right = [
            all(own[n][1] == max(each[n][1] for each in [heads, *spans]) for own in spans)
            and heads[n][1] == max(each[n][1] for each in [heads, *spans])
            for n in range(len(heads))
        ]
        cells = [_CUT.split(row.strip()) for row in rows]
        found.append((_CUT.split(head.strip()), cells, is_right))
    return found


def render(heads: list[str], rows: list[list[str]], is_right: list[bool]) -> str:
    """Write a table as the command prints it."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    lines = [
        "  "
        + "   ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, is_right, strict=True)
        )
        for row in [heads, *rows]
    ]
    lines.insert(1, " " + "─" * (len(lines[0])))
    return "\n".join(line.rstrip() for line in lines)


def expected(block: str, printed: str) -> str:
    """Return the tables of a block anew, from what a command has printed."""
    tables = read_tables(printed)
    shown = []
    for own, rows, _ in read_tables(block):
        heads, cells, is_right = next(each for each in tables if set(own) <= set(each[0]))
        places = [heads.index(name) for name in own]
        # A block may leave out lines; those that it has are told by their texts.
        texts = [n for n, name in enumerate(own) if name in {"model", "measure"}]
        kept = {tuple(row[n] for n in texts) for row in rows}
        picked = [[row[n] for n in places] for row in cells]
        picked = [row for row in picked if tuple(row[n] for n in texts) in kept]
        shown.append(render(own, picked, [is_right[n] for n in places]))
    return "\n\n".join(shown) + "\n"


COMMANDS = [
    "snli_human_d-snli-roberta-large.json.gz --by-diversity lexical-distance",
    (
        "snli_human_d-snli-bilstm.json.gz snli_human_d-snli-roberta-large.json.gz "
        "--test-set snli_test_set_d-snli-bilstm.json.gz "
        "--test-set snli_test_set_d-snli-roberta-large.json.gz"
    ),
    (
        "snli_human_d-snli-roberta-base-0.01.json.gz snli_human_d-snli-roberta-base-0.1.json.gz "
        "snli_human_d-snli-roberta-base-0.5.json.gz "
        '--amounts 1%,10%,50% --amounts-of "share of the training set"'
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(3), ids=["diversity", "test set", "amounts"])
def test_blocks_of_output_are_those_of_today(
    shared: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setenv("COLUMNS", "500")
    text = PAGE.read_text(encoding="utf-8")
    block = blocks(text)[number]
    asked = shlex.split(COMMANDS[number])
    told = " ".join(text.replace("\\\n", " ").split())
    for word in asked:
        assert word in told or word.endswith(".gz"), word
    status, out, err = run_here("consistency", *asked, folder=shared / "data/paranlu/results")
    assert (status, err) == (0, "")
    assert block == expected(block, out)


def test_there_is_no_further_block() -> None:
    assert len(blocks(PAGE.read_text(encoding="utf-8"))) == len(COMMANDS)


def by_length(pairs: list[tuple[str, str]]) -> list[str]:
    return [("yes", "no")[len(text) % 2] for _, text in pairs]


def by_end(pairs: list[tuple[str, str]]) -> list[str]:
    return [("yes", "no")[text < "N"] for _, text in pairs]


def paraphrases(ending: str) -> pd.DataFrame:
    """Eight items with three paraphrases each, all of different lengths."""
    texts = ["The dog runs home.", "A dog runs home now.", "The big dog runs.", "Home runs a dog."]
    return pd.DataFrame(
        {
            "item": item,
            "version": f"p{place}" if place else "original",
            "premise": f"It is day {item}.",
            "hypothesis": f"{text[: 20 - item]}{ending if place else ''}",
            "label": ("yes", "no")[item % 2],
            "topic": ("dogs", "homes")[item // 4],
            "story": item // 2,
        }
        for item in range(8)
        for place, text in enumerate(texts)
    )


def answered(
    frame: pd.DataFrame, by: Callable[[list[tuple[str, str]]], list[str]] = by_length
) -> pd.DataFrame:
    pairs = list(zip(frame["premise"], frame["hypothesis"], strict=True))
    found = frame.assign(predicted=by(pairs))
    # In the gold label: above a half where the answer is right, below where it is wrong.
    rests = 0.2 * (found["hypothesis"].str.len() % 3)
    found["confidence"] = 0.05 + rests + 0.5 * (found["predicted"] == found["label"])
    return found.rename(columns={"label": "gold"})


@pytest.mark.slow
def test_the_lines_in_python_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    config = {
        "data": {"demo": True, "name": "toys"},
        "model": {"name": "ngram-linear", "search": "default", "options": {"bits": 12}},
        "rho": [0],
        "n_classifiers": 1,
        "n_jobs": 1,
        "train_size": [300, 40],
    }
    run(check_config(config), Path("my-run"), splits=toy_splits(), transformation=Swap())
    corpus = demo_corpus(40)
    codes = corpus.table["label"].to_pylist()
    data = corpus.table.to_pandas().assign(
        label=[("yes", "no")[code % 2] for code in codes],
    )
    first, second = paraphrases(""), paraphrases(" So.")
    answers = answered(first)
    profiles = [
        ie.consistency(answered(first, by), n_resamples=50)
        for by in (by_length, by_end, lambda pairs: ["no"] * len(pairs))
    ]
    names: dict[str, Any] = {
        "classifier": by_length,
        "paraphrases": first,
        "data": data,
        "other": ie.consistency(by_end, data, phi="syn.careful", draws=5, n_resamples=50),
        "predictions": answers,
        "hypothesis_only": answered(first.assign(premise="")),
        "all_originals": answers[answers["version"] == "original"],
        "by_people": first,
        "by_a_program": second,
        "answers_by_source": {"human": answers, "automatic": answered(second)},
        **dict(zip(("small", "medium", "large"), profiles, strict=True)),
    }
    text = PAGE.read_text(encoding="utf-8").split("## In Python")[1]
    found = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(found) == 3
    for block in found:
        exec(compile(block, PAGE.name, "exec"), names)
    assert names["profile"].subsets.column == "source"
    assert [curve.of for curve in names["curve"].curves] == ["training rows"]
    plt.close("all")
