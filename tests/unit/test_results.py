"""A ``results.json`` that contradicts itself: every number that follows from others is refused."""

from __future__ import annotations

import json
from fnmatch import fnmatch

import pytest

from ietest_fast.errors import StoreError
from ietest_fast.experiment import check_config
from ietest_fast.experiment.results import RESULTS, check_results, read_results
from ietest_fast.experiment.run import run

FREE = {
    # What was asked for, and nothing else in the file is made of.
    "settings.data.demo.*": "rows that were asked for; a program may bring its own",
    "transformations.*.settings.*": "options of a transformation, as it describes itself",
    "models.*.searches.*.params.*": "those of a preset, which the model knows",
    # What was counted on texts and answers, which the file does not hold.
    "transformations.*.changed.train": "is at most the rows",
    "transformations.*.changed.valid": "is at most the rows",
    "transformations.*.n_test_reworded": "lies between changed rows and edits",
    "transformations.*.test_edits.*": "bounds n_test_reworded",
    "conditions.*.valid_accuracy": "is a share of the validation rows",
    "conditions.*.claims.p_values.*": "come from every answer; levels hold how they compare",
    "conditions.*.claims.slope.*": "comes from every answer; the change is in the middle",
    "conditions.*.churn.p_value": "comes from every answer; Holm's rule holds the smallest",
}
"""Keys whose numbers may be others, and why."""


ONE_LABEL = {"entailment": 90, "neutral": 0, "contradiction": 0}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    config = {
        "data": {"demo": {"n_train": 150, "n_valid": 60, "n_test": 90}},
        "model": {"name": "ngram-linear", "search": "default"},
        "rho": [0, 0.5],
        "n_classifiers": 2,
        "n_jobs": 1,
    }
    return run(check_config(config), tmp_path_factory.mktemp("run") / "out").folder


def _list_numbers(value, place=()):
    """Every place at which a number or a yes or no stands."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return [each for key, own in items for each in _list_numbers(own, (*place, key))]
    return [place] if isinstance(value, bool | int | float) else []


def _change(value, by):
    if isinstance(value, bool):
        return not value
    return value + by if isinstance(value, int) else value + by / 1000


def _accepted(folder, by):
    written = json.loads((folder / RESULTS).read_text())
    found, tried = [], 0
    for *path, last in _list_numbers(written):
        holder = written
        for key in path:
            holder = holder[key]
        before = holder[last]
        holder[last] = _change(before, by)
        tried += 1
        try:
            check_results(json.dumps(written).encode(), written)
        except ValueError:
            pass
        else:
            found.append(".".join(map(str, (*path, last))))
        holder[last] = before
    return found, tried


@pytest.mark.slow
@pytest.mark.parametrize("by", [1, -1, 40])
def test_any_other_number_is_refused(finished, by):
    accepted, tried = _accepted(finished, by)
    assert tried > 300
    assert [key for key in accepted if not any(fnmatch(key, free) for free in FREE)] == []


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("settings.n_classifiers", 7, "settings.n_classifiers: is not what conditions.0.rhos.0"),
        ("settings.rho.0", 0.25, "settings.rho: is not what conditions.0 says"),
        ("settings.seed", 5, "signature: has seed '0'"),
        ("settings.alpha", 0.04, "alpha is not that of the settings"),
        ("data.test.rows", 9000, "data.test.rows: is not the sum of labels, 90"),
        ("data.train.labels.neutral", 3, "data.train.rows: is not the sum of labels"),
        ("transformations.0.n_test_reworded", 3, "n_test_reworded: is fewer than the 44 rows"),
        ("transformations.0.changed.test", 80, "n_test_reworded: is fewer than the 80 rows"),
        ("R.0.algorithm.delta", 0.5, "algorithm.delta: is 0.5"),
        ("R.0.algorithm.training_weight", 0.9, "algorithm.training_weight: is 0.9"),
        ("R.0.algorithm.sd_residual", 0.01, "algorithm"),
        ("R.0.churn.excess", 0.2, "churn.excess: is 0.2"),
        ("R.0.churn.flip_rate", 0.2, "churn.flip_rate: is 0.2"),
        ("R.0.sensitivity.power", 0.9, "sensitivity.power: is 0.9"),
        ("R.0.detectable_difference", 0.05, "detectable_difference: is 0.05"),
        ("R.0.cells.0.test.p_paper", 0.9, "cells.0.test.p_paper: is 0.9"),
        ("R.0.cells.0.valid_accuracy", 0.501, "is 0.501, which is no share of 60"),
        ("R.1.cells.0.train_transformed", 3, "cells.0.train_transformed: is 3"),
        ("R.0.cells.0.reworded.strata.0.strata.0.p_value", 0.9, "strata.0.p_value: is 0.9"),
        ("R.0.cells.0.reworded.strata.0.strata.0.n_flipped", 1, "n_flipped"),
        ("R.0.cells.0.reworded.strata.0.strata.0.name", "zzz", "0.name: 'zzz' is none of the lab"),
        ("R.0.cells.0.reworded.strata.0.strata.0.name", "neutral", "two have the same name"),
        ("data.test.labels", ONE_LABEL, "is a label of 0 rows, fewer than there are here"),
        ("R.0.cells.0.reworded.flips.p_below", 0.1, "flips.p_below: is 0.1"),
        ("R.0.signature", "ie", "signature: has n None"),
        ("conditions.0.over_rho.churn_p_adjusted.0", 0.9, "over_rho.churn_p_adjusted.0: is 0.9"),
    ],
)
def test_the_error_names_the_key(finished, tmp_path, path, value, said):
    written = json.loads((finished / RESULTS).read_text())
    *holders, last = path.replace("R.", "conditions.0.rhos.").split(".")
    holder = written
    for key in holders:
        holder = holder[int(key) if key.isdecimal() else key]
    holder[int(last) if last.isdecimal() else last] = value
    (tmp_path / RESULTS).write_text(json.dumps(written))
    with pytest.raises(StoreError) as caught:
        read_results(tmp_path)
    assert said in str(caught.value)
