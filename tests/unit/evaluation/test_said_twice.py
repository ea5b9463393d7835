"""Tables that state a fact twice: the same fact is not questioned, and a changed one is told.

Each table is drawn: its labels and answers, how it is laid out, its format, and which further
columns it has, under names that people and programs give them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ietest_fast.answers.logs import read_logs
from ietest_fast.errors import IetestError

N = 60
N_OTHER = 6
"""Rows in which a changed fact is another one."""
LABELS = (
    ["entailment", "neutral", "contradiction"],
    ["pos", "neg"],
    ["Sports", "World", "Business", "Sci/Tech"],
    [0, 1],
    [0, 1, 2],
    [True, False],
)
VERSIONS = ("original", "transformed")
FORMS = ("{0}_{1}", "{1}_{0}")
LAYOUTS = ("wide", "long", "files")
ENDINGS = ("csv", "tsv", "jsonl", "parquet")

Columns = dict[str, list[Any]]


@dataclass(frozen=True)
class Case:
    """Gold labels of N texts, the answers to both versions, and the scores of each label."""

    labels: Sequence[Any]
    gold: list[Any]
    answers: list[list[Any]]
    scores: list[list[list[float]]]

    @classmethod
    def draw(cls, rng: random.Random) -> Case:
        labels = rng.choice(LABELS)
        gold = [labels[i % len(labels)] for i in range(N)]
        rng.shuffle(gold)
        answers = [
            [rng.choice(labels) if rng.random() < share else label for label in gold]
            for share in (0.5, 0.6)
        ]
        scores = [[_score(labels, answer, rng) for answer in own] for own in answers]
        return cls(labels, gold, answers, scores)

    def marks(self, version: int) -> list[bool]:
        return [a == b for a, b in zip(self.gold, self.answers[version], strict=True)]

    def pairs(self) -> list[tuple[bool, bool]]:
        return list(zip(self.marks(0), self.marks(1), strict=True))

    def flips(self) -> list[bool]:
        return [a != b for a, b in zip(*self.answers, strict=True)]

    def in_other_words(self, values: list[Any]) -> list[Any]:
        """Labels by number where they are words, and by words where they are not."""
        places = [self.labels.index(each) for each in values]
        return places if isinstance(self.labels[0], str) else [f"class {'abc'[i]}" for i in places]

    def by_label(self, version: int) -> Columns:
        rows = zip(*self.scores[version], strict=True)
        return {str(label): list(own) for label, own in zip(self.labels, rows, strict=True)}


def _score(labels: Sequence[Any], answer: Any, rng: random.Random) -> list[float]:
    """Shares of the labels, of which the answer has the largest."""
    own = [1.5 if label == answer else rng.random() / len(labels) for label in labels]
    return [round(each / sum(own), 4) for each in own]


@dataclass(frozen=True)
class Fact:
    """Columns that say once more what counts; ``*`` in a name stands for a label."""

    names: tuple[str, ...]
    make: Callable[[Case, int], list[Any] | Columns]
    is_of_version: bool = True
    """Otherwise it is of both, and needs both in one table."""

    def columns(self, case: Case, version: int, name: str) -> Columns:
        made = self.make(case, version)
        if isinstance(made, dict):
            return {name.replace("*", key): own for key, own in made.items()}
        return {name: list(made)}


def of_version(names: str, make: Callable[[Case, int], list[Any] | Columns]) -> Fact:
    return Fact(tuple(names.split()), make)


def of_both(names: str, make: Callable[[Case], list[Any]]) -> Fact:
    return Fact(tuple(names.split()), lambda case, _: make(case), is_of_version=False)


FACTS = (
    of_version("correct is_correct acc hit match", lambda c, v: [int(x) for x in c.marks(v)]),
    of_version("error wrong incorrect is_wrong", lambda c, v: [int(not x) for x in c.marks(v)]),
    of_version(
        "verdict grade result", lambda c, v: [("in" * (not x)) + "correct" for x in c.marks(v)]
    ),
    of_version("status passed judge", lambda c, v: ["PASS" if x else "FAIL" for x in c.marks(v)]),
    of_version(
        "gold_label target y_true true_label answer reference expected ground_truth",
        lambda c, _: c.gold,
    ),
    of_version("label_name label_text gold_name class", lambda c, _: c.in_other_words(c.gold)),
    of_version(
        "pred prediction_label y_pred output model_answer predicted_label argmax",
        lambda c, v: c.answers[v],
    ),
    of_version(
        "pred_name prediction_text predicted_class pred_id prediction_idx",
        lambda c, v: c.in_other_words(c.answers[v]),
    ),
    of_version(
        "cell confusion result_type",
        lambda c, v: [f"{a}->{b}" for a, b in zip(c.gold, c.answers[v], strict=True)],
    ),
    of_version("prob_* *_prob p(*) logit_* score_* probs.* proba_*", lambda c, v: c.by_label(v)),
    of_version("probs probabilities scores logits softmax class_probs", lambda c, v: c.scores[v]),
    of_version(
        "probs scores label_probs distribution",
        lambda c, v: [dict(zip(map(str, c.labels), own, strict=True)) for own in c.scores[v]],
    ),
    of_version(
        "all_scores outputs",
        lambda c, v: [
            [
                {"label": str(label), "score": score}
                for label, score in zip(c.labels, own, strict=True)
            ]
            for own in c.scores[v]
        ],
    ),
    of_version(
        "top_labels ranking",
        lambda c, v: [
            [str(label) for _, label in sorted(zip(own, c.labels, strict=True), reverse=True)]
            for own in c.scores[v]
        ],
    ),
    of_version("accuracy mean_accuracy", lambda c, v: [round(sum(c.marks(v)) / N, 4)] * N),
    of_both("flipped flip answer_changed is_flip", lambda c: [int(x) for x in c.flips()]),
    of_both("same consistent agree stable", lambda c: [not x for x in c.flips()]),
    of_both("n_correct n_right num_correct", lambda c: [a + b for a, b in c.pairs()]),
    of_both(
        "both_correct robust_correct all_right", lambda c: [int(a and b) for a, b in c.pairs()]
    ),
    of_both("delta diff effect", lambda c: [b - a for a, b in c.pairs()]),
    of_both(
        "outcome transition",
        lambda c: ["kept" if a == b else "lost" if a else "gained" for a, b in c.pairs()],
    ),
)


def change(columns: Columns, rng: random.Random) -> None:
    """Make a fact another one in some rows; a share of all rows is another share."""
    names, rows = list(columns), list(zip(*columns.values(), strict=True))
    if len(set(map(repr, rows))) == 1:
        columns[names[0]] = [round(rows[0][0] - 0.0713, 4)] * N
        return
    for place in rng.sample(range(N), N_OTHER):
        rows[place] = _turn(rows[place], rows, rng)
    columns.update(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def _turn(row: tuple[Any, ...], rows: list[tuple[Any, ...]], rng: random.Random) -> tuple[Any, ...]:
    """What a row says of a label, said of the next one; another word in the place of a word."""
    if len(row) > 1:
        return (*row[1:], row[0])
    (own,) = row
    if isinstance(own, dict):
        return (dict(zip(own, [*own.values()][1:] + [*own.values()][:1], strict=True)),)
    if isinstance(own, list) and isinstance(own[0], dict):
        scores = [each["score"] for each in own]
        both = zip(own, scores[1:] + scores[:1], strict=True)
        return ([each | {"score": score} for each, score in both],)
    if isinstance(own, list):
        return (own[1:] + own[:1],)
    return rng.choice([each for each in rows if each[0] != own])


def draw(seed: int, folder: Path, *, is_changed: bool) -> list[Path]:
    """Tables with some facts, the first of which is changed in one version, or not."""
    rng = random.Random(seed)
    case, layout, ending = Case.draw(rng), rng.choice(LAYOUTS), rng.choice(ENDINGS)
    known = [fact for fact in FACTS if fact.is_of_version or layout != "files"]
    facts = {rng.choice(fact.names): fact for fact in rng.sample(known, rng.choice((1, 1, 2, 3)))}
    version, form = rng.choice((0, 1)), rng.choice(FORMS)
    frames = [pd.DataFrame({"item": range(N), "gold": case.gold}) for _ in VERSIONS]
    for v, frame in enumerate(frames):
        frame["predicted"] = case.answers[v]
        for place, (name, fact) in enumerate(facts.items()):
            columns = fact.columns(case, v, name)
            if is_changed and place == 0 and (v == version or not fact.is_of_version):
                change(columns, random.Random(seed))
            for column, values in columns.items():
                frame[column] = pd.Series(values)
    return write(join(frames, layout, form, facts), folder, ending)


def join(
    frames: list[pd.DataFrame], layout: str, form: str, facts: dict[str, Fact]
) -> list[pd.DataFrame]:
    """Lay two versions out side by side, one below the other, or in two files."""
    if layout == "long":
        both = zip(VERSIONS, frames, strict=True)
        return [pd.concat([frame.assign(version=version) for version, frame in both])]
    if layout == "files":
        return [
            frame.rename(columns={"gold": "label", "predicted": "prediction"}) for frame in frames
        ]
    alike = {"item", "gold", *(name for name, fact in facts.items() if not fact.is_of_version)}
    wide = frames[0][[name for name in frames[0] if name in alike]].rename(
        columns={"gold": "label"}
    )
    for version, frame in zip(VERSIONS, frames, strict=True):
        for name in frame:
            if name == "predicted":
                wide[version] = frame[name]
            elif name not in alike:
                wide[form.format(name, version)] = frame[name]
    return [wide]


def write(frames: list[pd.DataFrame], folder: Path, ending: str) -> list[Path]:
    paths = [folder / f"{place}.{ending}" for place in range(len(frames))]
    for frame, path in zip(frames, paths, strict=True):
        if ending == "parquet":
            frame.to_parquet(path, index=False)
        elif ending == "jsonl":
            frame.to_json(path, orient="records", lines=True)
        else:
            frame.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    return paths


def read_warnings(paths: list[Path]) -> list[str]:
    try:
        notes = read_logs(paths, id_column="item" if len(paths) > 1 else None).notes
    except IetestError as error:
        return [f"Error: {error}"]
    return [note for note in notes if note.startswith("Warning")]


@pytest.mark.parametrize(
    "seeds",
    [range(15), pytest.param(range(1000, 2000), marks=pytest.mark.slow)],
    ids=["some", "many"],
)
def test_a_fact_that_is_stated_twice_is_compared(seeds: range, tmp_path: Path) -> None:
    questioned, silent = [], []
    for seed in seeds:
        if read_warnings(draw(seed, tmp_path, is_changed=False)):
            questioned.append(seed)
        if not read_warnings(draw(seed, tmp_path, is_changed=True)):
            silent.append(seed)
    assert (questioned, silent) == ([], [])
