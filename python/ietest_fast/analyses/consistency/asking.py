"""How consistent a classifier is: its answers to paraphrases, and what they show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ietest_fast.analyses.consistency.buckets import read_buckets
from ietest_fast.analyses.consistency.curves import curves_of_answers, note_amounts, read_amounts
from ietest_fast.analyses.consistency.file import (
    ConsistencyAnswers,
    ConsistencyNotes,
    join_answers,
    with_columns,
)
from ietest_fast.analyses.consistency.joining import answer_buckets
from ietest_fast.analyses.consistency.making import choose_reworded_columns, make_buckets
from ietest_fast.analyses.consistency.noting import note_parts
from ietest_fast.analyses.consistency.paranlu import paranlu_kind, read_paranlu_buckets
from ietest_fast.analyses.consistency.profile import (
    compare_models,
    measure_wordings,
    weigh_by_test_sets,
)
from ietest_fast.answers.file import write_answers
from ietest_fast.corpus.dataset import is_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ietest_fast.analyses.consistency.buckets import Buckets
    from ietest_fast.analyses.consistency.curves import ConsistencyCurve
    from ietest_fast.analyses.consistency.options import ConsistencyOptions
    from ietest_fast.analyses.consistency.partition import ComparedPair
    from ietest_fast.analyses.consistency.profile import ConsistencyProfile
    from ietest_fast.answers.asking import Evaluation
    from ietest_fast.answers.table import Predictions
    from ietest_fast.corpus import Corpus
    from ietest_fast.corpus.reasoning import ReasoningTask
    from ietest_fast.models import TextClassifier
    from ietest_fast.transform.kinds import TextSource


# The paraphrases: read, or made.


def is_paranlu(path: str | Path) -> bool:
    """Whether a file is ParaNLU's, which says itself what it holds."""
    return paranlu_kind(path) in {"paraphrases", "results"}


def read_paraphrases(path: str | Path, options: ConsistencyOptions) -> Buckets:
    """Read paraphrases of a file: ParaNLU's, or a table with a row for each wording."""
    if is_paranlu(path):
        return read_paranlu_buckets(path)
    return read_buckets(
        path,
        text_columns=options.text_columns,
        label_column=options.label_column,
        **options.reading,
    )


def list_needed(options: ConsistencyOptions, task: ReasoningTask | None) -> list[str]:
    """Return the columns of labelled texts that their paraphrases are made with."""
    item = () if options.item_column is None else (options.item_column,)
    parts = () if task is None else task.parts
    return list(dict.fromkeys((*item, *options.kept, *parts)))


def make_paraphrases(
    corpus: Corpus, options: ConsistencyOptions, learn_from: Sequence[Corpus | TextSource]
) -> Buckets:
    """Make paraphrases of labelled texts."""
    return make_buckets(
        corpus,
        options.phi,
        draws=options.draws,
        share=0.5 if options.share is None else options.share,
        seed=options.seed,
        item_column=options.item_column,
        columns=choose_reworded_columns(
            corpus, seen=options.input_columns, reworded=options.reword
        ),
        learn_from=learn_from,
        n_threads=options.n_threads,
    )


# One classifier asked, and all answers measured.


def ask(
    model: TextClassifier,
    buckets: Buckets,
    options: ConsistencyOptions,
    **bar: Callable[[int], None],
) -> tuple[ConsistencyAnswers, Evaluation]:
    """Let a classifier answer all wordings, each distinct input once; `bar` shows how far it is."""
    found = answer_buckets(
        model,
        buckets,
        label_map=options.label_map,
        text_columns=options.input_columns,
        keep_columns=options.kept,
        unparsed=options.unparsed,
        **bar,
    )
    notes = ConsistencyNotes.of(buckets, found, clusters=options.clusters, subset=options.subset)
    return ConsistencyAnswers(predictions=found.predictions, notes=notes), found


@dataclass(frozen=True, kw_only=True, eq=False)
class Consistency:
    """The consistency of one classifier or several."""

    answers: tuple[ConsistencyAnswers, ...]
    """What they answered, with what was noted of it."""
    profiles: tuple[ConsistencyProfile, ...]
    """One for each classifier."""
    pairs: tuple[ComparedPair, ...]
    """Comparisons of classifiers on the same items."""
    remarks: tuple[str, ...]
    """Which were not compared."""
    curves: tuple[ConsistencyCurve, ...]
    """Classifiers that have seen different amounts of data."""

    @property
    def text_columns(self) -> tuple[str, ...]:
        """Columns of the texts that were answered; of files that name none, those with texts."""
        told = [name for each in self.answers for name in each.notes.text_columns]
        return tuple(dict.fromkeys(told)) or _find_texts(self.profiles[0].predictions)

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            "profiles": [each.to_dict() for each in self.profiles],
            "pairs": [each.to_dict() for each in self.pairs],
            "curves": [each.to_dict() for each in self.curves],
        }

    def write(self, path: Path, options: ConsistencyOptions) -> None:
        """Write all answers to one file, from which they are measured in the same way."""
        joined = join_answers(self.answers)
        named = with_columns(joined, clusters=options.clusters, subset=options.subset)
        write_answers(named, path)


def _find_texts(predictions: Predictions) -> tuple[str, ...]:
    fields = [predictions.table.schema.field(name) for name in predictions.extra_columns]
    return tuple(
        each.name
        for each in fields
        if is_text(each.type) and not each.name.endswith("_id") and each.name != "cluster"
    )


def measure(answers: Sequence[ConsistencyAnswers], options: ConsistencyOptions) -> Consistency:
    """Measure how alike classifiers answer the wordings of items, and compare them."""
    noted = _note_curve(note_parts(answers, options), options)
    if options.test_sets:
        noted = weigh_by_test_sets(noted, options.test_sets, n_strata=options.n_strata)
    profiles = measure_wordings(noted, options)
    pairs, remarks = compare_models(profiles, **options.comparing)
    return Consistency(
        answers=noted,
        profiles=profiles,
        pairs=pairs,
        remarks=remarks,
        curves=curves_of_answers(noted, profiles, **options.comparing),
    )


def _note_curve(
    answers: tuple[ConsistencyAnswers, ...], options: ConsistencyOptions
) -> tuple[ConsistencyAnswers, ...]:
    """Note how much data classifiers have seen, if it is said."""
    of = options.amounts_of
    if options.amount_column is not None:
        return read_amounts(answers, options.amount_column, of=of)
    if options.amounts is not None:
        values, in_percent = options.amounts
        return note_amounts(answers, values, of=of, in_percent=in_percent)
    return answers
