"""Answers to wordings in a file: what is noted of them, how they are read and put together."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from annotated_types import Ge, Gt, Le, Len, Lt

from ietest_fast.analyses.consistency.buckets import find_mixed
from ietest_fast.analyses.consistency.paranlu import paranlu_kind, read_paranlu
from ietest_fast.answers.file import (
    NotedAnswers,
    Notes,
    Told,
    name_models,
    plain_name,
    read_notes,
    refuse_lost,
    refuse_no_rewordings,
)
from ietest_fast.answers.labels import say_known_numbers, with_known_answers
from ietest_fast.answers.schema import CHANGED, is_predictions, say_unlikely
from ietest_fast.answers.table import ORIGINAL, Predictions
from ietest_fast.corpus.columns import find_text_columns
from ietest_fast.corpus.formats import check_readable
from ietest_fast.errors import InputError
from ietest_fast.numerals import say_count
from ietest_fast.stats.consistency.corrected import MOST_CONFIDENCE_STRATA, stratum_of
from ietest_fast.values import number_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.analyses.consistency.buckets import Buckets
    from ietest_fast.answers.asking import ModelAnswers
    from ietest_fast.answers.texts import VersionLog


# Amounts of data, such as tokens of pretraining, that the classifiers of a curve have seen.

AMOUNT = "amount of data"
"""What amounts are of, if nobody says it."""

_UNITS = {"k": "e3", "m": "e6", "b": "e9", "g": "e9", "t": "e12", "%": "e-2", "": ""}
_NUMBER = re.compile(r"(\d+(?:\.\d+)?) ?([kmbgt%]?)", re.IGNORECASE)
_IN_NAME = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)([kmbgt%]?)(?!\d)")


Amount = Annotated[float, Gt(0), Lt(math.inf)]


@dataclass(frozen=True, kw_only=True)
class Amounts(Told):
    """How much data each classifier of a curve has seen."""

    name: str = ""
    """Of the curve, where there are several; empty otherwise."""
    of: str = AMOUNT
    """What there is an amount of, such as ``pretraining tokens``."""
    by_model: dict[str, Amount]
    """By classifier, the amount: all different, and above 0."""
    in_percent: bool = False
    """Whether the amounts are shares that were written as percentages, and are shown so."""

    def renamed(self, names: Mapping[str, str]) -> Amounts:
        """Return these of classifiers that have other names, by their old ones."""
        by_model = {names.get(name, name): amount for name, amount in self.by_model.items()}
        return replace(self, by_model=by_model)


class ParsedAmounts(NamedTuple):
    """Amounts as they were written."""

    values: tuple[float, ...]
    """One for each text; a share for a percentage."""
    in_percent: bool
    """Whether they were written as percentages."""


def parse_amounts(texts: Iterable[str]) -> ParsedAmounts:
    """Read amounts such as ``10M``, ``100M`` and ``1B``, or ``1%``, ``10%`` and ``100%``."""
    written = [text.strip() for text in texts]
    found = []
    for text in written:
        match = _NUMBER.fullmatch(text)
        amount = 0.0 if match is None else float(match[1] + _UNITS[match[2].casefold()])
        if not 0 < amount < math.inf:
            raise InputError(
                f"{text!r} is no amount; numbers above 0 are, such as 1000, 10M, 1B or 10%"
            )
        if text.endswith("%") and amount > 1:
            raise InputError(
                f"{text!r} is more than all the data; write percentages up to 100%, or all amounts "
                "without %, such as 10M"
            )
        found.append(amount)
    are_shares = [text.endswith("%") for text in written]
    if any(are_shares) and not all(are_shares):
        raise InputError(
            f"{','.join(written)!r} mixes percentages and other numbers; write all with %, or none "
            "of them"
        )
    return ParsedAmounts(values=tuple(found), in_percent=any(are_shares))


def find_swapped(texts: Iterable[str], amounts: Sequence[float]) -> int | None:
    """Return the first of several names with another one's amount, if each has one of them all.

    Other numbers in names are of something else.
    """
    named = []
    for text in texts:
        written = [float(n + _UNITS[unit]) for n, unit in _IN_NAME.findall(text.casefold())]
        own = {amount for amount in amounts if any(map(partial(math.isclose, amount), written))}
        named.append(own)
    if not all(len(own) == 1 for own in named) or set().union(*named) != {*amounts}:
        return None
    pairs = zip(named, amounts, strict=True)
    return next((place for place, (own, given) in enumerate(pairs) if own != {given}), None)


# What is noted of answers to the wordings of items.

MOST_ITEMS = 10**9
"""More items than this no file counts."""

MOST_DIVERSITY_GROUPS = 20

DEFAULT_DIVERSITY_GROUPS = 4
"""Groups of items by the diversity of their paraphrases."""


Count = Annotated[int, Ge(0), Le(MOST_ITEMS)]
Groups = Annotated[int, Ge(2), Le(MOST_DIVERSITY_GROUPS)]
Strata = Annotated[tuple[Count, ...], Len(1, MOST_CONFIDENCE_STRATA)]


@dataclass(frozen=True, kw_only=True)
class ConsistencyNotes(Notes):
    """How answers to the wordings of items came about."""

    kind = "consistency"
    what = "answers to wordings (ietest-fast consistency --out)"

    subset: str | None = None
    """The column by which consistency is parted; None: none."""
    n_empty: dict[str, Count | None] = field(default_factory=dict)
    n_mixed: dict[str, Count] = field(default_factory=dict)
    """By classifier, items of the source without a row that could be used, and items that were left
    out because their wordings have different gold labels. The first is None where sources were
    joined that lack items: the same item may be lacking in several of them."""
    n_wanted: dict[str, Count] = field(default_factory=dict)
    """By classifier, how many paraphrases of each item were asked for; empty where they were not
    made here."""
    strata: dict[str, Strata] = field(default_factory=dict)
    """By classifier, items of the full test set in each stratum of confidence; empty where no test
    set was given."""
    diversity: tuple[str, ...] = ()
    """Measures of the diversity of paraphrases by which items are grouped; empty: not measured."""
    diversity_groups: Groups = DEFAULT_DIVERSITY_GROUPS
    """Groups of items for each."""
    diversity_texts: tuple[str, ...] = ()
    """Columns of texts whose diversity was measured."""
    partial_input: str | None = None
    """What the classifier is called that saw a part of the input, by whose answers items are
    parted; None: none."""
    curves: tuple[Amounts, ...] = ()
    """Classifiers that have seen different amounts of data."""

    def __post_init__(self) -> None:
        for counts in self.strata.values():
            if not 1 <= sum(counts) <= MOST_ITEMS:
                raise ValueError(f"strata has {sum(counts):,} items in {len(counts):,} strata")

    @classmethod
    def of(
        cls,
        buckets: Buckets,
        answers: ModelAnswers,
        *,
        clusters: str | None,
        subset: str | None,
    ) -> ConsistencyNotes:
        """Describe the answers of one classifier to buckets."""
        warned = () if answers.warning is None else (answers.warning,)
        made = tuple(line for making in buckets.made for line in making.sentences())
        return cls(
            clusters=clusters,
            subset=subset,
            n_empty={"": buckets.n_empty},
            n_mixed={"": buckets.n_mixed},
            n_wanted={"": sum(making.n_wanted for making in buckets.made)} if buckets.made else {},
            text_columns=buckets.text_columns,
            warnings=(*warned, *answers.warnings, *made, *buckets.notes),
            backend=answers.backend,
            identity=answers.identity,
        )

    def renamed(self, names: Mapping[str, str], *, curve: str = "") -> ConsistencyNotes:
        """Return this of classifiers that have other names, by their old ones.

        Curves without a name get that of `curve`.
        """

        def rename(values: Mapping[str, Any]) -> dict[str, Any]:
            return {names.get(name, name): value for name, value in values.items()}

        return replace(
            self,
            strata=rename(self.strata),
            n_empty=rename(self.n_empty),
            n_mixed=rename(self.n_mixed),
            n_wanted=rename(self.n_wanted),
            curves=tuple(
                replace(own.renamed(names), name=own.name or curve) for own in self.curves
            ),
        )


ConsistencyAnswers = NotedAnswers[ConsistencyNotes]


def name_group(group: Mapping[str, Any]) -> str:
    """Return what a classifier is called: the values of ``model``, ``m`` and ``rho``."""
    return ", ".join(str(value) for value in group.values())


def count_strata(confidence: NDArray[np.float64], n_strata: int) -> tuple[int, ...]:
    """Count the items of a full test set in strata of equal width by confidence."""
    inside = (confidence >= 0) & (confidence <= 1)
    if not confidence.size or not inside.all():
        raise InputError(
            "the full test set needs confidences from 0 to 1: "
            f"{int((~inside).sum()):,} of {confidence.size:,} are none"
        )
    counts = np.bincount(stratum_of(confidence, n_strata), minlength=n_strata)
    return tuple(map(int, counts))


def confidences_of(strata: tuple[int, ...]) -> NDArray[np.float64]:
    """Return confidences, in the middle of their strata, that are counted as `strata` say."""
    middles = (np.arange(len(strata)) + 0.5) / len(strata)
    return np.repeat(middles, strata)


# Logs of answers to wordings: the project's tables, and ParaNLU's results.


def read_wordings(
    path: str | Path, *, threshold: float | None = None, by_outcomes: bool = False
) -> ConsistencyAnswers | None:
    """Read a log of answers to wordings, if it is a long table or of ParaNLU."""
    from ietest_fast.corpus.streams import open_batches

    path = Path(path)
    check_readable(path)
    refuse_no_rewordings(path)
    is_scored = by_outcomes or threshold is not None
    kind = paranlu_kind(path)
    notes = None if kind is not None else read_notes(path, ConsistencyNotes)
    if is_scored and (kind is not None or notes is not None):
        raise InputError(
            "says itself which answers are right; leave out --threshold and --correct-columns, "
            "which are for tables of scores",
            path=path,
        )
    if kind is not None:
        return ConsistencyAnswers(predictions=read_paranlu(path), notes=ConsistencyNotes())
    if notes is not None:
        own = Predictions.read(path)
        return ConsistencyAnswers(predictions=own, notes=_warned(notes, own))
    try:
        with open_batches(path) as batches:
            names = batches.schema.names
            is_long = is_predictions(batches.schema)
    except InputError:
        return None  # a log of another program; its reader says what is wrong
    if not is_long:
        return None
    refuse_lost(names, path)
    if is_scored:
        return _read_scored(path, threshold)
    if path.suffix == ".parquet":
        found = Predictions.read(path)
    else:
        with open_batches(path) as batches:
            table = pa.Table.from_batches(list(batches), schema=batches.schema)
        found = Predictions.from_table(table, source=str(path))
    return as_answers(found)


def _read_scored(path: Path, threshold: float | None) -> ConsistencyAnswers:
    """Read a long table by its column of outcomes or scores, as ``eval`` does."""
    from ietest_fast.answers.logs import say_threshold
    from ietest_fast.answers.readers.table_columns import list_columns
    from ietest_fast.answers.readers.tables import read_scores

    table, lost = read_scores(path, list_columns(path), threshold)
    known = as_answers(Predictions.from_table(table, source=str(path)))
    said = [*lost]
    said += [] if threshold is None else say_threshold([table["correct"]], threshold)
    return replace(known, notes=replace(known.notes, warnings=(*known.notes.warnings, *said)))


def need_wordings(path: str | Path) -> ConsistencyAnswers:
    """Read a log of answers to wordings, as :func:`read_wordings` does; refuse any other file."""
    found = read_wordings(path)
    if found is None:
        raise InputError(
            "holds no answers to wordings: a table with a row for each item and version, such as "
            "ietest-fast consistency --out writes, or ParaNLU's predictions expected",
            path=path,
        )
    return found


def as_answers(predictions: Predictions) -> ConsistencyAnswers:
    """Return predictions of which no more is known as answers to wordings."""
    from ietest_fast.answers.readers.facts_of_long import say_beside

    said = say_beside(predictions, Path(predictions.source))
    known = with_known_answers(predictions)
    said += _say_settings(predictions)
    said += (*say_known_numbers(predictions), *_note_missing(known), *_say_no_original(known))
    notes = ConsistencyNotes(warnings=said)
    return ConsistencyAnswers(predictions=known, notes=_warned(notes, known))


def _say_settings(predictions: Predictions) -> tuple[str, ...]:
    """Say in what the answers of one classifier to several versions came about otherwise."""
    from ietest_fast.answers.logs import say_other_settings
    from ietest_fast.answers.readers.facts_of_tables import find_long_settings

    if not find_long_settings(predictions):
        return ()
    return tuple(say_other_settings(_list_parts(predictions)))


def _list_parts(predictions: Predictions) -> list[VersionLog]:
    """Return the answers of each classifier to each version, as logs are compared."""
    from ietest_fast.answers.readers.tables import list_versions
    from ietest_fast.answers.texts import VersionLog

    logs = list_versions(predictions, Path(predictions.source), is_own=False)
    return [VersionLog(log=log, version=str(log.version), model=log.model) for log in logs]


def _say_no_original(predictions: Predictions) -> tuple[str, ...]:
    """Say that no version has the name of the one that others reword."""
    if ORIGINAL in predictions.versions:
        return ()
    shown = ", ".join(predictions.versions[:3]) + (", ..." if len(predictions.versions) > 3 else "")
    note = (
        f"{predictions.source}: no version is called {ORIGINAL}, so all are paraphrases ({shown}); "
        "if one is the original, call it so."
    )
    return (note,)


def _warned(notes: ConsistencyNotes, predictions: Predictions) -> ConsistencyNotes:
    """Add what there is to say about probabilities beside answers, and marks beside texts, once."""
    from ietest_fast.answers.texts import say_changed

    names, said = predictions.label_names, dict.fromkeys(notes.warnings)
    for group in predictions.groups:
        own = predictions.select(**group) if group else predictions
        said |= dict.fromkeys(say_unlikely(own.table, names, predictions.source))
    if CHANGED in predictions.extra_columns:
        said |= dict.fromkeys(say_changed(_list_parts(predictions), "every wording"))
    return replace(notes, warnings=tuple(said))


def holds_paraphrases(path: Path) -> bool:
    """Whether a file holds paraphrases of items, without the answers of a model to them."""
    from ietest_fast.corpus.streams import open_batches

    if not path.is_file():
        return False
    if paranlu_kind(path) == "paraphrases":
        return True
    try:
        with open_batches(path) as batches:
            names = batches.schema.names
        find_text_columns(path, names)
    except InputError:
        return False
    return "item" in names and not {"predicted", "correct", "probabilities"}.intersection(names)


def _note_missing(predictions: Predictions) -> tuple[str, ...]:
    """Say how many answers are missing."""
    if "predicted" not in predictions.columns:
        return ()
    n = predictions.table["predicted"].null_count
    if not n:
        return ()
    missing = say_count(n, "answer is missing and counts", "answers are missing and count")
    return (f"{missing} as wrong.",)


def name_answers(
    answers: Sequence[ConsistencyAnswers], paths: Sequence[Path]
) -> tuple[ConsistencyAnswers, ...]:
    """Return answers of several files, each of another model, called as its file where it has
    none.
    """
    check_number_names(answers, paths)
    named = name_models([each.predictions for each in answers], paths)
    curves = number_names(map(plain_name, paths)) if len(paths) > 1 else [""]
    found = []
    for each, predictions, curve in zip(answers, named, curves, strict=True):
        before = map(name_group, each.predictions.groups)
        after = map(name_group, predictions.groups)
        notes = each.notes.renamed(dict(zip(before, after, strict=True)), curve=curve)
        found.append(ConsistencyAnswers(predictions=predictions, notes=notes))
    return tuple(found)


def check_number_names(answers: Sequence[ConsistencyAnswers], paths: Sequence[Path]) -> None:
    """Refuse files in which columns beside the labels give the same numbers other names."""
    from ietest_fast.answers.readers.facts_of_long import find_long_names
    from ietest_fast.answers.readers.label_columns import check_named

    both = zip(answers, paths, strict=True)
    check_named([each for own, path in both for each in find_long_names(own.predictions, path)])


def join_answers(answers: Sequence[ConsistencyAnswers]) -> ConsistencyAnswers:
    """Put answers of several models into one table."""
    if len(answers) == 1:
        return answers[0]
    labels = {each.predictions.label_names for each in answers}
    if len(labels) > 1:
        raise InputError(
            "the models answer with different labels, so one table cannot hold them: write a file "
            "for each",
            path=answers[-1].predictions.source,
        )
    all_notes = [each.notes for each in answers]
    first = all_notes[0]
    return ConsistencyAnswers(
        predictions=Predictions.concat([each.predictions for each in answers]),
        notes=replace(
            first,
            strata={name: counts for notes in all_notes for name, counts in notes.strata.items()},
            n_empty={name: n for notes in all_notes for name, n in notes.n_empty.items()},
            n_mixed={name: n for notes in all_notes for name, n in notes.n_mixed.items()},
            n_wanted={name: n for notes in all_notes for name, n in notes.n_wanted.items()},
            warnings=tuple(dict.fromkeys(line for notes in all_notes for line in notes.warnings)),
            curves=tuple(own for notes in all_notes for own in notes.curves),
        ),
    )


def without_mixed(answers: ConsistencyAnswers) -> ConsistencyAnswers:
    """Leave out items whose wordings have different gold labels, and count them."""
    predictions = answers.predictions
    if "gold" not in predictions.columns:
        return answers
    parts, n_mixed = [], dict(answers.notes.n_mixed)
    for group in predictions.groups:
        own = predictions.select(**group) if group else predictions
        table = own.table
        gold = pa.chunked_array([pc.cast(table["gold"].combine_chunks(), pa.string())])
        mixed = find_mixed(table["item"], gold)
        n = len(pc.unique(table["item"].filter(pa.array(mixed))))
        if mixed.all():
            raise InputError(
                "the wordings of every item have different gold labels",
                path=predictions.source,
                column="gold",
            )
        n_mixed[name_group(group)] = n_mixed.get(name_group(group), 0) + n
        parts.append(own.keep(~mixed))
    return ConsistencyAnswers(
        predictions=parts[0] if len(parts) == 1 else Predictions.concat(parts),
        notes=replace(answers.notes, n_mixed=n_mixed),
    )
