"""Token ids of texts and text pairs, made once and chosen from ever after.

Every distinct text is tokenised once, alone; a pair is put together from the tokens of its texts by
the tokenizer's own template. That is what the tokenizer itself does with a pair, but premises are
shared by several pairs, and a rephrased pair often keeps one of its texts.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ietest_fast.errors import InputError, shorten_error
from ietest_fast.files import check_file
from ietest_fast.lexicon.token_table import offsets_of
from ietest_fast.models.protocol import EncodedSplit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from ietest_fast.models.protocol import SplitTexts

# Rows of different lengths, one behind the other.


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Where rows of different lengths begin and end."""

    offsets: NDArray[np.int64]
    """int64, shape (rows + 1,): row i has the entries ``offsets[i]:offsets[i + 1]``."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Length of each row."""
        return np.diff(self.offsets)

    def runs(self, most: int) -> Iterator[tuple[int, int]]:
        """Give the bounds of runs of rows that have at most `most` entries, or are one row."""
        begin = 0
        while begin < len(self):
            within = np.searchsorted(self.offsets, self.offsets[begin] + most, side="right")
            end = max(int(within) - 1, begin + 1)
            yield begin, end
            begin = end


@dataclass(frozen=True, kw_only=True)
class Ragged(Rows):
    """Rows of numbers."""

    values: NDArray[Any]
    """Shape (entries,), the entries of all rows."""

    @classmethod
    def of(cls, rows: Sequence[NDArray[np.int32]]) -> Ragged:
        """Put rows one behind the other."""
        values = np.concatenate(rows) if rows else np.zeros(0, np.int32)
        return cls(values=values, offsets=offsets_of([len(row) for row in rows]))


def spread(begins: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the positions ``begin, begin + 1, ...`` of all rows, one row behind the other."""
    offsets = offsets_of(lengths)
    return np.arange(offsets[-1], dtype=np.int64) + np.repeat(begins - offsets[:-1], lengths)


# Every distinct text once, and every distinct input as a choice among them.


@dataclass(frozen=True, kw_only=True, eq=False)
class PooledInputs:
    """The inputs of one split."""

    codes: NDArray[np.int64]
    """int64, shape (columns, inputs): the texts of each distinct input."""
    versions: Mapping[str, NDArray[np.int64]]
    """int64, shape (n,), by version: the input of each row."""

    def __len__(self) -> int:
        return int(self.codes.shape[1])


def pool_texts(
    splits: Mapping[str, Mapping[str, pa.Table]], text_columns: Sequence[str]
) -> tuple[pa.Array, dict[str, PooledInputs]]:
    """Find the distinct texts of all splits, and the distinct inputs of each.

    Premises and hypotheses, originals and transformed texts share one list.
    """
    import pyarrow as pa

    arrays = [
        table[name].cast(pa.large_string()).combine_chunks()
        for versions in splits.values()
        for name in text_columns
        for table in versions.values()
    ]
    pooled = pa.concat_arrays(arrays).dictionary_encode()
    codes = np.asarray(pooled.indices, dtype=np.int64)
    inputs = {}
    for name, versions in splits.items():
        ends = np.cumsum([table.num_rows for table in versions.values()])
        shape = len(text_columns), int(ends[-1])
        here, codes = np.split(codes, [shape[0] * shape[1]])
        distinct, row_of = np.unique(here.reshape(shape), axis=1, return_inverse=True)
        rows = np.split(row_of.reshape(-1).astype(np.int64), ends[:-1])
        inputs[name] = PooledInputs(codes=distinct, versions=dict(zip(versions, rows, strict=True)))
    return pooled.dictionary, inputs


def find_changed(
    original: pa.Table, transformed: pa.Table, columns: Sequence[str], *, source: str | None
) -> NDArray[np.bool_]:
    """Say in which rows the texts of some columns differ, bool, shape (n,)."""
    import pyarrow.compute as pc

    changed = np.zeros(original.num_rows, dtype=bool)
    for name in columns:
        differs = pc.not_equal(original[name], transformed[name])
        changed |= differs.to_numpy(zero_copy_only=False)
    if not changed.any():
        raise InputError(
            f"both versions of the test set have the same texts in {' and '.join(columns)}, so "
            "there is nothing to test",
            path=source,
        )
    return changed


LARGEST_ID = 2**31 - 1
"""Ids are kept in 32 bits, signed."""

LARGEST_TYPE = 255

# Texts that go to the tokenizer at once: enough for all its threads, little enough to stop between.
_TEXTS_AT_ONCE = 8192


@contextmanager
def _tokenising(path: Path) -> Iterator[None]:
    """Turn what the library raises, which is nothing special, into an error that names the file."""
    try:
        yield
    except BaseException as error:  # a panic of Rust is no Exception
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise InputError(f"cannot tokenise: {shorten_error(error)}", path=path) from error


@dataclass(frozen=True, kw_only=True)
class TokenStore(Rows):
    """Model inputs, special tokens included and cut to the model's length."""

    ids: NDArray[np.int32]
    """int32, shape (tokens,): the tokens of all rows."""
    type_ids: NDArray[np.uint8]
    """uint8, shape (tokens,): which text of a pair a token belongs to, as the model wants it."""

    def take(self, rows: NDArray[np.int64]) -> TokenStore:
        """Copy some rows."""
        lengths = self.lengths[rows]
        offsets = offsets_of(lengths)
        source = spread(self.offsets[rows], lengths)
        return TokenStore(ids=self.ids[source], type_ids=self.type_ids[source], offsets=offsets)


@dataclass(frozen=True, kw_only=True)
class Template:
    """What stands around the texts of an input: one piece before, between and behind them."""

    ids: tuple[NDArray[np.int32], ...]
    type_ids: tuple[NDArray[np.uint8], ...]
    text_types: tuple[int, ...]

    @property
    def n_special(self) -> int:
        """Number of tokens that are not the texts'."""
        return sum(len(piece) for piece in self.ids)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give it as plain arrays."""
        return {
            "special_ids": np.concatenate(self.ids),
            "special_type_ids": np.concatenate(self.type_ids),
            "special_lengths": np.array([len(piece) for piece in self.ids], dtype=np.int64),
            "text_types": np.array(self.text_types, dtype=np.uint8),
        }

    def without_types(self) -> Template:
        """Return the same with all tokens of type 0."""
        return replace(
            self,
            type_ids=tuple(np.zeros_like(piece) for piece in self.type_ids),
            text_types=(0,) * len(self.text_types),
        )

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Template:
        """Make it again."""
        cuts = np.cumsum(arrays["special_lengths"])[:-1]
        return cls(
            ids=tuple(np.split(np.asarray(arrays["special_ids"]), cuts)),
            type_ids=tuple(np.split(np.asarray(arrays["special_type_ids"]), cuts)),
            text_types=tuple(int(kind) for kind in arrays["text_types"]),
        )

    @classmethod
    def learn(cls, tokenizer: Tokenizer, n_texts: int, path: Path) -> Template:
        """Read it off an input that the tokenizer makes."""
        with _tokenising(path):
            probe = tokenizer.encode("a") if n_texts == 1 else tokenizer.encode("a", "b")
        pieces: list[tuple[list[int], list[int]]] = [([], [])]
        text_types: list[int] = []
        inside = -1
        for token, kind, sequence in zip(
            probe.ids, probe.type_ids, probe.sequence_ids, strict=True
        ):
            if sequence is None:
                pieces[-1][0].append(token)
                pieces[-1][1].append(kind)
            elif sequence != inside:
                if sequence != inside + 1:
                    raise InputError(
                        "the tokenizer puts the second text before the first", path=path
                    )
                inside = sequence
                text_types.append(kind)
                pieces.append(([], []))
        if inside != n_texts - 1:
            raise InputError(f"the tokenizer cannot join {n_texts} texts", path=path)
        largest = max((token for ids, _ in pieces for token in ids), default=0)
        if largest > LARGEST_ID:
            raise InputError(
                f"the tokenizer makes token {largest}, and models take ids up to {LARGEST_ID}",
                path=path,
            )
        types = {*text_types, *(kind for _, kinds in pieces for kind in kinds)}
        if not all(0 <= kind <= LARGEST_TYPE for kind in types):
            raise InputError(
                f"the tokenizer gives types of tokens from {min(types)} to {max(types)}, and "
                f"models take types from 0 to {LARGEST_TYPE}",
                path=path,
            )
        return cls(
            ids=tuple(np.array(ids, dtype=np.int32) for ids, _ in pieces),
            type_ids=tuple(np.array(kinds, dtype=np.uint8) for _, kinds in pieces),
            text_types=tuple(text_types),
        )


@dataclass(frozen=True, kw_only=True)
class Spans:
    """Tokens of texts, and which of them a span of each text has become."""

    tokens: Ragged
    """int32, n rows."""
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    """int64 (n,): the span's tokens are ``begin:end`` of the row; at least one, unless spans
    without a token are allowed."""
    alone: NDArray[np.bool_]
    """bool (n,): whether these tokens hold nothing but the span and white space before it."""


class TextTokenizer:
    """A model's tokenizer, and how many tokens the model takes."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        max_length: int,
        path: str | Path,
        n_known: int | None = None,
        makes_types: bool = True,
    ) -> None:
        self._makes_types = makes_types
        self._path = Path(path)
        self._n_known = n_known
        self._tokenizer = tokenizer
        # Some files fix both; here texts of all lengths come, and batches are padded later.
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self.max_length = max_length

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        max_length: int,
        n_known: int | None = None,
        makes_types: bool = True,
    ) -> TextTokenizer:
        """Read ``tokenizer.json``."""
        from tokenizers import Tokenizer

        path = Path(path)
        if not path.exists():
            raise InputError(
                "there is no such file; a tokenizer in the format of the tokenizers library is "
                "needed (save_pretrained of a fast tokenizer writes it)",
                path=path,
            )
        try:
            tokenizer = Tokenizer.from_file(str(check_file(path)))
        except InputError:
            raise
        except Exception as error:  # the library raises nothing more special
            raise InputError(f"is no tokenizer, or a damaged one: {error}", path=path) from error
        return cls(
            tokenizer, max_length=max_length, path=path, n_known=n_known, makes_types=makes_types
        )

    def save(self, path: Path) -> None:
        """Write ``tokenizer.json``."""
        self._tokenizer.save(str(path))

    def token_id(self, token: str) -> int | None:
        """Give the number of a token, None if there is no such token."""
        number: int | None = self._tokenizer.token_to_id(token)
        return number

    @property
    def n_tokens(self) -> int:
        """Number of tokens that there are, added ones included."""
        return int(self._tokenizer.get_vocab_size(with_added_tokens=True))

    @property
    def unknown(self) -> int | None:
        """Number of the token that stands for what the vocabulary lacks; None if all is known."""
        model = self._tokenizer.model
        if hasattr(model, "unk_token"):
            return None if model.unk_token is None else self.token_id(model.unk_token)
        # One kind of vocabulary (Unigram) says it in its file alone.
        number = json.loads(self._tokenizer.to_str())["model"].get("unk_id")
        return number if isinstance(number, int) else None

    def name_token(self, number: int) -> str:
        """Give a token as the vocabulary spells it; for a number without a token, the number."""
        token = self._tokenizer.id_to_token(number)
        return f"#{number}" if token is None else str(token)

    def show_token(self, number: int) -> str:
        """Give a token as it looks in a text, without a blank before it."""
        shown: str = self._tokenizer.decode([number], skip_special_tokens=False).strip()
        # What cannot be shown by itself: part of a character, or nothing but blanks.
        return self.name_token(number) if not shown or "\ufffd" in shown else shown

    def tokenise(self, texts: Sequence[str]) -> Ragged:
        """Tokenise texts, without special tokens."""
        return self._as_ragged([self._as_ids(encoding.ids) for encoding in self._encode(texts)])

    def tokenise_with_spans(
        self,
        texts: Sequence[str],
        spans: Sequence[tuple[int, int]],
        *,
        allow_none: bool = False,
    ) -> Spans:
        """Tokenise texts without special tokens, and find a span of each among the tokens."""
        ids: list[NDArray[np.int32]] = []
        found: list[tuple[int, int]] = []
        alone: list[bool] = []
        encodings = self._encode(texts, with_offsets=True)
        for text, (first, last), encoding in zip(texts, spans, encodings, strict=True):
            inside = [
                place
                for place, (start, end) in enumerate(encoding.offsets)
                if start < last and end > first and end > start
            ]
            if not inside and not allow_none:
                raise InputError(
                    f"the tokenizer makes no token of {text[first:last]!r}", path=self._path
                )
            ids.append(self._as_ids(encoding.ids))
            found.append((inside[0], inside[-1] + 1) if inside else (0, 0))
            start = encoding.offsets[inside[0]][0] if inside else last
            end = encoding.offsets[inside[-1]][1] if inside else last
            alone.append(end <= last and not text[start:first].strip())
        tokens = self._as_ragged(ids)
        begins, ends = np.array(found, dtype=np.int64).reshape(-1, 2).T
        return Spans(
            tokens=tokens,
            begin=begins,
            end=ends,
            alone=np.array(alone, dtype=bool),
        )

    def _as_ids(self, ids: Sequence[int]) -> NDArray[np.int32]:
        if ids and max(ids) > LARGEST_ID:
            raise InputError(
                f"the tokenizer makes token {max(ids)}, and models take ids up to {LARGEST_ID}",
                path=self._path,
            )
        return np.array(ids, dtype=np.int32)

    def _as_ragged(self, ids: list[NDArray[np.int32]]) -> Ragged:
        tokens = Ragged.of(ids)
        self._check_known(tokens.values)
        return tokens

    def _encode(self, texts: Sequence[str], *, with_offsets: bool = False) -> Iterator[Any]:
        """Yield what the library makes of each text, some thousands at a time."""
        encode = self._tokenizer.encode_batch if with_offsets else self._tokenizer.encode_batch_fast
        for begin in range(0, len(texts), _TEXTS_AT_ONCE):
            some = list(texts[begin : begin + _TEXTS_AT_ONCE])
            with _tokenising(self._path):
                encodings = encode(some, add_special_tokens=False)
            yield from encodings

    def _check_known(self, ids: NDArray[np.int32]) -> None:
        if self._n_known is not None and len(ids) and ids.max() >= self._n_known:
            raise InputError(
                f"the tokenizer makes token {ids.max()}, but the model knows {self._n_known} "
                "tokens, numbered from 0: is the tokenizer another model's?",
                path=self._path,
            )

    def template(self, n_texts: int) -> Template:
        """Say what stands around the texts of an input of one text or two."""
        template = Template.learn(self._tokenizer, n_texts, self._path)
        self._check_known(np.concatenate(template.ids))
        return template if self._makes_types else template.without_types()

    def join(self, texts: Sequence[Ragged], rows: Sequence[NDArray[np.int64]]) -> TokenStore:
        """Put inputs together from the tokens of their texts; see :func:`join`."""
        return join(texts, rows, self.template(len(texts)), max_length=self.max_length)

    def count_kept(
        self, texts: Sequence[Ragged], rows: Sequence[NDArray[np.int64]]
    ) -> list[NDArray[np.int64]]:
        """Count the tokens of each text that :meth:`join` keeps of each input, int64 (n,) each."""
        lengths = [column.lengths[take] for column, take in zip(texts, rows, strict=True)]
        return _cut(lengths, self.max_length - self.template(len(texts)).n_special)


def join(
    texts: Sequence[Ragged],
    rows: Sequence[NDArray[np.int64]],
    template: Template,
    *,
    max_length: int,
) -> TokenStore:
    """Put inputs together from the tokens of their texts."""
    if max_length - template.n_special < len(texts):
        raise InputError(
            f"max_length: no text fits into {max_length} tokens, {template.n_special} of which are "
            "special"
        )
    lengths = [column.lengths[take] for column, take in zip(texts, rows, strict=True)]
    lengths = _cut(lengths, max_length - template.n_special)
    total = template.n_special + sum(lengths)
    offsets = offsets_of(np.asarray(total, dtype=np.int64))
    ids = np.empty(offsets[-1], dtype=np.int32)
    type_ids = np.empty(offsets[-1], dtype=np.uint8)
    at = offsets[:-1].copy()
    for place, (piece, kinds) in enumerate(zip(template.ids, template.type_ids, strict=True)):
        for token, kind in zip(piece, kinds, strict=True):
            ids[at] = token
            type_ids[at] = kind
            at += 1
        if place == len(texts):
            break
        length = lengths[place]
        column, take = texts[place], rows[place]
        target = spread(at, length)
        ids[target] = column.values[spread(column.offsets[take], length)]
        type_ids[target] = template.text_types[place]
        at += length
    return TokenStore(ids=ids, type_ids=type_ids, offsets=offsets)


@dataclass(frozen=True, kw_only=True)
class TextRows:
    """Inputs as choices among tokenised texts: a store whose rows can be cut to any length."""

    texts: Ragged
    """Tokens of the distinct texts."""
    codes: NDArray[np.int64]
    """int64, shape (columns, rows): the texts of each row."""
    template: Template
    """What stands around them."""

    def __len__(self) -> int:
        return int(self.codes.shape[1])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give the arrays that the store consists of."""
        return {
            "text_values": self.texts.values,
            "text_offsets": self.texts.offsets,
            "codes": self.codes,
            **self.template.arrays(),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> TextRows:
        """Make it again from arrays, which may be memory-mapped."""
        return cls(
            texts=Ragged(values=arrays["text_values"], offsets=arrays["text_offsets"]),
            codes=arrays["codes"],
            template=Template.from_arrays(arrays),
        )

    def tokens(self, rows: NDArray[np.int64], *, max_length: int) -> TokenStore:
        """Put some rows together, at most so many tokens each."""
        columns = [np.asarray(column)[rows] for column in self.codes]
        return join([self.texts] * len(columns), columns, self.template, max_length=max_length)


def _cut(lengths: Sequence[NDArray[np.int64]], room: int) -> list[NDArray[np.int64]]:
    """Shorten texts so that those of an input have room together."""
    if len(lengths) == 1:
        return [np.minimum(lengths[0], room)]
    first, second = lengths
    shorter = np.minimum(first, second)
    longer = np.where(shorter > room, shorter, np.maximum(shorter, room - shorter))
    both_cut = shorter + longer > room
    shorter = np.where(both_cut, room // 2, shorter)
    longer = np.where(both_cut, room // 2 + room % 2, longer)
    is_longer = first > second
    fits = first + second <= room
    return [
        np.where(fits, first, np.where(is_longer, longer, shorter)),
        np.where(fits, second, np.where(is_longer, shorter, longer)),
    ]


class Tokeniser(Protocol):
    """Makes numbers of texts."""

    def tokenise(self, texts: Sequence[str]) -> Ragged:
        """Tokenise texts, a row for each."""
        ...

    def template(self, n_texts: int) -> Template:
        """Say what stands around the texts of an input."""
        ...


def encode_splits(
    tokenizer: Tokeniser, splits: Mapping[str, SplitTexts], text_columns: Sequence[str]
) -> dict[str, EncodedSplit]:
    """Tokenise all versions of every split, each distinct text once."""
    distinct, inputs = pool_texts(
        {name: split.versions for name, split in splits.items()}, text_columns
    )
    texts = tokenizer.tokenise(distinct.to_pylist())
    template = tokenizer.template(len(text_columns))
    return {
        name: EncodedSplit(
            store=TextRows(texts=texts, codes=each.codes, template=template),
            versions=each.versions,
            labels=splits[name].labels,
        )
        for name, each in inputs.items()
    }
