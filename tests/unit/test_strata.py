"""Tests in every stratum, and whether strata differ."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2_contingency, fisher_exact
from statsmodels.stats.contingency_tables import cochrans_q

from ietest_fast import _core
from ietest_fast.errors import InputError
from ietest_fast.experiment.schema import StrataRecord
from ietest_fast.philox import philox_key
from ietest_fast.stats import (
    Verdict,
    equivalence_test,
    flip_test,
    holm,
    invariance_test,
    paired_test,
    stratified_test,
)
from ietest_fast.stats.laws.integer import draw_tables
from ietest_fast.stats.resampling import sort_into_types
from ietest_fast.stats.symmetry import compare_strata, compare_strata_by_clusters
from reference import scores_oracle

GOLD = np.arange(9_000) % 3


def compare(losses: Any, gains: Any, **options: Any) -> Any:
    return compare_strata(
        np.array(losses), np.array(gains), **{"n_resamples": 10_000, "seed": 0} | options
    )


def by_clusters(signs: Any, strata: Any, clusters: Any, n_strata: int, **options: Any) -> Any:
    return compare_strata_by_clusters(
        signs, strata, clusters, n_strata, **{"n_resamples": 9_999, "seed": 0} | options
    )


def cancel(n: int = 100) -> tuple[Any, Any]:
    """Answers that lose n texts of label 0 and gain n of label 1."""
    original = np.where(np.arange(9_000) % 9 < 7, GOLD, (GOLD + 1) % 3)
    transformed = original.copy()
    lost = np.flatnonzero((GOLD == 0) & (original == GOLD))[:n]
    won = np.flatnonzero((GOLD == 1) & (original != GOLD))[:n]
    transformed[lost] = 1
    transformed[won] = 1
    return original, transformed


def test_two_strata_are_fishers_table() -> None:
    found = compare([30, 18], [10, 22])
    # Two groups of the same size: as far from equal shares is as unlikely.
    assert found.p_value == pytest.approx(fisher_exact([[30, 10], [18, 22]]).pvalue)
    assert found.method == "exact"


def test_the_statistic_is_pearsons() -> None:
    table = np.array([[30, 10, 5, 0], [10, 30, 6, 2]])
    found = compare(*table)
    expected = chi2_contingency(table, correction=False)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p_asymptotic == pytest.approx(expected.pvalue)
    assert found.df == 3


def test_large_tables_agree_with_the_chi_square_law() -> None:
    table = np.array([[1_620, 1_540, 1_580], [1_600, 1_650, 1_570]])
    found = compare(*table)
    assert found.method == "exact"
    assert found.p_value == pytest.approx(found.p_asymptotic, rel=0.01)


def test_tables_beyond_enumeration_are_drawn() -> None:
    losses, gains = np.full(12, 40), np.arange(34, 46)
    found = compare(losses, gains, n_resamples=20_000)
    assert (found.method, found.n_resamples) == ("resample", 20_000)
    assert found.p_value == pytest.approx(found.p_asymptotic, abs=0.02)
    certain = compare(np.arange(12) % 2 * 100, (np.arange(12) + 1) % 2 * 100)
    assert certain.p_value == certain.p_floor
    assert "≤" in str(certain)


def test_tables_are_held_a_part_at_a_time() -> None:
    parts = draw_tables(np.array([5, 5]), 4, 10**12, 0)
    assert next(parts).shape[0] < 10**6


@pytest.mark.parametrize(
    "table", [([0, 0], [0, 0]), ([5, 0], [5, 0]), ([5, 3], [0, 0]), ([4], [1])]
)
def test_nothing_to_compare_is_no_evidence(table: Any) -> None:
    assert compare(*table).p_value == 1


def test_equal_tables_are_not_told_apart_by_rounding() -> None:
    sizes = [3, 7, 11, 13]
    for losses in ([0, 3, 9, 6], [3, 6, 2, 3]):
        gains = np.array(sizes) - losses
        p = compare(losses, gains).p_value
        assert p < 0.9
        assert compare(gains, losses).p_value == pytest.approx(p, rel=1e-12)


def test_parts_are_those_of_the_single_tests() -> None:
    rng = np.random.default_rng(0)
    genre = np.where(rng.random(9_000) < 0.2, "fiction", "travel")
    a = np.where(rng.random(9_000) < 0.8, GOLD, (GOLD + 1) % 3)
    b = np.where(rng.random(9_000) < 0.9, a, rng.integers(3, size=9_000))
    result = stratified_test(a, b, genre, gold=GOLD, name="genre", margin=0.02, flip_margin=0.1)
    assert [each.name for each in result.strata] == ["fiction", "travel"]
    p_values = []
    for each in result.strata:
        rows = genre == each.name
        right = (a[rows] == GOLD[rows], b[rows] == GOLD[rows])
        test = paired_test(*right)
        p_values.append(test.pvalue)
        assert each.p_value == test.pvalue
        assert each.equivalence == equivalence_test(
            test.counts, margin=0.02, p_difference=test.pvalue
        )
        assert each.flips == flip_test(a[rows], b[rows], gold=GOLD[rows], margin=0.1)
    assert [each.p_adjusted for each in result.strata] == pytest.approx(holm(p_values))
    records = result.records()
    assert [record["stratum"] for record in records] == ["fiction", "travel"]
    assert len(result.to_frame()) == 2
    assert result.to_dict()["heterogeneity"]["p_value"] == result.pvalue


def test_outcomes_have_no_flips() -> None:
    result = stratified_test([1, 1, 0, 0] * 30, [1, 0, 0, 0] * 30, ["a", "b"] * 60)
    assert all(each.flips is None for each in result.strata)
    assert result.strata[1].delta == 0.5


def test_few_pairs_take_mcnemars_exact_test() -> None:
    result = stratified_test([1] * 40, [0] * 8 + [1] * 32, ["a"] * 20 + ["b"] * 20)
    assert result.strata[0].p_value == pytest.approx(2 / 2**8)


def test_tiny_strata_are_reported_and_not_tested() -> None:
    strata = ["a"] * 30 + ["b"] * 30 + ["c", "d"]
    result = stratified_test([1] * 62, [0, 1] * 31, strata)
    assert [each.p_value is None for each in result.strata] == [False, False, True, True]
    assert result.n_untested == 2
    assert result.n == 62
    assert "2 of 4 are too small for a test" in result.explanation
    clusters = np.r_[np.arange(60) // 2, 30, 31]
    whole = stratified_test([1] * 62, [0, 1] * 31, strata, clusters=clusters)
    assert whole.n_untested == 2


def test_minp_is_never_above_holm_by_much_and_uses_discreteness() -> None:
    strata = np.repeat(np.arange(20), 20)
    a = np.ones(400, dtype=bool)
    b = a.copy()
    b[:8] = False  # stratum 0 loses 8; all others lose one, which can never reject
    b[20::20] = False
    by_holm = stratified_test(a, b, strata).strata[0]
    by_min_p = stratified_test(a, b, strata, correction="minp").strata[0]
    assert by_holm.p_adjusted == pytest.approx(20 * 2 / 2**8)
    assert by_min_p.p_adjusted == pytest.approx(2 / 2**8)


def test_strata_with_equal_clusters_are_drawn_apart() -> None:
    """With one seed, their p-values would be wrong by the same amount."""
    clusters = np.arange(1_500) // 3
    strata = clusters // 50
    lost = clusters % 50 < 8
    right = np.ones(1_500, dtype=bool)
    found = stratified_test(right, ~lost, strata, clusters=clusters, n_resamples=999)
    assert len({each.p_value for each in found.strata}) > 1
    again = stratified_test(right, ~lost, strata, clusters=clusters, n_resamples=999)
    assert [each.p_value for each in again.strata] == [each.p_value for each in found.strata]


def test_strata_in_which_few_clusters_differ_are_named() -> None:
    a, clusters = np.ones(900, dtype=bool), np.arange(900) // 3
    strata = np.where(clusters < 150, "many", "few")
    b = a.copy()
    b[0:120:3] = False  # forty clusters
    b[450:465:3] = False  # five
    assert stratified_test(a, b, strata, clusters=clusters).warning is None  # the exact law
    found = stratified_test(a, b, strata, clusters=clusters, n_resamples=9_999)
    assert [each.decided_by_few for each in found.strata] == [True, False]
    assert "few clusters decide in few:" in str(found.warning)
    assert str(found.warning) in str(found)
    assert stratified_test(a, b, strata).warning is None


def test_minp_of_clusters_is_drawn_jointly() -> None:
    rng = np.random.default_rng(1)
    a = np.ones(600, dtype=bool)
    b = rng.random(600) < np.where(np.arange(600) % 3 == 0, 0.9, 0.97)
    clusters, strata = np.arange(600) // 3, np.arange(600) % 3
    found = stratified_test(a, b, strata, clusters=clusters, correction="minp")
    by_holm = stratified_test(a, b, strata, clusters=clusters)
    for one, other in zip(found.strata, by_holm.strata, strict=True):
        assert one.n_clusters == 200
        assert one.p_adjusted is not None
        assert other.p_adjusted is not None
        assert one.p_adjusted <= other.p_adjusted + 0.02
    for n_threads in (2, 3, 7):
        again = stratified_test(
            a, b, strata, clusters=clusters, correction="minp", n_threads=n_threads
        )
        assert again.to_dict() == found.to_dict()


def test_minp_of_clusters_is_that_of_the_definition_on_the_same_replicates() -> None:
    """Every cluster has a text of each stratum, and these change together: Holm pays for it."""
    rng = np.random.default_rng(5)
    signs = np.repeat(rng.choice([-1, 0, 1], p=[0.1, 0.5, 0.4], size=(40, 1)), 4, axis=1)
    signs[rng.random((40, 4)) < 0.1] = 0
    a, b = (signs != -1).ravel(), (signs != 1).ravel()
    clusters, strata = np.repeat(np.arange(40), 4), np.tile(np.arange(4), 40)
    options: dict[str, Any] = {"clusters": clusters, "n_resamples": 600, "rng": 6}
    found = stratified_test(a, b, strata, correction="minp", **options)
    by_holm = stratified_test(a, b, strata, **options)

    types = sort_into_types(signs.astype(float))
    drawn = _core.scores.draw_sums(
        types.values, types.weights, n_units=40, n_replicates=600, key=philox_key(6)
    )
    sums = np.concatenate([types.sums[None], drawn])
    far = np.round(sums[..., 0] ** 2 / np.maximum(sums[..., 1], 1e-300), 9)
    joint = scores_oracle.step_down_min_p(far[0].tolist(), far[1:])
    own = [each.p_value or 0.0 for each in found.strata]
    # No p-value is adjusted below itself, or below a smaller one.
    expected = [max(max(own[t], joint[t]) for t in range(4) if own[t] <= own[s]) for s in range(4)]
    assert [each.p_adjusted for each in found.strata] == pytest.approx(expected, rel=1e-12)
    for one, other in zip(found.strata, by_holm.strata, strict=True):
        assert one.p_value == other.p_value
    smallest = min(range(4), key=own.__getitem__)
    assert by_holm.strata[smallest].p_adjusted == pytest.approx(4 * own[smallest])
    assert expected[smallest] < 3 * own[smallest]


def test_clusters_of_one_text_are_independent_pairs() -> None:
    rng = np.random.default_rng(2)
    signs = rng.choice([-1, 0, 1], p=[0.1, 0.7, 0.2], size=3_000)
    strata = rng.choice(3, p=[0.6, 0.3, 0.1], size=3_000)
    single = by_clusters(signs, strata, np.arange(3_000), 3)
    losses, gains = (np.bincount(strata[signs == s], minlength=3) for s in (1, -1))
    alone = compare(losses, gains)
    # Its variance is that of exchangeable versions: 1, not 1 - m².
    mean = (losses.sum() - gains.sum()) / (losses.sum() + gains.sum())
    assert single.statistic == pytest.approx(alone.statistic * (1 - mean**2))
    assert (single.df, single.method, single.p_floor) == (2, "clusters", 1 / 10_000)


def test_clusters_are_swapped_as_wholes() -> None:
    """The p-value is the share of all 2^C swaps that reach the statistic."""
    rng = np.random.default_rng(6)
    for n_clusters in (5, 9):
        clusters = np.repeat(np.arange(n_clusters), rng.integers(1, 6, n_clusters))
        signs = rng.choice([-1, 0, 1], p=[0.2, 0.2, 0.6], size=clusters.size)
        strata = rng.integers(0, 3, clusters.size)
        found = by_clusters(signs, strata, clusters, 3, n_resamples=200_000)
        reached = 0
        for coins in itertools.product([-1, 1], repeat=n_clusters):
            swapped = by_clusters(
                np.array(coins)[clusters] * signs, strata, clusters, 3, n_resamples=1
            )
            reached += swapped.statistic >= found.statistic * (1 - 1e-9)
        assert found.p_value == pytest.approx(reached / 2**n_clusters, abs=0.01)


def test_the_scores_of_clusters_are_what_the_definition_gives() -> None:
    rng = np.random.default_rng(7)
    clusters = rng.integers(0, 30, 300)
    signs, strata = rng.choice([-1, 0, 1], size=300), rng.choice(3, p=[0.6, 0.3, 0.1], size=300)
    k = np.array([np.count_nonzero(signs[strata == s]) for s in range(3)])
    total, square = np.zeros(3), np.zeros((3, 3))
    for c in range(30):
        moved = np.array([signs[(clusters == c) & (strata == s)].sum() for s in range(3)])
        score = moved - k / k.sum() * moved.sum()
        total += score
        square += np.outer(score, score)
    expected = total @ np.linalg.pinv(square, rcond=1e-9) @ total
    assert by_clusters(signs, strata, clusters, 3).statistic == pytest.approx(expected)


def test_strata_without_gains_have_nothing_to_compare() -> None:
    found = by_clusters(np.ones(6, dtype=int), np.arange(6) % 2, np.arange(6), 2)
    assert (found.statistic, found.df, found.p_value) == (0.0, 1, 1.0)


def test_a_discordant_pair_of_both_strata_in_every_cluster_is_mcnemars() -> None:
    """A block design: what strata share in a cluster is no noise."""
    n_strata = 2
    rng = np.random.default_rng(4)
    together = np.repeat(rng.choice([-1, 1], size=(80, 1)), n_strata, axis=1)
    alone = rng.choice([-1, 1], p=[0.3, 0.7], size=(80, n_strata))
    alone[:, 0] = rng.choice([-1, 1], size=80)
    signs = np.where(rng.random((80, 1)) < 0.6, together, alone)
    strata, clusters = np.tile(np.arange(n_strata), 80), np.repeat(np.arange(80), n_strata)
    found = by_clusters(signs.ravel(), strata, clusters, n_strata)
    expected = cochrans_q(signs > 0)
    assert (found.df, found.n_clusters) == (expected.df, 80)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p_asymptotic == pytest.approx(expected.pvalue)


def test_copies_of_texts_are_no_evidence_if_they_are_clusters() -> None:
    rng = np.random.default_rng(3)
    signs, strata = rng.choice([-1, 1], size=200), rng.choice(3, size=200)
    once = by_clusters(signs, strata, np.arange(200), 3)
    copies = by_clusters(np.tile(signs, 5), np.tile(strata, 5), np.tile(np.arange(200), 5), 3)
    assert copies.statistic == pytest.approx(once.statistic)
    assert copies.p_value == once.p_value


def test_a_gain_and_a_loss_that_cancel_by_label_change_answers() -> None:
    a, b = cancel()
    for reworded in (True, None):
        result = invariance_test(a, b, GOLD, reworded=reworded)
        assert result.delta == 0
        assert result.equivalence is not None
        assert result.equivalence.equivalent
        assert result.flips is not None
        assert result.flips.rate < 0.05
        assert result.verdict is Verdict.CHANGES
        assert "accuracy falls on 0 (3.33 points" in result.explanation
        assert "and rises on 1 (3.33 points" in result.explanation
    clustered = invariance_test(a, b, GOLD, reworded=True, clusters=np.arange(9_000) // 2)
    assert clustered.verdict is Verdict.CHANGES


def test_only_reworded_texts_count() -> None:
    a, b = cancel()
    reworded = np.ones(9_000, dtype=bool)
    reworded[a != b] = False
    result = invariance_test(a, b, GOLD, reworded=reworded)
    assert result.strata is not None
    assert sum(result.strata.heterogeneity.losses) == 0
    assert not result.uneven
    own = stratified_test(a, b, GOLD, gold=GOLD, reworded=reworded)
    assert own.n == reworded.sum()


def test_changes_by_label_that_are_below_the_margin_stay_alike() -> None:
    a, b = cancel(10)
    narrow = invariance_test(a, b, GOLD, reworded=True, margin=0.01)
    assert narrow.strata is not None
    assert narrow.strata.differs
    assert narrow.strata.all_equivalent
    assert narrow.verdict is Verdict.ALIKE


def test_a_record_of_strata_is_equivalent_at_levels_above_every_p_value() -> None:
    a, b = cancel(10)
    record = StrataRecord.of(stratified_test(a, b, GOLD, gold=GOLD, margin=0.01))
    p_values = sorted(each.p_equivalence or 0.0 for each in record.strata)
    assert 0 < p_values[0] < p_values[-1] < 0.05
    assert record.all_equivalent_at(0.05)
    assert not record.all_equivalent_at(p_values[-1])
    assert not record.all_equivalent_at((p_values[0] + p_values[-1]) / 2)
    # Of a stratum that is too small for a test nothing is shown.
    strata = np.where(np.arange(9_000) == 8_999, 3, GOLD)
    tiny = StrataRecord.of(stratified_test(a, b, strata, gold=GOLD))
    assert tiny.strata[-1].p_equivalence is None
    assert not tiny.all_equivalent_at(1.0)


def test_a_loss_on_every_label_still_differs() -> None:
    a, _ = cancel()
    b = np.where(np.arange(9_000) < 2_000, (GOLD + 1) % 3, a)
    assert invariance_test(a, b, GOLD, reworded=True).verdict is Verdict.DIFFERS


def test_one_label_is_not_compared_and_there_is_no_limit_of_labels() -> None:
    result = invariance_test([1] * 50, [1] * 49 + [2], [1] * 50)
    assert result.strata is None
    many = np.arange(900) % 150
    found = invariance_test(many, many, many).strata
    assert found is not None
    assert len(found.strata) == 150


@pytest.mark.parametrize(
    ("strata", "options", "message"),
    [
        (["a", None, "b"], {}, "write a word such as 'none'"),
        (["a", "b"], {}, "stratum has 2 rows, but there are 3 pairs"),
        (["a", "b", "c"], {"reworded": [0, 0, 0]}, "no text is reworded"),
        (["a", "b", "c"], {"correction": "maxt"}, "must be holm or minp"),
        (["a", "b", "c"], {"alpha": 0.7}, "alpha must lie"),
        (None, {}, "strata is missing"),
    ],
)
def test_bad_input_is_named(strata: Any, options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        stratified_test([1, 0, 1], [1, 1, 0], strata, **options)


def test_too_many_strata_are_refused() -> None:
    with pytest.raises(InputError, match=r"101 different values.*ranges"):
        stratified_test([1] * 101, [0] * 101, np.arange(101))


@pytest.mark.parametrize("make", [list, np.array, lambda x: np.array(x, dtype=object), pa.array])
@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["news", "news ", "\tfiction", "fiction"] * 5, ["fiction", "news"]),
        (["2", " 10", "10 ", "2"] * 5, ["2", "10"]),
        (["nancy", "none", "None", "nancy"] * 5, ["None", "nancy", "none"]),
        (["a", "nan", "a", "b"] * 5, "row 1: kind has 5 labels 'nan', and a missing value is no"),
        (["a", "b", " NaN", "b"] * 5, "row 2: kind has 5 labels 'nan', and a missing value is no"),
        (["a", "b", "b", " "] * 5, "row 3: kind has 5 blank labels, and a blank is no stratum"),
    ],
)
def test_blanks_make_no_stratum_and_missing_texts_none(
    make: Any, names: list[str], expected: Any
) -> None:
    right, other = np.ones(20, dtype=bool), np.arange(20) % 3 > 0
    if isinstance(expected, str):
        with pytest.raises(InputError, match=expected):
            stratified_test(right, other, make(names), name="kind")
        return
    found = stratified_test(right, other, make(names), name="kind")
    assert [each.name for each in found.strata] == expected
