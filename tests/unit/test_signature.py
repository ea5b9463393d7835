"""The signature line."""

from __future__ import annotations

from types import SimpleNamespace

import ietest_fast
from ietest_fast.experiment import sign
from ietest_fast.experiment.identity import identify
from ietest_fast.experiment.schema import CellResult, ModelSettings, RunSettings
from ietest_fast.stats import PairedCounts

DATA = {"name": None, "cluster": None, "split": None, "demo": None}
FINGERPRINTS = {"train": "1", "valid": "2", "test": "3"}
SETTINGS = {
    "data": DATA | FINGERPRINTS,
    "rho": [0.5],
    "n_classifiers": 5,
    "alpha": 0.05,
    "correction": "bonferroni",
    "margin": 0.01,
    "flip_margin": 0.05,
    "seed": 7,
    "method": "exact",
    "n_resamples": None,
}
MODEL = {
    "name": "bow-xgb",
    "options": {},
    "params": None,
    "search": "default",
    "search_per_resample": False,
    "n_voters": 1,
    "input": None,
    "backend": "xgb 3",
}
PHI = SimpleNamespace(name="syn.careful", fingerprint="1a2b3c")


def make_line(discordant=(593,), rho=(0.5,), data="snli", **settings):
    cells = [
        CellResult.from_counts(
            PairedCounts(9824 - k, k, 0, 0), rho=each, m=0, collapsed=False, alpha=0.05, margin=0.01
        )
        for k, each in zip(discordant, rho, strict=True)
    ]
    own = RunSettings.of_settings(SETTINGS | settings)
    return sign(own, ModelSettings.of_settings(MODEL), PHI, cells, data=data)


def test_reads_like_the_documented_one():
    data, model = identify(FINGERPRINTS)[:4], identify(MODEL)[:4]
    assert make_line() == (
        "ie|n:9824|k:593|S:exact|stat:t|alt:two|mc:bonf|M:5|alpha:0.05|phi:syn.careful@1a2b|"
        f"rho:0.5|data:snli@{data}|model:bow-xgb@{model}|be:xgb|seed:7|v:{ietest_fast.__version__}"
    )


def test_ranges_replicates_and_names_with_separators():
    line = make_line(
        discordant=(600, 593, 700),
        rho=(0.0, 0.25, 1.0),
        method="multinomial",
        n_resamples=1000,
        data="my|data: v@2",
    )
    fields = dict(field.split(":", 1) for field in line.split("|")[1:])
    assert fields["k"] == "593-700"
    assert fields["S"] == "1000.multinomial"
    assert fields["rho"] == "0,0.25,1"
    assert fields["data"] == f"my_data__v_2@{identify(FINGERPRINTS)[:4]}"


def test_a_joint_correction_names_its_replicates():
    line = make_line(correction="maxt", n_resamples=1000)
    assert "|S:exact|" in line
    assert "|mc:1000.maxt|" in line
