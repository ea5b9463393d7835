"""Readers of logs: real ones of lm-evaluation-harness and Inspect, HELM's format, tables."""

from __future__ import annotations

import codecs
import contextlib
import json
import shutil
import struct
import zipfile
from pathlib import Path

import pytest

from ietest_fast.answers.logs import read_logs
from ietest_fast.answers.measurements import read_measurements
from ietest_fast.answers.readers import READERS, find_reader
from ietest_fast.errors import InputError

LOGS = Path(__file__).parents[2] / "data" / "logs"


def counts(*paths: Path, **options: object) -> list[int]:
    predictions = read_logs(paths, **options).predictions
    found = predictions.pairs(predictions.versions[1]).sample.counts
    return [found.n11, found.n10, found.n01, found.n00]


def edited(source: Path, target: Path, **changes: object) -> Path:
    """A JSONL log with some keys of every sample changed, by functions of the sample."""
    lines = [json.loads(line) for line in source.read_text().splitlines()]
    for line in lines:
        for name, change in changes.items():
            line[name] = change(line)
    target.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return target


@pytest.mark.parametrize(
    ("name", "reader"),
    [
        ("samples_nli_original.jsonl", "lm-eval"),
        ("samples_nli_said_original.jsonl", "lm-eval"),
        ("inspect_original.eval", "inspect"),
        ("inspect_original.json", "inspect"),
        ("scenario_state.json", "helm"),
    ],
)
def test_formats_are_told_by_content(name: str, reader: str, tmp_path: Path) -> None:
    other = tmp_path / "log.txt"
    shutil.copy(LOGS / name, other)
    assert find_reader(other)[0] == reader


@pytest.mark.parametrize(
    "name", ["samples_nli_{}.jsonl", "samples_nli_said_{}.jsonl", "inspect_{}.eval"]
)
def test_logs_of_two_versions_are_what_the_harness_counted(name: str) -> None:
    """The harnesses themselves printed 29 and 18 right answers of 30."""
    paths = [LOGS / name.format(version) for version in ("original", "rephrased")]
    assert counts(*paths) == [18, 11, 0, 1]
    read = read_logs(paths)
    assert read.predictions.versions == ("original", "transformed")
    assert any("The logs are versions of the same items" in note for note in read.notes)


def test_one_json_of_inspect_is_read_like_its_zip() -> None:
    paths = [LOGS / f"inspect_{version}.json" for version in ("original", "rephrased")]
    assert counts(*paths) == [4, 4, 0, 0]  # of the first eight items


def test_choices_have_names_and_probabilities() -> None:
    paths = [LOGS / f"samples_nli_{version}.jsonl" for version in ("original", "rephrased")]
    predictions = read_logs(paths).predictions
    assert predictions.label_names == ("True", "Neither", "False")
    first = predictions.table.slice(0, 1).to_pylist()[0]
    assert (first["gold"], first["predicted"]) == ("True", "True")
    assert first["probabilities"] == pytest.approx([0.742, 0.129, 0.129], abs=1e-3)


@pytest.mark.parametrize("name", ["samples_nli_said_{}.jsonl", "inspect_{}.eval"])
def test_answers_that_cannot_be_parsed_are_wrong_left_out_or_refused(name: str) -> None:
    paths = [LOGS / name.format(version) for version in ("original", "rephrased")]
    read = read_logs(paths)
    assert "Answers to 4 of 30 items could not be parsed; they count as wrong" in read.notes[-1]
    dropped = read_logs(paths, unparsed="drop").predictions
    assert dropped.dropped == {"answer not parsed": 4}
    assert len(dropped.pairs("transformed")) == 26
    with pytest.raises(InputError, match="4 answers could not be parsed, the first that to item"):
        read_logs(paths, unparsed="error")


def test_the_same_texts_twice_are_two_classifiers() -> None:
    paths = [LOGS / f"samples_nli{which}_original.jsonl" for which in ("", "_said")]
    read = read_logs(paths)
    assert read.predictions.versions == ("original",)
    assert [group["model"] for group in read.predictions.groups] == [path.stem for path in paths]
    assert "The logs are of 2 classifiers on the same items" in read.notes[0]
    versions = read_logs(paths, logs_are="versions").predictions
    assert versions.versions == ("original", "transformed")


def test_fields_are_addressed_by_dots_and_lists_of_one_are_values(tmp_path: Path) -> None:
    paths = [LOGS / f"samples_nli_said_{version}.jsonl" for version in ("original", "rephrased")]
    fields = {"columns": ["filtered_resps"], "gold_column": "doc.answer", "unparsed": "wrong"}
    assert counts(*paths, **fields) == [18, 11, 0, 1]
    table = [
        edited(path, tmp_path / path.name, doc_id=lambda line: line["doc"]["id"]) for path in paths
    ]
    assert counts(*table, **fields, reader="table", id_column="doc.id") == [18, 11, 0, 1]
    with pytest.raises(InputError, match=r"row 2, column 'filtered_resps': unknown label"):
        counts(*table, **(fields | {"unparsed": None}), reader="table")
    kept = read_logs(paths, keep_columns=["doc.genre"]).predictions
    assert kept.pairs("transformed").column("doc.genre").to_pylist()[:4] == [
        *["couch"] * 3,
        "street",
    ]


def test_filters_and_metrics_are_chosen_and_said(tmp_path: Path) -> None:
    paths = []
    for version in ("original", "rephrased"):
        strict = (LOGS / f"samples_nli_said_{version}.jsonl").read_text()
        path = tmp_path / f"{version}.jsonl"
        path.write_text(strict + strict.replace("strict-match", "flexible"))
        paths.append(path)
    read = read_logs(paths)
    assert read.notes[0] == (
        "The answers of the filter 'strict-match' are compared; --filter chooses another "
        "(flexible)."
    )
    assert counts(*paths, filter="flexible") == [18, 11, 0, 1]
    with pytest.raises(InputError, match="has no filter 'x'; it has strict-match, flexible"):
        read_logs(paths, filter="x")
    with pytest.raises(InputError, match="has no 'f1'; its metrics are exact_match"):
        read_logs(paths, correct_columns=["f1"])


def test_a_mark_of_the_encoding_does_not_make_a_log_a_table(tmp_path: Path) -> None:
    first, second = (LOGS / f"samples_nli_said_{v}.jsonl" for v in ("original", "rephrased"))
    marked = tmp_path / "marked.jsonl"
    marked.write_bytes(codecs.BOM_UTF8 + second.read_bytes())
    assert counts(first, marked) == counts(first, second)


def test_items_that_are_not_the_same_are_refused(tmp_path: Path) -> None:
    first, second = (LOGS / f"samples_nli_said_{v}.jsonl" for v in ("original", "rephrased"))
    moved = tmp_path / "moved.jsonl"
    moved.write_text("".join(f"{line}\n" for line in second.read_text().splitlines()[::-1]))
    assert counts(first, moved) == [18, 11, 0, 1]
    # The same numbers of documents, for other documents.
    swapped = edited(
        second, tmp_path / "swapped.jsonl", doc_id=lambda line: (line["doc_id"] + 3) % 30
    )
    with pytest.raises(InputError, match=r"column 'doc.id': names the rows otherwise than in"):
        read_logs([first, swapped])
    assert counts(first, swapped, id_column="doc.id") == [18, 11, 0, 1]
    # Nothing is called like an id, but a text is in both logs.
    asked = [
        edited(path, tmp_path / f"p{i}.jsonl", doc=lambda line: {"premise": line["doc"]["id"]})
        for i, path in enumerate((first, swapped))
    ]
    with pytest.raises(InputError, match=r"'doc.premise': names .* matched by their ids; --id-col"):
        read_logs(asked)
    nameless = [
        edited(path, tmp_path / f"n{i}.jsonl", doc=lambda line: {})
        for i, path in enumerate((first, swapped))
    ]
    shifted = edited(
        nameless[1], tmp_path / "s.jsonl", doc_id=lambda line: (line["doc_id"] + 1) % 30
    )
    with pytest.raises(InputError, match=r"has the right answer .* are these the same items"):
        read_logs([nameless[0], shifted])
    short = tmp_path / "short.jsonl"
    short.write_text("\n".join(second.read_text().splitlines()[:-1]) + "\n")
    with pytest.raises(InputError, match="'29' stands in one file only"):
        read_logs([first, short])


def test_helm_has_its_perturbations_as_versions() -> None:
    read = read_logs([LOGS / "scenario_state.json"])
    predictions = read.predictions
    assert predictions.versions == ("original", "typos:prob=0.1")
    pairs = predictions.pairs("typos:prob=0.1")
    assert pairs.items.to_pylist() == ["id0", "id1", "id2"]
    assert pairs.sample.original_correct.tolist() == [True, True, False]
    assert pairs.sample.transformed_correct.tolist() == [True, False, False]
    assert predictions.table["predicted"].to_pylist()[0] == "entailment"


@pytest.mark.parametrize(("success", "n"), [(False, 2), (True, 0), (None, 0)])
def test_failed_requests_of_helm_have_no_answer(
    success: bool | None, n: int, tmp_path: Path
) -> None:
    state = json.loads((LOGS / "scenario_state.json").read_text())
    for place in (0, -1):  # of two versions
        state["request_states"][place]["result"]["success"] = success
    path = tmp_path / "scenario_state.json"
    path.write_text(json.dumps(state))
    read = read_logs([path])
    said = [note for note in read.notes if "failed" in note]
    if n:
        assert said == [
            f"Warning: {path}: 2 requests failed, by result.success; they have no answer."
        ]
    else:
        assert said == []
    # As where there are no completions at all.
    assert sum(read.predictions.dropped.values()) == n
    assert len(read.predictions.pairs("typos:prob=0.1").items) == 3 - n


def test_damaged_logs_are_explained(tmp_path: Path) -> None:
    whole = (LOGS / "inspect_original.eval").read_bytes()
    place = len(whole) // 2
    path = tmp_path / "cut.eval"
    path.write_bytes(whole[:place])
    with pytest.raises(InputError, match="is no whole zip archive"):
        read_logs([path, path])
    for at in range(200, 60_000, 7919):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        with contextlib.suppress(InputError):
            read_logs([path, LOGS / "inspect_rephrased.eval"])
    path = tmp_path / "x.json"
    path.write_text((LOGS / "inspect_original.json").read_text()[:-9])
    with pytest.raises(InputError, match="is not JSON"):
        read_logs([path, path])
    (tmp_path / "y.bin").write_bytes(b"\x00\x01\x02\x03something")
    with pytest.raises(InputError, match=r"is of no known format\. --reader names one"):
        read_logs([tmp_path / "y.bin"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"instance": {"references": [{"tags": None}]}}, "no reference that is tagged as correct"),
        ({"instance": {"references": 3}}, "no reference that is tagged as correct"),
        ({"result": {"completions": ["x"]}}, "a completion of instance 'id0' is 'x'; an object"),
    ],
)
def test_damaged_states_of_helm_are_explained(
    change: dict[str, dict[str, object]], message: str, tmp_path: Path
) -> None:
    state = json.loads((LOGS / "scenario_state.json").read_text())
    for part, fields in change.items():
        state["request_states"][0][part] |= fields
    path = tmp_path / "scenario_state.json"
    path.write_text(json.dumps(state))
    with pytest.raises(InputError, match=message):
        read_logs([path])


def test_scores_that_are_no_object_are_explained(tmp_path: Path) -> None:
    log = json.loads((LOGS / "inspect_original.json").read_text())
    log["samples"][0]["scores"] = ["a"]
    path = tmp_path / "x.json"
    path.write_text(json.dumps(log))
    with pytest.raises(InputError, match=r"the scores of sample .* are \[\"a\"\]; an object"):
        read_logs([path, path])


def patched(path: Path, **fields: tuple[int, str, int]) -> Path:
    """Make a log of Inspect whose directory says other things of its first sample."""
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("header.json", "samples/1.json"):
            archive.writestr(name, json.dumps({"eval": {}, "id": 1}))
    data = bytearray(path.read_bytes())
    entry = data.rindex(b"PK\x01\x02")
    for at, form, value in fields.values():
        struct.pack_into(form, data, entry + at, value)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    "fields",
    [
        {"flags": (8, "<H", 1)},  # encrypted
        {"method": (10, "<H", 77)},
        {"method": (10, "<H", 93), "offset": (42, "<I", 1 << 20)},  # beyond the end
    ],
)
def test_damaged_members_of_an_archive_are_explained(
    fields: dict[str, tuple[int, str, int]], tmp_path: Path
) -> None:
    path = patched(tmp_path / "x.eval", **fields)
    with pytest.raises(InputError, match="is a damaged log of Inspect"):
        read_logs([path, path])


def test_a_reader_of_another_package_needs_no_change_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "their_reader.py").write_text(
        "import pyarrow as pa\n"
        "from ietest_fast.answers.readers import Log\n"
        "class Pluses:\n"
        "    summary = 'a line of + and - for each version'\n"
        "    def recognises(self, start):\n"
        "        return set(start.head.strip()) <= set(b'+-\\n')\n"
        "    def read(self, path, fields):\n"
        "        return [\n"
        "            Log(path=path, name=name, version=name,\n"
        "                    correct=pa.array([sign == '+' for sign in line]))\n"
        "            for name, line in zip(('original', 'voice'), path.read_text().split())\n"
        "        ]\n"
    )
    info = tmp_path / "their_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[ietest_fast.readers]\npluses = their_reader:Pluses\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert READERS.names()[-1] == "pluses"
    log = tmp_path / "run.log"
    log.write_text("+++-\n+--+\n")
    predictions = read_logs([log]).predictions
    assert predictions.versions == ("original", "voice")
    found = predictions.pairs("voice").sample.counts
    assert (found.n11, found.n10, found.n01, found.n00) == (1, 2, 1, 0)
    assert find_reader(log, "pluses")[0] == "pluses"


def test_things_that_are_no_readers_are_not_called() -> None:
    with pytest.raises(InputError, match="no class of readers"):
        find_reader(LOGS / "inspect_original.eval", "os:system")


def write(path: Path, text: str) -> Path:
    path.write_text(text.replace(" ", ""))
    return path


def test_long_tables_hold_versions_and_classifiers(tmp_path: Path) -> None:
    path = write(
        tmp_path / "long.csv",
        "item,version,model,gold,predicted\n"
        + "".join(
            f"{item},{version},{model},{item % 2},{predicted}\n"
            for model, wrong in (("a", 1), ("b", 2))
            for version in ("original", "voice", "typos")
            for item in range(4)
            for predicted in [(item + (version == "voice" and item < wrong)) % 2]
        ),
    )
    predictions = read_logs([path]).predictions
    assert predictions.versions == ("original", "voice", "typos")
    assert predictions.groups == ({"model": "a"}, {"model": "b"})
    assert predictions.pairs("voice", model="b").sample.counts.n10 == 2
    predictions.write(tmp_path / "long.parquet")
    again = read_logs([tmp_path / "long.parquet"]).predictions
    assert again.pairs("voice", model="b").sample.counts.n10 == 2


def test_columns_of_outcomes_are_found_or_named(tmp_path: Path) -> None:
    path = write(tmp_path / "o.csv", "original_correct,transformed_correct\n1,0\n1,1\n0,0\n")
    assert counts(path) == [1, 1, 0, 1]
    path = write(tmp_path / "n.csv", "a,b\n1.0,0.0\ntrue,false\n0,1\n")
    assert counts(path, correct_columns=["a", "b"]) == [0, 2, 1, 0]
    path = write(tmp_path / "y.csv", "a,b\nyes,1.00\nno,0\nF,1e0\nright,wrong\n")
    assert counts(path, correct_columns=["a", "b"]) == [1, 1, 1, 1]
    measured = read_measurements(path, ["a", "b"])
    assert measured.columns["a"].tolist() == [True, False, False, True]
    with pytest.raises(InputError, match="row 1, column 'a': 'x' is no outcome"):
        counts(write(tmp_path / "x.csv", "a,b\n1,0\nx,1\n"), correct_columns=["a", "b"])
    with pytest.raises(InputError, match="row 1, column 'a': an outcome is missing"):
        counts(write(tmp_path / "m.csv", "a,b\n1,0\n,1\n"), correct_columns=["a", "b"])


def test_kept_columns_cannot_take_the_place_of_the_schemas(tmp_path: Path) -> None:
    rows = "".join(f"{i % 2},{i % 2},{i // 4 % 2},s{i},{i % 3}\n" for i in range(8))
    path = write(tmp_path / "w.csv", f"label,original,transformed,item,correct\n{rows}")
    for name in ("item", "correct"):
        with pytest.raises(InputError, match=f"column '{name}': cannot be kept or tell clusters"):
            read_logs([path], keep_columns=[name])
    kept = read_logs([path], id_column="item", keep_columns=["item"]).predictions
    assert kept.pairs("transformed").items.to_pylist()[:2] == ["s0", "s1"]


def test_correctness_is_not_taken_for_labels(tmp_path: Path) -> None:
    """Finding 2: 1.0 and 0.0 beside gold labels by name became neutral and entailment."""
    paths = []
    for name, right in (("a", [1.0, 1.0, 0.0]), ("b", [1.0, 0.0, 0.0])):
        path = tmp_path / f"{name}.jsonl"
        rows = zip(("entailment", "neutral", "neutral"), right, strict=True)
        path.write_text(
            "".join(json.dumps({"target": t, "exact_match": r}) + "\n" for t, r in rows)
        )
        paths.append(path)
    with pytest.raises(InputError, match=r"holds numbers \(0, 1\), but gold labels are names"):
        counts(*paths, gold_column="target", columns=["exact_match"])
    assert counts(*paths, correct_columns=["exact_match"]) == [1, 1, 0, 1]
    names = ["entailment", "neutral", "contradiction"]
    numbered = {"gold_column": "target", "columns": ["exact_match"], "label_names": names}
    assert counts(*paths, **numbered) == [0, 1, 0, 2]


def test_a_shared_id_in_another_order_stops(tmp_path: Path) -> None:
    """Finding 3: rows were matched by their order in silence."""
    a = write(tmp_path / "a.csv", "id,label,prediction\n1,0,0\n2,1,1\n3,1,0\n")
    b = write(tmp_path / "b.csv", "id,label,prediction\n3,1,0\n1,0,0\n2,1,1\n")
    with pytest.raises(InputError, match=r"row 0, column 'id': .*--id-column id matches by it"):
        counts(a, b)
    assert counts(a, b, id_column="id") == [2, 0, 0, 1]
    # Names that have nothing to do with each other say nothing.
    other = "id,prediction\nx3,0\nx1,1\nx2,0\n"
    assert counts(a, write(tmp_path / "d.csv", other)) == [2, 0, 0, 1]


def test_labels_written_as_floats_are_integers(tmp_path: Path) -> None:
    """Finding 38."""
    path = write(
        tmp_path / "f.csv", "label,original,transformed\n0.0,0,0\n1.0,1,1\n2.0,2,0\n-1.0,0,1\n"
    )
    read = read_logs([path]).predictions
    assert read.dropped == {"no gold label": 1}
    assert counts(path) == [2, 1, 0, 0]
    lines = [
        {"label": gold, "original": said, "transformed": said}
        for gold, said in (("0.0", 0), ("1.0", 1), ("2.0", 2), ("-1.0", 0))
    ]
    path = tmp_path / "f.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert counts(path) == [3, 0, 0, 0]


def test_a_number_that_no_gold_label_reaches_is_no_label(tmp_path: Path) -> None:
    """Finding 39."""
    path = write(tmp_path / "p.csv", "label,original,transformed\n0,0,0\n1,1,1\n2,2,7\n")
    with pytest.raises(InputError, match=r"row 2, column 'transformed': unknown label '7'"):
        counts(path)
    assert counts(path, unparsed="wrong") == [2, 1, 0, 0]


def test_gold_labels_that_disagree_stop(tmp_path: Path) -> None:
    a = write(tmp_path / "a.csv", "label,prediction\na,a\nb,b\n")
    b = write(tmp_path / "b.csv", "label,prediction\nb,a\na,b\n")
    with pytest.raises(
        InputError, match="row 0, column 'label': the gold label is 'b', and 'a' in"
    ):
        counts(a, b)
