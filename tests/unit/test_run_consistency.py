"""P_C of a run's classifiers over the number of training rows, against all pairs of wordings."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pyarrow.parquet as pq
import pytest

from ietest_fast.answers.table import ORIGINAL, Predictions
from ietest_fast.errors import InputError, StoreError
from ietest_fast.experiment import check_config
from ietest_fast.experiment.results import read_results
from ietest_fast.experiment.run import run
from ietest_fast.experiment.run_consistency import measure_run
from ietest_fast.stats.consistency.buckets import count_buckets
from ietest_fast.stats.consistency.measure import measure_consistency
from toys import Swap, read_matched, toy_splits

NGRAMS = {"name": "ngram-linear", "search": "default", "options": {"bits": 12}}
CONFIG = {
    "data": {"demo": True, "name": "toys"},
    "model": NGRAMS,
    "rho": [0, 1],
    "n_classifiers": 3,
    "n_jobs": 1,
    "seed": 4,
}
SIZES = (40, 300, 120)
PHIS = (
    Swap(),
    Swap(old="waits", new="lingers", name="waits"),
    # For "sleeps" it makes the text that the first one makes.
    Swap(old="leeps", new="lumbers", name="again"),
)
FURTHER = ["negation", "word-overlap"]
QUICK = {"n_resamples": 200, "n_threads": 1}


def _run(folder, phis=Swap(), **changes):  # noqa: B008 - frozen
    config = check_config({**CONFIG, **changes})
    return run(config, folder, splits=toy_splits(), transformation=phis)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return _run(tmp_path_factory.mktemp("run") / "plain", train_size=SIZES)


@pytest.fixture(scope="module")
def rich(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "rich"
    return _run(folder, PHIS, train_size=[60, 300], eval_phi=FURTHER, n_classifiers=2)


def brute_force(result, condition, place, phis, further):
    """Make every wording again, read every answer from the files, and look at all pairs."""
    test = toy_splits().test
    texts = {
        ORIGINAL: list(zip(*(test.table[c].to_pylist() for c in test.text_columns), strict=True))
    }
    for phi in phis:
        table = phi.transform(test.table, test.text_columns).table
        texts[phi.name] = list(zip(*(table[c].to_pylist() for c in test.text_columns), strict=True))
    tails = {"negation": " and false is not true", "word-overlap": " and true is true"}
    for key in further:
        texts[key] = [(a, f"{b.rstrip('.')}{tails[key]}.") for a, b in texts[ORIGINAL]]
    rho = condition.rhos[place]
    by_classifier = []
    for cell in rho.cells:
        files = [result.folder / "cells" / f"{cell.identity}.parquet"]
        files += [
            result.folder / "evaluations" / f"{own.rhos[place].identities[cell.m]}.parquet"
            for own in result.evaluations_of(condition)
        ]
        right = {}
        for file in files:
            found = Predictions.from_table(pq.read_table(file))
            for row, is_right in zip(
                found.table.select(["item", "version"]).to_pylist(), found.correct, strict=True
            ):
                right[row["version"], row["item"]] = bool(is_right)
        values, accuracies = [], []
        for item in range(len(test)):
            own = {}
            for version, listed in texts.items():
                own.setdefault(listed[item], right[version, item])
            if len(own) > 1:
                pairs = [a == b for a, b in permutations(own.values(), 2)]
                values.append(np.mean(pairs))
                accuracies.append(np.mean(list(own.values())))
        by_classifier.append((np.mean(accuracies), np.mean(values), len(values)))
    return by_classifier


def check(point, expected):
    accuracies, values, n = map(list, zip(*expected, strict=True))
    assert point.result.n_buckets == sum(n)
    assert point.result["p_c_unbiased"].value == pytest.approx(np.mean(values), abs=1e-12)
    assert point.result["accuracy_macro"].value == pytest.approx(np.mean(accuracies), abs=1e-12)
    assert point.by_classifier["p_c_unbiased"] == pytest.approx(values, abs=1e-12)
    assert point.by_classifier["accuracy_macro"] == pytest.approx(accuracies, abs=1e-12)
    assert point.spread("p_c_unbiased") == pytest.approx(np.std(values, ddof=1), abs=1e-12)


def test_two_wordings_of_each_text_that_is_rephrased(plain):
    curves = measure_run(read_results(plain.folder), **QUICK)
    assert [curve.name for curve in curves] == ["ngram-linear, ρ = 0", "ngram-linear, ρ = 1"]
    for place, curve in enumerate(curves):
        assert [point.amount for point in curve.points] == sorted(SIZES)
        assert curve.of == "training rows"
        for point in curve.points:
            condition = next(own for own in plain.conditions if own.train_size == point.amount)
            check(point, brute_force(plain, condition, place, [Swap()], []))
            interval = point.result["p_c_unbiased"].interval
            assert interval.low <= point.result["p_c_unbiased"].value <= interval.high
            assert point.result.n_clusters * 3 == point.result.n_buckets
    assert any(point.result["p_c_unbiased"].value < 1 for point in curves[0].points)


@pytest.mark.slow
def test_several_transformations_and_further_test_sets(rich):
    curves = measure_run(read_results(rich.folder), names={"ngram-linear": "words"}, **QUICK)
    assert [curve.name for curve in curves] == [
        "words, ρ = 0",
        *(f"words, ρ = 1 of {phi.name}" for phi in PHIS),
    ]
    for curve, phi in zip(curves, (None, *PHIS), strict=True):
        wanted = PHIS[0] if phi is None else phi
        for point in curve.points:
            (condition,) = (
                own
                for own in rich.conditions
                if (own.train_size, own.transformation) == (point.amount, wanted.name)
            )
            phis = PHIS if phi is None else (phi,)
            expected = brute_force(rich, condition, 0 if phi is None else 1, phis, FURTHER)
            check(point, expected)
    # The third transformation makes no text that the first one has not made.
    sizes = curves[0].points[0].counts.sizes
    assert sizes.max() == 4


def test_steps_are_larger_minus_smaller(plain):
    for curve in measure_run(plain, rhos=[0], **QUICK):
        assert [(own.first, own.second) for own in curve.steps] == [
            ("ngram-linear, ρ = 0, 120 rows", "ngram-linear, ρ = 0, 40 rows"),
            ("ngram-linear, ρ = 0, 300 rows", "ngram-linear, ρ = 0, 120 rows"),
        ]
        for step, smaller, larger in zip(curve.steps, curve.points, curve.points[1:], strict=False):
            own = step.means["p_c_unbiased"]
            difference = larger.result["p_c_unbiased"].value - smaller.result["p_c_unbiased"].value
            assert own.difference == pytest.approx(difference, abs=1e-12)
            assert own.p_adjusted >= own.p_value


def test_a_run_on_all_rows_has_points_too(tmp_path):
    result = _run(tmp_path, n_classifiers=1, rho=[0])
    (curve,) = measure_run(result, **QUICK)
    (point,) = curve.points
    assert (curve.name, point.amount, curve.steps) == ("ngram-linear", 300.0, ())
    assert (point.by_classifier, point.spread("p_c"), point.n_classifiers) == ({}, None, 1)
    assert point.result.n_clusters is None
    # n11 + n00 of the reworded texts.
    cell = result.only.rhos[0].cells[0]
    unlike = cell.n10 + cell.n01
    n = point.result.n_buckets
    assert point.result["p_c_unbiased"].value == pytest.approx(1 - unlike / n, abs=1e-12)


@pytest.mark.slow
def test_a_model_that_sees_one_column_has_wordings_of_it_alone(tmp_path):
    # Both make the same hypotheses, and different premises.
    phis = (Swap(old="boy", new="lad"), Swap(old="The boy", new="The lad", name="half"))
    n = sum("boy" in text for text in toy_splits().test.table["hypothesis"].to_pylist())
    for seen, most in (("hypothesis", 2), (None, 3)):
        model = {**NGRAMS, **({} if seen is None else {"input": seen})}
        result = _run(tmp_path / str(most), phis, model=model, rho=[0], n_classifiers=1)
        (curve,) = measure_run(result, **QUICK)
        assert curve.points[0].counts.sizes.tolist() == [most] * n


def _with_sources(per_source):
    splits = toy_splits()
    rows = splits.test.table.num_rows
    sources = [f"s{row // per_source}" for row in range(rows)]
    table = splits.test.table.append_column("source", [sources])
    return replace(splits, test=replace(splits.test, table=table)), np.array(sources)


@pytest.mark.slow
@pytest.mark.parametrize("n_classifiers", [1, 2])
def test_whole_clusters_of_the_run_are_drawn(tmp_path, n_classifiers):
    splits, sources = _with_sources(12)
    changes = {"rho": [0], "n_classifiers": n_classifiers}
    config = check_config({**CONFIG, **changes, "data": {**CONFIG["data"], "cluster": "source"}})
    result = run(config, tmp_path / "c", splits=splits, transformation=Swap())
    (curve,) = measure_run(read_results(result.folder), **QUICK)
    items, right, drawn = [], [], []
    for cell in result.only.rhos[0].cells:
        own = read_matched(result.folder, cell.identity)
        changed = np.flatnonzero(own["changed"])
        for column in ("original_correct", "transformed_correct"):
            items += [f"{row}-{cell.m}" for row in changed]
            right += own[column].to_numpy()[changed].tolist()
            drawn += sources[changed].tolist()
    wanted = measure_consistency(count_buckets(items, right, clusters=drawn), **QUICK)
    found = curve.points[0].result
    assert found.n_clusters == wanted.n_clusters == len(set(drawn)) < len(set(items))
    for name in ("p_c_unbiased", "accuracy_macro"):
        assert found[name].value == pytest.approx(wanted[name].value, abs=1e-12)
        for end in ("low", "high"):
            assert getattr(found[name].interval, end) == pytest.approx(
                getattr(wanted[name].interval, end), abs=1e-12
            )
    # Without the column, the same answers have other intervals.
    plain = run(
        check_config({**CONFIG, **changes}), tmp_path / "p", splits=splits, transformation=Swap()
    )
    (other,) = measure_run(plain, **QUICK)
    assert other.points[0].result["p_c_unbiased"].value == found["p_c_unbiased"].value
    assert other.points[0].result["p_c_unbiased"].interval != found["p_c_unbiased"].interval
    path = result.folder / "clusters.parquet"
    path.write_bytes(b"no")
    with pytest.raises(StoreError, match="is damaged"):
        measure_run(result, **QUICK)
    path.unlink()
    with pytest.raises(StoreError, match="clusters of the test rows are missing"):
        measure_run(result, **QUICK)
    run(config, result.folder, splits=splits, transformation=Swap())
    assert measure_run(result, **QUICK)[0].to_dict() == curve.to_dict()


@pytest.mark.slow
def test_clusters_of_other_settings_are_not_taken(tmp_path):
    splits, _ = _with_sources(12)
    made = {}
    for column in ("source", "premise"):
        data = {**CONFIG["data"], "cluster": column}
        config = check_config({**CONFIG, "rho": [0], "n_classifiers": 1, "data": data})
        made[column] = run(config, tmp_path / "r", splits=splits, transformation=Swap())
    assert measure_run(made["premise"], **QUICK)
    with pytest.raises(StoreError, match="other clusters than the results speak of"):
        measure_run(made["source"], **QUICK)
    plain = check_config({**CONFIG, "rho": [0], "n_classifiers": 1})
    run(plain, tmp_path / "r", splits=splits, transformation=Swap())
    assert not (tmp_path / "r" / "clusters.parquet").exists()


def test_one_cluster_of_reworded_texts_is_refused(tmp_path):
    splits, _ = _with_sources(1)
    hits = ["sleeps" in text for text in splits.test.table["hypothesis"].to_pylist()]
    place = splits.test.table.column_names.index("source")
    table = splits.test.table.set_column(place, "source", [[str(hit) for hit in hits]])
    splits = replace(splits, test=replace(splits.test, table=table))
    data = {**CONFIG["data"], "cluster": "source"}
    config = check_config({**CONFIG, "rho": [0], "n_classifiers": 1, "data": data})
    result = run(config, tmp_path, splits=splits, transformation=Swap())
    with pytest.raises(InputError, match="are in one cluster"):
        measure_run(result, **QUICK)


@pytest.mark.slow
def test_what_is_gone_or_changed_is_said(tmp_path):
    result = _run(tmp_path, train_size=[60, 300], eval_phi=["negation"])
    cell = result.conditions[0].rhos[0].cells[0]
    path = tmp_path / "cells" / f"{cell.identity}.parquet"
    other = tmp_path / "cells" / f"{result.conditions[1].rhos[0].cells[0].identity}.parquet"
    whole = path.read_bytes()
    path.write_bytes(other.read_bytes())
    with pytest.raises(StoreError, match="has changed since it was written; put back"):
        measure_run(result, **QUICK)
    database = (tmp_path / "run.sqlite").rename(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="other answers than the results speak of"):
        measure_run(result, **QUICK)
    database.rename(tmp_path / "run.sqlite")
    path.unlink()
    with pytest.raises(StoreError, match="are gone; give the run's command again"):
        measure_run(result, **QUICK)
    path.write_bytes(whole)
    identity = result.evaluations[0].rhos[0].identities[1]
    path = tmp_path / "evaluations" / f"{identity}.parquet"
    table = pq.read_table(path)
    pq.write_table(table, path, compression="snappy")  # says of itself what it said
    with pytest.raises(StoreError, match="has changed since it was written; put back"):
        measure_run(result, **QUICK)
    path.unlink()
    with pytest.raises(StoreError, match="m 1 to negation are gone"):
        measure_run(result, **QUICK)
    with pytest.raises(InputError, match="method must be"):
        measure_run(read_results(_run(tmp_path / "n", n_classifiers=1).folder), method="no")
