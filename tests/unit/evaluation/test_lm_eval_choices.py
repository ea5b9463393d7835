"""Which answers lm-evaluation-harness's metrics judged, and what logs say of themselves twice."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from ietest_fast.analyses.compare.profile import compare_versions
from ietest_fast.analyses.consistency.file import read_wordings
from ietest_fast.analyses.consistency.wordings import find_wordings
from ietest_fast.answers import Predictions
from ietest_fast.answers.logs import ReadLogs, read_logs
from ietest_fast.errors import InputError

Rows = list[dict[str, Any]]


def sample(
    number: int,
    scores: list[float],
    texts: list[str],
    *,
    version: str = "o",
    target: Any = None,
    joint: str = " ",
    contexts: list[str] | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """A sample of multiple choice, as ``--log_samples`` writes it."""
    question = f"Question {number}, {version}."
    contexts = contexts or [question] * len(texts)
    return {
        "doc_id": number,
        "doc": {"question": question, "topic": f"t{number // 3}"},
        "target": str(target) if isinstance(target, int) else target,
        "arguments": {
            f"gen_args_{place}": {"arg_0": context, "arg_1": joint + text}
            for place, (context, text) in enumerate(zip(contexts, texts, strict=True))
        },
        "filtered_resps": [[str(score), "False"] for score in scores],
        "filter": "none",
        "metrics": [name for name in fields if not name.startswith("_")],
        "doc_hash": f"{version}{number}",
        **fields,
    }


def write(path: Path, rows: Rows) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read(folder: Path, versions: dict[str, Rows], **options: Any) -> ReadLogs:
    paths = [
        write(folder / f"samples_{name}_2026-01-0{n}T00-00-00.0.jsonl", rows)
        for n, (name, rows) in enumerate(versions.items(), start=1)
    ]
    return read_logs(paths, **options)


def changed(found: ReadLogs) -> int | None:
    return found.predictions.pairs("transformed").n_flipped


def discordant(found: ReadLogs) -> int:
    return found.predictions.pairs("transformed").sample.counts.k


def draw(seed: int, n: int, k: int) -> np.ndarray:
    return -np.random.default_rng(seed).gamma(2.0, 6.0, (n, k)).round(3)


# Choices of other lengths in characters, in bytes, and with what joins them to the question.
CHOICES = {
    "shared": lambda number: ["no", "yes it does", "it may"],
    "of their own": lambda number: [f"no {number}", f"certainly {number}", f"it may be {number}"],
    "not ASCII": lambda number: ["nein", "größtmöglich", "日本語のもの"],
}


@pytest.mark.parametrize("kind", CHOICES)
@pytest.mark.parametrize(
    ("metric", "measure"),
    [
        ("acc", lambda text: 1),
        ("acc_norm", len),
        ("acc_norm", lambda text: len(text) + 1),  # with the blank before it, as newer versions do
        ("acc_bytes", lambda text: len(text.encode())),
    ],
)
def test_the_answer_is_the_one_that_the_metric_judged(
    kind: str, metric: str, measure: Any, tmp_path: Path
) -> None:
    answers: dict[str, list[int]] = {}
    logs: dict[str, Rows] = {}
    for seed, version in enumerate(("o", "r")):
        for number, scores in enumerate(draw(seed, 90, 3)):
            texts = CHOICES[kind](number)
            lengths = [measure(text) for text in texts]
            said = int(np.argmax(scores / lengths))
            answers.setdefault(version, []).append(said)
            right = float(said == number % 3)
            logs.setdefault(version, []).append(
                sample(
                    number, [*scores], texts, version=version, target=number % 3, **{metric: right}
                )
            )
    found = read(tmp_path, logs)
    assert changed(found) == sum(a != b for a, b in zip(*answers.values(), strict=True))
    assert changed(found) >= discordant(found)
    table = found.predictions.table
    assert ("probabilities" in table.column_names) is (metric == "acc")
    names = CHOICES[kind](0) if kind != "of their own" else ["0", "1", "2"]
    assert table["predicted"].to_pylist()[:90] == [names[said] for said in answers["o"]]
    assert table["gold"].to_pylist()[:3] == names


@pytest.mark.parametrize("has_texts", [True, False])
@pytest.mark.parametrize("kind", ["shared", "of their own"])
def test_choices_that_are_asked_twice_are_judged_by_the_gain(
    kind: str, has_texts: bool, tmp_path: Path
) -> None:
    answers: dict[tuple[str, str], list[int]] = {}
    logs: dict[str, Rows] = {}
    for seed, version in enumerate(("o", "r")):
        for number, scores in enumerate(draw(seed + 7, 60, 6)):
            texts = CHOICES[kind](number)
            asked, alone = scores[:3], scores[3:]
            said = {"acc": int(asked.argmax()), "acc_mutual_info": int((asked - alone).argmax())}
            for metric, answer in said.items():
                answers.setdefault((version, metric), []).append(answer)
            row = sample(
                number,
                [*scores],
                texts * 2,
                version=version,
                target=1,
                contexts=[f"Question {number}, {version}."] * 3 + [""] * 3,
                **{name: float(answer == 1) for name, answer in said.items()},
            )
            if not has_texts:
                del row["arguments"]
            logs.setdefault(version, []).append(row)
    for metric in ("acc", "acc_mutual_info"):
        found = read(tmp_path, logs, correct_columns=[metric])
        expected = sum(
            a != b for a, b in zip(answers["o", metric], answers["r", metric], strict=True)
        )
        assert changed(found) == expected
        assert found.predictions.label_names is not None
        assert len(found.predictions.label_names) == 3
        if metric == "acc_mutual_info":
            assert "probabilities" not in found.predictions.table.column_names


def test_many_choices_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    """Programs that sort keys put gen_args_10 before gen_args_2."""
    texts = [f"choice {letter}" for letter in "abcdefghijkl"]
    rows = []
    for number in range(12):
        scores = [-9.0] * 12
        scores[number] = -1.0
        row = sample(number, scores, texts, target=number, acc=1.0)
        row["arguments"] = dict(sorted(row["arguments"].items()))
        rows.append(row)
    found = read(tmp_path, {"o": rows, "r": rows}, logs_are="versions")
    assert found.predictions.table["predicted"].to_pylist()[:12] == texts


@pytest.mark.parametrize(
    ("texts", "targets", "golds"),
    [
        # 0 is no choice, so all are places.
        (["1", "2"], [0, 1, 1, 0], ["1", "2", "2", "1"]),
        # 2 is no place, so all are names.
        (["1", "2"], ["1", "2", "2", "1"], ["1", "2", "2", "1"]),
        # Both readings are possible; only one agrees with the marks.
        (["1", "2"], [1, 1, 1, 1], ["2", "2", "2", "2"]),
        (["0", "1", "2"], [2, 1, 0, 2], ["2", "1", "0", "2"]),
        (["3", "1", "0"], [1, 0, 1, 0], ["1", "3", "1", "3"]),
    ],
)
def test_targets_that_are_numbers_are_read_in_one_way(
    texts: list[str], targets: list[Any], golds: list[str], tmp_path: Path
) -> None:
    rows = []
    for number, (target, gold) in enumerate(zip(targets * 6, golds * 6, strict=True)):
        answer = gold if number % 5 else texts[(texts.index(gold) + 1) % len(texts)]
        scores = [-1.0 if text == answer else -5.0 for text in texts]
        rows.append(sample(number, scores, texts, target=target, acc=float(answer == gold)))
    found = read(tmp_path, {"o": rows, "r": rows}, logs_are="versions")
    assert found.predictions.table["gold"].to_pylist()[:4] == golds
    assert not any("contradict" in note for note in found.notes)


def winogrande(version: str, metric: str, seed: int) -> Rows:
    rows = []
    for number, scores in enumerate(draw(seed, 40, 2)):
        contexts = [f"{version} {number}: because {name}" for name in ("Ann", "Beatrice")]
        right = float(int(scores.argmax()) == number % 2)
        rows.append(
            sample(
                number,
                [*scores],
                [f"was big {number}."] * 2,
                contexts=contexts,
                version=version,
                target=f"was big {number}.",
                **{metric: right},
            )
        )
    return rows


def test_choices_may_differ_in_their_context(tmp_path: Path) -> None:
    logs = {version: winogrande(version, "acc", seed) for seed, version in enumerate(("o", "r"))}
    found = read(tmp_path, logs)
    first, second = (draw(seed, 40, 2).argmax(axis=1) for seed in (0, 1))
    assert changed(found) == int((first != second).sum()) >= discordant(found)
    assert found.predictions.label_names == ("0", "1")
    (test,) = compare_versions(found.predictions).tests
    assert test.collapsed is None  # nobody knows which is the right one
    # How long the contexts are without the examples before them, a log does not say.
    logs = {
        version: winogrande(version, "acc_norm", seed) for seed, version in enumerate(("o", "r"))
    }
    found = read(tmp_path, logs)
    assert changed(found) is None
    assert "does not say which choice acc_norm takes for the answer" in found.notes[0]


@pytest.mark.parametrize("seed", range(3))
def test_marks_that_contradict_the_likelihoods_are_counted(seed: int, tmp_path: Path) -> None:
    logs: dict[str, Rows] = {}
    for version in ("o", "r"):
        for number, scores in enumerate(draw(seed, 50, 3)):
            mark = float(int(scores.argmax()) == 0)
            if version == "r" and number % 10 == 0:
                mark = 1 - mark
            logs.setdefault(version, []).append(
                sample(number, [*scores], ["a", "b", "c"], version=version, target=0, acc=mark)
            )
    found = read(tmp_path, logs)
    assert "has 5 of 50 samples in which acc contradicts the target" in found.notes[0]
    assert (changed(found), discordant(found)) == (None, 5)
    (test,) = compare_versions(found.predictions).tests
    assert test.invariance is not None
    assert test.invariance.flips is not None
    assert test.invariance.flips.n_flipped == 5
    assert test.invariance.flips.is_lower_bound


def choices(
    *, shift: int = 0, flipped: tuple[int, ...] = (), targets: dict[int, int] | None = None
) -> Rows:
    """A log with three choices: its items moved on, marks turned round, other right answers."""
    rows = []
    for number, scores in enumerate(draw(1, 30, 3)):
        mark = int(scores.argmax()) == number % 3
        row = sample(number, [*scores], ["a", "b", "c"], target=number % 3, acc=float(mark))
        row["doc_id"] = (number + shift) % 30
        rows.append(row)
    for number in flipped:
        rows[number]["acc"] = 1 - rows[number]["acc"]
    for number, target in (targets or {}).items():
        rows[number]["target"] = str(target)
    return rows


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"shift": 1}, "column 'doc.question': names the rows otherwise"),
        ({"shift": 1, "flipped": [3]}, "column 'doc.question': names the rows otherwise"),
        ({"targets": {4: 2}}, "item '4' has the right answer 'c', and 'b'"),
        ({"flipped": [3], "targets": {4: 2, 5: 9}}, "item '4' has the right answer 'c', and 'b'"),
    ],
)
def test_contradictory_marks_do_not_hide_other_right_answers(
    options: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=said):
        read(tmp_path, {"o": choices(), "r": choices(**options)})


@pytest.mark.parametrize(
    ("before", "after", "is_refused"),
    [
        (0, [0, 1], True),
        ([0, 1], [0, 2], True),
        ([0, 1], 0, True),
        ([0, 1], [1, 0], False),
        ([0, 1], "[0, 1]", False),
        ([0], 0, False),
    ],
)
def test_all_right_choices_of_two_logs_are_compared(
    before: Any, after: Any, *, is_refused: bool, tmp_path: Path
) -> None:
    """A log without labels of its own for several right choices has them all the same."""
    logs = {
        version: [
            sample(
                i,
                [-1.0, -2.0, -3.0],
                ["x", "y", "z"],
                version=version,
                target=target if i == 3 else 0,
                acc=1.0,
            )
            for i in range(6)
        ]
        for version, target in (("o", before), ("r", after))
    }
    if is_refused:
        with pytest.raises(InputError, match="item '3' has the right answer"):
            read(tmp_path, logs)
    else:
        assert changed(read(tmp_path, logs)) == 0


def test_targets_that_are_no_choice_are_counted(tmp_path: Path) -> None:
    found = read(tmp_path, {"o": choices(), "r": choices(targets={4: 7, 5: 9})})
    (note,) = [note for note in found.notes if "no choice" in note]
    assert "in 2 of 30 samples of" in note


@pytest.mark.parametrize("flipped", [(), (3,)])
@pytest.mark.parametrize("shift", [0, 1])
def test_numbers_of_right_answers_in_a_table_are_those_of_the_choices(
    shift: int, flipped: tuple[int, ...], tmp_path: Path
) -> None:
    gold = tmp_path / "gold.csv"
    lines = [f"{i},{(i + shift) % 3}\n" for i in range(30)]
    gold.write_text("doc_id,label\n" + "".join(lines))
    options = {"gold_path": gold, "id_column": "doc_id"}
    logs = {"o": choices(), "r": choices(flipped=flipped)}
    if not shift:
        assert len(read(tmp_path, logs, **options).predictions) == 60
        return
    with pytest.raises(InputError, match=r"gold.csv: item '0' has the right answer '1', and 'a'"):
        read(tmp_path, logs, **options)


def test_the_same_answer_with_two_marks_is_counted(tmp_path: Path) -> None:
    """Without a right choice, an answer that is right once and wrong once tells of it."""
    logs = {}
    for version in ("o", "r"):
        logs[version] = winogrande(version, "acc", 5)
        for row in logs[version][: 4 * (version == "r")]:
            row["acc"] = 1 - row["acc"]
    found = read(tmp_path, logs)
    assert "Warning: 4 answers are the same in two versions, and right in one only" in " ".join(
        found.notes
    )
    assert (changed(found), discordant(found)) == (None, 4)


@pytest.mark.parametrize("seed", range(8))
def test_flips_are_never_fewer_than_discordant_pairs(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    metric = rng.choice(["acc", "acc_norm", "acc_bytes", "acc_mutual_info", "exact_match", "mine"])
    k, noise = rng.choice([2, 3, 5]), rng.choice([0.0, 0.02, 0.5])
    target = rng.choice([0, 1, [0, 1], "choice 1", "nothing"])
    logs: dict[str, Rows] = {}
    for place, version in enumerate(("o", "r")):
        for number, scores in enumerate(draw(seed + place, 30, k)):
            texts = ["choice " + "1" * (choice + 1) for choice in range(k)]
            lengths = [len(text) if metric != "acc" else 1 for text in texts]
            mark = float((int((scores / lengths).argmax()) == 1) != (rng.random() < noise))
            logs.setdefault(version, []).append(
                sample(number, [*scores], texts, version=version, target=target, **{metric: mark})
            )
    found = read(tmp_path, logs)
    assert changed(found) is None or changed(found) >= discordant(found)
    (test,) = compare_versions(found.predictions).tests
    assert test.invariance is not None
    assert test.invariance.flips is not None
    assert test.invariance.flips.n_flipped >= discordant(found)


@pytest.mark.parametrize("metric", ["mcc", "f1"])
@pytest.mark.parametrize("texts", [["no", "yes"], None, ["0", "1"]])
def test_a_task_with_a_metric_over_all_samples_only(
    metric: str, texts: list[str] | None, tmp_path: Path
) -> None:
    logs: dict[str, Rows] = {}
    answers: dict[str, list[int]] = {}
    for seed, version in enumerate(("o", "r")):
        for number, scores in enumerate(draw(seed, 40, 2)):
            answer = int(scores.argmax())
            answers.setdefault(version, []).append(answer)
            own = texts or [f"no {number}", f"yes {number}"]
            pair = [number % 2, answer]
            logs.setdefault(version, []).append(
                sample(number, [*scores], own, version=version, target=number % 2, **{metric: pair})
            )
    found = read(tmp_path, logs)
    pairs = found.predictions.pairs("transformed")
    golds = np.arange(40) % 2
    right = [np.array(answers[version]) == golds for version in ("o", "r")]
    assert pairs.sample.original_correct.tolist() == right[0].tolist()
    assert pairs.sample.transformed_correct.tolist() == right[1].tolist()
    assert pairs.n_flipped == int((np.array(answers["o"]) != answers["r"]).sum())
    assert f"the target that stands beside it in {metric}" in found.notes[0]
    assert read(tmp_path, logs, correct_columns=[metric]).predictions.table.equals(
        found.predictions.table
    )


def generated(version: str, answers: list[str], golds: list[str], **marks: list[Any]) -> Rows:
    return [
        {
            "doc_id": number,
            "doc": {"question": f"{version} {number}"},
            "target": gold,
            "arguments": {"gen_args_0": {"arg_0": f"{version} {number}", "arg_1": {"until": []}}},
            "filtered_resps": [answer],
            "filter": "none",
            "metrics": list(marks),
            "doc_hash": f"{version}{number}",
            **{name: values[number] for name, values in marks.items()},
        }
        for number, (answer, gold) in enumerate(zip(answers, golds, strict=True))
    ]


def test_pairs_beside_another_metric_are_another_judge(tmp_path: Path) -> None:
    golds, answers = ["yes", "no"] * 20, ["yes"] * 40
    marks = [float(gold == answer) for gold, answer in zip(golds, answers, strict=True)]
    pairs = [list(pair) for pair in zip(golds, answers, strict=True)]
    logs = {
        "o": generated("o", answers, golds, bleu=pairs),
        "r": generated("r", answers, golds, exact_match=marks),
    }
    notes = read(tmp_path, logs).notes
    assert any("'exact_match'" in note and "no judge in common" in note for note in notes)
    logs["r"] = generated("r", answers, golds, chrf=pairs)
    assert not any("no judge in common" in note for note in read(tmp_path, logs).notes)


@pytest.mark.parametrize(
    ("golds", "share", "expected"),
    [
        (["Oslo", "Rome", "Bonn", "Bern"] * 25, 0.91, False),
        (["yes", "no"] * 50, 0.8, False),
        (["yes", "no"] * 50, 0.5, True),  # the log itself says so
        ([f"city {n}" for n in range(100)], 0.1, None),  # no classes
        (["yes"] * 100, 0.5, None),
    ],
)
def test_marks_say_whether_a_model_that_writes_has_collapsed(
    golds: list[str], share: float, expected: bool | None, tmp_path: Path
) -> None:
    marks = [float((number * 37) % 100 < 100 * share) for number in range(100)]
    answers = [f"The answer is {gold}." for gold in golds]
    logs = {v: generated(v, answers, golds, exact_match=marks) for v in ("o", "r")}
    (test,) = compare_versions(read(tmp_path, logs).predictions).tests
    assert test.collapsed is expected
    assert test.to_dict()["predictions_changed"] is None


def test_answers_in_pairs_of_texts_are_labels(tmp_path: Path) -> None:
    golds = ["yes", "no"] * 10
    logs = {}
    for version, wrong in (("o", 0), ("r", 6)):
        said = ["no" if number < wrong else gold for number, gold in enumerate(golds)]
        pairs = [[gold, answer] for gold, answer in zip(golds, said, strict=True)]
        logs[version] = generated(version, [f"I say {each}" for each in said], golds, mcc=pairs)
    found = read(tmp_path, logs)
    assert (changed(found), discordant(found)) == (3, 3)


def test_a_single_likelihood_is_no_answer(tmp_path: Path) -> None:
    logs = {
        version: [
            sample(n, [-3.0 - n], ["end"], version=version, target="end", acc=float(n % 3 == 0))
            for n in range(20)
        ]
        for version in ("o", "r")
    }
    found = read(tmp_path, logs)
    assert (changed(found), discordant(found)) == (None, 0)
    assert not any("could not be parsed" in note for note in found.notes)


def named(version: str) -> Rows:
    rows = generated(version, ["yes", "no"] * 15, ["yes", "yes"] * 15, exact_match=[1.0, 0.0] * 15)
    for number, row in enumerate(rows):
        row["doc"] |= {
            "premise": f"p{number // 3}",
            "length": number,
            "was_reworded": int(version != "o"),
            "number": f"q{number}",
            "answer": "yes" if number % 3 else "no",
            "about": {"genre": "fiction" if number % 2 else "news"},
            "exact_match": 5,
        }
    return rows


def test_plain_names_find_the_fields_of_documents(tmp_path: Path) -> None:
    logs = {version: named(version) for version in ("o", "r")}
    kept = ["premise", "length", "was_reworded", "genre", "doc.premise", "doc.about.genre"]
    found = read(tmp_path, logs, keep_columns=kept, id_column="number").predictions
    table = found.table.slice(0, 4)
    assert table["premise"].to_pylist() == table["doc.premise"].to_pylist() == [*["p0"] * 3, "p1"]
    assert table["genre"].to_pylist() == table["doc.about.genre"].to_pylist()
    assert table["item"].to_pylist() == ["q0", "q1", "q2", "q3"]
    compared = compare_versions(
        found, clusters="premise", strata=["genre"], dose="length", reworded="was_reworded"
    )
    (test,) = compared.tests
    assert test.result.to_dict()["n_clusters"] == 10
    assert test.invariance is not None
    assert test.invariance.n_reworded == 30
    by_answer = read(tmp_path, logs, gold_column="answer", columns=["filtered_resps"])
    assert by_answer.predictions.table["gold"].to_pylist()[:3] == ["no", "yes", "yes"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "premises",
            r"column 'premises': no sample has such a field; there are doc\.question, doc",
        ),
        ("exact_match", r"may be doc\.exact_match, beside the sample's own 'exact_match', and"),
        ("genre", r"may be doc\.about\.genre or doc\.other\.genre, and they differ; write"),
    ],
)
def test_names_that_lead_nowhere_or_to_two_fields_stop(
    name: str, message: str, tmp_path: Path
) -> None:
    logs = {version: named(version) for version in ("o", "r")}
    for row in logs["o"]:
        row["doc"]["other"] = {"genre": "letters"}
    with pytest.raises(InputError, match=message):
        read(tmp_path, logs, keep_columns=[name])


WRONG = [None, True, 5, "x", [], [[]], [None], {}, {"a": 5}, [["a", True], ["b", False]]]


@pytest.mark.parametrize(
    "place",
    [
        *[(name,) for name in ("doc_id", "doc", "target", "arguments", "filtered_resps", "filter")],
        *[(name,) for name in ("metrics", "doc_hash", "acc")],
        ("filtered_resps", 0),
        ("filtered_resps", 0, 0),
        ("filtered_resps", 0, 1),
        ("arguments", "gen_args_1"),
        ("arguments", "gen_args_1", "arg_1"),
        ("metrics", 0),
        ("doc", "question"),
    ],
    ids=lambda place: ".".join(map(str, place)),
)
def test_fields_of_another_type_are_read_or_explained(
    place: tuple[Any, ...], tmp_path: Path
) -> None:
    rows = [sample(n, [-1.0, -2.0], ["no", "yes"], target=0, acc=1.0) for n in range(3)]
    other = write(tmp_path / "other.jsonl", rows)
    for number, wrong in enumerate(WRONG):
        made = json.loads(json.dumps(rows))
        for row in made[number % 2 :]:  # in all rows, or not in the first
            for step in place[:-1]:
                row = row[step]  # noqa: PLW2901
            row[place[-1]] = wrong
        path = write(tmp_path / "wrong.jsonl", made)
        said = None
        try:
            read_logs([path, other], logs_are="versions", keep_columns=["question"])
        except InputError as error:
            said = str(error)
        assert said is None or ("\n" not in said and ".jsonl" in said)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metrics": 5}, r"line 2, column 'metrics': is 5; a list of the metrics' names"),
        ({"arguments": {"a": 5}}, r"line 2, column 'arguments': is \{.a.: 5\}; two texts"),
        ({"arguments": [["q", "no"]]}, r"line 2, column 'arguments': has 1 requests, and there"),
        ({"filtered_resps": ["no"]}, r"line 2, column 'filtered_resps': is \[.no.\]; a log-likel"),
        ({"arguments": None}, r"line 2, column 'arguments': is missing, which other samples"),
    ],
)
def test_damaged_samples_are_named_by_line(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    rows = [sample(n, [-1.0, -2.0], ["no", "yes"], target=0, acc=1.0) for n in range(3)]
    rows[1] |= change
    with pytest.raises(InputError, match=message):
        read(tmp_path, {"o": rows, "r": rows})


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ({"n-samples": {"o": {"original": 9, "effective": 9}}}, "has 6 samples, and results_"),
        ({"results": {"o": {"acc,none": 0.25}}}, r"acc is 0\.5000 in the samples .* and 0\.2500"),
        ({"results": {"o": {"acc,none": 0.5}}, "n-samples": {"o": {"effective": 6}}}, None),
        ({"results": {"o": {"acc_stderr,none": 0.1}}}, r"acc_stderr is 0\.2236 in .* and 0\.1000"),
        ({"results": {"o": {"acc_stderr,none": 0.05**0.5}}}, None),
        ({"results": {"o": {"acc_stderr,none": "N/A"}}}, None),
        ({"results": {"o": {"acc,none": float("nan")}}}, r"acc is 0\.5000 .* and nan in results"),
        ({"results": {"o": {"acc,none": "N/A"}}}, r"acc is 0\.5000 .* and 'N/A' in results"),
        ({"results": {"o": {"f1,none": float("nan")}}}, None),
        ({"results": 5, "n-samples": [3]}, None),
    ],
)
def test_results_beside_a_log_are_compared(
    results: Any, message: str | None, tmp_path: Path
) -> None:
    logs = {
        v: [
            sample(n, [-1.0, -2.0], ["no", "yes"], version=v, target=n % 2, acc=float(n % 2 == 0))
            for n in range(6)
        ]
        for v in ("o", "r")
    }
    (tmp_path / "results_2026-01-01T00-00-00.0.json").write_text(json.dumps(results))
    said = " ".join(read(tmp_path, logs).notes)
    if message is None:
        assert "Warning" not in said
    else:
        assert re.search(message, said), said


def long_table(kind: str, n_wrong: int) -> pa.Table:
    """A table whose column ``correct`` contradicts the labels in some rows."""
    labels = {"names": ["yes", "no", "maybe"], "numbers": [0, 1, 2], "case": ["Yes", "NO ", "x"]}
    rows = []
    for version in ("original", "voice"):
        for item in range(30):
            gold = labels[kind][item % 3]
            said = gold if item % 4 else labels[kind][(item + 1) % 3]
            right = (said == gold) != (version == "voice" and item < n_wrong)
            if kind == "case" and item % 5 == 0:
                said = said.strip().lower()
            rows.append(
                {
                    "item": f"i{item}",
                    "version": version,
                    "gold": gold,
                    "predicted": said,
                    "correct": right,
                }
            )
    return pa.Table.from_pylist(rows)


def store(table: pa.Table, path: Path) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".csv":
        pacsv.write_csv(table, path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    return path


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl"])
@pytest.mark.parametrize("kind", ["names", "numbers", "case"])
def test_outcomes_that_contradict_labels_are_refused(
    kind: str, suffix: str, tmp_path: Path
) -> None:
    path = store(long_table(kind, 0), tmp_path / f"good{suffix}")
    assert len(read_logs([path]).predictions.pairs("voice")) == 30
    path = store(long_table(kind, 2), tmp_path / f"bad{suffix}")
    message = r"row 30, column 'correct': (true|false) contradicts the gold label .* and 2 rows do"
    for reading in (lambda: read_logs([path]), lambda: read_wordings(path)):
        with pytest.raises(InputError, match=message):
            reading()


def test_labels_that_are_known_are_compared_with_outcomes(tmp_path: Path) -> None:
    table = long_table("names", 1)
    with pytest.raises(InputError, match="and 1 row does so of 60"):
        Predictions(table=table, label_names=("maybe", "no", "yes"), source="here")
    free = table.set_column(3, "predicted", pa.array(["I say so."] * 60))
    for made in (Predictions(table=free), Predictions.from_table(free)):
        assert made.pairs("voice").answers is None
        assert made.pairs("voice").n_flipped is None
    # Where no right answer is known, the same answer cannot be right and wrong.
    unknown = table.drop_columns("gold").append_column("gold", pa.nulls(60, pa.string()))
    made = Predictions(table=unknown, label_names=("maybe", "no", "yes"), source="here")
    with pytest.raises(InputError, match="'i0' has the same answer in original and voice, and is"):
        _ = made.pairs("voice").answers


@pytest.mark.parametrize("others", [["yes", "no"], ["no", "perhaps", "yes"]])
def test_choices_in_another_order_are_the_same_answers(others: list[str], tmp_path: Path) -> None:
    logs = {}
    for version, texts in (("o", ["no", "yes"]), ("r", others)):
        logs[version] = [
            sample(
                n,
                [-1.0 if text == "yes" else -4.0 for text in texts],
                texts,
                version=version,
                target=texts.index("yes"),
                acc=1.0,
            )
            for n in range(20)
        ]
    found = read(tmp_path, logs)
    assert changed(found) == 0
    assert set(found.predictions.label_names or ()) == {*others, "no"}


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl"])
def test_marks_beside_labels_change_nothing(suffix: str, tmp_path: Path) -> None:
    table = long_table("names", 0)
    found = [
        compare_versions(read_logs([store(own, tmp_path / f"{n}{suffix}")]).predictions).to_dict()
        for n, own in enumerate((table, table.drop_columns("correct")))
    ]
    assert found[0] == found[1]
    assert found[0]["comparisons"][0]["predictions_changed"] == 0


def test_only_labels_are_the_same_answer() -> None:
    labels = Predictions.from_table(long_table("names", 0))
    assert find_wordings(labels).answers is not None
    texts = labels.table["predicted"].cast(pa.string()).to_pylist()
    free = labels.table.set_column(3, "predicted", pa.array([f"I say {text}" for text in texts]))
    assert find_wordings(Predictions(table=free)).answers is None


@pytest.mark.parametrize("labels", [["yes", "no"], [0, 1], ["x", "y"]])
def test_columns_of_marks_beside_labels_are_compared(labels: list[Any], tmp_path: Path) -> None:
    gold = [labels[n % 2] for n in range(12)]
    said = {
        v: [labels[(n % 2 + (n % k == 0)) % 2] for n in range(12)] for v, k in (("a", 4), ("b", 3))
    }
    right = {v: [s == g for s, g in zip(own, gold, strict=True)] for v, own in said.items()}
    paths = []
    for version, own in said.items():
        table = pa.table({"label": gold, "prediction": own, "correct": right[version]})
        paths.append(store(table, tmp_path / f"{version}.csv"))
    assert discordant(read_logs(paths)) == sum(a != b for a, b in zip(*right.values(), strict=True))
    table = pa.table({"label": gold, "prediction": said["b"], "correct": [*right["b"][1:], True]})
    store(table, paths[1])
    with pytest.raises(InputError, match=r"b\.csv, row \d, column 'correct': .* contradicts the"):
        read_logs(paths)
    for name in ("is_correct", "is_right", "exact_match", "acc"):
        store(table.rename_columns(["label", "prediction", name]), paths[1])
        with pytest.raises(InputError, match=f"column '{name}': .* contradicts the gold"):
            read_logs(paths)
    for name in ("right", "accuracy"):  # it may be a class, or of all rows
        store(table.rename_columns(["label", "prediction", name]), paths[1])
        assert len(read_logs(paths).predictions.pairs("transformed")) == 12
    # A column of that name may also hold the right answers.
    store(pa.table({"label": gold, "prediction": said["b"], "correct": gold}), paths[1])
    assert len(read_logs(paths).predictions.pairs("transformed")) == 12
    wide = {"label": gold, "original": said["a"], "transformed": said["b"]}
    marked = wide | {"original_correct": right["a"], "transformed_correct": right["b"]}
    path = store(pa.table(marked), tmp_path / "wide.csv")
    assert discordant(read_logs([path])) > 0
    store(pa.table(marked | {"transformed_correct": right["a"]}), path)
    with pytest.raises(InputError, match=r"column 'transformed_correct': .* contradicts the gold"):
        read_logs([path])


@pytest.mark.parametrize(
    "spelling",
    ["{}_correct", "correct_{}", "is_correct_{}", "{}_acc", "{}_right", "exact_match_{}"],
)
@pytest.mark.parametrize("columns", [("original", "transformed"), ("a", "b")])
def test_columns_of_marks_are_compared_in_either_spelling(
    spelling: str, columns: tuple[str, str], tmp_path: Path
) -> None:
    gold = [n % 2 for n in range(12)]
    said = [[(n % 2 + (n % k == 0)) % 2 for n in range(12)] for k in (4, 3)]
    right = [[s == g for s, g in zip(own, gold, strict=True)] for own in said]
    wide = {"label": gold} | dict(zip(columns, said, strict=True))
    names = [spelling.format(column) for column in columns]
    path = tmp_path / "wide.csv"
    for marks, is_read in ((right, True), (["few", "many"], True), (right[::-1], False)):
        given = {
            n: m if isinstance(m, list) else [m] * 12 for n, m in zip(names, marks, strict=True)
        }
        store(pa.table(wide | given), path)
        if is_read:
            assert discordant(read_logs([path], columns=columns)) > 0
            continue
        with pytest.raises(InputError, match=f"column '{names[0]}': .* contradicts the gold"):
            read_logs([path], columns=columns)
    # What is a mark in one spelling is compared with the other.
    both = {f"correct_{columns[1]}": right[0], f"{columns[1]}_correct": right[1]}
    store(pa.table(wide | both), path)
    with pytest.raises(
        InputError, match=r"column 'correct_\w+': says otherwise than \w+_correct in"
    ):
        read_logs([path], columns=columns)


def test_columns_of_marks_follow_their_rows(tmp_path: Path) -> None:
    rows = [(n, n % 2, (n % 2 + (n % 3 == 0)) % 2) for n in range(12)]
    paths = []
    for version, own in (("a", rows), ("b", rows[::-1])):
        table = pa.table(
            {
                "id": [n for n, _, _ in own],
                "label": [gold for _, gold, _ in own],
                "prediction": [said for _, _, said in own],
                "correct": [gold == said for _, gold, said in own],
            }
        )
        paths.append(store(table, tmp_path / f"{version}.csv"))
    assert discordant(read_logs(paths, id_column="id")) == 0


def pairs_of(version: str, metric: str, **shift: int) -> Rows:
    """Samples with a pair that may have another target or answer than stands beside it."""
    rows = []
    for number, scores in enumerate(draw(len(version), 30, 3)):
        pair = [number % 3, int(np.argmax(scores))]
        if number < 20:
            pair = [(pair[0] + shift.get("target", 0)) % 3, (pair[1] + shift.get("said", 0)) % 3]
        given: dict[str, Any] = {metric: pair}
        texts = ["no", "yes", "maybe"]
        rows.append(sample(number, [*scores], texts, version=version, target=number % 3, **given))
    return rows


@pytest.mark.parametrize("metric", ["mcc", "f1"])
@pytest.mark.parametrize("shift", [{}, {"target": 1}, {"said": 1}, {"target": 1, "said": 1}])
def test_pairs_are_compared_with_targets_and_log_likelihoods(
    shift: dict[str, int], metric: str, tmp_path: Path
) -> None:
    found = read(tmp_path, {v: pairs_of(v, metric, **shift) for v in ("o", "rr")})
    said = f"20 of 30 samples in which {metric} contradicts the target and the log-likelihoods"
    assert sum(said in note for note in found.notes) == 2 * bool(shift)
    assert (changed(found) is None) == bool(shift)
    # The pairs say what is right, as before.
    right = [pair[0] == pair[1] for pair in (row[metric] for row in pairs_of("o", metric, **shift))]
    assert found.predictions.pairs("transformed").sample.original_correct.tolist() == right


@pytest.mark.parametrize("wrong", [0, 7])
def test_marks_of_one_request_are_compared_with_what_would_have_been_written(
    wrong: int, tmp_path: Path
) -> None:
    logs: dict[str, Rows] = {}
    for version, n in (("o", 0), ("r", wrong)):
        for number in range(20):
            row = sample(number, [-1.5], ["end"], version=version, target="end", acc=0.0)
            is_greedy = number % 3 == 0
            row["filtered_resps"] = [["-1.5", str(is_greedy)]]
            row["acc"] = float(is_greedy != (number < n))
            logs.setdefault(version, []).append(row)
    found = read(tmp_path, logs)
    said = [note for note in found.notes if "would have written the text" in note]
    assert len(said) == bool(wrong)
    assert not wrong or "has 7 of 20 samples in which acc contradicts" in said[0]
    assert discordant(found) == wrong


@pytest.mark.parametrize("metric", ["acc", "acc_norm", "acc_mutual_info", "exact_match", "mcc"])
@pytest.mark.parametrize("bad", [0, 1, 6])
def test_log_likelihoods_that_are_no_numbers_are_counted(
    bad: int, metric: str, tmp_path: Path
) -> None:
    """The harness takes the first of them for the likeliest, as NumPy does."""
    logs: dict[str, Rows] = {}
    for version, n in (("o", 0), ("r", bad)):
        for number in range(20):
            texts = ["no", "yes"] * (1 + (metric == "acc_mutual_info"))
            scores = [float("nan"), -2.0, -3.0, -3.0][: len(texts)]
            scores = scores if number < n else [-1.0, float("-inf"), -3.0, -3.0][: len(texts)]
            value: Any = [number % 2, 0] if metric == "mcc" else float(number % 2 == 0)
            row = sample(
                number, scores, texts, version=version, target=number % 2, **{metric: value}
            )
            if metric == "acc_mutual_info":
                for place in (2, 3):
                    row["arguments"][f"gen_args_{place}"]["arg_0"] = ""
            logs.setdefault(version, []).append(row)
    found = read(tmp_path, logs)
    said = [note for note in found.notes if "no numbers" in note]
    assert len(said) == bool(bad)
    assert not bad or f"{bad} sample{'s have' if bad > 1 else ' has'} log-likelihoods" in said[0]
    assert len(found.predictions) == 40


def test_the_log_likelihood_of_a_single_text_may_be_no_number(tmp_path: Path) -> None:
    logs = {
        version: [
            sample(n, [score if n < 2 else -1.5], ["end"], version=version, target="end", acc=0.0)
            for n in range(20)
        ]
        for version, score in (("o", -1.5), ("r", float("nan")))
    }
    (note,) = [note for note in read(tmp_path, logs).notes if "no numbers" in note]
    assert "2 samples have log-likelihoods that are no numbers" in note


STEREOTYPES = {"likelihood_diff": 2.5, "pct_stereotype": None}


@pytest.mark.parametrize(
    ("metrics", "higher", "options", "message"),
    [
        (STEREOTYPES, False, {}, r"of pct_stereotype, lower is better, says results_.*; here 1 co"),
        (STEREOTYPES, None, {}, "of pct_stereotype, lower is better, says lm-evaluation-harness;"),
        (STEREOTYPES, True, {}, None),
        (STEREOTYPES, "no", {}, "lower is better, says lm-evaluation-harness;"),
        ({"wrong": None}, False, {}, "of wrong, lower is better, says results_"),
        ({"wrong": None}, None, {}, None),
        ({"wrong": None}, False, {"correct_columns": ["wrong"]}, "of wrong, lower is better"),
        ({"wrong": 0.7}, False, {"threshold": 0.5}, "here 0.5 and more count as right"),
        ({"acc": None}, True, {}, None),
        # What samples have of these is a log-likelihood, or a pair of which equal ones are right.
        ({"perplexity": -1.5}, False, {"threshold": -2.0}, None),
        ({"ter": ["yes", "no"]}, False, {}, None),
    ],
)
def test_metrics_of_which_lower_is_better_are_told(
    metrics: dict[str, Any],
    higher: Any,
    options: dict[str, Any],
    message: str | None,
    tmp_path: Path,
) -> None:
    logs = {}
    for version in ("o", "r"):
        rows = []
        for number in range(20):
            said = {
                name: float(number % 2) if value is None else value
                for name, value in metrics.items()
            }
            row = sample(number, [-1.5], ["end"], version=version, target="end", **said)
            rows.append(row | {"filtered_resps": ["end" if number % 2 else "start"]})
        logs[version] = rows
    if higher is not None:
        for day in (1, 2):
            said_there = {v: dict.fromkeys(metrics, higher) for v in ("o", "r")}
            path = tmp_path / f"results_2026-01-0{day}T00-00-00.0.json"
            path.write_text(json.dumps({"higher_is_better": said_there}))
    found = read(tmp_path, logs, **options)
    said = [note for note in found.notes if "lower is better" in note]
    assert len(said) == 2 * (message is not None)
    assert message is None or re.search(message, said[0])


@pytest.mark.parametrize("moves", [True, False])
def test_choices_in_another_order_in_each_sample_keep_their_names(
    tmp_path: Path, *, moves: bool
) -> None:
    """Shuffled choices are the same labels, with their probabilities, and a moved target is not."""
    versions: dict[str, Rows] = {}
    for version in ("o", "t"):
        versions[version] = []
        for i in range(12):
            texts = ["neg", "pos"] if version == "o" or i % 4 else ["pos", "neg"]
            # The target stays where it was, or goes with its text.
            target = i % 2 if moves else texts.index(("neg", "pos")[i % 2])
            scores = [-1.0 - 2 * (place != target) for place in range(2)]
            versions[version].append(
                sample(i, scores, texts, version=version, target=target, acc=1.0)
            )
    if moves:
        with pytest.raises(InputError, match="item '0' has the right answer 'pos', and 'neg' in"):
            read(tmp_path, versions)
        return
    found = read(tmp_path, versions)
    assert found.predictions.label_names == ("neg", "pos")
    assert changed(found) == 0
    table = found.predictions.table
    best = [int(np.argmax(each)) for each in table["probabilities"].to_pylist()]
    assert [("neg", "pos")[place] for place in best] == table["gold"].to_pylist()
