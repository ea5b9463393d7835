"""``ietest-fast eval`` and ``test`` on logs: a verdict in one command."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

from ietest_fast.analyses import compare_versions
from ietest_fast.analyses.compare.page import read_tested
from ietest_fast.answers import Predictions
from ietest_fast.cli.main import main
from ietest_fast.stats import PairedCounts, cochran_q_test, holm, paired_test

LOGS = Path(__file__).parents[1] / "data" / "logs"


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


@pytest.mark.parametrize("command", ["eval", "test"])
@pytest.mark.parametrize("name", ["samples_nli_said_{}.jsonl", "inspect_{}.eval"])
def test_two_logs_go_to_a_verdict(
    command: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = [LOGS / name.format(version) for version in ("original", "rephrased")]
    status, out, err = run(capsys, command, *logs, "--json")
    assert status == 0, err
    given = json.loads(out)
    assert given["p_value"] == paired_test(PairedCounts(18, 11, 0, 1)).p_value
    assert (given["compared"], given["reject"]) == ("versions", True)
    status, out, _ = run(capsys, command, *logs, "--fail-on-reject")
    assert status == 3
    assert "The logs are versions of the same items: original (" in out
    assert "could not be parsed; they count as wrong" in out
    assert "differs (alpha = 0.05" in out


@pytest.mark.parametrize("name", ["samples_nli_said_{}.jsonl", "inspect_{}.eval"])
def test_stress_says_what_was_decided_while_logs_were_read(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = [LOGS / name.format(version) for version in ("original", "rephrased")]
    note = "Answers to 4 of 30 items could not be parsed; they count as wrong"
    status, out, err = run(capsys, "stress", *logs)
    assert status == 0, err
    assert note in " ".join(out.split())
    status, out, _ = run(capsys, "stress", *logs, "--json")
    (profile,) = json.loads(out)["profiles"]
    assert any(note in each for each in profile["warnings"])
    status, _, err = run(capsys, "stress", *logs, "--unparsed", "error")
    assert status == 1
    assert "4 answers could not be parsed" in err


def test_the_same_texts_are_two_classifiers(capsys: pytest.CaptureFixture[str]) -> None:
    logs = [LOGS / f"samples_nli{which}_rephrased.jsonl" for which in ("", "_said")]
    status, out, err = run(capsys, "test", *logs)
    assert status == 0, err
    assert "The logs are of 2 classifiers on the same items" in out
    assert "predictions differ" not in out  # True and entailment are answers in other words


def long_table(path: Path) -> tuple[Path, dict[str, dict[str, np.ndarray]]]:
    """Two classifiers, three versions, 60 items of 20 premises."""
    rng = np.random.default_rng(4)
    gold = rng.integers(0, 3, 60)
    outcomes: dict[str, dict[str, np.ndarray]] = {}
    rows = []
    for model, share in (("a", 0.05), ("b", 0.4)):
        for version in ("original", "voice", "typos"):
            wrong = rng.random(60) < (share if version == "typos" else 0.1)
            outcomes.setdefault(model, {})[version] = ~wrong
            rows += [
                (
                    model,
                    version,
                    f"i{i}",
                    f"p{i // 3}",
                    "abc"[gold[i]],
                    "abc"[(gold[i] + wrong[i]) % 3],
                )
                for i in range(60)
            ]
    names = ("model", "version", "item", "premise", "gold", "predicted")
    pacsv.write_csv(
        pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))), path
    )
    return path, outcomes


@pytest.mark.slow
def test_several_versions_of_several_classifiers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, outcomes = long_table(tmp_path / "long.csv")
    status, out, err = run(capsys, "eval", path, "--json")
    assert status == 0, err
    given = json.loads(out)
    for place, model in enumerate("ab"):
        found = given["comparisons"][2 * place : 2 * place + 2]
        assert [(each["model"], each["version"]) for each in found] == [
            (model, "voice"),
            (model, "typos"),
        ]
        expected = [
            paired_test(outcomes[model]["original"], outcomes[model][name]).p_value
            for name in ("voice", "typos")
        ]
        assert [each["p_value"] for each in found] == expected
        shared = [each["p_adjusted"] for each in found]  # with what else is claimed
        assert all(p <= own for p, own in zip(holm(expected), shared, strict=True))
        cochran = cochran_q_test(outcomes[model])
        assert given["cochran"][place]["statistic"] == cochran.statistic
        assert given["cochran"][place]["p_value"] == cochran.p_value
    assert given["reject"] is any(each["reject"] for each in given["comparisons"])
    status, out, _ = run(capsys, "eval", path)
    assert "a: voice" in out
    assert "Cochran's Q of b over 3 versions of 60 items:" in out
    assert "Different from original: b: typos" in out


def test_clusters_are_drawn_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, outcomes = long_table(tmp_path / "long.csv")
    status, out, err = run(capsys, "eval", path, "--clusters", "premise", "--json")
    assert status == 0, err
    expected = paired_test(
        outcomes["b"]["original"], outcomes["b"]["typos"], clusters=[i // 3 for i in range(60)]
    )
    given = json.loads(out)["comparisons"][3]
    assert (given["p_value"], given["n_clusters"]) == (expected.p_value, 20)
    status, _, err = run(capsys, "eval", path, "--clusters", "premise", "--method", "multinomial")
    assert (status, "multinomial is not for them" in err) == (2, True)
    status, _, err = run(capsys, "eval", path, "--clusters", "nothing")
    assert (status, "column 'nothing'" in err) == (1, True)


def test_command_and_page_draw_the_same_clusters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those asked for, those that answers were drawn by, or a column of this name."""
    path, _ = long_table(tmp_path / "long.csv")
    kept = tmp_path / "kept.parquet"
    status, out, err = run(capsys, "eval", path, "--clusters", "premise", "--out", kept, "--json")
    assert status == 0, err
    expected = [each["p_value"] for each in json.loads(out)["comparisons"]]
    pd.read_csv(path).rename(columns={"premise": "cluster"}).to_csv(path, index=False)
    for given in (kept, path):
        status, out, err = run(capsys, "eval", given, "--json")
        assert status == 0, err
        assert [each["p_value"] for each in json.loads(out)["comparisons"]] == expected
        page = read_tested(given)
        assert [each.tested.result.p_value for each in page.outcomes] == expected


def test_outcomes_are_found_by_their_usual_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "o.csv"
    path.write_text("original_correct,transformed_correct\n1,0\n1,1\n0,0\n1,0\n")
    for command in ("test", "eval"):
        status, out, err = run(capsys, command, path, "--json")
        assert status == 0, err
        given = json.loads(out)
        assert [given[name] for name in ("n11", "n10", "n01", "n00")] == [1, 2, 0, 1]


def test_options_of_logs_are_refused_where_they_say_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = [LOGS / f"inspect_{version}.eval" for version in ("original", "rephrased")]
    status, _, err = run(capsys, "test", *logs, "--original", "A")
    assert (status, "--original is for a table of outcomes" in err) == (2, True)
    status, _, err = run(capsys, "test", "--counts", "1,2,3,4", "--unparsed", "drop")
    assert (status, "--unparsed is for logs of answers" in err) == (2, True)
    status, _, err = run(capsys, "eval", *logs, "-P", "a", "-C", "b")
    assert (status, "--correct-columns takes the place" in err) == (2, True)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["attacked", "clean"], "attacked, the first of the rows, is taken for it, and clean is"),
        (["clean", "attacked"], "clean, the first of the rows, is taken for it, and attacked is"),
        (["b", "a", "c"], "b, the first of the rows, is taken for it, and a, c are"),
        (["attacked", "original"], None),
        (["a", " Original "], None),
    ],
)
def test_the_version_that_is_taken_for_the_original_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], names: list[str], said: str | None
) -> None:
    rows = [
        f"{item},{name},{gold},{gold if (item + place) % 4 else 'yes'}\n"
        for place, name in enumerate(names)
        for item, gold in enumerate(["yes", "no"] * 20)
    ]
    path = tmp_path / "long.csv"
    path.write_text("item,version,gold,predicted\n" + "".join(rows))
    told = [line for line in _notes(capsys, path) if "no version is called original" in line]
    assert len(told) == (said is not None)
    assert all(said in line and "call the right one original" in line for line in told if said)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        evaluated = read_tested(path)
    assert len([each for each in caught if "is called original" in str(each.message)]) == len(told)
    assert list(evaluated.comparison.notes) == told
    predictions = Predictions.from_table(pacsv.read_csv(path))
    named = compare_versions(predictions, reference=predictions.versions[-1])
    assert named.notes == ()


def _notes(capsys: pytest.CaptureFixture[str], path: Path) -> list[str]:
    """Return what ``eval`` says beside its numbers, the same on the terminal and in JSON."""
    status, out, err = run(capsys, "eval", str(path), "--all-reworded")
    assert status == 0, err
    status, found, err = run(capsys, "eval", str(path), "--all-reworded", "--json")
    assert status == 0, err
    notes: list[str] = json.loads(found)["notes"]
    assert all(" ".join(note.split()) in " ".join(out.split()) for note in notes)
    return notes


ONE = "label,original,transformed\nyes,yes,no\nno,no,no\n"
LONG = "item,version,correct\n1,original,1\n2,original,0\n1,new,1\n2,new,1\n3,new,1\n"
EACH = "label,prediction\nyes,yes\nno,no\n"


@pytest.mark.parametrize("command", ["eval", "test", "consistency", "stress"])
@pytest.mark.parametrize(
    ("tables", "asked", "said"),
    [
        ([ONE], "--filter strict-match", "has no filters, so --filter strict-match has no effect"),
        ([EACH, EACH], "--filter x", "has no filters, so --filter x has no effect"),
        ([ONE], "--logs-are models", "is one log, so --logs-are models has no effect"),
        ([ONE], "--common-items", "has all versions of an item in one row, so --common-items"),
        ([EACH, EACH], "--common-items", "matched by their order, so --common-items has no"),
        ([EACH, EACH], "--logs-are versions", None),
        ([LONG], "--common-items", None),
    ],
)
def test_options_without_effect_are_refused(
    *,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    command: str,
    tables: list[str],
    asked: str,
    said: str | None,
) -> None:
    if command == "consistency" and tables == [LONG]:  # which has a reader of its own
        said = "--common-items is for logs of other programs"
    paths = [tmp_path / f"{place}.csv" for place in range(len(tables))]
    for path, text in zip(paths, tables, strict=True):
        path.write_text(text)
    status, _, err = run(capsys, command, *paths, *asked.split())
    assert (status > 0) == (said is not None), err
    assert said is None or said in " ".join(err.split())
