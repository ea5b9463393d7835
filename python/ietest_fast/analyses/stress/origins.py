"""What stress tests are made of, what gave no row, and what was done to each row."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.answers.file import Told
from ietest_fast.errors import InputError
from ietest_fast.lexicon.words import FUNCTION_WORDS
from ietest_fast.numerals import say_count
from ietest_fast.transform.edits import COMPANION_RULES, apply_edits
from ietest_fast.values import as_texts, name_groups, show_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ietest_fast.answers.table import Predictions
    from ietest_fast.answers.versions import Version
    from ietest_fast.transform import Transformed


# What a stress test is made of: which texts, by which transformation, and what gave no row.


@dataclass(frozen=True, kw_only=True)
class StressOrigin(Told):
    """Where the rows of a test come from."""

    identity: str
    """The transformation's name with four digits of a hash."""
    keeps_labels: bool
    """Whether the transformation keeps labels; otherwise it sets them."""
    n_texts: int
    """Rows that the test could be made of: labelled ones, or texts of another file."""
    n_missing: int = 0
    """Of these, texts of another file that are missing."""
    n_repeated: int = 0
    """Of these, rows left out because all that they would give is there already."""
    n_unknown: int = 0
    """Of these, rows of whose new texts nobody knows any label."""
    n_made: int | None = None
    """Of these, rows that gave something; None in files of earlier versions, which do not say
    it."""
    n_rows: int | None = None
    """Rows that they gave; None as `n_made`."""

    @classmethod
    def of(cls, version: Version, *, n_texts: int, n_missing: int = 0) -> StressOrigin:
        """Count the rows that gave nothing."""
        known = version.source_row[version.labels >= 0]
        unknown = version.source_row[version.labels < 0]
        return cls(
            identity=version.identity,
            keeps_labels=version.keeps_labels,
            n_texts=n_texts,
            n_missing=n_missing,
            n_repeated=len(np.setdiff1d(version.repeated, version.source_row)),
            n_unknown=len(np.setdiff1d(unknown, known)),
            n_made=len(np.unique(known)),
            n_rows=len(known),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what is known by name."""
        return {name: each for name, each in asdict(self).items() if each is not None}


def say_made_of(
    name: str,
    n_items: int,
    n_originals: int,
    *,
    is_foreign: bool,
    origin: StressOrigin | None,
    n_rows: int | None = None,
) -> str | None:
    """Return a sentence on what a test is made of; None if it has all originals."""
    if origin is None:
        if is_foreign:
            return f"{name}: made of {say_count(n_items, 'text')} of another file."
        left = n_originals - n_items
        made = f"{name}: made of {n_items:,} of {say_count(n_originals, 'item')}"
        return None if left == 0 else f"{made}; {left:,} {_have(left)} no row in it."
    is_edited = origin.n_rows is not None and n_rows not in {None, origin.n_rows}
    if not is_foreign and n_items == origin.n_texts and not is_edited:
        return None
    of = f"{say_count(origin.n_texts, 'text')} of another file"
    of = of if is_foreign else say_count(origin.n_texts, "item")
    known = origin.n_missing + origin.n_repeated + origin.n_unknown
    nothing = origin.n_texts - (n_items if origin.n_made is None else origin.n_made) - known
    why = ("has no row in it", "have no row in it")
    if origin.n_made is not None:
        why = ("has nothing for it", "have nothing for it")
    reasons = [
        f"{n:,} {words[n != 1]}"
        for n, words in (
            (nothing, why),
            (
                origin.n_repeated,
                ("would only repeat what others give", "would only repeat what others give"),
            ),
            (origin.n_unknown, ("gets no known label", "get no known label")),
            (origin.n_missing, ("is missing", "are missing")),
        )
        if n > 0
    ]
    if is_edited:
        made = say_count(origin.n_rows or 0, "row was", "rows were")
        reasons.append(f"{made} answered, and the file has {n_rows:,}, so it was edited")
    return f"{name}: made of {'; '.join([f'{n_items:,} of {of}', *reasons])}."


def _have(n: int) -> str:
    return "has" if n == 1 else "have"


RULE = "rule"
"""Column: by which rules the row was edited, joined by " + "."""

WORD_CLASS = "word_class"
"""Column: ``function`` or ``content``, after the words that were edited, joined by " + "."""

WORD_PAIR = "word_pair"
"""Column: the word and its antonym, in the order of the alphabet: ``"large / small"``."""

NOTES = (RULE, WORD_CLASS, WORD_PAIR)

_ANTONYM = "antonym"
_JOINT = " + "
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_ARTICLES = frozenset({"a", "an"})
_CLASSES = frozenset({"function", "content"})
_PAIR_OF_WORDS = re.compile(r"([^\s/]+) */ *([^\s/]+)")


def note_rows(
    before: pa.Table, made: Transformed, text_columns: Sequence[str]
) -> dict[str, pa.Array]:
    """Return notes about each row of a transformed table."""
    n = before.num_rows
    rules: list[set[str]] = [set() for _ in range(n)]
    classes: list[set[str]] = [set() for _ in range(n)]
    for texts, edits in _part_steps(before, made.edits):
        _note_edits(texts, edits, rules, classes)
    pairs: list[str | None] = [None] * n
    if len(text_columns) == 2 and any(_ANTONYM in found for found in rules):
        premises, hypotheses = (made.table[name].to_pylist() for name in text_columns)
        pairs = [
            _say_pair(premise, hypothesis) if _ANTONYM in found or not found else None
            for premise, hypothesis, found in zip(premises, hypotheses, rules, strict=True)
        ]
    if made.labels is not None:  # the edits lead from another pair of texts
        classes = [set() for _ in range(n)]
    joined = {RULE: [_join(each) for each in rules], WORD_CLASS: [_join(each) for each in classes]}
    return {
        name: pa.array(each, pa.string()) for name, each in {**joined, WORD_PAIR: pairs}.items()
    }


def _part_steps(before: pa.Table, edits: pa.Table | None) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Give the edits of each step with the texts that they were made in."""
    if edits is None:
        return
    if "step" not in edits.column_names:
        yield before, edits
        return
    numbers = sorted(pc.unique(edits["step"]).to_pylist())
    steps = [edits.filter(pc.equal(edits["step"], number)) for number in numbers]
    texts = before
    for place, own in enumerate(steps):
        if place:
            texts = apply_edits(texts, steps[place - 1])
        yield texts, own


def _say_pair(premise: str | None, hypothesis: str | None) -> str | None:
    pair = find_word_pair(premise or "", hypothesis or "")
    return None if pair is None else " / ".join(pair)


def read_words(predictions: Predictions) -> Predictions:
    """Return predictions whose classes and pairs of words, if there, are spelt as they are
    written.
    """
    table = predictions.table
    known: dict[str, tuple[Callable[[str], str | None], str]] = {
        WORD_CLASS: (_spell_class, "function, content, or content + function"),
        WORD_PAIR: (_spell_pair, "a word and its antonym, such as large / small,"),
    }
    for name, (spell, wanted) in known.items():
        if name not in table.column_names:
            continue
        own = name_groups(as_texts(table[name], path=predictions.source, name=name))
        encoded = own.dictionary_encode()
        given = encoded.dictionary.to_pylist()
        spelt = [spell(each.lower()) for each in given]
        if None in spelt:
            first = given[spelt.index(None)]
            raise InputError(
                f"{show_value(first)} says of no words what they are; {wanted} expected, or "
                "nothing: correct it, or give the column another name",
                path=predictions.source,
                row=f"row {pc.index(own, first).as_py()}",
                column=name,
            )
        values = pa.array(spelt, pa.string()).take(encoded.indices)
        table = table.set_column(table.column_names.index(name), name, values)
    return replace(predictions, table=table)


def _spell_class(said: str) -> str | None:
    classes = {each.strip() for each in said.split(_JOINT.strip())}
    return _join(classes) if classes <= _CLASSES else None


def _spell_pair(said: str) -> str | None:
    found = _PAIR_OF_WORDS.fullmatch(said)
    return None if found is None or found[1] == found[2] else " / ".join(found.groups())


def _note_edits(
    texts: pa.Table, edits: pa.Table, rules: list[set[str]], classes: list[set[str]]
) -> None:
    names = edits["column"].cast(pa.string()).to_pylist()
    said = edits["rule"].cast(pa.string()).to_pylist()
    rows, starts, ends, news = (edits[key].to_pylist() for key in ("row", "start", "end", "new"))
    columns = {name: texts[name].to_pylist() for name in set(names)}
    for name, rule, row, start, end, new in zip(names, said, rows, starts, ends, news, strict=True):
        if rule in COMPANION_RULES:
            continue
        rules[row].add(rule)
        if not _WORD.search(new):  # cut, and not replaced
            continue
        word = _whole_word((columns[name][row] or "").encode(), start, end)
        if word is not None:
            classes[row].add("function" if word in FUNCTION_WORDS else "content")


def _whole_word(text: bytes, start: int, end: int) -> str | None:
    """Return the word that a span of bytes is, in lower case; None if it is no whole word."""
    before, word, after = (
        piece.decode("utf-8", "ignore") for piece in (text[:start], text[start:end], text[end:])
    )
    if before[-1:].isalnum() or after[:1].isalnum():
        return None
    found = _WORD.findall(word)
    return found[0].lower() if len(found) == 1 else None


def _join(found: set[str]) -> str | None:
    return _JOINT.join(sorted(found)) or None


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case; hyphens and apostrophes join."""
    return _WORD.findall(text.lower())


def find_word_pair(premise: str, hypothesis: str) -> tuple[str, str] | None:
    """Return the two words in which texts differ, in lower case and the alphabet's order.

    Articles before them may differ as well. None if the texts differ in nothing, or in more.
    """
    one, other = split_words(premise), split_words(hypothesis)
    while one and other and one[-1] == other[-1]:
        one.pop()
        other.pop()
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    one, other = one[start:], other[start:]
    if len(one) == len(other) == 2 and {one[0], other[0]} <= _ARTICLES:
        one, other = one[1:], other[1:]
    if len(one) != 1 or len(other) != 1:
        return None
    first, second = sorted((one[0], other[0]))
    return first, second
