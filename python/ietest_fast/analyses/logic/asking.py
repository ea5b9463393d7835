"""A finished classifier on the questions of all rules."""

from __future__ import annotations

import hashlib
import json
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.analyses.logic.candidates import (
    Finder,
    Items,
    LogicOptions,
    Texts,
    borrow,
    exchange,
)
from ietest_fast.analyses.logic.file import (
    ANTECEDENT,
    CONSEQUENT,
    CONTROL,
    LogicAnswers,
    write_logic,
)
from ietest_fast.analyses.logic.notes import LogicNotes, RuleOrigin
from ietest_fast.analyses.logic.rules import RULES, find_classes, say_unsaid
from ietest_fast.answers.asking import evaluate, number_copies, score_table
from ietest_fast.answers.schema import check_kept
from ietest_fast.answers.table import ORIGINAL, Predictions
from ietest_fast.atomic import new_folder
from ietest_fast.errors import IetestWarning
from ietest_fast.models.label_map import match_labels
from ietest_fast.transform.phi import check_language

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ietest_fast.analyses.logic.candidates import Candidates
    from ietest_fast.analyses.logic.rules import Rule
    from ietest_fast.answers.asking import ModelAnswers
    from ietest_fast.corpus import Corpus
    from ietest_fast.lexicon import Tagger
    from ietest_fast.models import TextClassifier
    from ietest_fast.models.label_map import LabelMap

    Asked = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
    Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]


# The long table of answers: labelled pairs, and the questions of every instance of a rule.

_PARTS = (ANTECEDENT, CONSEQUENT, CONTROL)


@dataclass(kw_only=True)
class _Asked:
    """A rule while its questions are asked."""

    rule: Rule
    number: int
    found: Candidates
    applicable: NDArray[np.int64]
    contrary: NDArray[np.int64]
    controls: tuple[Pairs, ...] = ()
    has_control: NDArray[np.bool_] | None = None

    @classmethod
    def begin(cls, rule: Rule, number: int, found: Candidates) -> _Asked:
        """Take all candidates for applicable."""
        nothing = np.empty(0, np.int64)
        applicable = np.arange(len(found))
        return cls(rule=rule, number=number, found=found, applicable=applicable, contrary=nothing)

    def take(self, pairs: Sequence[Pairs]) -> list[Pairs]:
        """Return questions of the instances to which the rule applies so far."""
        return [(one[self.applicable], other[self.applicable]) for one, other in pairs]

    def answered(self, asker: Asker) -> tuple[list[Asked], ...]:
        """Return antecedents, consequents and control questions with the answers to them.

        Where there is no control question the answer is -1.
        """
        controls = []
        for pair in self.controls:
            answers = np.full(len(self.applicable), -1, np.int64)
            answers[self.has_control] = asker.answers(
                (pair[0][self.has_control], pair[1][self.has_control])
            )
            controls.append((*pair, answers))
        antecedents, consequents = (
            [(*pair, asker.answers(pair)) for pair in self.take(pairs)]
            for pairs in (self.found.antecedents, self.found.consequents)
        )
        return antecedents, consequents, controls


def make_predictions(
    originals: Predictions,
    asked: Sequence[_Asked],
    asker: Asker,
    *,
    unit: NDArray[np.int64],
    classes: Mapping[str, int],
) -> Predictions:
    """Put answers to labelled pairs and to the questions of rules into one table."""
    own = originals.table
    columns = {
        "item": own["item"],
        "version": own["version"].cast(pa.string()),
        **{name: own[name].cast(pa.string()) for name in ("gold", "predicted")},
        "correct": pa.array(originals.correct),
        "copy": pa.array(np.zeros(len(originals), np.int32)),
        "unit": pa.array(unit),
        **{name: own[name].cast(pa.large_string()) for name in asker.columns},
    }
    tables = [pa.table(columns)]
    tables += [
        _tabulate(each, originals, asker, unit=unit, classes=classes)
        for each in asked
        if len(each.applicable)
    ]
    return Predictions(
        table=pa.concat_tables(tables, promote_options="permissive"),
        label_names=originals.label_names,
        dropped=originals.dropped,
        source=originals.source,
    )


def _tabulate(
    own: _Asked,
    originals: Predictions,
    asker: Asker,
    *,
    unit: NDArray[np.int64],
    classes: Mapping[str, int],
) -> pa.Table:
    """Return the rows of a rule, the questions of an instance one after the other."""
    assert originals.label_names is not None  # noqa: S101 - they were matched
    rule, n = own.rule, len(own.applicable)
    groups = own.answered(asker)
    asked = [question for group in groups for question in group]
    premise, hypothesis, answer = (
        np.stack([question[place] for question in asked], axis=1).reshape(-1) for place in range(3)
    )
    parts = np.repeat(np.arange(3), [len(group) for group in groups])
    labels = (*rule.antecedents, *rule.consequents, *(rule.consequents if own.controls else ()))
    expected = np.tile(np.array([classes[label] for label in labels]), n)
    part = np.tile(parts, n)
    is_negated = rule.is_negated & (part != _PARTS.index(ANTECEDENT))
    instance = np.repeat(np.arange(n), len(asked))
    row = np.repeat(own.found.row[own.applicable], len(asked))
    right = (answer == expected) ^ is_negated ^ (part == _PARTS.index(CONTROL))
    names = originals.label_names
    said = pa.array([*names, *(f"not {name}" for name in names)], pa.string())
    columns = {
        "item": originals.table["item"].combine_chunks().take(pa.array(row)),
        "version": pa.repeat(pa.scalar(rule.name), len(row)),
        "predicted": said.take(pa.array(np.maximum(answer, 0))),
        "correct": pa.array(right),
        "copy": pa.array(number_copies(row)),
        "instance": pa.array(instance.astype(np.int32)),
        "part": pa.array(_PARTS).take(pa.array(part)),
        "expected": said.take(pa.array(expected + len(names) * is_negated)),
        "unit": pa.array(unit[row]),
        asker.columns[0]: asker.texts.take(premise),
        asker.columns[1]: asker.texts.take(hypothesis),
    }
    return pa.table(columns).filter(pa.array(answer >= 0))


# Asking a classifier, each distinct question once.


class Asker:
    """Knows a classifier's answers to pairs of texts, and asks for those that it does not know."""

    def __init__(
        self,
        model: TextClassifier,
        mapping: LabelMap,
        texts: Texts,
        columns: Sequence[str],
        seen: Sequence[str],
        **bar: Callable[[int], None],
    ) -> None:
        self._model = model
        self._of_model = mapping.of_model.astype(np.int64)
        self.texts = texts
        self.columns = tuple(columns)
        self._seen = tuple(seen)
        self._bar = bar
        self._keys = np.empty(0, np.int64)
        self._answers = np.empty(0, np.int64)
        self.n_inputs, self.n_rows, self.n_tokens, self.seconds = 0, 0, 0, 0.0

    def know(self, pairs: Pairs, answers: NDArray[np.int64]) -> None:
        """Take answers that are known already: classes of n pairs."""
        keys, first = np.unique(self._key(pairs), return_index=True)
        self._add(keys, answers[first])

    def ask(self, questions: Sequence[Pairs]) -> None:
        """Ask what is not known yet, all in one run of the classifier."""
        if not questions:
            return
        premise, hypothesis = (
            np.concatenate([pair[side] for pair in questions]) for side in (0, 1)
        )
        self.n_rows += len(premise)
        keys, first = np.unique(self._key((premise, hypothesis)), return_index=True)
        new = ~np.isin(keys, self._keys, assume_unique=True)
        if not new.any():
            return
        sides = (side[first[new]] for side in (premise, hypothesis))
        table = pa.table(
            {name: self.texts.take(side) for name, side in zip(self.columns, sides, strict=True)}
        )
        found = score_table(self._model, table, self._seen, **self._bar)
        self._add(keys[new], self._of_model[found.scores.predicted])
        self.n_inputs += found.n_inputs
        self.n_tokens += found.n_tokens
        self.seconds += found.seconds

    def answers(self, pairs: Pairs) -> NDArray[np.int64]:
        """Return the classes that n pairs have got, int64 (n,); they have been asked."""
        found: NDArray[np.int64] = self._answers[np.searchsorted(self._keys, self._key(pairs))]
        return found

    def _key(self, pairs: Pairs) -> NDArray[np.int64]:
        """Return a number for each input; what the classifier does not see makes no difference."""
        premise, hypothesis = (
            side if name in self._seen else np.zeros_like(side)
            for side, name in zip(pairs, self.columns, strict=True)
        )
        return premise << 32 | hypothesis

    def _add(self, keys: NDArray[np.int64], answers: NDArray[np.int64]) -> None:
        everything = np.concatenate([self._keys, keys])
        order = np.argsort(everything, kind="stable")
        self._keys = everything[order]
        self._answers = np.concatenate([self._answers, answers])[order]


def ask_logic(
    model: TextClassifier,
    corpus: Corpus,
    options: LogicOptions | None = None,
    *,
    tagger: Tagger | None = None,
    **bar: Any,
) -> tuple[LogicAnswers, ModelAnswers]:
    """Ask a finished classifier the questions of all rules that its labels allow.

    First the labelled pairs, then antecedents, then the consequents of the instances to which a
    rule applies, with control questions. Every distinct input is run once. What `options` name a
    folder or a file for is written. `bar` shows how far it is.
    """
    from ietest_fast.lexicon import Tagger

    options = options or LogicOptions()
    items = Items.of(corpus, clusters=options.clusters)
    mapping = match_labels(model.labels, corpus.label_names, label_map=options.label_map)
    classes = find_classes(mapping.names, source=corpus.source)
    check_kept(corpus.text_columns, corpus.source, made=("instance", "part", "expected", "unit"))
    check_language("the suite logic", "English", [items.sentences], _warn)
    with tagger or Tagger.load() as own:
        texts = Texts(items.sentences, own, n_threads=options.n_threads)
    first = evaluate(
        model,
        corpus,
        [],
        label_map=options.label_map,
        text_columns=options.text_columns,
        id_column=options.id_column,
        n_threads=options.n_threads,
        **bar,
    )
    seen = options.text_columns or corpus.text_columns
    asker = Asker(model, mapping, texts, corpus.text_columns, seen, **bar)
    first = replace(first, identity={**first.identity, "phi": _identify(options)})
    predicted = first.predictions.codes("predicted").astype(np.int64)
    asker.know((items.premise, items.hypothesis), predicted)
    finder = Finder(items, texts, options)
    asked = [
        _Asked.begin(rule, number, finder.find(rule))
        for number, rule in enumerate(RULES.values())
        if say_unsaid(rule, mapping.names) is None
    ]
    _ask_antecedents(asker, asked, classes)
    _ask_consequents(asker, asked, items, options)
    origins = {
        name: RuleOrigin(reason=say_unsaid(rule, mapping.names)) for name, rule in RULES.items()
    }
    for each in asked:
        origins[each.rule.name] = RuleOrigin(
            n_items=len(np.unique(each.found.row)),
            n_candidates=len(each.found),
            left_out=dict(each.found.left_out),
        )
    answers = LogicAnswers(
        predictions=make_predictions(
            first.predictions, asked, asker, unit=items.unit, classes=classes
        ),
        notes=LogicNotes(
            rules=origins,
            options=options.search,
            text_columns=corpus.text_columns,
            clusters=options.clusters,
            warnings=(*filter(None, (first.warning,)), *first.warnings),
            backend=first.backend,
            identity=first.identity,
        ),
    )
    if options.folder is not None:
        write_questions(answers, options.folder)
    if options.out is not None:
        write_logic(answers, options.out)
    return answers, _add_runs(first, asker)


def _identify(options: LogicOptions) -> str:
    """Return the suite's name with four digits of a hash of how candidates are found."""
    told = json.dumps(options.search, sort_keys=True)
    return f"logic@{hashlib.sha256(told.encode()).hexdigest()[:4]}"


def _ask_antecedents(asker: Asker, asked: Sequence[_Asked], classes: Mapping[str, int]) -> None:
    """Find out to which candidates rules apply: second antecedents only where first ones hold."""
    for stage in range(max((len(each.rule.antecedents) for each in asked), default=0)):
        waiting = [each for each in asked if len(each.rule.antecedents) > stage]
        asker.ask([each.take(each.found.antecedents)[stage] for each in waiting])
        for each in waiting:
            got = asker.answers(each.take(each.found.antecedents)[stage])
            holds = got == classes[each.rule.antecedents[stage]]
            each.contrary = each.applicable[~holds]
            each.applicable = each.applicable[holds]


def _ask_consequents(
    asker: Asker, asked: Sequence[_Asked], items: Items, options: LogicOptions
) -> None:
    """Ask the consequents of all instances, and control questions."""
    questions: list[Pairs] = []
    for each in asked:
        _add_controls(each, items, options.seed)
        questions += each.take(each.found.consequents)
        questions += [
            (one[each.has_control], other[each.has_control]) for one, other in each.controls
        ]
    asker.ask(questions)


def _warn(said: str) -> None:
    warnings.warn(f"{said[:1].upper()}{said[1:]}.", IetestWarning, stacklevel=4)


def _add_controls(each: _Asked, items: Items, seed: int) -> None:
    """Find the control questions of a rule; of some instances there may be none."""
    found, own = each.found, each.applicable
    told: dict[str, Any] = {"seed": seed, "number": each.number}
    if each.rule.control == "exchange":
        chosen, each.has_control = exchange(items, found, own, **told)
        each.controls = tuple(
            (premise[own], hypothesis[chosen]) for premise, hypothesis in found.consequents
        )
    elif each.rule.control == "contrary":
        chosen, each.has_control = borrow(items, found, own, each.contrary, **told)
        each.controls = tuple(
            (premise[chosen], hypothesis[own]) for premise, hypothesis in found.consequents
        )
    elif each.rule.control == "self":
        each.has_control = np.ones(len(own), np.bool_)
        each.controls = tuple((premise[own], premise[own]) for premise, _ in found.consequents)


def _add_runs(first: ModelAnswers, asker: Asker) -> ModelAnswers:
    """Return the evaluation of labelled pairs with the counts of all runs."""
    scores = replace(
        first.scores,
        n_inputs=first.scores.n_inputs + asker.n_inputs,
        n_rows=first.scores.n_rows + asker.n_rows,
        n_tokens=first.scores.n_tokens + asker.n_tokens,
        seconds=first.scores.seconds + asker.seconds,
    )
    return replace(first, scores=scores)


# The questions of the suite as files: one for each rule, and one with every different input.

_KEPT = ("item", "instance", "part")
INPUTS = "inputs"
"""The name of the file with every different input."""


def write_questions(answers: LogicAnswers, folder: Path) -> None:
    """Write the questions of each rule to a Parquet file in a new folder, all of them or none.

    A file has the instances to which the rule applies, as the classifier that was run sees it:
    ``item``, ``instance``, ``part``, the texts and ``expected``. ``inputs.parquet`` has every
    different input of the labelled pairs and of all rules, once.
    """
    import pyarrow.parquet as pq

    table = answers.predictions.table
    texts = answers.notes.text_columns
    versions = table["version"].cast(pa.string())
    with new_folder(folder) as unfinished:
        inputs = table.select(texts).group_by(list(texts), use_threads=False).aggregate([])
        pq.write_table(inputs, unfinished / f"{INPUTS}.parquet")
        for name in answers.predictions.versions:
            if name != ORIGINAL:
                own = table.filter(pc.equal(versions, name)).select([*_KEPT, *texts, "expected"])
                pq.write_table(own.replace_schema_metadata(None), unfinished / f"{name}.parquet")
