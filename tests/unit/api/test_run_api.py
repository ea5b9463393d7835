"""``ie.run``: the whole test on frames, with named models, objects, and estimators over texts."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ietest_fast as ie
from ietest_fast.experiment.run import run as run_experiment
from ietest_fast.models.bag_of_words import BagOfWordsXGBoost
from toys import LABELS, QUICK, Swap, toy_splits

SPLITS = toy_splits(120, 40, 90)
CORPORA = dict(SPLITS.items())
SMALL: dict[str, Any] = {"rho": [0, 1], "n_classifiers": 2, "phi": Swap(), "n_jobs": 1}


def frames() -> dict[str, pd.DataFrame]:
    made = {}
    for name, corpus in CORPORA.items():
        made[name] = corpus.table.to_pandas()
        made[name]["label"] = [LABELS[code] for code in made[name]["label"]]
    return made


class ByWord:
    """The likeliest label of the word before last: an estimator as scikit-learn has them."""

    n_fitted = 0

    def __init__(
        self, smoothing: float = 1.0, random_state: int | None = None, n_jobs: int = 1
    ) -> None:
        self.smoothing = smoothing
        self.random_state = random_state
        self.n_jobs = n_jobs

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("smoothing", "random_state", "n_jobs")}

    def set_params(self, **params: Any) -> ByWord:
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def fit(self, texts: list[str], labels: Any) -> ByWord:
        assert self.random_state is not None  # every training has its own
        assert not hasattr(self, "counts")  # a clone that nobody has fitted
        type(self).n_fitted += 1
        self.classes_ = np.unique(labels)
        self.counts: dict[str, Any] = {}
        for text, label in zip(texts, labels, strict=True):
            counts = self.counts.setdefault(text.split()[-1], np.full(3, self.smoothing))
            counts[label] += 1
        return self

    def predict_proba(self, texts: list[str]) -> Any:
        counts = [self.counts.get(text.split()[-1], np.array([2, 1, 1.0])) for text in texts]
        return np.array([each / each.sum() for each in counts])[:, self.classes_]

    def predict(self, texts: list[str]) -> Any:
        return self.classes_[self.predict_proba(texts).argmax(axis=1)]


@pytest.fixture(scope="module")
def found() -> Any:
    return ie.run(**frames(), model=ByWord(), input_column="hypothesis", **SMALL)


@pytest.mark.slow
def test_a_run_of_frames_is_that_of_the_same_corpora(tmp_path: Path) -> None:
    from ietest_fast.experiment.config import DataConfig, check_config

    given = ie.run(**frames(), out=tmp_path / "frames", model="bow-xgb", params=QUICK, **SMALL)
    config = check_config(
        {
            "data": DataConfig.in_memory(name="data"),
            "model": {"name": "bow-xgb", "params": QUICK},
            "rho": [0, 1],
            "n_classifiers": 2,
            "n_jobs": 1,
        }
    )
    expected = run_experiment(config, tmp_path / "corpora", splits=SPLITS, transformation=Swap())
    assert given.to_dict() == expected.to_dict()
    model = BagOfWordsXGBoost()
    same = ie.run(**CORPORA, out=tmp_path / "object", model=model, params=QUICK, **SMALL)
    assert same.results.conditions[0].rhos == expected.conditions[0].rhos


def test_an_estimator_is_cloned_and_fitted_on_every_resample(found: Any) -> None:
    assert found.results.models[0].settings.name == "ByWord"
    assert found.results.models[0].settings.options["smoothing"] == 1.0
    assert "n_jobs" not in found.results.models[0].settings.options
    assert len(found.to_frame()) == 2
    first, last = found.results.rhos
    # It knows no other word than those that it was trained on.
    assert first.accuracy_original.mean > first.accuracy_transformed.mean
    assert last.accuracy_original.mean < last.accuracy_transformed.mean
    assert found.reject


def test_it_prints_and_draws_itself(found: Any) -> None:
    assert "Paper's rule" in str(found)
    assert "\nie|n:90|" in repr(found)
    assert "Invariance under swap" in found._repr_html_()
    axes = found.plot()
    assert axes.get_legend_handles_labels()[1] == ["original", "transformed"]
    import matplotlib.pyplot as plt

    plt.close(axes.figure)


def test_predictions_of_all_classifiers(found: Any) -> None:
    predictions = found.predictions
    assert len(predictions) == 2 * 2 * 90 * 2
    assert predictions.versions == ("original", "swap")
    cell = found.results.rhos[1].cells[0]
    pairs = predictions.pairs("swap", rho=1.0, m=0)
    assert ie.paired_test(pairs.sample).pvalue == cell.p_value


@pytest.mark.slow
def test_a_temporary_folder_goes_with_the_result() -> None:
    made = ie.run(**CORPORA, model=ByWord(), input_column="hypothesis", **SMALL)
    folder = made.folder
    assert (folder / "results.json").is_file()
    assert not [path for path in folder.rglob("*") if path.suffix in {".pkl", ".joblib"}]
    del made
    gc.collect()
    assert not folder.exists()


def test_a_finished_run_is_read_and_another_estimator_is_refused(tmp_path: Path) -> None:
    options: dict[str, Any] = {"input_column": "hypothesis", "out": tmp_path / "run", **SMALL}
    first = ie.run(**CORPORA, model=ByWord(), **options)
    before = ByWord.n_fitted
    assert ie.run(**CORPORA, model=ByWord(), **options).results == first.results
    assert ByWord.n_fitted == before
    with pytest.raises(ie.IetestError, match="smoothing"):
        ie.run(**CORPORA, model=ByWord(smoothing=2.0), **options)


def test_several_models_and_transformations() -> None:
    made = ie.run(
        **CORPORA,
        model=[ByWord(), ByWord(smoothing=2.0)],
        input_column="hypothesis",
        **{**SMALL, "phi": [Swap(), Swap("stands", "rises", name="rise")], "rho": [1]},
    )
    assert len(made.to_frame()) == 4
    assert len(made.predictions.groups) == 2 * 2 * 2
    assert made.predictions.groups[0]["model"] == "ByWord, swap"
    assert "ByWord#2, rise, ρ = 1" in made._repr_html_()


def test_params_voters_and_other_forms() -> None:
    made = ie.run(
        **CORPORA,
        model=ByWord(),
        inputs="joined",
        params={"smoothing": np.float32(3.0), "n_jobs": np.int64(1)},
        n_voters=3,
        **SMALL,
    )
    assert made.results.models[0].settings.params == {"smoothing": 3.0, "n_jobs": 1}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_jobs": 2, "input_column": "hypothesis"}, "trained in this process"),
        ({}, "say inputs='joined'"),
        ({"params": {"smooth": 1}}, "smooth: unknown"),
        ({"params": {"smoothing": np.inf}}, "smoothing: inf cannot be recorded"),
        ({"params": {"smoothing": {1, 2}}}, r"smoothing: \{1, 2\} cannot be recorded"),
        ({"rho": [2], "alpha": 0.7}, "(?s)rho.*alpha"),
        ({"model": ByWord}, "is no model to train"),
        ({"model": 3}, "is no model to train"),
        ({"model": "bow-xg"}, "bow-xg"),
        ({"model_options": {"smoothing": 1}}, "set up the object instead"),
        ({"model": ByWord(smoothing=lambda: 0), "phi": "no"}, "no transformation"),  # type: ignore[arg-type]
        ({"text_columns": "premises"}, "did you mean 'premise'"),
    ],
)
def test_mistakes(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ie.IetestError, match=message):
        ie.run(**frames(), **{"model": ByWord(), **SMALL, **change})


def test_labels_mean_the_same_in_all_splits() -> None:
    tables = frames()
    tables["test"] = tables["test"][tables["test"]["label"] != "neutral"]
    made = ie.run(**tables, model=ByWord(), input_column="hypothesis", **SMALL)
    assert made.results.data.label_names == LABELS
    tables["test"] = tables["test"].assign(label="maybe")
    with pytest.raises(ie.IetestError, match="maybe"):
        ie.run(**tables, model=ByWord(), input_column="hypothesis", **SMALL)


@pytest.mark.peer
def test_a_pipeline_of_scikit_learn() -> None:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    model = make_pipeline(
        FunctionTransformer(str_lower), CountVectorizer(), SGDClassifier(loss="log_loss")
    )
    one = ie.run(**frames(), model=model, inputs="joined", **SMALL)
    options = one.results.models[0].settings.options
    assert one.results.models[0].settings.name == "SGDClassifier"
    assert str(options["functiontransformer__func"]).startswith(f"{__name__}.str_lower@")
    assert not hasattr(model[-1], "classes_")
    again = ie.run(**frames(), model=model, inputs="joined", **SMALL)
    assert again.to_dict() == one.to_dict()


def str_lower(texts: list[str]) -> list[str]:
    return [text.lower() for text in texts]
