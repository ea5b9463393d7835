"""Finished runs to report on: small, real, and each made in a second."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ietest_fast.corpus import Corpus
from ietest_fast.experiment import check_config
from ietest_fast.experiment.data import Splits
from ietest_fast.experiment.run import run
from ietest_fast.transform import WordSubstitution
from toys import LABELS, QUICK, toy_splits

SWAPS = {"sleeps": "slumbers", "boy": "lad", "street": "road"}

# What a page must show as text and never run.
HOSTILE = (
    "<script>document.title = 'owned'</script> sleeps",
    "</script><img src=x onerror=\"document.title = 'owned'\"> sleeps",
    "a 'quoted' \"text\" & <b>tags</b> {{ 7 * 7 }} ${7 * 7} sleeps",
    "\u202eright to left\u202c שלום עולם مرحبا sleeps",
    "zero\x00byte and \x1b escape sleeps",
    "long " * 2000 + "sleeps",
    "\U0001f415 dog \U0001f469\u200d\U0001f680 e\u0301 sleeps \U0001f415 street",
    "]]> <!-- --> <svg onload=alert(1)> sleeps",
)


def make_run(folder: Path, **changes: Any) -> Path:
    """Run the test on toys into a folder and give it."""
    splits = changes.pop("splits", None) or toy_splits()
    swaps = changes.pop("swaps", SWAPS)
    values = {
        "data": {"demo": True},
        "model": {"name": "bow-xgb", "params": QUICK},
        "rho": [0, 0.5, 1],
        "n_classifiers": 2,
        "n_jobs": 1,
        **changes,
    }
    run(
        check_config(values),
        folder,
        splits=splits,
        transformation=WordSubstitution(mapping=swaps),
    )
    return folder


def hostile_splits() -> Splits:
    """Toy splits the test set of which holds hostile texts, and whose labels are hostile, too."""
    splits = toy_splits()
    names = ("<b>yes</b>", "no & no", 'may"be')
    n = len(splits.test)
    premise = np.array(splits.test.table["premise"].to_pylist(), dtype=object)
    premise[: len(HOSTILE)] = HOSTILE
    table = splits.test.table.set_column(0, "premise", pa.array(premise.tolist(), pa.string()))
    assert n > len(HOSTILE)
    assert len(LABELS) == len(names)
    parts = [
        Corpus(table=own, text_columns=("premise", "hypothesis"), label_names=names)
        for own in (splits.train.table, splits.valid.table, table)
    ]
    return Splits(train=parts[0], valid=parts[1], test=parts[2])
