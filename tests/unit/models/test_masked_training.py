"""Hiding tokens at random, and training a masked language model to find them."""

from __future__ import annotations

import filecmp
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ietest_fast.errors import InputError
from ietest_fast.models.masked_lm import Hider, MaskedSettings
from ietest_fast.models.tokens import TokenStore
from tiny_masked import make_coordinations, make_masked_bert

MASK = 4


def make_store(n: int, *, seed: int) -> TokenStore:
    """Rows of 3 to 40 tokens, of which the first and the last are special (2 and 3)."""
    rng = np.random.default_rng(seed)
    rows = [[2, *rng.integers(10, 1000, rng.integers(1, 39)), 3] for _ in range(n)]
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    ids = np.concatenate(rows).astype(np.int32)
    return TokenStore(ids=ids, type_ids=np.zeros(len(ids), np.uint8), offsets=offsets)


def make_hider(store: TokenStore, **settings: Any) -> Hider:
    return Hider(
        store=store,
        is_special=np.isin(store.ids, [2, 3]),
        mask=MASK,
        n_words=1000,
        settings=MaskedSettings(**settings),
    )


@pytest.mark.parametrize("share", [0.15, 0.5, 1.0])
def test_as_many_tokens_of_each_row_have_to_be_found_as_were_asked_for(share: float) -> None:
    store = make_store(500, seed=1)
    hidden, wanted = make_hider(store, share=share).hide(0)
    for row in range(500):
        part = slice(*store.offsets[row : row + 2])
        n = store.lengths[row] - 2
        is_wanted = wanted.ids[part] != -100
        assert is_wanted.sum() == max(1, round(share * n))
        assert not is_wanted[[0, -1]].any()
        assert (wanted.ids[part][is_wanted] == store.ids[part][is_wanted]).all()
        assert (hidden.ids[part][~is_wanted] == store.ids[part][~is_wanted]).all()


def test_of_ten_tokens_eight_are_hidden_and_one_is_another() -> None:
    store = make_store(4000, seed=2)
    hidden, wanted = make_hider(store).hide(0)
    chosen = wanted.ids != -100
    n = chosen.sum()
    assert n > 10_000
    is_mask = hidden.ids[chosen] == MASK
    is_same = hidden.ids[chosen] == store.ids[chosen]
    assert is_mask.mean() == pytest.approx(0.8, abs=4 * np.sqrt(0.16 / n))
    assert is_same.mean() == pytest.approx(0.1, abs=4 * np.sqrt(0.09 / n))
    others = hidden.ids[chosen][~is_mask & ~is_same]
    # From the whole vocabulary, special tokens included.
    assert others.min() < 100
    assert others.max() > 900
    # All places of a row alike: the first plain token as often as the last.
    first = chosen[store.offsets[:-1] + 1]
    last = chosen[store.offsets[1:] - 2]
    assert abs(int(first.sum()) - int(last.sum())) < 6 * np.sqrt(first.sum())


def test_other_tokens_are_hidden_in_each_epoch_and_the_same_for_a_seed() -> None:
    store = make_store(100, seed=3)
    first, again = make_hider(store, seed=7), make_hider(store, seed=7)
    zero = first.hide(0)[0].ids
    one = first.hide(1)[0].ids
    assert (again.hide(1)[0].ids == one).all()
    assert (again.hide(0)[0].ids == zero).all()
    assert (zero != one).any()
    assert (make_hider(store, seed=8).hide(0)[0].ids != zero).any()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epochs": 0}, "epochs is 0; 1 or more expected"),
        ({"learning_rate": float("nan")}, "learning_rate is nan"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"share": 0.0}, "share is 0"),
        ({"masked": 0.8, "random": 0.3}, "random is 0.3"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        MaskedSettings(**settings)


def texts_of(n: int, *, seed: int) -> tuple[list[str], list[str]]:
    rows = make_coordinations(n, seed=seed).to_pylist()
    return (
        [row["premise"] for row in rows],
        [row["hypothesis"].replace("[MASK]", row["answer"]) for row in rows],
    )


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("masked") / "checkpoint"
    make_masked_bert(folder)
    return folder


def weights_of(model: Any) -> list[np.ndarray]:
    return [each.detach().numpy() for each in model.module.parameters()]


@pytest.mark.train
def test_the_same_seed_trains_the_same_model(checkpoint: Path) -> None:
    from ietest_fast.models.masked_lm import TorchMaskedModel, train_masked

    premises, hypotheses = texts_of(64, seed=4)
    found = []
    for seed in (0, 0, 1):
        settings = MaskedSettings(epochs=2, learning_rate=1e-3, batch_size=16, seed=seed)
        model = TorchMaskedModel.load(checkpoint, n_threads=1)
        steps: list[tuple[int, int]] = []
        trained = train_masked(
            model, premises, hypotheses, settings, on_step=lambda *each, s=steps: s.append(each)
        )
        assert trained.n_pairs == 64
        assert trained.n_steps == len(steps) == steps[-1][1]
        assert len(trained.losses) == 2
        found.append(trained)
    first, again, other = (weights_of(each.model) for each in found)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))
    assert found[0].losses == found[1].losses
    marks = [each.model.fingerprint for each in found]
    assert marks[0] == marks[1] != marks[2]
    assert TorchMaskedModel.load(checkpoint).fingerprint not in marks


@pytest.mark.train
def test_a_step_is_adamws_on_the_loss_of_what_is_hidden(checkpoint: Path) -> None:
    """One batch, computed by hand."""
    import torch
    from transformers import BertForMaskedLM

    from ietest_fast.models.masked_lm import TorchMaskedModel, train_masked
    from ietest_fast.models.training import make_adamw

    premises, hypotheses = texts_of(8, seed=5)
    settings = MaskedSettings(epochs=1, learning_rate=1e-3, batch_size=100, seed=3)
    model = TorchMaskedModel.load(checkpoint, n_threads=1)
    trained = train_masked(model, premises, hypotheses, settings)
    assert trained.n_steps == 1

    tokenizer = TorchMaskedModel.load(checkpoint).tokenizer
    columns = [tokenizer.tokenise(each) for each in (premises, hypotheses)]
    store = tokenizer.join(columns, [np.arange(8)] * 2)
    hidden, wanted = Hider.of(model, store, settings).hide(0)
    width = int(store.lengths.max())
    by_hand = BertForMaskedLM.from_pretrained(checkpoint)
    by_hand.train()
    optimizer = make_adamw(by_hand, learning_rate=1e-3, weight_decay=0.01)

    def rectangle(values: np.ndarray, filler: int) -> Any:
        made = np.full((8, width), filler)
        for row in range(8):
            part = values[slice(*store.offsets[row : row + 2])]
            made[row, : len(part)] = part
        return torch.from_numpy(made)

    # Longest first, as the batch was put together; dropout depends on it.
    order = np.argsort(store.lengths[np.random.default_rng([3, 0]).permutation(8)], kind="stable")
    rows = np.random.default_rng([3, 0]).permutation(8)[order]
    with torch.random.fork_rng():
        torch.manual_seed(3)
        logits = by_hand(
            input_ids=rectangle(hidden.ids, 0)[rows],
            attention_mask=rectangle(np.ones(len(store.ids), int), 0)[rows],
            token_type_ids=rectangle(store.type_ids, 0)[rows],
        ).logits
    loss = torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), rectangle(wanted.ids, -100)[rows].flatten()
    )
    assert trained.losses == (pytest.approx(float(loss.detach()), rel=1e-5),)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(by_hand.parameters(), 1.0)
    optimizer.step()
    for ours, theirs in zip(weights_of(trained.model), by_hand.parameters(), strict=True):
        np.testing.assert_allclose(ours, theirs.detach().numpy(), atol=2e-5)


@pytest.mark.train
def test_a_trained_model_is_a_checkpoint_again(checkpoint: Path, tmp_path: Path) -> None:
    from ietest_fast.models.masked_lm import TorchMaskedModel, train_masked

    premises, hypotheses = texts_of(16, seed=6)
    trained = train_masked(
        TorchMaskedModel.load(checkpoint), premises, hypotheses, MaskedSettings(epochs=1)
    )
    trained.model.save(tmp_path / "saved")
    again = TorchMaskedModel.load(tmp_path / "saved")
    left, right = weights_of(trained.model), weights_of(again)
    assert all(np.array_equal(a, b) for a, b in zip(left, right, strict=True))
    assert filecmp.cmp(checkpoint / "tokenizer.json", tmp_path / "saved" / "tokenizer.json")
    assert [path.name for path in tmp_path.iterdir()] == ["saved"]
    with pytest.raises(InputError, match="is there already"):
        trained.model.save(tmp_path / "saved")


@pytest.mark.train
def test_trainings_that_cannot_be_are_refused(checkpoint: Path) -> None:
    from ietest_fast.models.masked_lm import TorchMaskedModel, train_masked

    model = TorchMaskedModel.load(checkpoint)
    with pytest.raises(InputError, match="no texts to train on"):
        train_masked(model, [], [], MaskedSettings())
    premises, hypotheses = texts_of(64, seed=7)
    wild = MaskedSettings(epochs=40, learning_rate=1e30)
    with pytest.raises(InputError, match="the training diverges"):
        train_masked(model, premises, hypotheses, wild)


@pytest.mark.train
def test_a_checkpoint_without_a_head_is_refused(tmp_path: Path) -> None:
    from ietest_fast.models.masked_lm import TorchMaskedModel
    from tiny_models import make_bert

    make_bert(tmp_path / "encoder")
    with pytest.raises(InputError, match=r"no masked language model: .* no weights for cls"):
        TorchMaskedModel.load(tmp_path / "encoder")
    make_bert(tmp_path / "masked", masked=True)
    assert TorchMaskedModel.load(tmp_path / "masked").backend.startswith("torch ")
    with pytest.raises(InputError, match="no such folder"):
        TorchMaskedModel.load(tmp_path / "nothing" / "there")
