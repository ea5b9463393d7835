"""How alike a finished classifier answers the wordings of the same items."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ietest_fast.analyses.consistency.file import (
    ConsistencyAnswers,
    ConsistencyRun,
    write_wordings,
)
from ietest_fast.analyses.consistency.joining import SOURCE, answer_buckets, join_answers_of_sources
from ietest_fast.analyses.consistency.measure import measure_wordings, weigh_by_test_sets
from ietest_fast.analyses.consistency.noting import note_parts
from ietest_fast.analyses.consistency.reading import without_mixed
from ietest_fast.analyses.difficulty.file import DIFFICULTY, check_marked
from ietest_fast.api.data import with_labels
from ietest_fast.api.evaluating import make_classifier, show_bar
from ietest_fast.api.rewording_answers import check_out, name_partial, take_answers
from ietest_fast.api.rewording_data import (
    check_arguments,
    check_parts,
    check_sources,
    join_tables,
    make_of_labelled,
    take_buckets,
)
from ietest_fast.errors import InputError
from ietest_fast.stats.outcomes import DEFAULT_N_RESAMPLES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ietest_fast.analyses.consistency.buckets import Buckets
    from ietest_fast.analyses.consistency.profile import ConsistencyProfile
    from ietest_fast.models import TextClassifier
    from ietest_fast.models.asking import AnswerCache
    from ietest_fast.models.classifiers import Inputs, Unparsed
    from ietest_fast.stats.consistency.intervals import BootstrapMethod
    from ietest_fast.stats.inputs import Rng


def consistency(
    classifier: Any = None,
    data: Any = None,
    *,
    sources: Mapping[str, Any] | None = None,
    phi: Any = None,
    draws: int | None = None,
    share: float | None = None,
    seed: int = 0,
    reword: str | Sequence[str] | None = None,
    item_column: str | None = None,
    version_column: str | None = None,
    drop_mixed: bool = False,
    test_set: Any = None,
    n_strata: int | None = None,
    subset: str | None = None,
    by_diversity: str | Sequence[str] = (),
    diversity_groups: int | None = None,
    partial_input: Any = None,
    clusters: str | None = None,
    text_columns: str | Sequence[str] | None = None,
    label_column: str | None = None,
    label_names: Sequence[str] | None = None,
    keep_columns: Sequence[str] = (),
    learn_from: Any = None,
    labels: Sequence[str] | None = None,
    label_map: Mapping[str, str] | None = None,
    inputs: Inputs | None = None,
    input_columns: str | Sequence[str] | None = None,
    batch_size: int | None = None,
    cache: str | Path | AnswerCache | None = None,
    unparsed: Unparsed = "error",
    threshold: float | None = None,
    out: str | Path | None = None,
    confidence_level: float = 0.95,
    method: BootstrapMethod = "exact",
    n_resamples: int | None = None,
    rng: Rng = 0,
    n_threads: int | None = None,
) -> ConsistencyProfile:
    """Measure how alike a finished classifier answers paraphrases of the same items.

    These are the measures of Srikanth et al. (2024). The classifier answers each distinct input
    once.

    Parameters
    ----------
    classifier
        Anything that classifies, as for ``ie.evaluate``. Without `data`, the answers of one
        classifier: predictions, a file or a table of them, or ParaNLU's published results. None if
        `sources` are answers.
    data
        Paraphrases: a table of any kind or a file, with a row for each wording and a column of
        items; or a file of ParaNLU's paraphrases; or :class:`ietest_fast.analyses.Buckets`. With
        `phi`, labelled texts as for ``ie.evaluate``.
    sources
        Instead of `data`: paraphrases of the same items from several sources, by their names, such
        as ``{"human": ..., "automatic": ...}``, each as `data`. Without a classifier, the answers
        of one to them, each as for `classifier`. They are joined: originals count once. `subset`
        is then ``source`` if None.
    phi
        Makes the paraphrases: one transformation, or a list of them, each as for ``ie.transform``.
        They must keep labels.
    draws, share, seed
        As for :func:`ietest_fast.analyses.make_buckets`: how many random draws of `phi`, the
        probability of each possible edit (0.5 if None), and the seed.
    reword
        Columns that `phi` rewords; None: all that the classifier sees, of α-NLI ``hyp1`` and
        ``hyp2``, of δ-NLI ``update``. These two need their single texts: pass the name of the
        file, or a corpus that has kept them.
    item_column
        Which item a row is a wording of; ``item`` if None. With `phi`, the name of each row; its
        number if None.
    version_column
        What the wordings are called, the original ``original``. None: ``version`` if there is such
        a column; otherwise the first row of an item is its original.
    drop_mixed
        Whether to leave out, and count, items whose wordings have different gold labels. They are
        an error otherwise.
    test_set
        The same classifier's answers to the full test set, with probabilities: predictions, a file
        or a table. Its accuracy and P_C are then estimated, too.
    n_strata
        Of `test_set`: strata of confidence; ten if None.
    subset
        A column by whose values consistency is also measured: of items, or of their paraphrases.
    by_diversity
        Measures of how far paraphrases are from their originals, by which consistency is also
        measured: ``lexical-distance``, ``jaccard``, ``character-overlap``, ``bleu``,
        ``length-ratio``, ``tag-distance``, ``relation-distance``.
    diversity_groups
        Of `by_diversity`: groups of about as many items; four if None.
    partial_input
        Answers of a classifier that saw a part of the input, to the same items: predictions, a
        file or a table. Consistency is also measured on the items that it gets right, and on those
        that it gets wrong.
    clusters
        A column whose equal values belong together: the bootstrap then draws whole clusters.
    text_columns, label_column, label_names
        As for :func:`ietest_fast.corpus.read_corpus`; found by their names where None. With
        `by_diversity`, `text_columns` are also those of answers.
    keep_columns
        Further columns of `data` that the predictions get.
    learn_from
        A table of any kind, or a corpus, that `phi` learns from; None: `data`.
    labels, inputs, batch_size
        Of the classifier: see :func:`ietest_fast.models.as_classifier`.
    cache, unparsed, threshold
        As for ``ie.evaluate``; ``unparsed="drop"`` leaves items out with all their wordings.
    label_map
        The data's name of each of the classifier's labels, where names do not say it.
    input_columns
        Columns that the classifier sees; None for all columns of texts.
    out
        Write all answers to this Parquet file, for ``ietest-fast report`` and ``ietest-fast
        consistency``.
    confidence_level, method, n_resamples, rng
        Of intervals: as for :func:`ietest_fast.stats.measure_consistency`.
    n_threads
        Threads of transformations and intervals; None for all cores. Makes no difference to the
        result.

    Returns
    -------
    ConsistencyProfile
        Prints itself; ``profile["p_c"]`` is one estimate, ``profile.compare(other)`` compares two
        classifiers.

    Raises
    ------
    InputError
        If an argument would be ignored, such as `draws` without `phi`, or `phi` without `data`;
        if something does not fit: columns, labels, wordings without an item, two wordings of the
        same name, different gold labels of an item, confidences that are none, no paraphrase; and
        if `out` is a file that is read.
    ResourceError
        If `out` cannot be written.
    """
    given = dict(sources or {})
    if sources is not None:
        check_sources(given, classifier, data, phi)
        subset = subset or SOURCE
    are_answers = classifier is None if given else data is None
    measures = _listed(by_diversity) or ()
    check_parts(measures, diversity_groups)
    read = (classifier if data is None else None, data, test_set, learn_from, partial_input)
    target = None if out is None else check_out(Path(out), (*read, *given.values()))
    if n_strata is not None and test_set is None:
        raise InputError("n_strata needs test_set")
    partial = None if partial_input is None else take_answers(partial_input, "partial_input")
    reading: dict[str, Any] = {
        "text_columns": _listed(text_columns),
        "label_column": label_column,
        "label_names": label_names,
    }
    making: dict[str, Any] = {
        "draws": draws,
        "share": share,
        "reword": _listed(reword),
        "learn_from": learn_from,
    }
    asking: dict[str, Any] = {"labels": labels, "inputs": inputs}
    seen = _listed(input_columns)
    told = {
        **reading,
        **making,
        **asking,
        "phi": phi,
        "item_column": item_column,
        "version_column": version_column,
        "drop_mixed": drop_mixed,
        "keep_columns": tuple(keep_columns),
        "label_map": label_map,
        "input_columns": seen,
        "batch_size": batch_size,
        "cache": cache,
        "unparsed": None if unparsed == "error" else unparsed,
        "threshold": threshold,
    }
    if are_answers:
        # Their texts are those whose diversity is measured.
        check_arguments(None, told | ({"text_columns": None} if measures else {}))
        answers = _take(classifier, given)
        answers = without_mixed(answers) if drop_mixed else answers
    else:
        for own in given.values() if given else (data,):
            check_arguments(own, told)
            if subset == DIFFICULTY:
                check_marked(own)
        wanted = dict.fromkeys((*keep_columns, clusters, subset))
        kept = [name for name in wanted if name is not None and name not in {"item", "version"}]
        reading |= {"item_column": item_column, "keep_columns": kept}
        if phi is None:
            taking = {"version_column": version_column, "drop_mixed": drop_mixed, **reading}
            if given:
                buckets, found = join_tables(given, **taking)
                kept = list(dict.fromkeys([*kept, SOURCE]))
            else:
                buckets, found = take_buckets(data, **taking)
        else:
            buckets, found = make_of_labelled(
                data, phi, seed=seed, seen=seen, n_threads=n_threads, **making, **reading
            )
        model = make_classifier(
            classifier,
            found,
            batch_size=batch_size,
            cache=cache,
            unparsed=unparsed,
            threshold=threshold,
            **asking,
        )
        run = {
            "label_map": label_map,
            "text_columns": seen,
            "keep_columns": kept,
            "unparsed": unparsed,
        }
        answers = _answer(model, buckets, run, clusters=clusters, subset=subset)
    (answers,) = note_parts(
        [answers],
        by_diversity=measures,
        diversity_groups=diversity_groups,
        text_columns=reading["text_columns"] if are_answers else None,
        partial_input=None if partial is None else partial.predictions,
        partial_name="" if partial is None else name_partial(partial.predictions),
        n_threads=n_threads,
    )
    if test_set is not None:
        full = take_answers(test_set, "test_set").predictions
        (answers,) = weigh_by_test_sets([answers], [full], n_strata=n_strata)
    (profile,) = measure_wordings(
        [answers],
        clusters=clusters,
        subset=subset,
        confidence_level=confidence_level,
        method=method,
        n_resamples=DEFAULT_N_RESAMPLES if n_resamples is None else n_resamples,
        rng=rng,
        n_threads=n_threads,
    )
    if target is not None:
        write_wordings(answers.told(clusters, subset), target)
    return profile


def _take(classifier: Any, sources: Mapping[str, Any]) -> ConsistencyAnswers:
    """Take the answers of one classifier, from one place or from several sources."""
    if not sources:
        return take_answers(classifier, "classifier")
    return join_answers_of_sources(
        {name: take_answers(own, f"sources[{name!r}]") for name, own in sources.items()}
    )


def _listed(names: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the names of columns as a tuple; None stays."""
    if names is None:
        return None
    return (names,) if isinstance(names, str) else tuple(names)


def _answer(
    model: TextClassifier,
    buckets: Buckets,
    run: Mapping[str, Any],
    *,
    clusters: str | None,
    subset: str | None,
) -> ConsistencyAnswers:
    """Let the classifier answer, whose labels are all numbered if it knows more of them."""
    if run["label_map"] is None:
        numbered = with_labels(buckets.as_corpus(), model.labels)
        buckets = replace(buckets, table=numbered.table, label_names=numbered.label_names)
    with show_bar() as bar:
        answered = answer_buckets(model, buckets, **run, **bar)
    told = ConsistencyRun.of(buckets, answered, clusters=clusters, subset=subset)
    return ConsistencyAnswers(predictions=answered.predictions, run=told)
