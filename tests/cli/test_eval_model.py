"""``ietest-fast eval --onnx`` as a shell would call it."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

pytest.importorskip("onnx", reason="makes the models that are tested")

from ietest_fast.cli.main import main
from tiny_models import LABELS, WORDS, make_bert, make_onnx_folder

PREMISES = ("The boy runs in the park", "A dog sleeps on the sofa", "The man sits on a couch")
HYPOTHESES = ("A kid is outside", "Nobody eats", "The cat is in the street", "A big dog sleeps")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    make_onnx_folder(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    rows = [(p, h) for p in PREMISES for h in HYPOTHESES] * 3
    table = pa.table(
        {
            "premise": [premise for premise, _ in rows],
            "hypothesis": [hypothesis for _, hypothesis in rows],
            "label": [LABELS[i % 3] for i in range(len(rows))],
            "pair": [f"p{i}" for i in range(len(rows))],
        }
    )
    path = tmp_path / "test.csv"
    pacsv.write_csv(table, path)
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def test_a_model_is_run_on_both_versions(
    tmp_path: Path, model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "matched.parquet"
    status, said, err = run(
        capsys, "eval", "--onnx", model, "--test", texts, "--out", out, "--id-column", "pair"
    )
    assert status == 0, err
    assert "18 different inputs of 72 were run" in said
    table = pq.read_table(out)
    assert table["version"].to_pylist() == ["original"] * 36 + ["syn.careful"] * 36
    original, transformed = table.slice(0, 36), table.slice(36)
    for part in (original, transformed):
        assert part["item"].to_pylist() == [f"p{i}" for i in range(36)]
        assert part["gold"].to_pylist() == [LABELS[i % 3] for i in range(36)]
    changed = transformed["changed"].to_pylist()
    n_changed = sum(changed)
    assert 0 < n_changed < 36
    assert f"{n_changed} of 36 rows were transformed" in said
    for row, is_changed in enumerate(changed):
        before, after = (part.slice(row, 1).to_pylist()[0] for part in (original, transformed))
        assert is_changed == (
            (before["premise"], before["hypothesis"]) != (after["premise"], after["hypothesis"])
        )
        assert is_changed or before["probabilities"] == after["probabilities"]
    status, said, _ = run(capsys, "eval", "--onnx", model, "--test", texts, "--json")
    given = json.loads(said)
    assert (status, given["n"], given["rows_transformed"]) == (0, 36, n_changed)
    assert given["labels"] == list(LABELS)
    assert [each.partition(" have")[0] for each in given["warnings"]] == ["24 rows of 36"]
    right = [
        a == b
        for a, b in zip(*(original[c].to_pylist() for c in ("gold", "predicted")), strict=True)
    ]
    assert given["accuracy_original"] == pytest.approx(sum(right) / 36)
    # Twelve different pairs, and those of them that were transformed.
    assert 12 < given["inputs_run"] <= 24
    # What it wrote can be tested again.
    for command in ("eval", "test"):
        status, said, err = run(capsys, command, out, "--json")
        assert status == 0, err
        assert json.loads(said)["p_value"] == given["p_value"]


@pytest.mark.slow
def test_inputs_of_other_names_are_mapped(
    model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import onnx

    common = ["eval", "--onnx", model, "--test", texts, "--json"]
    expected = json.loads(run(capsys, *common)[1])
    loaded = onnx.load(str(model / "model.onnx"))
    loaded.graph.input[0].name = "ids"
    loaded.graph.node[0].input[1] = "ids"
    onnx.save(loaded, str(model / "model.onnx"))
    status, _, err = run(capsys, *common)
    assert (status, "wants an input 'ids'" in err, "--onnx-inputs ids=" in err) == (1, True, True)
    status, _, err = run(capsys, *common, "--onnx-inputs", "ids")
    assert (status, "is not a list such as ids=input_ids" in err) == (2, True)
    named = ["--onnx-inputs", "ids=input_ids", "--onnx-output", "logits"]
    status, said, err = run(capsys, *common, *named)
    assert status == 0, err
    found = json.loads(said)
    for key in ("n", "n10", "n01", "accuracy_original"):
        assert found[key] == expected[key]


@pytest.mark.slow
def test_texts_transformed_before_give_the_same(
    tmp_path: Path, model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.csv"
    assert run(capsys, "transform", texts, other, "--lexicon-from", texts)[0] == 0
    common = ["eval", "--onnx", model, "--test", texts, "--json"]
    given = []
    for options in ([], ["--transformed-test", other], ["--lexicon-from", texts]):
        status, said, err = run(capsys, *common, *options)
        assert status == 0, err
        result = json.loads(said)
        result.pop("seconds")
        result.pop("version")
        # It cannot know how texts were transformed elsewhere.
        phi = "phi:given@" if "--transformed-test" in options else "phi:syn.careful@"
        assert phi in result.pop("signature")
        given.append(result)
    assert given[0] == given[1] == given[2]
    short = tmp_path / "short.csv"
    short.write_text("".join(other.read_text().splitlines(keepends=True)[:-1]))
    status, _, err = run(capsys, *common, "--transformed-test", short)
    assert (status, "has 35 labelled rows" in err) == (1, True)


@pytest.mark.slow
def test_one_side_alone_is_shown(
    model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    common = ["eval", "--onnx", model, "--test", texts, "--json", "--input"]
    for column, n in (("premise", len(PREMISES)), ("hypothesis", len(HYPOTHESES))):
        status, said, err = run(capsys, *common, column)
        assert status == 0, err
        assert n <= json.loads(said)["inputs_run"] <= 2 * n
    status, _, err = run(capsys, *common, "label")
    assert (status, "columns of texts are premise, hypothesis" in err) == (1, True)


def test_labels_without_names_stop_until_they_are_mapped(
    tmp_path: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_onnx_folder(tmp_path / "m", labels=("LABEL_0", "LABEL_1", "LABEL_2"))
    command = ["eval", "--onnx", tmp_path / "m", "--test", texts]
    status, _, err = run(capsys, *command)
    assert (status, "--label-map 0=entailment" in err) == (1, True)
    mapped = ["--label-map", "0=contradiction,1=neutral,2=entailment"]
    assert run(capsys, *command, *mapped)[0] == 0
    status, _, err = run(capsys, *command, "--label-map", "0")
    assert (status, "is not a list such as" in err) == (2, True)


def test_two_classes_meet_three(
    tmp_path: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_onnx_folder(tmp_path / "m", labels=("not_entailment", "entailment"))
    status, said, err = run(capsys, "eval", "--onnx", tmp_path / "m", "--test", texts, "--json")
    assert status == 0, err
    assert json.loads(said)["labels"] == ["entailment", "not_entailment"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give LOGs of predictions, or a model"),
        (["--onnx", "m"], "--test FILE"),
        (["p.csv", "--onnx", "m", "--test", "t"], "LOGs are of one that has been run"),
        (["p.csv", "--phi", "syn.paper"], "--phi is for a model"),
        (["p.csv", "--input", "premise"], "--input is for a model"),
        (["--onnx", "m", "--test", "t", "--gold", "g"], "--gold is for predictions"),
        (["--onnx", "m", "--test", "t", "--out", "x.csv"], "Parquet file"),
        (
            ["--onnx", "m", "--test", "t", "--transformed-test", "u", "--phi", "syn.paper"],
            "--phi is for texts transformed here",
        ),
    ],
)
def test_options_that_would_be_ignored_are_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, "eval", *arguments)
    assert (status, out) == (2, "")
    assert message in err


def test_a_folder_without_a_model_is_told(
    tmp_path: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, "eval", "--onnx", tmp_path, "--test", texts)
    assert (status, out) == (1, "")
    assert "no .onnx file" in err
    assert not list(tmp_path.glob("*.unfinished"))


@pytest.mark.slow
def test_no_torch_is_imported(model: Path, texts: Path) -> None:
    """Transformed beforehand: the tagger's library imports torch by itself where there is one."""
    code = (
        "import sys; from ietest_fast.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit as stop: assert not stop.code, stop.code\n"
        "print(sorted({'torch', 'transformers'} & set(sys.modules)))"
    )
    other = texts.with_name("other.csv")
    other.write_text(texts.read_text().replace("dog", "cat"))
    command = ["eval", "--onnx", model, "--test", texts, "--transformed-test", other]
    command += ["--label-map", ",".join(f"{label}={label}" for label in LABELS)]
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, command)], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


@pytest.mark.train
def test_a_checkpoint_is_run_by_torch_and_says_what_its_export_says(
    tmp_path: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch", reason="needs the train extra")
    pytest.importorskip("transformers", reason="needs the train extra")
    from ietest_fast.models.onnx_models.export import export_onnx
    from ietest_fast.models.onnx_models.runners import openvino_has_bf16

    make_bert(tmp_path / "checkpoint", labels=LABELS)
    export_onnx(tmp_path / "checkpoint", tmp_path / "exported")
    tables = []
    for name, how in (
        ("fp32", ["--model", tmp_path / "checkpoint", "--precision", "fp32"]),
        ("bf16", ["--model", tmp_path / "checkpoint", "--precision", "bf16"]),
        ("onnx", ["--onnx", tmp_path / "exported", "--runtime", "onnxruntime"]),
        ("openvino", ["--onnx", tmp_path / "exported", "--precision", "bf16"]),
    ):
        if name == "openvino" and (
            importlib.util.find_spec("openvino") is None or not openvino_has_bf16()
        ):
            tables.append(tables[1])  # torch's bf16
            continue
        out = tmp_path / f"{name}.parquet"
        status, said, err = run(
            capsys, "eval", *how, "--test", texts, "--out", out, "--json", "--label-map",
            ",".join(f"{label}={label}" for label in LABELS),
        )  # fmt: skip
        assert status == 0, err
        found = json.loads(said)
        runner = {"onnx": "onnxruntime", "openvino": "openvino"}.get(name, "torch")
        assert found["backend"].startswith(runner)
        if runner == "torch":
            assert found["backend"].endswith(f"{name})")
        tables.append(pq.read_table(out))
    fp32, bf16, onnx, openvino = (
        np.array(table.slice(0, 36)["probabilities"].to_pylist(), dtype=np.float64)
        for table in tables
    )
    assert fp32 == pytest.approx(onnx, abs=1e-5)
    for rounded in (bf16, openvino):
        assert fp32 == pytest.approx(rounded, abs=0.02)
        assert (fp32 != rounded).any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "m", "--onnx", "o", "--test", "t"], "--onnx or --model, not both"),
        (["--model", "m"], "a model needs a file of labelled texts"),
        (["--model", "m", "--test", "t", "--provider", "x"], "--provider is for --onnx"),
        (["--model", "m", "--test", "t", "--runtime", "openvino"], "--runtime is for --onnx"),
        (["p.csv", "--precision", "fp32"], "say --onnx or --model"),
    ],
)
def test_options_of_another_kind_of_model_are_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, err = run(capsys, "eval", *arguments)
    assert status == 2
    assert message in err


@pytest.mark.slow
def test_many_pairs_of_few_texts_are_run_in_several_windows(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Later windows have no text that was not tokenised before."""
    from ietest_fast.models import classifiers

    monkeypatch.setattr(classifiers, "_WINDOW", 16)
    rows = [(f"A kid sees the {p}", f"a {h} dog") for p in WORDS[:20] for h in WORDS[:20]]
    table = pa.table(
        {
            "premise": [premise for premise, _ in rows],
            "hypothesis": [hypothesis for _, hypothesis in rows],
            "label": [LABELS[i % 3] for i in range(len(rows))],
        }
    )
    pacsv.write_csv(table, tmp_path / "grid.csv")
    arguments = ["eval", "--onnx", model, "--test", tmp_path / "grid.csv", "--json"]
    given = ",".join(f"{label}={label}" for label in LABELS)
    status, said, err = run(capsys, *arguments, "--label-map", given)
    assert status == 0, err
    monkeypatch.setattr(classifiers, "_WINDOW", 100_000)
    _, whole, _ = run(capsys, *arguments, "--label-map", given)
    names = ("n11", "n10", "n01", "n00", "inputs_run")
    assert [json.loads(said)[name] for name in names] == [json.loads(whole)[name] for name in names]


def _shuffled(texts: Path, target: Path, **changes: str) -> Path:
    table = pacsv.read_csv(texts)
    order = np.random.default_rng(0).permutation(len(table))
    shuffled = table.take(pa.array(order))
    for name, (old, new) in changes.items():
        values = [value.replace(old, new) for value in shuffled[name].to_pylist()]
        shuffled = shuffled.set_column(shuffled.column_names.index(name), name, [values])
    pacsv.write_csv(shuffled, target)
    return target


def test_transformed_rows_are_matched_by_their_ids(
    tmp_path: Path, model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    swap = {"premise": ("dog", "cat")}
    ordered = pacsv.read_csv(texts)
    values = [value.replace("dog", "cat") for value in ordered["premise"].to_pylist()]
    pacsv.write_csv(ordered.set_column(0, "premise", [values]), tmp_path / "ordered.csv")
    labels = ",".join(f"{label}={label}" for label in LABELS)
    arguments = ["eval", "--onnx", model, "--test", texts, "--label-map", labels, "--json"]
    tables = []
    for other, how in (
        (tmp_path / "ordered.csv", []),
        (_shuffled(texts, tmp_path / "shuffled.csv", **swap), ["--id-column", "pair"]),
    ):
        out = tmp_path / f"{other.stem}.parquet"
        status, said, err = run(capsys, *arguments, "--transformed-test", other, *how, "--out", out)
        assert status == 0, err
        assert 0 < json.loads(said)["rows_transformed"] < 36
        tables.append(pq.read_table(out).drop_columns(["item", "version"]))
    assert tables[0].equals(tables[1])
    # One id less, one twice, another label.
    lines = (tmp_path / "shuffled.csv").read_text().splitlines()
    for spoilt, message in (
        (lines[:-1], "ids are not those of the 36 rows of"),
        ([*lines[:-1], lines[1]], "one id occurs more than once: "),
    ):
        (tmp_path / "spoilt.csv").write_text("\n".join(spoilt) + "\n")
        status, _, err = run(
            capsys, *arguments, "--transformed-test", tmp_path / "spoilt.csv",
            "--id-column", "pair",
        )  # fmt: skip
        assert status == 1
        assert message in err


def test_nothing_changed_is_nothing_to_test(
    tmp_path: Path, model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, err = run(
        capsys, "eval", "--onnx", model, "--test", texts, "--transformed-test", texts
    )
    assert status == 1
    assert "same texts in premise and hypothesis, so there is nothing to test" in err


@pytest.mark.slow
def test_rows_count_as_changed_by_what_the_model_sees(
    tmp_path: Path, model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = ",".join(f"{label}={label}" for label in LABELS)
    changed = {}
    for only in (None, "premise", "hypothesis"):
        how = [] if only is None else ["--input", only]
        status, said, err = run(
            capsys, "eval", "--onnx", model, "--test", texts, "--label-map", labels, "--json", *how
        )
        assert status == 0, err
        changed[only] = json.loads(said)["rows_transformed"]
    assert max(changed["premise"], changed["hypothesis"]) < changed[None]
    assert changed["premise"] + changed["hypothesis"] >= changed[None]


@pytest.mark.slow
def test_the_signature_names_model_data_and_transformation(
    tmp_path: Path, model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = ",".join(f"{label}={label}" for label in LABELS)
    signatures = []
    make_onnx_folder(tmp_path / "other", seed=1)
    for folder in (model, tmp_path / "other"):
        status, said, err = run(
            capsys, "eval", "--onnx", folder, "--test", texts, "--label-map", labels, "--json"
        )
        assert status == 0, err
        signatures.append(json.loads(said)["signature"].split("|"))
    fields = [dict(part.split(":", 1) for part in line[1:]) for line in signatures]
    assert fields[0]["phi"] == fields[1]["phi"]
    assert fields[0]["phi"].startswith("syn.careful@")
    assert fields[0]["data"] == fields[1]["data"]
    assert fields[0]["data"].startswith("test@")
    assert fields[0]["model"] != fields[1]["model"]


@pytest.mark.slow
def test_the_signature_tells_apart_what_gives_other_answers(
    model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    order = list(LABELS)
    swapped = [order[1], order[0], order[2]]
    maps = [",".join(f"{a}={b}" for a, b in zip(order, to, strict=True)) for to in (order, swapped)]
    ways = (
        ["--label-map", maps[0]],
        ["--label-map", maps[1]],
        ["--label-map", maps[0], "--input", "premise"],
        ["--label-map", maps[0], "--max-length", "8"],
    )
    signed = set()
    for way in ways:
        status, said, err = run(capsys, "eval", "--onnx", model, "--test", texts, "--json", *way)
        assert status == 0, err
        (field,) = (each for each in json.loads(said)["signature"].split("|") if "model:" in each)
        signed.add(field)
    assert len(signed) == len(ways)


def test_rows_without_a_label_leave_their_numbers_free(
    tmp_path: Path, model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pacsv.read_csv(texts)
    label = table["label"].to_pylist()
    spoilt = [0, 4, len(label) - 1]
    for row in spoilt:
        label[row] = "-"
    some = tmp_path / "some.csv"
    place = table.column_names.index("label")
    pacsv.write_csv(table.set_column(place, "label", pa.array(label)), some)
    labels = ",".join(f"{name}={name}" for name in LABELS)
    out = tmp_path / "out.parquet"
    arguments = ["--onnx", model, "--test", some, "--label-map", labels, "--out", out]
    status, _, err = run(capsys, "eval", *arguments)
    assert status == 0, err
    expected = [row for row in range(len(label)) if row not in spoilt]
    assert pq.read_table(out)["item"].to_pylist() == expected * 2


def test_an_input_is_not_written_over(
    tmp_path: Path, model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pacsv.read_csv(texts)
    for name in ("a", "b", "c"):
        pq.write_table(table, tmp_path / f"{name}.parquet")
    before = (tmp_path / "a.parquet").read_bytes()
    a, b, c = (tmp_path / f"{name}.parquet" for name in ("a", "b", "c"))
    ways = (
        ["--test", a, "--out", a],
        ["--test", b, "--transformed-test", a, "--out", a],
        ["--test", b, "--lexicon-from", c, "--lexicon-from", a, "--out", a],
    )
    for way in ways:
        status, out, err = run(capsys, "eval", "--onnx", model, *way)
        assert (status, out) == (1, "")
        assert f"{a}: would be overwritten" in err
    assert a.read_bytes() == before


def test_ids_of_another_kind_are_told(
    tmp_path: Path, model: Path, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pacsv.read_csv(texts).drop_columns(["pair"])
    first, second = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pq.write_table(table.append_column("n", pa.array(range(36))), first)
    labels = ",".join(f"{name}={name}" for name in LABELS)
    arguments = ["--test", first, "--transformed-test", second, "--label-map", labels]
    for ids, message in (
        ([f"x{i}" for i in range(36)], "ids are not those of the 36 rows of"),
        ([[1]] * 36, "values are of type list"),
        ([1] * 36, "one id occurs more than once: '1' (rows 0 and 1, and 34 more)"),
    ):
        pq.write_table(table.append_column("n", pa.array(ids)), second)
        status, _, err = run(capsys, "eval", "--onnx", model, *arguments, "--id-column", "n")
        assert status == 1
        assert message in err
        assert "b.parquet" in err


def test_label_maps_and_single_rows_are_told_before_anything_is_transformed(
    tmp_path: Path, model: Path, texts: Path, capsys: pytest.CaptureFixture[str], monkeypatch
) -> None:
    def transform(*_: object, **__: object) -> None:
        raise AssertionError("texts are transformed")

    monkeypatch.setattr("ietest_fast.answers.versions.transform_corpus", transform)
    labels = "0=entailment,1=neutral,2=neutral"
    status, _, err = run(capsys, "eval", "--onnx", model, "--test", texts, "--label-map", labels)
    assert status == 1
    assert "--label-map makes 'contradiction' of none of them" in err
    one = tmp_path / "one.csv"
    pacsv.write_csv(pacsv.read_csv(texts).slice(0, 1), one)
    out = tmp_path / "out.parquet"
    status, _, err = run(capsys, "eval", "--onnx", model, "--test", one, "--out", out)
    assert status == 1
    assert "at least two labelled rows, not 1" in err
    assert not out.exists()
