"""The paper's alternatives: several classifiers that vote, a search per resample; partial input."""

from __future__ import annotations

import json

import numpy as np
import pytest

from ietest_fast.corpus import DataGeneratingProcess
from ietest_fast.errors import ConfigError, InputError, StoreError
from ietest_fast.experiment import check_config
from ietest_fast.experiment.identity import training_seed, trial_seed
from ietest_fast.experiment.run import run
from ietest_fast.experiment.tasks import majority
from ietest_fast.models import load_model
from toys import QUICK, Swap, read_matched, toy_splits

# Few rows and columns for each tree: seeds make a difference.
_NOISY = {**QUICK, "n_estimators": 1, "subsample": 0.1, "colsample_bytree": 0.1}


def _run(folder, **changes):
    splits = changes.pop("splits", None)
    values = {
        "data": {"demo": True, "name": "toys"},
        "model": {"params": _NOISY},
        "rho": [0, 1],
        "n_classifiers": 2,
        "n_jobs": 1,
    }
    return run(
        check_config({**values, **changes}),
        folder,
        splits=toy_splits() if splits is None else splits,
        transformation=Swap(),
    )


def _matched(result, version="swap"):
    return {
        (rho.rho, cell.m): read_matched(result.folder, cell.identity, version)
        for rho in result.rhos
        for cell in rho.cells
    }


def _votes_one_by_one(probabilities):
    """Count votes in the obvious way."""
    labels = []
    for row in range(len(probabilities[0])):
        votes = {}
        for each in probabilities:
            choice = int(np.argmax(each[row]))
            votes[choice] = votes.get(choice, 0) + 1
        most = max(votes.values())
        tied = sorted(label for label, count in votes.items() if count == most)
        labels.append(max(tied, key=lambda c: sum(float(each[row][c]) for each in probabilities)))
    return labels


@pytest.mark.parametrize(("n_voters", "n_classes"), [(1, 3), (2, 2), (3, 3), (4, 3), (5, 4)])
def test_a_majority_is_what_counting_by_hand_gives(n_voters, n_classes):
    rng = np.random.default_rng(n_voters)
    voters = [
        rng.dirichlet(np.ones(n_classes), size=300).astype(np.float32) for _ in range(n_voters)
    ]
    labels = majority(voters)
    assert labels.dtype == np.int8
    assert labels.tolist() == _votes_one_by_one(voters)


def test_equal_votes_go_to_the_likelier_label_and_then_to_the_lower():
    first = np.array([[0.9, 0.1, 0.0], [0.6, 0.4, 0.0]], dtype=np.float32)
    second = np.array([[0.0, 0.6, 0.4], [0.4, 0.6, 0.0]], dtype=np.float32)
    assert majority([first, second]).tolist() == [0, 0]


def test_voters_are_trained_on_one_resample_with_seeds_of_their_own(tmp_path):
    splits = toy_splits()
    result = _run(tmp_path, splits=splits, model={"params": _NOISY, "n_voters": 3}, rho=[0.5])
    matched = _matched(result)
    model = load_model("bow-xgb")
    from ietest_fast.experiment.data import transform_splits
    from ietest_fast.transform import plan

    swap = Swap()
    texts = transform_splits(
        splits,
        plan(swap),
        tmp_path / "again",
    )
    encoded = model.encode(texts.texts, splits.train.text_columns)
    draw = DataGeneratingProcess(seed=0).mask
    for m in range(2):
        mask = draw("train", rho=0.5, m=m, n=len(encoded["train"]))
        seeds = [training_seed(0, rho=0.5, m=m, voter=voter) for voter in range(3)]
        assert len(set(seeds)) == 3
        assert seeds[0] == training_seed(0, rho=0.5, m=m)
        probabilities = [
            model.fit(
                encoded["train"].resample(mask, "transformed"),
                None,
                params=_NOISY,
                n_classes=3,
                seed=seed,
            ).predict_proba(encoded["test"].store, encoded["test"].original)
            for seed in seeds
        ]
        expected = _votes_one_by_one(probabilities)
        assert matched[0.5, m]["original"].to_pylist() == expected
        assert any(each.argmax(axis=1).tolist() != expected for each in probabilities)
    assert not list((tmp_path / "unfinished").glob("*"))


@pytest.mark.slow
def test_a_voter_that_was_done_before_the_run_died_is_not_trained_again(tmp_path):
    settings = {
        "model": {
            "name": "toys:DiesAtFit",
            "options": {"marker": str(tmp_path / "marker"), "at": 2},
            "params": _NOISY,
            "n_voters": 3,
        },
        "n_jobs": 2,
        "rho": [0.5],
        "n_classifiers": 1,
    }
    result = _run(tmp_path / "killed", **settings)
    # Killed at its second training, taken up again there: three trainings and the one that died.
    assert (tmp_path / "marker").read_text() == "fit\n" * 4
    undisturbed = _run(
        tmp_path / "whole", model={"params": _NOISY, "n_voters": 3}, rho=[0.5], n_classifiers=1
    )
    ours, theirs = _matched(result)[0.5, 0], _matched(undisturbed)[0.5, 0]
    assert ours.replace_schema_metadata(None).equals(theirs.replace_schema_metadata(None))


def test_a_voter_whose_classifier_was_not_kept_is_trained_again_to_keep_it(tmp_path):
    permit = tmp_path / "permit"
    model = {"name": "toys:Keeps", "options": {"permit": str(permit)}, "params": _NOISY}
    settings = {"model": model | {"n_voters": 2}, "rho": [0.1234567, 0.1234568], "n_classifiers": 1}
    with pytest.raises(RuntimeError, match="second training"):
        _run(tmp_path / "run", **settings)
    (answers,) = (tmp_path / "run/unfinished").glob("*.npz")
    permit.touch()
    whole = answers.read_bytes()
    answers.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StoreError, match=rf"{answers.name}: is damaged"):
        _run(tmp_path / "run", **settings)
    answers.write_bytes(whole)
    _run(tmp_path / "run", **settings, keep_models=True)
    kept = sorted(path.name for path in (tmp_path / "run/models").iterdir())
    # Shares that differ late have folders of their own.
    expected = [f"rho-{rho}-m-0-voter-{v}" for rho in (0.1234567, 0.1234568) for v in (0, 1)]
    assert kept == expected


def test_what_a_finished_task_kept_is_removed_by_the_next_run(tmp_path):
    result = _run(tmp_path / "run")
    identities = [cell.identity for rho in result.rhos for cell in rho.cells]
    left = tmp_path / "run/unfinished"
    left.mkdir(exist_ok=True)
    for name in (f"{identities[0]}-0.pt", f"{identities[1]}.pt", "0123-0.pt"):
        (left / name).touch()
    _run(tmp_path / "run")
    assert [path.name for path in left.iterdir()] == ["0123-0.pt"]


@pytest.mark.slow
def test_a_search_per_resample_tries_its_own_candidates_on_its_own_data(tmp_path):
    result = _run(tmp_path, model={"search": 3, "search_per_resample": True})
    assert result.models[0].params is None
    own = {(each.rho, each.m): each for each in result.models[0].searches}
    assert sorted(own) == [(0.0, 0), (0.0, 1), (1.0, 0), (1.0, 1)]
    drawn = [str([trial.params for trial in search.trials]) for search in own.values()]
    assert len(set(drawn)) == 4
    for search in own.values():
        best = max(search.trials, key=lambda trial: (trial.valid_accuracy, -trial.number))
        assert search.params == best.params
    # rho = 1 was judged on transformed validation texts: what was used can be tried again there.
    written = json.loads((tmp_path / "results.json").read_text())
    per_resample = written["models"][0]["searches"]
    assert [(each["rho"], each["m"]) for each in per_resample] == sorted(own)
    assert per_resample[0]["params"] == own[0.0, 0].params
    assert trial_seed(0, number=1, address=(1.0, 0)) != trial_seed(0, number=1)
    again = _run(tmp_path, model={"search": 3, "search_per_resample": True})
    assert again.models == result.models


def test_a_search_per_resample_judges_by_the_resampled_validation_set(tmp_path):
    """Trials at rho = 1 on Swap's data see other words than trials on the original data."""
    model = {
        "name": "toys:Remembers",
        "options": {"path": str(tmp_path / "seen")},
        "search": 1,
        "search_per_resample": True,
    }
    _run(tmp_path / "run", model=model, rho=[0, 1], n_classifiers=1)
    seen = [json.loads(line) for line in (tmp_path / "seen").read_text().splitlines()]
    trials, cells = seen[:2], seen[2:]
    assert [each["train"] for each in trials] == [each["train"] for each in cells]
    assert [each["valid"] for each in trials] == [each["valid"] for each in cells]
    assert trials[0]["train"] != trials[1]["train"]
    assert trials[0]["valid"] != trials[1]["valid"]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({"params": QUICK, "search_per_resample": True}, "params leave nothing to search for"),
        (
            {"search": "table7-snli", "search_per_resample": True},
            "a preset leaves nothing to search for",
        ),
        ({"n_voters": 0}, "model.n_voters"),
    ],
)
def test_alternatives_that_make_no_sense_are_refused(model, message):
    with pytest.raises(ConfigError, match=message):
        check_config({"data": {"demo": True}, "model": model})


@pytest.mark.slow
def test_partial_input_hides_the_other_column(tmp_path):
    from ietest_fast.corpus import demo_splits
    from ietest_fast.experiment.data import Splits

    parts = demo_splits(n_train=300, n_valid=60, n_test=100, seed=1)
    splits = Splits(train=parts[0], valid=parts[1], test=parts[2])
    config = {"data": {"demo": True}, "rho": [0], "n_classifiers": 1, "n_jobs": 1}
    model = {"params": QUICK, "input": "hypothesis"}
    result = run(check_config({**config, "model": model}), tmp_path / "one", splits=splits)
    assert result.models[0].settings.input == "hypothesis"
    (matched,) = _matched(result, "syn.careful").values()
    whole = run(
        check_config({**config, "model": {"params": QUICK}}), tmp_path / "two", splits=splits
    )
    (both,) = _matched(whole, "syn.careful").values()
    assert 0 < sum(matched["changed"].to_pylist()) < sum(both["changed"].to_pylist())
    unchanged = ~matched["changed"].to_numpy()
    assert np.array_equal(
        matched["original"].to_numpy()[unchanged], matched["transformed"].to_numpy()[unchanged]
    )
    with pytest.raises(InputError, match=r"model\.input: 'text' is no column of texts"):
        run(
            check_config({**config, "model": {**model, "input": "text"}}),
            tmp_path / "three",
            splits=splits,
        )
    assert not (tmp_path / "three").exists()
