"""``ietest-fast annotate``: are the rephrased texts still sound? People say."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ietest_fast.cli.options import FILE, MOST_THREADS, check_not_given, csv_option, split_names
from ietest_fast.errors import InputError
from ietest_fast.report.progress import show_stage
from ietest_fast.report.terminal import echo, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ietest_fast.annotation.sample import Sample
    from ietest_fast.annotation.soundness import Agreement, Soundness

# Substitutions that are named.
_WORST = 10

# Of `draw` from a labelled file.
_OF_FILES = (
    "phi",
    "lexicon-from",
    "quantities",
    "quantities-column",
    "text-columns",
    "threads",
)

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, for machines.")


@click.group("annotate", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Draw a sample of rephrased texts, mark each as sound or unsound, and sum the marks up."""


@command.command("draw")
@click.argument("source", metavar="RUN|FILE", type=FILE)
@click.argument("sample", type=FILE)
@click.option(
    "-n", "n", type=click.IntRange(min=1), default=400, show_default=True, help="How many."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Which sample.  [default: 0]")
@click.option(
    "--edits",
    "of_edits",
    is_flag=True,
    help="Mark edits one by one, all those of a text, instead of texts with all their edits.",
)
@click.option(
    "--criterion",
    type=click.Choice(["label", "meaning"]),
    help="What people are asked: whether the label holds, as in the paper, or, more strictly, "
    "whether the meaning is the same.  [default: label]",
)
@click.option(
    "--phi",
    metavar="NAME[:OPTION=VALUE,...]",
    help="Transform the labelled FILE by this (`ietest-fast transform --list`), and draw from it.",
)
@click.option(
    "--lexicon-from",
    metavar="TRAIN",
    type=FILE,
    multiple=True,
    help="A file that the transformation learns from.  [default: FILE]",
)
@click.option(
    "--quantities",
    metavar="TEXTS",
    type=FILE,
    help="Transform these texts instead of those of FILE, by a transformation that sets labels, "
    "such as numerical.",
)
@click.option(
    "--quantities-column",
    metavar="NAME",
    help="Their column.  [default: the only one with texts, or text, sentence, question or "
    "premise]",
)
@click.option("--text-columns", metavar="A[,B]", help="Columns of FILE that hold texts.")
@click.option(
    "--threads", "n_threads", type=click.IntRange(1, MOST_THREADS), help="[default: all cores]"
)
@csv_option()
def draw(*, source: Path, sample: Path, phi: str | None, **options: Any) -> None:
    """Draw reworded observations into the new file SAMPLE.

    They are test observations of RUN, a run's folder, or rows that --phi makes of FILE, labelled
    texts: those that change. If the transformation sets labels, people are asked whether they are
    right.
    """
    if source.is_dir():
        check_not_given(*_OF_FILES, because="is for a labelled file; a run has its transformation")
        _draw_from_run(source, sample, options)
        return
    if phi is None:
        if source.exists():
            raise click.UsageError(
                f"{source} is a file: say by --phi NAME what transforms its texts, or name the "
                "folder of a run"
            )
        raise click.UsageError(
            f"there is no {source}: name the folder of a run, or a labelled file with --phi"
        )
    if options["quantities"] is None:
        check_not_given("quantities-column", because="is of --quantities")
    _draw_from_file(source, sample, phi, options)


def _draw_from_run(run: Path, sample: Path, options: Mapping[str, Any]) -> None:
    from ietest_fast.annotation.sampling import draw_sample
    from ietest_fast.experiment.finished import read_run

    with show_stage("Drawing"):
        drawn = draw_sample(
            read_run(run),
            sample,
            criterion=options["criterion"] or "label",
            **_drawing(options),
        )
    _say_drawn(drawn, options["n"], "reworded observations")


def _draw_from_file(file: Path, sample: Path, phi: str, options: Mapping[str, Any]) -> None:
    from ietest_fast.annotation.sampling import check_new, draw_transformed
    from ietest_fast.answers.versions import read_unlabelled_texts
    from ietest_fast.corpus import read_corpus
    from ietest_fast.transform.phi import parse_phi

    # Before files are read, which takes longer.
    check_new(sample)
    parse_phi(phi)
    texts = split_names(options["text_columns"])
    corpus = read_corpus(file, text_columns=texts)
    unlabelled = None
    if options["quantities"] is not None:
        unlabelled = read_unlabelled_texts(
            options["quantities"], options["quantities_column"], corpus.text_columns
        )
    with show_stage("Transforming, and drawing"):
        drawn = draw_transformed(
            corpus,
            phi,
            sample,
            criterion=options["criterion"],
            **_drawing(options),
            learn_from=[
                read_corpus(train, text_columns=corpus.text_columns)
                for train in options["lexicon_from"]
            ],
            unlabelled=unlabelled,
            n_threads=options["n_threads"],
        )
    _say_drawn(drawn, options["n"], "different new texts")


def _drawing(options: Mapping[str, Any]) -> dict[str, Any]:
    unit = "edits" if options["of_edits"] else "texts"
    return {"n": options["n"], "seed": options["seed"], "unit": unit}


def _say_drawn(drawn: Sample, n: int, what: str) -> None:
    n_texts = len({pair["row"] for pair in drawn.pairs})
    of_what = f"{len(drawn.pairs):,} edits of " if drawn.unit == "edits" else ""
    one_each = ""
    if len(drawn.pairs) < n and n_texts < drawn.n_reworded:
        one_each = f"; not {n:,}, because at most one is drawn from each row of the file"
    echo(f"{drawn.path}: {of_what}{n_texts:,} of {drawn.n_reworded:,} {what}{one_each}")


@command.command("serve")
@click.argument("sample", type=FILE)
@click.option("--person", required=True, help="Who marks: letters, digits, _ and -.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="[default: any that is free]"
)
@click.option("--open/--no-open", "open_", default=True, help="Open it in the browser.")
def serve(*, sample: Path, person: str, port: int, open_: bool) -> None:
    """Show SAMPLE as a page on this machine, where one person marks it by the keyboard.

    Marks are kept beside the sample, each at once. Ctrl-C ends it; the same command goes on where
    it was.
    """
    from ietest_fast.annotation.marks import Marks
    from ietest_fast.annotation.sample import read_sample
    from ietest_fast.annotation.server import AnnotationServer

    drawn = read_sample(sample)
    marks = Marks(drawn, person)
    try:
        server = AnnotationServer(drawn, marks, port=port)
    except OSError as error:
        raise InputError(f"the port {port} cannot be used: {error.strerror}") from error
    with server, marks.locked():
        echo(f"{len(marks):,} of {len(drawn.pairs):,} marked. Open this, and end with Ctrl-C:")
        echo(server.url)
        if open_:
            click.launch(server.url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            echo(f"\n{len(marks):,} of {len(drawn.pairs):,} marked, in {marks.path}")


@command.command("export")
@click.argument("sample", type=FILE)
@click.argument("target", metavar="LIST", type=FILE)
def export(*, sample: Path, target: Path) -> None:
    """Write the items of SAMPLE to the new file LIST, for readers without the page.

    LIST is CSV, TSV, JSON lines or Parquet, by its name. It does not tell which version is the
    original. Readers fill in the column sound (yes or no); `import` reads it.
    """
    from ietest_fast.annotation.marks import write_list
    from ietest_fast.annotation.sample import ASKED, read_sample

    drawn = read_sample(sample)
    write_list(drawn, target)
    echo(f"{target}: {len(drawn.pairs):,} items. Ask readers this:")
    echo(ASKED[drawn.criterion])


@command.command("import")
@click.argument("sample", type=FILE)
@click.argument("marks", type=FILE)
@click.option("--person", required=True, help="Whose marks: letters, digits, _ and -.")
def import_(*, sample: Path, marks: Path, person: str) -> None:
    """Add the marks in the table MARKS to those of a person: columns item and sound.

    In the column sound stands yes or no (or 1 and 0, true and false, sound and unsound), or nothing
    if an item is not marked.
    """
    from ietest_fast.annotation.marks import import_marks
    from ietest_fast.annotation.sample import read_sample

    drawn = read_sample(sample)
    found = import_marks(drawn, marks, person)
    echo(f"{found.path}: {len(found):,} of {len(drawn.pairs):,} marked")


@command.command("summary")
@click.argument("sample", type=FILE)
@_JSON
def summary(*, sample: Path, as_json: bool) -> None:
    """Say how many of SAMPLE are sound, with Wilson's interval, and how far people agree."""
    from ietest_fast.annotation.soundness import (
        count_unsound,
        measure_agreement,
        measure_orders,
        read_marked,
        summary_table,
    )

    found = read_marked(sample)
    drawn, marks = found.sample, found.marks
    agreement = measure_agreement(list(marks.values())) if len(marks) > 1 else None
    rows = {pair["item"]: pair["row"] for pair in drawn.pairs} if drawn.unit == "edits" else None
    if as_json:
        print_json(_summarise(drawn, marks, rows, agreement))
        return
    print_table(summary_table(drawn, marks))
    if agreement is not None:
        kappa = "undefined" if agreement.kappa is None else f"{agreement.kappa:.3f}"
        share = "" if agreement.share is None else f", {agreement.share:.1%} of marks agree"
        echo(f"{agreement.name}: {kappa}, on {agreement.n:,} marked by all{share}.")
    if drawn.has_versions:
        _say_orders(measure_orders(drawn, marks))
    worst = count_unsound(drawn, marks)[:_WORST] if rows else []
    if worst:
        said = ", ".join(f"{old} -> {new} ({bad} of {n})" for old, new, bad, n in worst)
        echo(f"Most often unsound: {said}.")


def _summarise(
    drawn: Sample,
    marks: Mapping[str, Mapping[int, str]],
    rows: Mapping[int, int] | None,
    agreement: Agreement | None,
) -> dict[str, Any]:
    from ietest_fast.annotation.soundness import (
        count_ties,
        count_unsound,
        measure_all,
        measure_orders,
        measure_texts,
    )

    return {
        "drawn": len(drawn.pairs),
        "unit": drawn.unit,
        "criterion": drawn.criterion,
        "soundness": _as_json(measure_all(marks, rows=rows)),
        "texts": _as_json(measure_texts(drawn, marks)) if rows else None,
        "by_first": {
            version: {"n_marked": n, "n_sound": n_sound}
            for version, (n, n_sound) in measure_orders(drawn, marks).items()
        }
        if drawn.has_versions
        else None,
        "unsound_edits": [
            dict(zip(("old", "new", "n_unsound", "n_marked"), each, strict=True))
            for each in (count_unsound(drawn, marks) if rows else ())
        ],
        "n_ties": count_ties(list(marks.values())),
        "agreement": None if agreement is None else asdict(agreement),
    }


def _say_orders(found: Mapping[str, tuple[int, int]]) -> None:
    shown = [
        f"{n_sound / n:.1%} of {n:,} with the {version} one first"
        for version, (n, n_sound) in found.items()
        if n
    ]
    echo(f"Sound marks by order of the versions: {', '.join(shown)}.")


def _as_json(found: Sequence[Soundness]) -> list[dict[str, Any]]:
    return [
        asdict(each)
        | {"interval": None if each.interval is None else each.interval._asdict()}
        | {"share": each.share}
        for each in found
    ]


@command.command("test")
@click.argument("sample", type=FILE)
@click.argument("run", type=FILE)
@click.option(
    "--by",
    default="majority",
    show_default=True,
    help="Whose marks say what is sound: a person's, or the majority's.",
)
@_JSON
def test(*, sample: Path, run: Path, by: str, as_json: bool) -> None:
    """Repeat the test of RUN on the part of SAMPLE that is sound."""
    from ietest_fast.annotation.marks import Marks, find_marks, read_all_marks
    from ietest_fast.annotation.sample import read_sample
    from ietest_fast.annotation.sampling import check_run
    from ietest_fast.annotation.soundness import find_sound, repeat_on
    from ietest_fast.experiment.finished import read_run
    from ietest_fast.experiment.view.result_tables import brief_tables
    from ietest_fast.experiment.view.summary import say_verdict

    drawn, finished = read_sample(sample), read_run(run)
    check_run(drawn, finished)
    # Another's file may be damaged: it does not matter here.
    marks = (
        {by: Marks(drawn, by).as_dict()} if by in find_marks(drawn.path) else read_all_marks(drawn)
    )
    try:
        rows = drawn.rows_of(find_sound(marks, by=by))
    except InputError as error:
        raise InputError(str(error), path=sample) from error
    if not rows:
        raise InputError(f"no marked observation is sound by {by}", path=sample)
    repeated = repeat_on(finished, rows)
    if as_json:
        print_json({"by": by, "rows": rows, **repeated.to_dict()})
        return
    for table in brief_tables(repeated):
        print_table(table)
    if finished.cells[0].n_clusters is not None:
        echo("The run drew clusters; here observations are drawn one by one.")
    echo(f"On {len(rows):,} observations that are sound by {by}. {say_verdict(repeated)}")
