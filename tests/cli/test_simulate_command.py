"""``ietest-fast simulate`` as a shell would call it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ietest_fast.cli.main import main
from ietest_fast.stats import (
    draw_null_differences,
    draw_null_scores,
    intra_cluster_correlation,
    simulate,
)


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def test_without_a_file_the_options_say_all(capsys: pytest.CaptureFixture[str]) -> None:
    setting = ["--n", "200", "--psi", "0.2", "--tables", "3000"]
    status, out, err = run(capsys, "simulate", *setting, "--json")
    assert status == 0, err
    assert json.loads(out) == json.loads(simulate(200, 0.2, n_tables=3000).to_json())
    status, out, _ = run(capsys, "simulate", *setting, "--seed", "4")
    assert status == 0
    assert "tables                   3,000 of 200 pairs, 0.2 discordant" in out
    assert "No test is shown to exceed its level" in out


def test_cluster_sizes_recur(capsys: pytest.CaptureFixture[str]) -> None:
    setting = ["--n", "200", "--psi", "0.3", "--cluster-sizes", "1-6", "--icc", "0.4"]
    _, out, _ = run(capsys, "simulate", *setting, "--tables", "40", "-S", "99", "--json")
    given = json.loads(out)
    # Nine whole rounds of 1 + ... + 6 = 21 pairs, then 1, 2, 3, 4 and one more: 59 clusters.
    assert (given["n_clusters"], given["icc"]) == (59, 0.4)
    assert given["sizes"][-1]["test"] == "clustered"
    several = ["--n", "100", "--psi", "0.3", "--classifiers", "3", "--correlation", "0.5"]
    _, out, _ = run(capsys, "simulate", *several, "--tables", "40", "-S", "99", "--json")
    given = json.loads(out)
    assert (given["n_classifiers"], given["classifier_correlation"]) == (3, 0.5)
    assert given["sizes"][-1]["test"] == "joint"


def test_a_file_tells_how_the_tables_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    codes = np.repeat(np.arange(500), 4)
    drawn = draw_null_differences(
        2000,
        0.4,
        clusters=codes,
        icc=0.5,
        n_classifiers=2,
        classifier_correlation=0.6,
        rng=1,
    )
    path = tmp_path / "outcomes.parquet"
    columns = {
        "A1": drawn[:, 0] >= 0,
        "B1": drawn[:, 0] <= 0,
        "A2": drawn[:, 1] >= 0,
        "B2": drawn[:, 1] <= 0,
        "premise": codes,
    }
    pq.write_table(pa.table(columns), path)
    few = ["--tables", "20", "-S", "99", "--json"]
    both = ["--original", "A1,A2", "--transformed", "B1,B2", "--clusters", "premise"]
    status, out, err = run(capsys, "simulate", path, *both, *few)
    assert status == 0, err
    given = json.loads(out)
    assert (given["n"], given["n_clusters"], given["n_classifiers"]) == (2000, 500, 2)
    assert given["discordance"] == (drawn != 0).mean()
    assert given["icc"] == pytest.approx(
        np.mean([intra_cluster_correlation(d, codes) for d in drawn.T])
    )
    assert given["classifier_correlation"] == pytest.approx(np.corrcoef(drawn.T)[0, 1], abs=1e-12)
    one = ["--original", "A1", "--transformed", "B1", "--clusters", "premise", "--icc", "0"]
    _, out, _ = run(capsys, "simulate", path, *one, *few)
    assert json.loads(out)["icc"] == 0


def test_scores_are_simulated_where_they_are_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ["--tables", "20", "-S", "99", "--json"]
    status, out, err = run(capsys, "simulate", "--n", "60", "--psi", "0.5", "--scores", *few)
    assert status == 0, err
    expected = simulate(60, 0.5, scores=True, n_tables=20, n_resamples=99)
    assert json.loads(out) == json.loads(expected.to_json())
    codes = np.repeat(np.arange(200), 3)
    drawn = draw_null_scores(600, 0.7, df=6, clusters=codes, icc=0.5, rng=1)[:, 0]
    path = tmp_path / "scores.parquet"
    pq.write_table(pa.table({"A": drawn + 1.5, "B": np.full(600, 1.5), "premise": codes}), path)
    columns = ["--clusters", "premise", "--scores", "--df", "6"]
    status, out, err = run(capsys, "simulate", path, *columns, *few)
    assert (status, "constant column" in err) == (1, True)
    noise = np.random.default_rng(0).random(600)
    pq.write_table(pa.table({"A": drawn + noise, "B": noise, "premise": codes}), path)
    status, out, err = run(capsys, "simulate", path, *columns, *few)
    assert status == 0, err
    given = json.loads(out)
    assert (given["n"], given["n_clusters"], given["df"]) == (600, 200, 6.0)
    assert given["discordance"] == pytest.approx((drawn != 0).mean())
    assert given["icc"] == pytest.approx(intra_cluster_correlation(drawn, codes))
    laws = ["scores", "scores_symmetric", "scores_studentised"]
    tests = [*laws, *(f"{law}_clustered" for law in laws)]
    assert [line["test"] for line in given["sizes"]] == tests
    status, out, err = run(capsys, "simulate", path, *columns[:3], *few)
    assert status == 0, err
    given = json.loads(out)
    assert (given["n"], given["n_clusters"], given["law"], given["df"], given["icc"]) == (
        600,
        200,
        "observed",
        None,
        None,
    )
    observed = (drawn + noise) - noise
    expected = simulate(differences=observed, clusters=codes, n_tables=20, n_resamples=99)
    assert given == json.loads(expected.to_json())
    status, out, err = run(capsys, "simulate", path, *columns[:3], "--skew", "1", *few)
    assert status == 0, err
    assert (json.loads(out)["law"], json.loads(out)["skew"]) == ("lognormal", 1.0)


def test_the_unit_of_the_scores_changes_no_estimate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    shared = np.repeat(rng.normal(size=(60, 1)), 4, axis=0)
    scores = shared + rng.normal(size=(240, 2))
    arguments = ["--original", "A,C", "--transformed", "B,D", "--clusters", "g", "--scores"]
    few = ["--tables", "5", "-S", "99", "--json"]
    given = []
    for exponent in (0, -600, 700):
        columns = {
            "A": np.ldexp(scores[:, 0], exponent),
            "B": np.ldexp(shared[::-1, 0] / 8, exponent),
            "C": np.ldexp(scores[:, 1], exponent),
            "D": np.ldexp(shared[::-1, 0] / 8, exponent),
            "g": np.arange(240) // 4,
        }
        path = tmp_path / f"{exponent}.parquet"
        pq.write_table(pa.table(columns), path)
        for law in ([], ["--df", "3"]):
            status, out, err = run(capsys, "simulate", path, *arguments, *law, *few)
            assert status == 0, err
            given.append(json.loads(out))
    assert given[1]["icc"] > 0.2
    assert given[1]["classifier_correlation"] > 0.2
    assert given[2:4] == given[:2]
    assert given[4:6] == given[:2]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--n", "10"],
        ["--n", "10", "--psi", "0.1", "--df", "5"],
        ["--n", "10", "--psi", "0.1", "--skew", "1"],
        ["--n", "10", "--psi", "0.1", "--scores", "--skew", "0"],
        ["--n", "10", "--psi", "0.1", "--scores", "--skew", "1", "--df", "5"],
        ["--n", "10", "--psi", "0.1", "--scores", "--df", "2"],
        ["--n", "10", "--psi", "0.1", "--scores", "--df", "nan"],
        ["--n", "10", "--psi", "0.1", "--scores", "--df", "inf"],
        ["--psi", "0.1"],
        ["--n", "1", "--psi", "0.1"],
        ["--n", "10", "--psi", "2"],
        ["--n", "10", "--psi", "0.1", "--clusters", "c"],
        ["--n", "10", "--psi", "0.1", "--cluster-sizes", "0"],
        ["--n", "10", "--psi", "0.1", "--cluster-sizes", "6-1"],
        ["--n", "10", "--psi", "0.1", "--cluster-sizes", "a"],
        ["x.csv", "--n", "10"],
        ["x.csv", "--original", "A,C"],
    ],
)
def test_wrong_usage_is_status_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "simulate", *arguments)
    assert (status, out) == (2, "")
    assert "Error" in err


def test_mistakes_of_the_input_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "outcomes.csv"
    path.write_text("A,B\n1,0\n0.5,1\n")
    status, _, err = run(capsys, "simulate", path)
    assert (status, "'0.5' is no outcome" in err) == (1, True)
    status, _, err = run(capsys, "simulate", "--n", "10", "--psi", "0.1", "--icc", "0.5")
    assert (status, "say --cluster-sizes" in err) == (2, True)


def test_one_table_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    setting = ["--n", "200", "--psi", "0.2", "--tables", "1"]
    for seed in range(3):
        status, out, _ = run(capsys, "simulate", *setting, "--seed", str(seed))
        assert status == 0
        assert "1 table is too few to say whether any test exceeds its level" in out
        assert "TOO LARGE" not in out
        assert "Every test" not in out
