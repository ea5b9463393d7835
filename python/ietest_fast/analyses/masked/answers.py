"""What a masked language model says of hidden words, and files of it."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.analyses.masked.items import (
    GROUPS,
    LAYOUTS,
    RELEASED,
    WHOLE,
    find_others,
    read_group,
)
from ietest_fast.answers.readers.facts_of_tables import say_other_means
from ietest_fast.answers.readers.label_columns import does_repeat, label_keys
from ietest_fast.answers.schema import MARKS, plain_type
from ietest_fast.corpus.columns import check_columns, find_named
from ietest_fast.corpus.formats import find_format, locate_row
from ietest_fast.corpus.streams import open_batches
from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.numerals import say_count
from ietest_fast.values import (
    as_numbers,
    as_texts,
    find_missing,
    find_outcomes,
    parse_list,
    show_names,
    show_value,
    trim_texts,
    with_common_types,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]
    Mask = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    # Stops at the first wrong row of a column, with a complaint about its value.
    Refuse = Callable[[Mask, str, str], None]


# Columns of logs of hidden words: numbers and marks as pandas and other tools write them.

MOST_RANK = 2**31 - 1
"""The largest rank that can be kept."""

_NO_PROBABILITY = "-inf"  # the logarithm of 0, as a text


def row_error(complaint: str, path: Path, row: int, column: str) -> InputError:
    """Make an error that names a row of a file as its format counts them."""
    where = locate_row(path, find_format(path), row)
    return InputError(complaint, path=path, row=where, column=column)


def read_column(
    column: pa.ChunkedArray, field: pa.Field, path: Path, *, rows: Numbers
) -> pa.Array | pa.ChunkedArray:
    """Return a column of a log in the type that it has in the schema; what is missing stays so."""
    kind = field.type
    try:
        plain = column.cast(plain_type(column.type))
        if not (pa.types.is_primitive(kind) or pa.types.is_boolean(kind)):
            return pc.utf8_trim_whitespace(plain.cast(kind))
    except pa.ArrowException as error:
        raise InputError(
            f"holds {column.type}, {kind} expected", path=path, column=field.name
        ) from error
    values, is_bad, wanted = _read_values(plain, kind)
    is_missing = find_missing(plain)
    wrong = np.flatnonzero(is_bad & ~is_missing)
    if wrong.size:
        place = int(wrong[0])
        raise row_error(
            f"{show_value(plain[place].as_py())} is {wanted}; correct it, or leave the column out",
            path,
            int(rows[place]),
            field.name,
        )
    return pa.array(np.where(is_missing, 0, values).astype(kind.to_pandas_dtype()), mask=is_missing)


def _read_values(column: pa.ChunkedArray, kind: pa.DataType) -> tuple[NDArray[Any], Mask, str]:
    """Return values of a type, which of them are none, and what these are not."""
    if pa.types.is_boolean(kind):
        marks, bad = find_outcomes(column)
        return marks, np.isin(np.arange(len(column)), bad), "neither true nor false"
    numbers = as_numbers(column)
    if pa.types.is_integer(kind):
        is_whole = (np.abs(numbers) <= MOST_RANK) & (numbers == np.round(numbers))
        return numbers, ~is_whole, "no whole number"
    numbers[_are_no_probability(column)] = -np.inf
    return numbers, np.isnan(numbers) | (numbers == np.inf), "no number"


def _are_no_probability(column: pa.ChunkedArray) -> Mask:
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return np.asarray(pc.fill_null(pc.equal(column, _NO_PROBABILITY), False))
    return np.zeros(len(column), dtype=np.bool_)


def read_reciprocal(
    table: pa.Table, name: str, path: Path, *, rows: Numbers | None = None
) -> Floats:
    """Return reciprocal ranks, NaN where there is none."""
    column = table[name].cast(plain_type(table[name].type))
    values = as_numbers(column)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ranks = np.round(1 / values)
        near = _are_reciprocal(values, ranks) & (ranks <= MOST_RANK)
    is_rank = (values == 0) | (near & (values > 0) & (values <= 1))
    wrong = np.flatnonzero(~is_rank & ~find_missing(column))
    if wrong.size:
        row = int(wrong[0] if rows is None else rows[wrong[0]])
        value = show_value(column[int(wrong[0])].as_py())
        raise row_error(
            f"{value} is no reciprocal rank, which is 0 or 1 over a whole number", path, row, name
        )
    return values


def _are_reciprocal(values: Floats, ranks: Floats | NDArray[np.int32]) -> Mask:
    """Say which numbers are one over ranks, but for the digits to which all are rounded."""
    known = values[np.isfinite(values)]
    rounded = (n for n in range(2, 10) if (np.round(known, n) == known).all())
    n_digits = next(rounded, None)
    least = 0.0 if n_digits is None else 0.51 / 10**n_digits
    with np.errstate(divide="ignore", invalid="ignore"):
        is_near = np.abs(values * ranks - 1) < 1e-6
        return np.asarray(is_near | (np.abs(values - 1 / ranks) < least))


def read_texts(column: pa.ChunkedArray, name: str, path: Path) -> Any:
    """Return items (texts or whole numbers) or answers as texts; blanks make no other one."""
    kind = plain_type(column.type)
    is_number = name == "item" and pa.types.is_integer(kind)
    try:
        texts = column.cast(kind if is_number else pa.large_string())
        return texts if is_number else pc.utf8_trim_whitespace(texts)
    except pa.ArrowException as error:
        wanted = "whole numbers or texts" if name == "item" else "texts"
        raise InputError(
            f"holds {column.type} that cannot be read as {wanted}; write it as {wanted}",
            path=path,
            column=name,
        ) from error


RankedIn = Literal["vocabulary", "candidates"]

SCHEMA = pa.schema(
    [
        ("model", pa.string()),
        ("item", pa.string()),
        ("answer", pa.string()),
        ("predicted", pa.string()),
        ("rank", pa.int32()),
        ("reciprocal_rank", pa.float64()),
        ("log_probability", pa.float64()),
        ("n_tokens", pa.int32()),
        ("ranked_in", pa.string()),
        ("truncated", pa.bool_()),
        ("problem", pa.string()),
    ]
)
"""The columns of a log, apart from those by which accuracies are parted.

A row that could not be scored has a ``problem`` and no rank. ``item`` may be int64.
"""

# No vocabulary has as many tokens, and the likeliest has at least its share.
_MOST_TOKENS = 1e8
_ROUNDING = 1e-4
"""Of logarithms, which models give in 32 bits."""
_ROUNDED = 0.005
"""Of probabilities, which may be written with two digits."""

_OR_CANDIDATES = (
    "correct one of them, or, if the rank is one among candidates, say so in a column ranked_in"
)

# Columns that say whether the answer is ranked first, or among the first k.
_SAYS_FIRST = re.compile(
    rf"(?i)^({'|'.join(MARKS)}|accuracy|hits?|(is_|in_)?top|(is_|in_)first|(p|precision)[@_-]?(at_)?1"
    r"|(hits?|(in_)?top|acc|accuracy|r|recall)[@_-]?(at_)?(?P<k>[1-9]\d*)(_correct)?)$"
)

# Names of columns of the answers' probabilities, and of their logarithms.
_SHARES = ("probability", "prob")
_LOGARITHMS = ("logprob", "log_prob")
# What says the reciprocal rank, the log-probability or the first choice once more.
_NUMBERS_AGAIN: tuple[tuple[tuple[str, ...], str, Callable[[Any], Any]], ...] = (
    (("mrr", "rr"), "reciprocal_rank", np.asarray),
    (_SHARES, "log_probability", np.exp),
    (_LOGARITHMS, "log_probability", np.asarray),
)
_FIRST_AGAIN = ("top1", "top_1", "prediction", "pred", "predicted_word", "predicted_token")
_ANSWERS_AGAIN = ("gold", "target", "gold_answer", "correct_answer", "true_answer", "label")
_FIRST_ONES = re.compile(r"(?i)top[_@-]?(\d+|k)(_\w+)?$|predictions$")
_NEAR = 1e-3

_TEXTS = tuple(dict.fromkeys((*WHOLE.values(), *(name for each in LAYOUTS for name in each[:2]))))

# What else the thesis's files have, beside reciprocal ranks.
_RELEASED_OTHERS = {"", "sentence2", "subjects", "objects", "ids", "people", "places"}


@dataclass(frozen=True, kw_only=True, eq=False)
class MaskedAnswers:
    """A model's answers to items of masked inference."""

    table: pa.Table
    """n rows with the columns of :data:`SCHEMA` and of `groups`."""
    groups: tuple[str, ...] = ()
    """Columns by which accuracies are parted."""
    candidates: tuple[str, ...] = ()
    """The words that answers were compared with; empty where all were ranked in the vocabulary, or
    if it is not known."""
    backend: str = ""
    fingerprint: str = ""
    """Of the model; empty if it is not known."""

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @property
    def model(self) -> str:
        """Its name."""
        return str(self.table["model"][0].as_py())

    @property
    def reciprocal_ranks(self) -> Floats:
        """Shape (n,), NaN for rows that could not be scored; 0 for ranks that are not known."""
        column = self.table["reciprocal_rank"].cast(pa.float64())
        return np.asarray(pc.fill_null(column, float("nan")))

    @property
    def problems(self) -> list[str | None]:
        """Shape (n,): why a row could not be scored."""
        return list(self.table["problem"].to_pylist())

    @property
    def n_truncated(self) -> int:
        """Rows that were scored and lost tokens because they were too long."""
        lost = pc.and_(
            pc.fill_null(self.table["truncated"], False), pc.is_null(self.table["problem"])
        )
        return int(pc.sum(lost).as_py() or 0)


def write_masked_log(answers: Sequence[MaskedAnswers], path: str | Path) -> None:
    """Write the answers of some models to one file, whole or not at all."""
    from ietest_fast.corpus.streams import BatchWriter

    table = pa.concat_tables([each.table for each in answers])
    with BatchWriter(path, table.schema) as writer:
        writer.write(table)


def read_masked_log(
    path: str | Path, *, groups: Sequence[str] | None = None, ranks: Sequence[str] | None = None
) -> tuple[MaskedAnswers, ...]:
    """Read ranks of hidden words, one :class:`MaskedAnswers` for each model.

    Parameters
    ----------
    path
        What :func:`write_masked_log` has written; or a file of the thesis's results, with the
        columns ``sentence1``, ``sentence2_masked``, ``label`` and one column of reciprocal ranks
        for each model (0: not among the first).
    groups
        Columns by which accuracies are parted; None: ``module`` and ``template`` if there.
    ranks
        Of a file of results, the columns of reciprocal ranks; None: all columns that the thesis's
        files of texts do not have.

    Raises
    ------
    InputError
        If the file is neither, or a value is no reciprocal rank.
    """
    path = Path(path)
    with open_batches(path, types_of="file") as batches:
        table = with_common_types(pa.Table.from_batches(list(batches), schema=batches.schema))
    names, source = table.column_names, str(path)
    if table.num_rows == 0:
        raise InputError("there is no row", path=path)
    for name in ("item", "answer"):
        if name in names:
            table = table.set_column(names.index(name), name, read_texts(table[name], name, path))
    chosen = tuple(each for each in GROUPS if each in names) if groups is None else tuple(groups)
    check_columns(path, names, chosen)
    if {"answer", "reciprocal_rank"} <= set(names) and ranks is None:
        return _split_log(table, chosen, path)
    ranks = _find_ranks(names, chosen, path) if ranks is None else ranks
    answer = "answer" if "answer" in names else "label"
    check_columns(path, names, [answer, *ranks])
    refuse = _refuse_rows(table, np.arange(table.num_rows), path)
    if answer == "answer":
        _check_answers(table, refuse)
    answers = read_group(table, answer, source)
    contradicted = _find_contradicted(table, answers, path)
    again = next((name for place, name in enumerate(ranks) if name in ranks[:place]), None)
    if again is not None:
        raise InputError("is a model's column; name it once (--ranks)", path=path, column=again)
    read = {name: read_reciprocal(table, name, path) for name in ranks}
    for name, reciprocal in read.items():
        twins = [form.format(name) for form in ("predicted_{}", "{}_predicted", "{}_prediction")]
        for twin in find_named(names, twins):
            said, given = (label_keys(each, path) for each in (answers, _take_first(table[twin])))
            is_other = (reciprocal == 1) & (given != "") & (given != said)
            refuse(is_other, twin, f"is not the answer, whose rank is 1 in {name}; correct one")
    return tuple(
        _from_columns(
            model=name,
            items=_items_of(table),
            answers=answers,
            reciprocal=read[name],
            others={},
            groups={each: read_group(table, each, source) for each in chosen},
            contradicted=contradicted,
        )
        for name in ranks
    )


def _find_ranks(names: Sequence[str], groups: Sequence[str], path: Path) -> list[str]:
    """Return the columns that the thesis's files of texts do not have."""
    known = {*RELEASED, *_RELEASED_OTHERS, *groups}
    ranks = [name for name in names if name not in known]
    if not ranks or not set(RELEASED) <= set(names):
        raise InputError(
            "there are no ranks in it: neither the columns answer and reciprocal_rank, nor, as in "
            f"the thesis's results, columns of reciprocal ranks beside {', '.join(RELEASED)}; a "
            "model computes them (--model CHECKPOINT, --onnx PATH); the columns are "
            f"{show_names(names)}",
            path=path,
        )
    return ranks


def _split_log(table: pa.Table, groups: tuple[str, ...], path: Path) -> tuple[MaskedAnswers, ...]:
    names = table.column_names
    models = pa.array(["model"] * table.num_rows)
    if "model" in names:
        models = read_group(table, "model", str(path))
        if table["model"].null_count:
            raise InputError("a row has no model; name one in each", path=path, column="model")
    for name in ("answer", *groups):
        _check_same(table, name, path)
    found = []
    for model in pc.unique(models).to_pylist():
        rows = np.flatnonzero(np.asarray(pc.equal(models, model)))
        own = table.take(pa.array(rows))
        _check_items(own, rows, path)
        others = {
            name: read_column(own[name], SCHEMA.field(name), path, rows=rows)
            for name in SCHEMA.names
            if name in names and name not in {"model", "item", "answer", "reciprocal_rank"}
        }
        reciprocal = read_reciprocal(own, "reciprocal_rank", path, rows=rows)
        _check_ranks(own, reciprocal, others, rows, path)
        answers = read_group(own, "answer", str(path))
        found.append(
            _from_columns(
                model=str(model),
                items=_items_of(own),
                answers=answers,
                reciprocal=reciprocal,
                others=others,
                groups={each: read_group(own, each, str(path)) for each in groups},
                contradicted=_find_contradicted(own, answers, path),
            )
        )
    made = tuple(found) if "item" in names else _check_places(found)
    _warn_of_other_texts(table, made, models, path)
    return made


def _find_contradicted(table: pa.Table, answers: pa.Array, path: Path) -> list[str | None]:
    """Say which answers are other words than the hidden ones, by the texts beside them."""
    masked = next((name for name in WHOLE if name in table.column_names), "")
    return find_others(table, answers.to_pylist(), masked, str(path))


def _check_places(found: Sequence[MaskedAnswers]) -> tuple[MaskedAnswers, ...]:
    """Name items by their places only where all models have the same answers in them."""
    answers = [each.table["answer"].to_pylist() for each in found]
    if all(each == answers[0] for each in answers):
        return tuple(found)
    place = SCHEMA.get_field_index("item")
    return tuple(
        replace(each, table=each.table.set_column(place, "item", pa.nulls(len(each), pa.int64())))
        for each in found
    )


def _warn_of_other_texts(
    table: pa.Table, made: Sequence[MaskedAnswers], models: Any, path: Path
) -> None:
    """Count the items that have another text for another model; texts that are missing say nothing.

    Accuracies of models that were asked other things are not to be compared.
    """
    texts = [
        name
        for name in _TEXTS
        if table.column_names.count(name) == 1 and not pa.types.is_nested(table[name].type)
    ]
    rows = [np.flatnonzero(np.asarray(pc.equal(models, each.model))) for each in made]
    own = table.select(texts).take(pa.array(np.concatenate(rows)))
    items = pa.concat_arrays([each.table["item"].combine_chunks() for each in made])
    other: dict[Any, str] = {}
    for name in texts:
        values = trim_texts(as_texts(own[name], path=path, name=name))
        is_known = pa.array(~find_missing(pa.chunked_array([values])))
        pairs = pa.table({"item": items, "value": values}).filter(is_known).drop_null()
        each = pairs.group_by("item").aggregate([("value", "count_distinct")])
        wrong = each.filter(pc.greater(each["value_count_distinct"], 1))["item"].to_pylist()
        other = dict.fromkeys(wrong, name) | other
    if other:
        item, name = next(iter(other.items()))
        n = f"{len(other):,} of {say_count(pc.count_distinct(items).as_py(), 'item')}"
        warnings.warn(
            f"{path}: in {n} the models have other texts than each other, such as the {name} of "
            f"item {item!r}; let all models answer the same texts, or give other texts other items",
            IetestWarning,
            stacklevel=2,
        )


def _check_same(table: pa.Table, name: str, path: Path) -> None:
    """Stop if an item has another answer, or is in another group, for another model."""
    items = _items_of(table)
    if items is None:
        return
    values = read_group(table, name, str(path))
    pairs = pa.table({"item": items, "value": values}).drop_null()
    each = pairs.group_by("item").aggregate([("value", "min"), ("value", "max")])
    wrong = each.filter(pc.not_equal(each["value_min"], each["value_max"]))
    if wrong.num_rows:
        first = wrong.slice(0, 1).to_pylist()[0]
        noun = "answers" if name == "answer" else "values"
        raise InputError(
            f"the item {first['item']!r} has the {noun} {first['value_min']!r} and "
            f"{first['value_max']!r}; correct one of them",
            path=path,
            column=name,
        )


def _check_items(own: pa.Table, rows: Numbers, path: Path) -> None:
    """Stop if a model has answered an item twice."""
    items = _items_of(own)
    if items is None:
        return
    known = items.drop_null()
    if pc.count_distinct(known).as_py() == len(known):
        return
    seen: set[object] = set()
    for row, item in zip(rows.tolist(), items.to_pylist(), strict=True):
        if item is not None and item in seen:
            raise row_error(
                f"the item {item!r} stands there twice for one model; remove one, or tell models "
                "apart by a column model",
                path,
                row,
                "item",
            )
        seen.add(item)


def _refuse_rows(own: pa.Table, rows: Numbers, path: Path) -> Refuse:
    """Make what stops at the first wrong row of a column, and shows its value."""

    def refuse(wrong: Mask, column: str, complaint: str) -> None:
        if wrong.any():
            place = int(np.flatnonzero(wrong)[0])
            value = own[column][place].as_py()
            raise row_error(f"{value!r} {complaint}", path, int(rows[place]), column)

    return refuse


def _check_ranks(
    own: pa.Table, reciprocal: Floats, others: dict[str, Any], rows: Numbers, path: Path
) -> None:
    """Stop where what is said of a rank cannot be true."""
    refuse = _refuse_rows(own, rows, path)
    is_scored = np.isfinite(reciprocal)
    answers = pc.fill_null(own["answer"], "")
    is_blank = np.asarray(pc.equal(answers, ""))
    refuse(is_scored & is_blank, "answer", "is no answer, but has a rank; give both or neither")
    if "problem" in others:
        is_odd = is_scored & np.asarray(pc.is_valid(others["problem"]))
        refuse(is_odd, "problem", "is a problem, but there is a rank; give one of them")
    if "predicted" in others:
        _check_predicted(answers, reciprocal, others, refuse)
    if "rank" in others:
        rank = np.asarray(pc.fill_null(others["rank"], 0))
        is_given = np.asarray(pc.is_valid(others["rank"]))
        is_same = (reciprocal > 0) & _are_reciprocal(reciprocal, rank)
        wanted = "is not one over the reciprocal rank; correct one, or leave the column out"
        refuse(is_given & ~is_same, "rank", wanted)
    for said in filter(None, map(_SAYS_FIRST.match, own.column_names)):
        name, k = said.string, int(said["k"] or 1)
        marks, bad = find_outcomes(own[name])
        if find_missing(own[name])[bad].all():  # otherwise these are scores of another kind
            is_first = reciprocal * k > 1 - 1e-6
            # An answer that is not among those that were ranked has any rank beyond.
            is_known = is_scored & ((reciprocal > 0) | (k == 1))
            is_other = is_known & (marks != is_first)
            is_other[bad] = False
            refuse(is_other, name, "contradicts the rank")
        elif k == 1:
            are_first = [(reciprocal == 1)[is_scored]]
            for note in say_other_means({name: own[name]}, are_first, path, outcomes=()):
                said_otherwise = note.removeprefix("Warning: ").removesuffix(".")
                warnings.warn(said_otherwise, IetestWarning, stacklevel=2)
    _check_twins(own, others, reciprocal, refuse)
    if "ranked_in" in others:
        ways = get_args(RankedIn)
        is_known = np.asarray(pc.is_in(others["ranked_in"], value_set=pa.array(ways)))
        refuse(
            is_scored & ~is_known, "ranked_in", f"is none of {', '.join(ways)}; take one of them"
        )
    _check_tokens(own, reciprocal, others, path, refuse)


def _check_twins(own: pa.Table, others: dict[str, Any], reciprocal: Floats, refuse: Refuse) -> None:
    """Stop where a number, or the first choice, stands there again and is another one."""
    known = {"reciprocal_rank": reciprocal}
    if "log_probability" in others:
        values = others["log_probability"]
        known["log_probability"] = np.asarray(pc.fill_null(values, np.nan), np.float64)
    for names, name, read in _NUMBERS_AGAIN:
        for twin in find_named(own.column_names, names if name in known else ()):
            numbers = as_numbers(own[twin])
            said = np.asarray(read(known[name]))
            is_other = np.isfinite(numbers) & np.isfinite(said) & (np.abs(numbers - said) > _NEAR)
            refuse(is_other, twin, f"is not that of {name} beside it; correct one of them")
    _check_answers(own, refuse)
    if "predicted" not in others:
        return
    lists = [name for name in own.column_names if _FIRST_ONES.match(name)]
    for twin in (*find_named(own.column_names, _FIRST_AGAIN), *lists):
        column = _take_first(own[twin])
        if twin in lists:  # which may be written without brackets
            column = pc.list_element(
                pc.split_pattern_regex(column, r"\s*[,;|]\s*", max_splits=1), 0
            )
        _, bad = find_outcomes(column)
        if np.isfinite(as_numbers(column)).any() or find_missing(column)[bad].all():  # marks
            continue
        first, again = (label_keys(each, Path()) for each in (others["predicted"], column))
        is_other = (first != again) & (first != "") & (again != "")
        refuse(is_other, twin, "is not the word predicted beside it; correct one of them")


def _check_answers(own: pa.Table, refuse: Refuse) -> None:
    """Stop where a column has another of the answers, or any word if it repeats the answers.

    Other words are about something else.
    """
    answers = label_keys(own["answer"], Path())
    for twin in find_named(own.column_names, _ANSWERS_AGAIN):
        again = label_keys(_take_first(own[twin]), Path())
        is_answer = np.isin(again, answers[answers != ""]) | does_repeat(again, answers)
        is_other = is_answer & (again != answers) & (answers != "") & (again != "")
        refuse(is_other, twin, "is not the answer beside it; correct one of them")


def _take_first(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the first of each list of words, also of one that a text spells; or the word."""
    found = []
    for value in column.to_pylist():
        words = value
        if isinstance(value, str) and value.startswith("["):
            parsed = parse_list(value)
            words = value if parsed is None else parsed
        found.append(words[0] if isinstance(words, list) and words else words)
    texts = [
        None if each is None or isinstance(each, (list, dict)) else str(each) for each in found
    ]
    return pa.chunked_array([pa.array(texts, pa.string())])


def _check_tokens(
    own: pa.Table, reciprocal: Floats, others: dict[str, Any], path: Path, refuse: Refuse
) -> None:
    """Stop where no token, or no probability, could have the rank beside it.

    In the vocabulary an answer of one token is ranked, and r tokens that are as likely or likelier
    have at most 1 together. Logs that do not say in what they rank do so in the vocabulary.
    """
    by_all, remedy = reciprocal > 0, _OR_CANDIDATES
    if "ranked_in" in others:
        is_said = pc.fill_null(pc.equal(others["ranked_in"], "vocabulary"), False)
        by_all, remedy = by_all & np.asarray(is_said), "correct one of them"
    if "n_tokens" in others:
        n = np.asarray(pc.fill_null(others["n_tokens"], 1))
        refuse(n < 1, "n_tokens", "tokens are no word; correct it, or leave the column out")
        refuse(by_all & (n > 1), "n_tokens", f"tokens have no rank in the vocabulary; {remedy}")
    if "log_probability" in others:
        known = np.asarray(pc.fill_null(others["log_probability"], -np.inf))
        refuse(known > 0, "log_probability", "is above 0; the logarithm of a share expected")
    most = np.log(reciprocal, where=by_all, out=np.zeros(len(reciprocal)))
    for name, known in _read_logarithms(own, path):
        complaint = f"is more than a token of this rank can have; {remedy}"
        refuse(by_all & (known > most + _ROUNDING), name, complaint)
        is_first = by_all & (reciprocal == 1) & np.isfinite(known)
        complaint = f"is less than the likeliest of all tokens has; {remedy}"
        refuse(is_first & (known < -np.log(_MOST_TOKENS)), name, complaint)


def _read_logarithms(own: pa.Table, path: Path) -> Iterator[tuple[str, Floats]]:
    """Give columns of the answers' probabilities as logarithms, -inf where there is none.

    Numbers that are no shares, such as percentages, may be anything; shares may be rounded.
    """
    for column in find_named(own.column_names, _SHARES):
        shares = as_numbers(own[column])
        n = int((shares > 1).sum())
        if not n:
            shares = shares - _ROUNDED
            yield column, np.log(shares, where=shares > 0, out=np.full(len(shares), -np.inf))
        elif 2 * n < np.isfinite(shares).sum():
            said = (
                f"{path}: {column} is above 1 in {say_count(n, 'row')} of {len(own):,}, so it is "
                "taken for no probability and not compared with the ranks; write shares of 1"
            )
            warnings.warn(said, IetestWarning, stacklevel=2)
    for column in find_named(own.column_names, ("log_probability", *_LOGARITHMS)):
        numbers = as_numbers(own[column])
        numbers = np.where(np.isfinite(numbers), numbers, -np.inf)
        if (numbers <= 0).all():
            yield column, numbers


def _check_predicted(
    answers: pa.ChunkedArray, reciprocal: Floats, others: dict[str, Any], refuse: Refuse
) -> None:
    """Stop where the model's first choice contradicts the rank of the answer.

    In the vocabulary the first choice may look like an answer that is not ranked first: " and" and
    "and" are two tokens.
    """
    predicted = pc.fill_null(others["predicted"], "").cast(pa.large_string())
    is_given = np.asarray(pc.not_equal(predicted, ""))
    is_answer = np.asarray(pc.equal(predicted, answers))
    refuse(
        is_given & ~is_answer & (reciprocal == 1),
        "predicted",
        "is not the answer, whose rank is 1; correct one of them",
    )
    if "ranked_in" in others:
        is_compared = np.asarray(pc.fill_null(pc.equal(others["ranked_in"], "candidates"), False))
        refuse(
            is_compared & is_answer & (reciprocal < 1),
            "predicted",
            "is the answer, whose rank is not 1; correct one of them",
        )


def _items_of(table: pa.Table) -> Any:
    return table["item"] if "item" in table.column_names else None


def _from_columns(
    *,
    model: str,
    items: Any,
    answers: Any,
    reciprocal: Floats,
    others: dict[str, Any],
    groups: dict[str, Any],
    contradicted: Sequence[str | None],
) -> MaskedAnswers:
    """Put a table together of what is known; of answers that texts contradict no rank is."""
    n = len(reciprocal)
    is_known = np.isfinite(reciprocal) & (reciprocal > 0)
    ranks = np.zeros(n, np.int32)
    ranks[is_known] = np.round(1 / reciprocal[is_known]).astype(np.int32)
    lacking = pa.array(
        [
            why if has_rank else "no rank in the log"
            for has_rank, why in zip(np.isfinite(reciprocal), contradicted, strict=True)
        ],
        pa.string(),
    )
    is_wrong = np.asarray(lacking.is_valid())
    reciprocal = np.where(is_wrong, np.nan, reciprocal)
    if "problem" in others:
        lacking = pc.coalesce(others["problem"], lacking)
    own_ranks = pa.array(ranks, mask=~is_known)
    if "rank" in others:
        own_ranks = pc.coalesce(others["rank"], own_ranks)
    own_ranks = pc.if_else(pa.array(is_wrong), None, own_ranks)
    columns = {
        "model": pa.array([model] * n),
        "item": pa.array(range(n), pa.int64()) if items is None else items,
        "answer": answers,
        "reciprocal_rank": pa.array(reciprocal, from_pandas=True),
        "ranked_in": pa.array(["vocabulary"] * n),
        **others,
        "rank": own_ranks,
        "problem": lacking,
    }
    made = {
        field.name: columns.get(field.name, pa.nulls(n, field.type)) for field in SCHEMA
    } | groups
    return MaskedAnswers(table=pa.table(made), groups=tuple(groups))
