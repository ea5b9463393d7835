"""A finished classifier on the questions of all rules."""

from __future__ import annotations

import hashlib
import json
import warnings
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import IetestWarning
from ietest_fast.evaluation.logic.asking import Asker
from ietest_fast.evaluation.logic.candidates import Finder
from ietest_fast.evaluation.logic.controls import borrow, exchange
from ietest_fast.evaluation.logic.items import Items
from ietest_fast.evaluation.logic.labels import find_classes, say_unsaid
from ietest_fast.evaluation.logic.options import LogicOptions
from ietest_fast.evaluation.logic.rules import RULES
from ietest_fast.evaluation.logic.run_file import LogicAnswers, LogicRun, RuleOrigin
from ietest_fast.evaluation.logic.table import RuleQuestions, make_predictions
from ietest_fast.evaluation.logic.texts import Texts
from ietest_fast.evaluation.running import evaluate
from ietest_fast.evaluation.schema import check_kept
from ietest_fast.models.label_map import match_labels
from ietest_fast.transform.kinds import check_language

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.corpus import Corpus
    from ietest_fast.evaluation.logic.candidates import Candidates
    from ietest_fast.evaluation.logic.rules import Rule
    from ietest_fast.evaluation.running import Evaluation
    from ietest_fast.lexicon import Tagger
    from ietest_fast.models import TextClassifier

    Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]


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

    def take(self, pairs: Sequence[Pairs]) -> list[Pairs]:
        """Return questions of the instances to which the rule applies so far."""
        return [(one[self.applicable], other[self.applicable]) for one, other in pairs]


def run_logic(
    model: TextClassifier,
    corpus: Corpus,
    *,
    options: LogicOptions | None = None,
    label_map: Mapping[str, str] | None = None,
    text_columns: Sequence[str] | None = None,
    clusters: str | None = None,
    id_column: str | None = None,
    tagger: Tagger | None = None,
    n_threads: int | None = None,
    on_start: Callable[[int], None] | None = None,
    on_batch: Callable[[int], None] | None = None,
) -> tuple[LogicAnswers, Evaluation]:
    """Ask a finished classifier the questions of all rules that its labels allow.

    First the labelled pairs, then antecedents, then the consequents of the instances to which a
    rule applies, with control questions. Every distinct input is run once.
    """
    from ietest_fast.lexicon import Tagger

    options = options or LogicOptions()
    items = Items.of(corpus, clusters=clusters)
    mapping = match_labels(model.labels, corpus.label_names, label_map=label_map)
    classes = find_classes(mapping.names, source=corpus.source)
    check_kept(corpus.text_columns, corpus.source, made=("instance", "part", "expected", "unit"))
    check_language("the suite logic", "English", [items.sentences], _warn)
    with tagger or Tagger.load() as own:
        texts = Texts(items.sentences, own, n_threads=n_threads)
    first = evaluate(
        model,
        corpus,
        [],
        label_map=label_map,
        text_columns=text_columns,
        id_column=id_column,
        n_threads=n_threads,
        on_start=on_start,
        on_batch=on_batch,
    )
    asker = Asker(
        model,
        mapping,
        texts,
        corpus.text_columns,
        tuple(text_columns or corpus.text_columns),
        on_start=on_start,
        on_batch=on_batch,
    )
    first = replace(first, identity={**first.identity, "phi": _identify(options)})
    predicted = first.predictions.codes("predicted").astype(np.int64)
    asker.know((items.premise, items.hypothesis), predicted)
    finder = Finder(items, texts, options)
    asked = [
        _begin(rule, number, finder.find(name))
        for number, (name, rule) in enumerate(RULES.items())
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
            first.predictions,
            [_to_questions(each, asker) for each in asked],
            texts,
            unit=items.unit,
            classes=classes,
            text_columns=corpus.text_columns,
        ),
        run=LogicRun(
            rules=origins,
            options=asdict(options),
            text_columns=corpus.text_columns,
            clusters=clusters,
            warnings=() if first.warning is None else (first.warning,),
            backend=first.backend,
            identity=first.identity,
        ),
    )
    return answers, _add_runs(first, asker)


def _identify(options: LogicOptions) -> str:
    """Return the suite's name with four digits of a hash of how candidates are found."""
    told = json.dumps(asdict(options), sort_keys=True)
    return f"logic@{hashlib.sha256(told.encode()).hexdigest()[:4]}"


def _begin(rule: Rule, number: int, found: Candidates) -> _Asked:
    nothing = np.empty(0, np.int64)
    return _Asked(
        rule=rule, number=number, found=found, applicable=np.arange(len(found)), contrary=nothing
    )


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


def _to_questions(each: _Asked, asker: Asker) -> RuleQuestions:
    """Put a rule's questions and answers together."""
    has_control = each.has_control
    controls: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]] = []
    for pair in each.controls:
        # Where there is no control question the answer is that to nothing; it is left out.
        answers = np.full(len(each.applicable), -1, np.int64)
        answers[has_control] = asker.answers((pair[0][has_control], pair[1][has_control]))
        controls.append((*pair, answers))
    return RuleQuestions(
        rule=each.rule,
        row=each.found.row[each.applicable],
        antecedents=[(*pair, asker.answers(pair)) for pair in each.take(each.found.antecedents)],
        consequents=[(*pair, asker.answers(pair)) for pair in each.take(each.found.consequents)],
        controls=controls,
    )


def _add_runs(first: Evaluation, asker: Asker) -> Evaluation:
    """Return the evaluation of labelled pairs with the counts of all runs."""
    scores = replace(
        first.scores,
        n_inputs=first.scores.n_inputs + asker.n_inputs,
        n_rows=first.scores.n_rows + asker.n_rows,
        n_tokens=first.scores.n_tokens + asker.n_tokens,
        seconds=first.scores.seconds + asker.seconds,
    )
    return replace(first, scores=scores)
