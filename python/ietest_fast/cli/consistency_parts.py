"""Options of ``ietest-fast consistency`` that part items: by diversity, by partial input."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ietest_fast.cli.logs import OF_LOGS
from ietest_fast.cli.options import add_options, check_not_given, split_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ietest_fast.analyses.consistency.file import ConsistencyAnswers

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
            self.fail("'original' is what originals are called; name the source otherwise")
        return name.strip(), Path(path)


def part_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what says by what items are parted."""
    options = [
        click.option(
            "--source",
            "sources",
            type=_Named(),
            multiple=True,
            help="Instead of --test, or of LOGs: paraphrases of the same items, or answers to "
            "them, from this source. Given several times, such as human=FILE and automatic=FILE, "
            "the sources are joined and compared (--subset source).",
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
            type=click.Path(path_type=Path),
            help="Answers of a model that saw a part of the input, to the same items: also measure "
            "consistency on the items that it gets right, and on those that it gets wrong.",
        ),
    ]
    return add_options(command, options)


def check_parts(options: Mapping[str, Any], *, runs_model: bool) -> None:
    """Refuse options that do not go together."""
    if not options["by_diversity"]:
        check_not_given("diversity-groups", because="needs --by-diversity")
        if not runs_model:
            check_not_given(
                "text-columns", because="is for a model that is run, and for --by-diversity"
            )


def check_sources(options: Mapping[str, Any], *, logs: Sequence[str], test: Path | None) -> None:
    """Refuse sources beside other files, or too few of them."""
    sources = options["sources"]
    if not sources:
        return
    if logs or test is not None:
        raise click.UsageError("--source takes the place of --test and of LOGs")
    check_not_given("phi", because="makes paraphrases, and --source has them")
    names = [name for name, _ in sources]
    if len(names) < 2 or len(set(names)) < len(names):
        raise click.UsageError("--source needs two sources or more, with different names")


def read_sources(options: Mapping[str, Any]) -> tuple[ConsistencyAnswers, ...]:
    """Read the answers of a model to paraphrases from several sources, as one table."""
    from ietest_fast.analyses.consistency.joining import join_answers_of_sources
    from ietest_fast.analyses.consistency.reading import need_wordings, without_mixed

    check_not_given(*OF_LOGS, "threshold", because="is for logs of other programs")
    parts = {name: need_wordings(path) for name, path in options["sources"]}
    joined = join_answers_of_sources(parts)
    return (without_mixed(joined) if options["drop_mixed"] else joined,)


def note_parts_of(
    answers: Sequence[ConsistencyAnswers], options: Mapping[str, Any], *, runs_model: bool
) -> tuple[ConsistencyAnswers, ...]:
    """Note in the answers by what the options part items."""
    from ietest_fast.analyses.consistency.noting import note_parts
    from ietest_fast.analyses.consistency.reading import need_wordings
    from ietest_fast.answers.metadata import plain_name

    path = options["partial_input"]
    # Of a model that is run, the columns that it was shown.
    texts = None if runs_model else split_names(options["text_columns"])
    return note_parts(
        answers,
        by_diversity=options["by_diversity"],
        diversity_groups=options["diversity_groups"],
        text_columns=texts,
        partial_input=None if path is None else need_wordings(path).predictions,
        partial_name="" if path is None else plain_name(path),
        n_threads=options["n_threads"],
    )
