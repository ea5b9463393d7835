"""Texts as numbers of words, for models that learn (or are given) a vector for each word."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.files import open_file
from ietest_fast.models.protocol import EncodedSplit
from ietest_fast.models.ragged import Ragged, find_offsets
from ietest_fast.models.tokens import Template, TextRows, encode_splits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ietest_fast.models.protocol import SplitTexts

PADDING, UNKNOWN, SEPARATOR = range(3)
"""Numbers that are no word's."""

_FIRST_WORD = 3

# Words and single punctuation marks.
_PIECE = re.compile(r"\w+|[^\w\s]")


def split_words(text: str) -> list[str]:
    """Give a text's words and punctuation marks, in lower case."""
    return _PIECE.findall(text.lower())


class WordTokenizer:
    """Gives the words of a vocabulary numbers."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._number_of = {word: i for i, word in enumerate(vocabulary, _FIRST_WORD)}

    @classmethod
    def learn(cls, texts: Iterable[str]) -> tuple[WordTokenizer, list[str]]:
        """Take all words of some texts, and give them in alphabetical order, too."""
        vocabulary = sorted({word for text in texts for word in split_words(text)})
        return cls(vocabulary), vocabulary

    def tokenise(self, texts: Sequence[str]) -> Ragged:
        """Give the words of texts their numbers, int32, a row for each text."""
        find = self._number_of.get
        rows = [[find(word, UNKNOWN) for word in split_words(text)] for text in texts]
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        return Ragged(
            values=np.array([number for row in rows for number in row], dtype=np.int32),
            offsets=find_offsets(lengths),
        )

    def template(self, n_texts: int) -> Template:
        """Put a separator between two texts, and nothing around them."""
        nothing = np.zeros(0, np.int32)
        between = [np.array([SEPARATOR], np.int32)] * (n_texts - 1)
        ids = (nothing, *between, nothing)
        return Template(
            ids=ids,
            type_ids=tuple(np.zeros(len(piece), np.uint8) for piece in ids),
            text_types=(0,) * n_texts,
        )


@dataclass(frozen=True, kw_only=True)
class WordRows:
    """Inputs as choices among texts of numbered words."""

    rows: TextRows
    """The texts, and which of them each input consists of."""
    n_words: int
    """How many numbers there are, those that are no word's included."""
    vectors: NDArray[np.float32]
    """Given vectors, float32, shape (n_words, d), NaN where there is none; shape (n_words, 0) where
    none are given at all."""

    def __len__(self) -> int:
        return len(self.rows)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give the arrays that the store consists of."""
        return self.rows.arrays() | {
            "n_words": np.array([self.n_words], dtype=np.int64),
            "vectors": self.vectors,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> WordRows:
        """Make it again from arrays, which may be memory-mapped."""
        return cls(
            rows=TextRows.from_arrays(arrays),
            n_words=int(arrays["n_words"][0]),
            vectors=arrays["vectors"],
        )


def encode_words(
    splits: Mapping[str, SplitTexts], text_columns: Sequence[str], *, vectors: Path | None = None
) -> dict[str, EncodedSplit]:
    """Give the words of ``"train"`` numbers, and write every split in all its versions in them."""
    train = _texts_of([splits["train"]], text_columns)
    tokenizer, vocabulary = WordTokenizer.learn(train)
    if not vocabulary:
        raise InputError("the training texts contain no word")
    given = np.zeros((len(vocabulary) + _FIRST_WORD, 0), np.float32)
    if vectors is not None:
        _, every = WordTokenizer.learn(_texts_of(splits.values(), text_columns))
        found = read_vectors(vectors, set(every))
        if not found:
            raise InputError(
                f"it has a vector for none of the {len(every):,} words of these texts; is it of "
                "another language, or not a text file of word vectors?",
                path=vectors,
            )
        vocabulary = sorted({*vocabulary, *found})
        tokenizer = WordTokenizer(vocabulary)
        size = len(next(iter(found.values())))
        given = np.full((len(vocabulary) + _FIRST_WORD, size), np.nan, np.float32)
        for number, word in enumerate(vocabulary, _FIRST_WORD):
            if word in found:
                given[number] = found[word]
    encoded = encode_splits(tokenizer, splits, text_columns)
    n_words = len(vocabulary) + _FIRST_WORD
    return {
        name: EncodedSplit(
            store=WordRows(rows=split.store, n_words=n_words, vectors=given),  # type: ignore[arg-type]
            versions=split.versions,
            labels=split.labels,
        )
        for name, split in encoded.items()
    }


def _texts_of(splits: Iterable[SplitTexts], text_columns: Sequence[str]) -> Iterable[str]:
    import pyarrow.compute as pc

    for split in splits:
        for table in split.versions.values():
            for name in text_columns:
                yield from pc.unique(table[name]).to_pylist()


def read_vectors(path: Path, words: set[str]) -> dict[str, NDArray[np.float32]]:
    """Read the vectors of some words from a text file, as GloVe's and fastText's are."""
    found: dict[str, NDArray[np.float32]] = {}
    size: int | None = None
    try:
        with open_file(path) as opened, io.TextIOWrapper(opened, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                parts = line.rstrip("\n").rstrip(" ").split(" ")
                if number == 1 and len(parts) == 2:
                    continue
                size = len(parts) - 1 if size is None else size
                if len(parts) - 1 < size or size == 0:
                    raise InputError(
                        f"{len(parts) - 1} numbers, where the lines before have {size}",
                        path=path,
                        row=f"line {number}",
                    )
                # Some of GloVe's words contain blanks.
                word = " ".join(parts[: len(parts) - size]).lower()
                if word in words and word not in found:
                    found[word] = np.array(parts[-size:], dtype=np.float32)
                    if not np.isfinite(found[word]).all():
                        raise InputError("not a finite number", path=path, row=f"line {number}")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", path=path) from error
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"a line has no numbers behind its word: {error}", path=path) from error
    return found
