"""The long table of predictions: one row for each item and version."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.answers.schema import (
    CHANGED,
    GROUPS,
    KEY,
    TYPES,
    align_types,
    as_schema,
    check_columns,
    check_gold_of_models,
    check_likeliest,
    check_marks,
    check_unique,
    check_values,
    find_labels,
    with_plain_types,
)
from ietest_fast.corpus.dataset import are_categories, is_text
from ietest_fast.corpus.formats import check_repeats, check_utf8, open_parquet
from ietest_fast.corpus.labels import name_numbers
from ietest_fast.errors import IetestWarning, InputError, shorten_error
from ietest_fast.escapes import escape
from ietest_fast.numerals import say_count
from ietest_fast.stats import MatchedSample
from ietest_fast.stats.strata import EDITS
from ietest_fast.values import (
    as_numbers,
    find_missing,
    find_outcomes,
    say_repeated,
    say_written,
    show_value,
    spell_numbers,
    trim_texts,
    with_common_types,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


ORIGINAL = "original"
"""The version that all others are compared with."""

_FORMAT = 1


@dataclass(frozen=True, kw_only=True, eq=False)
class Predictions:
    """Answers of classifiers to several versions of the same items.

    The table has one row for each classifier, item and version:

    ============= ======================= ========================================================
    column        type                    meaning
    ============= ======================= ========================================================
    item          string or int64         the problem
    version       dictionary of strings   its wording; ``original`` is the reference
    gold          dictionary of strings   the right answer; null where only ``correct`` is known
    predicted     dictionary of strings   the answer; null where it could not be parsed
    probabilities list of float32         optional, one for each label, in the order of
                                          ``label_names``
    correct       bool                    optional; without it an answer is right if it is the gold
                                          label. Where answers are labels, it must say the same
    model         dictionary of strings   optional: which classifier
    m, rho        int32, float64          optional: which of the retrained classifiers of a run
    copy          int32                   optional: tells rows of the same item and version apart
    ============= ======================= ========================================================

    It needs either ``correct`` or both ``gold`` and ``predicted``. Other columns (``cluster``,
    ``genre``, texts) are kept as they are, but for ``changed``, which is one of booleans if it
    says yes and no, in whatever words.

    Raises
    ------
    InputError
        If a column is missing or of another type, a value is missing, an item occurs twice in
        a version, ``correct`` contradicts the labels, or classifiers have other gold labels for
        the same item and version.
    """

    table: pa.Table
    """Has these columns; types that can be cast without loss are."""
    label_names: tuple[str, ...] | None = None
    """All labels, in the order of their codes; None if answers are free text."""
    dropped: dict[str, int] = field(default_factory=dict)
    """Rows of the source that are not in the table, by reason."""
    source: str = "<memory>"
    """Where the predictions come from, for messages."""
    repeats: str | None = None
    """The column that names the item of several answers to it (epochs, trials), which are rows of
    their own and depend on each other: they are drawn together. None if no item has several."""

    def __post_init__(self) -> None:
        check_columns(self.table.column_names, self.source)
        if self.repeats is not None and self.repeats not in self.table.column_names:
            raise InputError("there is no such column", path=self.source, column=self.repeats)
        table = as_schema(self.table, self.label_names, self.source)
        check_values(table, self.label_names, self.source, dropped=self.dropped)
        if self.label_names is not None:
            check_marks(table, self.label_names, self.source)
        about: dict[str, Any] = {
            "format": _FORMAT,
            "labels": self.label_names,
            "dropped": self.dropped,
        }
        if self.repeats is not None:
            about["repeats"] = self.repeats
        metadata = {KEY: json.dumps(about).encode()}
        object.__setattr__(self, "table", table.replace_schema_metadata(metadata))
        check_unique(self.table, self.source)
        if self.has_labels:
            check_gold_of_models(self.table, self.source)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        groups = "" if len(self.groups) == 1 else f", {len(self.groups)} classifiers"
        return escape(
            f"Predictions({len(self.items):,} items in the versions {', '.join(self.versions)}"
            f"{groups}, from {self.source})"
        )

    @classmethod
    def from_codes(
        cls,
        *,
        items: Any,
        gold: NDArray[Any],
        versions: Mapping[str, NDArray[Any]],
        label_names: Sequence[str],
        probabilities: Mapping[str, NDArray[np.float32]] | None = None,
        columns: Mapping[str, Any] | None = None,
        version_columns: Mapping[str, Mapping[str, Any]] | None = None,
        dropped: Mapping[str, int] | None = None,
        source: str = "<memory>",
    ) -> Predictions:
        """Make the table of one classifier that has answered every version of every item.

        Parameters
        ----------
        items
            Shape (n,): names or numbers of the items.
        gold
            Shape (n,): indices into ``label_names``.
        versions
            By name, the reference first: the predictions, indices into ``label_names``, each of
            shape (n,).
        label_names
            Names of the labels.
        probabilities
            By version, shape (n, labels).
        columns
            Further columns: arrays of shape (n,), which are repeated for each version, or one
            value for all rows (``model``, ``m``, ``rho``).
        version_columns
            By name, further columns that differ between versions: for each version an array of
            shape (n,).
        dropped
            Rows of the source that are not there, by reason.
        source
            For messages.
        """
        names = list(versions)
        n, v = len(gold), len(names)
        texts = pa.array(list(label_names), pa.string())

        def encode(codes: Sequence[NDArray[Any]]) -> pa.Array:
            indices = np.concatenate([np.asarray(part, dtype=np.int32) for part in codes])
            missing = indices < 0
            return pa.DictionaryArray.from_arrays(
                pa.array(indices, pa.int32(), mask=missing if missing.any() else None), texts
            )

        def repeat(values: Any) -> pa.Array | pa.ChunkedArray:
            if isinstance(values, (str, int, float, bool, np.generic)):
                return pa.repeat(pa.scalar(values), n * v)
            return pa.chunked_array(_chunks(values) * v)

        made = {
            "item": repeat(items),
            "version": pa.DictionaryArray.from_arrays(
                np.repeat(np.arange(v, dtype=np.int32), n), pa.array(names, pa.string())
            ),
            "gold": encode([gold] * v),
            "predicted": encode([versions[name] for name in names]),
        }
        if probabilities is not None:
            stacked = np.concatenate([probabilities[name] for name in names])
            offsets = np.arange(len(stacked) + 1, dtype=np.int32) * stacked.shape[1]
            flat = pa.array(np.ascontiguousarray(stacked, dtype=np.float32).reshape(-1))
            made["probabilities"] = pa.ListArray.from_arrays(offsets, flat)
        made |= {name: repeat(values) for name, values in (columns or {}).items()}
        for name, by_version in (version_columns or {}).items():
            chunks = (chunk for each in names for chunk in _chunks(by_version[each]))
            made[name] = pa.chunked_array([*chunks])
        return cls(
            table=pa.table(made),
            label_names=tuple(label_names),
            dropped=dict(dropped or {}),
            source=source,
        )

    @classmethod
    def concat(cls, parts: Sequence[Predictions], *, source: str | None = None) -> Predictions:
        """Put tables of several classifiers or versions together.

        A part that lacks a column gets nulls in it. The parts must agree on ``correct``,
        ``model``, ``m``, ``rho`` and ``copy``, which have no nulls: all have the column, or none.
        Rows that are the same in two parts must be told apart by a column (``model``, ``m``,
        ``rho``, ``version``).
        """
        names: list[str] | None = []
        dropped: dict[str, int] = {}
        for part in parts:
            if part.label_names is None or names is None:
                names = None
            else:
                names += [name for name in part.label_names if name not in names]
            dropped |= {name: max(n, dropped.get(name, 0)) for name, n in part.dropped.items()}
        plain = [with_plain_types(part.table) for part in parts]
        try:
            table = pa.concat_tables(align_types(plain), promote_options="permissive")
        except pa.ArrowException as error:
            raise InputError(
                f"the predictions cannot be put together: {shorten_error(error)}",
                path=parts[-1].source,
            ) from error
        if len({part.label_names for part in parts}) > 1 and "probabilities" in table.column_names:
            table = table.drop_columns(["probabilities"])
        return cls(
            table=table,
            label_names=None if names is None else tuple(names),
            dropped=dropped,
            source=source or parts[0].source,
            repeats=next((part.repeats for part in parts if part.repeats is not None), None),
        )

    @cached_property
    def versions(self) -> tuple[str, ...]:
        """Names of the versions, the reference first and the others as they occur."""
        found = pc.unique(self.table["version"].combine_chunks()).to_pylist()
        return tuple(sorted(found, key=lambda name: name != ORIGINAL))

    @property
    def has_labels(self) -> bool:
        """Whether answers are known and may be compared.

        Free texts that a log has marked may differ in wording alone.
        """
        columns = self.table.column_names
        return "predicted" in columns and (self.label_names is not None or "correct" not in columns)

    @property
    def items(self) -> pa.Array:
        """The distinct items, in order of occurrence."""
        return pc.unique(self.table["item"].combine_chunks())

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns."""
        return tuple(self.table.column_names)

    @property
    def extra_columns(self) -> tuple[str, ...]:
        """Names of the columns beyond the schema: clusters, genres, texts."""
        return tuple(name for name in self.columns if name not in {"item", *TYPES})

    @cached_property
    def groups(self) -> tuple[dict[str, Any], ...]:
        """The classifiers: for each the values of ``model``, ``m`` and ``rho`` that are there."""
        names = [name for name in GROUPS if name in self.table.column_names]
        if not names:
            return ({},)
        plain = with_plain_types(self.table.select(names))
        return tuple(plain.group_by(names, use_threads=False).aggregate([]).to_pylist())

    def select(self, **values: Any) -> Predictions:
        """Return the rows with these values, such as ``model="a"`` or ``version="original"``.

        Raises
        ------
        InputError
            If a column is missing, or no row is left.
        """
        mask = np.ones(len(self), dtype=bool)
        for name, value in values.items():
            if name not in self.table.column_names:
                raise InputError("is not in these predictions", path=self.source, column=name)
            column = self.table[name]
            if pa.types.is_dictionary(column.type):
                column = column.cast(column.type.value_type)
            mask &= pc.fill_null(pc.equal(column, value), False).to_numpy()
        if not mask.any():
            wanted = ", ".join(f"{name} {value!r}" for name, value in values.items())
            raise InputError(f"no prediction has {wanted}", path=self.source)
        return self.keep(mask)

    def keep(self, mask: NDArray[np.bool_]) -> Predictions:
        """Return some of the rows; what has been checked of all holds of them."""
        kept = object.__new__(Predictions)
        for each in fields(self):
            object.__setattr__(kept, each.name, getattr(self, each.name))
        table = as_schema(self.table.filter(pa.array(mask)), self.label_names, self.source)
        object.__setattr__(kept, "table", table)
        return kept

    @cached_property
    def correct(self) -> NDArray[np.bool_]:
        """Whether each row's answer is right, shape (n,)."""
        if "correct" in self.table.column_names:
            return np.asarray(self.table["correct"].to_numpy(), dtype=np.bool_)
        gold, predicted = self.codes("gold"), self.codes("predicted")
        return np.asarray((gold == predicted) & (gold >= 0))

    def codes(self, name: str) -> NDArray[np.int32]:
        """Return the labels of ``gold`` or ``predicted`` as indices, shape (n,); -1 for none."""
        if name not in self.table.column_names:
            return np.full(len(self), -1, dtype=np.int32)
        indices = self.table[name].combine_chunks().indices
        return np.asarray(pc.fill_null(indices, -1), dtype=np.int32)

    def pairs(self, version: str, *, reference: str = ORIGINAL, **group: Any) -> Pairs:
        """Match the answers to one version with those to the reference, by item.

        Parameters
        ----------
        version
            Its name.
        reference
            The version that takes the part of the original.
        **group
            ``model``, ``m``, ``rho``: which classifier, where there are several.

        Returns
        -------
        Pairs
            One pair for each row of ``version`` whose item has a reference, in the order of the
            reference.

        Raises
        ------
        InputError
            If there is no such version, several classifiers are left, or no item has both.
        """
        chosen = self.select(**group) if group else self
        if len(chosen.groups) > 1:
            names = ", ".join(chosen.groups[0])
            raise InputError(
                f"{len(chosen.groups)} classifiers are in these predictions; say which by {names}",
                path=self.source,
            )
        places = {}
        for name in (reference, version):
            if name not in chosen.versions:
                raise InputError(
                    f"has no version {name!r}; it has {', '.join(chosen.versions)}",
                    path=self.source,
                )
            places[name] = np.flatnonzero(find_originals(chosen, name))
        first, second = places[reference], places[version]
        items = chosen.table["item"].combine_chunks()
        wanted, given = items.take(pa.array(first)), items.take(pa.array(second))
        repeated = say_repeated(wanted, "item")
        if repeated is not None:
            raise InputError(
                f"in version {reference!r}, which is compared with, {repeated}; give each of its "
                "rows an item of its own, or remove what is there twice",
                path=self.source,
            )
        if not given.equals(wanted):
            where = pc.index_in(given, value_set=wanted)
            found = where.is_valid().to_numpy(zero_copy_only=False)
            at = np.asarray(where.drop_null(), dtype=np.int64)
            order = np.argsort(at, kind="stable")
            n_unmatched = int((~found).sum()) + len(wanted) - len(np.unique(at))
            first, second = first[at[order]], second[found][order]
        else:
            n_unmatched = 0
        if not len(first):
            alike = say_written(*(pc.cast(each, pa.string()) for each in (wanted, given)))
            raise InputError(
                f"no item has both versions, {reference!r} and {version!r}"
                + (alike or "; give an item the same name in all versions"),
                path=self.source,
                column="item",
            )
        return Pairs(
            predictions=chosen,
            reference=reference,
            version=version,
            reference_rows=first,
            version_rows=second,
            n_unmatched=n_unmatched,
        )

    def write(self, path: str | Path) -> None:
        """Write the table to a Parquet file, whole or not at all."""
        import pyarrow.parquet as pq

        from ietest_fast.atomic import write_file

        write_file(Path(path), lambda file: pq.write_table(self.table, file, compression="zstd"))

    @classmethod
    def read(cls, path: str | Path) -> Predictions:
        """Read what :meth:`write` has written.

        Raises
        ------
        InputError
            If the file is no Parquet file of predictions, or damaged.
        """
        try:
            with open_parquet(Path(path)) as file:
                check_repeats(Path(path), file)
                return cls.from_table(file.read(), source=str(path))
        except (pa.ArrowException, OSError) as error:
            raise InputError(
                f"is no readable Parquet file: {shorten_error(error)}", path=path
            ) from error

    @classmethod
    def from_table(cls, table: pa.Table, *, source: str = "<memory>") -> Predictions:
        """Take a table that has the columns of the schema, and what its metadata say.

        Raises
        ------
        InputError
            As for the class.
        """
        labels: tuple[str, ...] | None
        table = with_common_types(table)
        for name, column in zip(table.column_names, table.columns, strict=True):
            if is_text(column.type) or are_categories(column.type):
                check_utf8(Path(source), column, name)
        metadata = table.schema.metadata or {}
        if KEY not in metadata:
            table = name_numbers(table, table.schema, path=source)
        try:
            known = json.loads(metadata.get(KEY, b"{}"))
            labels = None if known.get("labels") is None else tuple(map(str, known["labels"]))
            dropped = {str(name): int(n) for name, n in known.get("dropped", {}).items()}
            repeats = None if known.get("repeats") is None else str(known["repeats"])
        except (ValueError, TypeError, AttributeError) as error:
            raise InputError(
                f"its metadata are damaged: {shorten_error(error)}", path=source
            ) from error
        made = cls(table=table, label_names=labels, dropped=dropped, source=source, repeats=repeats)
        if "probabilities" in made.columns:
            for group in made.groups:
                check_likeliest(made.select(**group).table, made.label_names, source)
        if KEY in metadata:
            return made
        # Of another program, which does not say whether its answers are labels.
        check_marks(made.table, labels, source)
        labels = find_labels(made.table)
        return made if labels is None else replace(made, label_names=labels)


@dataclass(frozen=True, kw_only=True, eq=False)
class Pairs:
    """The answers of one classifier to two versions of the same items."""

    predictions: Predictions
    """Those of the one classifier."""
    reference: str
    version: str
    """Names of the two versions."""
    reference_rows: NDArray[np.int64]
    version_rows: NDArray[np.int64]
    """int64, shape (n,): the rows of either version in the table."""
    n_unmatched: int
    """Items that one of the versions lacks."""

    def __len__(self) -> int:
        return len(self.reference_rows)

    @property
    def items(self) -> pa.Array:
        """The pairs' items."""
        items = self.predictions.table["item"].combine_chunks()
        return items.take(pa.array(self.version_rows))

    @property
    def gold(self) -> NDArray[np.int32]:
        """Labels of the reference, as indices; -1 where none is known."""
        return self.predictions.codes("gold")[self.reference_rows]

    @property
    def original(self) -> NDArray[np.int32]:
        """Answers to the reference, as indices; -1 where there is none."""
        return self.predictions.codes("predicted")[self.reference_rows]

    @property
    def transformed(self) -> NDArray[np.int32]:
        """Answers to the version, as indices; -1 where there is none."""
        return self.predictions.codes("predicted")[self.version_rows]

    @cached_property
    def sample(self) -> MatchedSample:
        """The matched sample (eq. 9)."""
        return MatchedSample(
            original_correct=self.predictions.correct[self.reference_rows],
            transformed_correct=self.predictions.correct[self.version_rows],
        )

    @cached_property
    def answers(self) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None:
        """Both answers where they may be compared; None where only right and wrong may.

        Raises
        ------
        InputError
            If an answer is the same in both versions and right in one only, although no gold
            labels say why.
        """
        if not self.predictions.has_labels:
            return None
        n, row = find_contradicted(self)
        if n:
            raise InputError(
                f"item {self.items[row].as_py()!r} has the same answer in {self.reference} and "
                f"{self.version}, and is right in one only ({say_count(n, 'item')} in all); leave "
                "out correct, or predicted",
                path=self.predictions.source,
            )
        return self.original, self.transformed

    @property
    def n_flipped(self) -> int | None:
        """How many answers differ; None where they may not be compared."""
        return None if self.answers is None else int((self.answers[0] != self.answers[1]).sum())

    def reworded(self, name: str | None = None) -> NDArray[np.bool_] | None:
        """Return which texts are different in the two versions, shape (n,).

        Parameters
        ----------
        name
            A column of bool, or of 0 and 1, that says so of the rows of each version. None:
            ``changed``, if that is a column of bool.

        Returns
        -------
        ndarray of bool or None
            None if no column says it of all rows.

        Raises
        ------
        InputError
            If there is no such column, or a value is neither, or missing.
        """
        table = self.predictions.table
        is_asked = name is not None
        if name is None:
            if CHANGED not in table.column_names or not pa.types.is_boolean(table[CHANGED].type):
                return None
            name = CHANGED
        column = self._find(name)
        values = column.take(pa.array(self.version_rows))
        if is_asked and values.null_count == len(values):
            values = column.take(pa.array(self.reference_rows))  # one table is enough
        if values.null_count and not is_asked:
            return None  # it is known of other versions
        n_missing = int(find_missing(pa.chunked_array([values])).sum())
        if n_missing:  # perhaps in another file than the first
            raise InputError(
                f"is missing in {say_count(n_missing, 'row')} of {len(values):,} of "
                f"{self.version}; it has to say of each text whether it was reworded, by true and "
                "false, or 1 and 0",
                column=name,
            )
        right, bad = find_outcomes(pa.chunked_array([values]))
        if bad.size:
            raise InputError(
                f"says which texts were reworded by true and false, or 1 and 0, not by "
                f"{values[int(bad[0])].as_py()!r}",
                path=self.predictions.source,
                column=name,
            )
        return np.asarray(right, dtype=np.bool_)

    def column(self, name: str, *, of_version: bool = False) -> pa.Array:
        """Return a column's values in the reference.

        Parameters
        ----------
        name
            Of the column.
        of_version
            Return its values in the version instead; those of the reference where it has none,
            but for ``edits``, which are made for each version.

        Raises
        ------
        InputError
            If there is no such column, it does not know the edits of the version, or an item has
            in the version what another item has in the reference. In a column that has one value in
            all of the reference, or numbers of each version, it may.
        """
        values = self._find(name)
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        if pa.types.is_floating(values.type):  # NaN is missing, and not another value than NaN
            values = pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)
        values = spell_numbers(trim_texts(values))
        before = values.take(pa.array(self.reference_rows))
        own = values.take(pa.array(self.version_rows))
        if name in self.predictions.extra_columns and not (of_version and are_numbers(values)):
            self._check_column(name, before, own)
        if not of_version:
            self._say_other_groups(name, before, own)
            return pc.coalesce(before, own)
        if name == EDITS and own.null_count:
            raise InputError(
                f"says nothing of {own.null_count:,} of {len(own):,} rows of version "
                f"{self.version!r}: what made it tells no edits; leave edits out, or compare that "
                "version by itself",
                path=self.predictions.source,
                column=name,
            )
        if name in self.predictions.extra_columns and not are_numbers(values):
            self._say_other_strata(name, before, own)
        return own if name == EDITS else pc.coalesce(own, before)

    def _find(self, name: str) -> pa.Array:
        if name not in self.predictions.columns:
            raise InputError(
                f"is not in these predictions; they have {', '.join(self.predictions.columns)}",
                path=self.predictions.source,
                column=name,
            )
        return self.predictions.table[name].combine_chunks()

    def _say_other_strata(self, name: str, before: pa.Array, own: pa.Array) -> None:
        """Warn of a column that parts some items otherwise in the version.

        One that has other values for all of them is about the versions, not the items.
        """
        if pa.types.is_nested(before.type) or len(pc.unique(before.drop_null())) < 2:
            return
        differs = pc.not_equal(before, own)
        n, n_known = pc.sum(differs).as_py() or 0, len(own) - differs.null_count
        if not 0 < n < n_known:
            return
        row = pc.index(differs, True).as_py()
        there, here = (show_value(each[row].as_py()) for each in (before, own))
        warnings.warn(
            f"{self.predictions.source}: {name} is another one in {self.version} than in "
            f"{self.reference} for {n:,} of {say_count(n_known, 'item')} (first {here} for "
            f"{there}), and that in {self.version} counts; give each item one value",
            IetestWarning,
            stacklevel=2,
        )

    def _say_other_groups(self, name: str, before: pa.Array, own: pa.Array) -> None:
        """Warn of a column that draws other items together in one version than in the other.

        Equal premises may be reworded into equal ones, and are the same clusters then.
        """
        if pa.types.is_nested(before.type) or name not in self.predictions.extra_columns:
            return
        known = pc.and_(before.is_valid(), own.is_valid())
        one, two = (each.filter(known).dictionary_encode().indices for each in (before, own))
        pairs = pc.add(pc.multiply(one.cast(pa.int64()), len(known)), two.cast(pa.int64()))
        n_one, n_two, n = (len(pc.unique(each)) for each in (one, two, pairs))
        if n_one < 2 or n_one == n_two == n:
            return
        warnings.warn(
            f"{self.predictions.source}: {name} draws the items together otherwise in "
            f"{self.version} ({n_two:,} groups of {len(one):,}) than in {self.reference} "
            f"({n_one:,}), whose groups count; give each item one value",
            IetestWarning,
            stacklevel=2,
        )

    def _check_column(self, name: str, before: pa.Array, own: pa.Array) -> None:
        """Stop if items have other values of a column in one version than in the other."""
        if pa.types.is_nested(before.type) or len(pc.unique(before.drop_null())) < 2:
            return
        differs = pc.fill_null(pc.not_equal(before, own), False)
        # A text that was reworded is another one; what another item has is a contradiction.
        differs = pc.and_(differs, pc.is_in(own, value_set=before))
        n = pc.sum(differs).as_py() or 0
        if n:
            row = pc.index(differs, True).as_py()
            mine, theirs = (show_value(each[row].as_py()) for each in (before, own))
            raise InputError(
                f"item {self.items[row].as_py()!r} has {theirs} in {self.version}, and {mine} in "
                f"{self.reference}, and {say_count(n, 'item', 'items')} of {len(self):,} differ "
                "so; give each item one value",
                path=self.predictions.source,
                column=name,
            )


def are_numbers(values: pa.Array | pa.ChunkedArray) -> bool:
    """Say whether all values there are, are numbers."""
    known = values.drop_null()
    chunks = known.chunks if isinstance(known, pa.ChunkedArray) else [known]
    return bool(np.isfinite(as_numbers(pa.chunked_array(chunks, known.type))).all())


def find_contradicted(pairs: Pairs) -> tuple[int, int]:
    """Count pairs of one answer and one gold label, or none, of which one only is marked as
    right.
    """
    gold = pairs.predictions.codes("gold")
    wrong = np.flatnonzero(
        (pairs.original == pairs.transformed)
        & (gold[pairs.reference_rows] == gold[pairs.version_rows])
        & (pairs.sample.original_correct != pairs.sample.transformed_correct)
    )
    return wrong.size, int(wrong[0]) if wrong.size else -1


def _chunks(values: Any) -> list[pa.Array]:
    if not isinstance(values, (pa.Array, pa.ChunkedArray)):
        values = pa.array(values)
    return values.chunks if isinstance(values, pa.ChunkedArray) else [values]


def find_originals(predictions: Predictions, reference: str = ORIGINAL) -> NDArray[np.bool_]:
    """Return which rows are of the version that is the original wording, bool (n,)."""
    names = predictions.table["version"].combine_chunks().dictionary.to_pylist()
    if reference not in names:
        return np.zeros(len(predictions), np.bool_)
    return np.asarray(predictions.codes("version") == names.index(reference))


def check_clusters(
    values: pa.ChunkedArray, items: pa.ChunkedArray | pa.Array, *, path: str | Path, name: str
) -> None:
    """Stop if a row has no cluster, and name its item."""
    missing = np.flatnonzero(find_missing(values))
    if missing.size:
        item = items[int(missing[0])].as_py()
        raise InputError(
            f"item {item!r} belongs to no cluster; "
            f"{say_count(missing.size, 'row has', 'rows have')} none, and each needs one",
            path=path,
            column=name,
        )
