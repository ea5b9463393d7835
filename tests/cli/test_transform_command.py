"""``ietest-fast transform`` as a shell would call it."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

import ietest_fast as ie
from ietest_fast.cli.main import main
from ietest_fast.transform import apply_edits, undo
from ietest_fast.transform.files import FrequentCounts
from tiny_models import make_onnx_folder
from waiting import wait_until

ROWS = [
    {"id": 1, "premise": "A child drives a car.", "hypothesis": "It rains.", "label": 0},
    {"id": 2, "premise": "The kids, in a store", "hypothesis": "An automobile!", "label": 1},
    {"id": 3, "premise": "Nothing happens.", "hypothesis": "Nobody sleeps.", "label": 2},
]


def run(capsys, *arguments) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(["transform", *map(str, arguments)])
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def write(path: Path, rows=ROWS) -> Path:
    table = pa.Table.from_pylist(rows)
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        options = pacsv.WriteOptions(
            delimiter="\t" if path.suffix == ".tsv" else ",",
            quoting_style="none" if path.suffix == ".tsv" else "needed",
        )
        if path.suffix == ".tsv":
            lines = [
                "\t".join(map(str, row)) for row in [list(rows[0]), *(r.values() for r in rows)]
            ]
            path.write_text("\n".join(lines) + "\n")
        else:
            pacsv.write_csv(table, path, options)
    return path


def read(path: Path) -> list[dict]:
    from ietest_fast.corpus import open_batches

    with open_batches(path) as reader:
        return [row for batch in reader for row in batch.to_pylist()]


# The published tagger need not be installed.
PAPER = ("--phi", "syn.paper:tagger=packaged")


def test_paper_rules_use_the_published_tagger_as_a_run_does(tmp_path, capsys, monkeypatch):
    from ietest_fast.errors import ResourceError
    from ietest_fast.lexicon import pipelines

    def find(name):
        raise ResourceError(f"looked for {name}")

    monkeypatch.setattr(pipelines, "find_folder", find)
    source = write(tmp_path / "in.csv")
    arguments = [source, tmp_path / "out.csv", "--lexicon-from", source]
    status, _, err = run(capsys, *arguments, "--phi", "syn.paper")
    assert (status, err) == (1, "Error: looked for en_core_web_sm\n")
    assert run(capsys, *arguments, "--phi", "syn.careful")[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".tsv", ".jsonl"])
@pytest.mark.parametrize("rules", ["careful", "paper"])
def test_every_format(tmp_path, capsys, suffix, rules):
    source = write(tmp_path / f"in{suffix}")
    target = tmp_path / f"out{suffix}"
    status, out, err = run(
        capsys,
        source,
        target,
        *("--phi", f"syn.{rules}:tagger=packaged", "--lexicon-from", source, "--json"),
    )
    facts = json.loads(out)
    assert (status, err) == (0, "".join(f"Warning: {line}.\n" for line in facts["warnings"]))
    assert len(facts["warnings"]) == (rules == "paper")  # there is no block list
    assert facts["n_rows"] == 3
    assert facts["transformation"]["name"] == f"syn.{rules}"
    assert facts["transformation"]["options"]["tagger"] == "packaged"
    assert facts["n_changed"] == (2 if rules == "careful" else 3)
    rows = read(target)
    assert [str(row["id"]) for row in rows] == ["1", "2", "3"]
    assert [str(row["label"]) for row in rows] == ["0", "1", "2"]
    if rules == "careful":
        assert rows[0]["premise"] == "A kid drives an automobile."
    else:
        assert rows[0]["hypothesis"] == "it rains"
    assert sorted(p.name for p in tmp_path.iterdir()) == [source.name, target.name]


@pytest.mark.slow
def test_block_list_of_words_that_are_not_there(tmp_path, capsys):
    source, block_list = write(tmp_path / "in.csv"), tmp_path / "block.txt"
    told = {}
    for words in ("zebra\ngnu\n", "zebra\nCHILD\n"):
        block_list.write_text(words)
        arguments = [source, tmp_path / "out.csv", "--phi", f"syn.careful:block_list={block_list}"]
        status, _, told[words] = run(capsys, *arguments)
        assert status == 0
    first, second = told.values()
    assert first.startswith("Warning: none of the 2 words of the block list is a reviewed word, so")
    assert not second


@pytest.mark.slow
def test_edits_file_undoes_the_output(tmp_path, capsys):
    # Several batches: rows of edits count on from batch to batch.
    rows = [dict(row, id=i) for i, row in enumerate(ROWS * 30_000)]
    source = write(tmp_path / "in.parquet", rows)
    target, edits_path = tmp_path / "out.parquet", tmp_path / "edits.parquet"
    arguments = ["--lexicon-from", write(tmp_path / "train.csv"), "--edits", edits_path]
    status, out, _ = run(capsys, source, target, *arguments, *PAPER, "--json")
    assert status == 0
    old, new, edits = pq.read_table(source), pq.read_table(target), pq.read_table(edits_path)
    changed = new["changed"].to_pylist()
    new = new.drop_columns(["changed"])
    assert new.schema == old.schema
    texts = ["premise", "hypothesis"]
    before, after = (table.select(texts).to_pylist() for table in (old, new))
    assert changed == [a != b for a, b in zip(before, after, strict=True)]
    assert undo(new, edits).equals(old)
    assert apply_edits(old, edits).equals(new)
    assert sum(json.loads(out)["n_edits"].values()) == len(edits)


def test_the_summary_says_what_happened(tmp_path, capsys):
    source = write(tmp_path / "in.csv")
    status, out, _ = run(capsys, source, tmp_path / "out.csv", "--lexicon-from", source)
    assert status == 0
    assert "3 rows, 2 changed (66.7%)" in out
    assert "child -> kid" in out
    assert "article" in out


def test_block_list_and_columns(tmp_path, capsys):
    source = write(
        tmp_path / "in.jsonl", [{"premise": ROWS[0]["premise"], "hypothesis": "A child."}]
    )
    block = tmp_path / "block.csv"
    block.write_text("car,\n\n")
    target = tmp_path / "out.jsonl"
    options = [
        "--lexicon-from",
        source,
        "--phi",
        f"syn.careful:block_list={block}",
        "--text-columns",
        "premise",
    ]
    assert run(capsys, source, target, *options)[0] == 0
    rows = read(target)
    assert rows[0]["premise"] == "A kid drives a car."
    assert rows[0]["hypothesis"] == "A child."


SCENES = [
    {"premise": "A man is sitting on a large rock.", "hypothesis": "A person is outside."},
    {"premise": "Two women are talking.", "hypothesis": "Children play on a couch."},
]


def test_parts_of_speech_and_pairs_beyond_wordnet(tmp_path, capsys):
    source = write(tmp_path / "in.jsonl", SCENES)
    made = {}
    for name, options in {
        "all": (),
        "adj": ("--pos", "adj"),
        "wordnet": ("--wordnet-only",),
        "phi": ("--phi", "syn.careful:pos=adj"),
    }.items():
        target = tmp_path / f"{name}.jsonl"
        assert run(capsys, source, target, *options)[0] == 0
        made[name] = [(row["premise"], row["hypothesis"]) for row in read(target)]
    assert made["all"][0] == ("A guy is seated on a big rock.", "An individual is outdoors.")
    assert made["adj"][0][0] == "A man is sitting on a big rock."
    assert "person" in made["adj"][0][1]
    assert made["phi"] == made["adj"]
    assert "seated" not in made["wordnet"][0][0]
    assert made["wordnet"][0][1] == "An individual is outside."


def test_a_model_judges_replacements(tmp_path, capsys):
    source, target = write(tmp_path / "in.jsonl", SCENES), tmp_path / "out.jsonl"
    folder = tmp_path / "encoder"
    make_onnx_folder(folder, labels=tuple("abcd"), rank=3, each_token="last_hidden_state")
    status, out, _ = run(capsys, source, target, "--sense-check", folder, "--json")
    assert status == 0
    options = json.loads(out)["transformation"]["options"]
    assert options["sense_check"].startswith("encoder@")
    assert options["sense_least"] == 0.6
    phi = f"syn.careful:sense_check={folder},sense_least=1.5"
    status, _, err = run(capsys, source, target, "--phi", phi)
    assert status != 0
    assert "1.5 is no cosine, which lies between -1 and 1" in err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--pos", "noun,pronoun"), "is not some of noun, adj, adv, verb"),
        (("--sense-check", "absent"), "absent: there is no such file or folder"),
        (("--phi", "identity", "--pos", "noun"), "identity has no option pos"),
        (("--phi", "syn.paper", "--wordnet-only"), "syn.paper has no option wordnet_only"),
        (("--phi", "syn.careful:pos=adj", "--pos", "noun"), "syn.careful: pos is given twice"),
    ],
)
def test_options_of_words_that_do_not_fit(tmp_path, capsys, options, said):
    source = write(tmp_path / "in.jsonl", SCENES)
    status, _, err = run(capsys, source, tmp_path / "out.jsonl", *options)
    assert status in {1, 2}
    assert said in err
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.slow
def test_threads_make_no_difference(tmp_path, capsys):
    source = write(tmp_path / "in.parquet")
    for n in (1, 2):
        out = tmp_path / f"out{n}.parquet"
        assert run(capsys, source, out, "--lexicon-from", source, "--threads", n)[0] == 0
    assert pq.read_table(tmp_path / "out1.parquet").equals(pq.read_table(tmp_path / "out2.parquet"))


def _empty(path: Path) -> Path:
    path.write_bytes(b"")
    return path


def _no_rows(path: Path) -> Path:
    pq.write_table(pa.table({"premise": pa.array([], pa.string()), "hypothesis": []}), path)
    return path


def _truncated(path: Path) -> Path:
    write(path)
    path.write_bytes(path.read_bytes()[:-20])
    return path


def _numbers(path: Path) -> Path:
    pq.write_table(pa.table({"premise": [1, 2], "hypothesis": ["a", "b"]}), path)
    return path


def _other_columns(path: Path) -> Path:
    pq.write_table(pa.table({"left": ["a"], "right": ["b"]}), path)
    return path


def _bad_utf8(path: Path) -> Path:
    path.write_bytes(b"premise,hypothesis\nabc,d\xff\xfe\n")
    return path


@pytest.mark.parametrize(
    ("make", "name", "message"),
    [
        (_empty, "in.csv", "empty"),
        (_empty, "in.parquet", "in.parquet"),
        (_no_rows, "in.parquet", "no rows"),
        (_truncated, "in.parquet", "in.parquet"),
        (_numbers, "in.parquet", "column 'premise'.*text expected"),
        (_other_columns, "in.parquet", "'left', 'right'"),
        (_bad_utf8, "in.csv", "in.csv"),
        (lambda path: path, "absent.csv", "absent.csv"),
        (lambda path: write(path.with_suffix(".csv")).rename(path), "in.xlsx", "in.xlsx"),
    ],
)
@pytest.mark.parametrize("as_train", [False, True])
def test_bad_files(  # noqa: PLR0917 - three of them are fixtures
    tmp_path, capsys, make, name, message, as_train
):
    bad, good = make(tmp_path / name), write(tmp_path / "good.jsonl")
    target, edits = tmp_path / "out.parquet", tmp_path / "edits.parquet"
    source, train = (good, bad) if as_train else (bad, good)
    status, out, err = run(capsys, source, target, "--lexicon-from", train, "--edits", edits)
    assert (status, out) == (1, "")
    assert err.startswith("Error: ")
    import re

    assert re.search(message, err)
    assert str(bad) in err
    assert "Traceback" not in err
    left = {p.name for p in tmp_path.iterdir()}
    assert left <= {bad.name, good.name}


def test_missing_column_is_named(tmp_path, capsys):
    source = write(tmp_path / "in.csv")
    status, _, err = run(
        capsys,
        source,
        tmp_path / "out.csv",
        "--lexicon-from",
        source,
        "--text-columns",
        "premise,x",
    )
    assert status == 1
    assert "in.csv, column 'x'" in err


@pytest.mark.parametrize("which", ["same", "link", "edits", "train"])
def test_no_file_is_read_and_written(tmp_path, capsys, which):
    source = write(tmp_path / "in.csv")
    train = write(tmp_path / "train.csv")
    before = source.read_bytes()
    target: Path = tmp_path / "out.csv"
    extra: list[Path | str] = []
    if which == "same":
        target = tmp_path / "." / "in.csv"
    elif which == "link":
        target.hardlink_to(source)
    elif which == "edits":
        extra = ["--edits", target]
    else:
        extra = ["--edits", train]
    status, _, err = run(capsys, source, target, "--lexicon-from", train, *extra)
    assert status == 1
    assert "would be overwritten" in err
    assert source.read_bytes() == before


@pytest.mark.parametrize("as_edits", [False, True])
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no/out.csv", "cannot be written: there is no folder '"),
        ("in.csv/out.csv", "in.csv' is a file, not a folder"),
        ("folder.csv", "is a folder, a file expected"),
        ("out.doc", "the format is not clear from the name"),
        ("out", "the format is not clear from the name"),
    ],
)
def test_a_target_that_cannot_be_written_is_told_before_anything_is_read(  # noqa: PLR0917
    tmp_path, capsys, monkeypatch, name, message, as_edits
):
    from ietest_fast.lexicon import Tagger

    monkeypatch.setattr(Tagger, "load", lambda _: pytest.fail("it went on"))
    source = write(tmp_path / "in.csv")
    (tmp_path / "folder.csv").mkdir()
    bad = tmp_path / name
    outputs = [tmp_path / "out.csv", "--edits", bad] if as_edits else [bad]
    # Nor is IN, which is not even there, or TRAIN.
    for read in (source, tmp_path / "absent.csv"):
        status, out, err = run(capsys, read, *outputs, "--lexicon-from", tmp_path / "absent.csv")
        assert (status, out) == (1, "")
        assert err.startswith(f"Error: {bad}: ")
        assert message in err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder.csv", "in.csv"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_told(tmp_path, capsys):
    source = write(tmp_path / "in.csv")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    status, _, err = run(capsys, source, closed / "out.csv", "--lexicon-from", source)
    assert status == 1
    assert f"nothing may be written in the folder '{closed}'" in err


def test_permission_is_asked_of_the_system(tmp_path, capsys, monkeypatch):
    source = write(tmp_path / "in.csv")
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)
    status, _, err = run(capsys, source, tmp_path / "out.csv", "--lexicon-from", source)
    assert status == 1
    assert f"cannot be written: nothing may be written in the folder '{tmp_path}'" in err


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("kept_by", [None, "link", "copy"])
def test_edits_are_as_they_were_if_the_output_cannot_get_its_name(
    tmp_path, capsys, monkeypatch, failure, kept_by
):
    from ietest_fast.corpus import streams

    source = write(tmp_path / "in.csv")
    target, edits = tmp_path / "out.csv", tmp_path / "edits.csv"
    give_name = streams.give_name
    published = []
    earlier = None if kept_by is None else "earlier edits"
    if earlier is not None:
        edits.write_text(earlier)
    if kept_by == "copy":  # as on file systems without links

        def refuse(*_):
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(os, "link", refuse)

    def give_unless_target(temporary, path):
        if path == target:
            assert edits.read_text() != earlier
            raise failure
        give_name(temporary, path)
        published.append(path)

    monkeypatch.setattr(streams, "give_name", give_unless_target)
    status, out, err = run(capsys, source, target, "--lexicon-from", source, "--edits", edits)
    assert published == [edits]
    assert out == ""
    if isinstance(failure, OSError):
        assert (status, err) == (1, f"Error: {target}: cannot be written: {failure.strerror}\n")
    else:
        assert (status, err) == (130, f"Interrupted. Nothing was written to {target}.\n")
    if earlier is None:
        assert [p.name for p in tmp_path.iterdir()] == ["in.csv"]
    else:
        assert sorted(p.name for p in tmp_path.iterdir()) == ["edits.csv", "in.csv"]
        assert edits.read_text() == earlier


@pytest.mark.parametrize("full", ["out.csv", "edits.csv"])
def test_a_full_disk_leaves_both_files_of_an_earlier_run(tmp_path, capsys, monkeypatch, full):
    from ietest_fast import atomic
    from ietest_fast.corpus import streams

    source = write(tmp_path / "in.csv")
    target, edits = tmp_path / "out.csv", tmp_path / "edits.csv"
    arguments = [source, target, "--lexicon-from", source, "--edits", edits]
    assert run(capsys, *arguments)[0] == 0
    before = target.read_bytes(), edits.read_bytes()

    def fill(path):
        if path.name.startswith(f".{full}"):
            raise OSError(28, "No space left on device")

    for module in (atomic, streams):
        monkeypatch.setattr(module, "sync_file", fill)
    status, _, err = run(capsys, *arguments)
    message = f"{tmp_path / full}: cannot be written: No space left on device"
    assert (status, err) == (1, f"Error: {message}\n")
    assert (target.read_bytes(), edits.read_bytes()) == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["edits.csv", "in.csv", "out.csv"]


@pytest.mark.slow
def test_ctrl_c_says_what_became_of_the_output(tmp_path, capsys, monkeypatch):
    from ietest_fast.transform import files

    source = write(tmp_path / "in.csv")
    target = tmp_path / "out.csv"
    arguments = [source, target, "--lexicon-from", source]

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(files, "_count", interrupt)
        for content in (None, "earlier"):
            if content is not None:
                target.write_text(content)
            status, out, err = run(capsys, *arguments)
            assert (status, out) == (130, "")
            assert err == f"Interrupted. Nothing was written to {target}.\n"
            assert (target.read_text() if target.exists() else None) == content
    with monkeypatch.context() as patch:
        # Between the file's name and the end of the command.
        patch.setattr(files, "FileSummary", interrupt)
        status, out, err = run(capsys, *arguments)
    assert (status, out, err) == (130, "", f"Interrupted. {target} is complete.\n")
    assert len(target.read_text().splitlines()) == 4
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.csv", "out.csv"]


@pytest.mark.slow
def test_a_broken_row_leaves_nothing(tmp_path, capsys):
    source = tmp_path / "in.jsonl"
    lines = "".join(json.dumps(row) + "\n" for row in ROWS * 100_000)
    source.write_text(lines + '{"premise": "cut off\n')
    train = write(tmp_path / "train.csv")
    status, _, err = run(capsys, source, tmp_path / "out.jsonl", "--lexicon-from", train)
    assert status == 1
    assert "in.jsonl" in err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.jsonl", "train.csv"]


def test_unknown_tagger(tmp_path, capsys):
    source = write(tmp_path / "in.csv")
    status, _, err = run(
        capsys,
        source,
        tmp_path / "o.csv",
        "--lexicon-from",
        source,
        "--phi",
        "syn.careful:tagger=no_such_pipeline",
    )
    assert status == 1
    assert "no_such_pipeline" in err


def test_usage(tmp_path, capsys):
    source = write(tmp_path / "in.csv")
    assert run(capsys, source)[0] == 2
    assert run(capsys, source, tmp_path / "o.csv", "--list")[0] == 2
    assert run(capsys, source, tmp_path / "o.csv", "--lexicon-from", source, "--threads", 0)[0] == 2


# Goes on until it is stopped: a fast machine would be ready before anybody has looked.
ENDLESS = """
import time
from ietest_fast.cli.main import main
from ietest_fast.transform import SynonymSubstitution

n_batches, transform = 0, SynonymSubstitution.transform

def transform_or_wait(*arguments, **options):
    global n_batches
    n_batches += 1
    while n_batches > 2:
        time.sleep(0.05)
    return transform(*arguments, **options)

SynonymSubstitution.transform = transform_or_wait
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "stop", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL]
)
def test_stopped_half_way_there_is_no_output(tmp_path, stop):
    source = write(tmp_path / "in.parquet", ROWS * 400_000)
    train = write(tmp_path / "train.csv")
    target, edits = tmp_path / "out.parquet", tmp_path / "edits.parquet"
    command = [sys.executable, "-c", ENDLESS, "transform"]
    command += [source, target, *PAPER, "--lexicon-from", train, "--edits", edits]
    process = subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True)
    # As soon as there is a temporary file it is writing.
    wait_until(lambda: list(tmp_path.glob(".out.parquet.*")), process)
    os.kill(process.pid, stop)
    _, err = process.communicate()
    assert process.returncode != 0
    assert "Traceback" not in err
    assert not target.exists()
    assert not edits.exists()
    if stop == signal.SIGINT:
        assert process.returncode == 130
        assert err.endswith(f"\nInterrupted. Nothing was written to {target}.\n")
    if stop != signal.SIGKILL:
        assert sorted(p.name for p in tmp_path.iterdir()) == ["in.parquet", "train.csv"]


@pytest.mark.parametrize("kept_as", ["texts", "categories"])
def test_bytes_that_are_no_utf8_are_found_before_anything_is_written(tmp_path, capsys, kept_as):
    good = pa.array(["A dog.", "A cat."])
    buffers = [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0\4\0\0\0"), pa.py_buffer(b"aa\xffb")]
    bad = pa.Array.from_buffers(pa.string(), 2, buffers)
    if kept_as == "categories":
        bad = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), bad)
    source = tmp_path / "in.parquet"
    pq.write_table(pa.table({"premise": good, "hypothesis": bad}), source)
    train = write(tmp_path / "train.csv")
    status, _, err = run(capsys, source, tmp_path / "out.parquet", "--lexicon-from", train)
    assert status == 1
    assert f"{source}, row 1, column 'hypothesis': not UTF-8: byte 0xff at offset 1" in err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.parquet", "train.csv"]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl"])
def test_a_text_too_long_to_tag_is_named(tmp_path, capsys, suffix):
    long = dict(ROWS[0], hypothesis="A dog. é" * 125_000 + "!")
    source, good = write(tmp_path / f"in{suffix}", [*ROWS, long]), write(tmp_path / "good.csv")
    target = tmp_path / "out.parquet"
    message = (
        f"Error: {source}, row 3, column 'hypothesis': the text has 1,000,001 characters, of which "
        "at most 1,000,000 can be tagged; cut it into several rows\n"
    )
    assert run(capsys, source, target, "--lexicon-from", good) == (1, "", message)
    assert run(capsys, good, target, "--lexicon-from", source) == (1, "", message)
    assert not target.exists()
    # The paper rules replace words without a tagger: of the text to change no limit is known.
    assert run(capsys, source, target, "--lexicon-from", good, *PAPER)[0] == 0
    assert len(pq.read_table(target)["hypothesis"][3].as_py()) == 6 * 125_000 - 1


def test_a_text_of_too_many_words_to_tag_is_named(tmp_path, capsys):
    """Memory follows the words and marks, not the characters."""
    long = dict(ROWS[0], hypothesis="a-" * 125_001)
    source, target = write(tmp_path / "in.csv", [*ROWS, long]), tmp_path / "out.parquet"
    status, out, err = run(capsys, source, target, "--phi", "syn.careful")
    assert (status, out) == (1, "")
    assert err.startswith(
        f"Error: {source}, row 3, column 'hypothesis': the text has about 250,002 "
    )
    assert "of which at most 250,000 can be tagged; cut it into several rows" in err


@pytest.mark.slow
def test_a_text_longer_than_what_is_read_at_a_time(tmp_path, capsys):
    long = dict(ROWS[0], hypothesis="A dog. " * 5_000_000)
    source = write(tmp_path / "in.jsonl", [*ROWS, long, ROWS[2]])
    train = write(tmp_path / "train.csv")
    target = tmp_path / "out.parquet"
    status, _, err = run(capsys, source, target, "--lexicon-from", train)
    assert status == 1
    assert "row 3, column 'hypothesis': the text has 35,000,000 characters" in err
    assert run(capsys, source, target, "--lexicon-from", train, *PAPER)[0] == 0
    assert pq.read_table(target).num_rows == 5


def test_of_many_different_substitutions_the_rare_ones_are_not_kept(tmp_path, capsys, monkeypatch):
    kept = functools.partial(FrequentCounts, 2)
    monkeypatch.setattr("ietest_fast.transform.files.FrequentCounts", kept)
    texts = ["a big car", "a big dog", "a big cat"]
    source = write(tmp_path / "in.jsonl", [{"text": text, "label": 0} for text in texts])
    mapping = tmp_path / "words.csv"
    mapping.write_text("old,new\nbig,large\ncar,auto\ndog,hound\ncat,feline\n")
    arguments = [source, tmp_path / "out.jsonl", "--phi", f"words:mapping={mapping}"]
    status, out, _ = run(capsys, *arguments)
    assert status == 0
    shown = out.splitlines()
    assert shown[-2:] == [
        "Most frequent (counts may be up to 1 too low):",
        f"  big -> large {2:>12}",
    ]
    _, out, _ = run(capsys, *arguments, "--json")
    facts = json.loads(out)
    assert facts["most_frequent"] == [{"old": "big", "new": "large", "count": 2}]
    assert facts["most_uncounted"] == 1
    assert facts["n_edits"] == {"words": 6}


def test_what_rewords_whole_texts_is_shown_shortened(tmp_path, capsys):
    source = write(tmp_path / "in.parquet")
    phi = f"negation:tautology='{'and false is not true ' * 9}'"
    status, out, _ = run(capsys, source, tmp_path / "out.parquet", "--phi", phi)
    assert status == 0
    shown = out.splitlines()[-1].split(" -> ")[1]
    assert "false is not true" in shown
    assert "…" in shown
    assert len(shown) < 80


@pytest.mark.parametrize(
    ("values", "written"),
    [
        ([2**53 + 1, 1.5], [str(2**53 + 1), "1.5"]),
        ([1.5, 7, -(2**53) - 1], ["1.5", "7", str(-(2**53) - 1)]),
        ([2**70, 2**70 + 1], [str(2**70), str(2**70 + 1)]),
        ([2**53, 1.5], [2**53, 1.5]),
        ([1e300, 1.5], [1e300, 1.5]),
        ([2**53 + 1, None], [2**53 + 1, None]),
    ],
)
def test_no_integer_is_rounded_beside_decimals(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    values: list[float | None],
    written: list[object],
) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("".join(json.dumps({**ROWS[0], "id": each}) + "\n" for each in values))
    assert run(capsys, source, target)[0] == 0
    assert [json.loads(line)["id"] for line in target.read_text().splitlines()] == written


NUMBERS = ("Tom has 3 apples.", "Tom has 5 apples.", "Tom has 8 apples.")
NAMES = ("entailment", "neutral", "contradiction")


def label_numbers(tmp_path, capsys, end=".csv", **columns) -> tuple[int, str, list[dict]]:
    """Let the transformation numerical set the labels of three rows, which have these columns."""
    rows = [
        {"premise": text, "hypothesis": "He eats."}
        | {name: own[i] for name, own in columns.items()}
        for i, text in enumerate(NUMBERS)
    ]
    source, out = write(tmp_path / f"in{end}", rows), tmp_path / f"out{end}"
    status, _, err = run(capsys, source, out, "--phi", "numerical")
    assert out.exists() == (status == 0)
    return status, err, read(out) if status == 0 else []


@pytest.mark.parametrize("end", [".csv", ".jsonl", ".parquet"])
@pytest.mark.parametrize(
    ("columns", "are_numbers"),
    [
        ({"label": (0, 1, 2), "label_text": NAMES}, False),
        ({"label": (2, 1, 0), "label_name": NAMES}, False),  # numbered in another order
        ({"label": NAMES, "gold": (0, 1, 2)}, True),
        ({"label": (0, 1, 2), "gold": (0, 1, 2)}, True),
        ({"label": NAMES, "gold": NAMES}, False),
        ({"label": (*NAMES[:2], "-"), "gold": NAMES}, False),
    ],
)
def test_new_labels_go_to_the_columns_beside_that_say_them(
    tmp_path, capsys, columns, are_numbers, end
):
    status, err, rows = label_numbers(tmp_path, capsys, end, **columns)
    assert (status, err) == (0, "")
    beside = next(name for name in columns if name != "label")
    assert {row["label"] for row in rows} == set(NAMES)
    for row in rows:
        said = NAMES.index(row["label"]) if are_numbers else row["label"]
        assert str(row[beside]) == str(said)


@pytest.mark.parametrize(
    ("columns", "name"),
    [
        ({"label": NAMES, "gold": ("neutral", "neutral", "contradiction")}, "gold"),
        ({"label": NAMES, "label_text": ("yes", "yes", "no")}, "label_text"),
        ({"label": NAMES, "gold": (2, 1, 0)}, "gold"),
        ({"label": NAMES, "gold": (*NAMES[1:], NAMES[0])}, "gold"),
        ({"label": NAMES, "gold": (0.5, 1.5, 2.5)}, "gold"),
        ({"gold": NAMES}, "gold"),
        ({"label": ("neutral",) * 3, "gold": ("entailment",) * 3}, "gold"),
        ({"label": ("neutral",) * 3, "label_text": ("contradict",) * 3}, "label_text"),
    ],
)
def test_a_column_that_would_contradict_new_labels_is_refused(tmp_path, capsys, columns, name):
    status, err, _ = label_numbers(tmp_path, capsys, **columns)
    assert status == 1
    assert f"in.csv, column '{name}': " in err
    assert "drop" in err


@pytest.mark.parametrize("columns", [{"label": NAMES, "source": ("a", "b", "c")}, {}])
def test_other_columns_beside_new_labels_are_copied(tmp_path, capsys, columns):
    status, err, rows = label_numbers(tmp_path, capsys, **columns)
    assert (status, err) == (0, "")
    assert {row.get("source") for row in rows} == set(columns.get("source", [None]))


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"y_true": (0, 1, 2)}, "the column stays as before: y_true;"),
        ({"Target": NAMES, "label1": NAMES}, "the columns stay as before: Target, label1;"),
        ({"correct_answer": NAMES}, "the column stays as before: correct_answer;"),
        ({"gold": NAMES}, None),
        ({"source": NAMES}, None),
    ],
)
def test_columns_that_may_still_say_the_old_labels_are_told(tmp_path, capsys, columns, said):
    status, err, _ = label_numbers(tmp_path, capsys, label=NAMES, **columns)
    assert status == 0
    assert (said in err) if said else not err
    table = {"premise": NUMBERS, "hypothesis": ["He eats."] * 3, "label": NAMES, **columns}
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        ie.transform({k: list(v) for k, v in table.items()}, "numerical")
    assert [said in str(each.message) for each in found] == [True] * bool(said)


@pytest.mark.parametrize(
    ("column", "values", "is_told"),
    [
        ("y", [*NAMES] * 4, True),
        ("Klasse", [2, 0, 1] * 4, True),
        ("y", ["entailment", *NAMES[1:], *[*NAMES] * 3], True),  # but for a row
        ("y", [*NAMES[:2], None, *[*NAMES] * 3], True),
        ("y", [NAMES[0], NAMES[0], *NAMES[2:]] * 4, False),
        ("genre", ["a", "b"] * 6, False),
        ("remark", [f"text {i}" for i in range(12)], False),
        ("words", [["a", "b"]] * 12, False),
    ],
)
@pytest.mark.parametrize("form", ["memory", "parquet", "jsonl"])
def test_columns_that_hold_the_old_labels_are_told_whatever_their_name(
    tmp_path, capsys, *, column, values, is_told, form
):
    table = {"premise": [*NUMBERS] * 4, "hypothesis": ["He eats."] * 12, "label": [*NAMES] * 4}
    frame = pa.table(table | {column: values})
    path = tmp_path / f"in.{form}"
    if form == "parquet":
        pq.write_table(frame, path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in frame.to_pylist()))
    if form == "memory":
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            ie.transform(frame, "numerical")
        said = [str(each.message) for each in found]
    else:
        _, _, err = run(capsys, path, tmp_path / f"out.{form}", "--phi", "numerical")
        said = err.splitlines()
    told = [each for each in said if "stays as before" in each]
    assert len(told) == is_told
    assert all(f"stays as before: {column};" in each for each in told)
