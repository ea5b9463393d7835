"""``ietest-fast consistency``: how alike a finished model answers paraphrases of the same items."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ietest_fast.cli.comparing import OF_LOGS, log_options, read
from ietest_fast.cli.options import (
    FILE,
    MOST_RESAMPLES,
    NAMES,
    OF_MODELS,
    OpenShare,
    bundle,
    check_not_given,
    check_only_given,
    check_out,
    csv_option,
    describe_run,
    details_option,
    load_model,
    model_options,
    need_one,
    read_label_map,
    resampling,
    runs_model,
    say_run,
    split_names,
    threads_option,
)
from ietest_fast.errors import InputError
from ietest_fast.report.progress import show_progress
from ietest_fast.report.terminal import echo, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ietest_fast.analyses.consistency.asking import Consistency
    from ietest_fast.analyses.consistency.buckets import Buckets
    from ietest_fast.analyses.consistency.file import ConsistencyAnswers, ParsedAmounts
    from ietest_fast.analyses.consistency.noting import ConsistencyOptions
    from ietest_fast.answers.asking import ModelAnswers
    from ietest_fast.answers.table import Predictions
    from ietest_fast.corpus.reasoning import ReasoningTask
    from ietest_fast.models import TextClassifier


#: What the folder of a run is measured with; all other options are for logs.
_OF_RUNS = ("intervals", "n-resamples", "seed", "threads", "confidence-level", "json")


amount_options = bundle(
    click.option(
        "--amounts",
        metavar="N,N,...",
        help="How much data each model has seen, in the order of the LOGs, such as 10M,100M,1B or "
        "1%,10%,100%: also show P_C over it.",
    ),
    click.option(
        "--amount-column", metavar="NAME", help="The same from a column of numbers in the LOGs."
    ),
    click.option(
        "--amounts-of",
        metavar="TEXT",
        help="What the amounts are of, such as `pretraining tokens`.  [default: the name of "
        "--amount-column, or `amount of data`]",
    ),
)
"""How much data models have seen."""


def check_amounts(options: Mapping[str, Any]) -> ParsedAmounts | None:
    """Read the amounts of data; refuse options that do not go together."""
    amounts, column, of = (options[name] for name in ("amounts", "amount_column", "amounts_of"))
    if amounts is not None and column is not None:
        raise click.UsageError("--amounts or --amount-column, not both")
    if amounts is None:
        if column is None and of is not None:
            raise click.UsageError("--amounts-of needs --amounts or --amount-column")
        return None
    from ietest_fast.analyses.consistency.file import parse_amounts

    try:
        return parse_amounts(amounts.split(","))
    except InputError as error:
        raise click.UsageError(f"--amounts: {error}") from error


def is_run(logs: Sequence[str]) -> bool:
    """Whether the logs are the folder of a run; refuse it beside others."""
    folders = [log for log in logs if Path(log).is_dir()]
    runs = [log for log in folders if (Path(log) / "results.json").is_file()]
    if runs and len(logs) > 1:
        raise click.UsageError(f"{runs[0]} is the folder of a run; give it alone")
    return bool(runs)


def consistency_of_run(folder: Path, options: Mapping[str, Any]) -> int:
    """Measure and print the consistency of the classifiers of a run."""
    check_only_given(*_OF_RUNS, because="is for LOGs; this is the folder of a run")
    from ietest_fast.analyses.consistency.charts import amount_tables
    from ietest_fast.experiment.finished import name_models
    from ietest_fast.experiment.results import read_results
    from ietest_fast.experiment.run_consistency import measure_run

    results = read_results(folder)
    method, names = options["intervals"], name_models(results)
    curves = measure_run(results, names=names, method=method, **_resampling(options))
    if options["as_json"]:
        print_json({"curves": [each.to_dict() for each in curves]})
        return 0
    for table in amount_tables(curves, of_runs=True):
        print_table(table)
    return 0


# Options of ``ietest-fast consistency``, and which of them go together.

_OF_MODELS = (
    *OF_MODELS,
    "keep-columns",
    "phi",
    "draws",
    "share",
    "reword",
    "labels-file",
    "lexicon-from",
    "item-column",
    "version-column",
)
"""Names of the options of a model that is run."""


paraphrase_options = bundle(
    click.option(
        "--phi",
        "phis",
        metavar="NAME[:option=value,...]",
        multiple=True,
        help="Make the paraphrases of the labelled test file by this transformation (`ietest-fast "
        "transform --list`). May be repeated.  [default: the test file holds the paraphrases]",
    ),
    click.option(
        "--draws",
        metavar="K",
        type=click.IntRange(min=1),
        help="Make K different random draws of each --phi: each makes some of the possible "
        "edits.  [default: --phi once, with all edits]",
    ),
    click.option(
        "--share",
        type=OpenShare(),
        help="Of --draws: the probability of each possible edit.  [default: 0.5]",
    ),
    click.option(
        "--reword",
        metavar="A[,B,...]",
        type=NAMES,
        help="Columns that --phi rewords.  [default: all that the model sees; of α-NLI hyp1,hyp2; "
        "of δ-NLI update]",
    ),
    click.option(
        "--labels-file",
        metavar="FILE",
        type=FILE,
        help="Of α-NLI: its labels, one a line.  [default: dev-labels.lst beside dev.jsonl]",
    ),
    click.option(
        "--lexicon-from",
        metavar="TRAIN",
        type=FILE,
        multiple=True,
        help="A file that --phi learns from.  [default: the test file]",
    ),
    click.option(
        "--item-column",
        metavar="NAME",
        help="Of the test file: which item a row is a wording of, or with --phi the name of each "
        "row.  [default: item; with --phi the number of the row]",
    ),
    click.option(
        "--version-column",
        metavar="NAME",
        help="Of the test file: what the wordings are called, the original `original`.  [default: "
        "version if there is one; otherwise the first row of an item is its original]",
    ),
)
"""Where the paraphrases of a test file are, or how they are made."""


measure_options = bundle(
    click.option(
        "--test-set",
        "test_sets",
        metavar="LOG",
        type=FILE,
        multiple=True,
        help="Answers of the same model to the full test set, with probabilities: estimate its "
        "accuracy and P_C there. For several models repeat it in their order.",
    ),
    click.option(
        "--strata",
        "n_strata",
        metavar="N",
        type=click.IntRange(1, 10_000),
        help="Of --test-set: strata of confidence.  [default: 10]",
    ),
    click.option(
        "--subset",
        metavar="COLUMN",
        help="Also measure consistency by this column's values: of items (difficulty), or of "
        "their paraphrases (source, version).",
    ),
    click.option(
        "--clusters",
        metavar="COLUMN",
        help="Items with equal values in this column belong together (source text).",
    ),
    click.option(
        "--drop-mixed",
        is_flag=True,
        help="Leave out items whose wordings have different gold labels, and count them.  "
        "[default: an error]",
    ),
)
"""Which items are measured, and by what they are parted."""


interval_options = bundle(
    click.option(
        "--intervals",
        type=click.Choice(["exact", "resample"]),
        default="exact",
        show_default=True,
        help="The limit for many resamples where there is one, or resamples for all.",
    ),
    click.option(
        "--n-resamples",
        "-S",
        type=click.IntRange(1, MOST_RESAMPLES),
        help="S, of the bootstrap over items.  [default: 10,000]",
    ),
    click.option(
        "--seed",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        help="Seed of --draws and of the bootstrap.",
    ),
    threads_option,
    click.option(
        "--confidence-level",
        type=OpenShare(),
        default=0.95,
        show_default=True,
        help="Of all intervals.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print JSON."),
)
"""How intervals are found, and ``--json``."""


def check_together(files: Sequence[Path], options: Mapping[str, Any]) -> None:
    """Refuse options that do not go together, and targets that cannot be."""
    check_not_given(*OF_LOGS, because="is for predictions made elsewhere")
    if options["phis"]:
        check_not_given("version-column", because="is for a file of paraphrases; --phi makes them")
        check_not_given("drop-mixed", because="is for a file of paraphrases; --phi keeps labels")
    else:
        check_not_given("draws", "reword", "labels-file", "lexicon-from", because="needs --phi")
    if options["draws"] is None:
        check_not_given("share", because="needs --draws")
    read = [*files, *options["test_sets"], *options["lexicon_from"]]
    check_out(options["out"], [*read, options["labels_file"], options["partial_input"]])


# Options of ``ietest-fast consistency`` that part items: by diversity, by partial input.

# Stand in ietest_fast.analyses.consistency.noting, too, which is too much to import for --help.
MEASURES = (
    "lexical-distance",
    "jaccard",
    "character-overlap",
    "bleu",
    "length-ratio",
    "tag-distance",
    "relation-distance",
)
MOST_GROUPS = 20


class _Named(click.ParamType[Any]):
    """A source and its file."""

    name = "NAME=FILE"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, Path]:
        """Part the name from the file."""
        if isinstance(value, tuple):
            return value
        name, equals, path = str(value).partition("=")
        if not equals or not name.strip() or not path:
            self.fail(f"{value!r} is not a name and a file, such as human=human.csv", param, ctx)
        if name.strip() == "original":
            said = "'original' is what originals are called; name the source otherwise"
            self.fail(said, param, ctx)
        return name.strip(), Path(path)


part_options = bundle(
    click.option(
        "--source",
        "sources",
        type=_Named(),
        multiple=True,
        help="Instead of --test, or of LOGs: paraphrases of the same items, or answers to them, "
        "from this source. Given several times, such as human=FILE and automatic=FILE, the "
        "sources are joined and compared (--subset source).",
    ),
    click.option(
        "--by-diversity",
        metavar="MEASURE",
        type=click.Choice(MEASURES),
        multiple=True,
        help="Also measure consistency by how far paraphrases are from their originals: "
        f"{', '.join(MEASURES)}. May be repeated; the last two parse the texts.",
    ),
    click.option(
        "--diversity-groups",
        metavar="N",
        type=click.IntRange(2, MOST_GROUPS),
        help="Of --by-diversity: groups of about as many items.  [default: 4]",
    ),
    click.option(
        "--partial-input",
        metavar="LOG",
        type=FILE,
        help="Answers of a model that saw a part of the input, to the same items: also measure "
        "consistency on the items that it gets right, and on those that it gets wrong.",
    ),
)
"""By what items are parted."""


def check_parts(options: Mapping[str, Any]) -> None:
    """Refuse options that do not go together."""
    if not options["by_diversity"]:
        check_not_given("diversity-groups", because="needs --by-diversity")
        if not runs_model(options):
            check_not_given(
                "text-columns", because="is for a model that is run, and for --by-diversity"
            )


def check_sources(logs: Sequence[str], options: Mapping[str, Any]) -> None:
    """Refuse sources beside other files, or too few of them."""
    sources = options["sources"]
    if not sources:
        return
    if logs or options["test"] is not None:
        raise click.UsageError("--source takes the place of --test and of LOGs")
    check_not_given("phi", because="makes paraphrases, and --source has them")
    names = [name for name, _ in sources]
    if len(names) < 2 or len(set(names)) < len(names):
        raise click.UsageError("--source needs two sources or more, with different names")


def read_sources(options: Mapping[str, Any]) -> tuple[ConsistencyAnswers, ...]:
    """Read the answers of a model to paraphrases from several sources, as one table."""
    from ietest_fast.analyses.consistency.asking import join_answers_of_sources
    from ietest_fast.analyses.consistency.file import check_number_names, need_wordings

    check_not_given(*OF_LOGS, "threshold", because="is for logs of other programs")
    parts = {name: need_wordings(path) for name, path in options["sources"]}
    check_number_names([*parts.values()], [path for _, path in options["sources"]])
    return (join_answers_of_sources(parts),)


# Logs that ``ietest-fast consistency`` measures, and those of full test sets.

# What a table with a row for each item and version has in the place of -C's columns.
_OUTCOMES = ("correct",)


def read_answers(logs: Sequence[str], options: dict[str, Any]) -> tuple[ConsistencyAnswers, ...]:
    """Read logs: each of a model if they are tables of wordings, otherwise as ``eval`` does."""
    from ietest_fast.analyses.consistency.file import (
        ConsistencyAnswers,
        ConsistencyNotes,
        name_answers,
        read_wordings,
    )

    paths = [Path(log) for log in logs]
    _check_answers(paths, reader=options["reader"])
    by_outcomes = options["correct_columns"] == _OUTCOMES
    known = [
        read_wordings(path, threshold=options["threshold"], by_outcomes=by_outcomes)
        for path in (paths if options["reader"] is None else ())
    ]
    own = [each for each in known if each is not None]
    if own and len(own) == len(paths):
        taken = {"correct-columns"} if by_outcomes else set()
        check_not_given(
            *(name for name in OF_LOGS if name not in taken),
            because="is for logs of other programs",
        )
        return name_answers(own, paths)
    if own:
        other = next(path for path, each in zip(paths, known, strict=True) if each is None)
        raise InputError(
            "is no table with a row for each item and version, as the other logs are; pass it "
            "alone",
            path=other,
        )
    found = read(tuple(logs), options, keep=[options["subset"]])
    notes = ConsistencyNotes(warnings=found.notes)
    return (ConsistencyAnswers(predictions=found.predictions, notes=notes),)


def _check_answers(paths: Sequence[Path], *, reader: str | None) -> None:
    """Refuse files of paraphrases that no model has answered yet."""
    if reader is not None:
        return
    from ietest_fast.analyses.consistency.file import holds_paraphrases

    for path in paths:
        if holds_paraphrases(path):
            raise InputError(
                f"holds paraphrases, no answers; add --onnx or --model, and --test {path}",
                path=path,
            )


def read_test_sets(paths: Sequence[Path]) -> tuple[Predictions, ...]:
    """Read answers to the full test set."""
    from ietest_fast.analyses.consistency.file import read_wordings

    found = []
    for path in paths:
        own = read_wordings(path)
        if own is None:
            raise InputError(
                "holds no answers with probabilities to the full test set: a table with a row for "
                "each item and the version `original`, such as ietest-fast eval --out writes, or "
                "ParaNLU's predictions expected",
                path=path,
            )
        found.append(own.predictions)
    return tuple(found)


# A finished model on the paraphrases of a file, or on those made of it.


def run_model(
    model: TextClassifier, test: Path, asked: ConsistencyOptions, options: Mapping[str, Any]
) -> tuple[ConsistencyAnswers, ModelAnswers]:
    """Read or make the paraphrases, and let the model answer them."""
    from ietest_fast.analyses.consistency.asking import ask, join_buckets

    if asked.from_sources:
        parts = {
            name: _find_buckets(path, model, asked, options) for name, path in options["sources"]
        }
        buckets = join_buckets(parts, drop_mixed=asked.drop_mixed)
    else:
        buckets = _find_buckets(test, model, asked, options)
    with show_progress() as progress:
        bar = progress.count("Running the model, inputs")
        return ask(model, buckets, asked, on_start=bar.start, on_batch=bar.advance)


def _find_buckets(
    test: Path, model: TextClassifier, asked: ConsistencyOptions, options: Mapping[str, Any]
) -> Buckets:
    """Read the paraphrases of a file, or make those of a labelled one."""
    from ietest_fast.analyses.consistency.asking import (
        is_paranlu,
        list_needed,
        make_paraphrases,
        read_paraphrases,
    )
    from ietest_fast.analyses.difficulty.file import DIFFICULTY, check_marked
    from ietest_fast.corpus import read_corpus
    from ietest_fast.corpus.formats import check_readable
    from ietest_fast.corpus.reasoning import task_of_file
    from ietest_fast.models.label_map import match_labels

    check_readable(test)
    if asked.subset == DIFFICULTY:
        check_marked(test)
    if is_paranlu(test):
        check_not_given("phi", because="is for a labelled file; this one holds paraphrases already")
        check_not_given(
            "item-column",
            "version-column",
            "text-columns",
            "drop-mixed",
            because="is for a table of paraphrases; this file is ParaNLU's",
        )
        return read_paraphrases(test, asked)
    task = None if asked.text_columns is not None else task_of_file(test)
    if asked.phi is None:
        _check_items(test, task, asked.item_column or "item")
        return read_paraphrases(test, asked)
    corpus = read_corpus(
        test,
        text_columns=asked.text_columns,
        keep_columns=list_needed(asked, task),
        labels_file=options["labels_file"],
    )
    # Before texts are transformed, which takes longer.
    match_labels(model.labels, corpus.label_names, label_map=asked.label_map)
    texts = corpus.text_columns if task is None else None
    learn_from = [read_corpus(file, text_columns=texts) for file in options["lexicon_from"]]
    return make_paraphrases(corpus, asked, learn_from)


def _check_items(test: Path, task: ReasoningTask | None, item: str) -> None:
    """Refuse a file of examples that does not say which of them are wordings of one item."""
    from ietest_fast.corpus.formats import column_names, find_format

    if task is not None and item not in column_names(test, find_format(test)):
        raise InputError(
            f"holds {task.name}, and no column {item!r} that says which rows are wordings of the "
            "same item; make paraphrases of it by --phi, or name the column by --item-column",
            path=test,
        )


_WANTED = "a file: --test FILE, with paraphrases, or with --phi with labelled texts"


@click.command(name="consistency")
@click.argument("logs", metavar="[LOG]...", nargs=-1, type=click.Path())
@model_options
@paraphrase_options
@measure_options
@part_options
@amount_options
@log_options
@details_option
@interval_options
@csv_option()
def command(*, logs: tuple[str, ...], **options: Any) -> int:
    """Measure how alike a finished model answers paraphrases of the same items.

    With --test and --onnx or --model, the model answers a file of paraphrases (a row for each
    wording, with a column `item`), or those that --phi makes of a labelled file, each distinct
    input once. Otherwise each LOG holds the answers of a model: a table with a row for each item
    and version, such as --out has written, or ParaNLU's published predictions; or the one LOG is
    the folder of a run, and P_C is shown over the number of training rows.
    """
    if is_run(logs):
        return consistency_of_run(Path(logs[0]), options)
    if options["n_strata"] is not None and not options["test_sets"]:
        raise click.UsageError("--strata needs --test-set")
    check_parts(options)
    check_sources(logs, options)
    if options["sources"] and options["subset"] is None:
        options["subset"] = "source"
    files = [path for _, path in options["sources"]]
    from ietest_fast.analyses.consistency.asking import measure

    told: dict[str, Any] = {}
    below: list[str] = []
    if not runs_model(options):
        answers = _read_known(logs, files, options)
        asked = _ask_options(options)
    else:
        given = files or [need_one(logs, options, file=_WANTED)]
        check_together(given, options)
        asked = _ask_options(options)
        own, run = run_model(load_model(options), given[0], asked, options)
        answers, told, below = (own,), describe_run(run), [say_run(run)]
    found = measure(answers, asked)
    if options["out"] is not None:
        found.write(options["out"], asked)
    if options["as_json"]:
        print_json({**told, **found.to_dict(), "remarks": list(found.remarks)})
    else:
        _print(found, below, details=options["details"])
    return 0


def _read_known(
    logs: Sequence[str], files: Sequence[Path], options: dict[str, Any]
) -> tuple[ConsistencyAnswers, ...]:
    """Read answers that models have given already."""
    from ietest_fast.analyses.consistency.file import without_mixed

    if not logs and not files:
        raise click.UsageError("give LOGs of predictions, or a model by --onnx and --test")
    check_not_given(*_OF_MODELS, because="is for a model that is run; say --onnx or --model")
    read = [*map(Path, logs), *files, *options["test_sets"]]
    check_out(options["out"], [*read, options["partial_input"]])
    answers = read_sources(options) if files else read_answers(logs, options)
    return tuple(map(without_mixed, answers)) if options["drop_mixed"] else answers


def _ask_options(options: Mapping[str, Any]) -> ConsistencyOptions:
    """Return what is asked: options of the same name, and those that are read first."""
    from dataclasses import fields

    from ietest_fast.analyses.consistency.file import need_wordings
    from ietest_fast.analyses.consistency.noting import ConsistencyOptions
    from ietest_fast.answers.file import plain_name
    from ietest_fast.transform.phi import parse_phi

    partial, texts = options["partial_input"], split_names(options["text_columns"])
    columns = None if texts is None else tuple(texts)
    read = {
        "phi": [parse_phi(text, folder=Path.cwd()) for text in options["phis"]] or None,
        "from_sources": bool(options["sources"]),
        # Of a model that is run, diversity is that of the columns that it was shown.
        "text_columns": columns if runs_model(options) else None,
        "answered_columns": None if runs_model(options) else columns,
        "input_columns": None if options["input"] is None else (options["input"],),
        "label_map": read_label_map(options),
        "unparsed": "error",
        "partial_input": None if partial is None else need_wordings(partial).predictions,
        "partial_name": "" if partial is None else plain_name(partial),
        "test_sets": read_test_sets(options["test_sets"]),
        "amounts": check_amounts(options),
        "method": options["intervals"],
        **_resampling(options),
    }
    same = {each.name for each in fields(ConsistencyOptions)} & options.keys()
    return ConsistencyOptions(**{name: options[name] for name in same} | read)


def _resampling(options: Mapping[str, Any]) -> dict[str, Any]:
    from ietest_fast.stats.outcomes import DEFAULT_N_RESAMPLES

    return {
        "confidence_level": options["confidence_level"],
        **resampling(options),
        "n_resamples": options["n_resamples"] or DEFAULT_N_RESAMPLES,
    }


def _print(found: Consistency, below: Sequence[str], *, details: bool) -> None:
    """Print how consistent each classifier is, what that rests on, and what was asked besides."""
    from ietest_fast.analyses.consistency.charts import amount_tables
    from ietest_fast.analyses.consistency.tables import all_tables, say_remarks

    several = len(found.profiles) > 1
    for profile in found.profiles:
        echo(f"{profile.name}: {profile.headline}" if several else profile.headline)
    echo()
    if not several:
        for name, value in found.profiles[0].answer_rows():
            echo(f"{name:<12} {value}")
        echo()
    tables = all_tables(found.profiles, found.pairs, details=details)
    for table in [*amount_tables(found.curves), *tables]:
        print_table(table)
    for line in [*say_remarks(found.profiles), *found.remarks]:
        echo(line)
    echo(*(below if details else ["All that was computed: --details; every number: --json."]))
