"""A check of substitutions by a model: what changes a word's meaning too much is taken back."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.models.sense import Context
from ietest_fast.transform.base import BaseTransformation, Transformed, fingerprint_of
from ietest_fast.transform.columns import find_changed
from ietest_fast.transform.edits import ARTICLE_RULE, COMPANION_RULES, apply_edits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from ietest_fast.models.sense import SenseKind, SenseModel

# Counted up when the same model begins to leave other words alone.
_SCHEME = 1

DEFAULT_LEAST: Mapping[SenseKind, float] = {"encoder": 0.6, "masked": -4.0}
"""What a substitution has to score, unless something else is said; see docs/lexicon.md."""


# What of a text is looked at before and after a word: more than a model takes.
_BYTES_BESIDE = 1 << 14
# Contexts held at a time.
_CHARACTERS_AT_ONCE = 1 << 26
_NO_CONTEXT = Context("", "", "")


class _Substitution(NamedTuple):
    """An edit: its place among the edits, that of its article, both words in their contexts.

    ``word`` is by what it is known: its row, and which forms are the same word.
    """

    place: int
    article: int | None
    old: Context
    new: Context
    word: tuple[int, str]


@dataclass(frozen=True, kw_only=True, eq=False)
class SenseChecked(BaseTransformation):
    """Make the substitutions of another transformation that a model accepts in their context.

    Each substitution is scored by itself, in the text as it was before. What scores less than
    `least` is taken back, with the article that was repaired for it. A word that occurs several
    times in a row is replaced everywhere or nowhere: its worst score counts.
    """

    inner: BaseTransformation
    """Makes the substitutions; keeps rows."""
    model: SenseModel
    """Scores them; see :class:`ietest_fast.models.sense.SenseModel`."""
    least: float
    """From which score on a substitution is made."""
    lemma_of: Callable[[str], str]
    """Which forms are the same word."""

    @property
    def name(self) -> str:
        """The inner transformation's."""
        return self.inner.name

    @property
    def keeps_labels(self) -> bool:
        """As the inner transformation's."""
        return self.inner.keeps_labels

    @property
    def edits_are_independent(self) -> bool:
        """As the inner transformation's."""
        return bool(getattr(self.inner, "edits_are_independent", False))

    @functools.cached_property
    def fingerprint(self) -> str:
        """Sha256 of the inner transformation, the model and the threshold, 64 digits."""
        return fingerprint_of(
            {
                "scheme": _SCHEME,
                "inner": self.inner.fingerprint,
                "model": self.model.fingerprint,
                "least": self.least,
            }
        )

    def describe(self) -> dict[str, Any]:
        """Return name and options, those of the check among them."""
        described = self.inner.describe()
        check = {
            "sense_check": f"{self.model.kind}@{self.model.fingerprint[:12]}",
            "sense_least": self.least,
        }
        return {**described, "options": {**described["options"], **check}}

    def transform_table(
        self,
        table: pa.Table,
        text_columns: tuple[str, ...],
        *,
        with_edits: bool,
        n_threads: int | None,
    ) -> Transformed:
        """Replace words; see :meth:`ietest_fast.transform.Transformation.transform`."""
        made = self.inner.transform(table, text_columns, with_edits=True, n_threads=n_threads)
        edits = cast("pa.Table", made.edits)
        accepted = self._accepted(table, edits, n_threads)
        if not accepted.all():
            edits = edits.filter(pa.array(accepted))
            made_again = apply_edits(table, edits)
            names = list(text_columns)
            touched = np.zeros(table.num_rows, np.bool_)
            touched[edits["row"].to_numpy()] = True
            changed = find_changed(table, made_again, names, touched)
            made = Transformed(table=made_again, changed=changed, edits=edits)
        if with_edits:
            return made
        return Transformed(table=made.table, changed=made.changed, edits=None)

    def _accepted(
        self, table: pa.Table, edits: pa.Table, n_threads: int | None
    ) -> npt.NDArray[np.bool_]:
        """Say of each edit whether it is made."""
        found: list[_Substitution] = []
        refused: set[tuple[int, str]] = set()
        waiting: list[_Substitution] = []
        size = 0

        def score() -> None:
            scores = self.model.score(
                [each.old for each in waiting],
                [each.new for each in waiting],
                n_threads=n_threads,
            )
            refused.update(
                each.word
                for each, score in zip(waiting, scores, strict=True)
                if not float(score) >= self.least
            )
            found.extend(each._replace(old=_NO_CONTEXT, new=_NO_CONTEXT) for each in waiting)
            waiting.clear()

        for each in self._substitutions(table, edits):
            waiting.append(each)
            size += sum(map(len, each.old)) + sum(map(len, each.new))
            if size >= _CHARACTERS_AT_ONCE:
                score()
                size = 0
        score()
        kept = np.ones(len(edits), np.bool_)
        for each in found:
            if each.word in refused:
                kept[each.place] = False
                if each.article is not None:
                    kept[each.article] = False
        return kept

    def _substitutions(self, table: pa.Table, edits: pa.Table) -> Iterator[_Substitution]:
        columns = pc.cast(edits["column"], pa.string()).to_pylist()
        rules = pc.cast(edits["rule"], pa.string()).to_pylist()
        rows, starts, ends = (edits[name].to_pylist() for name in ("row", "start", "end"))
        olds, news = edits["old"].to_pylist(), edits["new"].to_pylist()
        texts = {name: table[name] for name in dict.fromkeys(columns)}
        text, key = b"", None
        for i, rule in enumerate(rules):
            if rule in COMPANION_RULES:
                continue
            if key != (rows[i], columns[i]):
                key = (rows[i], columns[i])
                text = texts[columns[i]][rows[i]].as_py().encode()
            before = text[max(0, starts[i] - _BYTES_BESIDE) : starts[i]]
            after = text[ends[i] : ends[i] + _BYTES_BESIDE].decode(errors="ignore")
            article = i - 1 if _is_article_of(i, rules, rows, columns) else None
            before_new = before
            if article is not None:
                at = len(before) - (starts[i] - starts[article])
                end = len(before) - (starts[i] - ends[article])
                before_new = before[: max(0, at)] + news[article].encode() + before[end:]
            yield _Substitution(
                place=i,
                article=article,
                old=Context(before.decode(errors="ignore"), olds[i], after),
                new=Context(before_new.decode(errors="ignore"), news[i], after),
                word=(rows[i], self.lemma_of(olds[i])),
            )


def _is_article_of(
    i: int, rules: Sequence[str], rows: Sequence[int], columns: Sequence[str]
) -> bool:
    """Say whether the edit before is of an article, in the same text."""
    return (
        i > 0
        and rules[i - 1] == ARTICLE_RULE
        and rows[i - 1] == rows[i]
        and columns[i - 1] == columns[i]
    )
