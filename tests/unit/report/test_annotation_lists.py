"""Samples as tables, and marks that come from tables."""

from __future__ import annotations

import csv
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ietest_fast.annotation.marks import Marks, import_marks, read_all_marks, read_list, write_list
from ietest_fast.annotation.sample import read_sample
from ietest_fast.annotation.sampling import draw_sample, draw_transformed
from ietest_fast.corpus import Corpus
from ietest_fast.errors import InputError, ResourceError
from ietest_fast.experiment.finished import read_run
from toys import LABELS


@pytest.fixture
def sample(tmp_path, hostile_run):
    return draw_sample(read_run(hostile_run), tmp_path / "sample.json", n=10_000)


def new_texts(tmp_path, *names):
    table = pa.table(
        {
            names[0]: ["The woman opened the heavy door.", "The boy is young."],
            names[1]: ["Rain.", "Nobody sleeps."],
            "label": pa.array([0, 1], pa.int8()),
        }
    )
    corpus = Corpus(table=table, text_columns=names, label_names=LABELS)
    return draw_transformed(corpus, "antonym", tmp_path / "new.json")


def read_csv(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_list_shows_what_the_page_shows(tmp_path, sample):
    write_list(sample, tmp_path / "list.csv")
    rows = read_csv(tmp_path / "list.csv")
    names = [f"{name} {letter}" for name in sample.columns for letter in "AB"]
    assert list(rows[0]) == ["item", *names, "label", "sound"]
    assert len(rows) == len(sample.pairs)
    orders = set()
    for row, pair in zip(rows, sample.pairs, strict=True):
        assert (int(row["item"]), row["label"], row["sound"]) == (pair["item"], pair["label"], "")
        kinds = ("old", "new") if pair["first"] == "original" else ("new", "old")
        orders.add(kinds)
        for name, pieces in pair["pieces"].items():
            for letter, kind in zip("AB", kinds, strict=True):
                text = "".join(piece for each, piece in pieces if each in {"keep", kind})
                assert row[f"{name} {letter}"] == text
    assert len(orders) == 2


def test_a_list_of_the_meaning_has_no_label(tmp_path, first_run):
    path = tmp_path / "sample.json"
    sample = draw_sample(read_run(first_run), path, n=5, criterion="meaning")
    write_list(sample, tmp_path / "list.jsonl")
    first = json.loads((tmp_path / "list.jsonl").read_text().splitlines()[0])
    assert "label" not in first
    assert first["sound"] is None


def test_a_list_of_new_texts_has_the_texts_and_their_label(tmp_path):
    sample = new_texts(tmp_path, "premise", "hypothesis")
    write_list(sample, tmp_path / "list.csv")
    rows = read_csv(tmp_path / "list.csv")
    assert list(rows[0]) == ["item", "premise", "hypothesis", "label", "sound"]
    for row, pair in zip(rows, sample.pairs, strict=True):
        for name, pieces in pair["pieces"].items():
            assert row[name] == "".join(text for _, text in pieces)
        assert row["label"] == pair["label"] == "contradiction"


def test_a_column_of_texts_that_is_called_as_one_of_the_list_is_refused(tmp_path):
    sample = new_texts(tmp_path, "premise", "item")
    with pytest.raises(InputError, match=r"new\.json: its column of texts 'item'"):
        write_list(sample, tmp_path / "list.csv")


def test_a_list_is_not_written_over(tmp_path, sample):
    path = tmp_path / "list.csv"
    path.write_text("item,sound\n")
    with pytest.raises(InputError, match=r"list\.csv: is there already"):
        write_list(sample, path)
    assert path.read_text() == "item,sound\n"
    with pytest.raises(InputError, match=r"list\.doc"):
        write_list(sample, tmp_path / "list.doc")
    with pytest.raises(ResourceError, match="there is no folder"):
        write_list(sample, tmp_path / "absent" / "list.csv")


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_a_list_that_was_filled_in_comes_back(tmp_path, sample, form):
    path = tmp_path / f"list.{form}"
    write_list(sample, path)
    words = ("yes", "no", None, "Sound", "UNSOUND", "1", "0", "true", " False ", "")
    given = [words[i % len(words)] for i in range(len(sample.pairs))]
    if form == "csv":
        rows = read_csv(path)
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            for row, said in zip(rows, given, strict=True):
                writer.writerow({**row, "sound": said})
    elif form == "jsonl":
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        lines = [json.dumps({**row, "sound": said}) for row, said in zip(rows, given, strict=True)]
        path.write_text("\n".join(lines) + "\n")
    else:
        table = pq.read_table(path)
        place = table.column_names.index("sound")
        pq.write_table(table.set_column(place, "sound", pa.array(given, pa.string())), path)
    marks = import_marks(sample, path, "anna")
    good, bad = {"yes", "Sound", "1", "true"}, {"no", "UNSOUND", "0", " False "}
    expected = {
        item: "sound" if said in good else "unsound"
        for item, said in zip(sample.items, given, strict=True)
        if said in good | bad
    }
    assert len(expected) > 10
    assert marks.as_dict() == read_all_marks(read_sample(sample.path))["anna"] == expected


@pytest.mark.parametrize("said", [True, 1, 1.0])
def test_values_of_json_are_taken_as_they_are_meant(tmp_path, sample, said):
    path = tmp_path / "marks.jsonl"
    first, second = sample.items[:2]
    lines = [{"item": first, "sound": said}, {"item": second, "sound": not said}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert read_list(sample, path) == {first: "sound", second: "unsound"}


@pytest.mark.parametrize(
    ("written", "said"),
    [("{}.0", None), (" {}.0 ", None), ("{}", None), ("{}.5", "is no item"), ("{}.0.0", "is no")],
)
def test_an_item_is_its_number_also_as_pandas_writes_it(tmp_path, sample, written, said):
    path = tmp_path / "marks.csv"
    first, second = sample.items[:2]
    path.write_text(f"item,sound\n{written.format(first)},yes\n{second},no\n")
    if said is None:
        assert read_list(sample, path) == {first: "sound", second: "unsound"}
        with path.open("a") as file:
            file.write(f"{first},no\n")
        said = f"the item {first} is there already, in row 0"
    with pytest.raises(InputError, match=said):
        read_list(sample, path)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_numbers_as_pandas_writes_them_beside_empty_cells(tmp_path, sample, form):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"item": sample.items[:3], "sound": [1, None, 0]})
    path = tmp_path / f"marks.{form}"
    frame.to_csv(path, index=False) if form == "csv" else frame.to_parquet(path)
    first, _, third = sample.items[:3]
    assert read_list(sample, path) == {first: "sound", third: "unsound"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("item,sound\n99999,yes\n", r"marks\.csv, row 0, column 'item': '99999' is no item of s"),
        ("item,sound\nx,yes\n", "row 0, column 'item': 'x' is no item"),
        ("item,sound\n1.5,yes\n", "'1.5' is no item"),
        (",sound\n1,yes\n", "item"),
        ('item,sound\n"",yes\n', "'' is no item"),
        ("item,sound\n{0},yes\n{1},maybe\n", "row 1, column 'sound': 'maybe' is no mark; expected"),
        ("item,sound\n{0},2\n", "'2' is no mark; expected yes, true, 1, sound, no, false, 0, uns"),
        ("item,sound\n{0},yes\n{1},no\n{0},yes\n", "row 2, .*: the item 0 is there already, in r"),
        ("item,sound\n{0},yes\n{0},\n", "is there already, in row 0"),
        ("item,sound\n{0},\n{1},\n", "nothing is marked in it"),
        ("item,sound\n", "marks.csv"),
        ("", "marks.csv"),
        ("item,mark\n{0},yes\n", "sound"),
    ],
)
def test_tables_that_are_none_of_marks_are_refused(tmp_path, sample, content, message):
    path = tmp_path / "marks.csv"
    first, second = sorted(sample.items)[:2]
    assert first == 0
    path.write_text(content.format(first, second))
    with pytest.raises(InputError, match=message):
        import_marks(sample, path, "anna")
    assert read_all_marks(sample) == {}


def test_an_item_is_marked_once_by_a_person(tmp_path, sample):
    first, second = sample.items[:2]
    Marks(sample, "anna").add(second, "sound")
    path = tmp_path / "marks.csv"
    path.write_text(f"item,sound\n{first},yes\n{second},no\n")
    with pytest.raises(InputError, match=rf"anna has marked 1 .*, such as {second} \(in sample"):
        import_marks(sample, path, "anna")
    assert read_all_marks(sample) == {"anna": {second: "sound"}}
    import_marks(sample, path, "ben")
    assert read_all_marks(sample)["ben"] == {first: "sound", second: "unsound"}
    with pytest.raises(InputError, match="a person is named by"):
        import_marks(sample, path, "a b")
    with Marks(sample, "cid").locked(), pytest.raises(InputError, match="in another window"):
        import_marks(sample, path, "cid")


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_a_list_computes_nothing_in_a_spreadsheet_and_its_marks_are_read(tmp_path, form):
    table = pa.table(
        {
            "=premise": [
                "+The woman opened the heavy door.",
                "@The boy is young.",
            ],
            "@text": ["=1+1", "-2+3"],
            "label": pa.array([0, 1], pa.int8()),
        }
    )
    corpus = Corpus(table=table, text_columns=("=premise", "@text"), label_names=LABELS)
    sample = draw_transformed(corpus, "length-mismatch", tmp_path / "new.json")
    assert len(sample.pairs) > 0
    path = tmp_path / f"list.{form}"
    write_list(sample, path)
    with path.open(newline="", encoding="utf-8") as file:
        head, *rows = list(csv.reader(file, delimiter="\t" if form == "tsv" else ","))
    texts = [cell for cell in (*head, *(cell for row in rows for cell in row[1:])) if cell]
    assert not [cell for cell in texts if cell[0] in "=+-@"]
    assert {"'=premise A", "'@text B"} <= set(head)
    # Marks come back in the table as it was written, apostrophes and all.
    lines = path.read_text("utf-8").splitlines()
    quote = '"' if form == "csv" else ""
    marked = [lines[0]]
    for line in lines[1:]:
        bare = line.removesuffix('""') if line.endswith('""') else line
        marked.append(f"{bare}{quote}yes{quote}")
    path.write_text("\n".join(marked) + "\n", "utf-8")
    assert set(read_list(sample, path).values()) == {"sound"}
    write_list(sample, tmp_path / "list.jsonl")
    assert '"=premise A"' in (tmp_path / "list.jsonl").read_text("utf-8")
