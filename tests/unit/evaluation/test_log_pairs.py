"""Pairs of logs: the same questions or others, Inspect's scores, epochs, incomplete logs, tasks."""

from __future__ import annotations

import gzip
import json
import random
import string
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ietest_fast.analyses.compare.profile import compare_versions
from ietest_fast.analyses.consistency.file import ConsistencyAnswers, ConsistencyNotes
from ietest_fast.analyses.consistency.noting import ConsistencyOptions
from ietest_fast.analyses.consistency.profile import measure_wordings
from ietest_fast.analyses.stress.asking import measure_stress
from ietest_fast.analyses.stress.suite import StressOptions
from ietest_fast.answers.logs import find_logs, read_logs
from ietest_fast.answers.table import Predictions
from ietest_fast.errors import InputError
from ietest_fast.stats import ClusteredTestResult
from toy_logs import counts, inspect_log, pair, reword, sample

NAN = float("nan")


def chat(name: int, *, seed: int, content: Callable[[str], object] = str) -> list[dict[str, Any]]:
    """Messages with ids and notes that differ from run to run."""
    draw = random.Random(f"{seed} {name}")
    return [
        {"id": f"{draw.random():x^9}", "role": "system", "content": "Say yes or no."},
        {
            "id": f"{draw.random():x^9}",
            "role": "user",
            "content": content(f"Question {name}?"),
            "metadata": {"at": draw.random()},
            "source": "input",
        },
    ]


def as_parts(text: str) -> list[dict[str, object]]:
    return [{"type": "text", "text": text, "internal": None}]


@pytest.mark.parametrize("second", [str, as_parts], ids=["text", "parts"])
def test_chats_are_their_roles_and_contents(
    second: Callable[[str], object], tmp_path: Path
) -> None:
    """Ids of messages made versions of the same questions."""
    a = [sample(i, "C", asked=chat(i, seed=1)) for i in range(6)]
    b = [sample(i, "CI"[i % 2], asked=chat(i, seed=2, content=second)) for i in range(6)]
    logs = [inspect_log(tmp_path / "a.json", a), inspect_log(tmp_path / "b.eval", b)]
    read = read_logs(logs, keep_columns=["input"])
    assert read.predictions.versions == ("original",)
    assert "The logs are of 2 classifiers on the same items" in read.notes[-1]
    # A column of chats, such as of clusters, is equal where the chats are.
    table = read.predictions.table.to_pydict()
    inputs = dict(zip(zip(table["model"], table["item"], strict=True), table["input"], strict=True))
    assert all(inputs["a", i] == inputs["b", i] for i in range(6))
    # Two of six in other words.
    for each in b[:2]:
        each["input"] = reword(each["input"])
    read = read_logs([logs[0], inspect_log(tmp_path / "b.eval", b)])
    pairs = read.predictions.pairs("transformed")
    assert pairs.reworded().tolist() == [True, True, False, False, False, False]


def test_numbers_of_samples_do_not_hide_another_order(tmp_path: Path) -> None:
    """Inspect numbers the samples of a data set that has no ids."""
    answers = "CICICICC"
    a = [sample(i, "C", asked=f"Question {i}?") for i in range(8)]
    b = [sample(i, answers[i], asked=f"Query {i}?") for i in range(8)]
    for i in range(8):
        a[i]["metadata"] = {"premise": f"Premise {i}.", "topic": "one"}
        b[i]["metadata"] = {"premise": f"Premise {(i + 1) % 8}.", "topic": "one"}
    logs = [inspect_log(tmp_path / f"{name}.json", each) for name, each in (("a", a), ("b", b))]
    with pytest.raises(InputError, match=r"column 'metadata.premise': names the rows otherwise"):
        read_logs(logs)
    read = read_logs(logs, id_column="metadata.premise")
    assert len(read.predictions.pairs("transformed")) == 8
    # The same questions under other numbers.
    for i in range(8):
        del a[i]["metadata"], b[i]["metadata"]
        b[i]["input"] = a[i - 1]["input"]
    logs = [inspect_log(tmp_path / f"{name}.json", each) for name, each in (("a", a), ("b", b))]
    with pytest.raises(InputError, match="column 'the input': names the rows otherwise"):
        read_logs(logs)


@pytest.mark.parametrize("n", [1, 2])
def test_samples_that_are_marked_as_invalid_are_counted(n: int, tmp_path: Path) -> None:
    a = [sample(i, "C") for i in range(6)]
    b = [sample(i, "CI"[i % 2]) for i in range(6)]
    for each in b[:n]:
        each["invalidation"] = {"timestamp": "2026-01-01T00:00:00+00:00", "author": "a"}
    logs = [inspect_log(tmp_path / f"{name}.json", each) for name, each in (("a", a), ("b", b))]
    (said,) = [note for note in read_logs(logs).notes if "invalid" in note]
    assert f"b.json has {n} sample{'s' * (n > 1)} marked as invalid, whose answers count." in said


CHOICES = ["entailment", "neutral", "contradiction"]


def multiple_choice(name: int, said: str, choices: list[str], *, asked: str) -> dict[str, Any]:
    """A sample that the scorer `choice` judged: letters stand for choices."""
    letters = {choice: "ABC"[place] for place, choice in enumerate(choices)}
    target, answer = letters[CHOICES[name % 3]], letters[said]
    value = "C" if target == answer else "I"
    return {
        "id": name,
        "epoch": 1,
        "input": f"{asked} {name}?",
        "choices": choices,
        "target": target,
        "scores": {"choice": {"value": value, "answer": answer}},
    }


@pytest.mark.parametrize(
    "shuffle", [lambda i: CHOICES[::-1], lambda i: CHOICES[i % 3 :] + CHOICES[: i % 3]]
)
def test_letters_are_told_by_the_choices_that_they_stand_for(
    shuffle: Callable[[int], list[str]], tmp_path: Path
) -> None:
    said = [CHOICES[(i + (i % 4 == 0)) % 3] for i in range(12)]
    a = [multiple_choice(i, CHOICES[i % 3], CHOICES, asked="Question") for i in range(12)]
    b = [multiple_choice(i, said[i], shuffle(i), asked="Query") for i in range(12)]
    logs = [inspect_log(tmp_path / f"{name}.json", each) for name, each in (("a", a), ("b", b))]
    read = read_logs(logs)
    assert counts(read) == [9, 3, 0, 0]
    assert set(read.predictions.table["predicted"].to_pylist()) == set(CHOICES)
    # The same letters for other choices.
    for each in b:
        each["choices"] = CHOICES[1:] + CHOICES[:1]
        each["target"] = "ABC"[each["id"] % 3]
    logs[1] = inspect_log(tmp_path / "b.json", b)
    with pytest.raises(InputError, match="has the right answer 'neutral', and 'entailment' in"):
        read_logs(logs)


def test_behind_z_choices_are_counted_as_inspect_does(tmp_path: Path) -> None:
    choices = [f"choice {i}" for i in range(40)]
    letters = [*string.ascii_uppercase, *map(str, range(1, 15))]
    answers = [[(7 * i + i // 9) % 40 for i in range(80)], [(7 * i) % 40 for i in range(80)]]
    logs = [
        inspect_log(
            tmp_path / f"{version}.eval",
            [
                {
                    "id": i,
                    "epoch": 1,
                    "input": f"{version} {i}",
                    "choices": choices,
                    "target": letters[i % 40],
                    "scores": {
                        "choice": {
                            "value": "C" if answers[version][i] == i % 40 else "I",
                            "answer": letters[answers[version][i]],
                        }
                    },
                }
                for i in range(80)
            ],
        )
        for version in range(2)
    ]
    found = read_logs(logs)
    n = sum(one != two for one, two in zip(*answers, strict=True))
    assert found.predictions.pairs("transformed").n_flipped == n
    assert not any("none of the choices" in note for note in found.notes)


def test_choices_of_their_own_keep_their_letters(tmp_path: Path) -> None:
    a = [multiple_choice(i, CHOICES[i % 3], CHOICES, asked="Question") for i in range(6)]
    for each in a:
        each["choices"] = [f"{choice} {each['id']}" for choice in CHOICES]
    b = [each | {"input": f"Query {each['id']}?"} for each in a]
    logs = [inspect_log(tmp_path / f"{name}.json", each) for name, each in (("a", a), ("b", b))]
    assert set(read_logs(logs).predictions.table["predicted"].to_pylist()) == {"A", "B", "C"}


def test_a_text_is_what_a_user_says(tmp_path: Path) -> None:
    a = [sample(i, "C", asked=f"Question {i}?") for i in range(3)]
    b = [sample(i, "I", asked=[{"role": "user", "content": f"Question {i}?"}]) for i in range(3)]
    logs = [inspect_log(tmp_path / "a.json", a), inspect_log(tmp_path / "b.json", b)]
    assert read_logs(logs).predictions.versions == ("original",)
    # Another role asks another thing, and so does another picture.
    for change in (
        {"role": "system"},
        {"content": [{"type": "image", "image": "a.png"}, {"type": "text", "text": "Question"}]},
    ):
        for each in b:
            each["input"] = [{"role": "user", "content": "Question"} | change]
        logs[1] = inspect_log(tmp_path / "b.json", b)
        assert read_logs(logs).predictions.versions == ("original", "transformed")


def test_prompts_and_documents_tell_reworded_samples_of_lm_eval(tmp_path: Path) -> None:
    """One document in other words, and one text of documents with other ids."""

    def write(name: str, words: str, doc_hash: str) -> Path:
        lines = [
            {
                "doc_id": i,
                "doc": {"q": i},
                "target": "yes",
                "arguments": {"gen_args_0": {"arg_0": f"{words} {i}?", "arg_1": {"until": []}}},
                "filtered_resps": ["yes"],
                "metrics": ["exact_match"],
                "exact_match": 1.0,
                "doc_hash": f"{doc_hash}{i}",
            }
            for i in range(4)
        ]
        path = tmp_path / f"samples_{name}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    first, prompted, hashed, other = (
        write("a", "Plain", "x"),
        write("b", "Other", "x"),
        write("c", "Plain", "y"),
        write("d", "Other", "y"),
    )
    assert read_logs([first, hashed]).predictions.versions == ("original",)
    assert read_logs([first, prompted]).predictions.versions == ("original",)
    for log, reworded in ((prompted, True), (other, True), (hashed, False)):
        pairs = read_logs([first, log], logs_are="versions").predictions.pairs("transformed")
        assert pairs.reworded().tolist() == [reworded] * 4


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (["C", "I", "C", "N"], ["C", "C", "I", "I"], [1, 1, 1, 1]),
        (["true", "False", "YES", "no"], ["yes", "TRUE", "false", "No"], [1, 1, 1, 1]),
        (["1", "0", "1.0", "0.0"], [1, 1.0, False, 0], [1, 1, 1, 1]),
        ([True, False, [1], ["I"]], [[1.0], ["C"], "0", "false"], [1, 1, 1, 1]),
    ],
)
def test_scores_are_what_inspect_takes_them_for(
    first: list[object], second: list[object], expected: list[int], tmp_path: Path
) -> None:
    assert counts(read_logs(pair(tmp_path, first, second))) == expected


@pytest.mark.parametrize("missing", [NAN, None, "nan"])
def test_samples_that_were_not_scored_are_counted(missing: object, tmp_path: Path) -> None:
    logs = pair(tmp_path, ["C", missing, "I", "C", missing], ["I", "C", "I", missing, missing])
    read = read_logs(logs)
    assert read.predictions.dropped == {"answer without a score": 3}
    assert counts(read) == [0, 1, 0, 1]
    # Nor were those that no scorer has seen.
    samples = [sample(i, "C") | ({"scores": None} if i == 2 else {}) for i in range(3)]
    read = read_logs([logs[0], inspect_log(tmp_path / "s.json", samples)], common_items=True)
    assert read.predictions.dropped == {"answer without a score": 2, "not in all logs": 2}


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [(0.5, [2, 1, 0, 1]), (1, [1, 1, 0, 2]), (0.25, [2, 2, 0, 0])],
)
def test_partial_credit_needs_a_threshold(
    threshold: float, expected: list[int], tmp_path: Path
) -> None:
    logs = pair(tmp_path, ["C", "P", 1, 0.3], ["C", 0.9, "I", 0.2])
    with pytest.raises(InputError, match=r"sample 1: the score 'P' of 'own'.*--threshold 0\.5"):
        read_logs(logs)
    assert counts(read_logs(logs, threshold=threshold)) == expected


@pytest.mark.parametrize("value", ["good", "1_0", {"a": "good"}, float("inf")])
def test_what_is_no_score_is_refused(value: object, tmp_path: Path) -> None:
    logs = pair(tmp_path, ["C", value], ["C", "I"])
    for threshold in (None, 0.5):
        with pytest.raises(InputError, match="is neither right nor wrong; expected C or I"):
            read_logs(logs, threshold=threshold, correct_columns=None)


def test_the_first_scorer_that_fits_judges(tmp_path: Path) -> None:
    first = [{"scores": {"quality": 0.4, "match": m}} for m in "CICC"]
    second = [{"scores": {"quality": 0.9, "match": m}} for m in "CCIC"]
    logs = pair(tmp_path, first, second)
    read = read_logs(logs)
    assert counts(read) == [2, 1, 1, 0]
    assert "by the scorer 'match'; --correct-columns chooses another (quality)" in read.notes[0]
    with pytest.raises(
        InputError, match=r"0\.4 of 'quality'.*--threshold.*names another scorer \(match\)"
    ):
        read_logs(logs, correct_columns=["quality"])
    # With a threshold numbers fit, too.
    assert counts(read_logs(logs, threshold=0.5)) == [0, 0, 4, 0]
    with pytest.raises(InputError, match="has no scorer 'style'; it has quality, match"):
        read_logs(logs, correct_columns=["style"])


def test_two_logs_are_judged_by_the_same(tmp_path: Path) -> None:
    """The first that fits in one log need not fit in the other."""
    first = [{"scores": {"quality": 1, "match": m}} for m in "CI"]
    second = [{"scores": {"quality": 0.5, "match": m}} for m in "IC"]
    logs = pair(tmp_path, first, second)
    with pytest.raises(
        InputError, match=r"by 'match', and .* by 'quality'; --correct-columns match"
    ):
        read_logs(logs)
    assert counts(read_logs(logs, correct_columns=["match"])) == [0, 1, 1, 0]


def test_a_score_of_several_values_is_named_by_key(tmp_path: Path) -> None:
    first = [{"right": 1, "style": 0.5}, {"right": 0, "style": 0.2}, NAN]
    logs = pair(tmp_path, first, [{"right": 0, "style": 0.7}, {"right": "C", "style": 0.1}, "C"])
    # The keys are values of one score, not scorers.
    logs = [
        inspect_log(
            path,
            [
                sample(i, {"scores": {"own": value}}, asked=f"{path.stem} {i}")
                for i, value in enumerate(values)
            ],
        )
        for path, values in zip(
            logs,
            (first, [{"right": 0, "style": 0.7}, {"right": "C", "style": 0.1}, {"right": 1}]),
            strict=True,
        )
    ]
    read = read_logs(logs)
    assert counts(read) == [0, 1, 1, 0]
    assert read.predictions.dropped == {"answer without a score": 1}
    assert "by the scorer 'own.right'" in read.notes[0]
    assert counts(read_logs(logs, correct_columns=["own.style"], threshold=0.4)) == [1, 0, 0, 1]
    with pytest.raises(InputError, match=r"'own' gives several values .*: own\.right, own\.style"):
        read_logs(logs, correct_columns=["own"])
    lists = pair(tmp_path, [[1, 0.5], [0, 0.5]], [[0, 0.5], [0, 0.5]])
    assert counts(read_logs(lists, correct_columns=["own.0"])) == [0, 1, 0, 1]


def test_a_threshold_is_for_scores(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,b\n0.9,0.1\n0.6,0.7\n0.2,1\n")
    assert counts(read_logs([table], correct_columns=["a", "b"], threshold=0.6)) == [1, 1, 1, 0]
    table.write_text("a,b\n0.9,0.1\n0.6,?\n")
    with pytest.raises(InputError, match=r"row 1, column 'b': '\?' is no score"):
        read_logs([table], correct_columns=["a", "b"], threshold=0.6)
    table.write_text("label,original,transformed\na,a,b\nb,b,b\n")
    with pytest.raises(InputError, match=r"a threshold .* is for scores"):
        read_logs([table], threshold=0.5)


def epochs(values: Sequence[Sequence[object]], words: str) -> list[dict[str, Any]]:
    return [
        sample(i, value, asked=f"{words} {i}?", epoch=epoch)
        for i, own in enumerate(values)
        for epoch, value in enumerate(own, start=1)
    ]


def test_one_answer_is_made_of_several_epochs(tmp_path: Path) -> None:
    one = inspect_log(tmp_path / "o.eval", epochs([["C"], ["I"], ["C"], ["C"]], "Plain"))
    values = [["I", "C", "C"], ["C", "I", "I"], ["I", "I", "P"], ["C", "C", "C"]]
    three = inspect_log(tmp_path / "r.eval", epochs(values, "Other"))
    logs = [one, three]
    with pytest.raises(InputError, match="'P' of 'own'"):
        read_logs(logs)
    with pytest.raises(InputError, match=r"has 3 epochs .* has 1 epoch; --epochs first or"):
        read_logs(logs, threshold=0.5)
    # First: I, C, I, C. Means: 2/3, 1/3, 1/6, 1.
    assert counts(read_logs(logs, threshold=0.5, epochs="first")) == [1, 2, 1, 0]
    assert counts(read_logs(logs, threshold=0.5, epochs="mean")) == [2, 1, 0, 1]
    assert counts(read_logs(logs, threshold=2 / 3, epochs="mean")) == [2, 1, 0, 1]
    assert counts(read_logs(logs, threshold=0.7, epochs="mean")) == [1, 2, 0, 1]
    assert counts(read_logs(logs, threshold=0.5, common_items=True)) == [1, 2, 1, 0]
    # All means right or wrong need no threshold.
    same = inspect_log(tmp_path / "s.eval", epochs([["C", "C"], ["I", "I"]], "Other"))
    two = inspect_log(tmp_path / "p.eval", epochs([["C"], ["C"]], "Plain"))
    assert counts(read_logs([two, same], epochs="mean")) == [1, 1, 0, 0]
    mixed = inspect_log(tmp_path / "x.eval", epochs([["C", "I"], ["C", NAN]], "Other"))
    with pytest.raises(InputError, match=r"the mean score of item 0 is 0\.5 over 2.*--threshold"):
        read_logs([two, mixed], epochs="mean")
    read = read_logs([two, mixed], epochs="mean", threshold=0.6)  # of what was scored: 1/2, 1
    assert counts(read) == [1, 1, 0, 0]


def test_all_epochs_are_compared_number_by_number(tmp_path: Path) -> None:
    logs = [
        inspect_log(tmp_path / f"{name}.eval", epochs(values, name))
        for name, values in (("a", [["C", "I"], ["C", "C"]]), ("b", [["I", "I"], ["C", "I"]]))
    ]
    read = read_logs(logs)
    assert counts(read) == [1, 2, 0, 1]
    assert "the answers to an item are drawn together" in read.notes[0]
    assert read.predictions.pairs("transformed").column("sample_id").to_pylist() == list("0011")


def one_answer_each(path: Path, form: str, numbers: Sequence[int], words: str) -> Path:
    """A log with one answer to each item, of these epochs or trials."""
    if form == "epoch":
        own = [sample(i, "C", asked=f"{words} {i}?", epoch=n) for i, n in enumerate(numbers)]
        return inspect_log(path, own)
    requests = [
        {
            "instance": {
                "id": f"id{i}",
                "input": {"text": f"{words} {i}?"},
                "references": [{"output": {"text": "yes"}, "tags": ["correct"]}],
            },
            "train_trial_index": number,
            "result": {"completions": [{"text": "yes"}]},
        }
        for i, number in enumerate(numbers)
    ]
    state = {"adapter_spec": {"method": "generation"}, "request_states": requests}
    path.write_text(json.dumps(state))
    return path


@pytest.mark.parametrize("form", ["epoch", "trial"])
@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ((2, 1, 1), (1, 1, 1), "item '?(id)?0'? was answered in {0} 1 in .*, and in {0} 2 in .*"),
        ((1, 1, 1), (1, 2, 2), "of 3 items, 2 were answered in two {0}s. Give logs of the same"),
        ((2, 1, 1), (1, 2, 1), "of 3 items, 2 were answered in two {0}s"),
        ((1, 1, 1), (2, 2, 2), None),  # one chosen for all
        ((2, 2, 2), (2, 2, 2), ""),
        ((2, 1, 1), (2, 1, 1), ""),
    ],
)
def test_only_answers_of_the_same_repeat_are_paired(
    form: str,
    before: Sequence[int],
    after: Sequence[int],
    expected: str | None,
    tmp_path: Path,
) -> None:
    logs = [
        one_answer_each(tmp_path / f"{name}.json", form, numbers, name)
        for name, numbers in (("a", before), ("b", after))
    ]
    if expected:
        with pytest.raises(InputError, match=expected.format(form)):
            read_logs(logs)
    else:
        told = [note for note in read_logs(logs).notes if "these answers are compared" in note]
        assert len(told) == (expected is None)
        assert all(f"in {form} 2 in {logs[1]}, and in {form} 1 in {logs[0]}" in n for n in told)
    assert counts(read_logs(logs, epochs="first")) == [3, 0, 0, 0]


@pytest.mark.parametrize(("trials", "is_refused"), [("001", True), ("111", False), ("000", False)])
def test_perturbations_of_helm_are_paired_with_the_same_trial(
    trials: str, *, is_refused: bool, tmp_path: Path
) -> None:
    path = one_answer_each(tmp_path / "s.json", "trial", [0] * 6, "Plain")
    state = json.loads(path.read_text())
    for i, request in enumerate(state["request_states"][3:]):
        request["instance"] |= {"id": f"id{i}", "perturbation": {"name": "typos"}}
        request["train_trial_index"] = int(trials[i])
    for request in state["request_states"][:2]:
        del request["train_trial_index"]  # it is the first
    path.write_text(json.dumps(state))
    if is_refused:
        with pytest.raises(InputError, match="'id2' was answered in trial 1 in typos, and in tria"):
            read_logs([path])
    else:
        said = [note for note in read_logs([path]).notes if "in trial 1 in typos, and in" in note]
        assert len(said) == (trials == "111")


@pytest.mark.parametrize(("numbers", "n"), [((1, 2, 1), 1), ((2, 2, 2), 3), ((1, 1, 1), 0)])
def test_epochs_that_the_header_does_not_have_are_counted(
    numbers: Sequence[int], n: int, tmp_path: Path
) -> None:
    logs = [one_answer_each(tmp_path / f"{name}.json", "epoch", numbers, name) for name in "ab"]
    content = json.loads(logs[0].read_text())
    for config, is_said in (({"epochs": 1}, n > 0), ({"epochs": 2}, False), ({}, False)):
        content["eval"]["config"] = config
        logs[0].write_text(json.dumps(content))
        said = [note for note in read_logs(logs).notes if "of a later epoch than" in note]
        assert len(said) == is_said
        assert all(f"has {n} sample{'s' * (n > 1)} of a later" in note for note in said)


@pytest.mark.parametrize("ending", ["eval", "json"])
def test_the_last_of_a_sample_counts(ending: str, tmp_path: Path) -> None:
    samples = [sample(i, "C") for i in range(4)]
    again = [*samples, sample(1, "I"), sample("3", "I"), sample(1, "C"), sample(2, "I")]
    other = inspect_log(tmp_path / "b.json", [sample(i, "C", asked=f"R {i}") for i in range(4)])
    read = read_logs([inspect_log(tmp_path / f"a.{ending}", again), other])
    assert counts(read) == [2, 0, 2, 0]  # 2 and 3 are wrong in the first
    assert "4 samples are stored once more, further below; the last of each counts" in read.notes[0]


def test_all_epochs_stay_together_wherever_they_are_read(tmp_path: Path) -> None:
    """Each item is answered five times alike, which is no more than once."""
    right = [n % 4 > 0 for n in range(12)]
    values = [
        [["C" if own else "I"] * 5 for own in right],
        [["C" if own and n > 2 else "I"] * 5 for n, own in enumerate(right)],
    ]
    logs = [
        inspect_log(tmp_path / f"{name}.eval", epochs(own, name))
        for name, own in zip(("original", "new"), values, strict=True)
    ]
    read = read_logs(logs)
    path = tmp_path / "all.parquet"
    read.predictions.write(path)
    again = read_logs([path])
    assert again.predictions.repeats == "sample_id"
    assert any("drawn together, as by --clusters sample_id" in note for note in again.notes)
    kept = (read.predictions, again.predictions, Predictions.read(path))
    for predictions in kept:
        (test,) = compare_versions(predictions, n_resamples=200).tests
        assert isinstance(test.result, ClusteredTestResult)
        assert test.result.n_clusters == 12
        (profile,) = measure_stress(predictions, StressOptions(n_resamples=200))
        (of_items,) = measure_stress(replace(predictions, repeats=None))
        wide, narrow = (each.original.accuracy.interval for each in (profile, of_items))
        assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)
        answers = ConsistencyAnswers(predictions=predictions, notes=ConsistencyNotes())
        (consistent,) = measure_wordings([answers], ConsistencyOptions(n_resamples=200))
        assert consistent.result.n_clusters == 12
    for how in ("first", "mean"):
        with pytest.raises(InputError, match=f"--epochs {how} is for the logs"):
            read_logs([path], epochs=how)


def lm_eval_log(path: Path, right: Sequence[bool], *, names: Sequence[int] | None = None) -> Path:
    lines = [
        {
            "doc_id": name,
            "doc": {"q": name},
            "target": "yes",
            "arguments": [[f"{path.stem} {name}?", {}]],
            "filtered_resps": ["yes" if own else "no"],
            "metrics": ["exact_match"],
            "exact_match": float(own),
            "doc_hash": f"{path.stem}{name}",
        }
        for name, own in zip(names or range(len(right)), right, strict=True)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_documents_that_were_padded_are_there_once(tmp_path: Path) -> None:
    names = [0, 1, 2, 2, 2]
    logs = [
        lm_eval_log(tmp_path / "samples_a.jsonl", [True, False, True, True, True], names=names),
        lm_eval_log(tmp_path / "samples_b.jsonl", [True, True, False, False, False], names=names),
    ]
    read = read_logs(logs)
    assert counts(read) == [1, 1, 1, 0]
    assert "2 answers to the same input once more; one of each counts" in read.notes[0]
    lm_eval_log(logs[1], [True, True, False, True, False], names=names)
    with pytest.raises(InputError, match="one id occurs more than once: '2'; give each row"):
        read_logs(logs)


def test_common_items_are_compared_and_the_others_counted(tmp_path: Path) -> None:
    long = [sample(i, value) for i, value in enumerate(["C", "I", "C", "C", "I"])]
    short = [sample(str(i), v, asked=f"R {i}") for i, v in ((3, "I"), (1, "C"), (7, "C"), (2, "C"))]
    logs = [inspect_log(tmp_path / "a.eval", long), inspect_log(tmp_path / "b.eval", short)]
    with pytest.raises(
        InputError,
        match=r"has 4 items, and .* has 5: '0' stands in one file only, like 2 more; "
        "--common-items compares the 3 that both have",
    ):
        read_logs(logs)
    read = read_logs(logs, common_items=True)
    assert counts(read) == [1, 1, 1, 0]  # of 1, 2 and 3
    assert read.predictions.dropped == {"not in all logs": 3}
    none = inspect_log(tmp_path / "c.eval", [sample(9, "C")])
    with pytest.raises(InputError, match="no item is in all logs"):
        read_logs([logs[0], none], common_items=True)
    with pytest.raises(InputError, match="no item is in both"):
        read_logs([logs[0], none])
    tables = []
    for name, ids in (("t", [1, 2, 3]), ("u", [3, 1])):
        tables.append(tmp_path / f"{name}.csv")
        rows = "".join(f"{i},x,{'x' if i < 3 else 'y'}\n" for i in ids)
        tables[-1].write_text(f"id,label,prediction\n{rows}")
    with pytest.raises(InputError, match="matched by their order"):
        read_logs(tables, common_items=True)
    read = read_logs(tables, common_items=True, id_column="id", label_names=["x", "y"])
    assert counts(read) == [1, 0, 0, 1]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([0, 1, 2], ["2", "0", "1"]),
        (["0", "1", "2"], [1, 2, 0]),
        ([0.0, 1.0, 2.0], ["1", "2", "0"]),
    ],
)
def test_ids_are_texts_across_sources(
    first: list[object], second: list[object], tmp_path: Path
) -> None:
    right = {"0": "C", "1": "I", "2": "C"}
    logs = [
        inspect_log(tmp_path / "a.eval", [sample(i, right[f"{i}"[0]]) for i in first]),
        inspect_log(tmp_path / "b.eval", [sample(i, "C", asked=f"R{i}") for i in second]),
    ]
    assert counts(read_logs(logs)) == [2, 0, 1, 0]
    tables = []
    for name, ids in (("a", first), ("b", second)):
        tables.append(tmp_path / f"{name}.jsonl")
        lines = [{"id": i, "label": "x", "prediction": "xyx"[int(float(f"{i}"))]} for i in ids]
        tables[-1].write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert counts(read_logs(tables, id_column="id", label_names=["x", "y"])) == [2, 0, 0, 1]
    parts = [
        Predictions.from_table(
            read_logs(logs).predictions.select(version=version).table.drop_columns(["changed"])
        )
        for version in ("original", "transformed")
    ]
    whole = Predictions.concat(parts)
    assert whole.pairs("transformed").n_unmatched == 0


def test_kept_columns_of_other_types_and_broken_characters_are_texts(tmp_path: Path) -> None:
    logs = pair(tmp_path, ["C", "I", "C"], ["C", "C", "I"])
    for path, topics in zip(logs, ([0, 0, 1], ["0", "0", "1"]), strict=True):
        log = json.loads(path.read_text())
        for each, topic in zip(log["samples"], topics, strict=True):
            each |= {"metadata": {"topic": topic}, "target": "half \ud800"}
        path.write_text(json.dumps(log))
    read = read_logs(logs, keep_columns=["topic", "target"])
    assert read.predictions.table["topic"].to_pylist() == ["0", "0", "1"] * 2
    assert set(read.predictions.table["target"].to_pylist()) == {"half \ufffd"}


def test_trials_of_helm_are_repeats(tmp_path: Path) -> None:
    def write(name: str, trials: Sequence[str], words: str) -> Path:
        path = tmp_path / name / "scenario_state.json"
        path.parent.mkdir()
        requests = [
            {
                "instance": {
                    "id": f"id{i}",
                    "input": {"messages": chat(i, seed=len(name))} if i else {"text": words},
                    "references": [{"output": {"text": "yes"}, "tags": ["correct"]}],
                },
                "train_trial_index": trial,
                "result": {"completions": [{"text": answer}]},
            }
            for trial, said in enumerate(trials)
            for i, answer in enumerate(said.split())
        ]
        state = {"adapter_spec": {"method": "generation"}, "request_states": requests}
        path.write_text(json.dumps(state))
        return path

    one = write("one", ["yes no yes"], "Plain")
    three = write("three", ["no no yes", "yes no no", "yes yes no"], "Other")
    with pytest.raises(
        InputError, match=r"has 3 trials of each item, and .* has 1 trial; --epochs"
    ):
        read_logs([one, three])
    assert counts(read_logs([one, three], epochs="first")) == [1, 1, 0, 1]
    read = read_logs([one, three], epochs="mean", threshold=0.5)
    assert counts(read) == [1, 1, 0, 1]
    assert read.predictions.pairs("transformed").reworded().tolist() == [True, False, False]


@pytest.mark.slow
def test_a_folder_stands_for_the_log_of_a_task(tmp_path: Path) -> None:
    for model in ("m1", "m2"):
        folder = tmp_path / model / "deep"
        folder.mkdir(parents=True)
        lm_eval_log(folder / "samples_nli_2026-01-01T00-00-00.5.jsonl", [True, True, False])
        lm_eval_log(
            folder / "samples_nli_r_2026-01-01T00-00-00.5.jsonl", [True, model == "m1", True]
        )
        inspect_log(folder / "qa.eval", [sample(i, "C") for i in range(3)])
        inspect_log(folder / "qa_r.json", [sample(i, "I", asked=f"R{i}") for i in range(3)])
        (folder / "results_2026.json").write_text("{}")
        (folder / "empty.jsonl").write_text("")
    one, two = tmp_path / "m1", tmp_path / "m2"
    assert counts(read_logs([one], tasks=["nli", "nli_r"])) == [2, 0, 1, 0]
    assert counts(read_logs([two], tasks=["nli", "nli_r"])) == [1, 1, 1, 0]
    assert counts(read_logs([one], tasks=["qa", "qa_r"])) == [0, 3, 0, 0]
    assert read_logs([one, two], tasks=["nli"]).predictions.versions == ("original",)
    both = "has 2 logs of the task 'nli': .*; name the file"
    for paths, tasks, message in (
        ([one], [], "with logs of 4 tasks: nli, nli_r, qa, qa_r; --task names one"),
        ([one], ["x"], "has no log of the task 'x'; it has nli"),
        ([one], ["qa"], "holds one version only"),
        ([tmp_path], ["nli"], both),
        ([one / "deep" / "qa.eval"] * 2, ["qa"], "no folder in which to look"),
    ):
        with pytest.raises(InputError, match=message):
            read_logs(paths, tasks=tasks)


@pytest.mark.parametrize(
    ("names", "options", "expected"),
    [
        (("07-inspect-scores/part_a.eval", "part_b.eval"), {"threshold": 0.5}, [12, 11, 10, 7]),
        (("07-inspect-scores/bool_a.eval", "bool_b.eval"), {}, [9, 11, 11, 9]),
        (("07-inspect-scores/nan_a.eval", "nan_b.json.gz"), {}, [7, 11, 10, 7]),
        (("07-inspect-scores/numstr_o.json", "numstr_r.json"), {}, [50, 16, 10, 4]),
        (("07-inspect-scores/float_o.json", "float_r.json"), {"threshold": 0.5}, [20, 19, 19, 22]),
        (("07-inspect-scores/dictval_o.json", "dictval_r.json"), {}, [50, 16, 10, 4]),
        (("08-inspect-first-scorer/two_o.json", "two_r.json"), {}, [50, 16, 10, 4]),
        (("06-inspect-int-str-ids/a.eval", "b.eval"), {}, [9, 11, 11, 9]),
        (("14-incomplete-logs/canc_o.eval", "canc_r.eval"), {"common_items": True}, [27, 7, 4, 2]),
        (("14-incomplete-logs/dup_o.eval", "dup_r.eval"), {}, [50, 16, 10, 4]),
        (("14-incomplete-logs/ep_o.json", "ep_r.json"), {"epochs": "first"}, [55, 11, 9, 5]),
        (
            ("14-incomplete-logs/ep_o.json", "ep_r.json"),
            {"epochs": "mean", "threshold": 0.5},
            [62, 4, 10, 4],
        ),
        (
            (
                "14-incomplete-logs/samples_dist_2026-01-01T00-00-00.0.jsonl",
                "samples_dist_rephrased_2026-01-01T00-00-00.0.jsonl",
            ),
            {},
            [72, 15, 24, 9],
        ),
    ],
)
def test_logs_of_real_situations_give_what_the_harnesses_count(
    names: tuple[str, str],
    options: dict[str, Any],
    expected: list[int],
    shared: Path,
    tmp_path: Path,
) -> None:
    """Counted with inspect-ai 0.3.285 (its reader and ``value_to_float``), or from the lines."""
    folder = (shared / "cases" / names[0]).parent
    if not folder.is_dir():
        pytest.skip(f"needs the reference data, absent here: {folder}")
    logs = []
    for name in (Path(names[0]).name, names[1]):
        path = folder / name
        if path.suffix == ".gz":
            path = tmp_path / path.stem
            path.write_bytes(gzip.decompress((folder / name).read_bytes()))
        logs.append(path)
    assert counts(read_logs(logs, **options)) == expected


def test_files_of_a_folder_are_counted_before_one_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(path: Path) -> object:
        raise AssertionError(f"{path} is not to be opened")

    monkeypatch.setattr("ietest_fast.answers.logs._MOST_FILES", 3)
    monkeypatch.setattr("ietest_fast.answers.logs.find_reader", read)
    for number in range(4):
        (tmp_path / f"{number}").mkdir()
        (tmp_path / f"{number}" / "samples.json").write_text("{}")
    with pytest.raises(InputError, match="is a folder with more than 3 files; name the one that"):
        find_logs([tmp_path], [])


@pytest.mark.parametrize(
    ("choices", "mark", "names"),
    [
        (lambda _: CHOICES, "C", CHOICES),
        (lambda i: CHOICES[i % 3 :] + CHOICES[: i % 3], "C", CHOICES),
        # These are no labels: of a sample's own, one for two, or marked as right beside the target.
        (lambda i: [f"{choice} {i}" for choice in CHOICES], "C", None),
        (lambda _: [*CHOICES, "Neutral"], "C", None),
        (lambda _: CHOICES, "I", None),
    ],
)
def test_choices_that_all_samples_have_are_labels(
    choices: Callable[[int], list[str]], mark: str, names: list[str] | None, tmp_path: Path
) -> None:
    logs = []
    for name, shift in (("a", 0), ("b", 1)):
        rows = []
        for i in range(12):
            said = CHOICES[(i + shift * (i % 4)) % 3]
            order = [each.split()[0] for each in choices(i)]
            row = multiple_choice(i, said, order[:3], asked=name) | {"choices": choices(i)}
            if row["scores"]["choice"]["value"] == "C":
                row["scores"]["choice"]["value"] = mark if i == 0 else "C"
            rows.append(row)
        logs.append(inspect_log(tmp_path / f"{name}.json", rows))
    predictions = read_logs(logs).predictions
    assert predictions.label_names == (None if names is None else tuple(names))
    assert predictions.pairs("transformed").n_flipped == (None if names is None else 6)


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (["0", "1", "2"], ["0.0", "1.0", "2.0"], "numbers are written, such as '0' and '0.0'"),
        (["0000", "0001"], ["0", "1"], "numbers are written, such as '0000' and '0'"),
        (["x", "1e1"], ["10", "y"], None),
        (["0", "1"], ["7", "8"], None),
        (["a", "nan"], ["b", "NaN"], None),
    ],
)
def test_ids_that_differ_in_how_numbers_are_written_are_said(
    first: list[str], second: list[str], said: str | None, tmp_path: Path
) -> None:
    logs = []
    for name, ids in (("a", first), ("b", second)):
        rows = [sample(each, "C", asked=f"{name} {each}") for each in ids]
        logs.append(inspect_log(tmp_path / f"{name}.json", rows))
    with pytest.raises(InputError, match="no item is in both") as caught:
        read_logs(logs)
    assert ("they differ only in how" in str(caught.value)) == (said is not None)
    assert said is None or f"{said}: write them alike" in str(caught.value)
