"""``ietest-fast eval``: a finished model, by itself or by its predictions."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from ietest_fast.cli.options import (
    NAMES,
    CommaList,
    OpenShare,
    check_margin,
    check_not_given,
    check_resamples,
    exit_status,
    print_json,
    test_options,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from ietest_fast.corpus import Corpus
    from ietest_fast.evaluation.reading import ReadLogs
    from ietest_fast.models import TextClassifier
    from ietest_fast.models.evaluation import Evaluation

_FILE = click.Path(path_type=Path)


def _pair(text: str) -> tuple[str, str]:
    source, equals, target = text.partition("=")
    if not equals or not source.strip() or not target.strip():
        raise ValueError(text)
    return source.strip(), target.strip()


#: Which of a model's inputs is what.
_INPUTS = CommaList(
    "NAME=ROLE,...", _pair, bool, "is not a list such as ids=input_ids,mask=attention_mask"
)
#: Which of a model's labels is which of the data's.
_LABEL_MAP = CommaList(
    "MODEL=DATA,...", _pair, bool, "is not a list such as LABEL_0=entailment,LABEL_1=neutral"
)

# Of texts that are transformed here.
_OF_RULES = ("rules", "lexicon-from", "tagger", "block-list")
# Options of a model that is run; without one they would be ignored.
_OF_MODELS = (
    "test",
    "transformed-test",
    "tokenizer",
    "label-map",
    "input",
    *_OF_RULES,
    "text-columns",
    "provider",
    "runtime",
    "onnx-inputs",
    "onnx-output",
    "precision",
    "max-length",
    "out",
)
# Of one kind of model only.
_OF_ONNX = ("tokenizer", "provider", "runtime", "onnx-inputs", "onnx-output")
# And of predictions made elsewhere.
_OF_PREDICTIONS = (
    "reader",
    "logs-are",
    "gold",
    "gold-column",
    "original-column",
    "transformed-column",
    "prediction-columns",
    "correct-columns",
    "filter",
    "unparsed",
    "labels",
    "clusters",
)


def model_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what says which model is run on what."""
    options = [
        click.option(
            "--onnx",
            metavar="PATH",
            type=_FILE,
            help="Run this model: a folder with model.onnx, tokenizer.json and config.json, or an "
            ".onnx file with these beside it.",
        ),
        click.option(
            "--model",
            metavar="CHECKPOINT",
            help="Run this PyTorch checkpoint: a folder, or a name of the hub.",
        ),
        click.option("--test", type=_FILE, help="File of labelled texts to run the model on."),
        click.option(
            "--transformed-test",
            type=_FILE,
            help="The same rows transformed, such as `ietest-fast transform` writes them.  "
            "[default: transformed here]",
        ),
        click.option(
            "--rules",
            type=click.Choice(["careful", "paper"]),
            default="careful",
            show_default=True,
            help="How texts are transformed.",
        ),
        click.option(
            "--lexicon-from",
            metavar="TRAIN",
            type=_FILE,
            multiple=True,
            help="A file whose nouns decide between synonyms.  [default: the test file]",
        ),
        click.option("--tagger", metavar="NAME", help="As for `transform`."),
        click.option("--block-list", type=_FILE, help="Words to leave alone, one a line."),
        click.option("--tokenizer", type=_FILE, help="tokenizer.json, or its folder."),
        click.option(
            "--label-map",
            type=_LABEL_MAP,
            help="The data's name of each of the model's labels, by name or number.",
        ),
        click.option(
            "--input",
            metavar="COLUMN",
            help="Show the model this column only, such as premise or hypothesis.",
        ),
        click.option("--text-columns", metavar="A[,B]", help="Columns that hold texts."),
        click.option(
            "--runtime",
            type=click.Choice(["onnxruntime", "openvino"]),
            help="What runs the ONNX file.  [default: OpenVINO if it is installed and there is no "
            "GPU]",
        ),
        click.option("--provider", help="Of ONNX Runtime.  [default: the best there is]"),
        click.option(
            "--onnx-inputs",
            type=_INPUTS,
            help="What the ONNX file's inputs are, where they have other names: input_ids, "
            "attention_mask, token_type_ids or position_ids.",
        ),
        click.option(
            "--onnx-output",
            metavar="NAME",
            help="The ONNX file's output with the class scores.  [default: logits, or the one of "
            "shape (texts, labels)]",
        ),
        click.option(
            "--precision",
            type=click.Choice(["fp32", "bf16"]),
            help="Of products of matrices.  [default: --onnx: the file's own; --model: bf16 where "
            "that is faster]",
        ),
        click.option(
            "--max-length",
            type=click.IntRange(min=4),
            help="Longest input in tokens.  [default: the model's]",
        ),
        click.option("--out", type=_FILE, help="Write the matched sample to this Parquet file."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def log_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what says how logs are read."""
    options = [
        click.option(
            "--reader",
            metavar="NAME",
            help="Format of the logs: lm-eval, inspect, helm, table, or one that a package adds.  "
            "[default: told by their content]",
        ),
        click.option(
            "--logs-are",
            type=click.Choice(["versions", "models"]),
            help="What several logs are: versions of the same items, or classifiers on the same "
            "items.  [default: models, if their texts are the same]",
        ),
        click.option(
            "--prediction-columns",
            "-P",
            type=NAMES,
            help="Columns of answers: one for each version in a table, or one for each log. A name "
            "such as doc.label leads into objects.",
        ),
        click.option(
            "--correct-columns",
            "-C",
            type=NAMES,
            help="Instead of answers: columns that say which are right, likewise; in logs of "
            "lm-eval a metric, of Inspect a scorer.",
        ),
        click.option("--filter", metavar="NAME", help="Of lm-eval's logs.  [default: the first]"),
        click.option(
            "--unparsed",
            type=click.Choice(["wrong", "drop", "error"]),
            help="What an answer is that is missing or no label; drop leaves its item out.  "
            "[default: wrong in logs that mark answers, error in tables]",
        ),
        click.option("--id-column", help="Match rows by this column instead of by their order."),
        click.option(
            "--clusters",
            metavar="COLUMN",
            help="Items with equal values in this column belong together (premise, annotator).",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.command(name="eval")
@click.argument("logs", metavar="[LOG]...", nargs=-1, type=click.Path())
@model_options
@log_options
@click.option("--gold", type=click.Path(), help="File of the gold labels.  [default: the logs]")
@click.option(
    "--gold-column",
    help="Column of gold labels.  [default: label in tables; lm-eval's and Inspect's target]",
)
@click.option(
    "--original-column",
    help="Column of predictions on the original texts.  [default: original; prediction if there "
    "are two files]",
)
@click.option(
    "--transformed-column",
    help="Column of predictions on the transformed texts.  [default: transformed; prediction if "
    "there are two files]",
)
@click.option(
    "--labels",
    metavar="A,B,...",
    help="All labels in the order of their numbers.  [default: the integers that occur, or the "
    "names of the gold labels; NLI's for its names and where 0, 1 and 2 are all there are]",
)
@click.option(
    "--margin",
    type=OpenShare(),
    help="Smaller differences count as equivalent.  [default: 0.01]",
)
@test_options
def command(
    *,
    logs: tuple[str, ...],
    onnx: Path | None,
    model: str | None,
    test: Path | None,
    alpha: float,
    as_json: bool,
    fail_on_reject: bool,
    margin: float | None,
    **options: Any,
) -> int:
    """Compare a model's answers on the original and the transformed version of a test set.

    With --test and --onnx or --model the model is run. Otherwise each LOG holds answers: of
    lm-evaluation-harness (--log_samples), of Inspect (.eval, .json), of HELM (scenario_state.json),
    or a table (CSV, TSV, JSONL, Parquet) of labels by name or number. Several logs are versions of
    the same items, the original first, or classifiers on the same items; one table holds a column
    for each version.
    """
    check_margin(margin, alpha=alpha)
    check_resamples(options)

    if onnx is None and model is None:
        if not logs:
            raise click.UsageError("give LOGs of predictions, or a model by --onnx and --test")
        check_not_given(*_OF_MODELS, because="is for a model that is run; say --onnx or --model")
        from ietest_fast.cli.comparing import compare_logs

        return compare_logs(
            _read(logs, options),
            options=options,
            margin=margin,
            alpha=alpha,
            as_json=as_json,
            fail_on_reject=fail_on_reject,
        )
    if logs:
        raise click.UsageError("--onnx and --model run a model; LOGs are of one that has been run")
    if onnx is not None and model is not None:
        raise click.UsageError("--onnx or --model, not both")
    if test is None:
        raise click.UsageError("a model needs a file of labelled texts: --test FILE")
    check_not_given(*_OF_PREDICTIONS, because="is for predictions made elsewhere")
    if options["transformed_test"] is not None:
        check_not_given(*_OF_RULES, because="is for texts transformed here")
    _check_out(options["out"], [test, options["transformed_test"], *options["lexicon_from"]])
    given = _run(_load(onnx, model, options), test, options)

    from ietest_fast.cli.test import beside, print_test, say
    from ietest_fast.stats import decide, is_collapsed, paired_test
    from ietest_fast.stats.signature import sign_test

    engine = {name: options[name] for name in ("n_resamples", "alternative", "n_threads")}
    engine["rng"] = options["seed"]
    result = paired_test(given.sample, method=options["method"] or "exact", **engine)
    decision = decide([result.p_value], alpha=alpha)
    signature = sign_test(result, **given.identity)
    collapsed = is_collapsed(given.original, given.gold)
    extra = beside(result, alpha=alpha, margin=margin)
    n_changed = int((given.original != given.transformed).sum())
    if as_json:
        print_json(
            {
                "accuracy_original": result.counts.accuracy_original,
                "accuracy_transformed": result.counts.accuracy_transformed,
                "predictions_changed": n_changed,
                "collapsed": collapsed,
                "labels": list(given.label_names),
                "dropped": given.dropped,
                **_told(given),
                **result.to_dict(),
                **{name: value for name, (value, _) in extra.items()},
                "alpha": alpha,
                "reject": decision.reject,
                "signature": signature,
            }
        )
    else:
        for reason, count in given.dropped.items():
            click.echo(f"{count:,} rows dropped: {reason}")
        verdict = say(result, decision.reject)
        print_test(result, extra, verdict=verdict, alpha=alpha, signature=signature)
        click.echo(f"{n_changed:,} of {result.n:,} predictions changed.")
        if collapsed:
            click.echo("Warning: the model predicts one class or is at chance; it has collapsed.")
        _tell(given)
    return exit_status(reject=decision.reject, fail_on_reject=fail_on_reject)


def _read(logs: tuple[str, ...], options: dict[str, Any]) -> ReadLogs:
    from ietest_fast.evaluation.reading import read_logs

    labels = options["labels"]
    columns = options["prediction_columns"]
    sides = (options["original_column"], options["transformed_column"])
    if any(sides):
        if columns is not None:
            raise click.UsageError(
                "--prediction-columns and --original-column, --transformed-column exclude each "
                "other"
            )
        if len(logs) > 2:
            raise click.UsageError(
                "--original-column and --transformed-column are for one or two logs; name the "
                "columns of more with --prediction-columns"
            )
        columns = sides
    if columns is not None and options["correct_columns"] is not None:
        raise click.UsageError("--correct-columns takes the place of columns of predictions")
    clusters = options["clusters"]
    return read_logs(
        logs,
        reader=options["reader"],
        logs_are=options["logs_are"],
        gold_path=options["gold"],
        gold_column=options["gold_column"],
        columns=columns,
        correct_columns=options["correct_columns"],
        id_column=options["id_column"],
        filter=options["filter"],
        keep_columns=() if clusters is None else (clusters,),
        label_names=None if labels is None else [name.strip() for name in labels.split(",")],
        unparsed=options["unparsed"],
    )


def _check_out(path: Path | None, inputs: Sequence[Path | None]) -> None:
    """Find out before the work whether its result can be written, and over what."""
    from ietest_fast.corpus.streams import check_target
    from ietest_fast.transform.files import check_distinct

    if path is None:
        return
    check_target(path)
    if path.suffix != ".parquet":
        raise click.UsageError(f"--out is a Parquet file, not {path.name}")
    for other in inputs:
        if other is not None:
            check_distinct(other, path)


def _load(onnx: Path | None, model: str | None, options: dict[str, Any]) -> TextClassifier:
    """Load the model that was asked for."""
    from ietest_fast.models.checkpoint import CheckpointClassifier
    from ietest_fast.models.onnx import OnnxClassifier

    common = {
        "n_threads": options["n_threads"],
        "max_length": options["max_length"],
    }
    precision = options["precision"]
    if onnx is None:
        check_not_given(*_OF_ONNX, because="is for --onnx")
        return CheckpointClassifier(cast("str", model), precision=precision or "auto", **common)
    return OnnxClassifier.load(
        onnx,
        tokenizer=options["tokenizer"],
        providers=None if options["provider"] is None else [options["provider"]],
        runtime=options["runtime"],
        inputs=None if options["onnx_inputs"] is None else dict(options["onnx_inputs"]),
        output=options["onnx_output"],
        precision=precision or "fp32",
        **common,
    )


def _run(model: TextClassifier, test: Path, options: dict[str, Any]) -> Evaluation:
    """Transform the test set, run the model on both versions, write what was asked for."""
    from ietest_fast.corpus import read_corpus
    from ietest_fast.errors import InputError
    from ietest_fast.models.evaluation import evaluate
    from ietest_fast.models.label_map import match_labels
    from ietest_fast.models.pooling import find_changed

    out: Path | None = options["out"]
    id_column = options["id_column"]
    kept = () if id_column is None else (id_column,)
    columns = options["text_columns"]
    columns = None if columns is None else [name.strip() for name in columns.split(",")]
    corpus = read_corpus(test, text_columns=columns, keep_columns=kept)
    if len(corpus) < 2:
        raise InputError(
            f"a paired test needs at least two labelled rows, not {len(corpus)}", path=test
        )
    label_map = None if options["label_map"] is None else dict(options["label_map"])
    # Before texts are transformed, which takes longer.
    match_labels(model.labels, corpus.label_names, label_map=label_map)
    only = options["input"]
    if only is not None and only not in corpus.text_columns:
        raise InputError(
            f"--input {only}: the columns of texts are {', '.join(corpus.text_columns)}", path=test
        )
    with _progress() as bar:
        table, transformation = _transform(corpus, options, id_column)
        seen = corpus.text_columns if only is None else (only,)
        changed = find_changed(corpus.table, table, seen, source=corpus.source)
        evaluation = evaluate(
            model,
            corpus,
            table,
            changed=changed,
            transformation=transformation,
            label_map=label_map,
            text_columns=seen,
            id_column=id_column,
            on_start=bar.start,
            on_batch=bar.advance,
        )
    if out is not None:
        import pyarrow.parquet as pq

        from ietest_fast.atomic import write_file

        write_file(out, lambda file: pq.write_table(evaluation.to_table(), file))
    return evaluation


def _transform(
    corpus: Corpus, options: dict[str, Any], id_column: str | None
) -> tuple[pa.Table, str]:
    """Give the test set transformed, its rows in the same order, and what to call that."""
    import numpy as np

    from ietest_fast.corpus import read_corpus
    from ietest_fast.errors import InputError
    from ietest_fast.transform import Material, plan

    path = options["transformed_test"]
    if path is not None:
        other = read_corpus(
            path,
            text_columns=corpus.text_columns,
            label_names=corpus.label_names,
            keep_columns=() if id_column is None else (id_column,),
        )
        name = f"given@{other.fingerprint[:4]}"
        if id_column is not None:
            return _match_ids(corpus, other, id_column), name
        matched = "rows are matched by their order, unless --id-column names what tells them apart"
        if len(other) != len(corpus):
            raise InputError(
                f"has {len(other)} labelled rows, and {corpus.source} has {len(corpus)}; {matched}",
                path=path,
            )
        if (other.labels != corpus.labels).any():
            place = int(np.argmax(other.labels != corpus.labels))
            raise InputError(
                f"its labelled row {place} (from 0) has another label than that of "
                f"{corpus.source}; {matched}",
                path=path,
            )
        return other.table, name
    counted = [
        read_corpus(file, text_columns=corpus.text_columns) for file in options["lexicon_from"]
    ] or [corpus]
    given = {name: options[name] for name in ("tagger", "block_list") if options[name] is not None}
    with plan({"name": f"syn.{options['rules']}", **given}) as planned:
        substitution = planned.build(Material(corpora=counted))
        transformed = substitution.transform(
            corpus.table, corpus.text_columns, with_edits=False, n_threads=options["n_threads"]
        )
    name = f"{substitution.name}@{substitution.fingerprint[:4]}"
    return transformed.table, name


def _match_ids(corpus: Corpus, other: Corpus, id_column: str) -> pa.Table:
    """Give the rows of another corpus in the order of this one's ids."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from ietest_fast.errors import InputError, shorten_error

    wanted = corpus.table[id_column]
    try:
        found = other.table[id_column].cast(wanted.type)
        for given, source in ((wanted, corpus.source), (found, other.source)):
            if given.null_count or len(pc.unique(given)) < len(given):
                raise InputError("has the same id twice, or none", path=source, column=id_column)
        place = pc.index_in(wanted, value_set=found.combine_chunks())
    except pa.ArrowException as error:
        raise InputError(
            f"its ids cannot be compared with those of {corpus.source}: {shorten_error(error)}",
            path=other.source,
            column=id_column,
        ) from error
    if place.null_count or len(found) != len(wanted):
        raise InputError(
            f"its {len(found)} rows do not have the same ids as the {len(wanted)} of "
            f"{corpus.source}",
            path=other.source,
            column=id_column,
        )
    if (other.labels[place.to_numpy()] != corpus.labels).any():
        raise InputError("rows of the same id have different labels", path=other.source)
    return other.table.take(place)


def _told(given: Evaluation) -> dict[str, Any]:
    """Return what a model that was run has to say, for JSON."""
    return {
        "rows_transformed": int(given.changed.sum()),
        "backend": given.backend,
        "inputs_run": given.scores.n_inputs,
        "tokens": given.scores.n_tokens,
        "seconds": given.scores.seconds,
        "warning": given.warning,
    }


def _tell(given: Evaluation) -> None:
    n, scores = len(given.sample), given.scores
    click.echo(f"{int(given.changed.sum()):,} of {n:,} rows were transformed.")
    click.echo(
        f"{scores.n_inputs:,} different inputs of {2 * n:,} were run by {given.backend} "
        f"in {scores.seconds:.1f} s "
        f"({2 * n / scores.seconds:,.0f} texts/s, "
        f"{scores.n_tokens / scores.seconds:,.0f} tokens/s)."
    )
    if given.warning is not None:
        click.echo(given.warning)


class _Bar:
    """Shows nothing."""

    def start(self, total: int) -> None:
        """Begin with so many inputs."""

    def advance(self, n: int) -> None:
        """Say that so many more are done."""


@contextmanager
def _progress() -> Iterator[_Bar]:
    """Give a bar, that shows something on a terminal."""
    if not sys.stderr.isatty():
        yield _Bar()
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:

        class Shown(_Bar):
            def start(self, total: int) -> None:
                self._task = progress.add_task("Running the model", total=total)

            def advance(self, n: int) -> None:
                progress.advance(self._task, n)

        yield Shown()
