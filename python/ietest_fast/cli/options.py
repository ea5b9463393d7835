"""What commands share: options, what goes together among them, the exit status."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ietest_fast.answers.asking import ModelAnswers
    from ietest_fast.models import TextClassifier
    from ietest_fast.transform.phi import PhiChoice

F = TypeVar("F", bound="Callable[..., Any]")

# Stands in ietest_fast.stats.paired, too, which is too much to import for --help.
MOST_RESAMPLES = 2**63 - 1

FILE = click.Path(path_type=Path)

MOST_THREADS = 65_536
"""More than any machine has; what is beyond is a mistake."""

REJECTED = 3
"""Exit status of a rejection under --fail-on-reject."""


class FiniteRange(click.FloatRange):
    """A finite number in a range; not a number is in none, though it is not outside, either."""

    name = "float"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Parse the number and check it."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is no finite number.", param, ctx)
        return number


class OpenShare(FiniteRange):
    """A number above 0 and below 1; a level ``below`` 0.5 where equivalence is tested anyway."""

    def __init__(self, below: float = 1) -> None:
        super().__init__(0, below, min_open=True, max_open=True)


class CommaList(click.ParamType[Any]):
    """Items separated by commas; in double quotes one may hold a comma."""

    def __init__(
        self,
        name: str,
        item: Callable[[str], Any],
        fits: Callable[[tuple[Any, ...]], bool],
        complaint: str,
    ) -> None:
        self.name = name
        self._item = item
        self._fits = fits
        self._complaint = complaint

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Any, ...]:
        """Split at the commas and parse the items."""
        if isinstance(value, tuple):
            return value
        import csv

        try:
            fields = next(csv.reader([str(value)], skipinitialspace=True), []) or [""]
            items = tuple(self._item(field.strip()) for field in fields)
        except (ValueError, csv.Error):
            items = None
        if items is None or not self._fits(items):
            self.fail(f"{value!r} {self._complaint}", param, ctx)
        return items


POS = CommaList(
    "PARTS",
    str,
    lambda parts: bool(parts) and set(parts) <= {"noun", "adj", "adv", "verb"},
    "is not some of noun, adj, adv, verb, separated by commas",
)

#: Four counts. What they may be is checked later, with the same words as elsewhere.
COUNTS = CommaList(
    "n11,n10,n01,n00",
    int,
    lambda counts: len(counts) == 4,
    "is not four integers separated by commas",
)

#: Names of columns.
NAMES = CommaList("A[,B,...]", str, all, "has an empty name in it, or is more than one line")

#: Names of labels.
LABELS = CommaList(
    "A,B[,...]",
    str,
    lambda names: all(names) and len({name.casefold() for name in names}) == len(names),
    "has a name that is empty, or there twice",
)

#: Levels of quantiles.
LEVELS = CommaList(
    "q[,q,...]",
    float,
    lambda levels: all(0 <= level <= 1 for level in levels),
    "is not numbers from 0 to 1 separated by commas",
)


def bundle(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Make one decorator of options that go together, in the order in which --help shows them."""

    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def csv_option(*, expose: bool = False) -> Callable[[F], F]:
    """Make the option that says how CSV and TSV files are written."""

    def use(ctx: click.Context, param: click.Parameter, text: str | None) -> str | None:
        if text is None:
            return None
        from ietest_fast.corpus.dialects import parse_dialect, reading_csv
        from ietest_fast.errors import InputError

        try:
            habits = parse_dialect(text)
        except InputError as error:
            raise click.BadParameter(str(error), ctx=ctx, param=param) from error
        if not expose:
            ctx.with_resource(reading_csv(habits))
        return text

    return click.option(
        "--csv",
        metavar="HABITS",
        callback=use,
        expose_value=expose,
        help="How CSV and TSV files are written: quoted, not-quoted, 'escape=\\', "
        "'delimiter=;', skip-bad-rows, separated by commas.  [default: told by the file]",
    )


def split_names(text: str | None) -> list[str] | None:
    """Return names that are separated by commas; None for no text."""
    return None if text is None else [name.strip() for name in text.split(",")]


threads_option = click.option(
    "--threads", "n_threads", type=click.IntRange(1, MOST_THREADS), help="[default: all]"
)

clusters_option = click.option(
    "--clusters",
    metavar="COLUMN",
    help="Items with equal values in this column belong together (premise, annotator).",
)

margin_option = click.option(
    "--margin",
    type=OpenShare(),
    help="Smaller differences count as equivalent.  [default: 0.01]",
)

test_options = bundle(
    click.option(
        "--method",
        type=click.Choice(["exact", "multinomial", "resample"]),
        help="The exact null law, or S replicates by one of two engines.  [default: exact, where "
        "there is an exact law]",
    ),
    click.option(
        "--n-resamples",
        "-S",
        type=click.IntRange(1, MOST_RESAMPLES),
        help="S, for Monte Carlo methods.  [default: 10,000]",
    ),
    click.option(
        "--seed",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        help="Seed of a Monte Carlo method.",
    ),
    click.option(
        "--alternative",
        type=click.Choice(["two-sided", "greater", "less"]),
        default="two-sided",
        show_default=True,
        help="Is the original different, better (greater) or worse (less)?",
    ),
    threads_option,
    click.option(
        "--alpha",
        type=OpenShare(),
        default=0.05,
        show_default=True,
        help="Significance level.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print JSON."),
    click.option(
        "--fail-on-reject", is_flag=True, help=f"Exit with status {REJECTED} on a rejection."
    ),
)
"""The options of the paired test and of its output."""


details_option = click.option(
    "--details", is_flag=True, help="Print all that is computed, not the answer alone."
)


invariance_options = bundle(
    click.option(
        "--reworded",
        metavar="COLUMN",
        help="Column that says which texts are reworded (true or 1).  [default: where the texts "
        "of logs or tables differ; otherwise, beside answers, changed, which transform, eval and "
        "run write]",
    ),
    click.option(
        "--all-reworded", is_flag=True, help="Every text is reworded, so no column says which."
    ),
    click.option(
        "--flip-margin",
        type=OpenShare(),
        help="A smaller share of changed answers does not matter.  [default: 0.05]",
    ),
    click.option(
        "--fail-unless-alike",
        is_flag=True,
        help=f"Exit with status {REJECTED} unless accuracy and answers are shown to stay "
        "within their margins.",
    ),
    details_option,
)
"""Which texts are reworded, how many answers may flip, and how much is printed."""


def _take_one(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> str | None:
    """Return the value of an option that may be given once; otherwise the last would win."""
    if len(values) > 1:
        raise click.BadParameter("may be given once", ctx, param)
    return values[0] if values else None


ASKING = ("strata", "dose")
"""Names of the options that ask for statistics of the reworded texts."""


statistics_options = bundle(
    click.option(
        "--strata",
        metavar="COLUMN",
        multiple=True,
        help="Also test the texts of each value of this column by themselves, and whether they "
        "differ: label (the gold label), edits, a genre. May be given several times.",
    ),
    click.option(
        "--strata-correction",
        type=click.Choice(["holm", "minp"]),
        default="holm",
        show_default=True,
        help="Of the p-values of a column's strata.",
    ),
    click.option(
        "--dose",
        metavar="COLUMN",
        multiple=True,
        callback=_take_one,
        help="Also test whether losses and changed answers grow with this column, such as edits.",
    ),
)
"""Statistics of the reworded texts (``analyses/compare/statistic.py``)."""


def choose_reworded(options: Mapping[str, Any]) -> str | Literal[True] | None:
    """Return the column that says which texts are reworded, True for all, None for the default."""
    if not options["all_reworded"]:
        return options["reworded"]  # type: ignore[no-any-return]
    if options["reworded"] is not None:
        raise click.UsageError("--reworded and --all-reworded exclude each other")
    return True


def is_given(name: str) -> bool:
    """Whether the user has set an option."""
    source = click.get_current_context().get_parameter_source(name)
    return source is not click.core.ParameterSource.DEFAULT


def check_not_given(*names: str, because: str) -> None:
    """Refuse options of the command, named as the user does, that would be ignored."""
    parameters = click.get_current_context().command.params
    for name in names:
        if any(f"--{name}" in each.opts and is_given(str(each.name)) for each in parameters):
            raise click.UsageError(f"--{name} {because}")


def check_only_given(*names: str, because: str) -> None:
    """Refuse all options of the command but these, named as the user does."""
    allowed = {f"--{name}" for name in names}
    for each in click.get_current_context().command.params:
        if isinstance(each, click.Argument) or not allowed.isdisjoint(each.opts):
            continue
        if is_given(str(each.name)):
            raise click.UsageError(f"{each.opts[0]} {because}")


def check_resamples(options: Mapping[str, Any]) -> None:
    """Refuse a number of resamples where the method, the exact law unless named, has none.

    Strata and doses draw tables where they are too many to enumerate.
    """
    draws = options["method"] not in {None, "exact"} or any(options[name] for name in ASKING)
    if options["n_resamples"] is not None and not draws:
        raise click.UsageError(
            "--n-resamples is for --method multinomial and resample; the exact law has no resamples"
        )


def check_margin(options: Mapping[str, Any], *, are_scores: bool = False) -> None:
    """Refuse a margin that no equivalence test can have."""
    margin, alpha = options["margin"], options["alpha"]
    if margin is None:
        return
    if margin >= 1 and not are_scores:
        raise click.UsageError(
            f"--margin of a difference of accuracies lies below 1, not at {margin:g}"
        )
    if alpha >= 0.5:
        raise click.UsageError(f"--margin needs an --alpha below 0.5, not {alpha:g}")


def check_alike(options: Mapping[str, Any]) -> None:
    """Refuse to look for a likeness that is not tested at this level."""
    for name in ("flip_margin", "fail_unless_alike", *ASKING):
        if options[name] and options["alpha"] >= 0.5:
            raise click.UsageError(
                f"--{name.replace('_', '-')} needs an --alpha below 0.5, not {options['alpha']:g}"
            )


def exit_status(options: Mapping[str, Any], *, reject: bool, alike: bool | None = None) -> int:
    """Return 3 for a finding that the user wants to fail on, otherwise 0."""
    fails = (reject and options["fail_on_reject"]) or (
        not alike and options.get("fail_unless_alike")
    )
    return REJECTED if fails else 0


def resampling(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the options say of resamples, by the names that tests have for it."""
    return {
        "n_resamples": options["n_resamples"],
        "rng": options["seed"],
        "n_threads": options["n_threads"],
    }


reading_options = bundle(
    click.option(
        "--drop-missing-texts",
        is_flag=True,
        help="Drop and count rows without a text, instead of stopping.",
    ),
    click.option(
        "--quoted/--not-quoted",
        default=None,
        help="Whether double quotes enclose fields.  [default: in CSV yes, in TSV no]",
    ),
)
"""How labelled files are read, beside :func:`csv_option`."""


word_options = bundle(
    click.option(
        "--pos",
        type=POS,
        help="Parts of speech to replace: noun, adj, adv, verb.  [default: all four]",
    ),
    click.option(
        "--wordnet-only",
        is_flag=True,
        help="Leave out replacements that are no synonyms in WordNet.",
    ),
    click.option(
        "--sense-check",
        metavar="MODEL",
        type=FILE,
        help="A sentence encoder or masked language model (ONNX file or folder, or a checkpoint) "
        "that judges each replacement in its context.",
    ),
)
"""The commonest options of substitutions, which ``--phi`` takes as well."""

WORD_OPTION_NAMES = ("pos", "wordnet_only", "sense_check")
"""Names of their parameters, and of the options of a transformation."""


def choose_phis(texts: Sequence[str], options: Mapping[str, Any]) -> list[PhiChoice]:
    """Read ``--phi`` (several, or none) and what :data:`word_options` add to each."""
    from ietest_fast.transform.phi import DEFAULT_PHI, parse_phi

    added = {name: options[name] for name in WORD_OPTION_NAMES if options[name]}
    return [parse_phi(text, folder=Path.cwd(), added=added) for text in texts or [DEFAULT_PHI]]


allow_code = click.option(
    "--allow-code",
    is_flag=True,
    help="Let the file name code to import (package.module:attribute) and models to fetch; only "
    "for files that you trust.",
)
"""Of a command that reads names from a file."""


# Options that say which finished model is run, and on what; several commands share them.


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

# Of one kind of model only.
_OF_ONNX = ("tokenizer", "provider", "runtime", "onnx-inputs", "onnx-output")
_OF_NETWORKS = ("precision", "max-length", "threshold")


model_options = bundle(
    click.option(
        "--onnx",
        metavar="PATH",
        type=FILE,
        help="Run this model: a folder with model.onnx, tokenizer.json and config.json, or an "
        ".onnx file with these beside it.",
    ),
    click.option(
        "--model",
        metavar="CHECKPOINT",
        help="Run this PyTorch checkpoint: a folder, or a name of the hub; or the folder of a "
        "classifier ngram-linear that `run --keep-models` kept.",
    ),
    click.option("--test", type=FILE, help="File of labelled texts to run the model on."),
    click.option("--tokenizer", type=FILE, help="tokenizer.json, or its folder."),
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
        help="What runs the ONNX file.  [default: OpenVINO if it is installed and there is no GPU]",
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
    click.option(
        "--out",
        type=FILE,
        help="Write all answers to this Parquet file, a row for each text and version.",
    ),
    click.option(
        "--keep-columns",
        type=NAMES,
        default=(),
        metavar="A[,B,...]",
        help="More columns of the test file for --out.",
    ),
)
"""Which model is run, and on what."""


OF_MODELS = ("test", "label-map", "input", *_OF_ONNX, "precision", "max-length")
"""Names of those that mean nothing without a model."""


def runs_model(options: Mapping[str, Any]) -> bool:
    """Whether a model is to be run."""
    return options["onnx"] is not None or options["model"] is not None


def need_one(
    logs: Sequence[str],
    options: Mapping[str, Any],
    *,
    file: str = "a file of labelled texts: --test FILE",
) -> Path:
    """Return the file to run a model on; refuse what does not go with one."""
    if logs:
        raise click.UsageError("--onnx and --model run a model; LOGs are of one that has been run")
    if options["onnx"] is not None and options["model"] is not None:
        raise click.UsageError("--onnx or --model, not both")
    test: Path | None = options["test"]
    if test is None:
        raise click.UsageError(f"a model needs {file}")
    return test


def read_label_map(options: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the data's name of each of the model's labels, if the user has said it."""
    return None if options["label_map"] is None else dict(options["label_map"])


def check_out(
    path: Path | None, inputs: Sequence[Path | None], *, only_parquet: bool = True
) -> None:
    """Find out before the work whether its result can be written, and over what."""
    from ietest_fast.transform import files

    if path is not None:
        other = click.UsageError(f"--out is a Parquet file, not {path.name}")
        files.check_out(path, inputs, unless_parquet=other if only_parquet else None)


def load_model(options: Mapping[str, Any]) -> TextClassifier:
    """Load the model that was asked for."""
    from ietest_fast.models.checkpoint import CheckpointClassifier
    from ietest_fast.models.ngrams import is_ngram_folder
    from ietest_fast.models.onnx_models.classifier import OnnxClassifier

    common = {name: options[name] for name in ("n_threads", "max_length", "threshold")}
    onnx, model, precision = options["onnx"], options["model"], options["precision"]
    if onnx is None:
        check_not_given(*_OF_ONNX, because="is for --onnx")
        folder = Path(model).expanduser()
        if is_ngram_folder(folder):
            from ietest_fast.models.ngrams import NgramTextClassifier

            check_not_given(*_OF_NETWORKS, because="is for networks, and this model is linear")
            return NgramTextClassifier(folder, n_threads=options["n_threads"])
        return CheckpointClassifier(model, precision=precision or "auto", **common)
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


def describe_run(found: ModelAnswers) -> dict[str, Any]:
    """Return what a model that was run has to say, for JSON."""
    return {
        "backend": found.backend,
        "identity": found.identity,
        "inputs_run": found.scores.n_inputs,
        "inputs": found.scores.n_rows,
        "seconds": found.scores.seconds,
        "dropped": found.predictions.dropped,
        "warning": found.warning,
        "warnings": list(found.warnings),
    }


def say_run(found: ModelAnswers) -> str:
    """Return what a model that was run has to say, for people."""
    scores = found.scores
    from ietest_fast.numerals import say_count

    inputs = say_count(scores.n_inputs, "different input")
    was = "was" if scores.n_inputs == 1 else "were"
    return f"{inputs} of {scores.n_rows:,} {was} run by {found.backend} in {scores.seconds:.1f} s."
