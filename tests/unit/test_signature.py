"""The signature line."""

from __future__ import annotations

import ietest_fast
from ietest_fast.experiment import sign

FACTS = {
    "n": 9824,
    "discordant": [593],
    "method": "exact",
    "n_resamples": None,
    "n_classifiers": 5,
    "alpha": 0.05,
    "transformation": "syn.careful",
    "transformation_fingerprint": "1a2b3c",
    "rho": [0.5],
    "data": "snli",
    "data_fingerprint": "9f3cff",
    "model": "bow-xgb",
    "model_fingerprint": "77abff",
    "backend": "xgb",
    "seed": 7,
}


def test_reads_like_the_documented_one():
    assert sign(**FACTS) == (
        "ie|n:9824|k:593|S:exact|stat:t|alt:two|mc:bonf|M:5|alpha:0.05|phi:syn.careful@1a2b|"
        f"rho:0.5|data:snli@9f3c|model:bow-xgb@77ab|be:xgb|seed:7|v:{ietest_fast.__version__}"
    )


def test_ranges_replicates_and_names_with_separators():
    line = sign(
        **{
            **FACTS,
            "discordant": [600, 593, 700],
            "method": "multinomial",
            "n_resamples": 1000,
            "rho": [0.0, 0.25, 1.0],
            "data": "my|data: v@2",
        }
    )
    fields = dict(field.split(":", 1) for field in line.split("|")[1:])
    assert fields["k"] == "593-700"
    assert fields["S"] == "1000.multinomial"
    assert fields["rho"] == "0,0.25,1"
    assert fields["data"] == "my_data__v_2@9f3c"


def test_a_joint_correction_names_its_replicates():
    line = sign(**{**FACTS, "correction": "maxt", "n_resamples": 1000})
    assert "|S:exact|" in line
    assert "|mc:1000.maxt|" in line
