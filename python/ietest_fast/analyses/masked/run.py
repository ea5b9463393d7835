"""How well a masked language model finds the hidden words: ranks and log-probabilities.

Salvatore 2020, section 3.5.7; words of several tokens by Salazar et al. 2020.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ietest_fast.analyses.masked.answers import SCHEMA, MaskedAnswers
from ietest_fast.analyses.masked.items import Queries
from ietest_fast.errors import InputError
from ietest_fast.models.masked_training import train_masked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ietest_fast.analyses.masked.items import MaskedItems, Scores, Word
    from ietest_fast.models.masked_lm import MaskedModel, TorchMaskedModel
    from ietest_fast.models.masked_training import MaskedSettings, TrainedMasked


ANSWERS = "answers"
"""As `among`: the file's own answers."""

# Rows, and words in them, that are held in memory at a time.
_ROWS_AT_ONCE = 1024
_WORDS_AT_ONCE = 16_384


def score_masked(
    model: MaskedModel,
    items: MaskedItems,
    *,
    name: str = "model",
    among: str | Sequence[str] | None = None,
    on_rows: Callable[[int], None] | None = None,
) -> MaskedAnswers:
    """Let a masked language model find the hidden word of every item.

    Parameters
    ----------
    model
        The model.
    items
        n items.
    name
        What it is called in the answers.
    among
        Words that the answer is ranked among; :data:`ANSWERS` for the file's own answers. None:
        the whole vocabulary, if the answer is one token. An answer of several tokens has no place
        in the vocabulary, and is ranked among the file's answers.
    on_rows
        Told how many more rows are done.

    Returns
    -------
    MaskedAnswers
        A row for each item. The rank of an answer counts the words (or tokens) that score as high
        or higher, so that ties count against it. ``log_probability`` is that of the answer's token;
        of several tokens, the sum of their log-probabilities, each hidden by itself (the
        pseudo-log-likelihood of Salazar et al. 2020). Candidates are compared by the same number.

    Raises
    ------
    InputError
        If fewer than two candidates are given, the tokenizer does not know one of them, no item can
        be scored, or the model fails.
    """
    given = None if among is None or among == ANSWERS else tuple(dict.fromkeys(among))
    if given is not None and (isinstance(among, str) or len(given) < 2 or not all(given)):
        raise InputError(f"among: two or more different words expected, not {among!r}")
    _check_known(model, given or ())
    scoring = _Scoring(
        model=model,
        items=items,
        candidates=items.answers if given is None else given,
        are_given=given is not None,
        ranks_all=among is not None,
    )
    rows = list(range(len(items)))
    n_at_once = min(_ROWS_AT_ONCE, max(1, _WORDS_AT_ONCE // max(1, len(scoring.candidates))))
    for begin in range(0, len(rows), n_at_once):
        some = rows[begin : begin + n_at_once]
        scoring.run(some)
        if on_rows is not None:
            on_rows(len(some))
    return scoring.finish(name)


def _check_known(model: MaskedModel, words: Sequence[str]) -> None:
    tokenizer = model.tokenizer
    for word in words:
        tokens = tokenizer.tokenise([word]).values.tolist()
        if not tokens or tokenizer.unknown in tokens:
            raise InputError(f"among: the model's tokenizer does not know the word {word!r}")


@dataclass(kw_only=True)
class _Scoring:
    """Scores rows block by block."""

    model: MaskedModel
    items: MaskedItems
    candidates: tuple[str, ...]
    are_given: bool
    ranks_all: bool
    found: list[dict[str, Any]] = field(default_factory=list)
    has_compared: bool = False

    def run(self, rows: Sequence[int]) -> None:
        """Score the next rows."""
        usable = [row for row in rows if self.items.problems[row] is None]
        queries = Queries(model=self.model)
        answers = dict(
            zip(
                usable,
                self._ask(queries, [(row, self._answer(row)) for row in usable]),
                strict=True,
            )
        )
        compared = [
            row
            for row, word in answers.items()
            if word.problem is None and (self.ranks_all or len(word.pieces) > 1)
        ]
        wanted = [(row, word) for row in compared for word in self.candidates]
        others: dict[int, dict[str, Word]] = {row: {} for row in compared}
        for (row, text), word in zip(wanted, self._ask(queries, wanted), strict=True):
            others[row][text] = word
        scores = queries.run() if usable else None
        for row in rows:
            made: dict[str, Any] = {"problem": self.items.problems[row]}
            if scores is not None and row in answers:
                made = self._judge(row, answers[row], others.get(row), scores)
            self.found.append(made)

    def _answer(self, row: int) -> str:
        return str(self.items.table["answer"][row].as_py())

    def _ask(self, queries: Queries, wanted: Sequence[tuple[int, str]]) -> list[Word]:
        filled = [self.items.fill(row, word) for row, word in wanted]
        premises = [self.items.table["premise"][row].as_py() for row, _ in wanted]
        return queries.add(premises, [text for text, _ in filled], [span for _, span in filled])

    def _judge(
        self, row: int, word: Word, others: dict[str, Word] | None, scores: Scores
    ) -> dict[str, Any]:
        """Return what is known of a row."""
        problem = word.problem
        if problem is None and scores.loses(word):
            problem = "too long for the model: the mask would be cut away"
        if problem is not None:
            return {"problem": problem, "n_tokens": len(word.pieces)}
        made = {
            "n_tokens": len(word.pieces),
            "log_probability": scores.sum(word),
            "truncated": scores.shortens(word),
        }
        ranked = (
            self._rank_in_vocabulary(row, word, scores)
            if others is None
            else self._rank_among(row, word, others, scores)
        )
        return {"n_tokens": len(word.pieces), **ranked} if "problem" in ranked else made | ranked

    def _rank_in_vocabulary(self, row: int, word: Word, scores: Scores) -> dict[str, Any]:
        (slot,) = word.slots
        rank = int(scores.ranks[slot])
        predicted = answer = self._answer(row)
        if rank > 1:
            token = int(scores.best[slot])
            predicted = self.model.tokenizer.show_token(token)
            if predicted == answer:  # " and" and "and" are two tokens of some vocabularies
                predicted = self.model.tokenizer.name_token(token)
        return {"rank": rank, "predicted": predicted, "ranked_in": "vocabulary"}

    def _rank_among(
        self, row: int, word: Word, others: dict[str, Word], scores: Scores
    ) -> dict[str, Any]:
        answer = self._answer(row)
        if self.are_given and all(word.pieces != other.pieces for other in others.values()):
            return {"problem": "the answer is none of the candidates"}
        # What is unknown to the tokenizer is no candidate: its own rows are not scored either.
        rivals = {
            other.pieces: text
            for text, other in reversed(others.items())
            if other.problem is None and other.pieces != word.pieces
        }
        if not rivals:
            return {"problem": "there is no other answer to compare the answer with"}
        if any(scores.loses(other) for other in others.values()):
            return {"problem": "too long for the model: the mask would be cut away"}
        self.has_compared = True
        own = scores.sum(word)
        totals = {text: scores.sum(others[text]) for text in rivals.values()}
        rank = 1 + sum(total >= own for total in totals.values())
        best = max(sorted(totals), key=totals.__getitem__)
        return {
            "rank": rank,
            "predicted": answer if rank == 1 else best,
            "ranked_in": "candidates",
        }

    def finish(self, name: str) -> MaskedAnswers:
        """Put the answers together."""
        problems = [made.get("problem") for made in self.found]
        self.items.refuse_if_none(problems)
        ranks = [made.get("rank") for made in self.found]
        columns = {
            "model": pa.array([name] * len(ranks)),
            "item": self.items.table["item"],
            "answer": self.items.table["answer"],
            "reciprocal_rank": [None if rank is None else 1 / rank for rank in ranks],
        }
        for each in SCHEMA:
            if each.name not in columns:
                values = [made.get(each.name) for made in self.found]
                columns[each.name] = pa.array(values, each.type)
        table = pa.table({each: columns[each] for each in SCHEMA.names})
        for group in self.items.groups:
            table = table.append_column(group, self.items.table[group])
        return MaskedAnswers(
            table=table,
            groups=self.items.groups,
            candidates=self.candidates if self.has_compared else (),
            backend=self.model.backend,
            fingerprint=self.model.fingerprint,
        )


# A masked language model before and after training on a file of masked inference.

PRETRAINED, FINE_TUNED = "pretrained", "fine-tuned"
"""What the two are called, as in Table 3.3 of the thesis."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MaskedRun:
    """Answers before and after training."""

    before: MaskedAnswers
    after: MaskedAnswers
    """The answers."""
    trained: TrainedMasked
    """The model, and how its training went."""
    n_shared: int
    """Items of the test that are training items, too: the same texts with the same answer."""


def train_and_score(
    model: TorchMaskedModel,
    train: MaskedItems,
    test: MaskedItems,
    settings: MaskedSettings,
    *,
    among: str | Sequence[str] | None = None,
    on_rows: Callable[[int], None] | None = None,
    on_step: Callable[[int, int], None] | None = None,
) -> MaskedRun:
    """Score a model, train it, and score it again (Salvatore 2020, Table 3.3).

    Parameters
    ----------
    model
        The model; its weights are changed.
    train
        What it is trained on: random tokens of premise and hypothesis are hidden, the hypothesis
        having its answer.
    test
        What it is scored on.
    settings
        Of the training.
    among, on_rows
        As for :func:`~ietest_fast.analyses.masked.run.score_masked`.
    on_step
        As for :func:`~ietest_fast.models.masked_training.train_masked`.
    """
    pairs = pair_texts(train)
    before = score_masked(model, test, name=PRETRAINED, among=among, on_rows=on_rows)
    trained = train_masked(
        model, [first for first, _ in pairs], [second for _, second in pairs], settings,
        on_step=on_step,
    )  # fmt: skip
    after = score_masked(trained.model, test, name=FINE_TUNED, among=among, on_rows=on_rows)
    known = set(pairs)
    return MaskedRun(
        before=before,
        after=after,
        trained=trained,
        n_shared=sum(pair in known for pair in pair_texts(test)),
    )


def pair_texts(items: MaskedItems) -> list[tuple[str, str]]:
    """Return premises and hypotheses with their answers, of rows that can be used."""
    premises, answers = (items.table[name].to_pylist() for name in ("premise", "answer"))
    return [(premises[row], items.fill(row, answers[row])[0]) for row in items.usable]
