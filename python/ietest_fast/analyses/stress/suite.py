"""Suites of stress tests: which there are, and their texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ietest_fast.analyses.stress.origins import StressOrigin, note_rows
from ietest_fast.answers.asking import SuiteOptions
from ietest_fast.answers.table import ORIGINAL
from ietest_fast.answers.versions import transform_corpus
from ietest_fast.atomic import name_files, new_folder
from ietest_fast.corpus.columns import check_columns
from ietest_fast.errors import ConfigError, InputError
from ietest_fast.files import check_file, read_toml
from ietest_fast.registry import FileNames, reading_names
from ietest_fast.values import find_twins, show_value

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from ietest_fast.answers.versions import UnlabelledTexts, Version
    from ietest_fast.corpus import Corpus
    from ietest_fast.models.classifiers import Unparsed
    from ietest_fast.stats.inputs import Rng
    from ietest_fast.stats.outcomes import Method
    from ietest_fast.stats.resampling import Alternative
    from ietest_fast.transform.phi import TextSource

PAPER_SUITE = (
    "antonym",
    "numerical",
    "word-overlap",
    "negation",
    "length-mismatch",
    "spelling",
)
"""The six tests of Naik et al. (2018), in the order of their Table 3."""

#: Keys of a test in a suite that are no options of its transformation.
_OF_TEXTS = ("texts_from", "texts_column")


@dataclass(frozen=True, kw_only=True, eq=False)
class StressTest:
    """A test of a suite: how texts are transformed, and which."""

    phi: Any
    """A transformation: its name with options, a mapping of these, or a finished one."""
    texts_from: str | Path | Sequence[str | None] | None = None
    """A file of texts that new pairs are made of, or these texts; None: the texts of the labelled
    file."""
    texts_column: str | None = None
    """Its column; None: found by its name (:func:`read_unlabelled_texts`)."""

    @property
    def files(self) -> list[Path]:
        """The files that it reads."""
        own = list(self.phi.files()) if hasattr(self.phi, "files") else []
        return [*own, Path(self.texts_from)] if isinstance(self.texts_from, str | Path) else own

    def read_texts(self, text_columns: Sequence[str]) -> UnlabelledTexts | None:
        """Return the other texts; None for those of the labelled file."""
        from ietest_fast.answers.versions import read_unlabelled_texts, take_unlabelled_texts

        if self.texts_from is None:
            return None
        if isinstance(self.texts_from, str | Path):
            return read_unlabelled_texts(self.texts_from, self.texts_column, text_columns)
        return take_unlabelled_texts(self.texts_from, text_columns)


def paper_suite(
    *,
    rules: str = "careful",
    quantities: str | Path | Sequence[str | None] | None = None,
    quantities_column: str | None = None,
) -> dict[str, StressTest]:
    """Return the six tests of the paper by name."""
    tests = {name: StressTest(phi={"name": name, "rules": rules}) for name in PAPER_SUITE}
    tests["numerical"] = replace(
        tests["numerical"], texts_from=quantities, texts_column=quantities_column
    )
    return tests


def _refuse_added(name: str, wrong: str | None) -> InputError:
    return InputError(f"add: {wrong or f'the test {name!r} is in the suite already'}")


def choose_tests(
    suite: Any,
    added: Iterable[tuple[str, Any]] = (),
    *,
    rules: str | None = None,
    quantities: str | Path | Sequence[str | None] | None = None,
    quantities_column: str | None = None,
    allow_code: bool = False,
    refuse: Callable[[str, str | None], Exception] = _refuse_added,
) -> dict[str, StressTest]:
    """Return the tests of a suite by name, and those that are added with a name and what they do.

    `suite` is None for the paper's six, of which alone `rules` and `quantities` are; a TOML file
    (:func:`read_suite`); or a mapping from names to transformations or tests. `refuse` words what
    cannot be added: its name, and why not, which is None if it is there already.
    """
    if suite is None:
        tests = paper_suite(
            rules=rules or "careful", quantities=quantities, quantities_column=quantities_column
        )
    elif rules is not None or quantities is not None or quantities_column is not None:
        raise InputError(
            "rules and quantities are of the paper's six; a suite says them of each test itself"
        )
    elif isinstance(suite, str | Path):
        tests = read_suite(suite, allow_code=allow_code)
    elif isinstance(suite, Mapping) and suite and all(isinstance(name, str) for name in suite):
        tests = {name: _as_test(value) for name, value in suite.items()}
        wrong = find_wrong_name(tests)
        if wrong is not None:
            raise InputError(f"suite: {wrong}")
    else:
        raise InputError(
            "suite is a TOML file, or a mapping from names of tests to transformations, such as "
            '{"not": "negation:times=2"}'
        )
    for name, value in added:
        if name in tests:
            raise refuse(name, None)
        wrong = find_wrong_name([*tests, name])
        if wrong is not None:
            raise refuse(name, wrong)
        tests[name] = _as_test(value)
    return tests


def _as_test(value: Any) -> StressTest:
    return value if isinstance(value, StressTest) else StressTest(phi=value)


def find_wrong_name(names: Collection[str]) -> str | None:
    """Say why texts cannot be called as the tests of a suite are; None if they can."""
    twins = find_twins([ORIGINAL, *names])
    if twins is None and ORIGINAL not in names:
        return None
    one, other = twins or (ORIGINAL, ORIGINAL)
    if one == ORIGINAL:
        return f"no test can be called {show_value(other)}: that is the reference"
    return (
        f"the tests {show_value(one)} and {show_value(other)} differ in case, or in blanks around "
        "them, only; rename one of them"
    )


def read_suite(path: str | Path, *, allow_code: bool = False) -> dict[str, StressTest]:
    """Read a suite of one's own: a TOML file with a table ``tests``.

    Each key names a test. Its value is a transformation as on the command line
    (``"negation:times=2"``), or a table with ``name`` and options. A transformation that sets
    labels may take other texts than those of the labelled file: ``texts_from`` names a file and
    ``texts_column`` its column. Files that these name lie beside the suite.
    """
    path = Path(path)
    found = read_toml(path)
    tests = found.pop("tests", None)
    if found or not isinstance(tests, dict) or not tests:
        others = f", and not {', '.join(sorted(found))}" if found else ""
        line = '"negation, twice" = "negation:times=2"'
        raise ConfigError([f"{path}: a suite has one table [tests], of lines like {line}{others}"])
    wrong = find_wrong_name(tests)
    if wrong is not None:
        raise ConfigError([f"{path}: {wrong}"])
    chosen, problems = {}, []
    for name, value in tests.items():
        try:
            with reading_names(None if allow_code else FileNames.of(path)):
                chosen[name] = _choose_test(value, path.parent)
        except ConfigError as error:
            problems += [f"{path}: {name}: {problem}" for problem in error.problems]
        except InputError as error:
            problems.append(f"{path}: {name}: {error}")
    if problems:
        raise ConfigError(problems)
    return chosen


def _choose_test(value: Any, folder: Path) -> StressTest:
    from ietest_fast.transform.phi import choose_phi, parse_phi

    if isinstance(value, str):
        return StressTest(phi=parse_phi(value, folder=folder))
    if not isinstance(value, dict):
        raise ConfigError(["is a transformation: a string, or a table with its name"])
    options = {key: option for key, option in value.items() if key not in _OF_TEXTS}
    own = {key: value[key] for key in _OF_TEXTS if key in value}
    wrong = [f"{key}: must be a string" for key in own if not isinstance(own[key], str)]
    if "texts_column" in own and "texts_from" not in own:
        wrong.append("texts_column: is of texts_from, which is not given")
    if options and "name" not in options:
        wrong.append('name: is missing; a table names its transformation, as name = "spelling"')
    if wrong:
        raise ConfigError(wrong)
    phi = choose_phi(options, folder=folder)
    if "texts_from" not in own:
        return StressTest(phi=phi)
    source = check_file(folder / own["texts_from"])
    return StressTest(phi=phi, texts_from=source, texts_column=own.get("texts_column"))


@dataclass(frozen=True, kw_only=True, eq=False)
class Suite:
    """Texts of all tests, and what could not be made."""

    versions: tuple[Version, ...]
    """Those with a changed text, named as their tests."""
    empty: tuple[str, ...]
    """Tests that change no text of the corpus, such as numbers where there are none."""
    unseen: tuple[str, ...] = ()
    """Of these, tests that change texts, but none in a column that the model sees."""
    origins: Mapping[str, StressOrigin] = field(default_factory=dict)
    """By test, what it is made of."""


def _say_unchanged(empty: Sequence[str], unseen: Sequence[str], columns: Sequence[str]) -> str:
    tests = ", ".join(empty)
    if not unseen:
        return f"none of the tests ({tests}) changes a text; are the texts English sentences?"
    where = f"in {', '.join(columns)}, which the model sees"
    return f"none of the tests ({tests}) changes a text {where}; choose others"


def make_suite(
    corpus: Corpus,
    tests: Mapping[str, Any],
    *,
    text_columns: Sequence[str] | None = None,
    learn_from: Sequence[Corpus | TextSource] = (),
    n_threads: int | None = None,
) -> Suite:
    """Make the texts of all tests.

    Each row of a version gets notes: see :func:`~ietest_fast.analyses.stress.origins.note_rows`.
    """
    columns = tuple(text_columns or corpus.text_columns)
    check_columns(corpus.source, corpus.text_columns, columns)
    chosen = {name: _as_test(value) for name, value in tests.items()}
    check_different(chosen)
    versions, empty, unseen, origins = [], [], [], {}
    for name, test in chosen.items():
        unlabelled = test.read_texts(corpus.text_columns)
        made = transform_corpus(
            corpus,
            test.phi,
            learn_from=learn_from,
            unlabelled=unlabelled,
            n_threads=n_threads,
            note=note_rows,
        )
        made = replace(made, name=name)
        if made.table.num_rows == 0 or (unlabelled is None and _is_same(made, corpus, columns)):
            empty.append(name)
            if made.table.num_rows and not _is_same(made, corpus, corpus.text_columns):
                unseen.append(name)
            continue
        versions.append(made)
        texts = corpus.table if unlabelled is None else unlabelled.table
        origins[name] = StressOrigin.of(
            made,
            n_texts=texts.num_rows,
            n_missing=0 if unlabelled is None else unlabelled.table.column(0).null_count,
        )
    if not versions:
        raise InputError(_say_unchanged(empty, unseen, columns), path=corpus.source)
    return Suite(
        versions=tuple(versions), empty=tuple(empty), unseen=tuple(unseen), origins=origins
    )


def _is_same(made: Version, corpus: Corpus, columns: Sequence[str]) -> bool:
    """Say whether a version leaves columns of texts as they were."""
    before = corpus.table.select(columns).take(made.source_row)
    return bool(made.table.select(columns).equals(before))


def check_different(tests: Mapping[str, StressTest]) -> None:
    """Refuse a suite with the same test under two names, before any text is read."""
    from ietest_fast.transform import plan

    found: dict[tuple[Any, ...], str] = {}
    for name, test in tests.items():
        planned = plan(test.phi)
        if planned is not test.phi:
            planned.close()
        texts: Any = test.texts_from
        if texts is not None:
            texts = str(texts) if isinstance(texts, str | Path) else tuple(texts)
        key = (planned.fingerprint, texts, test.texts_column)
        other = found.setdefault(key, name)
        if other != name:
            raise InputError(
                f"the tests {other!r} and {name!r} are the same; leave one of them out"
            )


# The texts of a suite as files: one for each test, with labels and the rows they come from.


def write_texts(suite: Suite, corpus: Corpus, folder: Path) -> None:
    """Write the texts of each test to a Parquet file in a new folder, all of them or none."""
    import pyarrow.parquet as pq

    with new_folder(folder) as unfinished:
        names = pa.array(corpus.label_names)
        stems = name_files((version.name for version in suite.versions), otherwise="test")
        for version, stem in zip(suite.versions, stems, strict=True):
            codes = pa.array(version.labels, pa.int32(), mask=version.labels < 0)
            table = version.table.select(corpus.text_columns)
            table = table.append_column("label", names.take(codes))
            rows = version.source_row if version.items is not None else None
            rows = corpus.source_rows[version.source_row] if rows is None else rows
            table = table.append_column("source_row", pa.array(rows))
            pq.write_table(table, unfinished / f"{stem}.parquet")


# What is asked of a classifier in stress tests, and how its answers are measured.


@dataclass(frozen=True, kw_only=True, eq=False)
class StressOptions(SuiteOptions):
    """Which tests there are, what is kept of their rows, and how they are compared."""

    tests: Mapping[str, StressTest] = field(default_factory=paper_suite)
    """The tests by name."""
    learn_from: Sequence[Corpus | TextSource] = ()
    """What transformations learn from; nothing: the corpus."""
    train: Corpus | None = None
    """What the classifier was trained on, to be looked through for antonyms."""
    keep_columns: Sequence[str] = ()
    """Further kept columns that the answers get, beside `clusters` and `group_by`."""
    group_by: str | None = None
    """A kept column by which accuracies are parted; None: none, or what answers say."""
    unparsed: Unparsed = "error"
    """What becomes of an answer that is no label: ``"error"``, ``"wrong"`` or ``"drop"``."""
    alpha: float = 0.05
    """Level of a classifier's family of paired tests, between 0 and 1."""
    margin: float | None = None
    """Losses of accuracy that do not matter if they are smaller, between 0 and 1; None for 0.01."""
    method: Method | None = None
    """Of the paired tests: ``"exact"``, ``"multinomial"`` or ``"resample"``; None for the first
    that fits."""
    rng: Rng = 0
    """Seed of a Monte Carlo method, 0 or more, or what stands for one."""
    alternative: Alternative = "two-sided"
    """Is the original different, better (``"greater"``) or worse (``"less"``)?"""

    @property
    def of_tests(self) -> dict[str, Any]:
        """How versions are compared: arguments of ``compare_versions``."""
        names = ("clusters", "alpha", "margin", "method", "n_resamples", "rng", "alternative")
        return {name: getattr(self, name) for name in (*names, "n_threads")}
