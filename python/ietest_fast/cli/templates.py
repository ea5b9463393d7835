"""``ietest-fast templates``: corpora whose labels are proved."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ietest_fast.cli.options import FILE, MOST_THREADS, NAMES, CommaList, check_not_given
from ietest_fast.numerals import say_count
from ietest_fast.report.progress import show_progress
from ietest_fast.report.terminal import echo, print_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ietest_fast.templates.files import Task
    from ietest_fast.templates.language import Language, Verbs
    from ietest_fast.templates.naming import Names
    from ietest_fast.templates.sampling import CorpusPlan, ProvedTemplates, SplitPlan

_LABELS = ("nli", "contradiction")
_FORMS = ("parquet", "csv", "tsv", "jsonl")
_SHOWN = 10
_MOST_SHOWN = 10_000
_MOST_ROWS = 10_000_000_000

_COUNTS = CommaList(
    "N[,N...]",
    item=int,
    fits=lambda counts: bool(counts) and min(counts) >= 1 and max(counts) <= _MOST_ROWS,
    complaint=f"is no list of numbers of rows, each from 1 to {_MOST_ROWS:,}",
)


@click.command("templates")
@click.argument("names", metavar="[TASK]...", nargs=-1)
@click.option("--list", "as_list", is_flag=True, help="List all tasks.")
@click.option(
    "--file",
    "files",
    metavar="FILE",
    type=FILE,
    multiple=True,
    help="A file of your own templates; may be given several times.",
)
@click.option("--out", metavar="FOLDER", type=FILE, help="Write the corpus there.")
@click.option(
    "--n",
    "counts",
    type=_COUNTS,
    help="Rows of each split, or one number for all.  [default: 10000,1000,1000; without --out: "
    f"{_SHOWN}]",
)
@click.option(
    "--split",
    "splits",
    type=NAMES,
    metavar="NAME[,...]",
    help="The splits, each with names of its own.  [default: train,valid,test]",
)
@click.option(
    "--labels",
    type=click.Choice(_LABELS),
    default="nli",
    show_default=True,
    help="entailment, neutral and contradiction; or contradiction and non-contradiction.",
)
@click.option(
    "--rules",
    type=click.Choice(["careful", "thesis", "released"]),
    default="careful",
    show_default=True,
    help="Of tasks 1 to 7. careful: neither text alone tells what is a contradiction; thesis: as "
    "the thesis describes them; released: as its published corpora are.",
)
@click.option(
    "--language",
    metavar="CODE|FILE",
    default="en",
    show_default=True,
    help="en, pt, or the file of a language.",
)
@click.option(
    "--wordings",
    type=click.Choice(["one", "many"]),
    default="one",
    show_default=True,
    help="many: other verbs than visiting and other adjectives than tall, for a larger vocabulary.",
)
@click.option(
    "--names",
    "names_path",
    metavar="FILE",
    type=FILE,
    help="A file of names of people and places.  [default: those of the language]",
)
@click.option(
    "--shared-names",
    is_flag=True,
    help="All splits have the names of the first one, so no name in a test set is new.",
)
@click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help="Of all draws."
)
@click.option(
    "--threads", metavar="N", type=click.IntRange(1, MOST_THREADS), help="[default: all cores]"
)
@click.option("--format", "form", type=click.Choice(_FORMS), default="parquet", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for machines.")
def command(*, out: Path | None, as_json: bool, **options: Any) -> None:
    """Make pairs of sentences from templates, with labels that are proved.

    A TASK is one of --list; several make one corpus. With --out, each split becomes a file; without
    it, some pairs are shown.
    """
    if options["as_list"]:
        _print_list(as_json=as_json)
        return
    if not options["names"]:
        if not options["files"]:
            raise click.UsageError("name a TASK (--list shows all), or give a --file of templates")
        check_not_given("rules", because="is for the TASKs of the package; leave it out")
    if out is None:
        check_not_given("format", because="is for the files of --out; name a folder with --out")
    from ietest_fast.templates.sampling import (
        CONTRADICTION_OR_NOT,
        THREE_WAY,
        CorpusPlan,
        check_enough_names,
        check_plan,
        prove_templates,
        write_corpus,
    )

    tasks = _read_tasks(options)
    words, verbs = _read_words(options)
    plan = CorpusPlan(
        folder=out or Path(),
        splits=_plan_splits(options, _find_names(options, words), out),
        label_names=THREE_WAY if options["labels"] == "nli" else CONTRADICTION_OR_NOT,
        seed=options["seed"],
        form=options["form"],
        about={
            "rules": options["rules"],
            "language": words.name,
            "wordings": len(verbs) or 1,
            "shared_names": options["shared_names"],
            "files": _fingerprints(options),
        },
    )
    if out is not None:
        check_plan(plan)
    if options["names_path"] is not None:
        check_enough_names(tasks, {split.name: split.names for split in plan.splits})
    with show_progress() as progress:
        proved = prove_templates(
            tasks, words, wordings=verbs, on_shape=progress("Proving labels, shapes")
        )
        if out is None:
            _show(proved, plan, n_threads=options["threads"], as_json=as_json)
            return
        n_rows = sum(each.n_rows for each in plan.splits)
        record = write_corpus(
            proved,
            plan,
            n_threads=options["threads"],
            on_rows=progress("Writing pairs", n_rows),
        )
    _print_record(proved, plan, record, as_json=as_json)


def _fingerprints(options: Mapping[str, Any]) -> list[dict[str, str]]:
    """Say which files of the user the corpus was made of."""
    from ietest_fast.atomic import hash_file
    from ietest_fast.templates.language import language_codes

    own = [("templates", path) for path in options["files"]]
    if options["names_path"] is not None:
        own.append(("names", options["names_path"]))
    if options["language"] not in language_codes():
        own.append(("language", Path(options["language"])))
    return [{"kind": kind, "path": str(path), "sha256": hash_file(path)} for kind, path in own]


def _read_tasks(options: Mapping[str, Any]) -> tuple[Task, ...]:
    from ietest_fast.files import check_file
    from ietest_fast.templates.files import load_tasks, read_task

    for path in options["files"]:
        check_file(path)
    found: dict[str, Task] = {}
    names = dict.fromkeys(options["names"])
    chosen = [task for name in names for task in load_tasks(name, options["rules"])]
    for task in (*chosen, *map(read_task, options["files"])):
        if task.name in found and found[task.name] is not task:
            if task.templates == found[task.name].templates:
                continue
            raise click.UsageError(
                f"two tasks have the name {task.name!r}; rename the file of one of them"
            )
        found[task.name] = task
    return tuple(found.values())


def _read_words(options: Mapping[str, Any]) -> tuple[Language, tuple[Verbs, ...]]:
    """Return a language, and the wordings of its verbs if there are many."""
    from ietest_fast.files import check_file
    from ietest_fast.templates.language import (
        language_codes,
        load_language,
        load_wordings,
        read_language,
    )

    language, rules, many = options["language"], options["rules"], options["wordings"] == "many"
    if many and rules == "released":
        raise click.UsageError("the published corpora have one wording; leave out --wordings many")
    if language in language_codes():
        words = load_language(language, rules)
        return words, load_wordings(language, rules) if many else ()
    path = Path(language)
    if not path.suffix:
        codes = ", ".join(language_codes())
        raise click.BadParameter(
            f"there is no language {language!r}; there are {codes}, or give the file of one",
            param_hint="--language",
        )
    if many:
        raise click.BadParameter(
            "the file of a language has one wording; leave it out", param_hint="--wordings"
        )
    check_file(path)
    return read_language(path), ()


def _find_names(options: Mapping[str, Any], words: Language) -> Callable[[str], Names]:
    """Return what finds the names of a split, all of which can stand in a language."""
    from ietest_fast.errors import InputError
    from ietest_fast.files import check_file
    from ietest_fast.templates.language import language_codes, load_wordings
    from ietest_fast.templates.naming import read_names

    path, language = options["names_path"], options["language"]
    if path is not None:
        check_file(path)
    found = {} if path is None else read_names(path)
    is_packaged = language in language_codes()
    wordings = load_wordings(language, options["rules"]) if is_packaged else ()

    def find(split: str) -> Names:
        if path is not None and split not in found:
            known = ", ".join(found)
            raise InputError(f"there is no split {split!r}; there are {known}", path=path)
        names = _load_packaged(Path(language).stem, split) if path is None else found[split]
        try:
            words.check_names(names, wordings=wordings)
        except InputError as error:
            raise InputError(str(error), path=path) from error
        return names

    return find


def _load_packaged(code: str, split: str) -> Names:
    from ietest_fast.templates.naming import SPLITS, load_names

    for known in SPLITS:
        if split == known:
            return load_names(code, known)
    raise click.BadParameter(
        f"the package has names for {', '.join(SPLITS)}, not for {split!r}; give a file with "
        "--names, or begin with one of these and take --shared-names",
        param_hint="--split",
    )


def _name_splits(options: Mapping[str, Any], out: Path | None) -> list[str]:
    """Return the names of the splits, which are names of files."""
    splits = options["splits"]
    if splits is None:
        return ["train", "valid", "test"] if out is not None else ["train"]
    if len({name.casefold() for name in splits}) < len(splits):
        raise click.BadParameter("a split stands there twice", param_hint="--split")
    strange = [name for name in splits if not re.fullmatch(r"\w[\w-]*", name)]
    if strange:
        raise click.BadParameter(
            f"{strange[0]!r} cannot be the name of a file; take letters, digits, - and _",
            param_hint="--split",
        )
    return list(splits)


def _plan_splits(
    options: Mapping[str, Any], find: Callable[[str], Names], out: Path | None
) -> tuple[SplitPlan, ...]:
    from ietest_fast.templates.sampling import SplitPlan

    counts: Sequence[int] | None = options["counts"]
    if out is None and counts is not None and max(counts) > _MOST_SHOWN:
        raise click.BadParameter(
            f"at most {_MOST_SHOWN:,} pairs are shown; name a folder with --out", param_hint="--n"
        )
    splits = _name_splits(options, out)
    if counts is None:
        usual = {"train": 10_000}
        counts = tuple(usual.get(name, 1_000) for name in splits) if out else (_SHOWN,)
    if len(counts) == 1:
        counts = [counts[0]] * len(splits)
    if len(counts) != len(splits):
        raise click.BadParameter(
            f"there are {len(counts)} numbers and {len(splits)} splits ({', '.join(splits)}); give "
            "one number for each, or one for all",
            param_hint="--n",
        )
    return tuple(
        SplitPlan(name, n_rows, find(splits[0] if options["shared_names"] else name))
        for name, n_rows in zip(splits, counts, strict=True)
    )


def _print_record(
    proved: ProvedTemplates, plan: CorpusPlan, record: Mapping[str, object], *, as_json: bool
) -> None:
    from ietest_fast.templates.sampling import RECORD

    if as_json:
        print_json({"folder": str(plan.folder), **record})
        return
    said = [say_count(len(proved.templates), "template"), say_count(proved.n_shapes, "shape")]
    echo(f"{', '.join(said)}, all labels proved.")
    for split in plan.splits:
        echo(f"{plan.path_of(split)}: {say_count(split.n_rows, 'pair')}")
    (label, *others) = {plan.label_names[each.label] for each in proved.templates}
    if not others:
        echo(f"All pairs have the label {label!r}.")
    if not plan.are_disjoint:
        echo("The splits have names in common.")
    echo(f"{plan.folder / RECORD}: how they were made")


def _show(
    proved: ProvedTemplates, plan: CorpusPlan, *, n_threads: int | None, as_json: bool
) -> None:
    from ietest_fast.templates.sampling import draw_split

    rows = {
        split.name: draw_split(proved, plan, split)
        .draw(0, split.n_rows, n_threads=n_threads)
        .to_pylist()
        for split in plan.splits
    }
    if as_json:
        print_json({"splits": rows})
        return
    for own in rows.values():
        for row in own:
            echo(f"{row['premise']}")
            echo(f"    {row['hypothesis']}")
            echo(f"    {row['label']}  ({row['task']}, {row['template']})")


def _print_list(*, as_json: bool) -> None:
    from ietest_fast.templates.files import describe_task, load_tasks, task_names

    tasks = []
    for name in task_names():
        templates = [each for task in load_tasks(name) for each in task.templates]
        labels = sorted({each.label.value for each in templates})
        about = describe_task(name)
        tasks.append({"name": name, "about": about, "templates": len(templates), "labels": labels})
        if not as_json:
            echo(f"{name}: {about}  ({len(templates)} templates: {', '.join(labels)})")
    if as_json:
        print_json({"tasks": tasks})
