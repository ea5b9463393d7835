"""``ietest-fast run``: the whole IE test."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ietest_fast.cli.options import (
    FILE,
    WORD_OPTION_NAMES,
    OpenShare,
    allow_code,
    choose_phis,
    csv_option,
    details_option,
    exit_status,
    reading_options,
    split_names,
    word_options,
)
from ietest_fast.report.progress import show_progress
from ietest_fast.report.terminal import echo, make_console, print_json

if TYPE_CHECKING:
    from ietest_fast.experiment.config import RunConfig
    from ietest_fast.experiment.work import Progress as Stages
    from ietest_fast.report.progress import Progress, Tell

_STAGES = {
    "read": "Reading",
    "transform": "Transforming, splits",
    "encode": "Encoding, models",
    "search": "Searching, trials",
    "evaluate": "Answering further tests, classifiers",
    "train": "Training, cells",
    "test": "Testing",
}


class _Folder(click.Path):
    """A folder's path, which is not empty: an unset variable of a shell is not the folder here."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        if not str(value):
            self.fail("is empty; name a folder.", param, ctx)
        return Path(str(super().convert(value, param, ctx)))


# What --model is without a name.
_LIST = "?"


def _pairs(values: tuple[str, ...], option: str) -> dict[str, Any] | None:
    """Read ``name=value`` options; values are numbers where they look like it."""
    pairs: dict[str, Any] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise click.UsageError(f"{option} takes name=value, not {text!r}")
        pairs[name.strip()] = _number_or_text(value.strip())
    return pairs or None


def _number_or_text(text: str) -> int | float | str:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def _absolute(path: Path | None) -> str | None:
    return None if path is None else str(path.resolve())


def _drop_absent(values: dict[str, Any]) -> dict[str, Any]:
    """Leave out what was not given, and tables in which nothing was."""
    kept: dict[str, Any] = {}
    for name, value in values.items():
        below = _drop_absent(value) if isinstance(value, dict) else value
        if below is not None and below != {}:
            kept[name] = below
    return kept


def _tell_stages(progress: Progress, n_jobs: int | None) -> Stages:
    """Return what shows the stages of a run, each as a stage of its own."""
    tells: dict[str, Tell] = {}
    at_a_time = n_jobs or os.cpu_count() or 1

    def tell(stage: str, done: int, total: int) -> None:
        if stage not in tells:
            tells[stage] = progress(_STAGES.get(stage, stage), total)
        running = min(at_a_time, total - done) if stage in {"search", "train"} else 0
        tells[stage](done, total, running=running)

    return tell


@click.command(short_help="Run the IE test: transform, retrain, compare, decide.")
@click.argument("config", required=False, type=FILE, metavar="[CONFIG.toml]")
@click.option("--demo", is_flag=True, help="Use the built-in demonstration corpus.")
@click.option(
    "--demo-sizes", metavar="TRAIN,VALID,TEST", help="Rows of its parts.  [default: 3000,1000,3000]"
)
@click.option("--demo-seed", type=int, help="Which demonstration corpus.  [default: 0]")
@click.option("--train", type=FILE, help="Training set.")
@click.option("--valid", type=FILE, help="Validation set.")
@click.option("--test", type=FILE, help="Test set.")
@click.option("--split-file", type=FILE, help="Take validation and test set from this file.")
@click.option("--split-n-train", type=int, help="Rows of it for training, if --train is not given.")
@click.option("--split-n-valid", type=int, help="Rows of it for validation.")
@click.option("--split-n-test", type=int, help="Rows of it for testing.")
@click.option("--split-seed", type=int, help="Which rows go where.")
@click.option("--split-group-by", help="Column whose equal values stay in one part.")
@click.option("--text-columns", metavar="A[,B]", help="Columns with the one or two texts.")
@click.option("--label-column", help="Column with the label.")
@click.option("--label-names", metavar="A,B[,...]", help="Names of the labels 0, 1, ...")
@click.option(
    "--clusters", help="Column of the test set whose equal values belong together (premise)."
)
@reading_options
@click.option(
    "--shuffle-labels",
    is_flag=True,
    help="Give the rows of each part each other's labels: a control, which has to end at a guess.",
)
@click.option("--data-name", help="What to call the data in signatures.")
@click.option(
    "--phi",
    multiple=True,
    metavar="NAME[:OPTION=VALUE,...]",
    help="Transformation (ietest-fast transform --list); repeat it for several.  "
    "[default: syn.careful]",
)
@word_options
@click.option(
    "--eval-phi",
    multiple=True,
    metavar="NAME[:OPTION=VALUE,...]",
    help="Further transformation of the test set: the same classifiers are evaluated on it, and "
    "trained on none of it; repeat it for several.",
)
@click.option(
    "--model",
    multiple=True,
    metavar="[NAME]",
    is_flag=False,
    flag_value=_LIST,
    help="Family of models; repeat it for several; without a name: say which there are.  "
    "[default: bow-xgb]",
)
@click.option("--model-option", multiple=True, metavar="NAME=VALUE", help="Setting of the model.")
@click.option(
    "--search", metavar="B|PRESET", help="Budget of the search, or a preset.  [default: 10]"
)
@click.option(
    "--param", multiple=True, metavar="NAME=VALUE", help="Hyperparameter; no search then."
)
@click.option(
    "--search-per-resample", is_flag=True, help="Search anew on every resample (Alternative 3)."
)
@click.option(
    "--voters", type=int, help="Classifiers for each resample, that vote (Alternative 2)."
)
@click.option(
    "--input", metavar="COLUMN", help="Show the model this column only: premise, hypothesis."
)
@click.option("--keep-models", is_flag=True, help="Keep every cell's classifier, if it can be.")
@click.option("--rho", metavar="LIST", help='"0,0.5,1" or first:last:step.  [default: 0:1:0.25]')
@click.option("--n-classifiers", "-M", type=int, help="Classifiers for each rho.  [default: 5]")
@click.option(
    "--mode",
    type=click.Choice(["replace", "augment"]),
    help="Train on transformed rows in the place of their originals, as in the paper, or beside "
    "them.  [default: replace]",
)
@click.option(
    "--train-size",
    metavar="N[,N...]",
    help="Train on so many rows, drawn at random, and on each further number: curves over the "
    "training set's size.  [default: all rows]",
)
@click.option("--alpha", type=OpenShare(0.5), help="Significance level.  [default: 0.05]")
@click.option(
    "--correction",
    type=click.Choice(["bonferroni", "holm", "maxt", "minp"]),
    help="For the M tests of a rho.  [default: bonferroni]",
)
@click.option(
    "--margin", type=OpenShare(), help="Smaller differences do not matter.  [default: 0.01]"
)
@click.option(
    "--flip-margin",
    type=OpenShare(),
    help="A smaller share of changed answers does not matter.  [default: 0.05]",
)
@click.option(
    "--strata",
    metavar="COLUMN",
    multiple=True,
    help="Also test the reworded texts of each value of this column of the test set, or of edits, "
    "their number; label is tested in any case. May be given several times.",
)
@click.option("--seed", type=int, help="Everything random follows from it.  [default: 0]")
@click.option(
    "--method",
    type=click.Choice(["exact", "multinomial", "resample"]),
    help="How p-values are found.  [default: exact; with --clusters resample]",
)
@click.option(
    "--n-resamples",
    "-S",
    type=int,
    help="Bootstrap replications, where any are drawn.  [default: 10000]",
)
@click.option("--n-jobs", type=int, help="Classifiers trained at a time.  [default: all cores]")
@click.option("--n-threads", type=int, help="Threads for each of them.  [default: 1]")
@click.option(
    "--out",
    type=_Folder(),
    default=Path("ietest-run"),
    show_default=True,
    help="Folder of the run; the same folder continues it.",
)
@allow_code
@click.option("--json", "as_json", is_flag=True, help="Print results.json instead of a table.")
@details_option
@click.option(
    "--fail-on-reject",
    is_flag=True,
    help="Exit with status 3 if invariance is rejected, at --alpha over all rho.",
)
@click.option(
    "--fail-unless-alike",
    is_flag=True,
    help="Exit with status 3 unless accuracy and answers are shown to stay within their margins.",
)
@click.pass_context
@csv_option(expose=True)
def command(
    ctx: click.Context,
    /,
    *,
    config: Path | None,
    out: Path,
    as_json: bool,
    details: bool,
    **options: Any,
) -> None:
    """Run the Invariance-under-Equivalence test.

    Trains classifiers on training sets of which a share rho is rephrased, compares each on the
    original and the rephrased test set, and decides. Everything can stand in CONFIG.toml; options
    take the place of what stands there. An interrupted run goes on where it was when the same
    command is given again.
    """
    if _LIST in options["model"]:
        _list_models()
        return
    _check_files(options)
    if config is not None:
        _refuse_word_options(options)
    overrides = _overrides(options)
    if config is None and "data" not in overrides:
        raise click.UsageError("give a CONFIG.toml, --demo, or --train, --valid and --test")

    from ietest_fast.experiment.run import run

    checked = _check(config, overrides, allow_code=options["allow_code"])
    try:
        with show_progress() as progress:
            result = run(checked, out, progress=_tell_stages(progress, checked.n_jobs))
    except KeyboardInterrupt:
        again = shlex.join(["ietest-fast", *sys.argv[1:]])
        kept = f"Interrupted. What is finished is kept in {out}; go on with:"
        echo(kept, f"  {again}", err=True)
        ctx.exit(130)

    from ietest_fast.experiment.view import print_summary, write_figures

    figures = write_figures(result)
    if as_json:
        print_json(result.to_dict(), indent=1)
    else:
        print_summary(result, make_console(), details=details)
        names = ", ".join(path.name for path in figures)
        more = "" if details else "; all tables: --details"
        echo(f"In {out}: results.json, {names}{more}")
    ctx.exit(exit_status(options, reject=result.reject, alike=result.alike))


def _check_files(options: dict[str, Any]) -> None:
    """Refuse files that cannot be read before the configuration says it by its keys."""
    from ietest_fast.files import check_file

    for name in ("train", "valid", "test", "split_file"):
        if options[name] is not None:
            check_file(options[name])


def _word_options(options: dict[str, Any]) -> list[str]:
    """Return those options of substitutions that are given, as they are typed."""
    return [f"--{name.replace('_', '-')}" for name in WORD_OPTION_NAMES if options[name]]


def _refuse_word_options(options: dict[str, Any]) -> None:
    """Refuse options of substitutions beside a configuration, which names its own."""
    given = [] if options["phi"] else _word_options(options)
    if given:
        raise click.UsageError(
            f"{' and '.join(given)}: CONFIG may name a transformation of its own; write "
            f"{'this option' if len(given) == 1 else 'these options'} into it, or give --phi too"
        )


def _check(config: Path | None, overrides: dict[str, Any], *, allow_code: bool) -> RunConfig:
    """Read the configuration; a mistake in the options is one of usage."""
    from ietest_fast.errors import ConfigError
    from ietest_fast.experiment.config import check_config, read_config

    try:
        if config is None:
            return check_config(overrides)
        return read_config(config, overrides, allow_code=allow_code)
    except ConfigError as error:
        if config is not None:
            try:
                read_config(config, allow_code=allow_code)
            except ConfigError:
                raise error from None  # something is wrong without the options, too
        raise click.UsageError(str(error)) from error


def _list_models() -> None:
    from ietest_fast.models.protocol import describe_models

    for name, line in describe_models().items():
        echo(f"{name:<12} {line}")
    echo('Or "package.module:Class" for a model of your own; see docs/models.md.')


def _demo(options: dict[str, Any]) -> dict[str, Any] | bool | None:
    """Give ``data.demo``: its table if a key of it is given, else whether there is one at all."""
    table: dict[str, Any] = {}
    if options["demo_sizes"] is not None:
        sizes = [_number_or_text(size) for size in options["demo_sizes"].split(",")]
        if len(sizes) != 3 or not all(isinstance(size, int) for size in sizes):
            raise click.UsageError(
                f"--demo-sizes takes three whole numbers, not {options['demo_sizes']!r}"
            )
        table = dict(zip(("n_train", "n_valid", "n_test"), sizes, strict=True))
    if options["demo_seed"] is not None:
        table["seed"] = options["demo_seed"]
    return table or options["demo"] or None


def _phi(options: dict[str, Any]) -> list[Any] | None:
    """Read ``--phi``; files that it names lie in the working folder."""
    if not options["phi"] and not _word_options(options):
        return None
    return list(choose_phis(options["phi"], options))


def _eval_phi(options: dict[str, Any]) -> list[Any] | None:
    """Read ``--eval-phi``; files that it names lie in the working folder."""
    from ietest_fast.transform.phi import parse_phi

    return [parse_phi(text, folder=Path.cwd()) for text in options["eval_phi"]] or None


def _models(options: dict[str, Any]) -> dict[str, Any] | list[dict[str, Any]]:
    """Read what is said of models; what is said beside their names holds for each."""
    search = options["search"]
    shared = {
        "options": _pairs(options["model_option"], "--model-option"),
        "search": None if search is None else _number_or_text(search),
        "params": _pairs(options["param"], "--param"),
        # A flag that is not given leaves the file's word.
        "search_per_resample": options["search_per_resample"] or None,
        "n_voters": options["voters"],
        "input": options["input"],
    }
    names = options["model"]
    if len(names) > 1:
        return [_drop_absent({"name": name, **shared}) for name in names]
    return {"name": names[0] if names else None, **shared}


def _overrides(options: dict[str, Any]) -> dict[str, Any]:
    """Return what the options say, as a configuration says it."""
    from ietest_fast.experiment.config import RunConfig

    of_split = ("n_train", "n_valid", "n_test", "seed", "group_by")
    data = {
        "demo": _demo(options),
        **{name: _absolute(options[name]) for name in ("train", "valid", "test")},
        "split": {
            "file": _absolute(options["split_file"]),
            **{name: options[f"split_{name}"] for name in of_split},
        },
        "text_columns": split_names(options["text_columns"]),
        "label_names": split_names(options["label_names"]),
        "cluster": options["clusters"],
        "missing_text": "drop" if options["drop_missing_texts"] else None,
        "shuffle_labels": options["shuffle_labels"] or None,
        "name": options["data_name"],
        **{name: options[name] for name in ("label_column", "quoted", "csv")},
    }
    own = {
        "data": data,
        "phi": _phi(options),
        "eval_phi": _eval_phi(options),
        "model": _models(options),
        "strata": options["strata"] or None,
        "keep_models": options["keep_models"] or None,
    }
    # All others are called as keys of the configuration are.
    same = {name: options[name] for name in RunConfig.model_fields if name in options}
    return _drop_absent(same | own)
