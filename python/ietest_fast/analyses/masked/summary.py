"""Accuracy and mean reciprocal rank of hidden words, by answer and by module or template.

Salvatore 2020, Table 3.3 and Figures 3.6 to 3.8.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.analyses.masked.answers import SCHEMA, MaskedAnswers
from ietest_fast.analyses.masked.items import Queries
from ietest_fast.errors import InputError
from ietest_fast.models.masked_lm import train_masked
from ietest_fast.numerals import say_count
from ietest_fast.report.tables import Column, Table
from ietest_fast.stats.informedness import Share
from ietest_fast.stats.mean_difference import mean_interval
from ietest_fast.stats.result import Result, fit_cells

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ietest_fast.analyses.masked.items import MaskedItems, Scores, Word
    from ietest_fast.models.masked_lm import (
        MaskedModel,
        MaskedSettings,
        TorchMaskedModel,
        TrainedMasked,
    )
    from ietest_fast.report.tables import Cell
    from ietest_fast.stats import Interval

# How well a masked language model finds the hidden words: ranks and log-probabilities.


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
        As for :func:`~ietest_fast.analyses.masked.summary.score_masked`.
    on_step
        As for :func:`~ietest_fast.models.masked_lm.train_masked`.
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


N_WRONG = 3
"""Wrong answers that are named for each answer, the most frequent ones."""


@dataclass(frozen=True, kw_only=True)
class MaskedGroup:
    """Items that belong together."""

    value: str | None
    """What they have in common: the answer, the module; None of all items."""
    ranked_in: str
    """``vocabulary`` or ``candidates``: ranks among both kinds are never averaged."""
    accuracy: Share
    """Share of items whose answer is ranked first."""
    mean_reciprocal_rank: float
    interval: Interval | None
    """The mean of one over the rank, and its interval at 95%, see
    :func:`ietest_fast.stats.mean_difference.mean_interval`."""
    majority: str
    majority_share: float
    """The most frequent answer, and its share: the accuracy of always giving it."""
    wrong: tuple[tuple[str, int], ...]
    """The most frequent wrong answers and how often each was given; empty where it is not known."""

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        ends = self.interval
        return {
            "value": self.value,
            "ranked_in": self.ranked_in,
            **self.accuracy.to_dict("accuracy"),
            "mean_reciprocal_rank": self.mean_reciprocal_rank,
            "mean_reciprocal_rank_interval": None if ends is None else [ends.low, ends.high],
            "majority": self.majority,
            "majority_share": self.majority_share,
            "wrong": [{"predicted": word, "n": n} for word, n in self.wrong],
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class MaskedSummary(Result):
    """How well a model finds hidden words."""

    title = "Masked inference"

    answers: MaskedAnswers
    """What it said."""
    whole: tuple[MaskedGroup, ...]
    """All items that were scored, one group for each way of ranking."""
    by_answer: tuple[MaskedGroup, ...]
    """By answer, sorted by how often they occur, then by name."""
    by_group: dict[str, tuple[MaskedGroup, ...]]
    """By column, the groups of its values, sorted by name."""

    @property
    def model(self) -> str:
        """Its name."""
        return self.answers.model

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        own = self.answers
        problems = Counter(each for each in own.problems if each is not None)
        return {
            "model": own.model,
            "backend": own.backend or None,
            "fingerprint": own.fingerprint or None,
            "items": len(own),
            "not_scored": sum(problems.values()),
            "problems": dict(problems),
            "truncated": own.n_truncated,
            "candidates": list(own.candidates),
            "whole": [each.to_dict() for each in self.whole],
            "by_answer": [each.to_dict() for each in self.by_answer],
            "by_group": {
                name: [each.to_dict() for each in groups] for name, groups in self.by_group.items()
            },
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        own = self.answers
        n_left = sum(problem is not None for problem in own.problems)
        rows = [("model", self.model), ("items", f"{len(own):,}")]
        if n_left:
            rows.append(("  not scored", f"{n_left:,}"))
        for group in self.whole:
            if len(self.whole) > 1:
                rows.append((f"in the {group.ranked_in}", say_count(group.accuracy.n, "item")))
            rows += [
                ("accuracy", f"{group.accuracy.share:.4f} {group.accuracy.interval}"),
                (
                    "mean reciprocal rank",
                    f"{group.mean_reciprocal_rank:.4f} {group.interval or ''}",
                ),
                ("majority", f"{group.majority_share:.4f} ({group.majority})"),
            ]
        rows += [
            (f"  {each.value}", f"{each.accuracy.share:.4f} {each.accuracy.interval}")
            for each in self.by_answer
        ]
        return [(name, value.strip()) for name, value in rows]

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each group: of all items, by answer, and by column."""
        parts = {"all": self.whole, "answer": self.by_answer, **self.by_group}
        return [
            {"model": self.model, "by": name, **fit_cells(each.to_dict())}
            for name, groups in parts.items()
            for each in groups
        ]

    def remarks(self) -> list[str]:
        """Say what the numbers do not."""
        said = [
            f"{self.model}: not shown to be better than always answering {each.majority!r} "
            f"({each.majority_share:.1%})."
            for each in self.whole
            if each.accuracy.interval is not None
            and each.accuracy.interval.low <= each.majority_share
        ]
        n_unknown = int((self.answers.reciprocal_ranks == 0).sum())
        if n_unknown:
            said.append(
                f"{self.model}: {say_count(n_unknown, 'rank is', 'ranks are')} given as 0, which "
                "means not among the first, so the mean reciprocal rank is too low."
            )
        n_alike = int(_find_alike(self.answers.table, self.answers.reciprocal_ranks).sum())
        if n_alike:
            said.append(
                f"{self.model}: {say_count(n_alike, 'row predicts', 'rows predict')} a word that "
                "looks like the answer, whose rank is not 1. Such rows count as wrong. If the log "
                "was edited, correct predicted or rank."
            )
        return said


def summarise_masked(answers: MaskedAnswers) -> MaskedSummary:
    """Compute accuracies and mean reciprocal ranks.

    Rows that could not be scored are in none of them.
    """
    table = answers.table
    ranked_in = np.array(table["ranked_in"].to_pylist(), dtype=object)
    scored = np.flatnonzero(np.isfinite(answers.reciprocal_ranks))
    ways = [each for each in ("vocabulary", "candidates") if (ranked_in[scored] == each).any()]

    def gather(values: Sequence[Any] | None) -> list[MaskedGroup]:
        found = []
        named = np.array([None] * len(table) if values is None else values, dtype=object)
        for value in dict.fromkeys(named[scored].tolist()):
            for way in ways:
                rows = scored[(named[scored] == value) & (ranked_in[scored] == way)]
                if rows.size:
                    found.append(_measure(answers, rows, value=value, ranked_in=way))
        return found

    by_answer = gather(table["answer"].to_pylist())
    return MaskedSummary(
        answers=answers,
        whole=tuple(gather(None)),
        by_answer=tuple(sorted(by_answer, key=lambda each: (-each.accuracy.n, str(each.value)))),
        by_group={
            name: tuple(sorted(gather(table[name].to_pylist()), key=lambda each: str(each.value)))
            for name in answers.groups
        },
    )


def say_other_items(summaries: Sequence[MaskedSummary]) -> list[str]:
    """Say how many items models share, where they were not measured on the same ones."""
    scored = [
        each.answers.table["item"].filter(pa.array(np.isfinite(each.answers.reciprocal_ranks)))
        for each in summaries
    ]
    if len(summaries) > 1 and any(each.null_count for each in scored):
        return ["The log does not say which items models share: name them in a column item."]
    items = [set(each.to_pylist()) for each in scored]
    first = summaries[0].model
    said = [
        _say_shared((first, each.model), items[0], own)
        for each, own in zip(summaries[1:], items[1:], strict=True)
        if own != items[0]
    ]
    if said and len(summaries) > 2:
        n_shared = say_count(len(set.intersection(*items)), "item")
        said.append(f"All {len(summaries)} models share {n_shared}.")
    return said


def _say_shared(models: tuple[str, str], one: set[Any], other: set[Any]) -> str:
    sizes = f"({models[0]} has {len(one):,}, {models[1]} {len(other):,})"
    names = " and ".join(models)
    n = len(one & other)
    if n == 0:
        return (
            f"{names} share no item {sizes}: do not compare them; if the items are the same, name "
            "them alike in the column item."
        )
    return f"{names} share {say_count(n, 'item')} {sizes}: compare them with care."


def _measure(
    answers: MaskedAnswers, rows: NDArray[np.int64], *, value: str | None, ranked_in: str
) -> MaskedGroup:
    reciprocal = answers.reciprocal_ranks[rows]
    own = answers.table.take(rows)
    majority, n = min(
        Counter(own["answer"].to_pylist()).items(), key=lambda each: (-each[1], each[0])
    )
    is_wrong = (reciprocal < 1) & ~_find_alike(own, reciprocal)
    wrong = Counter(own["predicted"].filter(pa.array(is_wrong)).drop_null().to_pylist())
    return MaskedGroup(
        value=value,
        ranked_in=ranked_in,
        accuracy=Share.of(reciprocal == 1),
        mean_reciprocal_rank=float(reciprocal.mean()),
        interval=mean_interval(reciprocal, least=0.0, most=1.0),
        majority=majority,
        majority_share=n / len(rows),
        wrong=tuple(sorted(wrong.items(), key=lambda each: (-each[1], each[0]))[:N_WRONG]),
    )


def _find_alike(table: pa.Table, reciprocal: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Say in which rows the wrong first choice looks like the answer, as "and" and " and" do."""
    words = (table[name].cast(pa.large_string()) for name in ("predicted", "answer"))
    is_same = pc.equal(*map(pc.utf8_trim_whitespace, words))
    return np.asarray(pc.fill_null(is_same, False)) & (reciprocal < 1)


# Tables of masked inference: models, answers, modules and templates.


_RANKED = {"vocabulary": "the vocabulary", "candidates": "candidates"}


def model_table(summaries: Sequence[MaskedSummary]) -> Table:
    """Return a row for each model and way of ranking, as Table 3.3 of the thesis has them."""
    rows = [(each.model, group) for each in summaries for group in each.whole]
    note = (
        "accuracy: share of items whose answer is ranked first. MRR: mean of 1 / rank. majority: "
        "accuracy of always giving the most frequent answer."
    )
    if any(group.ranked_in == "candidates" for _, group in rows):
        note += (
            " Among candidates, answers are compared by the sum of the log-probabilities of their "
            "tokens, each hidden by itself."
        )
    return Table(
        name="masked",
        title="Masked inference",
        columns=(
            Column("model"),
            Column("ranked in"),
            Column("items", "count"),
            Column("accuracy %", "percent"),
            Column("95% interval", "percent"),
            Column("MRR", "number", 3),
            Column("95% interval", "number", 3),
            Column("majority"),
            Column("majority %", "percent"),
        ),
        rows=tuple(
            (
                model,
                _RANKED[group.ranked_in],
                group.accuracy.n,
                group.accuracy.share,
                group.accuracy.interval,
                group.mean_reciprocal_rank,
                group.interval,
                group.majority,
                group.majority_share,
            )
            for model, group in rows
        ),
        note=note,
    )


def answer_table(summaries: Sequence[MaskedSummary]) -> Table:
    """Return a row for each answer, the models beside each other: Figures 3.6 to 3.8."""
    groups = [each.by_answer for each in summaries]
    return _side_by_side(summaries, "answer", groups, name="answers", has_majority=False)


def group_table(summaries: Sequence[MaskedSummary], name: str) -> Table:
    """Return a row for each value of a column, the models beside each other."""
    groups = [each.by_group[name] for each in summaries]
    return _side_by_side(summaries, name, groups, name=name, has_majority=True)


def _side_by_side(
    summaries: Sequence[MaskedSummary],
    heading: str,
    groups_of: Sequence[Sequence[MaskedGroup]],
    *,
    name: str,
    has_majority: bool,
) -> Table:
    found = [{(group.value, group.ranked_in): group for group in groups} for groups in groups_of]
    keys = list(dict.fromkeys(key for groups in found for key in groups))
    names = ["accuracy"] if len(summaries) == 1 else [each.model for each in summaries]
    counts = [{key: group.accuracy.n for key, group in groups.items()} for groups in found]
    # What all models have in common stands there once.
    is_shared = all(own == counts[0] for own in counts)
    common = [Column("items", "count")]
    if has_majority:
        common.append(Column("majority %", "percent"))
    columns = [Column(heading), Column("ranked in"), *(common if is_shared else ())]
    for model in names:
        if not is_shared:
            columns += [replace(each, name=f"{model} {each.name}") for each in common]
        columns += [
            Column(f"{model} %", "percent"),
            Column("95% interval", "percent"),
            Column("MRR", "number", 3),
        ]
    rows: list[tuple[Cell, ...]] = []
    for key in keys:
        row: list[Cell] = [key[0], _RANKED[key[1]]]
        for place, groups in enumerate(found):
            has_common = not is_shared or place == 0
            row += _group_cells(groups.get(key), len(common) if has_common else 0)
        rows.append(tuple(row))
    return Table(
        name=f"masked-{name}",
        title=f"Masked inference by {heading}",
        columns=tuple(columns),
        rows=tuple(rows),
    )


def _group_cells(group: MaskedGroup | None, n_common: int) -> list[Cell]:
    """Return what a model has in a group, behind the first columns that models may share."""
    if group is None:
        return [*[0, None][:n_common], None, None, None]
    return [
        *[group.accuracy.n, group.majority_share][:n_common],
        group.accuracy.share,
        group.accuracy.interval,
        group.mean_reciprocal_rank,
    ]


def wrong_table(summaries: Sequence[MaskedSummary]) -> Table | None:
    """Return the most frequent wrong answers; None where none is known."""
    rows = [
        (
            each.model,
            group.value,
            group.accuracy.n - group.accuracy.k,
            ", ".join(f"{word} ({n:,})" for word, n in group.wrong),
        )
        for each in summaries
        for group in each.by_answer
        if group.wrong
    ]
    if not rows:
        return None
    return Table(
        name="masked-wrong",
        title="Most frequent wrong answers",
        columns=(
            Column("model"),
            Column("answer"),
            Column("wrong items", "count"),
            Column("given instead"),
        ),
        rows=tuple(rows),
    )
