"""``ietest-fast report``: finished runs as one page."""

from __future__ import annotations

from pathlib import Path

import click

_PATH = click.Path(path_type=Path)


@click.command("report")
@click.argument("runs", nargs=-1, required=True, type=_PATH, metavar="RUN...")
@click.option(
    "--out",
    type=_PATH,
    help="The page to write.  [default: report.html in the folder of the first RUN]",
)
@click.option("--title", default="Invariance under equivalence", help="Of the page.")
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="NAME",
    help="What to call a run, once for each in their order.  [default: the model's name]",
)
@click.option(
    "--where",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Of a file of counts only rows with this value.",
)
@click.option(
    "--train",
    type=_PATH,
    help="A training set, for the words that go with each label.  [default: of a run on the "
    "demonstration corpus its own]",
)
@click.option("--label-column", metavar="NAME", help="Of --train.")
@click.option(
    "--paper",
    type=_PATH,
    metavar="FOLDER",
    help="Write every table (CSV, Markdown, LaTeX) and figure (SVG, PDF, PNG) there as well.",
)
def command(
    *,
    runs: tuple[Path, ...],
    out: Path | None,
    title: str,
    names: tuple[str, ...],
    where: tuple[str, ...],
    train: Path | None,
    label_column: str | None,
    paper: Path | None,
) -> None:
    """Show finished runs: one page with figures, tables and every example.

    RUN is the folder of a run, or a file of counts (columns model, rho, n11, n10, n01, n00):
    results that were published, or come from another program. The page is one HTML file that works
    offline.
    """
    if label_column is not None and train is None:
        raise click.UsageError("--label-column is of --train, which is not given.")
    chosen = dict(_pair(text) for text in where)
    if chosen and not any(path.is_file() for path in runs):
        raise click.UsageError("--where is for files of counts, and there is none.")

    from ietest_fast.corpus import read_corpus
    from ietest_fast.experiment.artefacts import write_text
    from ietest_fast.report.contents import gather
    from ietest_fast.report.page_builder import build_page
    from ietest_fast.report.paper import write_for_paper
    from ietest_fast.report.runs import make_demo_train, read_runs

    found = read_runs(runs, names, where=chosen)
    target = out if out is not None else _beside(runs[0])
    if target.is_dir():
        raise click.UsageError(f"--out is a folder, {target}; name a file, such as report.html.")
    texts = (
        make_demo_train(found) if train is None else read_corpus(train, label_column=label_column)
    )
    contents = gather(found, train=texts)
    write_text(target, build_page(contents, title=title))
    click.echo(f"{target}: {len(found)} run{'s' * (len(found) != 1)}")
    if paper is not None:
        written = write_for_paper(contents, paper)
        click.echo(f"{paper}: {len(written)} files")


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.UsageError(f"--where takes COLUMN=VALUE, not {text!r}.")
    return name, value


def _beside(run: Path) -> Path:
    return run / "report.html" if run.is_dir() else run.with_name("report.html")
