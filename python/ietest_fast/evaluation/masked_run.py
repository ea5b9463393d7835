"""A masked language model before and after training on a file of masked inference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ietest_fast.evaluation.masked_scoring import score_masked
from ietest_fast.models.masked_training import train_masked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ietest_fast.evaluation.masked_answers import MaskedAnswers
    from ietest_fast.evaluation.masked_items import MaskedItems
    from ietest_fast.models.masked_lm import TorchMaskedModel
    from ietest_fast.models.masked_training import MaskedSettings, TrainedMasked

PRETRAINED, FINE_TUNED = "pretrained", "fine-tuned"
"""What the two are called, as in Table 3.3 of the thesis."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MaskedRun:
    """Answers before and after training."""

    before: MaskedAnswers
    after: MaskedAnswers
    """The answers."""
    trained: TrainedMasked
    """The model, and how its training went."""
    n_shared: int
    """Items of the test that are training items, too: the same texts with the same answer."""


def train_and_score(
    model: TorchMaskedModel,
    train: MaskedItems,
    test: MaskedItems,
    settings: MaskedSettings,
    *,
    among: str | Sequence[str] | None = None,
    on_rows: Callable[[int], None] | None = None,
    on_step: Callable[[int, int], None] | None = None,
) -> MaskedRun:
    """Score a model, train it, and score it again (Salvatore 2020, Table 3.3).

    Parameters
    ----------
    model
        The model; its weights are changed.
    train
        What it is trained on: random tokens of premise and hypothesis are hidden, the hypothesis
        having its answer.
    test
        What it is scored on.
    settings
        Of the training.
    among, on_rows
        As for :func:`~ietest_fast.evaluation.masked_scoring.score_masked`.
    on_step
        As for :func:`~ietest_fast.models.masked_training.train_masked`.
    """
    pairs = pair_texts(train)
    before = score_masked(model, test, name=PRETRAINED, among=among, on_rows=on_rows)
    trained = train_masked(
        model, [first for first, _ in pairs], [second for _, second in pairs], settings,
        on_step=on_step,
    )  # fmt: skip
    after = score_masked(trained.model, test, name=FINE_TUNED, among=among, on_rows=on_rows)
    known = set(pairs)
    return MaskedRun(
        before=before,
        after=after,
        trained=trained,
        n_shared=sum(pair in known for pair in pair_texts(test)),
    )


def pair_texts(items: MaskedItems) -> list[tuple[str, str]]:
    """Return premises and hypotheses with their answers, of rows that can be used."""
    premises, answers = (items.table[name].to_pylist() for name in ("premise", "answer"))
    return [(premises[row], items.fill(row, answers[row])[0]) for row in items.usable]
