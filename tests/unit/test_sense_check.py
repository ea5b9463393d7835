"""Substitutions that a model judges: which are taken back, and what options say so."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from ietest_fast.errors import ConfigError
from ietest_fast.transform import plan
from ietest_fast.transform.builtin import SenseChecked
from ietest_fast.transform.edits import apply_edits
from ietest_fast.transform.phi import parse_phi
from tiny_models import make_onnx_folder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ietest_fast.models.sense import Context

TEXTS = pa.table(
    {
        "premise": [
            "A person walks a large dog.",
            "Two men are talking to a woman.",
            None,
            "Two men look at a man in a red shirt.",
        ],
        "hypothesis": ["The man is a person.", "A woman talks to men.", "", "A man is outside."],
    }
)


@dataclass
class FixedScores:
    """Scores replacements by the new word: 1, but for those that are listed."""

    low: dict[str, float]
    kind: str = "encoder"
    fingerprint: str = "0" * 64
    seen: list[Context] = field(default_factory=list)

    def score(
        self, old: Sequence[Context], new: Sequence[Context], *, n_threads: int | None = None
    ) -> np.ndarray:
        for before, after in zip(old, new, strict=True):
            assert before.after == after.after
            self.seen.append(after)
        return np.array([self.low.get(each.word.lower(), 1.0) for each in new], np.float32)


@pytest.fixture(scope="module")
def careful() -> Any:
    with plan("syn.careful:texts=captions") as planned:
        yield planned.build()


def check(careful: Any, low: dict[str, float], least: float = 0.5) -> SenseChecked:
    model: Any = FixedScores(low)
    return SenseChecked(inner=careful, model=model, least=least, lemma_of=careful.words.family_of)


def rows_of(table: pa.Table) -> list[tuple[str | None, ...]]:
    return list(zip(*table.to_pydict().values(), strict=True))


def test_what_scores_enough_is_replaced_as_without_a_check(careful: Any) -> None:
    plain = careful.transform(TEXTS, ["premise", "hypothesis"])
    checked = check(careful, {}).transform(TEXTS, ["premise", "hypothesis"])
    assert checked.table.equals(plain.table)
    assert checked.edits.equals(plain.edits)
    assert rows_of(plain.table)[0] == (
        "An individual walks a big dog.",
        "The guy is an individual.",
    )


def test_a_refused_replacement_is_taken_back_with_its_article(careful: Any) -> None:
    checked = check(careful, {"individual": 0.4}).transform(TEXTS, ["premise", "hypothesis"])
    assert rows_of(checked.table)[0] == (
        "A person walks a big dog.",
        "The guy is a person.",
    )
    assert "an" not in {edit.lower() for edit in checked.edits["new"].to_pylist()}
    assert apply_edits(TEXTS, checked.edits).equals(checked.table)
    assert checked.undo().equals(TEXTS)


def test_a_word_is_replaced_everywhere_in_a_row_or_nowhere(careful: Any) -> None:
    """The plural is refused: so is the singular, where both stand in the row."""
    checked = check(careful, {"guys": 0.4}).transform(TEXTS, ["premise", "hypothesis"])
    table = rows_of(checked.table)
    assert table[3] == ("Two men look at a man in a red shirt.", "A man is outdoors.")
    assert table[0][1] == "The guy is an individual."
    assert checked.changed.tolist() == [True, True, False, True]


@pytest.mark.parametrize("sign", ['"', "(", '("'])
def test_an_article_before_a_quotation_mark_goes_with_its_word(careful: Any, sign: str) -> None:
    texts = pa.table({"text": [f"He drives a {sign}car with no doors."]})
    plain = careful.transform(texts, ["text"])
    assert plain.table["text"].to_pylist() == [f"He drives an {sign}automobile with no doors."]
    kept = check(careful, {})
    assert kept.transform(texts, ["text"]).table.equals(plain.table)
    assert kept.model.seen[0].before == f"He drives an {sign}"
    made = check(careful, {"automobile": 0.4}).transform(texts, ["text"])
    assert made.table.equals(texts)
    assert made.edits.num_rows == 0


def test_forms_of_a_word_are_one_word(careful: Any) -> None:
    family = careful.words.family_of
    assert family("men") == family("man") == family("Men")
    assert family("talking") == family("talks")
    assert family("man") != family("woman")
    assert family("zebra") == "zebra"


@pytest.mark.slow
def test_of_a_long_text_what_is_near_is_looked_at(careful: Any) -> None:
    """The contexts of many words in a long text take memory, whatever the model reads of them."""
    filler = "Nothing happens in é. " * 3_000
    texts = pa.table({"text": [f"{filler}A man drives a car.{filler}"] * 2})
    checked = check(careful, {})
    assert checked.transform(texts, ["text"]).table.equals(careful.transform(texts, ["text"]).table)
    for context in checked.model.seen:
        assert 15_000 < len(context.before) + len(context.after) <= 2 * 2**14 + 2
        assert context.before[-2:] in {"A ", "a ", "n "}


def test_contexts_are_scored_in_parts(careful: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    low = {"guys": 0.4, "individual": 0.4}
    whole = check(careful, low).transform(TEXTS, ["premise", "hypothesis"])
    monkeypatch.setattr("ietest_fast.transform.builtin._CHARACTERS_AT_ONCE", 50)
    parts = check(careful, low).transform(TEXTS, ["premise", "hypothesis"])
    assert parts.table.equals(whole.table)
    assert parts.edits.equals(whole.edits)


def test_nothing_is_left_where_everything_is_refused(careful: Any) -> None:
    made = check(careful, {}, least=1.5).transform(TEXTS, ["premise", "hypothesis"])
    assert made.table.equals(TEXTS)
    assert made.edits.num_rows == 0
    assert not made.changed.any()


def test_scores_that_are_no_numbers_refuse(careful: Any) -> None:
    made = check(careful, {"guy": float("nan")}).transform(TEXTS, ["premise", "hypothesis"])
    assert "guy" not in made.edits["new"].to_pylist()


def test_edits_need_not_be_asked_for(careful: Any) -> None:
    checked = check(careful, {"individual": 0.4})
    without = checked.transform(TEXTS, ["premise", "hypothesis"], with_edits=False)
    assert without.edits is None
    assert without.table.equals(checked.transform(TEXTS, ["premise", "hypothesis"]).table)


def make_encoder(folder: Path) -> Path:
    make_onnx_folder(folder, labels=tuple("abcd"), rank=3, each_token="last_hidden_state")
    return folder


@pytest.mark.slow
def test_a_real_model_by_name_and_its_fingerprint(careful: Any, tmp_path: Path) -> None:
    folder = make_encoder(tmp_path / "encoder")
    phi = f"syn.careful:texts=captions,sense_check={folder}"
    with plan(phi) as planned, plan(f"{phi},sense_least=-1") as lenient:
        found = planned.build().transform(TEXTS, ["premise", "hypothesis"])
        everything = lenient.build().transform(TEXTS, ["premise", "hypothesis"])
        again = pickle.loads(pickle.dumps(planned.build()))
        assert again.transform(TEXTS, ["premise", "hypothesis"]).table.equals(found.table)
        fingerprints = {planned.fingerprint, lenient.fingerprint}
        options = planned.describe()["options"]
    plain = careful.transform(TEXTS, ["premise", "hypothesis"])
    assert everything.table.equals(plain.table)
    assert found.edits.num_rows < plain.edits.num_rows
    assert len(fingerprints) == 2
    assert options["sense_least"] == 0.6
    assert options["sense_check"].startswith("encoder@")
    assert str(tmp_path) not in str(options)


def test_options_fit_together(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="sense_least: needs sense_check"):
        parse_phi("syn.careful:sense_least=0.5")
    with pytest.raises(ConfigError, match="no such file or folder"):
        parse_phi(f"syn.careful:sense_check={tmp_path / 'absent'}")
    with pytest.raises(ConfigError, match=r"syn\.paper: sense_check: no such key"):
        parse_phi(f"syn.paper:sense_check={tmp_path}")


def test_options_are_added_to_those_that_have_them(tmp_path: Path) -> None:
    choice = parse_phi("identity+syn.careful", added={"pos": ("noun",)})
    assert choice.parts[1][1].pos == ("noun",)
    choice = parse_phi("syn.careful:sense_least=0.5", added={"sense_check": tmp_path})
    assert (choice.parts[0][1].sense_check, choice.parts[0][1].sense_least) == (tmp_path, 0.5)
    with pytest.raises(ConfigError, match="identity has no option pos"):
        parse_phi("identity", added={"pos": ("noun",)})
    with pytest.raises(ConfigError, match=r"syn\.careful: pos is given twice"):
        parse_phi("syn.careful:pos=verb", added={"pos": ("noun",)})
