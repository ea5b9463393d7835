"""Pairs drawn from templates: a shape whose label is proved, and names for its entities."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast import __version__
from ietest_fast.atomic import UNFINISHED, name_temporary, put_back_on_error, write_file
from ietest_fast.corpus.streams import BatchWriter
from ietest_fast.errors import InputError, ResourceError
from ietest_fast.files import read_json
from ietest_fast.numerals import say_count
from ietest_fast.philox import philox_key
from ietest_fast.runtime import load_core
from ietest_fast.templates.formulas import Sort, TemplateError
from ietest_fast.templates.grounding import Label, UnprovedError
from ietest_fast.templates.naming import check_disjoint
from ietest_fast.templates.schemas import place_of
from ietest_fast.templates.template import say_sizes
from ietest_fast.templates.wording import (
    Slot,
    VerbForm,
    Word,
    mask,
    merge,
    word_hypothesis,
    word_premises,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.templates.files import Task
    from ietest_fast.templates.formulas import Constant, Formula
    from ietest_fast.templates.language import Language, Verbs
    from ietest_fast.templates.naming import Names
    from ietest_fast.templates.template import Shape, Template
    from ietest_fast.templates.wording import Piece

# Texts with places for names and verbs, as the arrays that the core fills.

_LITERAL, _NAME, _VERB = range(3)


@dataclass(frozen=True)
class Skeleton:
    """The texts of a shape."""

    constants: tuple[Constant, ...]
    """Its entities."""
    premise: tuple[Piece, ...]
    hypothesis: tuple[Piece, ...]
    """Pieces of text."""


@dataclass(frozen=True, eq=False)
class PackedSkeletons:
    """Skeletons as arrays.

    The text 2s is the premise of shape s, 2s + 1 its hypothesis. Entities are numbered within their
    shape, people first.
    """

    pieces: NDArray[np.int32]
    """int32, shape (pieces, 3): 0 and a literal; 1 and an entity; or 2, a literal and a group of
    people. From this literal on there are two for each wording, for men and for women."""
    text_ends: NDArray[np.int64]
    """int64, shape (2 shapes + 1,): text t has the pieces from ``text_ends[t]`` on."""
    literals: pa.Array
    """Large strings."""
    group_ends: NDArray[np.int32]
    group_people: NDArray[np.int32]
    """int32: group g has the people from ``group_ends[g]`` on."""
    n_people: NDArray[np.int32]
    n_places: NDArray[np.int32]
    """int32, shape (shapes,)."""
    n_wordings: int
    """1 or more."""


class _Packer:
    def __init__(self, wordings: Sequence[Verbs]) -> None:
        self.pieces: list[tuple[int, int, int]] = []
        self.text_ends = [0]
        self.literals: list[str] = []
        self.group_ends = [0]
        self.group_people: list[int] = []
        self._wordings = wordings
        self._words_of: dict[VerbForm, tuple[str, ...]] = {}
        self._literal_of: dict[tuple[str, ...], int] = {}
        self._group_of: dict[tuple[int, ...], int] = {}

    def add(self, text: Iterable[Piece], numbers: dict[Constant, int]) -> None:
        for piece in merge(self._spell(each) for each in text):
            if isinstance(piece, Slot):
                self.pieces.append((_NAME, numbers[piece.constant], 0))
            elif isinstance(piece, VerbForm):
                words = self._literal(*self._words(piece))
                group = self._group(tuple(sorted(numbers[each] for each in piece.people)))
                self.pieces.append((_VERB, words, group))
            else:
                self.pieces.append((_LITERAL, self._literal(str(piece)), 0))
        self.text_ends.append(len(self.pieces))

    def _spell(self, piece: Piece) -> Piece:
        """Return as text what has the same words in all pairs."""
        if isinstance(piece, Word):
            return piece.text
        if not isinstance(piece, VerbForm):
            return piece
        words = set(self._words(piece))
        return words.pop() if len(words) == 1 else piece

    def _words(self, verb: VerbForm) -> tuple[str, ...]:
        """Return the words of a verb in each wording, for men and for women."""
        # Who is meant changes nothing of the words.
        key = VerbForm(verb.verb, verb.plural, verb.positive, verb.gender)
        if key not in self._words_of:
            words = (key.words(verbs) for verbs in self._wordings)
            self._words_of[key] = tuple(
                text for each in words for text in (each.masculine, each.feminine)
            )
        return self._words_of[key]

    def _literal(self, *texts: str) -> int:
        if texts not in self._literal_of:
            self._literal_of[texts] = len(self.literals)
            self.literals += texts
        return self._literal_of[texts]

    def _group(self, people: tuple[int, ...]) -> int:
        if people not in self._group_of:
            self._group_of[people] = len(self.group_ends) - 1
            self.group_people += people
            self.group_ends.append(len(self.group_people))
        return self._group_of[people]


def pack(skeletons: Sequence[Skeleton], wordings: Sequence[Verbs]) -> PackedSkeletons:
    """Return skeletons as arrays; equal texts and groups are kept once."""
    packer = _Packer(wordings)
    counts = np.zeros((len(skeletons), 2), dtype=np.int32)
    for place, skeleton in enumerate(skeletons):
        people = [each for each in skeleton.constants if each.sort is Sort.PERSON]
        places = [each for each in skeleton.constants if each.sort is Sort.PLACE]
        counts[place] = len(people), len(places)
        numbers = {each: number for number, each in enumerate(people + places)}
        packer.add(skeleton.premise, numbers)
        packer.add(skeleton.hypothesis, numbers)
    return PackedSkeletons(
        pieces=np.array(packer.pieces, dtype=np.int32).reshape(-1, 3),
        text_ends=np.array(packer.text_ends, dtype=np.int64),
        literals=pa.array(packer.literals, pa.large_string()),
        group_ends=np.array(packer.group_ends, dtype=np.int32),
        group_people=np.array(packer.group_people, dtype=np.int32),
        n_people=np.ascontiguousarray(counts[:, 0]),
        n_places=np.ascontiguousarray(counts[:, 1]),
        n_wordings=len(wordings),
    )


CONTRADICTION_OR_NOT = {
    Label.CONTRADICTION: "contradiction",
    Label.NEUTRAL: "non-contradiction",
    Label.ENTAILMENT: "non-contradiction",
}
"""The two labels of the thesis."""

THREE_WAY = {label: label.value for label in Label}
"""The labels of natural language inference."""

ROWS_AT_ONCE = 1 << 16
"""Rows of a batch: a few tens of megabytes of text at most."""

MOST_PARTS = 1_000_000
"""Parts of all shapes of all templates, at most: proofs and texts take time for each of them."""

_MOST_COUNTED = 25
"""How many times the limit is counted, to say what a template would cost."""

_MANY_SHAPES = 100


@dataclass(frozen=True, eq=False)
class ProvedTemplates:
    """Templates with the texts of all their shapes, whose labels are proved."""

    tasks: tuple[Task, ...]
    """As they were given."""
    templates: tuple[Template, ...]
    """Of all tasks."""
    task_of: NDArray[np.int32]
    """int32, shape (templates,): the place of each template's task."""
    skeletons: PackedSkeletons
    """Of all shapes; what follows has a place for each of them."""
    masked: PackedSkeletons | None
    """The same, with a word of each hypothesis masked; None if no template has a mask."""
    answers: tuple[str | None, ...]
    """The word that is masked in each shape, None where there is none."""
    template_of: NDArray[np.int32]
    """int32, shape (shapes,): the place of each shape's template."""
    weights: NDArray[np.float64]
    """float64, shape (shapes,): the probability of each shape within its template."""

    @property
    def n_shapes(self) -> int:
        """How many shapes were proved."""
        return len(self.answers)


def prove_templates(
    tasks: Sequence[Task],
    language: Language,
    *,
    wordings: Sequence[Verbs] = (),
    on_shape: Callable[[int, int], None] | None = None,
) -> ProvedTemplates:
    """Prove the label of every shape, and put it into words."""
    skeletons: list[Skeleton] = []
    masked: list[Skeleton] = []
    answers: list[str | None] = []
    template_of: list[int] = []
    weights: list[float] = []
    templates = [(place, each) for place, task in enumerate(tasks) for each in task.templates]
    _check_work([each for _, each in templates])
    n_shapes = sum(each.n_shapes() for _, each in templates)
    for _, template in templates:
        _check_largest(template)
    for place, (own, template) in enumerate(templates):
        words = tasks[own].words(language)
        for sizes, weight in template.weighted_sizes():
            shape = template.prove(sizes)
            premise, hypothesis = _say(template, shape, words)
            skeletons.append(Skeleton(shape.constants, premise, hypothesis))
            hidden, answer = _masked(template, hypothesis, words)
            masked.append(Skeleton(shape.constants, premise, hidden))
            answers.append(answer)
            template_of.append(place)
            weights.append(weight)
            if on_shape is not None:
                on_shape(len(skeletons), n_shapes)
    has_masks = any(answer is not None for answer in answers)
    verbs = tuple(wordings) or (language.verbs,)
    return ProvedTemplates(
        tasks=tuple(tasks),
        templates=tuple(each for _, each in templates),
        task_of=np.array([own for own, _ in templates], dtype=np.int32),
        skeletons=pack(skeletons, verbs),
        masked=pack(masked, verbs) if has_masks else None,
        answers=tuple(answers),
        template_of=np.array(template_of, dtype=np.int32),
        weights=np.array(weights),
    )


def _check_largest(template: Template) -> None:
    """Stop before thousands of proofs if the last of them cannot be found at all."""
    sizes = list(template.sizes())
    if len(sizes) < _MANY_SHAPES:
        return
    try:
        template.prove(sizes[-1])
    except TemplateError as error:
        # What else is wrong is told of the smallest shape that shows it.
        if isinstance(error.__cause__, UnprovedError):
            raise


def check_enough_names(tasks: Sequence[Task], splits: Mapping[str, Names]) -> None:
    """Check that every split has names for each shape's entities, before any label is proved."""
    templates = [each for task in tasks for each in task.templates]
    _check_work(templates)
    for template in templates:
        for sizes in template.sizes():
            sorts = [each.sort for each in template.shape(sizes).constants]
            n_people, n_places = sorts.count(Sort.PERSON), sorts.count(Sort.PLACE)
            for split, names in splits.items():
                where = f"split {split!r}: "
                _check_enough(n_people, len(names.women) + len(names.men), "people", where)
                _check_enough(n_places, len(names.places), "places", where)


def _check_work(templates: Sequence[Template]) -> None:
    """Stop before anything is made of templates whose shapes have too many parts together."""
    before = 0
    most = _MOST_COUNTED * MOST_PARTS
    for template in templates:
        n_parts = template.n_parts(most)
        if before + n_parts > MOST_PARTS:
            said = f"more than {most:,}" if n_parts > most else f"{n_parts:,}"
            others = f", and the templates before it {before:,}" if before else ""
            raise template.error(
                f"its {say_count(template.n_shapes(), 'shape')} would have {said} parts{others}; "
                f"at most {MOST_PARTS:,} in all can be proved; make the ranges of sizes smaller, "
                "or make several corpora"
            )
        before += n_parts


def _say(
    template: Template, shape: Shape, words: Language
) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Return the texts of a shape."""
    try:
        return word_premises(shape.premises, words), word_hypothesis(shape.hypothesis, words)
    except InputError as error:
        sizes = dict(shape.sizes)
        place = place_of(template.hypothesis)
        for number, premise in enumerate(shape.premises):
            if not _has_words(premise, words):
                place = template.premise_place(number, sizes)
                break
        raise template.error(f"{say_sizes(sizes)} {error}", place) from error


def _has_words(formula: Formula, words: Language) -> bool:
    try:
        word_hypothesis(formula, words)
    except InputError:
        return False
    return True


def _masked(
    template: Template, hypothesis: tuple[Piece, ...], language: Language
) -> tuple[tuple[Piece, ...], str | None]:
    if template.mask is None:
        return hypothesis, None
    found = mask(hypothesis, template.mask.what)
    if found is None:
        raise template.error(
            f"the hypothesis has no word of its own for {template.mask.what!r} in {language.name}",
            template.mask.at,
        )
    return found


class PairDrawer:
    """Draw pairs of texts.

    All labels have the same share of the rows, all tasks that have a label the same share of those,
    and the templates of a task the shares that they give. The sizes of a shape are drawn in their
    order, and its wording independently of it. Row r is a function of the seed and r.
    """

    def __init__(
        self,
        proved: ProvedTemplates,
        names: Names,
        *,
        label_names: Mapping[Label, str] = THREE_WAY,
        seed: int | Sequence[int] = 0,
    ) -> None:
        label_of = [label_names[each.label] for each in proved.templates]
        self.labels = tuple(dict.fromkeys(label_of))
        n_people = len(names.women) + len(names.men)
        _check_enough(int(proved.skeletons.n_people.max(initial=0)), n_people, "people")
        _check_enough(int(proved.skeletons.n_places.max(initial=0)), len(names.places), "places")
        codes = np.array([self.labels.index(name) for name in label_of], dtype=np.int32)
        common = {
            "people": names.people,
            "is_woman": (np.arange(n_people) < len(names.women)).astype(np.uint8),
            "places": pa.array(names.places, pa.large_string()),
            "weights": proved.weights * _template_weights(proved, codes)[proved.template_of],
            "labels": codes[proved.template_of],
            "n_labels": len(self.labels),
        }
        self._key = philox_key(seed)
        filler: Any = load_core().templates.PairFiller
        self._filler: Any = filler(**vars(proved.skeletons), **common)
        self._masked: Any = None
        if proved.masked is not None:
            self._masked = filler(**vars(proved.masked), **common)
        self._answers = pa.array(proved.answers, pa.string())
        self._columns = {
            "label": pa.array(label_of),
            "task": pa.array([proved.tasks[own].name for own in proved.task_of]),
            "template": pa.array([each.name for each in proved.templates]),
        }
        self._template_of = proved.template_of

    def draw(self, first: int, n_rows: int, *, n_threads: int | None = None) -> pa.Table:
        """Return rows from `first` on."""
        premises, hypotheses, shapes = self._filler.fill(
            self._key, first=first, n_rows=n_rows, n_threads=n_threads
        )
        codes = pa.array(self._template_of[shapes])
        columns = {"premise": pa.array(premises), "hypothesis": pa.array(hypotheses)}
        if self._masked is not None:
            _, masked, _ = self._masked.fill(
                self._key, first=first, n_rows=n_rows, n_threads=n_threads
            )
            answers = self._answers.take(pa.array(shapes))
            nothing = pa.scalar(None, pa.large_string())
            columns["masked"] = pc.if_else(answers.is_valid(), pa.array(masked), nothing)
            columns["answer"] = answers
        for name, words in self._columns.items():
            columns[name] = pa.DictionaryArray.from_arrays(codes, words).dictionary_decode()
        return pa.table(columns)

    def batches(self, n_rows: int, *, n_threads: int | None = None) -> Iterator[pa.Table]:
        """Yield the first `n_rows` rows, some at a time."""
        for first in range(0, n_rows, ROWS_AT_ONCE):
            yield self.draw(first, min(ROWS_AT_ONCE, n_rows - first), n_threads=n_threads)


def _template_weights(proved: ProvedTemplates, codes: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the probability of each template among those of its label."""
    totals: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    keys = list(zip(codes.tolist(), proved.task_of.tolist(), strict=True))
    for key, template in zip(keys, proved.templates, strict=True):
        totals[key] += template.share
    n_tasks = {label: sum(own == label for own, _ in totals) for label, _ in totals}
    return np.array(
        [
            float(template.share / totals[key] / n_tasks[key[0]])
            for key, template in zip(keys, proved.templates, strict=True)
        ]
    )


def _check_enough(needed: int, n_names: int, what: str, where: str = "") -> None:
    if needed > n_names:
        raise InputError(
            f"{where}a shape has {needed} {what}, but there are only {n_names} names of {what}; "
            "add names, or make the ranges of the templates smaller"
        )


# Corpora from templates, as files.


RECORD = "templates.json"
"""The file of the folder that says how the others were made."""

_APPEARING = ".templates.appearing"
# Which files are about to appear: those that stand there without a record are of a killed command.

_UNFINISHED = re.compile(rf"\.[0-9a-f]{{16}}{re.escape(UNFINISHED)}\Z")


@dataclass(frozen=True)
class SplitPlan:
    """One file of a corpus."""

    name: str
    """Of the split, and of the file."""
    n_rows: int
    """1 or more."""
    names: Names
    """For its entities."""


@dataclass(frozen=True)
class CorpusPlan:
    """What is written."""

    folder: Path
    """Where; it is made if it is not there."""
    splits: tuple[SplitPlan, ...]
    """One or more."""
    label_names: Mapping[Label, str]
    """What rows say for each label."""
    seed: int
    """Of all draws."""
    form: str
    """``parquet``, ``csv``, ``tsv`` or ``jsonl``."""
    about: Mapping[str, object]
    """Further entries for the record."""

    def path_of(self, split: SplitPlan) -> Path:
        """Return the file of a split."""
        return self.folder / f"{split.name}.{self.form}"

    @property
    def are_disjoint(self) -> bool:
        """Whether no name stands in two splits."""
        try:
            check_disjoint([(each.name, each.names) for each in self.splits])
        except InputError:
            return False
        return True


def check_plan(plan: CorpusPlan) -> None:
    """Stop if the files cannot be written, as far as that can be told without writing."""
    folder = plan.folder
    try:
        _check_empty(folder)
    except FileNotFoundError:
        _check_writable(folder, next(each for each in folder.absolute().parents if each.exists()))
        return
    except NotADirectoryError as error:
        places = (folder, *folder.absolute().parents)
        wrong = next(each for each in places if each.exists() and not each.is_dir())
        raise ResourceError(f"{wrong}: is no folder; name another one") from error
    except OSError as error:
        raise ResourceError(f"{folder}: cannot be read: {error.strerror or error}") from error
    _check_writable(folder, folder)
    with _held(folder):
        pass


def _check_empty(folder: Path) -> None:
    names = sorted(each.name for each in folder.iterdir())
    own = _list_left_over(folder)
    visible = [name for name in names if not name.startswith(".") and name not in own]
    if visible:
        raise InputError(
            f"is not empty: {visible[0]!r} stands in it; name a new folder, or empty this one",
            path=folder,
        )


def _check_writable(folder: Path, place: Path) -> None:
    """Stop if a folder cannot be made or filled at a place."""
    if not os.access(place, os.W_OK | os.X_OK):
        raise ResourceError(f"{folder}: nothing may be written in {str(place)!r}")


@contextlib.contextmanager
def _held(folder: Path) -> Iterator[bool]:
    """Keep other commands from writing into a folder; False where it cannot be locked."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise ResourceError(f"{folder}: cannot be read: {error.strerror or error}") from error
    try:
        is_locked = True
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InputError(
                "another command is writing there; wait for it or name another folder", path=folder
            ) from error
        except OSError:  # some network file systems lock files only
            is_locked = False
        yield is_locked
    finally:
        os.close(descriptor)


def _list_left_over(folder: Path) -> list[str]:
    """List the files of a command that was killed while its files appeared, one by one."""
    if not (folder / _APPEARING).exists() or (folder / RECORD).exists():
        return []
    found = read_json(folder / _APPEARING)
    names = found if isinstance(found, list) else []
    return [name for name in names if isinstance(name, str) and Path(name).name == name]


def _remove_leftovers(plan: CorpusPlan) -> None:
    """Remove what a command has left in the folder when it was killed."""
    for name in _list_left_over(plan.folder):
        (plan.folder / name).unlink(missing_ok=True)
    targets = [*map(plan.path_of, plan.splits), plan.folder / RECORD]
    own = {_UNFINISHED.sub("", name_temporary(each).name) for each in targets}
    for path in plan.folder.glob(f".*{UNFINISHED}"):
        start, n_endings = _UNFINISHED.subn("", path.name)
        if n_endings and start in own and path.is_file() and not path.is_symlink():
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def _made(folder: Path) -> Iterator[None]:
    """Make a folder with its parents, and remove those again after an error that are empty."""
    new = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResourceError(f"{folder}: cannot be made: {error.strerror or error}") from error
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            for each in new:
                each.rmdir()
        raise


def draw_split(proved: ProvedTemplates, plan: CorpusPlan, split: SplitPlan) -> PairDrawer:
    """Return what draws the pairs of a split; each split has a seed of its own."""
    try:
        return PairDrawer(
            proved,
            split.names,
            label_names=plan.label_names,
            seed=(plan.seed, *split.name.encode()),
        )
    except InputError as error:
        raise InputError(f"split {split.name!r}: {error}") from error


def write_corpus(
    proved: ProvedTemplates,
    plan: CorpusPlan,
    *,
    n_threads: int | None = None,
    on_rows: Callable[[int], None] | None = None,
) -> dict[str, object]:
    """Draw the pairs of all splits, and write them in batches.

    The files appear when all of them are complete, the record last; after an error there are none.
    """
    drawers = [draw_split(proved, plan, split) for split in plan.splits]
    check_plan(plan)
    with (
        _made(plan.folder),
        _held(plan.folder) as is_locked,
        contextlib.ExitStack() as stack,
    ):
        _check_empty(plan.folder)
        if is_locked:
            _remove_leftovers(plan)
        writers: list[BatchWriter] = []
        for split, drawer in zip(plan.splits, drawers, strict=True):
            writer = BatchWriter(plan.path_of(split), drawer.draw(0, 1, n_threads=1).schema)
            writers.append(stack.enter_context(writer))
        n_done = 0
        for split, drawer, writer in zip(plan.splits, drawers, writers, strict=True):
            for batch in drawer.batches(split.n_rows, n_threads=n_threads):
                writer.write(batch)
                n_done += batch.num_rows
                if on_rows is not None:
                    on_rows(n_done)
        for writer in writers:
            writer.finish()
        stack.callback((plan.folder / _APPEARING).unlink, missing_ok=True)
        _write_text(plan.folder / _APPEARING, json.dumps([each.path.name for each in writers]))
        for writer in writers:
            stack.enter_context(put_back_on_error(writer.path))
            writer.publish()
        record = _record(proved, plan)
        text = json.dumps(record, ensure_ascii=False, indent=2)
        _write_text(plan.folder / RECORD, f"{text}\n")
    return record


def _record(proved: ProvedTemplates, plan: CorpusPlan) -> dict[str, object]:
    return {
        "ietest_fast": __version__,
        **plan.about,
        "tasks": [task.name for task in proved.tasks],
        "templates": len(proved.templates),
        "shapes_proved": proved.n_shapes,
        "labels": [*dict.fromkeys(plan.label_names[each.label] for each in proved.templates)],
        "seed": plan.seed,
        "splits": {
            split.name: {
                "file": plan.path_of(split).name,
                "rows": split.n_rows,
                "people": len(split.names.women) + len(split.names.men),
                "places": len(split.names.places),
            }
            for split in plan.splits
        },
        "names_are_disjoint": plan.are_disjoint,
    }


def _write_text(path: Path, text: str) -> None:
    try:
        with put_back_on_error(path):
            write_file(path, lambda file: _write(file, text))
    except OSError as error:
        raise ResourceError(f"{path}: cannot be written: {error.strerror or error}") from error


def _write(file: BinaryIO, text: str) -> None:
    file.write(text.encode())
