"""A finished classifier on several versions of labelled texts, and the tests of what it answers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ietest_fast.analyses.compare.profile import compare_versions, try_options
from ietest_fast.analyses.compare.statistic import columns_asked
from ietest_fast.answers import evaluate as answer_versions
from ietest_fast.answers.versions import pair_version, read_shared, read_version
from ietest_fast.corpus import Corpus, corpus_from_table, read_corpus
from ietest_fast.corpus.columns import check_columns, find_label_column, find_text_columns
from ietest_fast.corpus.dataset import LABEL
from ietest_fast.corpus.labels import label_key
from ietest_fast.errors import InputError
from ietest_fast.escapes import escape_label
from ietest_fast.frames import check_order, to_arrow
from ietest_fast.models import as_classifier
from ietest_fast.models.estimators import is_function
from ietest_fast.numerals import format_p, list_dropped, say_p
from ietest_fast.report.progress import show_progress
from ietest_fast.stats.intervals import axes_or_new
from ietest_fast.stats.result import Result
from ietest_fast.stats.strata import EDITS, list_file_columns
from ietest_fast.transform.files import check_out
from ietest_fast.transform.phi import DEFAULT_PHI
from ietest_fast.values import show_value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ietest_fast.analyses import Comparison
    from ietest_fast.answers import ModelAnswers, Predictions
    from ietest_fast.answers.versions import Version
    from ietest_fast.models import TextClassifier
    from ietest_fast.models.classifiers import AnswerCache, Inputs, Unparsed
    from ietest_fast.stats import CochranResult, Verdict
    from ietest_fast.stats.flips import EditEffects
    from ietest_fast.stats.inputs import Rng
    from ietest_fast.stats.invariance import InvarianceTestResult
    from ietest_fast.stats.outcomes import Method
    from ietest_fast.stats.resampling import Alternative
    from ietest_fast.stats.result import PairedResult
    from ietest_fast.stats.strata import StrataCorrection

# Corpora, and their versions, of whatever table or file a caller has.


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelledTable:
    """A corpus, and the table that it was made of."""

    corpus: Corpus
    """The rows that have a label."""
    table: pa.Table | None = None
    """All rows and columns; None if they came from a file."""
    text_columns: tuple[str, ...] = ()
    label_column: str | None = None
    """Names in the table; None if they came from a file."""
    given: Any = None
    """The table as it came, whose index pandas may have; None if it was a file."""

    @property
    def are_numbers(self) -> bool:
        """Whether labels came as integers."""
        if self.table is None or self.label_column is None:
            return False
        return bool(pa.types.is_integer(self.table.schema.field(self.label_column).type))


def as_labelled(
    data: Any,
    *,
    text_columns: Sequence[str] | None = None,
    label_column: str | None = None,
    label_names: Sequence[str] | None = None,
    keep_columns: Sequence[str] = (),
    like: Corpus | None = None,
    source: str = "<memory>",
) -> LabelledTable:
    """Make a corpus of a table of any kind, or of a file."""
    options: dict[str, Any] = {
        "label_names": label_names,
        "keep_columns": tuple(keep_columns),
        "like": like,
    }
    if isinstance(data, Corpus):
        check_columns(data.source, data.table.column_names, keep_columns)
        return LabelledTable(
            corpus=data, table=data.table, text_columns=data.text_columns, label_column=None
        )
    if isinstance(data, str | Path):
        found = read_corpus(data, text_columns=text_columns, label_column=label_column, **options)
        return LabelledTable(corpus=found)
    table = to_arrow(data, source=source)
    if label_column is None:
        label_column = find_label_column(source, table.column_names)
    # Under their own names: a classifier may have been fitted on a frame that has them.
    names = tuple(text_columns or find_text_columns(source, table.column_names)[0])
    corpus = corpus_from_table(
        table, text_columns=names, label_column=label_column, source=source, **options
    )
    return LabelledTable(
        corpus=corpus, table=table, text_columns=names, label_column=label_column, given=data
    )


def with_labels(corpus: Corpus, names: Sequence[str]) -> Corpus:
    """Return a corpus with its labels numbered as by a classifier that knows these and others.

    Where the classifier does not know all of them, the corpus stays as it is.
    """
    folded = [label_key(name) for name in names]
    own = [label_key(name) for name in corpus.label_names]
    if not set(own) < set(folded) or len(set(folded)) < len(folded):
        return corpus
    codes = np.array([folded.index(name) for name in own], dtype=np.int8)[corpus.labels]
    place = corpus.table.schema.get_field_index(LABEL)
    table = corpus.table.set_column(place, LABEL, pa.array(codes))
    return replace(corpus, table=table, label_names=tuple(names))


def list_names(names: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the names of columns as a tuple; None stays."""
    if names is None:
        return None
    return (names,) if isinstance(names, str) else tuple(names)


def refuse_given(because: str, **given: Any) -> None:
    """Refuse arguments that would be ignored."""
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{name} {because}")


def check_answers_file(out: str | Path | None, read: Iterable[object]) -> Path | None:
    """Find out before the work whether answers can be written there, and over what."""
    if out is None:
        return None
    other = InputError("out is a Parquet file, whose name ends in .parquet", path=out)
    check_out(Path(out), read, unless_parquet=other)
    return Path(out)


def pair_transformed(
    data: LabelledTable, transformed: Any, *, id_column: str | None, label_column: str | None
) -> Version:
    """Pair originals with the same rows in other words; either may be a file or a table."""
    corpus, columns = data.corpus, data.table
    if columns is not None and data.label_column is not None:
        columns = columns.take(pa.array(corpus.source_rows))
    named: dict[str, Any] = {"id_column": id_column, "label_column": label_column}
    if isinstance(transformed, str | Path):
        return read_version(corpus, transformed, columns=columns, **named)
    source = "transformed"
    other = to_arrow(transformed, source=source)
    return pair_version(
        corpus,
        other,
        name=source,
        source=source,
        columns=read_shared(corpus, other.column_names) if columns is None else columns,
        check_indexes=lambda: check_order({corpus.source: data.given, source: transformed}),
        **named,
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EvaluationResult(Result):
    """What :func:`evaluate` has found: one paired test for each version of the texts.

    It prints itself. With one version it has the attributes of its test; with several,
    ``result["syn.careful"]`` is the test of one.
    """

    evaluation: ModelAnswers
    """The answers, and what they took."""
    comparison: Comparison
    """The tests, with Holm's correction for the versions."""

    @property
    def predictions(self) -> Predictions:
        """The long table of answers: one row for each text and version."""
        return self.evaluation.predictions

    @property
    def tests(self) -> dict[str, PairedResult]:
        """The paired test of each version against the original."""
        return {test.pairs.version: test.result for test in self.comparison.tests}

    def __getitem__(self, version: str) -> PairedResult:
        tests = self.tests
        if version not in tests:
            raise KeyError(f"there is no version {version!r}; there are {', '.join(tests)}")
        return tests[version]

    @property
    def test(self) -> PairedResult:
        """The test of the only version.

        Raises
        ------
        AttributeError
            If there are several.
        """
        tests = self.tests
        if len(tests) > 1:
            names = ", ".join(map(repr, tests))
            raise AttributeError(
                f"there are {len(tests)} versions: result[...] gives one of {names}"
            )
        return next(iter(tests.values()))

    @property
    def pvalue(self) -> float:
        """The p-value of the only version."""
        return self.test.pvalue

    @property
    def statistic(self) -> float:
        """The paired t statistic of the only version."""
        return self.test.statistic

    @property
    def delta(self) -> float:
        """The accuracy on the original texts less that on the only version."""
        return self.test.delta

    def confidence_interval(self, confidence_level: float = 0.95) -> Any:
        """Return the interval of :attr:`delta`."""
        return self.test.confidence_interval(confidence_level)

    @property
    def verdicts(self) -> dict[str, Verdict | None]:
        """What is shown of each version: alike, differs, ...; None where nothing is judged."""
        return {
            test.pairs.version: None if test.invariance is None else test.invariance.verdict
            for test in self.comparison.tests
        }

    @property
    def verdict(self) -> Verdict | None:
        """What is shown of the only version.

        Raises
        ------
        AttributeError
            If there are several.
        """
        return None if self.invariance is None else self.invariance.verdict

    @property
    def invariance(self) -> InvarianceTestResult | None:
        """What the verdict on the only version rests on; None if nothing is judged.

        ``n_reworded`` and ``counts`` are of the reworded texts, ``flips`` of the answers that
        change, and ``explanation`` says it in a sentence. Of several versions:
        ``result.comparison.tests``.

        Raises
        ------
        AttributeError
            If there are several.
        """
        _ = self.test  # of which there has to be one
        return self.comparison.tests[0].invariance

    @property
    def edits(self) -> EditEffects | None:
        """Which edits go with flips, those first that do most surely; it becomes a frame.

        None if texts are not known, or none was reworded. Of several versions:
        ``result.comparison.tests[0].why.edits``.

        Raises
        ------
        AttributeError
            If there are several.
        """
        _ = self.test  # of which there has to be one
        why = self.comparison.tests[0].why
        return None if why is None else why.edits

    @property
    def reject(self) -> bool:
        """Whether any version differs at alpha, after Holm's correction if there are several."""
        return self.comparison.reject

    @property
    def title(self) -> str:  # type: ignore[override]
        """Heads the printed result."""
        names = list(self.tests)
        return f"{names[0]} against the original" if len(names) == 1 else self.comparison.title

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        found = self.evaluation
        return {
            **self.comparison.to_dict(),
            "labels": list(found.predictions.label_names or ()),
            "dropped": found.predictions.dropped,
            "texts_changed": dict(found.n_changed),
            "backend": found.backend,
            "identity": dict(found.identity),
            "warning": found.warning,
            "warnings": list(found.warnings),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each version."""
        return self.comparison.records()

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        tests = self.comparison.tests
        if len(tests) > 1:
            return [
                *self.comparison.rows(),
                *(
                    (
                        "Cochran's Q, all",
                        f"{_say_cochran(each.result)} on {each.result.n:,} items",
                    )
                    for each in self.comparison.cochran
                ),
            ]
        if self._judged is not None:
            is_other = self._judged.verdict.finding_kind == "differs"
            why = tests[0].why if is_other else None
            rows = [("version", tests[0].pairs.version), *self._judged.rows()]
            return [*rows, *(() if why is None else why.lines())]
        changed = self.evaluation.n_changed[tests[0].pairs.version]
        return [
            *tests[0].result.rows(),
            ("texts changed", f"{changed:,}"),
            ("answers changed", f"{tests[0].pairs.n_flipped or 0:,}"),
        ]

    @property
    def _judged(self) -> InvarianceTestResult | None:
        """The answer on the only version; None if there are several, or none is judged."""
        tests = self.comparison.tests
        return tests[0].invariance if len(tests) == 1 else None

    @property
    def headline(self) -> str:
        """The answer in one sentence; empty where nothing is judged."""
        return self.comparison.headline

    def remarks(self) -> list[str]:
        """Return what is to be known besides: rows left out, warnings, the verdict."""
        found, alpha = self.evaluation, self.comparison.alpha
        said = [f"{each}." for each in list_dropped(found.predictions.dropped, "left out")]
        if found.warning is not None:
            said.append(found.warning)
        said += found.remarks
        if any(test.collapsed and test.invariance is None for test in self.comparison.tests):
            said.append(
                "Warning: the classifier gives one class only, or is not shown to be above chance."
            )
        tests = self.comparison.tests
        for test in tests:
            before = f"{test.name}: " if len(tests) > 1 else ""
            said += [before + remark for remark in test.result.remarks()]
        if self._judged is not None:
            return said + self._judged.remarks()
        level = f"α = {alpha:g}" + (", Holm" if len(tests) > 1 else "")
        differ = [test.name for test in tests if test.reject]
        said.append(
            f"The accuracy differs under {', '.join(differ)} ({level})."
            if differ
            else f"No difference of the accuracies is shown ({level})."
        )
        for test in tests:
            if test.invariance is not None:
                before = f"{test.name}: " if len(tests) > 1 else ""
                said.append(before + test.invariance.explanation)
        return said

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the differences of the accuracies, with 95% intervals.

        Parameters
        ----------
        ax
            A matplotlib ``Axes``; a new figure is made if not given.

        Returns
        -------
        matplotlib.axes.Axes
        """
        tests = self.tests
        ax = axes_or_new(ax, figsize=(6.4, 1.4 + 0.5 * len(tests)), layout="constrained")
        for place, test in enumerate(tests.values()):
            interval = test.confidence_interval()
            ax.plot([100 * interval.low, 100 * interval.high], [place, place], color="tab:blue")
            ax.plot([100 * test.delta], [place], "o", color="tab:blue")
        ax.axvline(0, color="black", linewidth=1)
        ax.set_yticks(range(len(tests)), [escape_label(name) for name in tests])
        ax.set_ylim(len(tests) - 0.5, -0.5)
        ax.set_xlabel("accuracy, original less transformed (points)")
        return ax

    def __repr__(self) -> str:
        return str(self)


def _say_cochran(result: CochranResult) -> str:
    return say_p(format_p(result.p_value, floor=result.p_floor))


def evaluate(
    classifier: Any,
    data: Any,
    *,
    phi: Any = None,
    transformed: Any = None,
    text_columns: str | Sequence[str] | None = None,
    label_column: str | None = None,
    label_names: Sequence[str] | None = None,
    id_column: str | None = None,
    keep_columns: Sequence[str] = (),
    clusters: str | None = None,
    learn_from: Any = None,
    labels: Sequence[str] | None = None,
    label_map: Mapping[str, str] | None = None,
    inputs: Inputs | None = None,
    input_columns: str | Sequence[str] | None = None,
    batch_size: int | None = None,
    cache: str | Path | AnswerCache | None = None,
    unparsed: Unparsed = "error",
    threshold: float | None = None,
    alpha: float = 0.05,
    margin: float | None = None,
    flip_margin: float | None = None,
    strata: Sequence[str] = (),
    strata_correction: StrataCorrection = "holm",
    dose: str | None = None,
    method: Method | None = None,
    n_resamples: int | None = None,
    rng: Rng = 0,
    alternative: Alternative = "two-sided",
    n_threads: int | None = None,
) -> EvaluationResult:
    """Test whether a finished classifier answers rephrased texts as well as the original ones.

    The texts are rephrased, the classifier answers both versions (each distinct text once), and the
    right and wrong answers are compared by the paired test of the paper.

    Parameters
    ----------
    classifier
        Anything that classifies: a fitted scikit-learn estimator or pipeline, a transformers
        pipeline, a function from a list of texts to labels or probabilities, a folder or a file
        with an ONNX model, a checkpoint of transformers (folder or name).
    data
        Labelled texts: a pandas or polars frame, an Arrow table, a ``datasets.Dataset``, a mapping
        of columns, a file, or a corpus.
    phi
        How the texts are rephrased: one transformation, or a list of them, each as for
        ``ie.transform``. None for ``"syn.careful"``, or for nothing if `transformed` is given.
    transformed
        The same rows in other words, if they are there already: a table of any kind, or a file,
        with or without labels. Rows are matched by a column of ids that both tables have (``id``,
        ``item``, ``uid``, ``pairID`` and the like), otherwise by their order.
    text_columns, label_column, label_names
        As for :func:`ietest_fast.corpus.read_corpus`; found by their names where None.
    id_column
        What names the rows: items of the predictions, and what `transformed` is matched by.
    keep_columns
        Further columns of `data` that the predictions get.
    clusters
        A column whose equal values belong together (premise, document, annotator): the test then
        draws whole clusters.
    learn_from
        A table of any kind, or a corpus, whose words decide between synonyms: best the training
        set. None: `data`.
    labels, inputs, batch_size
        Of the classifier: see :func:`ietest_fast.models.as_classifier`. `labels` are the names of
        what it gives as numbers; ``inputs="joined"`` gives it pairs of texts as one.
    cache
        Keeps the answers of a function, so that none is asked for twice, whatever happens: a file
        such as ``"answers.jsonl"``, to which each is written as soon as it is there; or the
        attribute ``answers`` of the exception that has ended an earlier call.
    unparsed
        What becomes of a function's answers that are no label (None, NaN, "", another text):
        ``"error"``; ``"wrong"``, a wrong answer; ``"drop"``, the item is left out of all versions.
        The last two are counted.
    threshold
        Of a network with one logit: the probability from which its answer is its second label; 0.5
        where None.
    label_map
        The data's name of each of the classifier's labels, where names do not say it.
    input_columns
        Columns that the classifier sees; None for all columns of texts.
    alpha
        Significance level.
    margin, flip_margin
        Losses of accuracy, and shares of changed answers, that do not matter if they are smaller:
        0.01 and 0.05 where None.
    strata
        Columns by whose values the reworded texts are also tested one by one, such as ``"genre"``;
        ``"label"`` is the gold label, ``"edits"`` the number of edits.
    strata_correction
        ``"holm"`` or ``"minp"``, for the values of a column.
    dose
        A column of numbers with which losses and changed answers may grow, such as ``"edits"``.
    method, n_resamples, rng, alternative
        As for ``ie.paired_test``.
    n_threads
        Threads of transformations and tests; None for all cores. Makes no difference to the result.

    Returns
    -------
    EvaluationResult

    Raises
    ------
    InputError
        If something does not fit: columns, labels, rows of `transformed`, a transformation that
        changes no text.
    """
    asked: dict[str, Any] = {"strata": strata, "strata_correction": strata_correction, "dose": dose}
    columns = columns_asked(asked)
    if transformed is not None and EDITS in columns:
        raise InputError(
            "edits: a version that is given as `transformed` tells no edits; leave edits out, or "
            "evaluate what phi makes by itself"
        )
    grouped = list_file_columns(columns)
    kept = list(
        dict.fromkeys(x for x in (*keep_columns, clusters, id_column, *grouped) if x is not None)
    )
    of_tests: dict[str, Any] = {
        "clusters": clusters,
        "method": method,
        "n_resamples": n_resamples,
        "rng": rng,
        "alternative": alternative,
        "alpha": alpha,
        "margin": margin,
        "flip_margin": flip_margin,
        "n_threads": n_threads,
        **asked,
    }
    try_options(**of_tests)
    versions = _choose(phi, has_default=transformed is None)
    model, found, corpus = take_labelled(
        classifier,
        data,
        text_columns=text_columns,
        label_column=label_column,
        label_names=label_names,
        keep_columns=kept,
        label_map=label_map,
        labels=labels,
        inputs=inputs,
        batch_size=batch_size,
        cache=cache,
        unparsed=unparsed,
        threshold=threshold,
    )
    if transformed is not None:
        given = pair_transformed(found, transformed, id_column=id_column, label_column=label_column)
        versions.append(replace(given, labels=corpus.labels))  # which may have other numbers now
    with show_bar() as bar:
        evaluation = answer_versions(
            model,
            corpus,
            versions,
            learn_from=() if learn_from is None else (learn_source(learn_from, found),),
            label_map=label_map,
            text_columns=list_names(input_columns),
            id_column=id_column,
            keep_columns=kept,
            unparsed=unparsed,
            n_threads=n_threads,
            **bar,
        )
    comparison = compare_versions(evaluation.predictions, **of_tests)
    return EvaluationResult(evaluation=evaluation, comparison=comparison)


def take_labelled(
    classifier: Any,
    data: Any,
    *,
    text_columns: str | Sequence[str] | None,
    label_column: str | None,
    label_names: Sequence[str] | None,
    keep_columns: Sequence[str | None],
    label_map: Mapping[str, str] | None,
    **of_classifier: Any,
) -> tuple[TextClassifier, LabelledTable, Corpus]:
    """Return a classifier, labelled data, and their corpus with all labels that it knows."""
    found = as_labelled(
        data,
        text_columns=list_names(text_columns),
        label_column=label_column,
        label_names=label_names,
        keep_columns=list(dict.fromkeys(name for name in keep_columns if name is not None)),
        source="data",
    )
    model = make_classifier(classifier, found, **of_classifier)
    corpus = found.corpus if label_map is not None else with_labels(found.corpus, model.labels)
    return model, found, corpus


def make_classifier(
    classifier: Any,
    data: LabelledTable,
    *,
    labels: Sequence[str] | None,
    **options: Any,
) -> TextClassifier:
    """Make a classifier whose labels are named as those of the data, where they are numbers."""
    names = data.corpus.label_names
    if labels is None and data.are_numbers:
        # Numbers on both sides, and names for those of the data: the numbers are the same.
        codes = [getattr(each, "item", lambda own=each: own)() for each in _classes(classifier)]
        are_codes = all(isinstance(code, int) and 0 <= code < len(names) for code in codes)
        if codes and are_codes and not set(map(str, codes)) <= set(names):
            labels = [names[code] for code in codes]
    if labels is None and len(names) < 2 and is_function(classifier):
        raise InputError(
            f"all gold labels are {', '.join(map(show_value, names))}, so what else the function "
            "may answer is not known; name all labels (label_names=, or labels= in the order of "
            "the function's numbers)",
            path=data.corpus.source,
            column=data.label_column,
        )
    known = names if labels is None else None
    return as_classifier(classifier, labels=labels, data_labels=known, **options)


@contextlib.contextmanager
def show_bar() -> Iterator[dict[str, Any]]:
    """Give ``on_start`` and ``on_batch`` of a bar on a terminal; nothing where there is none."""
    with show_progress() as progress:
        counter = progress.count("Asking the classifier, inputs")
        yield {"on_start": counter.start, "on_batch": counter.advance}


def _classes(classifier: Any) -> list[Any]:
    return list(getattr(classifier, "classes_", ()))


def _choose(phi: Any, *, has_default: bool) -> list[Any]:
    several = isinstance(phi, Sequence) and not isinstance(phi, str)
    chosen: list[Any] = list(phi) if several else [] if phi is None else [phi]
    if several and not chosen and has_default:
        raise InputError("phi names no transformation")
    return chosen or [DEFAULT_PHI] * has_default


def learn_source(learn_from: Any, data: LabelledTable) -> Any:
    """Return texts that transformations can learn from: of a file, or of a table of any kind."""
    from ietest_fast.transform.files import text_source

    if isinstance(learn_from, str | Path):
        from ietest_fast.corpus import read_corpus

        return read_corpus(learn_from)
    return text_source(learn_from, data.text_columns or None)
