"""Items of masked inference: a premise, a hypothesis in which a word is hidden, and the word.

Salvatore 2020, section 3.5.3.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.corpus.columns import check_columns
from ietest_fast.corpus.dataset import are_categories, is_text
from ietest_fast.corpus.formats import find_format, locate_row
from ietest_fast.corpus.labels import label_key
from ietest_fast.corpus.streams import open_batches
from ietest_fast.errors import InputError
from ietest_fast.frames import to_arrow
from ietest_fast.models.tokens import Ragged
from ietest_fast.numerals import say_count
from ietest_fast.templates.wording import MASK
from ietest_fast.values import as_items, as_texts, show_names

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ietest_fast.models.masked_lm import MaskedModel


GROUPS = ("module", "task", "template")
"""Columns by which accuracies are parted unless others are named."""

COLUMNS = ("premise", "hypothesis", "answer")
FROM_TEMPLATES = ("premise", "masked", "answer")
"""What ``ietest-fast templates`` calls them: its ``hypothesis`` is whole."""
RELEASED = ("sentence1", "sentence2_masked", "label")
"""What the thesis's files call them."""
LAYOUTS = (FROM_TEMPLATES, COLUMNS, RELEASED)

_SEVERAL = f"more than one {MASK} in the hypothesis"

WHOLE = {"masked": "hypothesis", "sentence2_masked": "sentence2"}
"""Where the hypothesis stands beside the one in which a word is hidden."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MaskedItems:
    """Items of masked inference."""

    table: pa.Table
    """n rows with ``item`` (int64 or string), ``premise``, ``hypothesis`` and ``answer`` (string,
    null where one is missing), and the columns of `groups` (string)."""
    problems: tuple[str | None, ...]
    """Shape (n,): why a row cannot be scored; None where it can."""
    groups: tuple[str, ...]
    """Columns by which accuracies are parted."""
    source: str
    """The file."""
    locate: Callable[[int], str]
    """Words for a row of the file."""

    def __len__(self) -> int:
        return len(self.problems)

    @property
    def usable(self) -> list[int]:
        """Rows that can be scored."""
        return [row for row, problem in enumerate(self.problems) if problem is None]

    @property
    def answers(self) -> tuple[str, ...]:
        """The distinct answers of these rows, sorted."""
        column = self.table["answer"].take(pa.array(self.usable, pa.int64()))
        return tuple(sorted(pc.unique(column).to_pylist()))

    def fill(self, row: int, word: str) -> tuple[str, tuple[int, int]]:
        """Return a row's hypothesis with a word for the mask, and where the word is in it."""
        before, after = self.table["hypothesis"][row].as_py().split(MASK)
        return f"{before}{word}{after}", (len(before), len(before) + len(word))

    def say_problems(self, problems: Sequence[str | None], *, what: str = "scored") -> str | None:
        """Say how many rows are left out and why, with the first of each reason."""
        return say_problems(problems, what=what, locate=self.locate)

    def refuse_if_none(self, problems: Sequence[str | None]) -> None:
        """Stop, saying why, if no row is left.

        Raises
        ------
        InputError
        """
        if all(problem is not None for problem in problems):
            said = self.say_problems(problems)
            raise InputError(f"no row can be scored. {said}", path=self.source)


def say_problems(
    problems: Sequence[str | None],
    *,
    what: str = "scored",
    locate: Callable[[int], str] | None = None,
) -> str | None:
    """Say how many rows are left out and why, as a sentence; None if there is none."""
    counts = Counter(problem for problem in problems if problem is not None)
    if not counts:
        return None
    reasons = []
    for reason, count in counts.most_common():
        first = "" if locate is None else f" (the first is {locate(list(problems).index(reason))})"
        reasons.append(f"{reason}: {count:,}{first}")
    n = sum(counts.values())
    return f"{say_count(n, 'row is', 'rows are')} not {what}: {'; '.join(reasons)}."


def read_masked_items(path: str | Path, *, groups: Sequence[str] | None = None) -> MaskedItems:
    """Read a file of masked inference.

    Parameters
    ----------
    path
        Parquet, CSV, TSV or JSON lines with the columns ``premise``, ``hypothesis`` (with one
        ``[MASK]``) and ``answer``; or ``premise``, ``masked`` and ``answer``, as corpora from
        templates; or, as in the thesis's files, ``sentence1``, ``sentence2_masked`` and ``label``.
        And ``item`` if there is one.
    groups
        Columns by which accuracies are parted; None: those of :data:`GROUPS` that there are.

    Returns
    -------
    MaskedItems
        All rows; those that cannot be scored say why.

    Raises
    ------
    InputError
        If the file cannot be read, lacks a column, has no row, no row that can be scored, or an
        item twice.
    """
    path = Path(path)
    with open_batches(path) as batches:
        names = list(batches.schema.names)
    texts, chosen = _find_columns(names, str(path), groups)
    beside = [name for name in ("item", WHOLE.get(texts[1])) if name is not None and name in names]
    wanted = list(dict.fromkeys([*texts, *chosen, *beside]))
    with open_batches(path, columns=wanted, texts=texts, types_of="file") as batches:
        table = pa.Table.from_batches(list(batches), schema=batches.schema)
    return _take(table, texts, chosen, str(path), partial(locate_row, path, find_format(path)))


def masked_items_from_table(
    data: Any, *, groups: Sequence[str] | None = None, source: str = "<memory>"
) -> MaskedItems:
    """Take items from a table of any kind; see :func:`read_masked_items`."""
    table = to_arrow(data, source=source)
    texts, chosen = _find_columns(table.column_names, source, groups)
    return _take(table, texts, chosen, source, lambda row: f"row {row}")


def _find_columns(
    names: Sequence[str], source: str, groups: Sequence[str] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    texts = next((each for each in LAYOUTS if set(each) <= set(names)), None)
    if texts is None:
        begun = [each for each in (COLUMNS, FROM_TEMPLATES, RELEASED) if set(each[:2]) & set(names)]
        if begun:
            nearest = max(begun, key=lambda each: len(set(each) & set(names)))
            check_columns(source, names, nearest)
        raise InputError(
            f"there are no columns {', '.join(COLUMNS)}, nor {', '.join(RELEASED)}; the columns "
            f"are {show_names(names)}",
            path=source,
        )
    chosen = tuple(each for each in GROUPS if each in names) if groups is None else tuple(groups)
    check_columns(source, names, (*texts, *chosen))
    taken = [name for name in chosen if name in {*texts, "item"}]
    if taken:
        raise InputError(
            "accuracies are parted by answer anyway, and not by texts or items",
            path=source,
            column=taken[0],
        )
    return texts, chosen


def _take(
    table: pa.Table,
    texts: Sequence[str],
    groups: tuple[str, ...],
    source: str,
    locate: Callable[[int], str],
) -> MaskedItems:
    if table.num_rows == 0:
        raise InputError("there is no row", path=source)
    columns = {"item": _read_items(table, source, locate)}
    for name, canonical in zip(texts, COLUMNS, strict=True):
        kind = table.schema.field(name).type
        if not (is_text(kind) or are_categories(kind) or pa.types.is_null(kind)):
            raise InputError(f"holds {kind}, texts expected", path=source, column=name)
        columns[canonical] = table[name].cast(pa.string()).combine_chunks()
    columns["answer"] = pc.utf8_trim_whitespace(columns["answer"])
    for name in groups:
        columns[name] = read_group(table, name, source)
    own = [columns[canonical].to_pylist() for canonical in COLUMNS]
    others = find_others(table, own[2], texts[1], source)
    problems = tuple(
        _find_problem(*row) or other
        for row, other in zip(zip(*own, strict=True), others, strict=True)
    )
    found = MaskedItems(
        table=pa.table(columns), problems=problems, groups=groups, source=source, locate=locate
    )
    found.refuse_if_none(problems)
    return found


def read_group(table: pa.Table, name: str, source: str) -> pa.Array:
    """Return a column as strings, by whose values rows are parted; blanks around them part none."""
    texts = as_texts(table[name], path=source, name=name)
    return pc.utf8_trim_whitespace(pc.fill_null(texts, "none"))


def _read_items(table: pa.Table, source: str, locate: Callable[[int], str]) -> pa.Array:
    if "item" not in table.column_names:
        return pa.array(range(table.num_rows), pa.int64())
    column = table["item"]
    if column.null_count:
        raise InputError(
            f"{say_count(column.null_count, 'row has', 'rows have')} none; give every row its "
            "item, or leave the column out",
            path=source,
            column="item",
        )
    items = as_items(column, path=source, name="item")
    if pc.count_distinct(items).as_py() < len(items):
        seen: set[object] = set()
        for row, item in enumerate(items.to_pylist()):
            if item in seen:
                raise InputError(
                    f"the item {item!r} stands there twice; give every row its own, or leave the "
                    "column out",
                    path=source,
                    row=locate(row),
                    column="item",
                )
            seen.add(item)
    return items


def _find_problem(premise: str | None, hypothesis: str | None, answer: str | None) -> str | None:
    """Say why a row cannot be scored, whatever the model is."""
    if premise is None or hypothesis is None or not answer:
        what = "premise" if premise is None else "hypothesis" if hypothesis is None else "answer"
        return f"no {what}"
    n = hypothesis.count(MASK)
    if n == 0:
        return f"no {MASK} in the hypothesis"
    if n > 1:
        return _SEVERAL
    return f"a {MASK} in the premise or the answer" if MASK in premise + answer else None


def find_others(
    table: pa.Table, answers: Sequence[str | None], masked: str, source: str
) -> list[str | None]:
    """Say where an answer is not the word that was hidden, if the whole hypothesis is beside it."""
    whole = WHOLE.get(masked, "")
    hidden, known = (
        as_texts(table[name], path=source, name=name).to_pylist()
        if table.column_names.count(name) == 1
        else [None] * len(table)
        for name in (masked, whole)
    )
    return [_find_other(*row, whole=whole) for row in zip(answers, hidden, known, strict=True)]


def _find_other(
    answer: str | None, hidden: str | None, known: str | None, *, whole: str
) -> str | None:
    """Say why an answer is none to the text beside it; None if it may be."""
    if hidden is None or not answer:
        return None
    if hidden.count(MASK) > 1:
        return _SEVERAL
    if known is None or MASK not in hidden:
        return None
    is_other = label_key(hidden.replace(MASK, answer)) != label_key(known)
    return (
        f"the answer in the place of {MASK} does not give the {whole} beside it"
        if is_other
        else None
    )


# Which inputs tell how likely words are in the place of a mask, each input once.


class Word(NamedTuple):
    """A word in the place of a mask, as a tokenizer sees it."""

    pieces: tuple[int, ...]
    """Its tokens."""
    slots: tuple[int, ...]
    """Where the score of each piece is, the others being visible."""
    problem: str | None
    """Why it cannot be scored; None where it can."""


@dataclass(kw_only=True)
class Queries:
    """Places of inputs, and the tokens whose scores there are wanted."""

    model: MaskedModel
    """Its tokenizer makes the tokens."""
    _premises: dict[str, int] = field(default_factory=dict)
    _premise_of: list[int] = field(default_factory=list)
    _ids: list[NDArray[np.int32]] = field(default_factory=list)
    _places: list[int] = field(default_factory=list)
    _inputs: dict[tuple[int, int, bytes], int] = field(default_factory=dict)
    _slots: dict[tuple[int, int], int] = field(default_factory=dict)

    def add(
        self, premises: Sequence[str], texts: Sequence[str], spans: Sequence[tuple[int, int]]
    ) -> list[Word]:
        """Ask for words."""
        tokenizer, unknown = self.model.tokenizer, self.model.tokenizer.unknown
        found = tokenizer.tokenise_with_spans(texts, spans, allow_none=True)
        words = []
        for row, premise in enumerate(premises):
            first = int(found.tokens.offsets[row])
            ids = found.tokens.values[first : first + int(found.tokens.lengths[row])]
            begin, end = int(found.begin[row]), int(found.end[row])
            pieces = tuple(map(int, ids[begin:end]))
            problem = None
            if not pieces:
                problem = "the tokenizer makes no token of the word"
            elif unknown in pieces:
                problem = "the tokenizer does not know the word"
            elif not found.alone[row]:
                problem = "the tokenizer joins the word with its neighbours"
            slots = () if problem is not None else self._hide(premise, ids, begin, end)
            words.append(Word(pieces, slots, problem))
        return words

    def _hide(self, premise: str, ids: NDArray[np.int32], begin: int, end: int) -> tuple[int, ...]:
        slots = []
        first = self._premises.setdefault(premise, len(self._premises))
        for place in range(begin, end):
            hidden = ids.copy()
            hidden[place] = self.model.mask
            key = (first, place, hidden.tobytes())
            number = self._inputs.setdefault(key, len(self._inputs))
            if number == len(self._ids):
                self._premise_of.append(first)
                self._ids.append(hidden)
                self._places.append(place)
            slots.append(self._slots.setdefault((number, int(ids[place])), len(self._slots)))
        return tuple(slots)

    def run(self) -> Scores:
        """Run the model on every input."""
        model, tokenizer = self.model, self.model.tokenizer
        n = len(self._ids)
        texts = [tokenizer.tokenise(list(self._premises)), Ragged.of(self._ids)]
        rows = [np.array(self._premise_of, dtype=np.int64), np.arange(n, dtype=np.int64)]
        store = tokenizer.join(texts, rows)
        kept = tokenizer.count_kept(texts, rows)
        template = tokenizer.template(2)
        ahead = len(template.ids[0]) + len(template.ids[1])
        places = np.array(self._places, dtype=np.int64)
        n_slots = len(self._slots)
        scores = Scores(
            inputs=np.array([number for number, _ in self._slots], dtype=np.int64),
            tokens=np.array([token for _, token in self._slots], dtype=np.int64),
            log_probabilities=np.full(n_slots, np.nan),
            ranks=np.zeros(n_slots, np.int64),
            best=np.zeros(n_slots, np.int64),
            is_cut=places >= kept[1],
            is_truncated=kept[0] + kept[1] < texts[0].lengths[rows[0]] + texts[1].lengths,
        )
        whole = np.flatnonzero(~scores.is_cut)
        by_input = np.argsort(scores.inputs, kind="stable")
        begins = np.searchsorted(scores.inputs[by_input], np.arange(n + 1))

        def take(chosen: NDArray[np.int64], logits: NDArray[np.float32]) -> None:
            if np.isnan(logits).any() or np.isposinf(logits).any():
                raise InputError("the model returned what is no number, or is infinite")
            for row, number in enumerate(whole[chosen]):
                scores.take(by_input[begins[number] : begins[number + 1]], logits[row])

        model.read(store.take(whole), (ahead + kept[0] + places)[whole], take)
        return scores


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Scores of tokens; a slot is a token in a place."""

    inputs: NDArray[np.int64]
    tokens: NDArray[np.int64]
    """int64 (slots,)."""
    log_probabilities: NDArray[np.float64]
    """float64 (slots,): natural logarithms."""
    ranks: NDArray[np.int64]
    """int64 (slots,): tokens of the vocabulary that score as high or higher, itself included."""
    best: NDArray[np.int64]
    """int64 (slots,): the token that scores highest among the others; of several, the first."""
    is_cut: NDArray[np.bool_]
    is_truncated: NDArray[np.bool_]
    """bool (inputs,): whether an input was too long, and lost the place itself, or any token."""

    def take(self, slots: NDArray[np.int64], logits: NDArray[np.float32]) -> None:
        """Note what the logits of an input, shape (V,), say of its slots."""
        exact = logits.astype(np.float64)
        top = exact.max()
        total = top + np.log(np.exp(exact - top).sum())
        for slot in slots:
            token = self.tokens[slot]
            self.log_probabilities[slot] = exact[token] - total
            self.ranks[slot] = np.count_nonzero(logits >= logits[token])
            others = logits.copy()
            others[token] = -np.inf
            self.best[slot] = int(others.argmax())

    def sum(self, word: Word) -> float:
        """Return a word's pseudo-log-likelihood: the sum over its pieces (Salazar et al. 2020)."""
        return float(self.log_probabilities[list(word.slots)].sum())

    def loses(self, word: Word) -> bool:
        """Whether an input of a word lost the place of a piece."""
        return bool(self.is_cut[self.inputs[list(word.slots)]].any())

    def shortens(self, word: Word) -> bool:
        """Whether an input of a word lost any token."""
        return bool(self.is_truncated[self.inputs[list(word.slots)]].any())
