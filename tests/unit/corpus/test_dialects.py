"""CSV and TSV as other programs write them: separators, escapes, quotes that break the rules."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import re
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.command_line import run_here

from ietest_fast.corpus import open_batches, read_corpus, reading_csv
from ietest_fast.corpus.dialects import Dialect, QuoteCheck, parse_dialect
from ietest_fast.errors import IetestWarning, InputError

TEXTS = ["It rains.", 'He said "no", and "yes"', "a;b|c\td", "two\nlines", "a\\b", '"']
LABELS = ["pos", "neg"] * 3


def read_both(path: Path) -> list[list[str]]:
    """Return the texts and labels of a file by the two ways in which files are read."""
    corpus = read_corpus(path)
    names = [corpus.label_names[code] for code in corpus.labels]
    own = [corpus.texts(0).to_pylist(), names]
    with open_batches(path, columns=["text", "label"]) as batches:
        table = pa.Table.from_batches(list(batches), batches.schema)
    assert [table["text"].to_pylist(), table["label"].to_pylist()] == own
    return own


def write(path: Path, texts: list[str], labels: list[str], *, before: str = "", **dialect) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(before)
        writer = csv.writer(file, **dialect)
        writer.writerows([("text", "label"), *zip(texts, labels, strict=True)])
    return path


@pytest.mark.parametrize(
    ("name", "before", "dialect", "habits"),
    [
        ("a.csv", "", {}, None),
        ("a.csv", "", {"delimiter": ";"}, None),
        ("a.csv", "", {"delimiter": "|", "quoting": csv.QUOTE_ALL}, None),
        ("a.csv", "", {"delimiter": "\t"}, None),
        ("a.csv", "sep=;\n", {"delimiter": ";"}, None),
        ("a.csv", "sep=^\r\n", {"delimiter": "^"}, None),
        ("a.csv", "\ufeffsep=\t\n", {"delimiter": "\t"}, None),
        ("a.csv", "\ufeff", {"quoting": csv.QUOTE_ALL}, None),
        ("a.csv", "", {"delimiter": ":"}, "delimiter=:"),
        ("a.csv", "", {"escapechar": "\\", "doublequote": False}, "escape=\\"),
        ("a.csv", "", {"escapechar": "\\", "doublequote": False, "delimiter": "|"}, "escape=\\"),
        ("a.csv", "", {"escapechar": "%", "doublequote": False}, "escape=%"),
        ("a.tsv", "", {"delimiter": "\t"}, "quoted"),
        ("a.txt", "", {"delimiter": ","}, "quoted,delimiter=comma"),
        ("a.tsv", "sep=|\n", {"delimiter": "|"}, "quoted"),
    ],
)
def test_what_other_programs_write_is_read_as_it_was(
    tmp_path: Path, name: str, before: str, dialect: dict[str, object], habits: str | None
) -> None:
    path = write(tmp_path / name, TEXTS, LABELS, before=before, **dialect)
    with reading_csv(habits):
        assert read_both(path) == [TEXTS, LABELS]


@pytest.mark.slow
def test_every_row_of_a_longer_file_is_looked_at(tmp_path: Path) -> None:
    # More than the 4 MiB that are looked at at a time, the mistake in the last line.
    texts = [f'{n} "so" it, {"x" * 200}' for n in range(40_000)]
    path = write(tmp_path / "a.csv", texts, ["pos", "neg"] * 20_000)
    assert read_both(path) == [texts, ["pos", "neg"] * 20_000]
    with path.open("a") as file:
        file.write('"it \\"rains\\"",pos\r\n')
    for read in (read_corpus, lambda path: list(open_batches(path))):
        with pytest.raises(InputError, match=r"line 40002, column 'text': behind a closing quote"):
            read(path)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('5" tall,pos\n', '5" tall'),
        ('a "b" c,pos\n', 'a "b" c'),
        (' "a",pos\n', ' "a"'),
        ('"a ""b"", ""c""",pos\n', 'a "b", "c"'),
        ('""",",pos\n', '",'),
        ('"\\",pos\n', "\\"),
    ],
)
def test_quotes_that_follow_the_rules_are_taken(tmp_path: Path, line: str, expected: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f'text,label\n{line}"b",neg\n')
    assert read_both(path)[0] == [expected, "b"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('"a \\"b\\" c",pos', r"'text': behind a closing quote.*--csv 'escape=\\'"),
        ('"a\\"",pos', r"'text': behind a closing quote|'text': a quote is left open"),
        ('"\\"a\\"",pos', r"'text': behind a closing quote.*--csv 'escape=\\'"),
        ('"a" b,pos', r"'text': behind a closing quote.*is written twice"),
        ('a,"pos" ', r"'label': behind a closing quote"),
        ('"a""" b,pos', r"'text': behind a closing quote"),
        ('a,"pos', r"'label': a quote is left open"),
    ],
)
def test_quotes_that_break_the_rules_are_said(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f'text,label\n"two\nlines",neg\n{line}\nd,neg\n')
    with pytest.raises(InputError, match=rf"line 4, column {problem}"):
        read_corpus(path)
    with pytest.raises(InputError, match=rf"line 4, column {problem}"), open_batches(path) as read:
        list(read)


def is_regular(data: bytes, size: int) -> bool:
    check = QuoteCheck(",")
    for place in range(0, len(data), size):
        check.feed(data[place : place + size])
    check.feed(b"", is_last=True)
    return check.is_regular


@given(st.lists(st.lists(st.text('a,"\n\\ ', max_size=6), min_size=1, max_size=3), max_size=5))
def test_what_a_writer_writes_is_regular(rows: list[list[str]]) -> None:
    file = io.StringIO(newline="")
    csv.writer(file).writerows(rows)
    data = file.getvalue().encode()
    assert all(is_regular(data, size) for size in (1, 2, 7, 1000))


@given(st.text('a,"\n', max_size=14))
def test_what_is_regular_is_valid_and_means_one_thing(text: str) -> None:
    if not all(is_regular(text.encode(), size) for size in (1, 3, 1000)):
        return
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))  # raises if it is not valid
    again = io.StringIO(newline="")
    csv.writer(again, lineterminator="\n").writerows(rows)
    assert list(csv.reader(io.StringIO(again.getvalue(), newline=""), strict=True)) == rows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("quoted", Dialect(quoted=True)),
        ("not-quoted,delimiter=tab", Dialect(quoted=False, delimiter="\t")),
        ("delimiter=,,escape=\\", Dialect(delimiter=",", escape="\\")),
        ("skip-bad-rows,delimiter=;", Dialect(delimiter=";", skips_bad_rows=True)),
    ],
)
def test_habits_are_one_line(text: str, expected: Dialect) -> None:
    assert parse_dialect(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "quote",
        "delimiter=",
        "delimiter=ab",
        'escape="',
        "delimiter=ä",
        "escape=;,delimiter=;",
        "quoted,not-quoted",
        "delimiter=;,delimiter=,",
    ],
)
def test_other_habits_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="csv: "):
        parse_dialect(text)


def test_habits_hold_within_and_no_longer(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", ["x", "y"], ["0", "1"], delimiter=":")
    with reading_csv("delimiter=:"), reading_csv("skip-bad-rows"):
        assert len(read_corpus(path)) == 2
    with pytest.raises(InputError, match="'text:label'"):
        read_corpus(path)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz"])
def test_bad_rows_are_skipped_and_counted_where_that_is_said(tmp_path: Path, name: str) -> None:
    import gzip

    sign = "\t" if "tsv" in name else ","
    lines = ["text,label", "a,pos", "b,c,neg", "d", "e,neg", "f,g,h,pos"]
    data = "".join(f"{line}\n" for line in lines).replace(",", sign).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    with pytest.raises(InputError, match=r"line 3: 3 fields, 2 expected.*skip-bad-rows"):
        read_corpus(path)
    with reading_csv("skip-bad-rows"), pytest.warns(IetestWarning, match="3 rows with another"):
        assert read_both(path) == [["a", "e"], ["pos", "neg"]]
    broken = data.replace(b"f", b"\xff")
    path.write_bytes(gzip.compress(broken) if name.endswith("gz") else broken)
    with reading_csv("skip-bad-rows"), pytest.raises(InputError, match="line 6: not UTF-8"):
        read_corpus(path)


def test_commands_and_runs_take_habits(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", TEXTS, LABELS, escapechar="\\", doublequote=False)
    status, _, err = run_here("describe", path, folder=tmp_path)
    assert (status, "--csv 'escape=\\'" in err) == (1, True)
    status, out, err = run_here("describe", path, "--csv", "escape=\\", "--json", folder=tmp_path)
    assert (status, err) == (0, "")
    assert json.loads(out)["corpora"][0]["n_rows"] == len(TEXTS)
    status, _, err = run_here("describe", path, "--csv", "escape", folder=tmp_path)
    assert (status, "skip-bad-rows" in err) == (2, True)

    from ietest_fast.experiment.config import read_config
    from ietest_fast.experiment.data import read_splits

    parts = "".join(f"{name} = {json.dumps(str(path))}\n" for name in ("train", "valid", "test"))
    toml = tmp_path / "run.toml"
    toml.write_text(f"[data]\n{parts}csv = 'escape=\\'\n")
    assert read_splits(read_config(toml).data).test.texts(0).to_pylist() == TEXTS
    toml.write_text(f"[data]\n{parts}csv = 'escape'\n")
    with pytest.raises(ValueError, match=r"data\.csv: .*skip-bad-rows"):
        read_config(toml)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("a.json", json.dumps),
        ("a.json", lambda rows: "\ufeff" + json.dumps(rows, indent=1, ensure_ascii=False)),
        ("a.jsonl", lambda rows: json.dumps({"version": "1", "n": 6, "data": rows, "more": []})),
        ("a.json", lambda rows: json.dumps({"data": rows}, indent=2)),
    ],
)
def test_json_may_be_one_array(tmp_path: Path, name: str, make) -> None:
    texts = [*TEXTS[:4], "]},{[ é \ud83d\ude00 \\", '{"a": "'.replace("\ud83d", "")]
    texts[4] = "]},{[ é 😀 \\"
    rows = [{"text": text, "label": label} for text, label in zip(texts, LABELS, strict=True)]
    path = tmp_path / name
    path.write_text(make(rows), encoding="utf-8")
    assert read_both(path) == [texts, LABELS]


@pytest.mark.slow
def test_a_long_array_is_read_in_pieces(tmp_path: Path) -> None:
    texts = [f"{n} é 😀 [{'x' * (n % 3000)}" for n in range(3000)]  # 4.5 MB, cut in odd places
    rows = [{"text": text, "label": n % 2} for n, text in enumerate(texts)]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(rows, ensure_ascii=False, indent=1), encoding="utf-8")
    assert read_corpus(path).texts(0).to_pylist() == texts
    rows[2500]["text"] = None
    path.write_text(json.dumps(rows, ensure_ascii=False, indent=1), encoding="utf-8")
    with pytest.raises(InputError, match=rf"line {2500 * 4 + 2}, column 'text'"):
        read_corpus(path)


def test_numbers_of_a_broken_object_are_read_in_one_way(tmp_path: Path) -> None:
    """Two ways to read each would be 2⁶⁰ for all."""
    path = tmp_path / "a.jsonl"
    path.write_text("{" + '"a": -0.5, ' * 60 + '"b": -\n')
    with pytest.raises(InputError, match="line 1: not JSON"):
        read_corpus(path)


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (b" " * 2**21 + b"\n\xff", "line 2: not UTF-8: byte 0xff"),
        (b" " * 2**21 + b'[{"text": "a"}]', "more stands behind the array's end"),
        (b"\xc3", "not UTF-8: byte 0xc3"),
        (b" " * 2**21 + b"\n", None),
    ],
)
def test_what_stands_far_behind_an_array_is_read(
    tmp_path: Path, end: bytes, said: str | None
) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'[{"text":"a","label":"x"},{"text":"b","label":"y"}]' + end)
    if said is None:
        assert len(read_corpus(path)) == 2
        return
    with pytest.raises(InputError, match=said):
        read_corpus(path)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.csv", "PK\x03\x04\x14abc\n", "is a zip file, as Excel's workbooks are; export"),
        ("x.tsv", "PK\x03\x04\x14abc\n", "is a zip file"),
        ("h.csv", "<!DOCTYPE html>\n<html>\n", "is a web page"),
        ("l.csv", "version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "git lfs pull"),
        ("s.json", '{"columns": ["text"], "index": [0], "data": [["a"]]}', "orient='records'"),
    ],
)
def test_what_is_no_table_is_told_by_what_it_is(
    tmp_path: Path, name: str, content: str, said: str
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=re.escape(said)):
        read_corpus(tmp_path / name)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl"])
def test_what_is_packed_or_binary_is_told_by_its_content(tmp_path: Path, name: str) -> None:
    table = pa.table({"text": ["ä", "b"], "label": ["x", "y"]})
    data = b"text\tlabel\n\xc3\xa4\tx\nb\ty\n"
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("sheet.xml", data * 100)
    parquet = io.BytesIO()
    pq.write_table(table, parquet)
    for content, said in (
        (parquet.getvalue(), "is Parquet; end its name in .parquet"),
        (archive.getvalue(), "is a zip file"),
        (gzip.compress(data), "is packed by gzip; end its name in .gz"),
        (bz2.compress(data), "is packed by bzip2; end its name in .bz2"),
        (pa.compress(data, "zstd", asbytes=True), "is packed by zstd; end its name in .zst"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=re.escape(said)):
            read_corpus(tmp_path / name)


@pytest.mark.parametrize("other", ["label ", " label", "label\u200b"])
def test_columns_of_names_that_look_the_same_are_refused(tmp_path: Path, other: str) -> None:
    (tmp_path / "a.csv").write_text(f"text,label,{other}\na,x,y\nb,y,x\n")
    with pytest.raises(InputError, match="another column has this name, apart from blanks"):
        read_corpus(tmp_path / "a.csv")
