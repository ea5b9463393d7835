"""Tables of every kind come in, and go out as the kind that they came in as."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from ietest_fast.corpus import corpus_from_table
from ietest_fast.errors import InputError
from ietest_fast.frames import give_back, to_arrow

datasets = pytest.importorskip("datasets", reason="needs the extra dev")
pl = pytest.importorskip("polars", reason="needs the extra dev")
pytestmark = pytest.mark.peer

TEXTS = {"premise": ["A man sleeps.", "A dog runs."], "hypothesis": ["He rests.", "It sits."]}
COLUMNS = {**TEXTS, "label": [0, 2]}

KINDS = {
    "pandas": lambda: pd.DataFrame(COLUMNS, index=[7, 9]),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "arrow": lambda: pa.table(COLUMNS),
    "batch": lambda: pa.record_batch(COLUMNS),
    "reader": lambda: pa.table(COLUMNS).to_reader(),
    "datasets": lambda: datasets.Dataset.from_dict(COLUMNS),
    "mapping": lambda: dict(COLUMNS),
    "records": lambda: pa.table(COLUMNS).to_pylist(),
}


@pytest.mark.parametrize("kind", KINDS)
def test_tables_of_every_kind_come_in_and_go_out_again(kind):
    data = KINDS[kind]()
    table = to_arrow(data)
    assert table.to_pydict() == COLUMNS
    assert not any(pa.types.is_string_view(field.type) for field in table.schema)

    back = give_back(table, like=data)
    assert type(back) is type(data)
    assert to_arrow(back).to_pydict() == COLUMNS


@pytest.mark.parametrize("kind", KINDS)
def test_a_corpus_is_made_of_tables_of_every_kind(kind):
    corpus = corpus_from_table(KINDS[kind]())
    assert corpus.text_columns == ("premise", "hypothesis")
    # No label is 1, so these are numbers and not the names of NLI.
    assert (corpus.labels.tolist(), corpus.label_names) == ([0, 1], ("0", "2"))
    assert corpus.fingerprint == corpus_from_table(pa.table(COLUMNS)).fingerprint


def test_strings_and_rows_of_strings_get_columns():
    texts = ["a", "b"]
    for strings in (texts, tuple(texts), np.array(texts), pd.Series(texts), pl.Series(texts)):
        assert to_arrow(strings).to_pydict() == {"text": texts}
        assert to_arrow(strings, columns=["t"]).to_pydict() == {"t": texts}
    pairs = [("a", "b"), ("c", "d")]
    for rows in (pairs, np.array(pairs)):
        assert to_arrow(rows).to_pydict() == {"premise": ["a", "c"], "hypothesis": ["b", "d"]}
    assert give_back(to_arrow(texts), like=texts) == texts
    assert give_back(to_arrow(pairs), like=pairs) == pairs
    assert give_back(to_arrow(np.array(texts)), like=np.array(texts)).tolist() == texts
    assert to_arrow([]).to_pydict() == {"text": []}


def test_series_keep_their_kind_and_their_name():
    for series in (pd.Series(["a"], name="q"), pl.Series("q", ["a"])):
        back = give_back(to_arrow(series), like=series)
        assert type(back) is type(series)
        assert (back.name, list(back)) == ("q", ["a"])


def test_pandas_frames_keep_their_types_and_the_index_of_their_rows():
    frame = pd.DataFrame({"t": ["a", None], "n": pd.array([1, None], "Int64")}, index=[7, 9])
    table = to_arrow(frame)
    assert table.to_pydict() == {"t": ["a", None], "n": [1, None]}
    rows = np.array([1, 1, 0])
    back = give_back(table.take(rows), like=frame, rows=rows)
    assert back.index.tolist() == [9, 9, 7]
    assert back.dtypes.equals(frame.dtypes)


def test_datasets_keep_rows_chosen_and_names_of_classes():
    features = datasets.Features(
        {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["bad", "good"])}
    )
    data = datasets.Dataset.from_dict({"text": ["a", "b", "c"], "label": [0, 1, 0]}, features)
    chosen = data.select([2, 1])
    assert give_back(to_arrow(chosen), like=chosen).features == features
    corpus = corpus_from_table(chosen)
    assert corpus.label_names == ("bad", "good")
    assert corpus.texts(0).to_pylist() == ["c", "b"]


def test_columns_choose_among_those_of_a_table():
    frame = pl.DataFrame(COLUMNS)
    assert to_arrow(frame, columns=["label", "premise"]).column_names == ["label", "premise"]
    with pytest.raises(InputError, match=r"column 'text': stands 0 times .* 'premise'"):
        to_arrow(frame, columns=["text"])


def test_other_objects_come_in_by_the_capsules_of_arrow():
    class Frame:
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.table(COLUMNS).__arrow_c_stream__(requested_schema)

    assert to_arrow(Frame()).to_pydict() == COLUMNS
    assert give_back(pa.table(COLUMNS), like=Frame()).num_rows == 2


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (3, "is an int; expected a table"),
        (None, "is a NoneType; expected"),
        ("train.csv", "is a str; .*read_corpus"),
        ({"a", "b"}, "is a set; expected"),
        ([1, 2], "is a list that begins with an int"),
        (["a", 3], "row 1: is an int, a string expected"),
        ([("a", "b"), ("c",)], "row 1: .* a row of 2 fields expected"),
        ([("a", "b", "c")], "rows have 3 fields; name them"),
        ({"a": "x"}, "column 'a': is a str, a list or an array expected"),
        ({"a": ["x"], "b": []}, "unequal lengths: 'a' has 1, 'b' has 0"),
        ({1: ["x"]}, "column names are strings, not 1"),
        ({"a": ["\ud800"]}, "surrogates not allowed"),
        (pd.DataFrame({"a": ["x", 3]}), "column a"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "Duplicate column names"),
        (pl.LazyFrame({"a": ["x"]}), r"collect\(\) it first"),
        (datasets.DatasetDict(), "is a DatasetDict of the splits"),
        (datasets.Dataset.from_dict({"a": ["x"]}).to_iterable_dataset(), "stream of datasets"),
        (np.zeros((2, 2, 2)), "is a ndarray; expected"),
    ],
)
def test_what_is_no_table_is_refused_by_name(data, message):
    with pytest.raises(InputError, match=message):
        to_arrow(data)


def test_columns_whose_indexes_are_in_different_orders_are_refused():
    texts, labels = pd.Series(["a", "b", "c"]), pd.Series([1, 0, 1])
    assert to_arrow({"text": texts, "label": labels.set_axis([4, 5, 6])}).num_rows == 3
    assert to_arrow({"text": texts, "label": labels.set_axis(["0", "1", "2"])}).num_rows == 3
    for other in (labels.sort_values(), labels[::-1], labels.iloc[[0, 2, 1]].astype("string")):
        with pytest.raises(InputError, match="text and label have the same index in different ord"):
            to_arrow({"text": texts, "label": other})
    twice = ["x", "x", "y"]
    with pytest.raises(InputError, match=r"row 1: text and label .* here 'x' and 'y'"):
        to_arrow({"text": texts.set_axis(twice), "label": labels.set_axis(["x", "y", "x"])})


def test_columns_that_were_filtered_differently_are_refused():
    """Their lengths may be equal by chance; without this, rows were paired as they stood."""
    texts = pd.Series(list("abcdef"))
    labels = pd.Series([1, 0, 1, 1, 0, 0])
    with pytest.raises(
        InputError, match="row 1: text and label have indexes of other rows: here 2"
    ):
        to_arrow({"text": texts.drop(1), "label": labels.drop(4)})
    kept = texts.drop(1)
    # Answers to filtered texts, other rows, and the same rows.
    for index in (range(5), range(10, 15), kept.index):
        assert to_arrow({"text": kept, "label": pd.Series([1] * 5, index=index)}).num_rows == 5


def test_a_corpus_names_the_column_that_a_table_lacks():
    with pytest.raises(InputError, match="column 'text': there is no such column"):
        corpus_from_table(pd.DataFrame({"label": [0]}), text_columns=["text"])
    with pytest.raises(InputError, match="column 'label': there is no such column"):
        corpus_from_table(pd.DataFrame({"text": ["a"]}))


def test_a_corpus_prints_its_texts_its_labels_and_what_it_dropped():
    corpus = corpus_from_table(
        {"text": ["a", "b", "c"], "label": ["no", "yes", "-"]}, source="reviews"
    )
    assert repr(corpus) == (
        "Corpus of 2 rows from reviews\n  texts: text\n  labels: no (1), yes (1)\n"
        "  dropped: 1 no gold label"
    )
