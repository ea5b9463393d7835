"""Equivalences of a pair as a whole: its texts exchanged, or put into one (thesis, 1.2.3)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BeforeValidator, Field

from ietest_fast.corpus import Corpus
from ietest_fast.corpus.columns import usual_label_column
from ietest_fast.corpus.dataset import LABEL
from ietest_fast.corpus.labels import (
    MAX_LABELS,
    UnknownLabelError,
    answer_key,
    compare_labels,
    encode_labels,
    name_as_noted,
)
from ietest_fast.corpus.streams import open_batches
from ietest_fast.errors import InputError
from ietest_fast.transform.base import (
    BaseTransformation,
    RowError,
    Transformed,
    check_pair_columns,
    fingerprint_of,
    put_texts,
)
from ietest_fast.transform.edits import as_strings, edits_of_column, edits_of_texts
from ietest_fast.transform.phi import (
    Material,
    PhiOptions,
    PlannedTransformation,
    TransformationKind,
    take_several,
)
from ietest_fast.values import show_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

# Cutting texts into sentences by their marks.


# Behind a mark that ends a sentence, before what may begin one.
_BETWEEN = re.compile(r"(?<=[.!?])([\"')\]]*)\s+(?=[\"'(\[]?[A-Z0-9])")
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:[A-Z]|[Rr]s|[Mm]r|[Mm]rs|[Mm]s|[Dd]r|[Pp]rof|[Ss]t|[Jj]r|[Ss]r|[Nn]o|[Vv]s|etc|"
    r"[Ii]nc|[Cc]o|[Ll]td|[Cc]orp|approx|sq|ft|in|hrs?|mins?|secs?|[Aa]\.m|[Pp]\.m|[Ii]\.e|[Ee]\.g|"
    r"U\.S)\.$"
)
# With what stands before it.
_LONGEST_ABBREVIATION = 10


def split_sentences(text: str) -> list[str]:
    """Cut a text into its sentences, without the blanks between them."""
    sentences, begin = [], 0
    for between in _BETWEEN.finditer(text):
        end = between.end(1)
        if _ABBREVIATED.search(text, max(begin - 1, end - _LONGEST_ABBREVIATION, 0), end):
            continue
        sentences.append(text[begin:end].strip())
        begin = between.end()
    return [*sentences, text[begin:].strip()]


def without_cut_numbers(sentences: list[str]) -> list[str]:
    """Leave out what "$22. 7 million" makes two sentences of."""
    cut: set[int] = set()
    for i in range(len(sentences) - 1):
        if re.search(r"\d\.$", sentences[i]) and sentences[i + 1][:1].isdigit():
            cut |= {i, i + 1}
    return [each for i, each in enumerate(sentences) if i not in cut]


# Telling statements from questions and requests, and one sentence from several.

# Neither true nor false: questions, also without their mark, and requests.
_FILLERS = "well|so|and|but|or|oh|yeah|yes|no|um|uh|huh|now|okay|ok|right|then"
_OPENERS = (
    "who|whom|whose|what|which|when|where|why|how|am|is|are|was|were|do|does|did|have|has|had|"
    "can|could|will|would|shall|should|may|might|must|let|lets|let's|suppose|imagine|please|try|"
    "do(?:n't| not)|isn't|aren't|wasn't|weren't|doesn't|didn't|haven't|hasn't|can't|won't"
)
NO_STATEMENT = rf"[?]|(?i:^[^\pL]*(?:(?:{_FILLERS})(?:[\s,.!;:-]+))*(?:{_OPENERS})(?:\s|$))"
"""Matches a text that has a question mark, or begins as questions and requests do."""

# A mark that may end a sentence, and more behind it.
_MARK_INSIDE = r"[.!?][\"')\]]*\s+\S"


def are_statements(texts: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    """Say which texts are neither questions nor requests, bool (n,); a null is none."""
    odd = pc.match_substring_regex(texts, NO_STATEMENT)
    return ~np.asarray(pc.fill_null(odd, fill_value=True), dtype=np.bool_)


def are_single_sentences(texts: pa.Array) -> npt.NDArray[np.bool_]:
    """Say which texts are one sentence, as far as marks tell, bool (n,); a null is none."""
    may_be_several = pc.match_substring_regex(texts, _MARK_INSIDE)
    single = ~np.asarray(pc.fill_null(may_be_several, fill_value=True), dtype=np.bool_)
    unsure = np.flatnonzero(~single)
    # "Mr. Smith" has a mark inside, too.
    single[unsure] = [
        text is not None and len(split_sentences(text)) == 1
        for text in texts.take(unsure).to_pylist()
    ]
    return single


# Which rows a transformation may work on, by their label.

ALL_LABELS = "all"
"""Stands for every label, so that no column of labels is needed."""

_HOW = "--phi {}:labels_in=COLUMN"

Labels = Annotated[tuple[str, ...], BeforeValidator(take_several)]
"""Type of an option that names one label or several."""


@dataclass(frozen=True, kw_only=True)
class LabelChoice:
    """Which rows a transformation may work on, by their label."""

    names: tuple[str, ...]
    """Labels, or :data:`ALL_LABELS` alone."""
    column: str | None = None
    """Where the labels are; None: ``label`` or ``gold_label``."""
    codes: tuple[str, ...] = ()
    """Names of the labels of a corpus, which are int8; empty: the table is of no corpus."""
    among: tuple[str, ...] | None = None
    """Names of the labels of any other table, as :func:`ietest_fast.corpus.labels.encode_labels`
    takes them; None: those of the table itself."""

    @classmethod
    def of_source(
        cls, names: tuple[str, ...], column: str | None, source: Corpus | Path | None, name: str
    ) -> LabelChoice:
        """Read labels alike in all batches of what is to be transformed."""
        made = cls(names=names, column=column)
        if source is None or names == (ALL_LABELS,):
            return made
        if isinstance(source, Path):
            with open_batches(source) as reader:
                column = made._find_column(reader.schema.names, name)
            table = _read_distinct(source, column)
            return replace(made, among=_encode(table, column, name, None)[1])
        if column not in {None, LABEL} and column in source.table.column_names:
            return replace(made, among=_encode(source.table, column, name, None)[1])
        return replace(made, codes=source.label_names)

    def find_rows(self, table: pa.Table, name: str) -> npt.NDArray[np.bool_]:
        """Return which rows have one of the labels, bool (n,)."""
        if self.names == (ALL_LABELS,):
            return np.ones(table.num_rows, np.bool_)
        column = self._find_column(table.schema.names, name)
        if self.codes and table.schema.field(column).type == pa.int8():
            codes, names = table[column].to_numpy(), self.codes
        else:
            codes, names = _encode(table, column, name, self.among)
        place_of = {answer_key(known): place for place, known in enumerate(names)}
        wanted = [
            place for key in map(answer_key, self.names) if (place := place_of.get(key, -1)) >= 0
        ]
        are_numbers = all(map(str.isdecimal, names))
        if not wanted and names and (are_numbers or not self.codes):
            why = ", which stand for other things in each data set" if are_numbers else ""
            raise InputError(
                f"{name} keeps the label of some rows only ({', '.join(self.names)}), and labels "
                f"are {', '.join(map(show_value, names))}{why}; write such names into the file, or "
                f"name a column that has them ({_HOW.format(name)})",
                column=column,
            )
        found: npt.NDArray[np.bool_] = np.isin(codes, wanted)
        return found

    def _find_column(self, columns: Sequence[str], name: str) -> str:
        if self.column is not None:
            if self.column not in columns:
                raise InputError(
                    f"{name}: there is no such column of labels; there are {', '.join(columns)}",
                    column=self.column,
                )
            return self.column
        how = _HOW.format(name)
        found = usual_label_column(None, columns, how=how)
        if found is None:
            raise InputError(
                f"{name} keeps the label of some rows only ({', '.join(self.names)}), and there is "
                f"no column label or gold_label; name it ({how})"
            )
        return found


def _read_distinct(path: Path, column: str) -> pa.Table:
    """Read the different labels of a file, in bounded memory."""
    with open_batches(path, columns=[column], types_of="file") as reader:
        schema = reader.schema
        seen: list[pa.Array] = []
        for batch in reader:
            labels = batch[column]
            if pa.types.is_dictionary(labels.type):
                labels = labels.cast(labels.type.value_type)
            seen = [pc.unique(pa.chunked_array([*seen, labels]))]
            if len(seen[0]) > 2 * MAX_LABELS:  # too many, which whoever encodes them says
                break
    return pa.table(
        {column: pa.chunked_array(seen, None if seen else pa.null())}
    ).replace_schema_metadata(schema.metadata)


def _encode(
    table: pa.Table, column: str, name: str, among: tuple[str, ...] | None
) -> tuple[npt.NDArray[np.int8], tuple[str, ...]]:
    """Return labels as places among their names, and these; as in a corpus."""
    try:
        labels, known = name_as_noted(table, column, among)
        found = encode_labels(labels, label_names=known, is_pair=True)
        compare_labels(table, found, column)
    except UnknownLabelError as error:
        raise RowError(f"{name}: {error}", index=error.row, column=column) from None
    except InputError as error:  # of the names that the file notes
        raise InputError(f"{name}: {error}", column=column) from None
    return found.codes, found.names


def _read_pair(
    table: pa.Table, columns: tuple[str, str], rows: npt.NDArray[np.bool_]
) -> tuple[pa.ChunkedArray, pa.ChunkedArray, npt.NDArray[np.bool_]]:
    """Return both columns as large strings, and which of the rows have two texts."""
    first, second = (as_strings(table[name]).cast(pa.large_string()) for name in columns)
    there = pc.and_(
        pc.fill_null(pc.greater(pc.binary_length(first), 0), fill_value=False),
        pc.fill_null(pc.greater(pc.binary_length(second), 0), fill_value=False),
    )
    return first, second, rows & there.to_numpy()


def _finish(
    table: pa.Table, new: dict[str, pa.ChunkedArray], edits: list[pa.Table] | None
) -> Transformed:
    return put_texts(table, {name: list(texts.chunks) for name, texts in new.items()}, edits)


@dataclass(frozen=True, kw_only=True)
class Swap(BaseTransformation):
    """Exchange premise and hypothesis where the label holds in both directions.

    If P contradicts H, then H contradicts P. Whether labels called neutral are symmetric depends on
    the data: in NLI corpora, H may entail P.
    """

    labels: LabelChoice
    """The labels that are symmetric."""

    name = "swap"

    @property
    def _options(self) -> dict[str, Any]:
        return {"symmetric": list(self.labels.names), "labels_in": self.labels.column}

    def transform_table(
        self,
        table: pa.Table,
        text_columns: tuple[str, ...],
        *,
        with_edits: bool,
        n_threads: int | None,  # noqa: ARG002 - Arrow's own are used
    ) -> Transformed:
        """Exchange the texts; see :meth:`ietest_fast.transform.Transformation.transform`."""
        columns = check_pair_columns(self.name, text_columns)
        rows = self.labels.find_rows(table, self.name)
        first, second, rows = _read_pair(table, columns, rows)
        chosen = pa.array(rows)
        new = {
            columns[0]: pc.if_else(chosen, second, first),
            columns[1]: pc.if_else(chosen, first, second),
        }
        if not with_edits:
            return _finish(table, new, None)
        differ = pc.fill_null(pc.not_equal(first, second), fill_value=False).to_numpy()
        places = np.flatnonzero(rows & differ)
        edits = [
            edits_of_texts(name, text_columns, self.name, places, old=old, new=new[name])
            for name, old in zip(columns, (first, second), strict=True)
        ]
        return _finish(table, new, edits)


# Before the premise, between it and the hypothesis, and behind that.
_TEMPLATES = {
    "implies": ('"', '" implies that "', '"'),
    "and": ('"', '" and "', '" are both true descriptions of the same situation.'),
}
_KEPT: dict[str, tuple[str, ...]] = {
    "implies": ("entailment",),
    "and": ("contradiction", "neutral"),
}


@dataclass(frozen=True, kw_only=True)
class Internalisation(BaseTransformation):
    """Put a pair into one text, the new hypothesis, behind a premise that is always true.

    If P entails H, then "P implies that H" is true whatever else is. If P and H contradict each
    other, they are not both true of one situation, whatever else is; if they are neutral, they may
    be. So ``"implies"`` is for entailments, and ``"and"`` for the other two labels. (Readers take
    "P implies that H" of a neutral pair for false, as a claim that one follows from the other.)
    A pair with a text that begins like a question or a request, or has a question mark, is left as
    it is: nothing follows from questions.
    """

    connective: Literal["implies", "and"]
    """``"implies"`` or ``"and"``."""
    premise: str
    """What stands in the place of the premise."""
    labels: LabelChoice
    """Which rows are put into one text."""

    name = "internalise"

    @property
    def fingerprint(self) -> str:
        """Sha256 of the options and of what is made with them, 64 hexadecimal digits."""
        made = {"templates": _TEMPLATES[self.connective], "left": NO_STATEMENT}
        return fingerprint_of({**self.describe(), **made})

    @property
    def _options(self) -> dict[str, Any]:
        return {
            "connective": self.connective,
            "premise": self.premise,
            "labels_in": self.labels.column,
        }

    def transform_table(
        self,
        table: pa.Table,
        text_columns: tuple[str, ...],
        *,
        with_edits: bool,
        n_threads: int | None,  # noqa: ARG002 - Arrow's own are used
    ) -> Transformed:
        """Make one text of two; see :meth:`ietest_fast.transform.Transformation.transform`."""
        columns = check_pair_columns(self.name, text_columns)
        rows = self.labels.find_rows(table, self.name)
        first, second, rows = _read_pair(table, columns, rows)
        for texts in (first, second):
            rows &= are_statements(texts)  # a text that is missing is left alone before
        chosen = pa.array(rows)
        before, between, behind = (
            pa.scalar(piece, pa.large_string()) for piece in _TEMPLATES[self.connective]
        )
        nothing = pa.scalar("", pa.large_string())
        ahead = pc.binary_join_element_wise(before, first, between, nothing)
        if self.connective == "implies":
            # No second full stop behind a text that has one.
            after = pc.if_else(
                pc.match_substring_regex(second, r"[.!?]\s*$"),
                behind,
                pa.scalar('".', pa.large_string()),
            )
        else:
            after = pa.chunked_array([pa.repeat(behind, table.num_rows)])
        whole = pc.binary_join_element_wise(ahead, second, after, nothing)
        new = {
            columns[0]: pc.if_else(chosen, pa.scalar(self.premise, pa.large_string()), first),
            columns[1]: pc.if_else(chosen, whole, second),
        }
        if not with_edits:
            return _finish(table, new, None)
        premises = new[columns[0]]
        differ = pc.fill_null(pc.not_equal(first, premises), fill_value=False).to_numpy()
        places = np.flatnonzero(differ)
        of_premise = edits_of_texts(
            columns[0], text_columns, self.name, places, old=first, new=premises
        )
        # Before and behind the hypothesis, in turns.
        places = np.flatnonzero(rows)
        pieces = np.empty(2 * len(places), object)
        pieces[0::2] = ahead.take(pa.array(places)).to_pylist()
        pieces[1::2] = after.take(pa.array(places)).to_pylist()
        at = np.zeros(2 * len(places), np.int64)
        at[1::2] = pc.binary_length(second.take(pa.array(places)))
        of_hypothesis = edits_of_column(
            columns[1],
            text_columns,
            self.name,
            row=np.repeat(places, 2),
            start=at,
            end=at,
            old=pa.array([""] * len(at), pa.large_string()),
            new=pa.array(pieces, pa.large_string()),
        )
        return _finish(table, new, [of_premise, of_hypothesis])


class SwapOptions(PhiOptions):
    """What the exchange of premise and hypothesis can be told."""

    symmetric: Labels = Field(
        ("contradiction",),
        min_length=1,
        description="a label that holds in both directions; may be repeated; all: every one",
    )
    labels_in: str | None = Field(None, description="the column of labels [label or gold_label]")


class InternalisationOptions(PhiOptions):
    """What putting a pair into one text can be told."""

    connective: Literal["implies", "and"] = Field(
        "implies", description="implies takes entailments, and: contradictions and neutral pairs"
    )
    premise: str = Field(
        "True is true.", description="what stands in the place of the premise; may be empty"
    )
    labels_in: str | None = Field(None, description="the column of labels [label or gold_label]")


def _plan_swap(options: SwapOptions) -> PlannedTransformation:
    names = (ALL_LABELS,) if ALL_LABELS in options.symmetric else options.symmetric
    return _plan(Swap(labels=LabelChoice(names=names, column=options.labels_in)))


def _plan_internalisation(options: InternalisationOptions) -> PlannedTransformation:
    labels = LabelChoice(names=_KEPT[options.connective], column=options.labels_in)
    return _plan(
        Internalisation(connective=options.connective, premise=options.premise, labels=labels)
    )


def _plan(made: Swap | Internalisation) -> PlannedTransformation:
    def build(material: Material) -> Swap | Internalisation:
        of = material.source
        if of is None:
            of = next((corpus for corpus in material.corpora if isinstance(corpus, Corpus)), None)
        choice = LabelChoice.of_source(made.labels.names, made.labels.column, of, made.name)
        return replace(made, labels=choice)

    return replace(PlannedTransformation.of(made), builder=build)


SWAP = TransformationKind(
    name="swap",
    summary="exchanges premise and hypothesis where the label holds in both directions",
    options=SwapOptions,
    plan=_plan_swap,
)

INTERNALISE = TransformationKind(
    name="internalise",
    summary='makes one text of the pair, such as "P" implies that "H"',
    options=InternalisationOptions,
    plan=_plan_internalisation,
)
