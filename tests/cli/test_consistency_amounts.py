"""``ietest-fast consistency`` over the amount of data: logs with amounts, and runs."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import click
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command_line import run_here
from ietest_fast.cli.consistency import command
from ietest_fast.experiment import check_config
from ietest_fast.experiment.run import run
from toys import Swap, toy_splits

if TYPE_CHECKING:
    from pathlib import Path

MODELS = {"tiny": ["111", "000", "111"], "big": ["111", "110", "111"]}
FINETUNED = {"roberta-base-0.01": 0.01, "roberta-base-0.1": 0.1, "roberta-base-0.5": 0.5}
PRETRAINED = {"roberta-base-1B-3": 1e9, "roberta-base-10M-2": 1e7}


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for model, items in MODELS.items():
        rows = [
            {
                "item": item,
                "version": f"p{place}",
                "gold": "yes",
                "predicted": "yes" if sign == "1" else "no",
                "tokens": 10**6 if model == "tiny" else 10**9,
            }
            for item, signs in enumerate(items)
            for place, sign in enumerate(signs)
        ]
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / f"{model}.parquet")
    return tmp_path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    config = check_config(
        {
            "data": {"demo": True, "name": "toys"},
            "model": {"name": "ngram-linear", "search": "default", "options": {"bits": 12}},
            "rho": [0, 1],
            "n_classifiers": 2,
            "n_jobs": 1,
            "train_size": [300, 40],
        }
    )
    run(config, folder / "sized", splits=toy_splits(), transformation=Swap())
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("how", [["--amounts", "1B,1M"], ["--amount-column", "tokens"]])
def test_amounts_of_logs(logs: Path, how: list[str]) -> None:
    options = [*how, "--amounts-of", "pretraining tokens", "--n-resamples", "200"]
    files = ["big.parquet", "tiny.parquet"]
    status, out, _ = run_here("consistency", *files, *options, "--out", "both.parquet", folder=logs)
    assert status == 0
    assert "Accuracy and P_C over the pretraining tokens" in out
    assert "Each amount against the one before: pretraining tokens" in out
    status, out, _ = run_here("consistency", *files, *options, "--json", folder=logs)
    (curve,) = json.loads(out)["curves"]
    assert curve["of"] == "pretraining tokens"
    assert [(own["name"], own["amount"]) for own in curve["points"]] == [
        ("tiny", 1e6),
        ("big", 1e9),
    ]
    assert [own["p_c_unbiased"] for own in curve["points"]] == pytest.approx([1, 7 / 9])
    # The file keeps them, for the report and for another call.
    status, out, _ = run_here(
        "consistency", "both.parquet", "--n-resamples", "200", "--json", folder=logs
    )
    assert json.loads(out)["curves"] == [curve]
    status, _, err = run_here("report", "both.parquet", "--paper", "paper", folder=logs)
    assert (status, err) == (0, "")
    written = {path.name for path in (logs / "paper").rglob("*")}
    assert {"consistency-amounts-1.svg", "consistency-amounts-plane.pdf"} <= written
    with (logs / "paper" / "tables" / "consistency-amounts.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["pretraining tokens"] for row in rows] == ["1000000", "1000000000"]


@pytest.mark.parametrize(
    ("names", "amounts", "is_told"),
    [
        (("m_100M", "m_1B"), "1B,100M", True),
        (("a-0.5-seed1", "a-0.1-seed1"), "10%,50%", True),
        (("1000k", "2M.v2"), "2M,1M", True),
        (("bert100M", "bert1Btok"), "1B,100M", True),
        (("m100", "m1000"), "1000,100", True),
        (("m_100M", "m_1B"), "100M,1B", False),
        (("m_100M", "m_3"), "1B,100M", False),  # of one, the name says nothing
        (("m_1", "m_2"), "2M,1M", False),
        (("tiny", "big"), "1B,1M", False),
    ],
)
def test_amounts_in_another_order_than_in_names_are_told(
    logs: Path, *, names: tuple[str, str], amounts: str, is_told: bool
) -> None:
    for old, new in zip(MODELS, names, strict=True):
        (logs / f"{old}.parquet").rename(logs / f"{new}.parquet")
    files = [logs / f"{name}.parquet" for name in names]
    options = ["--amounts", amounts, "--n-resamples", "200"]
    status, out, err = run_here("consistency", *files, *options, folder=logs)
    assert status == 0
    assert ("whose name has another of the amounts" in out + err) == is_told


@pytest.mark.parametrize(
    ("values", "is_told"), [(("100000000", "1000000000"), True), (("7", "8"), False)]
)
def test_amounts_in_another_order_than_in_a_column_are_told(
    logs: Path, *, values: tuple[str, str], is_told: bool
) -> None:
    files = [logs / f"{name}.parquet" for name in [*MODELS][:2]]
    for path, value in zip(files, values, strict=True):
        table = pq.read_table(path).drop_columns(["tokens"])
        pq.write_table(table.append_column("tokens", pa.array([int(value)] * len(table))), path)
    options = ["--amounts", "1B,100M", "--n-resamples", "200"]
    status, out, err = run_here("consistency", *files, *options, folder=logs)
    assert status == 0
    assert ("whose column tokens has another of the amounts" in out + err) == is_told


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--amounts", "1M"], "there is 1 amount for 2 classifiers"),
        (["--amounts", "1M,x"], "--amounts: 'x' is no amount"),
        (["--amounts", "1M,1000k"], "tiny and big have the same amount, 1M"),
        (["--amounts", "1,2", "--amount-column", "tokens"], "not both"),
        (["--amounts-of", "tokens"], "--amounts-of needs --amounts or --amount-column"),
        (["--amount-column", "rows"], "has no such column of amounts"),
    ],
)
def test_amounts_that_are_wrong_are_said(logs: Path, options: list[str], said: str) -> None:
    status, out, err = run_here("consistency", "tiny.parquet", "big.parquet", *options, folder=logs)
    assert status in {1, 2}
    assert out == ""
    assert said in " ".join(err.split())


def test_the_folder_of_a_run(folder: Path) -> None:
    status, out, err = run_here("consistency", "sized", "-S", "200", folder=folder)
    assert (status, err) == (0, "")
    assert "Accuracy and P_C over the training rows" in out
    assert "ngram-linear, ρ = 1, 300 rows" in out
    status, out, _ = run_here("consistency", "sized", "-S", "200", "--json", folder=folder)
    curves = json.loads(out)["curves"]
    assert [curve["name"] for curve in curves] == ["ngram-linear, ρ = 0", "ngram-linear, ρ = 1"]
    assert [own["amount"] for own in curves[0]["points"]] == [40, 300]
    assert len(curves[0]["points"][0]["by_classifier"]["p_c_unbiased"]) == 2
    # Of two wordings P_C is the share of texts that are right or wrong in both.
    results = json.loads((folder / "sized" / "results.json").read_text())
    for point in curves[1]["points"]:
        (condition,) = (
            each for each in results["conditions"] if each["train_size"] == point["amount"]
        )
        unlike = [cell["n10"] + cell["n01"] for cell in condition["rhos"][1]["cells"]]
        n = point["n_clusters"]
        assert point["p_c_unbiased"] == pytest.approx(1 - sum(unlike) / len(unlike) / n)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["sized", "sized"], "sized is the folder of a run; give it alone"),
        (["sized", "--amounts", "1,2"], "amounts is for LOGs; this is the folder of a run"),
        (["sized", "--out", "x.parquet"], "out is for LOGs"),
        (["sized", "--subset", "label"], "subset is for LOGs"),
    ],
)
def test_what_does_not_go_with_a_run(folder: Path, arguments: list[str], said: str) -> None:
    status, out, err = run_here("consistency", *arguments, folder=folder)
    assert (status, out) == (2, "")
    assert said in " ".join(err.split())


ALLOWED = {"intervals", "n_resamples", "seed", "n_threads", "confidence_level", "as_json"}


def words_of(option: click.Option) -> list[str]:
    """Return the option with a value of its type."""
    if option.is_flag:
        return [option.opts[0]]
    kind = option.type
    if isinstance(kind, click.Choice):
        return [option.opts[0], str(kind.choices[0])]
    values = ("quoted", "3", "64", "0.3", "hyp1", "a=b", "a", "fp32")
    for value in values:
        try:
            kind.convert(value, option, None)
        except (click.UsageError, ValueError):
            continue
        return [option.opts[0], *([value] * option.nargs)]
    raise AssertionError(option.name)


@pytest.mark.parametrize(
    "option",
    [each for each in command.params if isinstance(each, click.Option)],
    ids=lambda option: option.name,
)
def test_a_run_refuses_each_option_that_it_would_ignore(folder: Path, option: click.Option) -> None:
    words = words_of(option)
    status, out, err = run_here("consistency", "sized", "-S", "50", *words, folder=folder)
    if option.name in ALLOWED:
        assert (status, err) == (0, "")
    else:
        assert (status, out) == (2, "")
        said = " ".join(err.split())
        assert f"{option.opts[0]} is for LOGs" in said


@pytest.mark.slow
@pytest.mark.parametrize("amounts", [FINETUNED, PRETRAINED], ids=["finetuning", "pretraining"])
def test_published_predictions(shared: Path, tmp_path: Path, amounts: dict[str, float]) -> None:
    """The models of Figures 5 and 6 of which predictions are published."""
    results = shared / "data" / "paranlu" / "results"
    files = [results / f"snli_human_d-snli-{name}.json.gz" for name in amounts]
    written = {"finetuning": "1%,10%,50%", "pretraining": "1B,10M"}
    listed = written["finetuning" if amounts is FINETUNED else "pretraining"]
    status, out, _ = run_here(
        "consistency", *files, "--amounts", listed, "-S", "200", "--json", folder=tmp_path
    )
    assert status == 0
    with (shared / "reference" / "paraphrastic_consistency.csv").open(encoding="utf-8") as stream:
        reference = {
            row["human_file"].removeprefix("snli_human_d-snli-").removesuffix(".json"): row
            for row in csv.DictReader(stream)
        }
    (curve,) = json.loads(out)["curves"]
    ordered = sorted(amounts, key=lambda name: amounts[name])
    assert [own["amount"] for own in curve["points"]] == [amounts[name] for name in ordered]
    for point, name in zip(curve["points"], ordered, strict=True):
        row = reference[name]
        assert 100 * point["p_c"] == pytest.approx(float(row["P_C"]), abs=1e-9)
        assert 100 * point["p_c_unbiased"] == pytest.approx(float(row["P_C_unbiased"]), abs=1e-9)
        own = 100 * point["accuracy_macro"]
        assert own == pytest.approx(float(row["A_bucket_macro"]), abs=1e-9)
    p_c = [own["p_c"] for own in curve["points"]]
    # As the paper says: it falls with fine-tuning and rises with pretraining.
    assert p_c == sorted(p_c, reverse=amounts is FINETUNED)
    assert all(step["p_c_unbiased_p_holm"] < 0.05 for step in curve["steps"])
