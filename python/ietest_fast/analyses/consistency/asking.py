"""How consistent a classifier is: paraphrases, its answers to them, and what these show."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.analyses.consistency.buckets import find_mixed, name_items, read_buckets
from ietest_fast.analyses.consistency.curves import curves_of_profiles, note_amounts, read_amounts
from ietest_fast.analyses.consistency.file import (
    ConsistencyAnswers,
    ConsistencyNotes,
    join_answers,
)
from ietest_fast.analyses.consistency.making import choose_reworded_columns, make_buckets
from ietest_fast.analyses.consistency.noting import SOURCE, note_parts
from ietest_fast.analyses.consistency.paranlu import paranlu_kind, read_paranlu_buckets
from ietest_fast.analyses.consistency.profile import (
    compare_models,
    measure_wordings,
    weigh_by_test_sets,
)
from ietest_fast.answers.asking import ModelAnswers, Questions, answer, name_data
from ietest_fast.answers.file import write_answers
from ietest_fast.answers.schema import CHANGED, GROUPS, align_types, check_kept, plain_type
from ietest_fast.answers.shared import find_answered_texts
from ietest_fast.answers.table import ORIGINAL, Predictions
from ietest_fast.corpus.columns import check_columns
from ietest_fast.corpus.dataset import LABEL, is_text
from ietest_fast.errors import InputError, shorten_error
from ietest_fast.models.label_map import match_labels
from ietest_fast.numerals import say_count
from ietest_fast.values import show_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ietest_fast.analyses.consistency.buckets import Buckets
    from ietest_fast.analyses.consistency.curves import ConsistencyCurve
    from ietest_fast.analyses.consistency.noting import ConsistencyOptions
    from ietest_fast.analyses.consistency.partition import ComparedPair
    from ietest_fast.analyses.consistency.profile import ConsistencyProfile
    from ietest_fast.corpus import Corpus
    from ietest_fast.corpus.reasoning import ReasoningTask
    from ietest_fast.models import TextClassifier
    from ietest_fast.transform.phi import TextSource


# Paraphrases of the same items from several sources, such as people and a program, joined.


def join_buckets(parts: Mapping[str, Buckets], *, drop_mixed: bool = False) -> Buckets:
    """Put paraphrases of the same items from several sources together."""
    found = list(parts.values())
    first = found[0]
    tables = {name: own.table for name, own in parts.items()}
    files = {name: own.source for name, own in parts.items()}
    _refuse_copies(tables, files)
    shared = _say_shared(tables, files)
    for own in found[1:]:
        for what, mine, theirs in (
            ("text columns", own.text_columns, first.text_columns),
            ("labels", own.label_names, first.label_names),
        ):
            if mine != theirs:
                raise InputError(
                    f"has the {what} {', '.join(mine)}, and {first.source} has "
                    f"{', '.join(theirs)}; files to be joined have the same",
                    path=own.source,
                )
    table = _join(
        tables,
        files,
        keys=["item"],
        same=[*first.text_columns, LABEL],
    )
    mixed = list(dict.fromkeys(name for own in found for name in own.mixed))
    if drop_mixed:
        is_mixed = find_mixed(table["item"], table[LABEL])
        mixed += name_items(table["item"].filter(pa.array(is_mixed)))
    names = table["item"].cast(pa.string())
    table = table.filter(pc.invert(pc.is_in(names, value_set=pa.array(mixed, pa.string()))))
    known = {*mixed, *name_items(names)}
    empty = dict.fromkeys(name for own in found for name in own.empty)
    return replace(
        first,
        table=table,
        dropped=_add(own.dropped for own in found),
        empty=tuple(name for name in empty if name not in known),
        mixed=tuple(dict.fromkeys(mixed)),
        # How many wordings were asked for is known if all sources were made here.
        made=tuple(each for own in found for each in own.made)
        if all(own.made for own in found)
        else (),
        notes=shared,
    )


def join_answers_of_sources(parts: Mapping[str, ConsistencyAnswers]) -> ConsistencyAnswers:
    """Put the answers of a classifier to paraphrases from several sources together."""
    found = list(parts.values())
    first = found[0].predictions
    has_copies = any("copy" in own.predictions.columns for own in found)
    tables = {}
    for name, own in parts.items():
        mine = own.predictions
        if mine.groups != first.groups:
            raise InputError(
                f"has answers of other classifiers than {first.source}; files to be joined are of "
                "the same",
                path=mine.source,
            )
        if mine.label_names != first.label_names:
            raise InputError(
                f"has other labels than {first.source}; files to be joined have the same",
                path=mine.source,
            )
        table = mine.table
        if has_copies and "copy" not in mine.columns:
            table = table.append_column("copy", pa.array(np.zeros(len(mine), np.int32)))
        kinds = pa.schema([(field.name, plain_type(field.type)) for field in table.schema])
        tables[name] = table.cast(kinds)
    groups = [name for name in GROUPS if name in first.columns]
    files = {name: own.predictions.source for name, own in parts.items()}
    _refuse_copies(tables, files)
    texts = _find_shared_texts(found)
    shared = _say_shared(tables, files)
    if not texts:  # by which equal wordings are found
        shared += _say_same_answers(tables, keys=["item", "version", *groups])
    table = _join(
        tables,
        files,
        keys=["item", *groups],
        same=[
            *(name for name in ("gold", "predicted", "correct") if name in first.columns),
            *texts,
        ],
    )
    for own, file in zip(found, files, strict=True):
        if own.predictions.repeats != first.repeats:
            raise InputError(
                "has several answers to each wording, or one, and the other source does not; give "
                "both with the same (--epochs)",
                path=str(file),
            )
    all_notes = [own.notes for own in found]
    return ConsistencyAnswers(
        predictions=Predictions(
            table=table,
            label_names=first.label_names,
            dropped=_add(own.predictions.dropped for own in found),
            source=first.source,
            repeats=first.repeats,
        ),
        notes=replace(
            all_notes[0],
            n_empty={
                name: None
                for notes in all_notes
                for name, n in notes.n_empty.items()
                if n is None or n > 0
            },
            n_mixed={},
            n_wanted={
                name: sum(notes.n_wanted[name] for notes in all_notes)
                for name in all_notes[0].n_wanted
                if all(name in notes.n_wanted for notes in all_notes)
            },
            strata={},
            diversity=(),
            partial_input=None,
            warnings=tuple(
                dict.fromkeys(
                    line
                    for name, own in parts.items()
                    for line in (*own.notes.warnings, *_say_lacking(name, own.notes))
                )
            )
            + shared,
        ),
    )


def _say_shared(tables: Mapping[str, pa.Table], sources: Mapping[str, str]) -> tuple[str, ...]:
    """Say how many items sources share, because sources are compared on these alone."""
    listed = {name: name_items(table["item"]) for name, table in tables.items()}
    items = {name: set(own) for name, own in listed.items()}
    for name, own in reversed(items.items()):
        others = [other for other in items if other != name]
        if not any(own & items[other] for other in others):
            mine, theirs = listed[name][0], listed[others[0]][0]
            raise InputError(
                f"{name} shares no item with {' and '.join(others)}: {name} has {mine!r}, "
                f"{others[0]} {theirs!r}; sources hold paraphrases of the same items, so name "
                "them alike",
                path=sources[name],
                column="item",
            )
    said = []
    for one, two in combinations(items, 2):
        n = len(items[one] & items[two])
        if items[one] == items[two]:
            continue
        said.append(
            f"{one} and {two} share {say_count(n, 'item') if n else 'no item'} ({one} has "
            f"{len(items[one]):,}, {two} {len(items[two]):,}): the two are compared on "
            f"{'none' if n == 0 else 'this one' if n == 1 else 'these'}."
        )
    return tuple(said)


def _refuse_copies(tables: Mapping[str, pa.Table], sources: Mapping[str, str]) -> None:
    """Refuse rows that are there twice, because each wording would be paired with its own copy."""
    for one, two in combinations(tables, 2):
        if tables[one].equals(tables[two]):
            raise InputError(
                f"{two} holds the same rows as {one} ({sources[one]}), so that each paraphrase "
                "would be compared with its own copy; give each source once",
                path=sources[two],
            )


def _say_same_answers(tables: Mapping[str, pa.Table], *, keys: Sequence[str]) -> tuple[str, ...]:
    """Warn of paraphrases that have the same names and answers in two sources throughout."""
    said = []
    for one, two in combinations(tables, 2):
        names = [name for name in tables[one].column_names if name in tables[two].column_names]
        mine, theirs = align_types(
            [
                table.filter(pc.not_equal(table["version"], ORIGINAL))
                .select(names)
                .sort_by([(name, "ascending") for name in names if name in {*keys, "copy"}])
                .replace_schema_metadata(None)
                for table in (tables[one], tables[two])
            ]
        )
        if mine.num_rows and mine.equals(theirs):
            said.append(
                f"Warning: {one} and {two} have paraphrases of the same names, with the same "
                f"answers throughout ({say_count(mine.num_rows, 'paraphrase')} each). If they are "
                "the same paraphrases, P_C is too high: give them once."
            )
    return tuple(said)


def _find_shared_texts(parts: Sequence[ConsistencyAnswers]) -> list[str]:
    """Return the columns of texts that all have, for their originals to be compared."""
    first, *others = (find_answered_texts(own.predictions, own.notes.text_columns) for own in parts)
    for part, names in zip(parts[1:], others, strict=True):
        if first and len(names) == len(first) and not set(first) & set(names):
            raise InputError(
                f"is called {show_value(first[0])} in {parts[0].predictions.source}: call columns "
                "of texts alike, so that the originals of both sources can be compared",
                path=part.predictions.source,
                column=names[0],
            )
    return [name for name in first if all(name in own for own in others)]


def _say_lacking(source: str, notes: ConsistencyNotes) -> list[str]:
    """Say how many items a source lacks, of each classifier."""
    said = []
    for counts, one, many in (
        (notes.n_empty, "item has no row that can be used", "items have no row that can be used"),
        (
            notes.n_mixed,
            "item was left out, because its wordings have different gold labels",
            "items were left out, because their wordings have different gold labels",
        ),
    ):
        for model, n in counts.items():
            if n:
                who = source if not model else f"{source}, {model}"
                said.append(f"{who}: {say_count(n, one, many)}.")
    return said


def _add(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for each in counts:
        for name, n in each.items():
            total[name] = total.get(name, 0) + n
    return total


@dataclass(frozen=True, kw_only=True)
class _Originals:
    """The originals of tables that are joined: each stands in several, and is taken once."""

    sources: Mapping[str, str]
    """By name of a table, where it comes from."""
    keys: Sequence[str]
    """Columns that tell originals apart."""
    same: Sequence[str]
    """Columns in which the tables have to agree."""
    seen: dict[tuple[object, ...], tuple[str, tuple[object, ...]]] = field(default_factory=dict)
    """By key, the table that an original was taken from, and its values."""

    def are_new(self, name: str, record: Mapping[str, Any]) -> bool:
        """Whether an original is in no table before; it must not be another one there."""
        key = tuple(record[column] for column in self.keys)
        # A missing text is an empty one, as in a CSV file.
        values = tuple("" if record[c] is None else record[c] for c in self.same)
        if key not in self.seen:
            self.seen[key] = name, values
            return True
        other, known = self.seen[key]
        if known != values:
            column = next(c for c, a, b in zip(self.same, known, values, strict=True) if a != b)
            raise InputError(
                f"the original of item {record['item']!r} has another {column} than in "
                f"{self.sources[other]}; files to be joined have the same originals, answered by "
                "the same model",
                path=self.sources[name],
                column=column,
            )
        return False


def _check_joined(table: pa.Table, source: str, *, first: str, same: Sequence[str]) -> None:
    """Refuse a table that lacks what the first has, or has what joining adds."""
    if SOURCE in table.column_names:
        raise InputError(
            "is there already, and the names of the sources go there; rename it",
            path=source,
            column=SOURCE,
        )
    missing = [column for column in same if column not in table.column_names]
    if missing:
        raise InputError(f"is missing; {first} has it", path=source, column=missing[0])


def _join(
    tables: Mapping[str, pa.Table],
    sources: Mapping[str, str],
    *,
    keys: Sequence[str],
    same: Sequence[str],
) -> pa.Table:
    """Join tables of wordings: originals once, each of the others with its source."""
    tables = dict(zip(tables, align_types([*tables.values()]), strict=True))
    originals = _Originals(sources=sources, keys=keys, same=same)
    parts = []
    for name, table in tables.items():
        _check_joined(table, sources[name], first=next(iter(sources.values())), same=same)
        is_original = pc.equal(table["version"], ORIGINAL).to_numpy()
        keep = np.ones(table.num_rows, np.bool_)
        own = table.filter(pa.array(is_original)).select(list(dict.fromkeys([*keys, *same])))
        keep[is_original] = [originals.are_new(name, record) for record in own.to_pylist()]
        versions = pc.if_else(
            pa.array(is_original),
            pa.scalar(ORIGINAL),
            pc.binary_join_element_wise(
                pa.scalar(name), table["version"].cast(pa.string()).combine_chunks(), ":"
            ),
        )
        labels = pa.array(np.where(is_original, ORIGINAL, name), pa.string())
        place = table.column_names.index("version")
        made = table.set_column(place, "version", versions).append_column(SOURCE, labels)
        parts.append(made.filter(pa.array(keep)).replace_schema_metadata(None))
    try:
        return pa.concat_tables(parts, promote_options="permissive")
    except pa.ArrowException as error:
        raise InputError(
            f"the tables cannot be put together: {shorten_error(error)}",
            path=[*sources.values()][-1],
        ) from error


# A finished classifier on buckets: all wordings of the items, each distinct input once.


def _as_questions(buckets: Buckets, options: ConsistencyOptions) -> Questions:
    if not buckets.n_paraphrases.any():
        raise InputError(
            "no item has a paraphrase: every item has one row. A file of paraphrases has several "
            "rows with the same item; or make paraphrases of the texts (--phi)",
            path=buckets.source,
            column="item",
        )
    columns = tuple(options.input_columns or buckets.text_columns)
    check_columns(buckets.source, buckets.text_columns, columns)
    check_columns(buckets.source, buckets.table.column_names, options.kept)
    kept = (*buckets.text_columns, *options.kept)
    check_kept(kept, buckets.source, made=(CHANGED,))
    corpus = buckets.as_corpus()
    changed = pa.array(_find_changed(buckets, columns))
    table = buckets.table.select(list(dict.fromkeys(["item", "version", *kept])))
    return Questions(
        table=table.add_column(2, CHANGED, changed),
        labels=corpus.labels,
        label_names=buckets.label_names,
        columns=columns,
        groups=buckets.codes,
        dropped=buckets.dropped,
        source=buckets.source,
        phi=",".join(making.identity for making in buckets.made) or "given",
        data=name_data(corpus),
    )


def _find_changed(buckets: Buckets, columns: Sequence[str]) -> NDArray[np.bool_]:
    originals = buckets.find_originals()
    changed = originals < 0
    rows = pa.array(np.maximum(originals, 0))
    for name in columns:
        texts = buckets.table[name].combine_chunks()
        differs = pc.fill_null(pc.not_equal(texts, texts.take(rows)), True)
        changed |= np.asarray(differs.to_numpy(zero_copy_only=False), dtype=np.bool_)
    return np.asarray(changed)


# The paraphrases: read, or made.


def is_paranlu(path: str | Path) -> bool:
    """Whether a file is ParaNLU's, which says itself what it holds."""
    return paranlu_kind(path) in {"paraphrases", "results"}


def read_paraphrases(path: str | Path, options: ConsistencyOptions) -> Buckets:
    """Read paraphrases of a file: ParaNLU's, or a table with a row for each wording."""
    if is_paranlu(path):
        return read_paranlu_buckets(path)
    return read_buckets(
        path,
        text_columns=options.text_columns,
        label_column=options.label_column,
        **options.reading,
    )


def list_needed(options: ConsistencyOptions, task: ReasoningTask | None) -> list[str]:
    """Return the columns of labelled texts that their paraphrases are made with."""
    item = () if options.item_column is None else (options.item_column,)
    parts = () if task is None else task.parts
    return list(dict.fromkeys((*item, *options.kept, *parts)))


def make_paraphrases(
    corpus: Corpus, options: ConsistencyOptions, learn_from: Sequence[Corpus | TextSource]
) -> Buckets:
    """Make paraphrases of labelled texts."""
    return make_buckets(
        corpus,
        options.phi,
        draws=options.draws,
        share=0.5 if options.share is None else options.share,
        seed=options.seed,
        item_column=options.item_column,
        columns=choose_reworded_columns(
            corpus, seen=options.input_columns, reworded=options.reword
        ),
        learn_from=learn_from,
        n_threads=options.n_threads,
    )


# One classifier asked, and all answers measured.


def ask(
    model: TextClassifier,
    buckets: Buckets,
    options: ConsistencyOptions,
    **bar: Callable[[int], None],
) -> tuple[ConsistencyAnswers, ModelAnswers]:
    """Let a classifier answer all wordings, each distinct input once; `bar` shows how far it is."""
    mapping = match_labels(model.labels, buckets.label_names, label_map=options.label_map)
    asked = _as_questions(buckets, options)
    found = answer(model, asked, mapping, unparsed=options.unparsed, **bar)
    notes = ConsistencyNotes.of(buckets, found, clusters=options.clusters, subset=options.subset)
    return ConsistencyAnswers(predictions=found.predictions, notes=notes), found


@dataclass(frozen=True, kw_only=True, eq=False)
class Consistency:
    """The consistency of one classifier or several."""

    answers: tuple[ConsistencyAnswers, ...]
    """What they answered, with what was noted of it."""
    profiles: tuple[ConsistencyProfile, ...]
    """One for each classifier."""
    pairs: tuple[ComparedPair, ...]
    """Comparisons of classifiers on the same items."""
    remarks: tuple[str, ...]
    """Which were not compared."""
    curves: tuple[ConsistencyCurve, ...]
    """Classifiers that have seen different amounts of data."""

    @property
    def text_columns(self) -> tuple[str, ...]:
        """Columns of the texts that were answered; of files that name none, those with texts."""
        told = [name for each in self.answers for name in each.notes.text_columns]
        return tuple(dict.fromkeys(told)) or _find_texts(self.profiles[0].predictions)

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            "profiles": [each.to_dict() for each in self.profiles],
            "pairs": [each.to_dict() for each in self.pairs],
            "curves": [each.to_dict() for each in self.curves],
        }

    def write(self, path: Path, options: ConsistencyOptions) -> None:
        """Write all answers to one file, from which they are measured in the same way."""
        joined = join_answers(self.answers)
        clusters = options.clusters or joined.notes.clusters
        notes = replace(
            joined.notes, clusters=clusters, subset=options.subset or joined.notes.subset
        )
        write_answers(replace(joined, notes=notes), path)


def _find_texts(predictions: Predictions) -> tuple[str, ...]:
    fields = [predictions.table.schema.field(name) for name in predictions.extra_columns]
    return tuple(
        each.name
        for each in fields
        if is_text(each.type) and not each.name.endswith("_id") and each.name != "cluster"
    )


def measure(answers: Sequence[ConsistencyAnswers], options: ConsistencyOptions) -> Consistency:
    """Measure how alike classifiers answer the wordings of items, and compare them."""
    noted = _note_curve(note_parts(answers, options), options)
    if options.test_sets:
        noted = weigh_by_test_sets(noted, options.test_sets, n_strata=options.n_strata)
    profiles = measure_wordings(noted, options)
    pairs, remarks = compare_models(profiles, **options.comparing)
    return Consistency(
        answers=noted,
        profiles=profiles,
        pairs=pairs,
        remarks=remarks,
        curves=curves_of_profiles(
            (own for each in noted for own in each.notes.curves), profiles, **options.comparing
        ),
    )


def _note_curve(
    answers: tuple[ConsistencyAnswers, ...], options: ConsistencyOptions
) -> tuple[ConsistencyAnswers, ...]:
    """Note how much data classifiers have seen, if it is said."""
    of = options.amounts_of
    if options.amount_column is not None:
        return read_amounts(answers, options.amount_column, of=of)
    if options.amounts is not None:
        values, in_percent = options.amounts
        return note_amounts(answers, values, of=of, in_percent=in_percent)
    return answers
