"""A finished model on the paraphrases of a file, or on those made of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ietest_fast.cli.models import read_label_map
from ietest_fast.cli.options import check_not_given, split_names
from ietest_fast.report.progress import show_progress

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ietest_fast.analyses.consistency.buckets import Buckets
    from ietest_fast.analyses.consistency.file import ConsistencyAnswers
    from ietest_fast.answers.asking import Evaluation
    from ietest_fast.corpus.reasoning import ReasoningTask
    from ietest_fast.models import TextClassifier


def run_model(
    model: TextClassifier, test: Path, options: Mapping[str, Any]
) -> tuple[ConsistencyAnswers, Evaluation]:
    """Read or make the paraphrases, and let the model answer them."""
    from ietest_fast.analyses.consistency.file import ConsistencyAnswers, ConsistencyRun
    from ietest_fast.analyses.consistency.joining import answer_buckets
    from ietest_fast.models.label_map import match_labels

    wanted = [*options["keep_columns"], options["clusters"], options["subset"]]
    kept = list(dict.fromkeys(name for name in wanted if name not in {None, "item", "version"}))
    if options["sources"]:
        from ietest_fast.analyses.consistency.joining import SOURCE, join_buckets

        own = [name for name in kept if name != SOURCE]
        kept = list(dict.fromkeys([*kept, SOURCE]))
        buckets = join_buckets(
            {name: _find_buckets(path, own, model, options) for name, path in options["sources"]},
            drop_mixed=options["drop_mixed"],
        )
    else:
        buckets = _find_buckets(test, kept, model, options)
    label_map = read_label_map(options)
    match_labels(model.labels, buckets.label_names, label_map=label_map)
    with show_progress() as progress:
        bar = progress.count("Running the model, inputs")
        found = answer_buckets(
            model,
            buckets,
            label_map=label_map,
            text_columns=None if options["input"] is None else (options["input"],),
            keep_columns=kept,
            on_start=bar.start,
            on_batch=bar.advance,
        )
    run = ConsistencyRun.of(buckets, found, clusters=options["clusters"], subset=options["subset"])
    return ConsistencyAnswers(predictions=found.predictions, run=run), found


def _find_buckets(
    test: Path, kept: Sequence[str], model: TextClassifier, options: Mapping[str, Any]
) -> Buckets:
    """Read the paraphrases of a file, or make those of a labelled one."""
    from ietest_fast.analyses.consistency.paranlu import paranlu_kind, read_paranlu_buckets
    from ietest_fast.analyses.difficulty.file import DIFFICULTY, check_marked
    from ietest_fast.corpus.formats import check_readable
    from ietest_fast.corpus.reasoning import task_of_file

    check_readable(test)
    if options["subset"] == DIFFICULTY:
        check_marked(test)
    if paranlu_kind(test) in {"paraphrases", "results"}:
        check_not_given("phi", because="is for a labelled file; this one holds paraphrases already")
        check_not_given(
            "item-column",
            "version-column",
            "text-columns",
            "drop-mixed",
            because="is for a table of paraphrases; this file is ParaNLU's",
        )
        return read_paranlu_buckets(test)
    texts = split_names(options["text_columns"])
    task = None if texts is not None else task_of_file(test)
    if options["phis"]:
        return _make_buckets(test, kept, texts=texts, task=task, model=model, options=options)
    return _read_buckets(test, kept, texts=texts, task=task, options=options)


def _make_buckets(
    test: Path,
    kept: Sequence[str],
    *,
    texts: Sequence[str] | None,
    task: ReasoningTask | None,
    model: TextClassifier,
    options: Mapping[str, Any],
) -> Buckets:
    """Make the paraphrases of a labelled file."""
    from ietest_fast.analyses.consistency.making import choose_reworded_columns, make_buckets
    from ietest_fast.corpus import read_corpus
    from ietest_fast.models.label_map import match_labels
    from ietest_fast.transform.phi import parse_phi

    phis = [parse_phi(text, folder=Path.cwd()) for text in options["phis"]]
    item = options["item_column"]
    wanted = [*([] if item is None else [item]), *kept, *(() if task is None else task.parts)]
    corpus = read_corpus(
        test,
        text_columns=texts,
        keep_columns=list(dict.fromkeys(wanted)),
        labels_file=options["labels_file"],
    )
    label_map = read_label_map(options)
    # Before texts are transformed, which takes longer.
    match_labels(model.labels, corpus.label_names, label_map=label_map)
    seen = None if options["input"] is None else (options["input"],)
    own_texts = corpus.text_columns if task is None else None
    return make_buckets(
        corpus,
        phis,
        draws=options["draws"],
        share=options["share"] or 0.5,
        seed=options["seed"],
        item_column=item,
        columns=choose_reworded_columns(corpus, seen=seen, reworded=options["reword"]),
        learn_from=[read_corpus(file, text_columns=own_texts) for file in options["lexicon_from"]],
        n_threads=options["n_threads"],
    )


def _read_buckets(
    test: Path,
    kept: Sequence[str],
    *,
    texts: Sequence[str] | None,
    task: ReasoningTask | None,
    options: Mapping[str, Any],
) -> Buckets:
    """Read a file of paraphrases."""
    from ietest_fast.analyses.consistency.buckets import read_buckets
    from ietest_fast.corpus.formats import column_names, find_format
    from ietest_fast.errors import InputError

    item = options["item_column"] or "item"
    if task is not None and item not in column_names(test, find_format(test)):
        raise InputError(
            f"holds {task.name}, and no column {item!r} that says which rows are wordings of the "
            "same item; make paraphrases of it by --phi, or name the column by --item-column",
            path=test,
        )
    return read_buckets(
        test,
        item_column=item,
        version_column=options["version_column"],
        keep_columns=kept,
        drop_mixed=options["drop_mixed"],
        text_columns=texts,
    )
