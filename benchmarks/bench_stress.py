"""Stress tests: adding a tautology, misspelling words, and a whole suite with a model."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from benchmarks.bench_substitution import load_texts
from benchmarks.ratios import count
from ietest_fast.transform import plan

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.conftest import Race
    from ietest_fast.corpus import Corpus

TAUTOLOGY = "and false is not true"
# Our side works on the texts this many times over: a call should take longer than its overhead.
REPEATS = 10
# Where the peers put the tautology: before the marks and the white space that end a text.
END = r"\s*[.!?]*\s*$"
WORD = re.compile(r"[A-Za-z]+(?:['.][A-Za-z]+)*")
ENDINGS = ("s", "es", "d", "ed", "ing", "r", "er", "st", "est", "ly")
N_TRAIN = 1000
N_PAIRS = 10_000


@dataclass(frozen=True, kw_only=True)
class Work:
    """Texts, once as Python strings and many times over as a table."""

    source: str
    table: pa.Table
    n_gigabytes: float
    plain: list[str]

    @property
    def plain_gigabytes(self) -> float:
        """Size of the texts, once."""
        return self.n_gigabytes * len(self.plain) / self.table.num_rows

    def note(self) -> str:
        """What was worked on."""
        return f"{self.source}, {self.n_gigabytes * 1e3:.1f} MB"

    def transform(self, phi: str, n_threads: int) -> Any:
        """Make a transformation ready; the call then transforms the table."""
        made = plan(phi).build()
        return lambda: made.transform(
            self.table, ("hypothesis",), with_edits=False, n_threads=n_threads
        )


@pytest.fixture(scope="module")
def work(quick: bool) -> Work:
    """Read the texts once."""
    source, texts = load_texts(quick)
    many = pa.concat_arrays([texts] * (1 if quick else REPEATS))
    return Work(
        source=source,
        table=pa.table({"hypothesis": many}),
        n_gigabytes=pc.sum(pc.binary_length(many)).as_py() / 1e9,
        plain=texts.to_pylist(),
    )


TESTS = {"negation": TAUTOLOGY, "word-overlap": "and true is true"}


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_tautology(race: Race, work: Work, test: str, n_threads: int) -> None:
    from ietest_fast._core import text as core

    race.benchmark.group = f"1 GB with a tautology, {test}"
    column = work.table["hypothesis"].chunk(0)
    race.ours(
        count(n_threads, "thread"),
        lambda: core.insert_phrase(
            column, phrase=TESTS[test], before_first_mark=False, n_threads=n_threads
        ),
        units=work.n_gigabytes,
        note=work.note(),
        at_most_seconds=1.0 if n_threads == 2 else None,
    )


@pytest.mark.parametrize("test", TESTS)
def test_tautology_with_all_checks(race: Race, work: Work, test: str) -> None:
    race.benchmark.group = f"1 GB with a tautology, {test}"
    race.ours(
        "the whole transformation, 2 threads", work.transform(test, 2), units=work.n_gigabytes
    )


def tautology_loop(tautology: str, texts: list[str]) -> list[str]:
    """What a script does, without expressions, which take longer."""
    found = []
    for text in texts:
        body = text.rstrip().rstrip(".!?").rstrip()
        found.append(f"{body} {tautology}{text[len(body) :]}" if body else text)
    return found


def _differ(work: Work, theirs: list[str]) -> str:
    """Say how many texts differ from ours: those that end in an abbreviation."""
    made = plan("negation").build()
    table = work.table.slice(0, len(work.plain))
    ours = made.transform(table, ("hypothesis",), with_edits=False, n_threads=1)
    before = ours.table["hypothesis"].to_pylist()
    n_differ = sum(a != b for a, b in zip(before, theirs, strict=True))
    assert n_differ <= 0.002 * len(theirs)
    return f"{n_differ} of {len(theirs):,} texts differ (abbreviations)"


NEGATION = pytest.mark.benchmark(group="1 GB with a tautology, negation")


@NEGATION
def test_tautology_pandas(race: Race, work: Work) -> None:
    import pandas as pd

    series = pd.Series(work.plain, dtype="str")
    race.peer(
        "pandas str.replace",
        lambda: series.str.replace(END, rf" {TAUTOLOGY}\g<0>", n=1, regex=True),
        units=work.plain_gigabytes,
        at_least=30,
    )


@NEGATION
def test_tautology_pandas_simple(race: Race, work: Work) -> None:
    import pandas as pd

    series = pd.Series(work.plain, dtype="str")
    race.peer(
        "pandas str.removesuffix, +",
        lambda: series.str.removesuffix(".") + f" {TAUTOLOGY}.",
        units=work.plain_gigabytes,
        note="str methods at their fastest: full stops only, and everywhere",
    )


@NEGATION
def test_tautology_polars(race: Race, work: Work) -> None:
    import polars as pl

    frame = pl.DataFrame({"t": work.plain})
    replace = pl.col("t").str.replace(END, f" {TAUTOLOGY}${{0}}")
    race.peer(
        "polars str.replace",
        lambda: frame.select(replace),
        units=work.plain_gigabytes,
        at_least=2,
        note=f"polars: all its threads, {_differ(work, frame.select(replace)['t'].to_list())}",
    )


@NEGATION
def test_tautology_polars_simple(race: Race, work: Work) -> None:
    import polars as pl

    frame = pl.DataFrame({"t": work.plain})
    add = pl.col("t").str.strip_suffix(".") + pl.lit(f" {TAUTOLOGY}.")
    race.peer(
        "polars str.strip_suffix, +",
        lambda: frame.select(add),
        units=work.plain_gigabytes,
        note="polars: all its threads, full stops only, and everywhere",
    )


@NEGATION
def test_tautology_loop(race: Race, work: Work) -> None:
    race.peer(
        "Python loop",
        lambda: tautology_loop(TAUTOLOGY, work.plain),
        units=work.plain_gigabytes,
        at_least=4,
        note=_differ(work, tautology_loop(TAUTOLOGY, work.plain)),
    )


NOISE = pytest.mark.benchmark(group="1,000,000 texts with a misspelt word")


@NOISE
@pytest.mark.parametrize("n_threads", [2, 1])
def test_noise(race: Race, work: Work, n_threads: int) -> None:
    race.ours(
        count(n_threads, "thread"),
        work.transform("spelling", n_threads),
        units=work.table.num_rows / 1e6,
        note=work.note(),
    )


def is_known(word: str, known: frozenset[str]) -> bool:
    """Say whether a misspelling is a word."""
    word = word.lower()
    return word in known or any(
        word.endswith(ending) and word[: -len(ending)] in known for ending in ENDINGS
    )


def as_case_of(model: str, letter: str) -> str:
    return letter.upper() if model.isupper() else letter.lower()


def swaps(word: str) -> list[str]:
    """All results of two neighbouring letters changing places, capitals staying in place."""
    found = []
    for i in range(len(word) - 1):
        a, b = word[i], word[i + 1]
        if a.isalpha() and b.isalpha() and a.lower() != b.lower():
            found.append(word[:i] + as_case_of(a, b) + as_case_of(b, a) + word[i + 2 :])
    return found


def keys(word: str, beside: dict[str, str]) -> list[str]:
    """All results of one key missed."""
    return [
        word[:i] + as_case_of(letter, other) + word[i + 1 :]
        for i, letter in enumerate(word)
        for other in beside.get(letter.lower(), "")
    ]


def noise_loop(texts: list[str], beside: dict[str, str], known: frozenset[str]) -> list[str]:
    """The same rules, as libraries of augmentation go about it: list what may be, then choose."""
    rng = random.Random(0)
    found = []
    for text in texts:
        words = [m.span() for m in WORD.finditer(text) if m.end() - m.start() >= 3]
        rng.shuffle(words)
        for start, end in words:
            ways = [swaps(text[start:end]), keys(text[start:end], beside)]
            allowed = [[each for each in way if not is_known(each, known)] for way in ways]
            options = [way for way in allowed if way]
            if options:
                text = text[:start] + rng.choice(rng.choice(options)) + text[end:]  # noqa: PLW2901
                break
        found.append(text)
    return found


def unchecked_loop(texts: list[str], beside: dict[str, str]) -> list[str]:
    """The least that makes noise: words between blanks, one draw, whatever comes out."""
    rng = random.Random(0)
    found = []
    for text in texts:
        words = text.split(" ")
        places = [i for i, word in enumerate(words) if len(word) >= 3 and word.isalpha()]
        if places:
            place = rng.choice(places)
            word = words[place]
            at = rng.randrange(len(word) - 1)
            if rng.random() < 0.5:
                word = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
            else:
                word = word[:at] + rng.choice(beside.get(word[at].lower(), "x")) + word[at + 1 :]
            words[place] = word
        found.append(" ".join(words))
    return found


@NOISE
def test_noise_loop(race: Race, work: Work) -> None:
    from ietest_fast.transform.spelling import find_neighbours, known_words

    beside, known = find_neighbours("qwerty"), known_words()
    texts = work.plain[:20_000]
    found = noise_loop(texts, beside, known)
    made = plan("spelling").build()
    table = pa.table({"hypothesis": texts})
    ours = made.transform(table, ("hypothesis",), with_edits=False, n_threads=1)
    theirs = sum(a != b for a, b in zip(texts, found, strict=True))
    # As many texts have a word that can be misspelt.
    assert abs(int(ours.changed.sum()) - theirs) <= 0.001 * len(texts) + 1
    race.peer(
        "Python loop, the same rules",
        lambda: noise_loop(texts, beside, known),
        units=len(texts) / 1e6,
        rounds=3,
        at_least=100,
    )


@NOISE
def test_unchecked_noise_loop(race: Race, work: Work) -> None:
    from ietest_fast.transform.spelling import find_neighbours

    beside = find_neighbours("qwerty")
    race.peer(
        "Python loop, nothing checked",
        lambda: unchecked_loop(work.plain, beside),
        units=len(work.plain) / 1e6,
        note="nothing checked: no-ops and other words come out, words next to marks are left alone",
    )


@dataclass(frozen=True, kw_only=True)
class SuiteWork:
    """A model, a test set, and the distinct inputs of a suite over it."""

    model: Any
    test: Corpus
    source: str
    inputs: pa.Table
    n_rows: int


def run_suite(model: Any, test: Corpus) -> Any:
    """All that ``ietest-fast stress`` does between reading and writing."""
    from ietest_fast.analyses.stress.asking import StressNotes, measure_stress
    from ietest_fast.analyses.stress.suite import make_suite, paper_suite
    from ietest_fast.answers.asking import evaluate

    suite = make_suite(test, paper_suite())
    found = evaluate(model, test, list(suite.versions))
    return found, measure_stress(found.predictions, notes=StressNotes(empty=suite.empty))


def distinct_inputs(test: Corpus) -> tuple[pa.Table, int]:
    """What a model has to see of a suite, each input once, and the rows of all versions."""
    from ietest_fast.analyses.stress.suite import make_suite, paper_suite

    columns = list(test.text_columns)
    suite = make_suite(test, paper_suite())
    tables = [test.table, *(version.table for version in suite.versions)]
    texts = [
        table.select(columns).cast(pa.schema([(name, pa.large_string()) for name in columns]))
        for table in tables
    ]
    every = pa.concat_tables(texts)
    return every.group_by(columns).aggregate([]).select(columns), every.num_rows


@pytest.fixture(scope="module")
def suite_work(quick: bool, tmp_path_factory: pytest.TempPathFactory) -> SuiteWork:
    """Fine-tune and export once."""
    import transformers

    from benchmarks.minilm import fine_tune, read_pairs, take
    from ietest_fast.models.onnx_models.classifier import OnnxClassifier
    from ietest_fast.models.onnx_models.export import export_onnx

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    room: Path = tmp_path_factory.mktemp("stress")
    fine_tune(room / "classifier", n_pairs=64 if quick else N_TRAIN)
    folder = export_onnx(room / "classifier", room / "onnx").folder
    corpus, source = read_pairs("dev")
    test = take(corpus, 60 if quick else min(N_PAIRS, len(corpus)))
    inputs, n_rows = distinct_inputs(test)
    return SuiteWork(
        model=OnnxClassifier.load(folder, runtime="onnxruntime", precision="fp32"),
        test=test,
        source=source,
        inputs=inputs,
        n_rows=n_rows,
    )


SUITE = [
    pytest.mark.models,
    pytest.mark.benchmark(group="the paper's six tests with MiniLM, a suite"),
    pytest.mark.filterwarnings("ignore"),
]


class TestSuite:
    """The suite beside the model alone: the rest may take three tenths of the model's time."""

    pytestmark = SUITE

    def test_whole(self, race: Race, suite_work: SuiteWork) -> None:
        race.ours(
            "ONNX Runtime, fp32",
            lambda: run_suite(suite_work.model, suite_work.test),
            rounds=1,
            note=f"{suite_work.source}, {len(suite_work.test):,} pairs, {suite_work.n_rows:,} rows",
        )

    def test_inputs_alone(self, race: Race, suite_work: SuiteWork) -> None:
        race.peer(
            "its distinct inputs alone",
            lambda: suite_work.model.score(suite_work.inputs),
            rounds=1,
            at_least=1 / 1.3,
            note=f"{suite_work.inputs.num_rows:,} distinct inputs",
        )
