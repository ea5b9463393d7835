"""The paraphrases that a caller has, or has made; and arguments that do not go together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ietest_fast.analyses.consistency.buckets import Buckets, buckets_from_table, read_buckets
from ietest_fast.analyses.consistency.joining import SOURCE, join_buckets
from ietest_fast.analyses.consistency.making import choose_reworded_columns, make_buckets
from ietest_fast.analyses.consistency.noting import check_groups, check_measures, measures_of
from ietest_fast.analyses.consistency.paranlu import paranlu_kind, read_paranlu_buckets
from ietest_fast.answers.table import ORIGINAL, Predictions
from ietest_fast.api.data import LabelledTable, as_labelled
from ietest_fast.api.evaluating import learn_source
from ietest_fast.corpus.columns import find_label_column, find_text_columns
from ietest_fast.corpus.formats import check_readable
from ietest_fast.corpus.reasoning import task_of_file
from ietest_fast.errors import InputError
from ietest_fast.frames import to_arrow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_OF_TABLES = (
    "item_column",
    "version_column",
    "drop_mixed",
    "text_columns",
    "label_column",
    "label_names",
)
_OF_PHI = ("draws", "share", "reword", "learn_from")
_OF_DATA = (
    "phi",
    *_OF_PHI,
    *(name for name in _OF_TABLES if name != "drop_mixed"),
    "keep_columns",
    "labels",
    "label_map",
    "inputs",
    "input_columns",
    "batch_size",
    "cache",
    "unparsed",
    "threshold",
)


def check_arguments(data: Any, given: Mapping[str, Any]) -> None:
    """Refuse arguments of ``ie.consistency`` that would be ignored."""

    def refuse(names: Sequence[str], because: str) -> None:
        for name in names:
            value = given[name]
            if not (value is None or value is False or (isinstance(value, tuple) and not value)):
                raise InputError(f"{name} {because}")

    if data is None:
        refuse(_OF_DATA, "is for a classifier that answers data; this is a log of answers")
        return
    if isinstance(data, Buckets):
        refuse(("phi", *_OF_TABLES), "is for a table or a file; these are Buckets already")
    elif isinstance(data, str | Path):
        check_readable(Path(data))
        if paranlu_kind(data) in {"paraphrases", "results"}:
            refuse(("phi",), "is for labelled texts; this file holds paraphrases already")
            refuse(_OF_TABLES, "is for a table of paraphrases; this file is ParaNLU's")
    if given["phi"] is None:
        refuse(_OF_PHI, "needs phi")
        return
    refuse(("version_column",), "is for a table of paraphrases; phi makes them")
    refuse(("drop_mixed",), "is for a table of paraphrases; phi keeps labels")
    if given["draws"] is None:
        refuse(("share",), "needs draws")


def check_sources(sources: Mapping[str, Any], classifier: Any, data: Any, phi: Any) -> None:
    """Refuse sources beside other data or answers, too few of them, and names that are none."""
    if data is not None:
        raise InputError("sources takes the place of data; give one of them")
    if phi is not None:
        raise InputError("phi makes paraphrases, and sources has them; give one of them")
    if isinstance(classifier, Predictions):
        raise InputError("sources takes the place of predictions; leave the classifier out")
    for name in sources:
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"sources has the name {name!r}; names of sources are texts")
        if name == ORIGINAL:
            raise InputError(
                f"sources has the name {ORIGINAL!r}, which is what originals are called"
            )
    if len(sources) < 2:
        raise InputError("sources needs two sources or more, with different names")


def check_parts(by_diversity: Sequence[str], diversity_groups: int | None) -> None:
    """Refuse measures of diversity, and groups, that are none."""
    try:
        check_measures(measures_of(by_diversity))
    except InputError as error:
        raise InputError(f"by_diversity: {error}") from error
    if diversity_groups is None:
        return
    if not by_diversity:
        raise InputError("diversity_groups needs by_diversity")
    try:
        check_groups(diversity_groups)
    except InputError as error:
        raise InputError(f"diversity_groups: {error}") from error


def join_tables(sources: Mapping[str, Any], **reading: Any) -> tuple[Buckets, LabelledTable]:
    """Take paraphrases from several sources, as :func:`take_buckets` does, and join them."""
    names = [name for name in reading.pop("keep_columns") if name != SOURCE]
    taken = {
        name: take_buckets(own, keep_columns=names, **reading) for name, own in sources.items()
    }
    joined = join_buckets({name: buckets for name, (buckets, _) in taken.items()})
    first = next(iter(taken.values()))[1]
    return joined, replace(first, corpus=joined.as_corpus())


def take_buckets(
    data: Any,
    *,
    item_column: str | None,
    version_column: str | None,
    drop_mixed: bool,
    keep_columns: Sequence[str],
    text_columns: Sequence[str] | None,
    label_column: str | None,
    label_names: Sequence[str] | None,
) -> tuple[Buckets, LabelledTable]:
    """Take paraphrases of any kind, with the table that they were made of."""
    if isinstance(data, Buckets):
        return data, LabelledTable(corpus=data.as_corpus())
    named: dict[str, Any] = {
        "item_column": item_column or "item",
        "version_column": version_column,
        "drop_mixed": drop_mixed,
        "keep_columns": tuple(keep_columns),
        "label_names": label_names,
    }
    if isinstance(data, str | Path):
        if paranlu_kind(data) in {"paraphrases", "results"}:
            found = read_paranlu_buckets(data)
        else:
            found = read_buckets(
                data, text_columns=text_columns, label_column=label_column, **named
            )
        return found, LabelledTable(corpus=found.as_corpus())
    table = to_arrow(data, source="data")
    if label_column is None:
        label_column = find_label_column("data", table.column_names)
    names = tuple(text_columns or find_text_columns("data", table.column_names)[0])
    found = buckets_from_table(
        table, text_columns=names, label_column=label_column, source="data", **named
    )
    return found, LabelledTable(
        corpus=found.as_corpus(), table=table, text_columns=names, label_column=label_column
    )


def make_of_labelled(
    data: Any,
    phi: Any,
    *,
    draws: int | None,
    share: float | None,
    seed: int,
    item_column: str | None,
    keep_columns: Sequence[str],
    seen: Sequence[str] | None,
    reword: Sequence[str] | None,
    learn_from: Any,
    n_threads: int | None,
    **reading: Any,
) -> tuple[Buckets, LabelledTable]:
    """Make paraphrases of labelled texts of any kind, with the table of these."""
    wanted = [*([] if item_column is None else [item_column]), *keep_columns]
    named = any(reading[name] is not None for name in ("text_columns", "label_column"))
    if isinstance(data, str | Path) and not named:
        task = task_of_file(data)
        wanted += () if task is None else task.parts
    found = as_labelled(data, keep_columns=list(dict.fromkeys(wanted)), source="data", **reading)
    buckets = make_buckets(
        found.corpus,
        phi,
        draws=draws,
        share=0.5 if share is None else share,
        seed=seed,
        item_column=item_column,
        columns=choose_reworded_columns(found.corpus, seen=seen, reworded=reword),
        learn_from=() if learn_from is None else (learn_source(learn_from, found),),
        n_threads=n_threads,
    )
    return buckets, found
