"""Distraction: something that is always true, put behind a text (Naik et al. 2018, section 3.2)."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from ietest_fast.errors import InputError
from ietest_fast.runtime import load_core
from ietest_fast.transform.base import BaseTransformation, Transformed
from ietest_fast.transform.kinds import (
    PhiOptions,
    PlannedTransformation,
    TransformationKind,
    take_several,
)
from ietest_fast.transform.words import transform_each

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

Names = Annotated[tuple[str, ...], BeforeValidator(take_several)]
"""Type of an option that names one column or several."""

# Both are far beyond any use, and together a megabyte for a text.
_MOST_TIMES = 1000
_LONGEST = 1000

CUT_RULE = "cut"
"""The rule of edits that drop the rest of a text, as the published code does."""


def choose_columns(
    wanted: Sequence[str], text_columns: Sequence[str], *, default: Literal["first", "last"]
) -> tuple[str, ...]:
    """Return the columns that a transformation works on, in the order of the table's texts."""
    if not wanted:
        return (text_columns[0 if default == "first" else -1],)
    for name in wanted:
        if name not in text_columns:
            raise InputError(
                f"is no column of texts; the texts are in {', '.join(text_columns)}", column=name
            )
    return tuple(name for name in text_columns if name in wanted)


@dataclass(frozen=True, kw_only=True)
class Distraction(BaseTransformation):
    """Put a tautology behind the texts of a column: true in every world, so labels are kept."""

    test: str
    """Its name, and what edits are counted as."""
    tautology: str
    """Words such as ``"and true is true"``, without a blank around them."""
    times: int = 1
    """How often it is put there, at least once."""
    columns: tuple[str, ...] = ()
    """Names of columns; none: `default_column`."""
    default_column: Literal["first", "last"] = "last"
    """Which of the text columns is taken where none is named: ``"first"`` (the premise) or
    ``"last"`` (the hypothesis)."""
    rules: Literal["careful", "paper"] = "careful"
    """``"careful"`` puts it before the marks that end the text and loses nothing. ``"paper"`` does
    what the published code does: before the first of ``.!?``, and what stands behind that mark is
    dropped."""

    def __post_init__(self) -> None:
        if not self.tautology.strip():
            raise InputError("the tautology is empty; give words such as 'and true is true'")
        if self.times < 1:
            raise InputError(f"times: at least 1 is needed, not {self.times}")

    @property
    def name(self) -> str:
        """That of the test."""
        return self.test

    def describe(self) -> dict[str, Any]:
        """Return name and options."""
        options = {
            "tautology": self.tautology,
            "times": self.times,
            "columns": list(self.columns) or self.default_column,
            "rules": self.rules,
        }
        return {"name": self.name, "options": options}

    @property
    def phrase(self) -> str:
        """What is put into a text, without the blank before it."""
        return " ".join([self.tautology] * self.times)

    def transform_table(
        self,
        table: pa.Table,
        text_columns: tuple[str, ...],
        *,
        with_edits: bool,
        n_threads: int | None,
    ) -> Transformed:
        """Put the tautology there; see :meth:`ietest_fast.transform.Transformation.transform`."""
        is_paper = self.rules == "paper"
        kernel = functools.partial(
            load_core().text.insert_phrase,
            phrase=f" {self.phrase}" if is_paper else self.phrase,
            before_first_mark=is_paper,
            with_edits=with_edits,
            n_threads=n_threads,
        )
        columns = choose_columns(self.columns, text_columns, default=self.default_column)
        return transform_each(
            kernel, table, columns, with_edits=with_edits, rules=(self.name, CUT_RULE)
        )


class DistractionOptions(PhiOptions):
    """What a distraction can be told."""

    tautology: str = Field(
        "and true is true", min_length=1, max_length=_LONGEST, description="the words to add"
    )
    times: int = Field(1, ge=1, le=_MOST_TIMES, description="how often they are added")
    columns: Names = Field(
        (), description="the columns to add them to [the last column of texts: the hypothesis]"
    )
    rules: Literal["careful", "paper"] = Field(
        "careful",
        description="careful: before the final mark; paper: before the first of .!?, the rest "
        "dropped, as published",
    )


class NegationOptions(DistractionOptions):
    """What the distraction by a negation can be told."""

    tautology: str = Field(
        "and false is not true", min_length=1, max_length=_LONGEST, description="the words to add"
    )


class LengthMismatchOptions(DistractionOptions):
    """What the distraction by length can be told."""

    times: int = Field(5, ge=1, le=_MOST_TIMES, description="how often they are added")
    columns: Names = Field(
        (), description="the columns to add them to [the first column of texts: the premise]"
    )


def _plan(
    name: str, default_column: Literal["first", "last"], options: DistractionOptions
) -> PlannedTransformation:
    made = Distraction(
        test=name,
        tautology=options.tautology,
        times=options.times,
        columns=options.columns,
        default_column=default_column,
        rules=options.rules,
    )
    is_own = options.tautology != type(options).model_fields["tautology"].default
    return PlannedTransformation.of(made).in_language(None if is_own else "English")


WORD_OVERLAP = TransformationKind(
    name="word-overlap",
    summary="adds a tautology to the hypothesis, so that it shares fewer words with the premise",
    options=DistractionOptions,
    plan=functools.partial(_plan, "word-overlap", "last"),
)

NEGATION = TransformationKind(
    name="negation",
    summary="adds a tautology with a negation to the hypothesis",
    options=NegationOptions,
    plan=functools.partial(_plan, "negation", "last"),
)

LENGTH_MISMATCH = TransformationKind(
    name="length-mismatch",
    summary="adds five tautologies to the premise, which becomes much longer than the hypothesis",
    options=LengthMismatchOptions,
    plan=functools.partial(_plan, "length-mismatch", "first"),
)
