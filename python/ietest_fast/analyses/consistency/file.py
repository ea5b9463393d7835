"""Answers to wordings in a file, with what has to be known to measure their consistency."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.analyses.consistency.amounts import Amounts
from ietest_fast.answers.metadata import read_run_of, write_with_run
from ietest_fast.errors import InputError
from ietest_fast.stats.consistency.corrected import MOST_CONFIDENCE_STRATA, stratum_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from ietest_fast.analyses.consistency.buckets import Buckets
    from ietest_fast.answers.asking import Evaluation
    from ietest_fast.answers.table import Predictions


KEY = b"ietest_fast.consistency"
"""What the metadata of a file of answers to wordings stand under."""

FORMAT = 1
"""Of these metadata."""

MOST_ITEMS = 10**9
"""More items than this no file counts."""

MOST_DIVERSITY_GROUPS = 20

DEFAULT_DIVERSITY_GROUPS = 4
"""Groups of items by the diversity of their paraphrases."""


@dataclass(frozen=True, kw_only=True)
class ConsistencyRun:
    """How answers to the wordings of items came about."""

    clusters: str | None = None
    """The column whose equal values belong together; None: none."""
    subset: str | None = None
    """The column by which consistency is parted; None: none."""
    n_empty: Mapping[str, int | None] = field(default_factory=dict)
    n_mixed: Mapping[str, int] = field(default_factory=dict)
    """By classifier, items of the source without a row that could be used, and items that were left
    out because their wordings have different gold labels. The first is None where sources were
    joined that lack items: the same item may be lacking in several of them."""
    n_wanted: Mapping[str, int] = field(default_factory=dict)
    """By classifier, how many paraphrases of each item were asked for; empty where they were not
    made here."""
    strata: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """By classifier, items of the full test set in each stratum of confidence; empty where no test
    set was given."""
    text_columns: tuple[str, ...] = ()
    """Names of the columns of texts."""
    diversity: tuple[str, ...] = ()
    """Measures of the diversity of paraphrases by which items are grouped; empty: not measured."""
    diversity_groups: int = DEFAULT_DIVERSITY_GROUPS
    """Groups of items for each."""
    diversity_texts: tuple[str, ...] = ()
    """Columns of texts whose diversity was measured."""
    partial_input: str | None = None
    """What the classifier is called that saw a part of the input, by whose answers items are
    parted; None: none."""
    warnings: tuple[str, ...] = ()
    """Whole sentences about how the answers came about."""
    curves: tuple[Amounts, ...] = ()
    """Classifiers that have seen different amounts of data."""
    backend: str = ""
    identity: dict[str, str] | None = None
    """Of the model that was run; see :class:`~ietest_fast.answers.Evaluation`."""

    @classmethod
    def of(
        cls,
        buckets: Buckets,
        answers: Evaluation,
        *,
        clusters: str | None,
        subset: str | None,
    ) -> ConsistencyRun:
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

    def renamed(self, names: Mapping[str, str], *, curve: str = "") -> ConsistencyRun:
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


@dataclass(frozen=True, kw_only=True, eq=False)
class ConsistencyAnswers:
    """Answers to the wordings of items, and how they came about."""

    predictions: Predictions
    """The long table."""
    run: ConsistencyRun
    """How they came about."""

    def told(self, clusters: str | None, subset: str | None) -> ConsistencyAnswers:
        """Return these with other columns of clusters and subsets, where they are named."""
        run = replace(
            self.run, clusters=clusters or self.run.clusters, subset=subset or self.run.subset
        )
        return replace(self, run=run)


def write_wordings(answers: ConsistencyAnswers, path: Path) -> None:
    """Write answers to a Parquet file, whole or not at all.

    :meth:`~ietest_fast.answers.Predictions.read` reads it as any file of predictions.
    """
    write_with_run(answers.predictions, path, KEY, {"format": FORMAT, **asdict(answers.run)})


def read_consistency_run(path: Path) -> ConsistencyRun | None:
    """Return how the answers of a file came about; None if it is no such file."""
    return read_run_of(path, KEY, _restore)


def _restore(found: Any) -> ConsistencyRun:
    """Check the metadata, which come from anywhere."""
    if not isinstance(found, dict):
        raise TypeError(f"an object expected, not {type(found).__name__}")
    version = found.pop("format", None)
    if type(version) is not int or version != FORMAT:
        raise InputError(
            f"its metadata are of format {version!r}, and this version of ietest-fast reads format "
            f"{FORMAT}; measure the answers anew, or take the version that has written them"
        )
    known = {each.name for each in fields(ConsistencyRun)}
    for what, names in (("missing", known - set(found)), ("unknown", set(found) - known)):
        if names:
            raise ValueError(f"{what}: {', '.join(sorted(names))}")
    told: dict[str, Any] = {}
    for name in ("clusters", "subset", "partial_input"):
        told[name] = None if found[name] is None else _text(found[name], name)
    for name in ("text_columns", "warnings", "diversity", "diversity_texts"):
        told[name] = tuple(_text(each, name) for each in _list(found[name], name))
    for name in ("n_empty", "n_mixed", "n_wanted"):
        counts = _object(found[name], name)
        told[name] = {
            model: None if name == "n_empty" and n is None else _count(n, name)
            for model, n in counts.items()
        }
    told["strata"] = {
        model: _strata(counts) for model, counts in _object(found["strata"], "strata").items()
    }
    told["diversity_groups"] = _count(found["diversity_groups"], "diversity_groups")
    if not 2 <= told["diversity_groups"] <= MOST_DIVERSITY_GROUPS:
        raise ValueError(f"diversity_groups is {told['diversity_groups']}")
    told["curves"] = tuple(map(Amounts.restore, _list(found["curves"], "curves")))
    told["backend"] = _text(found["backend"], "backend")
    told["identity"] = found["identity"]
    if told["identity"] is not None:
        own = _object(found["identity"], "identity")
        told["identity"] = {name: _text(value, "identity") for name, value in own.items()}
    return ConsistencyRun(**told)


def _strata(counts: Any) -> tuple[int, ...]:
    found = tuple(_count(n, "strata") for n in _list(counts, "strata"))
    if not 1 <= len(found) <= MOST_CONFIDENCE_STRATA or not 1 <= sum(found) <= MOST_ITEMS:
        raise ValueError(f"strata has {sum(found):,} items in {len(found):,} strata")
    return found


def _count(value: Any, name: str) -> int:
    if type(value) is not int or not 0 <= value <= MOST_ITEMS:
        raise ValueError(f"{name} has {json.dumps(value)[:40]}, a count expected")
    return value


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} has {json.dumps(value)[:40]}, a text expected")
    return value


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{name} is {json.dumps(value)[:40]}, a list expected")
    return value


def _object(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"{name} is {json.dumps(value)[:40]}, an object expected")
    return value


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
