"""Broken dataset files: name -> (file name, its bytes, what has to be said about them)."""

from __future__ import annotations

import gzip
import io

import pyarrow as pa
import pyarrow.parquet as pq


def _parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


_GOOD = pa.table({"premise": ["a", "b"], "hypothesis": ["c", "d"], "label": [0, 1]})
_WHOLE = _parquet(_GOOD)
_NULL = _parquet(_GOOD.set_column(0, "premise", pa.array(["a", None])))
_TWICE = _parquet(
    pa.table([["a"], ["b"], ["c"], [0]], ["premise", "premise", "hypothesis", "label"])
)
_BYTES = pa.Array.from_buffers(pa.string(), 2, pa.array([b"a", b"b\xff"]).buffers())
_NOT_UTF8 = _parquet(_GOOD.set_column(0, "premise", _BYTES))
_CATEGORY_NOT_UTF8, _SMALL_CATEGORY_NOT_UTF8 = (
    _parquet(
        _GOOD.set_column(
            0, "premise", pa.DictionaryArray.from_arrays(pa.array([0, 1], numbers), _BYTES)
        )
    )
    for numbers in (pa.int32(), pa.int8())
)
_LABEL_NOT_UTF8 = _parquet(_GOOD.set_column(2, "label", _BYTES))
_NAME_NOT_UTF8 = _WHOLE.replace(b"premise", b"pr\xffmise")
_HUGE, _INFINITE, _HALF, _HALVES = (
    _parquet(_GOOD.set_column(2, "label", pa.array([0, label], kind)))
    for label, kind in (
        (1e300, pa.float64()),
        (float("inf"), pa.float64()),
        (float("-inf"), pa.float16()),
        (0.5, pa.float16()),
    )
)
_CUT_GZIP = gzip.compress(b"text,label\n" + b"abc,1\n" * 1000)[:-20]

BAD_FILES: dict[str, tuple[str, bytes, tuple[str, ...]]] = {
    "empty csv": ("a.csv", b"", ("the file is empty",)),
    "empty jsonl": ("a.jsonl", b"", ("the file is empty",)),
    "empty parquet": ("a.parquet", b"", ("the file is empty",)),
    "blank jsonl": ("a.jsonl", b"\n\n", ("no objects|no columns",)),
    "header alone": ("a.csv", b"text,label\n", ("no rows",)),
    "header alone, no line end": ("a.csv", b"text,label", ("no rows",)),
    "label not utf-8": ("a.parquet", _LABEL_NOT_UTF8, ("row 1", "'label'", "not UTF-8")),
    "column name not utf-8": ("a.parquet", _NAME_NOT_UTF8, ("name of a column is not UTF-8",)),
    "label 1e300": ("a.parquet", _HUGE, ("row 1", "'label'", "1e\\+300 is not an integer")),
    "infinite label": ("a.parquet", _INFINITE, ("row 1", "'label'", "inf is not an integer")),
    "infinite label of 16 bits": ("a.parquet", _HALF, ("row 1", "'label'", "-inf is not")),
    "half as a label": ("a.parquet", _HALVES, ("row 1", "'label'", "0.5 is not an integer")),
    "label of 5,000 digits": (
        "a.csv",
        b"premise,hypothesis,label\na,b,neutral\na,b," + b"9" * 5000 + b"\n",
        ("line 3", "'label'", r"unknown label '9{20,80}\.\.\.;"),
    ),
    "label of 5,000 digits in jsonl": (
        "a.jsonl",
        b'{"text": "a", "label": 0}\n{"text": "b", "label": ' + b"9" * 5000 + b"}\n",
        ("line 2", "more digits"),
    ),
    "unknown suffix": ("a.xlsx", b"PK", ("format is not clear", r"\.parquet")),
    "latin-1 csv": (
        "a.csv",
        b"text,label\nabc,1\ncaf\xe9,0\n",
        ("line 3", "not UTF-8", "0xe9 at offset 20"),
    ),
    "latin-1 tsv": ("a.tsv", b"text\tlabel\ncaf\xe9\t0\n", ("line 2", "not UTF-8", "offset 14")),
    "latin-1 jsonl": (
        "a.jsonl",
        b'{"text": "a", "label": 0}\n{"text": "caf\xe9", "label": 1}\n',
        ("line 2", "not UTF-8", "offset 39"),
    ),
    "wrong utf-8 in parquet": ("a.parquet", _NOT_UTF8, ("row 1", "'premise'", "0xff at offset 1")),
    "wrong utf-8 in a category": (
        "a.parquet",
        _CATEGORY_NOT_UTF8,
        ("row 1", "'premise'", "0xff at offset 1"),
    ),
    "wrong utf-8 in a category as pandas writes it": (
        "a.parquet",
        _SMALL_CATEGORY_NOT_UTF8,
        ("a category whose name is not UTF-8",),
    ),
    "utf-16": ("a.csv", "text,label\na,1\n".encode("utf-16"), ("UTF-16", "UTF-8 expected")),
    "missing text column": (
        "a.csv",
        b"premise,hypotesis,label\na,b,0\n",
        ("column 'hypothesis'", "'premise', 'hypotesis', 'label'", "did you mean 'hypotesis'"),
    ),
    "missing label column": (
        "a.jsonl",
        b'{"text": "a", "Label": 0}\n',
        ("column 'label'", "did you mean 'Label'"),
    ),
    "no text column at all": ("a.csv", b"x,y,z\n1,2,3\n", ("'x', 'y', 'z'", r"--text-columns\)")),
    "null text in parquet": ("a.parquet", _NULL, ("row 1", "'premise'", "text is missing")),
    "null text in jsonl": (
        "a.jsonl",
        b'{"text": "a", "label": 0}\n\n{"text": null, "label": 1}\n',
        ("line 3", "'text'", r"text is missing \(in 1 row\); fill it in, or remove the row$"),
    ),
    "text left out in csv": (
        "a.csv",
        b'text,label\n"a\nb",0\n,1\n',
        ("line 4", "'text'", "text is missing"),
    ),
    "number for a text": (
        "a.jsonl",
        b'{"text": "a", "label": 0}\n{"text": 5, "label": 1}\n',
        ("line 2", "'text'", "is 5, text expected"),
    ),
    "unknown label": (
        "a.csv",
        b'premise,hypothesis,label\n"a\n",b,neutral\nc,d,entailmnt\n',
        ("line 4", "'label'", "unknown label 'entailmnt'", "did you mean 'entailment'"),
    ),
    "label out of range": (
        "a.tsv",
        b"premise\thypothesis\tlabel\na\tb\tneutral\nc\td\t3\n",
        ("line 3", "unknown label '3'", "2 contradiction"),
    ),
    "label with a fraction": (
        "a.parquet",
        _parquet(pa.table({"text": ["a", "b"], "label": [1.0, 0.5]})),
        ("row 1", "'label'", "0.5 is not an integer"),
    ),
    "label that is a list": (
        "a.parquet",
        _parquet(pa.table({"text": ["a"], "label": [[1]]})),
        ("'label'", "integers or names"),
    ),
    "texts for labels": (
        "a.jsonl",
        b"".join(b'{"text": "a", "label": "t%d"}\n' % i for i in range(200)),
        ("200 different labels", "at most 127"),
    ),
    "all labels missing": (
        "a.csv",
        b"text,label\na,-\nb,-1\nc,\n",
        ("no rows are left", "no gold label in 2 rows", "label missing in 1 row"),
    ),
    "duplicated column in csv": ("a.csv", b"text,text,label\na,b,0\n", ("'text'", "2 columns")),
    "duplicated column in parquet": ("a.parquet", _TWICE, ("'premise'", "2 columns")),
    "duplicated key": (
        "a.jsonl",
        b'{"text": "a", "label": 0}\n{"text": "a", "text": "b", "label": 0}\n',
        ("line 2", "'text' stands there twice"),
    ),
    "ragged csv": ("a.csv", b"text,label\na,0\nb\nc,1\n", ("line 3", "1 fields, 2 expected")),
    "ragged tsv": (
        "a.tsv",
        b"text\tlabel\na\t0\nb\t1\tc\n",
        ("line 3", "3 fields, 2 expected"),
    ),
    "open quote": (
        "a.csv",
        b'text,label\na,0\n"b,1\nc,0\n',
        ("line 3", "column 'text'", r"a quote is left open \(before 'b,1"),
    ),
    "broken json": (
        "a.jsonl",
        b'{"text": "a", "label": 0}\n{"text": "b", "label": 0\n',
        ("line 2", "not JSON"),
    ),
    "broken first json": ("a.jsonl", b'{"text": \n', ("line 1", "not JSON")),
    "json array cut off": (
        "a.json",
        b'[{"text": "a", "label": 0},\n',
        ("line 1", "does not end"),
    ),
    "json array of lists": ("a.json", b'[["a", 0],\n["b", 1]]\n', ("line 1", "one object", "list")),
    "json array of nothing": ("a.json", b"[ ]\n", ("array has no objects",)),
    "json array and more": (
        "a.json",
        b'[{"text": "a", "label": 0}, {"text": "b", "label": 1}]\n{"text": "c", "label": 1}\n',
        ("more stands behind",),
    ),
    "json of columns": (
        "a.json",
        b'{"text": {"0": "a", "1": "b"}, "label": {"0": 0, "1": 1}}\n',
        ("object of columns", "lines=True"),
    ),
    "json of two arrays": (
        "a.json",
        b'{"train": [{"text": "a", "label": 0}], "test": [{"text": "b", "label": 1}]}\n',
        ("several arrays", "'train'"),
    ),
    "quotes behind backslashes": (
        "a.csv",
        b'text,label\na,0\n"say \\"b\\"",1\nc,0\n',
        ("line 3", "column 'text'", "behind a closing quote", r"--csv 'escape=\\'"),
    ),
    "more behind a quote": (
        "a.csv",
        b'text,label\na,0\nb,"1" or 2\n"c\nd",0\n',
        ("line 3", "column 'label'", "behind a closing quote", "is written twice"),
    ),
    "more behind a quote of two lines": (
        "a.csv.gz",
        gzip.compress(b'text,label\n"a\nb",0\n"b\n""c"" " d,1\n'),
        ("line 4", "column 'text'", "behind a closing quote"),
    ),
    "commas in tsv": ("a.tsv.gz", gzip.compress(b"text,label\na,0\n"), ("delimiter=comma",)),
    "json array behind a broken key": (
        "a.json",
        b'{"a\\c": [{"text": "a", "label": 0}]}\n',
        ("line 1", "not JSON", "escape"),
    ),
    "quoted tsv": (
        "a.tsv",
        b'"text"\t"label"\n"a"\t"0"\n',
        ("double quotes enclose", "--quoted"),
    ),
    "truncated parquet": ("a.parquet", _WHOLE[: len(_WHOLE) // 2], ("not a whole Parquet file",)),
    "damaged parquet": (
        "a.parquet",
        _WHOLE[:4] + b"\x00" * 60 + _WHOLE[64:],
        ("not a whole Parquet file",),
    ),
    "text called parquet": ("a.parquet", b"text,label\na,0\n", ("not a whole Parquet file",)),
    "truncated gzip": ("a.csv.gz", _CUT_GZIP, ("cannot be read",)),
    "text called gzip": ("a.csv.gz", b"text,label\na,0\n", ("cannot be read",)),
}
