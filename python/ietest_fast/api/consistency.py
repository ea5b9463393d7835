"""How alike a finished classifier answers the wordings of the same items."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ietest_fast.analyses.consistency.asking import (
    ask,
    is_paranlu,
    join_answers_of_sources,
    join_buckets,
    list_needed,
    make_paraphrases,
    measure,
    read_paraphrases,
)
from ietest_fast.analyses.consistency.buckets import Buckets, buckets_from_table
from ietest_fast.analyses.consistency.file import (
    ConsistencyAnswers,
    as_answers,
    need_wordings,
    without_mixed,
)
from ietest_fast.analyses.consistency.noting import (
    SOURCE,
    ConsistencyOptions,
    check_groups,
    check_measures,
    measures_of,
)
from ietest_fast.analyses.difficulty.file import DIFFICULTY, check_marked
from ietest_fast.answers.file import plain_name
from ietest_fast.answers.table import ORIGINAL, Predictions
from ietest_fast.api.evaluating import (
    LabelledTable,
    as_labelled,
    check_answers_file,
    learn_source,
    list_names,
    make_classifier,
    show_bar,
    with_labels,
)
from ietest_fast.corpus.columns import find_label_column, find_text_columns
from ietest_fast.corpus.formats import check_readable
from ietest_fast.corpus.reasoning import task_of_file
from ietest_fast.errors import InputError
from ietest_fast.frames import to_arrow
from ietest_fast.stats.outcomes import DEFAULT_N_RESAMPLES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ietest_fast.analyses.consistency.profile import ConsistencyProfile
    from ietest_fast.models import TextClassifier
    from ietest_fast.models.classifiers import AnswerCache, Inputs, Unparsed
    from ietest_fast.stats.consistency.intervals import BootstrapMethod
    from ietest_fast.stats.inputs import Rng


# Answers to wordings that a caller has: predictions, files, or tables of any kind.


def take_answers(given: Any, name: str) -> ConsistencyAnswers:
    """Take the answers of one classifier, or read them."""
    if isinstance(given, Predictions):
        found = as_answers(given)
    elif isinstance(given, str | Path):
        found = need_wordings(given)
    else:
        try:
            table = to_arrow(given, source=name)
        except InputError as error:
            raise InputError(
                f"{name} must be predictions, a file or a table of them, not "
                f"{type(given).__name__!r}; a classifier needs data to answer"
            ) from error
        found = as_answers(Predictions.from_table(table, source=name))
    n = len(found.predictions.groups)
    if n > 1:
        raise InputError(
            f"holds answers of {n} classifiers; select one, as in predictions.select(model=...)",
            path=found.predictions.source,
        )
    return found


def name_partial(partial: Predictions) -> str:
    """Return what a classifier that saw a part of the input is called: its file, as a rule."""
    known = Path(partial.source).is_file()
    return plain_name(Path(partial.source)) if known else "partial_input"


# The paraphrases that a caller has, or has made; and arguments that do not go together.

_OF_TABLES = (
    "item_column",
    "version_column",
    "drop_mixed",
    "text_columns",
    "label_column",
    "label_names",
)
_OF_PHI = ("draws", "share", "reword", "learn_from")
_OF_DATA = (
    "phi",
    *_OF_PHI,
    *(name for name in _OF_TABLES if name != "drop_mixed"),
    "keep_columns",
    "labels",
    "label_map",
    "inputs",
    "input_columns",
    "batch_size",
    "cache",
    "unparsed",
    "threshold",
)


def check_arguments(data: Any, given: Mapping[str, Any]) -> None:
    """Refuse arguments of ``ie.consistency`` that would be ignored."""

    def refuse(names: Sequence[str], because: str) -> None:
        for name in names:
            value = given[name]
            if not (value is None or value is False or (isinstance(value, tuple) and not value)):
                raise InputError(f"{name} {because}")

    if data is None:
        refuse(_OF_DATA, "is for a classifier that answers data; this is a log of answers")
        return
    if isinstance(data, Buckets):
        refuse(("phi", *_OF_TABLES), "is for a table or a file; these are Buckets already")
    elif isinstance(data, str | Path):
        check_readable(Path(data))
        if is_paranlu(data):
            refuse(("phi",), "is for labelled texts; this file holds paraphrases already")
            refuse(_OF_TABLES, "is for a table of paraphrases; this file is ParaNLU's")
    if given["phi"] is None:
        refuse(_OF_PHI, "needs phi")
        return
    refuse(("version_column",), "is for a table of paraphrases; phi makes them")
    refuse(("drop_mixed",), "is for a table of paraphrases; phi keeps labels")
    if given["draws"] is None:
        refuse(("share",), "needs draws")


def check_sources(sources: Mapping[str, Any], classifier: Any, data: Any, phi: Any) -> None:
    """Refuse sources beside other data or answers, too few of them, and names that are none."""
    if data is not None:
        raise InputError("sources takes the place of data; give one of them")
    if phi is not None:
        raise InputError("phi makes paraphrases, and sources has them; give one of them")
    if isinstance(classifier, Predictions):
        raise InputError("sources takes the place of predictions; leave the classifier out")
    for name in sources:
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"sources has the name {name!r}; names of sources are texts")
        if name == ORIGINAL:
            raise InputError(
                f"sources has the name {ORIGINAL!r}, which is what originals are called"
            )
    if len(sources) < 2:
        raise InputError("sources needs two sources or more, with different names")


def check_parts(by_diversity: Sequence[str], diversity_groups: int | None) -> None:
    """Refuse measures of diversity, and groups, that are none."""
    try:
        check_measures(measures_of(by_diversity))
    except InputError as error:
        raise InputError(f"by_diversity: {error}") from error
    if diversity_groups is None:
        return
    if not by_diversity:
        raise InputError("diversity_groups needs by_diversity")
    try:
        check_groups(diversity_groups)
    except InputError as error:
        raise InputError(f"diversity_groups: {error}") from error


def join_tables(
    sources: Mapping[str, Any], options: ConsistencyOptions
) -> tuple[Buckets, LabelledTable]:
    """Take paraphrases from several sources, as :func:`take_buckets` does, and join them."""
    taken = {name: take_buckets(own, options) for name, own in sources.items()}
    parts = {name: buckets for name, (buckets, _) in taken.items()}
    joined = join_buckets(parts, drop_mixed=options.drop_mixed)
    first = next(iter(taken.values()))[1]
    return joined, replace(first, corpus=joined.as_corpus())


def take_buckets(data: Any, options: ConsistencyOptions) -> tuple[Buckets, LabelledTable]:
    """Take paraphrases of any kind, with the table that they were made of."""
    if isinstance(data, Buckets):
        return data, LabelledTable(corpus=data.as_corpus())
    if isinstance(data, str | Path):
        found = read_paraphrases(data, options)
        return found, LabelledTable(corpus=found.as_corpus())
    table = to_arrow(data, source="data")
    label_column = options.label_column
    if label_column is None:
        label_column = find_label_column("data", table.column_names)
    names = tuple(options.text_columns or find_text_columns("data", table.column_names)[0])
    found = buckets_from_table(
        table, text_columns=names, label_column=label_column, source="data", **options.reading
    )
    return found, LabelledTable(
        corpus=found.as_corpus(), table=table, text_columns=names, label_column=label_column
    )


def make_of_labelled(
    data: Any, options: ConsistencyOptions, learn_from: Any
) -> tuple[Buckets, LabelledTable]:
    """Make paraphrases of labelled texts of any kind, with the table of these."""
    is_plain = options.text_columns is None and options.label_column is None
    task = task_of_file(data) if isinstance(data, str | Path) and is_plain else None
    found = as_labelled(
        data,
        text_columns=options.text_columns,
        label_column=options.label_column,
        label_names=options.label_names,
        keep_columns=list_needed(options, task),
        source="data",
    )
    learned = () if learn_from is None else (learn_source(learn_from, found),)
    return make_paraphrases(found.corpus, options, learned), found


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
    labels, label_map, inputs, input_columns, batch_size, cache, unparsed, threshold
        As for ``ie.evaluate``; ``unparsed="drop"`` leaves items out with all their wordings.
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
    measures = list_names(by_diversity) or ()
    check_parts(measures, diversity_groups)
    read = (classifier if data is None else None, data, test_set, learn_from, partial_input)
    target = check_answers_file(out, (*read, *given.values()))
    if n_strata is not None and test_set is None:
        raise InputError("n_strata needs test_set")
    partial = None if partial_input is None else take_answers(partial_input, "partial_input")
    texts = list_names(text_columns)
    options = ConsistencyOptions(
        phi=phi,
        draws=draws,
        share=share,
        seed=seed,
        reword=list_names(reword),
        item_column=item_column,
        version_column=version_column,
        drop_mixed=drop_mixed,
        # Of answers, texts are those whose diversity is measured.
        text_columns=None if are_answers and measures else texts,
        label_column=label_column,
        label_names=list_names(label_names),
        keep_columns=tuple(keep_columns),
        from_sources=bool(given),
        input_columns=list_names(input_columns),
        label_map=label_map,
        unparsed=unparsed,
        subset=subset,
        clusters=clusters,
        by_diversity=measures,
        diversity_groups=diversity_groups,
        answered_columns=texts if are_answers else None,
        partial_input=None if partial is None else partial.predictions,
        partial_name="" if partial is None else name_partial(partial.predictions),
        test_sets=() if test_set is None else (take_answers(test_set, "test_set").predictions,),
        n_strata=n_strata,
        confidence_level=confidence_level,
        method=method,
        n_resamples=DEFAULT_N_RESAMPLES if n_resamples is None else n_resamples,
        rng=rng,
        n_threads=n_threads,
    )
    asking: dict[str, Any] = {
        "labels": labels,
        "inputs": inputs,
        "batch_size": batch_size,
        "cache": cache,
        "unparsed": unparsed,
        "threshold": threshold,
    }
    told = {**vars(options), **asking, "learn_from": learn_from}
    told["unparsed"] = None if unparsed == "error" else unparsed
    for own in given.values() if given and not are_answers else (data,):
        check_arguments(own, told)
    if are_answers:
        answers = _take(classifier, given)
        answers = without_mixed(answers) if drop_mixed else answers
    else:
        buckets, found = _find_buckets(data, given, options, learn_from)
        model = make_classifier(classifier, found, **asking)
        answers = _answer(model, buckets, options)
    measured = measure([answers], options)
    if target is not None:
        measured.write(target, options)
    return measured.profiles[0]


def _find_buckets(
    data: Any, sources: Mapping[str, Any], options: ConsistencyOptions, learn_from: Any
) -> tuple[Buckets, LabelledTable]:
    """Take paraphrases, or make them of labelled texts; refuse marks of other texts before."""
    if options.subset == DIFFICULTY:
        for own in sources.values() if sources else (data,):
            check_marked(own)
    if options.phi is not None:
        return make_of_labelled(data, options, learn_from)
    return join_tables(sources, options) if sources else take_buckets(data, options)


def _take(classifier: Any, sources: Mapping[str, Any]) -> ConsistencyAnswers:
    """Take the answers of one classifier, from one place or from several sources."""
    if not sources:
        return take_answers(classifier, "classifier")
    return join_answers_of_sources(
        {name: take_answers(own, f"sources[{name!r}]") for name, own in sources.items()}
    )


def _answer(
    model: TextClassifier, buckets: Buckets, options: ConsistencyOptions
) -> ConsistencyAnswers:
    """Let the classifier answer, whose labels are all numbered if it knows more of them."""
    if options.label_map is None:
        numbered = with_labels(buckets.as_corpus(), model.labels)
        buckets = replace(buckets, table=numbered.table, label_names=numbered.label_names)
    with show_bar() as bar:
        return ask(model, buckets, options, **bar)[0]
