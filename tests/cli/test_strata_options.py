"""``--strata`` and ``--dose`` of ``test`` and ``eval``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from ietest_fast.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

N = 3_000
NAMES = np.array(["no", "perhaps", "yes"])
GOLD = np.arange(N) % 3


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def write(folder: Path) -> str:
    """A table whose losses grow with the number of edits, on texts of one genre."""
    edits = np.arange(N) % 12 + 1
    genre = np.where(np.arange(N) % 10 < 7, "travel", "fiction")
    lost = (genre == "fiction") & (np.arange(N) // 12 % 40 < edits)
    answers = np.where(lost, (GOLD + 1) % 3, GOLD)
    path = folder / "wide.csv"
    pd.DataFrame(
        {
            "label": NAMES[GOLD],
            "original": NAMES[GOLD],
            "transformed": NAMES[answers],
            "A": 1,
            "B": (answers == GOLD).astype(int),
            "reworded": 1,
            "genre": genre,
            "edits": edits,
        }
    ).to_csv(path, index=False)
    return str(path)


ANSWERS = ["-P", "original,transformed"]


@pytest.mark.parametrize("kind", [["eval", *ANSWERS], ["test", *ANSWERS], ["test"]])
def test_strata_and_dose(tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: Any) -> None:
    command, *columns = kind
    arguments = [command, write(tmp_path), *columns, "--reworded", "reworded"]
    arguments += ["--strata", "genre", "--strata", "label", "--strata", "edits", "--dose", "edits"]
    status, out, err = run(capsys, *arguments)
    assert status == 0, err
    assert "By genre" in out
    assert "With edits, the loss of accuracy grows by" in out
    found = json.loads(run(capsys, *arguments, "--json")[1])
    genre, label, edits = found["strata"]
    assert [each["stratum"] for each in genre["strata"]] == ["fiction", "travel"]
    assert genre["strata"][0]["delta"] > 0.1
    assert genre["strata"][1]["delta"] == 0
    assert (genre["strata"][0]["flip_rate"] is None) == (not columns)
    assert [each["stratum"] for each in label["strata"]] == NAMES.tolist()
    assert [each["stratum"] for each in edits["strata"]] == [str(i) for i in range(1, 13)]
    assert found["dose"]["slope"] > 0
    assert found["dose"]["p_value"] < 0.001
    by_min_p = json.loads(run(capsys, *arguments, "--json", "--strata-correction", "minp")[1])
    for one, other in zip(by_min_p["strata"][2]["strata"], edits["strata"], strict=True):
        assert one["p_adjusted"] <= other["p_adjusted"] * (1 + 1e-9)


def test_clusters_and_several_versions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path)
    frame = pd.read_csv(path)
    frame["premise"], frame["again"] = np.arange(N) // 3, frame["transformed"]
    frame.to_csv(path, index=False)
    arguments = ["eval", path, "-P", "original,transformed,again", "--clusters", "premise"]
    status, out, err = run(capsys, *arguments, "--strata", "genre", "--dose", "edits")
    assert status == 0, err
    assert "By genre: transformed" in out
    assert "By genre: again" in out
    assert "again: Dose and response" in out


@pytest.mark.parametrize("kind", [["eval", *ANSWERS], ["test", *ANSWERS], ["test"]])
def test_resamples_are_those_of_strata_where_the_test_is_exact(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: Any
) -> None:
    command, *columns = kind
    start = [command, write(tmp_path), *columns, "--reworded", "reworded", "-S", "20000"]
    status, out, err = run(capsys, *start, "--dose", "edits", "--json")
    assert status == 0, err
    assert "S:exact" in json.loads(out)["signature"]
    status, _, err = run(capsys, *start)
    assert status == 2
    assert "the exact law has no resamples" in err


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--strata", "nothing"], 1, "nothing"),
        (["--dose", "genre"], 1, "3000 of 3000 have none; the first holds 'travel'"),
        (["--dose", "missing"], 1, "1500 of 3000 have none; the first holds nothing"),
        (["--dose", "edits", "--dose", "row"], 2, "'--dose': may be given once"),
        (["--dose", "edits", "--alpha", "0.6"], 2, "--dose needs an --alpha below 0.5"),
        (["--strata", "genre", "--alpha", "0.6"], 2, "--strata needs an --alpha below 0.5"),
        (["--strata", "row"], 1, "3,000 different values"),
        (["--strata", "gap"], 1, "write a word such as 'none' there"),
        (["--strata", "said"], 1, "has 1,500 labels 'nan', and a missing value is no stratum"),
        (["--clusters", "said"], 1, "belong"),
    ],
)
def test_bad_columns_are_named(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    status: int,
    message: str,
) -> None:
    path = write(tmp_path)
    frame = pd.read_csv(path)
    frame["row"], frame["gap"] = np.arange(N), np.where(np.arange(N) % 2, "x", None)
    frame["said"] = np.where(np.arange(N) % 2, "x", " NaN ")
    frame["missing"] = np.where(np.arange(N) % 2, 1, np.nan)
    frame.to_csv(path, index=False)
    for start in (["eval", path, *ANSWERS], ["test", path]):
        found, _, err = run(capsys, *start, *arguments)
        assert (found, message in err) == (status, True), err


def test_what_has_no_texts_has_no_strata(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    status, _, err = run(capsys, "test", "--counts", "9,1,1,9", "--strata", "genre")
    assert (status, "--strata needs a file" in err) == (2, True)
    scores = ["test", write(tmp_path), "--original", "edits", "--transformed", "reworded"]
    status, _, err = run(capsys, *scores, "--scores", "--dose", "edits")
    assert status != 0


OUTCOMES = ["-C", "A,B"]


@pytest.mark.parametrize("unknown", ["", "nan", "-", "-1"])
@pytest.mark.parametrize("kind", [["eval", *OUTCOMES], ["test"]])
def test_labels_that_nobody_asked_for_never_refuse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], unknown: str, kind: list[str]
) -> None:
    path, wide = write(tmp_path), str(tmp_path / "wide.parquet")
    frame = pd.read_csv(path)

    def judge(file: str) -> Any:
        status, out, err = run(capsys, kind[0], file, *kind[1:], "--json")
        assert status == 0, err
        return json.loads(out)["invariance"]["strata"]

    assert judge(path) is not None
    for numbers in (False, True):
        labels = [str(code) for code in GOLD] if numbers else NAMES[GOLD].tolist()
        frame.assign(label=[unknown, *labels[1:]]).to_csv(path, index=False)
        assert judge(path) is None
    for labels in ([float("nan"), *GOLD[1:]], [[1, 2]] * N, np.arange(N) // 2):
        frame.assign(label=labels).to_parquet(wide)
        assert judge(wide) is None


def test_labels_are_read_for_one_pair_of_columns_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path)
    frame = pd.read_csv(path)
    frame.assign(C=frame["B"], D=frame["A"]).to_csv(path, index=False)
    from ietest_fast.analyses.compare import columns as module

    read, found = module.read_gold_beside, []

    def spy(*given: Any) -> Any:
        found.append(read(*given))
        return found[-1]

    monkeypatch.setattr(module, "read_gold_beside", spy)
    for columns in (
        ["--versions", "A,B,C"],
        ["--original", "A,D", "--transformed", "B,C"],
        ["--original", "A", "--transformed", "B"],
    ):
        status, _, err = run(capsys, "test", path, *columns)
        assert status == 0, err
    assert [name for name, _ in found] == ["label"]


@pytest.mark.parametrize("name", ["label", "gold", "gold_label", "truth"])
def test_labels_beside_outcomes_are_judged_by_eval_as_by_test(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = write(tmp_path)
    judged = ["--reworded", "reworded", "--strata", "label", "--json"]
    columns = ["A", "B", "label", "reworded"]
    pd.read_csv(path)[columns].to_csv(path, index=False)
    status, out, err = run(capsys, "test", path, *judged)
    assert status == 0, err
    wanted = json.loads(out)
    pd.read_csv(path).rename(columns={"label": name}).to_csv(path, index=False)
    starts = [["eval", path, *OUTCOMES, "--gold-column", name]]
    if name != "truth":
        starts += [["eval", path, *OUTCOMES], ["test", path]]
    for start in starts:
        status, out, err = run(capsys, *start, *judged)
        assert status == 0, err
        found = json.loads(out)
        assert found["invariance"] == wanted["invariance"]
        assert found["strata"] == wanted["strata"]
    assert wanted["invariance"]["label_loss"] is not None


@pytest.mark.parametrize("start", [["eval", *OUTCOMES], ["test"]])
def test_labels_that_are_not_there_are_named_as_the_user_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], start: list[str]
) -> None:
    path = write(tmp_path)
    pd.read_csv(path)[["A", "B", "reworded"]].to_csv(path, index=False)
    status, _, err = run(capsys, start[0], path, *start[1:], "--strata", "label")
    assert (status, "column 'label'" in err) == (1, True), err


@pytest.mark.parametrize("kind", [["eval", *ANSWERS], ["test"]])
def test_labels_of_the_verdict_are_drawn_as_the_table_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: Any
) -> None:
    path = write(tmp_path)
    frame = pd.read_csv(path)
    frame["label"] = [f"label {code:02}" for code in np.arange(N) // 3 % 15]
    right = np.random.default_rng(1).random((2, N)) < 0.6
    frame["A"], frame["B"] = right.astype(int)
    wrong = np.roll(frame["label"].to_numpy(), 3)
    frame["original"], frame["transformed"] = np.where(right, frame["label"].to_numpy(), wrong)
    frame.to_csv(path, index=False)
    arguments = [path, *kind[1:], "--reworded", "reworded", "--strata", "label", "--json"]
    arguments += ["--seed", "7", "--n-resamples", "199", "--method", "multinomial"]
    status, out, err = run(capsys, kind[0], *arguments)
    assert status == 0, err
    found = json.loads(out)
    own, table = found["invariance"]["strata"]["heterogeneity"], found["strata"][0]["heterogeneity"]
    assert (own["method"], own["n_resamples"], own["seed"]) == ("resample", 199, 7)
    assert own == table


@pytest.mark.parametrize("start", [["eval", *ANSWERS], ["test", *ANSWERS], ["test"]])
@pytest.mark.parametrize("other", ["{} ", "\t{}", "{}"])
def test_blanks_make_no_stratum(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], start: list[str], other: str
) -> None:
    path = write(tmp_path)
    frame = pd.read_csv(path)
    second = np.arange(N) % 2 == 1
    frame["genre"] = np.where(second, frame["genre"].map(other.format), frame["genre"])
    frame.to_csv(path, index=False)
    command, *columns = start
    arguments = [path, *columns, "--reworded", "reworded", "--strata", "genre", "--json"]
    status, out, err = run(capsys, command, *arguments)
    assert status == 0, err
    (found,) = json.loads(out)["strata"]
    assert [each["stratum"] for each in found["strata"]] == ["fiction", "travel"]
