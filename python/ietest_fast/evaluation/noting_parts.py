"""By what items are parted, noted in the answers: diversity of paraphrases, partial input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.evaluation.consistency_file import DEFAULT_DIVERSITY_GROUPS
from ietest_fast.evaluation.noting_diversity import check_diversity, note_diversity
from ietest_fast.evaluation.noting_partial import note_partial_input

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.evaluation.consistency_file import ConsistencyAnswers
    from ietest_fast.evaluation.predictions import Predictions


def note_parts(
    answers: Sequence[ConsistencyAnswers],
    *,
    by_diversity: Sequence[str] = (),
    diversity_groups: int | None = None,
    text_columns: Sequence[str] | None = None,
    partial_input: Predictions | None = None,
    partial_name: str = "",
    n_threads: int | None = None,
) -> tuple[ConsistencyAnswers, ...]:
    """Note in answers by what their items are parted."""
    found = tuple(answers)
    if partial_input is not None:
        found = tuple(note_partial_input(each, partial_input, partial_name) for each in found)
    if by_diversity:
        found = tuple(
            note_diversity(
                each,
                measures_of(by_diversity),
                n_groups=diversity_groups or DEFAULT_DIVERSITY_GROUPS,
                columns=text_columns,
                n_threads=n_threads,
            )
            for each in found
        )
    else:
        for each in found:
            check_diversity(each)
    return found


def measures_of(names: Sequence[str]) -> tuple[str, ...]:
    """Return measures of diversity as columns are called: ``lexical_distance``."""
    return tuple(name.replace("-", "_") for name in names)
