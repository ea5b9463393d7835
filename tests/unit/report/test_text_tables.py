"""What a transformation did, counted again in the slow, obvious way."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import fisher_exact
from statsmodels.stats.multitest import multipletests

from ietest_fast.experiment.finished import Versions, read_run
from ietest_fast.experiment.view.text_tables import (
    count_flips,
    extent_table,
    find_substitutions,
    flip_table,
    frequent_table,
    length_table,
    spread_table,
)
from ietest_fast.stats.flips import LEAST_ROWS
from ietest_fast.transform import EDIT_SCHEMA


def make_versions(edits, n=4):
    """Versions whose texts do not matter."""
    texts = pa.table({"text": ["A boy eats an apple."] * n})
    rows = [
        {"row": row, "column": "text", "start": 0, "end": 1, "old": old, "new": new, "rule": rule}
        for row, old, new, rule in edits
    ]
    return Versions(
        original=texts,
        transformed=texts,
        edits=pa.Table.from_pylist(rows, schema=EDIT_SCHEMA),
        gold=np.zeros(n, np.int8),
        label_names=("yes", "no"),
        changed=np.array([any(row == edit[0] for edit in edits) for row in range(n)]),
    )


def test_substitutions_are_counted_without_what_follows_from_them():
    versions = make_versions(
        [
            (0, "Boy", "Lad", "frequency"),
            (0, "boy", "lad", "frequency"),
            (0, "a", "an", "article"),
            (1, "boy", "lad", "edit_distance"),
            (1, "cup", "mug", "frequency"),
            (2, ".", "", "normalise"),
        ]
    )
    found = find_substitutions(versions)
    assert found.names == ("boy → lad", "cup → mug")
    assert found.times.tolist() == [3, 1]
    assert found.n_by_row.tolist() == [2, 2, 0, 0]
    assert list(zip(found.row, found.name, strict=True)) == [(0, 0), (1, 0), (1, 1)]
    assert frequent_table(found).rows == (("boy → lad", 3, 0.75), ("cup → mug", 1, 0.25))
    assert spread_table(found).rows == ((0, 2, 0.5), (2, 2, 0.5))
    rows = extent_table(versions, found).rows
    assert [row[0] for row in rows] == ["all", "yes"]
    assert rows[0][1:4] == (4, 0.75, 0.5)
    assert (rows[0][4].mean, rows[0][5]) == (1.0, 2)


def test_nothing_was_substituted():
    versions = make_versions([(2, ".", "", "normalise")])
    found = find_substitutions(versions)
    assert found.names == ()
    assert frequent_table(found).rows == ()
    assert flip_table(found, np.zeros((4, 1, 1, 2), np.int8), model="a").rows == ()


def test_a_real_run_is_counted_as_by_hand(first_run):
    versions = read_run(first_run).read_versions()
    found = find_substitutions(versions)
    by_hand = Counter()
    for name in versions.columns:
        for old, new in zip(
            versions.original[name].to_pylist(), versions.transformed[name].to_pylist(), strict=True
        ):
            for before, after in zip(old.split(), new.split(), strict=True):
                if before != after:
                    by_hand[f"{before.strip('.')} → {after.strip('.')}".lower()] += 1
    assert dict(zip(found.names, found.times.tolist(), strict=True)) == by_hand
    assert list(found.times) == sorted(found.times, reverse=True)
    lengths = length_table(versions).rows
    words = [
        sum(len(versions.original[name][row].as_py().split()) for name in versions.columns)
        for row in range(len(versions))
    ]
    assert lengths[0][2].mean == pytest.approx(np.mean(words))
    assert lengths[0][2].sd == pytest.approx(np.std(words, ddof=1))
    own = np.array(words)[versions.gold == 1]
    assert lengths[2][1:3] == (len(own), type(lengths[0][2])(own.mean(), own.std(ddof=1)))
    assert lengths[0][4] == 0.0


def test_flips_are_tested_as_scipy_does():
    rng = np.random.default_rng(5)
    n = 300
    words = [("boy", "lad"), ("cup", "mug"), ("car", "auto"), ("sea", "ocean")]
    edits = [
        (row, *words[place], "frequency")
        for row in range(200)
        for place in rng.choice(4, rng.integers(1, 4), replace=False, p=[0.5, 0.3, 0.18, 0.02])
    ]
    versions = make_versions(edits, n)
    found = find_substitutions(versions)
    has = np.zeros((len(found.names), n), bool)
    has[found.name, found.row] = True
    answers = np.zeros((n, 2, 3, 2), np.int8)
    lad = found.names.index("boy → lad")
    flips = rng.random((n, 2, 3)) < np.where(has[lad], 0.6, 0.3)[:, None, None]
    answers[..., 1] = flips
    assert (count_flips(answers) == flips.sum(axis=(1, 2))).all()
    is_flip = flips.sum(axis=(1, 2)) > 3
    reworded = has.any(axis=0)
    rows = {row[0]: row for row in flip_table(found, answers, model="a").rows}
    expected = {}
    for word, name in enumerate(found.names):
        own, others = has[word], reworded & ~has[word]
        if own.sum() < LEAST_ROWS:
            assert name not in rows
            continue
        table = [
            [(own & is_flip).sum(), (own & ~is_flip).sum()],
            [(others & is_flip).sum(), (others & ~is_flip).sum()],
        ]
        expected[name] = fisher_exact(table, alternative="greater").pvalue
        assert rows[name][1:3] == (own.sum(), (own & is_flip).sum())
        assert rows[name][3] == pytest.approx((own & is_flip).sum() / own.sum())
        assert rows[name][4] == pytest.approx((others & is_flip).sum() / others.sum())
        assert rows[name][5] == pytest.approx(expected[name])
    adjusted = multipletests(list(expected.values()), method="fdr_bh")[1]
    for name, p in zip(expected, adjusted, strict=True):
        assert rows[name][6] == pytest.approx(p)
    assert next(iter(rows)) == "boy → lad"
    assert rows["boy → lad"][6] < 0.01
