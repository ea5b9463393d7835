"""``ietest-fast test`` and ``ietest-fast eval`` as a shell would call them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ietest_fast
from ietest_fast.analyses.compare.profile import compare_versions
from ietest_fast.cli.main import main
from ietest_fast.cli.options import COUNTS, LEVELS
from ietest_fast.cli.options import NAMES as COLUMNS
from ietest_fast.stats import PairedCounts, detectable_difference, paired_test, wilson_interval
from ietest_fast.stats.planning.power import size_given

if TYPE_CHECKING:
    from collections.abc import Sequence


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


@pytest.mark.parametrize("named", [False, True])
def test_other_records_of_the_pairs_are_compared(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, *, named: bool
) -> None:
    a, b = (np.repeat(values, [40, 30, 10, 20]) for values in ([1, 1, 0, 0], [1, 0, 1, 0]))
    for n_other in (0, 3):
        flipped = (a != b).astype(int)
        flipped[:n_other] = 1
        table = pa.table({"A": a, "B": b, "flipped": flipped, "difference": a - b})
        pq.write_table(table, tmp_path / "t.parquet")
        options = ("--original", "A", "--transformed", "B") if named else ()
        _, _, said = run(capsys, "test", tmp_path / "t.parquet", *options)
        assert ("flipped (unlike" in said and "in 3 rows)" in said) == (n_other > 0)


@pytest.mark.parametrize(
    ("method", "options", "said"),
    [
        (ietest_fast.evaluate, {"n_resamples": 500}, "n_resamples"),
        (ietest_fast.evaluate, {"clusters": "group", "method": "multinomial"}, "clusters"),
        (ietest_fast.evaluate, {"alpha": 2.0}, "alpha"),
        (ietest_fast.evaluate, {"margin": -1.0}, "margin"),
        (ietest_fast.stress, {"n_resamples": 500}, "n_resamples"),
        (ietest_fast.stress, {"method": "none"}, "method"),
    ],
)
def test_options_that_do_not_fit_are_refused_before_the_model_is_asked(
    method: Any, options: dict[str, Any], said: str
) -> None:
    asked: list[str] = []

    def answer(texts: list[str]) -> list[str]:
        asked.extend(texts)
        return ["yes"] * len(texts)

    texts = [f"A dog {verb} in the park." for verb in ("runs", "sleeps", "plays", "walks")]
    data = {"text": texts, "label": ["yes", "no"] * 2, "group": ["a", "a", "b", "b"]}
    with pytest.raises(ValueError, match=said):
        method(answer, data, **options)
    assert not asked


@pytest.mark.parametrize(
    "options",
    [
        {"n_resamples": 500, "strata": ["group"]},
        {"n_resamples": 500, "dose": "weight"},
        {"n_resamples": 500, "clusters": "group"},
        {"method": "multinomial", "n_resamples": 500, "rng": np.random.default_rng(0)},
    ],
)
def test_options_that_fit_are_tried_and_change_nothing(options: dict[str, Any]) -> None:
    def answer(texts: list[str]) -> list[str]:
        return ["no" if len(text) % 3 else "yes" for text in texts]

    texts = [f"A dog runs {'on and ' * (i % 7)}on." for i in range(40)]
    data = {"text": texts, "label": ["yes", "no"] * 20, "group": ["a", "a", "b", "b"] * 10}
    data["weight"] = [1, 2, 3, 1] * 10  # type: ignore[list-item]
    other = data | {"text": [f"So {text}" for text in texts]}
    found = ietest_fast.evaluate(answer, data, transformed=other, **options)
    again = {**options, "rng": np.random.default_rng(0)} if "rng" in options else options
    (expected,) = compare_versions(found.evaluation.predictions, **again).tests
    assert found.comparison.tests[0].to_dict() == expected.to_dict()


def test_a_refused_comparison_leaves_no_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows = ["item,version,gold,predicted,model"]
    rows += [
        f"{i},original,{'ab'[i % 2]},{'ab'[i % k > 0]},m{k}" for k in (2, 3, 5) for i in range(30)
    ]
    (tmp_path / "long.csv").write_text("\n".join(rows))
    options = ("--margin", "0.02", "--out", tmp_path / "out.parquet")
    code, _, said = run(capsys, "eval", tmp_path / "long.csv", *options)
    assert (code, "two classifiers" in said) == (2, True)
    assert not (tmp_path / "out.parquet").exists()


def test_marks_are_the_remedy_for_free_texts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name, rows in (("a", "1,1,0,1"), ("b", "1,0,0,1")):
        lines = [f"the answer is {i},pos,{mark}" for i, mark in enumerate(rows.split(","))]
        (tmp_path / f"{name}.csv").write_text("\n".join(["prediction,label,correct", *lines]))
    code, _, said = run(capsys, "eval", tmp_path / "a.csv", tmp_path / "b.csv")
    assert code == 1
    assert "-C correct compares which answers are right" in said


def outcomes_file(folder: Path, suffix: str) -> Path:
    a = np.repeat([1, 1, 0, 0], [40, 30, 10, 20])
    b = np.repeat([1, 0, 1, 0], [40, 30, 10, 20])
    path = folder / f"outcomes{suffix}"
    if suffix == ".parquet":
        pq.write_table(pa.table({"A": a.astype(bool), "B": b.astype(bool)}), path)
    elif suffix == ".jsonl":
        path.write_text("".join(f'{{"A": {x}, "B": {y}}}\n' for x, y in zip(a, b, strict=True)))
    else:
        mark = "," if suffix == ".csv" else "\t"
        words = ["False", "True"]
        rows = [mark.join((words[x], words[y])) for x, y in zip(a, b, strict=True)]
        path.write_text("\n".join([mark.join("AB"), *rows]) + "\n")
    return path


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_every_format_gives_the_same_test(
    tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = run(capsys, "test", outcomes_file(tmp_path, suffix), "--json")
    given = json.loads(out)
    expected = paired_test(PairedCounts(40, 30, 10, 20))
    assert status == 0
    assert given["p_value"] == expected.p_value
    assert given["t"] == expected.t
    assert {
        "n",
        "n11",
        "n10",
        "n01",
        "n00",
        "delta",
        "t",
        "p_value",
        "p_paper",
        "p_symmetric",
        "p_mcnemar_exact",
        "method",
        "signature",
    } <= set(given)
    assert given["signature"] == (
        f"test|n:100|k:40|S:exact|stat:t|alt:two|v:{ietest_fast.__version__}"
    )


def test_what_makes_numbers_mean_nothing_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, said, _ = run(capsys, "test", "--counts", "20,0,0,3", "--details")
    assert "the bootstrap intervals have no width. They say nothing about delta." in said
    scores = tmp_path / "scores.csv"
    scores.write_text("A,B\n" + "".join(f"0.{k}2,0.{k}\n" for k in range(10, 70)))
    _, said, _ = run(capsys, "test", scores, "--scores", "--margin", "0.1")
    assert "Equivalent within 0.1" in said
    assert "Warning: all differences are equal, so nothing tells how much they vary" in said
    assert said.count("Warning") == 1
    few = tmp_path / "few.csv"
    few.write_text("A1,A2,B1,B2\n" + "1,1,0,1\n" * 6 + "1,1,1,1\n" * 200)
    _, said, _ = run(capsys, "test", few, "--original", "A1,A2", "--transformed", "B1,B2")
    assert "below 25 pairs that differ" in said
    assert "A1 (6; conditional exact p 0.03125)" in said


def test_counts_need_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "test", "--counts", "7614,614,292,1304", "--details")
    assert status == 0
    assert "10.761" in out
    assert "The accuracies differ" in out


@pytest.mark.slow
def test_monte_carlo_names_its_form_and_depends_on_the_seed_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["test", "--counts", "70,12,7,11", "--method", "resample", "-S", "2000"]
    _, out, _ = run(capsys, *arguments, "--details")
    assert "[(c+1)/(S+1)]" in out
    assert "S = 2,000" in out
    _, first, _ = run(capsys, *arguments, "--json", "--threads", "1")
    _, second, _ = run(capsys, *arguments, "--json", "--threads", "2")
    _, other, _ = run(capsys, *arguments, "--json", "--seed", "1")
    assert first == second
    assert json.loads(first)["p_value"] != json.loads(other)["p_value"]


def test_a_liberal_test_says_by_how_much(capsys: pytest.CaptureFixture[str]) -> None:
    counts = PairedCounts(9_743, 20, 11, 50)
    arguments = ["test", "--counts", "9743,20,11,50"]
    _, out, _ = run(capsys, *arguments)
    size = size_given(31, counts.n, 0.05)
    assert size > 1.35 * 0.05
    assert (
        f"Given 31 discordant pairs, this test rejects a true H0 with probability {size:.2%}" in out
    )
    given = json.loads(run(capsys, *arguments, "--json")[1])
    assert given["size_given_k"] == size
    for other in (["--alpha", "0.1"], ["--alternative", "greater"]):
        assert json.loads(run(capsys, *arguments, *other, "--json")[1])["size_given_k"] is None


def test_the_power_allows_for_an_uncertain_discordance(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, out, _ = run(capsys, "test", "--counts", "7614,614,292,1304", "--details")
    upper = wilson_interval(906, 9_824).high
    worse = detectable_difference(9_824, upper)
    assert (
        f"if 9.22% of the pairs are discordant, as here; of {worse:.4f} if {upper:.2%} are" in out
    )


def test_few_discordant_pairs_are_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "test", "--counts", "9,5,0,1")
    assert "only 5 discordant pairs" in out
    assert "McNemar p is 0.0625" in out


def test_infinite_t_is_valid_json(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "test", "--counts", "0,9,0,0", "--json")
    assert json.loads(out, parse_constant=pytest.fail)["t"] == "inf"


def test_a_rejection_is_a_status_where_it_is_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    reject, keep = "7614,614,292,1304", "10,3,3,10"
    assert run(capsys, "test", "--counts", reject)[0] == 0
    assert run(capsys, "test", "--counts", reject, "--fail-on-reject")[0] == 3
    assert run(capsys, "test", "--counts", keep, "--fail-on-reject")[0] == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["test"],
        ["test", "--counts", "1,2,3"],
        ["test", "--counts", "a,b,c,d"],
        ["test", "x.csv", "--counts", "1,2,3,4"],
        ["test", "--counts", "1,2,3,4", "--alpha", "1"],
        ["test", "--counts", "1,2,3,4", "--method", "magic"],
        ["nothing"],
    ],
)
def test_wrong_usage_is_status_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, *arguments)
    assert status == 2
    assert out == ""
    assert "Error" in err


@pytest.mark.parametrize(
    ("option", "value", "complaint"),
    [
        ("--counts", "1,2,3", "is not four integers separated by commas"),
        ("--counts", "1,2,3,4.0", "is not four integers separated by commas"),
        ("--counts", "", "is not four integers separated by commas"),
        ("--quantiles", "0.5,x", "is not numbers from 0 to 1 separated by commas"),
        ("--quantiles", "0.5,1.1", "is not numbers from 0 to 1 separated by commas"),
        ("--quantiles", "nan", "is not numbers from 0 to 1 separated by commas"),
        ("--versions", "A,,B", "has an empty name in it"),
        ("--versions", "", "has an empty name in it"),
        ("--versions", "A\nB", "has an empty name in it"),
    ],
)
def test_lists_are_checked_as_options(
    option: str, value: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, "test", option, value)
    assert (status, out) == (2, "")
    assert f"Invalid value for '{option}': {value!r} {complaint}" in err


def test_blanks_around_commas_and_quotes_around_names_are_no_part_of_items() -> None:
    assert COUNTS.convert(" 1, 2,3 ,4", None, None) == (1, 2, 3, 4)
    assert LEVELS.convert("0, 1,0.5", None, None) == (0.0, 1.0, 0.5)
    assert COLUMNS.convert('A, "B, C" ,D', None, None) == ("A", "B, C", "D")
    assert COLUMNS.convert(("A",), None, None) == ("A",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "empty"),
        ("A,B\n", "no rows"),
        ("A,C\n1,0\n", "column 'B'"),
        ("A,B\n1,0\n1,maybe\n", "row 1, column 'B': 'maybe' is no outcome"),
        ("A,B\n1,0\n,1\n", "a value is missing"),
        ("A,B\n1,0\nnan,1\n", "'nan' is no outcome"),
        ("A,B\n1,0\n1\n", "line 3"),
    ],
)
def test_broken_outcome_files_are_explained(
    tmp_path: Path, content: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "outcomes.csv"
    path.write_text(content)
    status, out, err = run(capsys, "test", path)
    assert (status, out) == (1, "")
    assert err.startswith("Error: ")
    assert str(path) in err
    assert message in err


@pytest.mark.parametrize("counts", ["0,0,0,0", "-1,2,3,4", "1099511627776,1,0,0"])
def test_impossible_counts_are_status_1(counts: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, "test", "--counts", counts)
    assert status == 1
    assert err.startswith("Error: ")


def test_a_missing_file_is_status_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, "test", tmp_path / "absent.csv")
    assert status == 1
    assert "absent.csv" in err


NAMES = ["entailment", "neutral", "contradiction"]


def write_csv(path: Path, **columns: Sequence[object]) -> Path:
    rows = [
        ",".join(columns),
        *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True)),
    ]
    path.write_text("\n".join(rows) + "\n")
    return path


def test_eval_of_two_files_and_gold_labels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Gold as numbers with one missing, predictions as names in any case, rows matched by id."""
    gold = write_csv(tmp_path / "gold.csv", id=[1, 2, 3, 4, 5], label=[0, 1, 2, -1, 2])
    original = write_csv(
        tmp_path / "o.csv",
        id=[1, 2, 3, 4, 5],
        prediction=["Entailment", "neutral", "neutral", "neutral", "contradiction"],
    )
    transformed = write_csv(
        tmp_path / "t.csv",
        id=[5, 4, 3, 2, 1],
        prediction=["neutral", "neutral", "CONTRADICTION", "neutral", "entailment"],
    )
    arguments = ["eval", original, transformed, "--gold", gold, "--id-column", "id"]
    status, out, _ = run(capsys, *arguments, "--json")
    given = json.loads(out)
    assert status == 0
    assert [given[name] for name in ("n11", "n10", "n01", "n00")] == [2, 1, 1, 0]
    assert given["accuracy_original"] == given["accuracy_transformed"] == 0.75
    assert given["predictions_changed"] == 2
    assert given["dropped"] == {"no gold label": 1}
    assert given["labels"] == NAMES
    _, out, _ = run(capsys, *arguments, "--details")
    assert "1 row dropped: no gold label" in out
    assert "2 of 4 predictions changed" in out


def test_eval_of_one_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_csv(
        tmp_path / "all.csv",
        label=["b", "a", "b"],
        original=["b", "b", "b"],
        transformed=["a", "a", "b"],
    )
    status, out, _ = run(capsys, "eval", path, "--json")
    given = json.loads(out)
    assert status == 0
    assert [given[name] for name in ("n11", "n10", "n01", "n00")] == [1, 1, 1, 0]
    assert given["collapsed"] is True


def test_eval_needs_names_of_labels_that_the_gold_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_csv(
        tmp_path / "all.csv",
        label=["a", "b", "a"],
        original=["a", "b", "c"],
        transformed=["a", "b", "b"],
    )
    status, _, err = run(capsys, "eval", path)
    assert status == 1
    assert "row 2, column 'original'" in err
    assert "--labels" in err
    assert run(capsys, "eval", path, "--labels", "a,b,c")[0] == 0


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (([0, 1, 2, 3, 4], [0, 1, 2, 3, 3], 4), ["0", "1", "2", "3", "4"]),
        (([0, 1, 1, 0, 1], [0, 1, 1, 0, 0], 1), ["0", "1"]),
        (([1, 2, 3, 1, 5], [1, 2, 3, 1, 2], 3), ["1", "2", "3", "5"]),
        (([0, 1, 0, 1, 1], [0, 1, 0, 1, 0], 2), NAMES),
        (([0, 1, 2, 1, 1], [0, 1, 2, 1, 0], 1), NAMES),
        (([0, 1, 0, 1, 1], [*NAMES[:2], *NAMES[:2], NAMES[0]], "NEUTRAL"), NAMES),
    ],
)
def test_eval_finds_the_labels_of_any_task(
    tmp_path: Path,
    columns: tuple[list[object], list[object], object],
    names: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Gold labels, predictions (four of five right), and another for the first row only."""
    gold, original, first = columns
    transformed = [first, *original[1:]]
    path = write_csv(tmp_path / "a.csv", label=gold, original=original, transformed=transformed)
    status, out, err = run(capsys, "eval", path, "--json")
    assert status == 0, err
    given = json.loads(out)
    assert given["labels"] == names
    assert [given[name] for name in ("n11", "n10", "n01", "n00")] == [3, 1, 0, 1]


def test_eval_takes_no_integer_for_an_index_into_integers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_csv(tmp_path / "a.csv", label=[1, 2, 3], original=[1, 2, 3], transformed=[1, 0, 3])
    status, out, err = run(capsys, "eval", path, "--labels", "1,2,3")
    assert (status, out) == (1, "")
    assert "row 1, column 'transformed': unknown label '0'; expected one of: 1, 2, 3," in err


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([1, 2, 2], "more than once"),
        ([1, 2, 9], "'3' stands in one file only"),
        ([1, 2], "stands in one file only"),
        ([1, 2, ""], "no id"),
    ],
)
def test_eval_refuses_ids_that_do_not_match(
    tmp_path: Path, ids: list[object], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    first = write_csv(tmp_path / "o.csv", id=[1, 2, 3], label=[0, 1, 2], prediction=[0, 1, 2])
    second = write_csv(tmp_path / "t.csv", id=ids, prediction=[0] * len(ids))
    status, _, err = run(capsys, "eval", first, second, "--id-column", "id")
    assert status == 1
    assert message in err


def test_eval_refuses_unequal_lengths_and_missing_predictions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = write_csv(tmp_path / "o.csv", label=[0, 1, 2], prediction=[0, 1, 2])
    second = write_csv(tmp_path / "t.csv", prediction=[0, 1])
    status, _, err = run(capsys, "eval", first, second)
    assert status == 1
    assert "2 rows" in err
    assert "3" in err
    third = tmp_path / "u.csv"
    third.write_text("prediction,x\n0,1\n,1\n2,1\n")
    status, _, err = run(capsys, "eval", first, third)
    assert status == 1
    assert "1 of 3 predictions are missing" in err


def test_help_imports_little_and_nothing_heavy() -> None:
    """So it is quick on any machine; benchmarks/bench_startup.py has its time."""
    code = (
        "import sys\n"
        "bare = len(sys.modules)\n"
        "from ietest_fast.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'pyarrow', 'spacy', 'xgboost', 'optuna', 'pydantic', 'matplotlib',\n"
        "         'scipy', 'rich'}\n"
        "print(sorted(heavy & set(sys.modules)), len(sys.modules) - bare)\n"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    found, n_modules = out.stdout.splitlines()[-1].rsplit(" ", 1)
    assert found == "[]"
    assert int(n_modules) <= 100  # 87 where this was written


def test_more_replicates_than_can_be_counted_are_a_usage_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = ["--counts", "5,3,2,1", "--method", "multinomial", "-S"]
    status, _, errors = run(capsys, "test", *options, "99999999999999999999")
    assert status == 2
    assert "is not in the range" in errors


def test_the_bound_of_replicates_is_that_of_the_test() -> None:
    from ietest_fast.cli.options import MOST_RESAMPLES
    from ietest_fast.stats.resampling import MAX_RESAMPLES

    assert MOST_RESAMPLES == MAX_RESAMPLES


NOT_UTF8 = pa.Array.from_buffers(
    pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\3\0\0\0"), pa.py_buffer(b"a\xffb")]
)


@pytest.mark.parametrize(
    "values", [NOT_UTF8, pa.array([[1]]), pa.array([{"x": 1}]), pa.array([b"1"])]
)
def test_values_of_the_wrong_kind_are_explained(
    tmp_path: Path, values: pa.Array, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "outcomes.parquet"
    pq.write_table(pa.table({"A": values, "B": [1], "label": [0]}), path)
    for arguments in (
        ["test", path],
        ["eval", path, "--original-column", "A", "--transformed-column", "B"],
    ):
        status, out, err = run(capsys, *arguments)
        assert (status, out) == (1, "")
        assert str(path) in err
        assert "column 'A': " in err


@pytest.mark.parametrize("labels", ["a,a,b", "a,A", "a", ",", ""])
def test_eval_refuses_names_that_name_nothing(
    tmp_path: Path, labels: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_csv(tmp_path / "p.csv", label=["a"], original=["a"], transformed=["a"])
    status, _, err = run(capsys, "eval", path, "--labels", labels)
    assert status == 1
    assert "labels need at least two different names" in err


@pytest.mark.parametrize(
    ("header", "row", "column"),
    [
        ("label,original,transformed,A,B", "{a},{a},{b},1,1", "B"),
        ("gold,original,transformed,A,B", "{a},{b},{a},1,1", "A"),
        ("label,original,transformed,original_correct,transformed_correct", "{a},{b},{b},0,{o}",
         "transformed_correct"),
        ("label,original,transformed,A,B", "{n},{name},{name},1,0", "B"),
        ("label,original,transformed,A,B", "{a},{a},{b},1,0", None),
        ("label,original,transformed,A,B", "{a},{a},in other words,1,1", None),
        ("label,original,transformed,A,B", "{a},a text,a text reworded,1,{o}", None),
        ("label,original,transformed,A,B", "{a},{a},{b},0.{i}1,0.7{i}", None),  # scores
        ("label,original,transformed,A,B", "-,{a},-,1,1", None),
        ("original,transformed,A,B", "{a},{b},1,1", None),
    ],
)  # fmt: skip
def test_outcomes_are_held_against_labels_and_answers_beside_them(
    header: str, row: str, column: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("entailment", "neutral", "contradiction")
    rows = [
        row.format(a="xy"[i % 2], b="yx"[i % 2], o=i % 2, n=i % 3, name=names[i % 3], i=i)
        for i in range(30)
    ]
    path = tmp_path / "o.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    status, _, err = run(capsys, "test", path)
    assert status == (column is not None)
    assert column is None or f"column '{column}'" in err
    if column is not None:
        one, other = header.split(",")[-2:]
        assert "contradicts" in err
        assert run(capsys, "test", path, "--original", one, "--transformed", other)[0] == 0


@pytest.mark.parametrize(("row", "status"), [("1,0,1,0", 0), ("1,0,1,1", 1), ("1,0,x,y", 0)])
@pytest.mark.parametrize("ending", ["_correct", ""])
def test_outcomes_under_both_usual_names_are_the_same(
    row: str, status: int, ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "o.csv"
    lines = [f"A,B,original{ending},transformed{ending}", "0,0,0,0", *[row] * 9]
    path.write_text("\n".join(lines) + "\n")
    found, _, err = run(capsys, "test", path)
    assert found == status
    if status:
        assert f"row 1, column 'transformed{ending}': says otherwise than B in 9 rows" in err
    assert run(capsys, "test", path, "--original", "A", "--transformed", "B")[0] == 0


@pytest.mark.parametrize("command", [("test",), ("simulate", "--tables", "2")])
def test_a_table_of_counts_is_refused(
    command: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "c.csv"
    path.write_text("A,B,n\n1,1,7614\n1,0,614\n0,1,292\n0,0,1304\n")
    status, out, err = run(capsys, *command, path)
    assert (status, out) == (1, "")
    assert (
        "column 'n': seems to count items: 4 rows, of which no two are alike, stand for 9,8" in err
    )


@pytest.mark.parametrize(
    ("a", "b", "is_told"),
    [(0.01, 1, True), (1, 0.01, True), (0.01, 0.009, False), (1, 0.9, False), (0.01, 0.05, False)],
)
def test_shares_beside_percentages_are_told(
    *, a: float, b: float, is_told: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = [3, 90, 45, 61, 22, 17]
    path = write_csv(tmp_path / "s.csv", A=[a * x for x in values], B=[b * x for x in values[::-1]])
    status, _, err = run(capsys, "test", path)
    assert status == 0
    assert ("write both in one unit" in err) == is_told


@pytest.mark.parametrize(
    ("name", "ids", "options", "is_told"),
    [
        ("id", [i // 2 for i in range(40)], (), True),
        ("guid", [f"q{max(i, 1)}" for i in range(40)], (), True),
        ("id", range(40), (), False),
        ("id", [i // 2 for i in range(40)], ("--clusters", "id"), False),
        ("id", [i // 2 for i in range(40)], ("--clusters", "annotator"), False),
        ("promptID", [i // 2 for i in range(40)], (), False),  # as published: of several texts
    ],
)
@pytest.mark.parametrize("is_scores", [False, True])
def test_ids_in_several_rows_are_told(
    *,
    name: str,
    ids: Sequence[object],
    options: tuple[str, ...],
    is_told: bool,
    is_scores: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    a, b = ([(i * k % 7 if is_scores else i * k % 7 % 2) for i in range(40)] for k in (1, 3))
    columns = {name: ids, "annotator": [i % 5 for i in range(40)], "A": a, "B": b}
    status, _, err = run(capsys, "test", write_csv(tmp_path / "t.csv", **columns), *options)
    assert status == 0
    assert ("each row counts as a text" in err) == is_told


@pytest.mark.parametrize(
    ("last", "n", "status"), [("32,28", 40, 1), ("0.8,0.7", 40, 1), ("2,0.5", 9, 0)]
)
def test_a_row_of_totals_is_no_text(
    last: str, n: int, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "o.csv"
    path.write_text("\n".join(["A,B", *(f"{i % 2},{i % 3 % 2}" for i in range(n)), last]) + "\n")
    found, _, err = run(capsys, "test", path)
    assert found == status
    if status:
        assert f"row {n}, column 'A': '{last.partition(',')[0]}' is neither 0 nor 1, and all" in err
    assert run(capsys, "test", path, "--scores")[0] == 0


def test_one_column_is_no_pair(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_csv(tmp_path / "p.csv", label=[0, 1], A=[0, 1], B=[1, 1])
    status, _, err = run(capsys, "test", path, "--transformed", "A")
    assert (status, "two are expected" in err) == (1, True)
    columns = ["--original-column", "A", "--transformed-column", "A"]
    status, _, err = run(capsys, "eval", path, *columns)
    assert (status, "two are expected" in err) == (1, True)


def test_eval_gives_estimates_and_a_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(5)
    gold = rng.integers(0, 2, 400).tolist()
    path = write_csv(tmp_path / "p.csv", label=gold, original=gold, transformed=gold)
    _, out, _ = run(capsys, "eval", path, "--json")
    given = json.loads(out)
    assert given["equivalence"]["verdict"] == "equivalent within margin"
    assert given["detectable_difference"] is None
    _, out, _ = run(capsys, "eval", path, "--margin", "0.001")
    assert "Undecided" in out
    _, out, _ = run(capsys, "eval", path, "--alternative", "greater", "--json")
    assert json.loads(out)["alternative"] == "greater"


@pytest.mark.parametrize(
    "command",
    [
        ["test", "--counts", "50,20,10,20"],
        ["power", "--delta", "0.1", "--discordance", "0.3"],
        ["simulate", "--n", "50", "--psi", "0.2"],
    ],
)
def test_more_threads_than_any_machine_has_are_a_usage_error(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, err = run(capsys, *command, "--threads", "3000000000")
    assert status == 2
    assert "--threads" in err


def test_eval_needs_two_labelled_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "predictions.csv"
    path.write_text("label,original,transformed\n1,1,0\n,1,1\n")
    status, _, err = run(capsys, "eval", path)
    assert status == 1
    assert f"{path}: a paired test needs at least two rows, not 1" in err


@pytest.mark.slow
@pytest.mark.parametrize("alpha", ["1e-17", "0.85", "0.999"])
@pytest.mark.parametrize("clusters", [False, True])
def test_every_level_is_possible(
    alpha: str, clusters: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if clusters:
        path = tmp_path / "outcomes.csv"
        rows = [f"{i % 3 > 0:d},{i % 5 > 0:d},{i // 4}" for i in range(80)]
        path.write_text("\n".join(["A,B,G", *rows]) + "\n")
        arguments = ["test", path, "--clusters", "G", "-S", "50"]
    else:
        arguments = ["test", "--counts", "35,13,7,5"]
    status, out, err = run(capsys, *arguments, "--alpha", alpha, "--json")
    assert (status, err) == (0, "")
    given = json.loads(out)
    assert given["alpha"] == float(alpha)
    left_out = float(alpha) >= 0.5
    assert (given["equivalence"] is None) == left_out
    _, out, _ = run(capsys, *arguments, "--alpha", alpha)
    assert ("Equivalence is tested at an alpha below 0.5 only: no verdict is given." in out) == (
        left_out
    )


@pytest.mark.parametrize("command", [["test", "--counts", "35,13,7,5"], ["eval", "absent.csv"]])
def test_a_margin_needs_a_level_at_which_equivalence_is_tested(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, *command, "--margin", "0.1", "--alpha", "0.5")
    assert (status, out) == (2, "")
    assert "--margin needs an --alpha below 0.5, not 0.5" in err
