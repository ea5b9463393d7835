"""How alike a finished classifier answers the wordings of the same items."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ietest_fast.analyses.consistency.buckets import Buckets, buckets_from_table, read_buckets
from ietest_fast.analyses.consistency.file import (
    ConsistencyAnswers,
    ConsistencyNotes,
    as_answers,
    need_wordings,
    with_columns,
    without_mixed,
)
from ietest_fast.analyses.consistency.joining import (
    SOURCE,
    answer_buckets,
    join_answers_of_sources,
    join_buckets,
)
from ietest_fast.analyses.consistency.making import choose_reworded_columns, make_buckets
from ietest_fast.analyses.consistency.noting import (
    check_groups,
    check_measures,
    measures_of,
    note_parts,
)
from ietest_fast.analyses.consistency.paranlu import paranlu_kind, read_paranlu_buckets
from ietest_fast.analyses.consistency.profile import measure_wordings, weigh_by_test_sets
from ietest_fast.analyses.difficulty.file import DIFFICULTY, check_marked
from ietest_fast.answers.file import plain_name, write_answers
from ietest_fast.answers.table import ORIGINAL, Predictions
from ietest_fast.api.data import LabelledTable, as_labelled, with_labels
from ietest_fast.api.evaluating import learn_source, make_classifier, show_bar
from ietest_fast.corpus.batch_writer import check_target
from ietest_fast.corpus.columns import find_label_column, find_text_columns
from ietest_fast.corpus.formats import check_readable
from ietest_fast.corpus.reasoning import task_of_file
from ietest_fast.errors import InputError
from ietest_fast.frames import to_arrow
from ietest_fast.stats.outcomes import DEFAULT_N_RESAMPLES
from ietest_fast.transform.files import check_distinct

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ietest_fast.analyses.consistency.profile import ConsistencyProfile
    from ietest_fast.models import TextClassifier
    from ietest_fast.models.asking import AnswerCache
    from ietest_fast.models.classifiers import Inputs, Unparsed
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


def check_out(target: Path, read: Sequence[Any]) -> Path:
    """Find out before the work whether its result can be written, and over what."""
    check_target(target)
    if target.suffix != ".parquet":
        raise InputError("out is a Parquet file, whose name ends in .parquet", path=target)
    for file in read:
        if isinstance(file, str | Path):
            check_distinct(Path(file), target)
    return target


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
        if paranlu_kind(data) in {"paraphrases", "results"}:
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


def join_tables(sources: Mapping[str, Any], **reading: Any) -> tuple[Buckets, LabelledTable]:
    """Take paraphrases from several sources, as :func:`take_buckets` does, and join them."""
    names = [name for name in reading.pop("keep_columns") if name != SOURCE]
    taken = {
        name: take_buckets(own, keep_columns=names, **reading) for name, own in sources.items()
    }
    joined = join_buckets({name: buckets for name, (buckets, _) in taken.items()})
    first = next(iter(taken.values()))[1]
    return joined, replace(first, corpus=joined.as_corpus())


def take_buckets(
    data: Any,
    *,
    item_column: str | None,
    version_column: str | None,
    drop_mixed: bool,
    keep_columns: Sequence[str],
    text_columns: Sequence[str] | None,
    label_column: str | None,
    label_names: Sequence[str] | None,
) -> tuple[Buckets, LabelledTable]:
    """Take paraphrases of any kind, with the table that they were made of."""
    if isinstance(data, Buckets):
        return data, LabelledTable(corpus=data.as_corpus())
    named: dict[str, Any] = {
        "item_column": item_column or "item",
        "version_column": version_column,
        "drop_mixed": drop_mixed,
        "keep_columns": tuple(keep_columns),
        "label_names": label_names,
    }
    if isinstance(data, str | Path):
        if paranlu_kind(data) in {"paraphrases", "results"}:
            found = read_paranlu_buckets(data)
        else:
            found = read_buckets(
                data, text_columns=text_columns, label_column=label_column, **named
            )
        return found, LabelledTable(corpus=found.as_corpus())
    table = to_arrow(data, source="data")
    if label_column is None:
        label_column = find_label_column("data", table.column_names)
    names = tuple(text_columns or find_text_columns("data", table.column_names)[0])
    found = buckets_from_table(
        table, text_columns=names, label_column=label_column, source="data", **named
    )
    return found, LabelledTable(
        corpus=found.as_corpus(), table=table, text_columns=names, label_column=label_column
    )


def make_of_labelled(
    data: Any,
    phi: Any,
    *,
    draws: int | None,
    share: float | None,
    seed: int,
    item_column: str | None,
    keep_columns: Sequence[str],
    seen: Sequence[str] | None,
    reword: Sequence[str] | None,
    learn_from: Any,
    n_threads: int | None,
    **reading: Any,
) -> tuple[Buckets, LabelledTable]:
    """Make paraphrases of labelled texts of any kind, with the table of these."""
    wanted = [*([] if item_column is None else [item_column]), *keep_columns]
    named = any(reading[name] is not None for name in ("text_columns", "label_column"))
    if isinstance(data, str | Path) and not named:
        task = task_of_file(data)
        wanted += () if task is None else task.parts
    found = as_labelled(data, keep_columns=list(dict.fromkeys(wanted)), source="data", **reading)
    buckets = make_buckets(
        found.corpus,
        phi,
        draws=draws,
        share=0.5 if share is None else share,
        seed=seed,
        item_column=item_column,
        columns=choose_reworded_columns(found.corpus, seen=seen, reworded=reword),
        learn_from=() if learn_from is None else (learn_source(learn_from, found),),
        n_threads=n_threads,
    )
    return buckets, found


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
        write_answers(with_columns(answers, clusters=clusters, subset=subset), target)
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
    told = ConsistencyNotes.of(buckets, answered, clusters=clusters, subset=subset)
    return ConsistencyAnswers(predictions=answered.predictions, notes=told)
