"""``ietest-fast test`` on scores, clusters, several classifiers and several versions."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from ietest_fast.cli.main import main
from ietest_fast.stats import (
    PairedCounts,
    algorithm_test,
    cochran_q_test,
    detectable_difference,
    equivalence_test,
    estimate,
    joint_test,
    paired_test,
)
from ietest_fast.stats.clustered import clustered_test
from ietest_fast.stats.scores import paired_mean_test


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def sample() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(11)
    n = 120
    columns: dict[str, np.ndarray] = {
        "premise": np.array([f"p{i // 3}" for i in range(n)]),
        "A1": rng.random(n) < 0.8,
        "B1": rng.random(n) < 0.6,
        "A2": rng.random(n) < 0.7,
        "B2": rng.random(n) < 0.7,
        "C": rng.random(n) < 0.7,
        "score": rng.random(n).round(3),
    }
    columns["reworded"] = (columns["score"] - 0.05 + 0.1 * rng.random(n)).round(3)
    return columns


def write(folder: Path, suffix: str, columns: dict[str, np.ndarray] | None = None) -> Path:
    path = folder / f"data{suffix}"
    table = pa.table(sample() if columns is None else columns)
    if suffix == ".parquet":
        pq.write_table(table, path)
    elif suffix == ".csv":
        pacsv.write_csv(table, path)
    elif suffix == ".tsv":
        rows = [table.column_names, *(map(str, row.values()) for row in table.to_pylist())]
        path.write_text("".join("\t".join(row) + "\n" for row in rows))
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    return path


SUFFIXES = [".csv", ".tsv", ".jsonl", ".parquet"]
SCORES = ("--original", "score", "--transformed", "reworded")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_scores_are_found_by_their_values(
    tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path, data = write(tmp_path, suffix), sample()
    options = ["-S", "999", "--seed", "3", "--quantiles", "0.025,0.975"]
    status, out, err = run(capsys, "test", path, *SCORES, *options, "--json")
    assert status == 0, err
    expected = paired_mean_test(
        data["score"], data["reworded"], n_resamples=999, rng=3, quantiles=(0.025, 0.975)
    )
    given = json.loads(out)
    assert given["p_value"] == expected.p_value
    assert given["quantiles"] == {
        "0.025": expected.quantiles[0.025],
        "0.975": expected.quantiles[0.975],
    }
    law = f"null:{expected.null}"
    assert given["signature"].startswith(f"test|n:120|S:999.resample|stat:t|{law}|alt:two|seed:3|")
    _, out, _ = run(capsys, "test", path, *SCORES, *options)
    assert "mean scores" in out


def test_the_null_law_of_scores_is_an_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, data = write(tmp_path, ".csv"), sample()
    for law in ("symmetric", "studentised"):
        options = ["--null", law, "-S", "999", "--seed", "3", "--margin", "0.05", "--json"]
        status, out, err = run(capsys, "test", path, *SCORES, *options)
        assert status == 0, err
        given = json.loads(out)
        expected = paired_mean_test(
            data["score"],
            data["reworded"],
            null=law,  # type: ignore[arg-type]
            n_resamples=999,
            rng=3,
        )
        assert (given["null"], given["p_value"]) == (law, expected.p_value)
        assert f"|stat:t|null:{law}|" in given["signature"]
        assert given["equivalence"]["null"] == law
        shown = equivalence_test(
            data["score"],
            data["reworded"],
            margin=0.05,
            null=law,  # type: ignore[arg-type]
            n_resamples=999,
            rng=3,
            p_difference=expected.p_value,
        )
        assert given["equivalence"]["p_value"] == shown.p_value
    _, out, _ = run(capsys, "test", path, *SCORES, "--null", "studentised")
    assert "null law of t            studentised" in out
    outcomes = ["--original", "A1", "--transformed", "B1", "--null", "studentised"]
    status, _, err = run(capsys, "test", path, *outcomes)
    assert (status, "--null is of scores; these columns hold outcomes" in err) == (2, True)
    for arguments, message in (
        (["--counts", "5,1,1,5"], "--null needs a file"),
        ([path, "--original", "A1,A2", "--transformed", "B1,B2"], "--null is for one pair"),
    ):
        status, _, err = run(capsys, "test", *arguments, "--null", "symmetric")
        assert (status, message in err) == (2, True), err


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_clusters_are_a_column(
    tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path, data = write(tmp_path, suffix), sample()
    columns = ["--original", "A1", "--transformed", "B1", "--clusters", "premise"]
    status, out, err = run(capsys, "test", path, *columns, "--json", "--alternative", "greater")
    assert status == 0, err
    expected = clustered_test(data["A1"], data["B1"], data["premise"], alternative="greater")
    given = json.loads(out)
    assert (given["p_value"], given["n_clusters"]) == (expected.p_value, 40)
    interval = estimate(data["A1"], data["B1"], clusters=data["premise"]).delta_bca
    assert given["estimate"]["delta_bca"] == [interval.low, interval.high]
    assert "|clusters:40|S:exact|stat:t|alt:greater|" in given["signature"]
    status, out, _ = run(capsys, "test", path, *SCORES, "--clusters", "premise", "--json")
    by_cluster = paired_mean_test(data["score"], data["reworded"], clusters=data["premise"])
    assert json.loads(out)["p_value"] == by_cluster.p_value


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_several_classifiers_are_tested_together(
    tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path, data = write(tmp_path, suffix), sample()
    columns = ["--original", "A1,A2", "--transformed", "B1, B2"]
    status, out, err = run(capsys, "test", path, *columns, "--json", "--fail-on-reject")
    expected = joint_test(
        {name: data[name] for name in ("A1", "A2")}, {name: data[name] for name in ("B1", "B2")}
    )
    assert status == (3 if any(expected.reject) else 0), err
    given = json.loads(out)
    assert given["p_max_t"] == list(expected.p_max_t)
    assert given["p_adjusted"] == list(expected.p_min_p or ())
    assert given["names"] == ["A1", "A2"]
    assert "|mc:minp|M:2|alpha:0.05|" in given["signature"]
    _, out, _ = run(capsys, "test", path, *columns)
    assert "differ for A1 (alpha = 0.05)" in out
    _, out, _ = run(capsys, "test", path, *columns, "--clusters", "premise", "--json")
    assert json.loads(out)["n_clusters"] == 40


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_several_versions_are_cochrans(
    tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path, data = write(tmp_path, suffix), sample()
    status, out, err = run(capsys, "test", path, "--versions", "A1,B1,C", "--json")
    assert status == 0, err
    expected = cochran_q_test({name: data[name] for name in ("A1", "B1", "C")})
    given = json.loads(out)
    assert given["p_value"] == expected.p_value
    assert len(given["pairwise"]) == 3
    assert "|S:10000.multinomial|stat:Q|versions:3|seed:0|" in given["signature"]
    _, out, _ = run(capsys, "test", path, "--versions", "A1,B1,C")
    assert "Cochran's Q" in out


def test_several_classifiers_are_also_taken_for_trainings_of_one_algorithm(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, data = write(tmp_path, ".csv"), sample()
    columns = ["--original", "A1,A2", "--transformed", "B1,B2", "--clusters", "premise"]
    expected = algorithm_test(
        {"A1": data["A1"], "A2": data["A2"]},
        {"B1": data["B1"], "B2": data["B2"]},
        clusters=data["premise"],
    )
    given = json.loads(run(capsys, "test", path, *columns, "--json")[1])["algorithm"]
    assert given["p_value"] == expected.p_value
    assert given["n_clusters"] == 40
    _, out, _ = run(capsys, "test", path, *columns)
    assert f"If these are trainings of one algorithm: {expected.explanation}" in out


def test_one_sided_and_power_beside_the_test(capsys: pytest.CaptureFixture[str]) -> None:
    counts = PairedCounts(400, 60, 40, 100)
    _, out, _ = run(capsys, "test", "--counts", "400,60,40,100", "--json")
    given = json.loads(out)
    assert given["detectable_difference"] == detectable_difference(600, counts.discordance_rate)
    _, out, _ = run(capsys, "test", "--counts", "400,60,40,100", "--details")
    assert f"shows differences of {given['detectable_difference']:.4f} and more" in out
    _, out, _ = run(
        capsys, "test", "--counts", "400,60,40,100", "--alternative", "less", "--details"
    )
    assert "The accuracy is not shown to be lower on the original" in out
    _, out, _ = run(
        capsys, "test", "--counts", "400,60,40,100", "--alternative", "greater", "--json"
    )
    assert json.loads(out)["p_value"] == paired_test(counts, alternative="greater").p_value


def test_zeros_and_ones_are_scores_where_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, data = write(tmp_path, ".csv"), sample()
    columns = ["--original", "A1", "--transformed", "score"]
    status, out, err = run(capsys, "test", path, *columns)
    assert (status, out) == (1, "")
    first = data["score"][0]
    assert f"row 0, column 'score': '{first}' is a score (120 of 120 values are" in err
    assert "but column 'A1' holds outcomes; both must be of one kind" in err
    numbers = write(tmp_path, ".parquet", {"A": data["A1"] * 1.0, "B": data["B1"] * 1.0})
    status, out, _ = run(capsys, "test", numbers, "--scores", "--json")
    expected = paired_mean_test(data["A1"] * 1.0, data["B1"] * 1.0)
    assert (status, json.loads(out)["p_value"]) == (0, expected.p_value)


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        ("A,B\n0.5,0.1\n0.4,nan\n", [], "row 1, column 'B': 'nan' is no finite number"),
        ("A,B\n0.5,0.1\n0.4,inf\n", [], "'inf' is no finite number"),
        ("A,B\n0.5,0.1\n,0.2\n", [], "row 1, column 'A': a score is missing"),
        ("A,B\n0.5,0.1\n0.4,high\n", [], "'high' is no finite number"),
        ("A,B\n0.5,0.1\n0.5,0.2\n", [], "column 'A': every score is 0.5: a constant column"),
        ("A,B\n0.5,0.1\n", [], "at least two rows, not 1"),
        ("A,B\n1,0\n", [], "at least two rows, not 1"),
        ("A,B\n1,0\n0,1\n", ["--clusters", "premise"], "column 'premise': there is no such column"),
        ("A,B,c\n1,0,x\n0,1,x\n", ["--clusters", "c"], "all rows belong to one cluster"),
        (
            "A,B,c\n1,0,x\n0,1,\n",
            ["--clusters", "c"],
            "row 1, column 'c': 1 of 2 rows belong to no",
        ),
        ("A,B\n1,0\n0,1\n", ["--versions", "A,B,C"], "column 'C': there is no such column"),
        ("A,B\n1,0\n0,2\n", ["--versions", "A,B"], "'2' is no outcome"),
        ("A,B\n1,0\n0,1\n", ["--versions", "A,A"], "stands for two versions"),
        ("A,B\n1,0\n0,1,1\n", [], "3 fields, 2 expected"),
        ("A,B\n.5,.1\n1_000,.2\n", [], "row 1, column 'A': '1_000' is no finite number"),
        ("A,B\n.5,.1\n.4,1_0\n", [], "row 1, column 'B': '1_0' is no finite number"),
        ("A,B\n.5,.1\n.4,１２\n", [], "row 1, column 'B': '１２' is no finite number"),
        ("A,B\n.5,.1\n.4,1e400\n", [], "row 1, column 'B': '1e400' is no finite number"),
        ("A,B\n.5,.1\n.4,-1e300\n", [], "row 1, column 'B': '-1e300' is too large, 9.745e+288"),
        ("A,B\n.5,.1\n.4,9007199254740993\n", [], "row 1, column 'B': '9007199254740993' is an"),
        (f"A,B\n.5,.1\n-{'9' * 5000},2\n", [], "99999... is an integer beyond 2**53"),
        ("A,B\n1,0\n0,1\n2,1\n", [], "row 2, column 'A': '2' is a score (1 of 3 values are"),
        ("A,B\n1,0\n0,1\n1,7\n", [], "row 2, column 'B': '7' is a score (1 of 3 values are"),
        ("A,B\n1,0\n0,1\ninf,1\n", [], "row 2, column 'A': 'inf' is no outcome"),
        ("A,B\n1,.5\n0,.1\n1e400,.2\n", [], "row 2, column 'A': '1e400' is no finite number"),
        ("A,B\n1,.5\n0,.1\nhigh,.2\n", [], "row 2, column 'A': 'high' is no finite number"),
        ("A,B\n1,yes\n.5,no\n", [], "row 1, column 'A': '.5' is a score (1 of 2 values are"),
        (f"A,B\n1,0\n0,{'x' * 10**6}\n", [], f"'{'x' * 59}... is no outcome"),
        ("A,B,c\n1,0,x\n0,1,  \n1,1,y\n", ["--clusters", "c"], "row 1, column 'c': 1 of 3 rows"),
        ('A,B,c\n1,0,x\n0,1,""\n1,1,y\n', ["--clusters", "c"], "row 1, column 'c': 1 of 3 rows"),
        ("A,B\n1,0\n0,1\n", ["--clusters", "A"], "column 'A': this column holds what is compared"),
    ],
)
def test_broken_columns_are_explained(
    tmp_path: Path,
    content: str,
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "data.csv"
    path.write_text(content)
    status, out, err = run(capsys, "test", path, *arguments)
    assert (status, out) == (1, "")
    assert err.startswith(f"Error: {path}")
    assert message in err


@pytest.mark.parametrize(
    ("records", "arguments", "message"),
    [
        (
            [{"A": 0.5, "B": 0}, {"A": 2**53 + 1, "B": 2}],
            [],
            "row 1, column 'A': '9007199254740993'",
        ),
        ([{"A": 2, "B": 0}, {"A": 2**53 + 1, "B": 2}], [], "is an integer beyond 2**53"),
        ([{"A": 2, "B": 0}, {"A": 2**70, "B": 2}], [], "'1180591620717411303424' is an integer"),
        ([{"A": 2, "B": 0}, {"A": math.inf, "B": 2}], [], "row 1, column 'A'"),
        ([{"A": 2, "B": 0}, {"A": [1], "B": 2}], [], "line 2, column 'A': [1] is a list"),
        (
            [{"A": 1, "B": 0, "c": "x"}, {"A": 0, "B": 1, "c": ["y"]}],
            ["--clusters", "c"],
            "line 2, column 'c': [\"y\"] is a list; expected text, numbers or true and false",
        ),
        (
            [{"A": 1, "B": 0, "c": 7}, {"A": 0, "B": 1, "c": {"y": 1}}],
            ["--clusters", "c"],
            "line 2, column 'c': {\"y\": 1} is an object; expected text",
        ),
        (
            [{"A": 1, "B": 0, "c": ["x"]}, {"A": 0, "B": 1, "c": ["y"]}],
            ["--clusters", "c"],
            "column 'c': values are of type list",
        ),
    ],
)
def test_broken_objects_are_explained(
    tmp_path: Path,
    records: list[dict[str, object]],
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    status, out, err = run(capsys, "test", path, *arguments)
    assert (status, out) == (1, "")
    assert err.startswith(f"Error: {path}")
    assert message in err


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0, 1, 2**53 + 1], pa.int64()),
        ([0, 1, -(2**53) - 1], pa.int64()),
        ([0, 1, 2**64 - 1], pa.uint64()),
        ([0, 1, 2**53 + 1], pa.decimal128(20)),
    ],
)
def test_integers_of_a_table_are_not_rounded(
    tmp_path: Path, values: list[int], kind: pa.DataType, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"A": pa.array(values, kind), "B": [0.5, 0.25, 0.75]}), path)
    status, out, err = run(capsys, "test", path)
    assert (status, out) == (1, "")
    assert err.startswith(f"Error: {path}, row 2, column 'A': ")
    assert f"{values[2]}" in err
    assert "is an integer beyond 2**53" in err
    pq.write_table(pa.table({"A": [2.0**60, 0.0, 1.0], "B": [0.5, 0.25, 2.0**53]}), path)
    assert run(capsys, "test", path)[0] == 0


def test_categories_are_their_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = {"A": ["1", "0", "yes", "0"], "B": ["0", "0", "no", "1"]}
    labels = ["x", "y", "x", "z"]
    path = tmp_path / "data.parquet"

    def ask(columns: dict[str, pa.Array], *arguments: str) -> tuple[int, str, str]:
        pq.write_table(pa.table(columns), path)
        return run(capsys, "test", path, "--json", "-S", "99", *arguments)

    clustered = ["--clusters", "c"]
    expected = ask({**outcomes, "c": labels}, *clustered)
    assert expected[0] == 0
    for kind in (pa.dictionary(pa.int8(), pa.string()), pa.string_view()):
        columns = {name: pa.array(column).cast(kind) for name, column in outcomes.items()}
        assert ask({**columns, "c": pa.array(labels).cast(kind)}, *clustered) == expected
        for blank in (" ", None):
            bad = pa.array([*labels[:3], blank]).cast(kind)
            _, _, err = ask({**columns, "c": bad}, *clustered)
            assert f"{path}, row 3, column 'c': 1 of 4 rows belong to no cluster" in err
        words = pa.array([".5", "9007199254740993", "2", "3"]).cast(kind)
        assert (
            "row 1, column 'A': '9007199254740993'" in ask({**columns, "A": words}, "--scores")[2]
        )
        broken = pa.array([b"x", b"y", b"\xff", b"z"]).cast(pa.string(), safe=False).cast(kind)
        status, _, err = ask({**columns, "c": broken}, *clustered)
        # Arrow gives up on categories before it says in which row.
        row = "row 2, column 'c': not UTF-8"
        said = row if pa.types.is_string_view(kind) else "a category whose name is not UTF-8"
        assert (status, said in err) == (1, True)


@pytest.mark.parametrize("kind", [pa.duration("s"), pa.date32(), pa.time32("s"), pa.timestamp("s")])
def test_times_and_bytes_are_no_outcomes(
    tmp_path: Path, kind: pa.DataType, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"A": pa.array([1, 0, 1], kind), "B": [1, 0, 1]}), path)
    status, out, err = run(capsys, "test", path)
    assert (status, out) == (1, "")
    assert f"{path}, row 0, column 'A': " in err
    assert "is no outcome" in err
    pq.write_table(pa.table({"A": pa.array([b"1", b"0"], pa.binary(1)), "B": [1, 0]}), path)
    status, out, err = run(capsys, "test", path)
    assert (status, "column 'A': values are of type fixed_size_binary" in err) == (1, True)


@pytest.mark.parametrize(
    "values", [["1.00", "0.00", "+1", "0e0"], pa.array([1, 0, 1, 0], pa.decimal128(5, 2))]
)
def test_numbers_that_are_0_or_1_are_outcomes(
    tmp_path: Path, values: object, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"A": values, "B": [0, 0, 1, 1]}), path)
    status, out, err = run(capsys, "test", path, "--json")
    assert status == 0, err
    given = json.loads(out)
    assert [given[name] for name in ("n11", "n10", "n01", "n00")] == [1, 1, 1, 1]


def test_zero_has_no_sign_as_a_cluster(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    columns = {"A": np.array([1, 0, 1]), "B": np.array([0, 0, 1]), "c": np.array([0.0, -0.0, 2.0])}
    path = write(tmp_path, ".parquet", columns)
    _, out, _ = run(capsys, "test", path, "--clusters", "c", "--json")
    assert json.loads(out)["n_clusters"] == 2


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_a_difference_that_varies_by_rounding_alone_is_constant(
    tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = np.random.default_rng(0).random(60)
    columns = {"A": before, "B": before + 0.1, "c": np.arange(60) // 3}
    assert np.ptp(columns["A"] - columns["B"]) > 0
    path = write(tmp_path, suffix, columns)
    for clusters in ([], ["--clusters", "c"]):
        options = [*clusters, "--margin", "0.1", "-S", "99", "--json"]
        status, out, err = run(capsys, "test", path, *options)
        assert status == 0, err
        given = json.loads(out)
        assert given["t"] == "-inf"
        assert given["equivalence"]["statistic_upper"] == "-inf"
        assert given["equivalence"]["verdict"] == "differs"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--original", "A,B"],
        ["--original", "A,,B"],
        ["--versions", "A"],
        ["--versions", "A,B", "--clusters", "c"],
        ["--versions", "A,B", "--alternative", "less"],
        ["--quantiles", "2"],
        ["--quantiles", "0.5"],
        ["--method", "multinomial", "--clusters", "c"],
        ["--method", "multinomial", "--scores"],
        ["--margin", "0"],
        ["--margin", "1"],
        ["--margin", "1.5"],
        ["--margin", "nan"],
        ["--margin", "inf"],
        ["--margin", "0.1", "--alpha", "0.5"],
        ["--margin", "0.1", "--original", "A,B", "--transformed", "B,A"],
        ["--quantiles", "0.5", "--original", "A,B", "--transformed", "B,A"],
        ["--quantiles", "0.5", "--original", "A,B", "--transformed", "B,A", "--scores"],
        ["--versions", "A,B", "--original", "A"],
        ["--versions", "A,B", "--transformed", "B"],
        ["--clusters", "c", "--margin", "1"],
        ["--alternative", "bigger"],
    ],
)
def test_options_that_do_not_go_together_are_status_2(
    tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "data.csv"
    path.write_text("A,B,c\n1,0,x\n0,1,y\n1,1,z\n")
    status, out, err = run(capsys, "test", path, *arguments)
    assert (status, out) == (2, "")
    assert "Error" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["test", "--counts", "5,2,3,4"],
        ["test", "FILE"],
        ["test", "FILE", "--method", "exact"],
        ["test", "FILE", "--versions", "A,B", "--method", "exact"],
        ["eval", "FILE"],
        ["eval", "FILE", "--method", "exact"],
    ],
)
def test_the_exact_law_has_no_resamples(
    tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "data.csv"
    path.write_text("A,B,label,original,transformed\n1,0,a,a,b\n0,1,b,a,b\n")
    given = [str(path) if argument == "FILE" else argument for argument in arguments]
    status, out, err = run(capsys, *given, "-S", "99")
    assert (status, out) == (2, "")
    assert "--n-resamples is for --method multinomial and resample" in err
    assert "n_resamples" not in err
    assert run(capsys, *given, "-S", "99", "--method", "multinomial")[0] == 0


@pytest.mark.parametrize("value", ["nan", "inf", "1", "0", "-0.1", "2"])
@pytest.mark.parametrize(
    "command",
    [
        ["test", "--counts", "5,2,3,4"],
        ["eval", "predictions.csv"],
        ["run", "--demo", "--out", "never"],
    ],
)
def test_a_margin_that_is_none_is_status_2(
    command: list[str], value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, *command, "--margin", value)
    assert (status, out) == (2, "")
    assert "--margin" in err
    assert not Path("never").exists()


def test_a_margin_of_scores_may_be_large(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, ".csv")
    status, out, _ = run(capsys, "test", path, *SCORES, "-S", "9", "--margin", "25", "--json")
    assert (status, json.loads(out)["equivalence"]["margin"]) == (0, 25)


@pytest.mark.parametrize(
    "option", [["--clusters", "c"], ["--scores"], ["--versions", "A,B"], ["--original", "C"]]
)
def test_counts_have_no_columns(option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "test", "--counts", "1,2,3,4", *option)[0] == 2


def test_names_with_commas_stand_in_quotes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "data.csv"
    path.write_text('"A, once",B\n1,0\n0,1\n')
    status, out, err = run(capsys, "test", path, "--original", '"A, once"', "--json")
    assert (status, json.loads(out)["n"]) == (0, 2), err


def test_a_single_pair_is_too_few(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, "test", "--counts", "0,1,0,0")
    assert status == 1
    assert "at least two pairs, not 1" in err


@pytest.mark.slow
def test_estimates_and_a_verdict_stand_beside_the_test(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = run(capsys, "test", "--counts", "8000,52,48,1900", "--json")
    given = json.loads(out)
    assert given["equivalence"]["margin"] == 0.01
    assert given["equivalence"]["verdict"] == "equivalent within margin"
    assert (
        given["estimate"]["delta_score"][0] < given["delta"] < given["estimate"]["delta_score"][1]
    )
    few_flips = ["test", "--counts", "760,42,38,160", "--flip-margin", "0.2"]
    _, out, _ = run(capsys, *few_flips, "--details")
    assert out.startswith("Undecided: accuracy 80.2 → 79.8 (−0.4, 95% −2.2 to +1.4) on 1,000 ")
    assert "; some 7,987 would decide on accuracy." in out  # at alpha = 0.04
    assert "95%, score (Tango)" in out
    _, out, _ = run(capsys, *few_flips, "--margin", "0.05")
    assert out.startswith("Accuracy changes by less than 5 points: ")
    one_sided = ["test", "--counts", "760,42,38,160", "--alternative", "less", "--json"]
    assert "equivalence" not in json.loads(run(capsys, *one_sided)[1])
    path = write(tmp_path, ".csv")
    _, out, _ = run(capsys, "test", path, *SCORES, "--margin", "0.1", "--json")
    assert json.loads(out)["equivalence"]["verdict"] == "equivalent within margin"
    clustered = ["--original", "A1", "--transformed", "B1", "--clusters", "premise"]
    given = json.loads(run(capsys, "test", path, *clustered, "--margin", "0.1", "--json")[1])
    assert given["equivalence"]["n_clusters"] == given["estimate"]["n_clusters"]
    assert given["equivalence"]["margin"] == 0.1
    low, high = given["estimate"]["delta_bca"]
    assert low < given["delta"] < high
    several = ["--original", "A1,A2", "--transformed", "B1,B2"]
    status, _, err = run(capsys, "test", path, *several, "--margin", "0.1")
    assert (status, "one pair of columns" in err) == (2, True)
