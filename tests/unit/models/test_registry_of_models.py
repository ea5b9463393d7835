"""A model from a package outside takes part in a run, and nothing here knows of it."""

import sys

import pytest
from click.testing import CliRunner

from ietest_fast.cli.main import cli
from ietest_fast.errors import InputError
from ietest_fast.experiment import check_config
from ietest_fast.experiment.run import run
from ietest_fast.models import load_model, model_names
from ietest_fast.models.protocol import describe_models

# All that its author writes: longer hypotheses are contradictions, from a length that is learnt.
CODE = '''
import numpy as np
import pyarrow.compute as pc

from ietest_fast.models import Capabilities, EncodedSplit, Params, RowStore


class Lengths:
    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def arrays(self):
        return {"values": self.values}


class Fitted:
    def __init__(self, limit):
        self.limit = limit

    def predict(self, store, rows):
        return np.where(store.values[rows] > self.limit, 2, 0).astype(np.int8)

    def predict_proba(self, store, rows):
        return np.eye(3, dtype=np.float32)[self.predict(store, rows)]


class ByLength:
    """Judges a text by its length.

    More about it.
    """

    name = "by-length"
    backend = "ruler 1.0"
    capabilities = Capabilities()
    search_space = {}
    presets = {"default": {}}

    def __init__(self, unit: str = "bytes"):
        self.options = {"unit": unit}

    def check_params(self, params):
        return [f"{name}: unknown" for name in params]

    def encode(self, splits, text_columns):
        encoded = {}
        for name, split in splits.items():
            lengths = [
                np.asarray(pc.binary_length(table[text_columns[-1]]), dtype=np.int64)
                for table in split.versions.values()
            ]
            ends = np.cumsum([len(part) for part in lengths])[:-1]
            rows = np.split(np.arange(sum(map(len, lengths))), ends)
            encoded[name] = EncodedSplit(
                store=Lengths(np.concatenate(lengths)),
                versions=dict(zip(split.versions, rows)),
                labels=split.labels,
            )
        return encoded

    def load_store(self, arrays):
        return Lengths(arrays["values"])

    def fit(self, train, valid, *, params, n_classes, seed, n_threads=1):
        return Fitted(np.median(train.store.values[train.rows]))
'''


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Give a folder of packages, as pip would leave them."""
    place = tmp_path / "site"
    info = place / "rulers-2.1.dist-info"
    info.mkdir(parents=True)
    (place / "rulers_of_texts.py").write_text(CODE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rulers\nVersion: 2.1\n")
    (info / "entry_points.txt").write_text(
        "[ietest_fast.models]\nby-length = rulers_of_texts:ByLength\n"
    )
    monkeypatch.syspath_prepend(place)
    yield place
    sys.modules.pop("rulers_of_texts", None)


@pytest.mark.slow
def test_a_package_adds_a_model(site, tmp_path):
    assert model_names()[-1] == "by-length"
    assert describe_models()["by-length"] == "Judges a text by its length (rulers 2.1)"
    assert load_model("by-length", unit="letters").options == {"unit": "letters"}
    with pytest.raises(InputError, match="has no option 'colour'; it has unit"):
        load_model("by-length", colour="red")
    config = check_config(
        {
            "data": {"demo": {"n_train": 60, "n_valid": 20, "n_test": 60}},
            "model": {"name": "by-length", "search": "default"},
            "n_classifiers": 2,
            "rho": [0.0],
            "n_jobs": 1,
        }
    )
    result = run(config, tmp_path / "run")
    assert [len(each.cells) for each in result.rhos] == [2]
    assert "model:by-length" in result.signature
    listed = CliRunner().invoke(cli, ["run", "--model"])
    assert "by-length" in listed.output


def test_a_broken_package_does_not_hide_the_other_models(site):
    (site / "rulers_of_texts.py").write_text("import no_such_dependency_of_rulers")
    described = describe_models()
    assert "no_such_dependency_of_rulers, which is not installed" in described["by-length"]
    assert described["bow-xgb"] == "Word counts (or TF-IDF) and gradient boosting"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ("backend = ", "lacks backend; see ietest_fast.models.Model"),
        ("capabilities = ", "lacks capabilities"),
        ("def fit", "no class of models: it lacks fit; see ietest_fast.models.Model"),
    ],
)
def test_a_model_that_lacks_something_is_told_what(site, change, complaint):
    (site / "rulers_of_texts.py").write_text(CODE.replace(f"    {change}", f"    _{change}"))
    if change.startswith("def"):
        (site / "rulers_of_texts.py").write_text(CODE.replace("def fit(", "def train("))
    with pytest.raises(InputError, match=complaint):
        load_model("by-length")
