"""Files of masked inference: their columns, and what is wrong with their rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ietest_fast.analyses.masked.items import (
    RELEASED,
    masked_items_from_table,
    read_masked_items,
)
from ietest_fast.corpus.streams import BatchWriter
from ietest_fast.errors import InputError

ROWS = {
    "premise": ["Ida has visited Peru.", "Neil did not visit Cuba."],
    "hypothesis": ["[MASK] has visited Peru", "it's false that [MASK] visited Cuba"],
    "answer": ["someone", " everyone "],
    "module": ["quantifiers", "quantifiers"],
    "template": ["B.3", "B.5"],
}


@pytest.mark.parametrize("name", ["a.parquet", "a.csv", "a.tsv", "a.jsonl", "a.csv.gz"])
def test_every_format_is_read(tmp_path: Path, name: str) -> None:
    table = pa.table(ROWS)
    with BatchWriter(tmp_path / name, table.schema) as writer:
        writer.write(table)
    items = read_masked_items(tmp_path / name)
    assert items.table["answer"].to_pylist() == ["someone", "everyone"]
    assert items.groups == ("module", "template")
    assert items.table["item"].to_pylist() == [0, 1]
    assert items.answers == ("everyone", "someone")
    assert items.fill(1, "nobody") == ("it's false that nobody visited Cuba", (16, 22))
    assert read_masked_items(tmp_path / name, groups=["template"]).groups == ("template",)


def test_blanks_around_a_module_make_no_other_module() -> None:
    items = masked_items_from_table({**ROWS, "module": ["quantifiers", " quantifiers\t"]})
    assert items.table["module"].to_pylist() == ["quantifiers", "quantifiers"]


def test_the_released_file_is_read(shared: Path) -> None:
    items = read_masked_items(shared / "data" / "masked_inference" / "BC_test.csv.gz")
    assert len(items) == len(items.usable) == 1000
    assert items.answers == ("and", "or")
    assert items.groups == ()
    assert items.table["hypothesis"][0].as_py() == (
        "Ida didn't visit Senegal [MASK] Ethel has visited Clara"
    )


def test_categories_and_items_are_taken(tmp_path: Path) -> None:
    table = pa.table(ROWS).set_column(2, "answer", pa.array(ROWS["answer"]).dictionary_encode())
    items = masked_items_from_table(table.append_column("item", pa.array(["x", "y"])))
    assert items.table["answer"].to_pylist() == ["someone", "everyone"]
    assert items.table["item"].to_pylist() == ["x", "y"]


def without(*names: str) -> dict[str, Any]:
    return {name: values for name, values in ROWS.items() if name not in names}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (without("answer"), "column 'answer': there is no such column"),
        (without("premise"), "column 'premise': there is no such column"),
        ({"premise": ["a"], "masked": ["[MASK]"]}, "column 'answer': there is no such column"),
        ({"premise": ["a"], "sentence2_masked": ["[MASK]"], "label": ["b"]}, "'sentence1': there"),
        (without("premise", "hypothesis"), "no columns premise, hypothesis, answer, nor"),
        (without("answer") | {"answer": [1, 2]}, "column 'answer': holds int64, texts expected"),
        ({name: [] for name in ROWS}, "there is no row"),
        (ROWS | {"hypothesis": ["a", "b"]}, r"no row can be scored. 2 rows are not scored: no \["),
        (ROWS | {"module": [[1], [2]]}, "column 'module': values are of type list"),
        (ROWS | {"item": ["a", None]}, "column 'item': 1 row has none"),
        (ROWS | {"item": [7, 7]}, "row 1, column 'item': the item 7 stands there twice; give"),
    ],
)
def test_bad_tables_are_refused(table: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        masked_items_from_table(pa.table(table))


def test_groups_have_to_be_columns_of_their_own() -> None:
    with pytest.raises(InputError, match="column 'modul': there is no such column"):
        masked_items_from_table(pa.table(ROWS), groups=["modul"])
    with pytest.raises(InputError, match="parted by answer anyway"):
        masked_items_from_table(pa.table(ROWS), groups=["answer"])


def test_a_group_may_be_missing_or_a_number() -> None:
    items = masked_items_from_table(pa.table(ROWS | {"size": [3, None]}), groups=["size"])
    assert items.table["size"].to_pylist() == ["3", "none"]


def test_rows_are_named_as_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('premise,hypothesis,answer\n"a,\nb",x [MASK],y\na,x,y\na,x,y\n')
    items = read_masked_items(path)
    assert items.problems == (None, *["no [MASK] in the hypothesis"] * 2)
    assert items.say_problems(items.problems) == (
        "2 rows are not scored: no [MASK] in the hypothesis: 2 (the first is line 4)."
    )
    assert items.say_problems([None, None, None]) is None


@pytest.mark.parametrize(
    "names", [("hypothesis", "masked", "answer"), ("sentence2", *RELEASED[1:])]
)
def test_answers_that_do_not_give_the_whole_hypothesis_are_left_out(
    names: tuple[str, ...], tmp_path: Path
) -> None:
    whole, masked, answer = names
    rows = {
        "premise" if whole == "hypothesis" else "sentence1": ["Ann runs."] * 5,
        whole: ["Ann or Bob sits", "Ann and Bob sit", "No one sits ", None, "Ann sits"],
        masked: ["Ann [MASK] Bob sits", "Ann [MASK] Bob sit", "[MASK] one sits", "a [MASK]", "b"],
        answer: ["or", "or", "no", "c", "d"],
    }
    pq.write_table(pa.table(rows), tmp_path / "a.parquet")
    for found in (masked_items_from_table(rows), read_masked_items(tmp_path / "a.parquet")):
        reason = f"the answer in the place of [MASK] does not give the {whole} beside it"
        assert found.problems == (None, reason, None, None, "no [MASK] in the hypothesis")


def test_an_item_that_stands_twice_is_named_as_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('item,premise,hypothesis,answer\n1,"a,\nb",x [MASK],y\n1,a,x [MASK],y\n')
    with pytest.raises(InputError, match=r"a\.csv, line 4, column 'item': the item '1' stands"):
        read_masked_items(path)


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(ROWS), path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"a\.parquet"):
        read_masked_items(path)
    with pytest.raises(InputError, match="no such file"):
        read_masked_items(tmp_path / "b.csv")


def test_corpora_from_templates_are_read() -> None:
    """Their hypothesis is whole, and the masked one stands in another column."""
    from ietest_fast.templates.files import load_tasks
    from ietest_fast.templates.language import load_language
    from ietest_fast.templates.naming import load_names
    from ietest_fast.templates.sampling import PairDrawer, prove_templates

    proved = prove_templates(load_tasks("masked-quantifier"), load_language("en"))
    table = PairDrawer(proved, load_names("en", "test")).draw(0, 60)
    items = masked_items_from_table(table)
    assert items.groups == ("task", "template")
    assert set(items.answers) == {"everyone", "someone"}
    assert len(items.usable) == 60
    assert items.table["hypothesis"].to_pylist() == table["masked"].to_pylist()
