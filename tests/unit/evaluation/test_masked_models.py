"""A small masked language model, trained from scratch: PyTorch, ONNX, and what it has learnt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tokenizers import Tokenizer

from ietest_fast.analyses.masked.items import masked_items_from_table
from ietest_fast.analyses.masked.summary import (
    ANSWERS,
    FINE_TUNED,
    PRETRAINED,
    MaskedRun,
    score_masked,
    summarise_masked,
    train_and_score,
)
from ietest_fast.models.masked_lm import MaskedSettings
from reference.masked_oracle import likelihood_slowly, rank_slowly
from tiny_masked import make_coordinations, make_masked_bert

pytestmark = pytest.mark.train


def hold_out(n: int, *, seed: int, train: pa.Table) -> pa.Table:
    """Items that are not in the training set, half of them conjunctions."""
    known = set(map(str, train.to_pylist()))
    rows = [
        row for row in make_coordinations(4 * n, seed=seed).to_pylist() if str(row) not in known
    ]
    kinds = [[row for row in rows if row["answer"] == answer] for answer in ("and", "or")]
    return pa.Table.from_pylist([row for kind in kinds for row in kind[: n // 2]])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[MaskedRun, Path, pa.Table]:
    from ietest_fast.models.masked_lm import TorchMaskedModel

    folder = tmp_path_factory.mktemp("masked")
    make_masked_bert(
        folder / "random",
        words=("twenty", "one", "##th"),
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    train = make_coordinations(4000, seed=1)
    test = hold_out(200, seed=2, train=train)
    made = train_and_score(
        TorchMaskedModel.load(folder / "random", n_threads=1),
        masked_items_from_table(train),
        masked_items_from_table(test),
        MaskedSettings(epochs=8, learning_rate=5e-3),
    )
    made.trained.model.save(folder / "tuned")
    return made, folder / "tuned", test


def test_it_learns_more_than_the_commonest_answer(
    run: tuple[MaskedRun, Path, pa.Table],
) -> None:
    made, _, _ = run
    assert (made.before.model, made.after.model) == (PRETRAINED, FINE_TUNED)
    before, after = (summarise_masked(each).whole[0] for each in (made.before, made.after))
    assert made.n_shared == 0
    assert before.accuracy.share == 0
    assert after.accuracy.interval is not None
    assert after.accuracy.interval.low > after.majority_share
    assert after.majority_share == 0.5
    assert made.trained.losses[-1] < 0.5 * made.trained.losses[0]


def torch_logits(folder: Path) -> Any:
    import torch
    from transformers import BertForMaskedLM

    network = BertForMaskedLM.from_pretrained(folder).eval()

    def logits_of(ids: list[int], kinds: list[int]) -> np.ndarray:
        with torch.inference_mode():
            output = network(input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([kinds]))
        return np.asarray(output.logits[0])

    return logits_of


def test_batches_score_as_one_input_at_a_time(run: tuple[MaskedRun, Path, pa.Table]) -> None:
    made, folder, test = run
    logits_of = torch_logits(folder)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    for row, item in list(zip(made.after.table.to_pylist(), test.to_pylist(), strict=True))[:60]:
        rank, log_probability, best = rank_slowly(
            tokenizer, logits_of, item["premise"], item["hypothesis"], item["answer"]
        )
        assert row["rank"] == rank
        assert row["log_probability"] == pytest.approx(log_probability, abs=1e-4)
        assert row["predicted"] == tokenizer.id_to_token(best)


@pytest.mark.parametrize("among", [None, ANSWERS])
def test_onnx_ranks_as_torch_does(run: tuple[MaskedRun, Path, pa.Table], among: Any) -> None:
    from ietest_fast.models.masked_lm import OnnxMaskedModel, TorchMaskedModel
    from ietest_fast.models.onnx_models.export import export_sense_model

    _, folder, test = run
    answers = ["and", "or", "twenty one", "twenty", "oneth"]
    mixed = [answers[i % 5] if i % 3 == 0 else a for i, a in enumerate(test["answer"].to_pylist())]
    items = masked_items_from_table(
        test.set_column(test.column_names.index("answer"), "answer", pa.array(mixed))
    )
    if not (folder.parent / "onnx").exists():
        export_sense_model(folder, folder.parent / "onnx")
    torch_found = score_masked(TorchMaskedModel.load(folder), items, among=among).table
    onnx_found = score_masked(OnnxMaskedModel(folder.parent / "onnx"), items, among=among).table
    for name in ("rank", "predicted", "ranked_in", "n_tokens", "problem"):
        assert torch_found[name].equals(onnx_found[name]), name
    np.testing.assert_allclose(
        torch_found["log_probability"].to_numpy(),
        onnx_found["log_probability"].to_numpy(),
        atol=1e-4,
    )
    kinds = set(torch_found["ranked_in"].to_pylist())
    assert kinds == ({"candidates"} if among else {"vocabulary", "candidates"})
    assert set(torch_found["n_tokens"].to_pylist()) == {1, 2}


def test_the_pseudo_log_likelihood_is_a_sum_over_hidden_pieces(
    run: tuple[MaskedRun, Path, pa.Table],
) -> None:
    from ietest_fast.models.masked_lm import TorchMaskedModel

    _, folder, test = run
    words = ("and", "twenty one", "oneth", "twenty oneth")
    some = test.slice(0, 20)
    items = masked_items_from_table(
        some.set_column(
            some.column_names.index("answer"), "answer", pa.array([words[i % 4] for i in range(20)])
        )
    )
    found = score_masked(TorchMaskedModel.load(folder), items, among=words).table.to_pylist()
    logits_of = torch_logits(folder)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    for row, item in zip(found, items.table.to_pylist(), strict=True):
        scores = {
            word: likelihood_slowly(tokenizer, logits_of, item["premise"], item["hypothesis"], word)
            for word in words
        }
        own = scores[item["answer"]]
        assert row["log_probability"] == pytest.approx(own, abs=1e-4)
        assert row["rank"] == 1 + sum(score > own for score in scores.values())
        assert (
            row["n_tokens"]
            == {"and": 1, "twenty one": 2, "oneth": 2, "twenty oneth": 3}[item["answer"]]
        )
