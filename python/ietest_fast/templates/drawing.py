"""Pairs drawn from templates: a shape whose label is proved, and names for its entities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ietest_fast.errors import InputError
from ietest_fast.random import philox_key
from ietest_fast.runtime import load_core
from ietest_fast.templates.skeletons import Skeleton, pack
from ietest_fast.templates.solver import Label
from ietest_fast.templates.wording import word_hypothesis, word_premises

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.templates.language import Language
    from ietest_fast.templates.naming import Names
    from ietest_fast.templates.skeletons import PackedSkeletons
    from ietest_fast.templates.template import Template

CONTRADICTION_OR_NOT = {
    Label.CONTRADICTION: "contradiction",
    Label.NEUTRAL: "non-contradiction",
    Label.ENTAILMENT: "non-contradiction",
}
"""The two labels of the thesis."""

THREE_WAY = {label: label.value for label in Label}
"""The labels of natural language inference."""

ROWS_AT_ONCE = 1 << 16
"""Rows of a batch: a few tens of megabytes of text at most."""


@dataclass(frozen=True, eq=False)
class ProvedTemplates:
    """Templates with the texts of all their shapes, whose labels are proved.

    Attributes
    ----------
    templates
        As they were given.
    skeletons
        Of all shapes.
    template_of
        int32, shape (shapes,): the place of each shape's template.
    weights
        float64, shape (shapes,): the probability of each shape within its template.
    """

    templates: tuple[Template, ...]
    skeletons: PackedSkeletons
    template_of: NDArray[np.int32]
    weights: NDArray[np.float64]


def prove_templates(
    templates: Sequence[Template],
    language: Language,
    *,
    on_shape: Callable[[], None] | None = None,
) -> ProvedTemplates:
    """Prove the label of every shape, and put it into words.

    Parameters
    ----------
    templates
        One or more.
    language
        Its words.
    on_shape
        Called after each shape.

    Raises
    ------
    TemplateError
        If a label cannot be proved.
    InputError
        If there are no words for a formula.
    """
    skeletons: list[Skeleton] = []
    template_of: list[int] = []
    weights: list[float] = []
    for place, template in enumerate(templates):
        for sizes, weight in template.weighted_sizes():
            shape = template.prove(sizes)
            premise = word_premises(shape.premises, language)
            hypothesis = word_hypothesis(shape.hypothesis, language)
            skeletons.append(Skeleton(shape.constants, premise, hypothesis))
            template_of.append(place)
            weights.append(weight)
            if on_shape is not None:
                on_shape()
    return ProvedTemplates(
        tuple(templates), pack(skeletons), np.array(template_of, dtype=np.int32), np.array(weights)
    )


class PairDrawer:
    """Draw pairs of texts.

    All labels have the same share of the rows, all templates of a label the same share of those,
    and the sizes of a shape are drawn in their order. Row r is a function of the seed and r.

    Parameters
    ----------
    proved
        From :func:`prove_templates`.
    names
        For their entities.
    label_names
        What rows say for each label. Labels with the same name are one label.
    seed
        Of the draws, one number or several.

    Raises
    ------
    InputError
        If there are fewer names than a shape has entities.
    """

    def __init__(
        self,
        proved: ProvedTemplates,
        names: Names,
        *,
        label_names: Mapping[Label, str] = THREE_WAY,
        seed: int | Sequence[int] = 0,
    ) -> None:
        self._proved = proved
        self._label_of = [label_names[each.label] for each in proved.templates]
        self.labels = tuple(dict.fromkeys(self._label_of))
        n_people = len(names.women) + len(names.men)
        _check_enough(proved.skeletons.n_people, n_people, "people")
        _check_enough(proved.skeletons.n_places, len(names.places), "places")
        codes = np.array([self.labels.index(name) for name in self._label_of], dtype=np.int32)
        self._key = philox_key(seed)
        self._filler: Any = load_core().templates.PairFiller(
            **vars(proved.skeletons),
            people=names.people,
            is_woman=(np.arange(n_people) < len(names.women)).astype(np.uint8),
            places=pa.array(names.places, pa.large_string()),
            weights=proved.weights,
            labels=codes[proved.template_of],
            n_labels=len(self.labels),
        )

    def draw(self, first: int, n_rows: int, *, n_threads: int | None = None) -> pa.Table:
        """Return rows from `first` on.

        Returns
        -------
        pyarrow.Table
            ``premise``, ``hypothesis``, ``label`` (as words) and ``template`` (its name).
        """
        premises, hypotheses, shapes = self._filler.fill(
            self._key, first=first, n_rows=n_rows, n_threads=n_threads
        )
        names = pa.array([each.name for each in self._proved.templates])
        labels = pa.array(self._label_of)
        codes = pa.array(self._proved.template_of[shapes])
        return pa.table(
            {
                "premise": pa.array(premises),
                "hypothesis": pa.array(hypotheses),
                "label": pa.DictionaryArray.from_arrays(codes, labels).dictionary_decode(),
                "template": pa.DictionaryArray.from_arrays(codes, names).dictionary_decode(),
            }
        )

    def batches(self, n_rows: int, *, n_threads: int | None = None) -> Iterator[pa.Table]:
        """Yield the first `n_rows` rows, some at a time."""
        for first in range(0, n_rows, ROWS_AT_ONCE):
            yield self.draw(first, min(ROWS_AT_ONCE, n_rows - first), n_threads=n_threads)


def _check_enough(needed: NDArray[np.int32], n_names: int, what: str) -> None:
    if needed.size and needed.max() > n_names:
        raise InputError(
            f"a shape has {needed.max()} {what}, but there are only {n_names} names of {what}; "
            "add names, or make the ranges of the templates smaller"
        )
