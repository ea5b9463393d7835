from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from ietest_fast.corpus import Corpus, corpus_from_table, split
from ietest_fast.errors import InputError


def corpus(n: int) -> Corpus:
    table = pa.table(
        {
            "premise": [f"p{i // 3}" for i in range(n)],
            "hypothesis": [f"h{i}" for i in range(n)],
            "label": [(i * i) % 7 % 3 for i in range(n)],
            "row": list(range(n)),
        }
    )
    return corpus_from_table(table, text_columns=["premise", "hypothesis"], keep_columns=["row"])


def rows(part: Corpus) -> list[int]:
    return part.table.column("row").to_pylist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("how", [{}, {"stratify": True}, {"group_by": "premise"}])
def test_parts_are_disjoint_and_depend_on_the_seed(how: dict[str, object]) -> None:
    whole = corpus(300)
    parts = split(whole, [50, 100], seed=0, **how)  # type: ignore[arg-type]
    assert not set(rows(parts[0])) & set(rows(parts[1]))
    assert [rows(p) for p in parts] == [rows(p) for p in split(whole, [50, 100], seed=0, **how)]  # type: ignore[arg-type]
    assert rows(parts[0]) != rows(split(whole, [50, 100], seed=1, **how)[0])  # type: ignore[arg-type]
    assert all(rows(part) == sorted(rows(part)) for part in parts)
    if "group_by" not in how:
        assert [len(part) for part in parts] == [50, 100]


def test_shares_that_add_up_to_one_leave_no_row_out() -> None:
    parts = split(corpus(101), [1 / 3, 1 / 3, 1 / 3])
    assert sorted(row for part in parts for row in rows(part)) == list(range(101))
    assert [len(part) for part in parts] == [34, 33, 34]


def test_stratified_parts_have_the_labels_of_the_whole() -> None:
    whole = corpus(1000)
    for part in split(whole, [0.1, 0.33, 0.5], stratify=True):
        expected = whole.label_counts * len(part) / len(whole)
        assert np.abs(part.label_counts - expected).max() <= 1.0


def test_groups_stay_together() -> None:
    parts = split(corpus(299), [100, 150], group_by="premise", seed=4)
    groups = [set(part.texts("premise").to_pylist()) for part in parts]
    assert not groups[0] & groups[1]
    assert [100 <= len(parts[0]) < 103, 150 <= len(parts[1]) < 153] == [True, True]


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())]
)
def test_groups_do_not_depend_on_chunks_and_types(kind: pa.DataType) -> None:
    whole = corpus(30)
    parts = split(whole, [10, 12], group_by="premise", seed=4)
    premises = whole.table["premise"].cast(kind)
    chunks = pa.chunked_array([*premises.slice(0, 7).chunks, *premises.slice(7).chunks])
    table = whole.table.append_column("group", chunks)
    again = split(replace(whole, table=table), [10, 12], group_by="group", seed=4)
    assert [rows(part) for part in again] == [rows(part) for part in parts]


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (["a", "b", None], r"row 2 of the corpus, column 'group': has no value in 1 row,"),
        ([None] * 3, r"row 0 of the corpus, column 'group': has no value in 3 rows"),
        ([["a"], ["b"], ["b"]], r"column 'group': is list<.*cannot be grouped"),
    ],
)
def test_groups_need_values(values: list[object], problem: str) -> None:
    table = pa.table({"text": ["x", "y", "z"], "label": [0, 1, 0], "group": values})
    table = pa.concat_tables([table.slice(0, 1), table.slice(1)])
    whole = corpus_from_table(table, text_columns=["text"], keep_columns=["group"])
    with pytest.raises(InputError, match=problem):
        split(whole, [1, 1], group_by="group")


@pytest.mark.parametrize(
    ("sizes", "options", "problem"),
    [
        ([], {}, "at least one part"),
        ([0, 5], {}, "at least one row"),
        ([20, 11], {}, "need 31, there are 30"),
        ([0.6, 0.5], {}, "more than 1"),
        ([5, 5], {"group_by": "nothing"}, "not in the corpus"),
        ([5, 5], {"group_by": "premise", "stratify": True}, "not both"),
        ([29, 1], {"group_by": "premise"}, "too few groups"),
    ],
)
def test_what_cannot_be_split(sizes: list[float], options: dict[str, object], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        split(corpus(30), sizes, **options)  # type: ignore[arg-type]
