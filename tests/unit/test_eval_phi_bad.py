"""``eval_phi`` that cannot be, or tells nothing."""

from __future__ import annotations

import pytest

from further_runs import CONFIG, run_further
from ietest_fast.errors import ConfigError, InputError
from ietest_fast.experiment import check_config
from toys import QUICK


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("no-such-thing", "eval_phi: .*no-such-thing"),
        (["word-overlap", "no-such-thing"], r"eval_phi\.1: .*no-such-thing"),
        ("negation:tautologie=x", "tautologie"),
        ([], "names no transformation"),
        ([3], r"eval_phi\.0: must be a name"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_key(given, said):
    with pytest.raises(ConfigError, match=said):
        check_config({**CONFIG, "eval_phi": given})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["word-overlap", "word-overlap:times=1"], "eval_phi: .*'word-overlap' is there twice"),
        (
            "negation",
            "eval_phi: 'negation', with the same options, is a transformation of this run",
        ),
        ("numerical", "numerical makes no other text of any of the 240 test rows"),
    ],
)
def test_what_tells_nothing_is_refused_before_anything_is_trained(tmp_path, given, said):
    with pytest.raises(InputError, match=said):
        run_further(tmp_path, eval_phi=given)
    assert not list(tmp_path.glob("cells/*"))


def test_a_model_that_does_not_see_the_change_is_named(tmp_path):
    said = "eval_phi: length-mismatch, for the model bow-xgb: .*nothing to test"
    with pytest.raises(InputError, match=said):
        run_further(
            tmp_path,
            model={"params": QUICK, "input": "hypothesis"},
            eval_phi="length-mismatch",
        )
