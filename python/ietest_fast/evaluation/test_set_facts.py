"""A full test set held against the log whose classifier has answered it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.errors import InputError
from ietest_fast.evaluation.predictions import ORIGINAL
from ietest_fast.evaluation.shared_wordings import SharedWordings, find_kinds

if TYPE_CHECKING:
    from ietest_fast.evaluation.predictions import Predictions


def compare_with_test_set(log: Predictions, full: Predictions) -> tuple[str, ...]:
    """Compare what both say of the originals of shared items, so that a swapped file is noticed.

    Parameters
    ----------
    log
        Answers of one classifier to wordings.
    full
        Those of the same one to the full test set.

    Returns
    -------
    tuple of str
        A sentence if no item is shared, so that nothing but the labels could be compared.

    Raises
    ------
    InputError
        If an original has another gold label, answer, outcome or confidence, or the labels differ.
    """
    full = full.select(version=ORIGINAL)
    shared = None
    if ORIGINAL in log.versions:
        shared = SharedWordings.find(log.select(version=ORIGINAL), full, keys=("item",))
    is_shared = shared is not None and len(shared) > 0
    _check_kinds(log, full, is_shared=is_shared)
    if shared is None or not is_shared:
        return (f"{full.source} shares no item with {log.source}, so it is not compared with it.",)
    if not shared.check_labels("gold", "the gold label"):
        _check_kinds(log, full, is_shared=False)
    if log.has_labels and full.has_labels:
        shared.check_labels("predicted", "the answer")
    shared.check_outcomes()
    shared.check_confidences()
    return ()


def _check_kinds(log: Predictions, full: Predictions, *, is_shared: bool) -> None:
    """Refuse a test set with other labels.

    Labels that no file names may be lacking by chance: shared items then say more.
    """
    own, given = find_kinds(log), find_kinds(full)
    if own is None or given is None or own == given:
        return
    are_named = log.label_names is not None and full.label_names is not None
    if not are_named and (is_shared or min(len(own), len(given)) < 2):
        return
    raise InputError(
        f"has the labels {', '.join(sorted(given))}, and {log.source} has "
        f"{', '.join(sorted(own))}; a full test set has the labels of the items that were chosen "
        "from it: give the answers of the same model to that test set",
        path=full.source,
    )
