"""Tokenizers of older models: vocabularies without a ``tokenizer.json``.

WordPiece of BERT's kind and byte-level BPE of RoBERTa's kind are put together here. All else
(sentencepiece above all) is converted by transformers, which the extra ``train`` has.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ietest_fast.errors import InputError, shorten_error
from ietest_fast.files import check_file, check_folder, read_json, read_text
from ietest_fast.models.tokens import TextTokenizer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tokenizers import Tokenizer

VOCABULARIES = (
    "vocab.txt",
    "vocab.json",
    "spiece.model",
    "spm.model",
    "tokenizer.model",
    "sentencepiece.bpe.model",
)
"""Files from which a tokenizer is made where there is no tokenizer.json."""

TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "merges.txt",
    "added_tokens.json",
    *VOCABULARIES,
)
"""What belongs to a model's tokenizer."""

# Families whose vocab.txt is BERT's WordPiece, and whose vocab.json is RoBERTa's byte-level BPE.
# Others have files of these names, too, in which something else is meant.
_WORD_PIECE = ("bert", "distilbert", "electra", "mobilebert", "convbert", "squeezebert")
_BYTE_LEVEL = ("roberta", "longformer", "bart")


def find_vocabulary(folder: Path) -> Path | None:
    """Return the file that a folder's tokenizer is made of; None if there is none."""
    for name in ("tokenizer.json", *VOCABULARIES):
        if (folder / name).is_file():
            return folder / name
    return None


# Classes of tokenizers that are no model's own.
_GENERAL = ("PreTrainedTokenizer", "PreTrainedTokenizerFast", "TokenizersBackend")


def load_tokenizer_file(
    path: str | Path,
    *,
    config: Mapping[str, Any],
    tokenizer_config: Mapping[str, Any],
    max_length: int,
    n_known: int | None = None,
) -> TextTokenizer:
    """Load a tokenizer from tokenizer.json, or from the vocabulary of an older one."""
    path = Path(path)
    makes_types = _find_makes_types(tokenizer_config)
    if path.name not in VOCABULARIES:
        return TextTokenizer.load(
            path, max_length=max_length, n_known=n_known, makes_types=makes_types
        )
    family = _find_family(config, tokenizer_config)
    is_plain = not (path.parent / "added_tokens.json").is_file()
    special = _SpecialTokens(path.parent, tokenizer_config)
    if path.name == "vocab.txt" and family in _WORD_PIECE and is_plain:
        made = _make_word_piece(path, tokenizer_config, special)
    elif path.name == "vocab.json" and family in _BYTE_LEVEL and is_plain:
        made = _make_byte_level(path, tokenizer_config, special)
    else:
        made = _convert(path, config)
    return TextTokenizer(
        made, max_length=max_length, path=path, n_known=n_known, makes_types=makes_types
    )


def _find_makes_types(tokenizer_config: Mapping[str, Any]) -> bool:
    """Tell whether AutoTokenizer would give types of tokens; general classes do not by themselves.

    Others, such as RoBERTa's, say it in tokenizer.json: all of their tokens are of type 0.
    """
    names = tokenizer_config.get("model_input_names")
    if isinstance(names, list):
        return "token_type_ids" in names
    return tokenizer_config.get("tokenizer_class") not in _GENERAL


def _find_family(config: Mapping[str, Any], tokenizer_config: Mapping[str, Any]) -> str:
    """Return whose tokenizer it is: BertTokenizerFast is bert's, whatever model it is used for."""
    name = tokenizer_config.get("tokenizer_class")
    if isinstance(name, str):
        return name.removesuffix("Fast").removesuffix("Tokenizer").casefold()
    kind = config.get("model_type")
    return kind if isinstance(kind, str) else ""


class _SpecialTokens:
    """Finds the special tokens that a model's files name, and their numbers."""

    def __init__(self, folder: Path, tokenizer_config: Mapping[str, Any]) -> None:
        named = folder / "special_tokens_map.json"
        found = read_json(named) if named.is_file() else {}
        self._named = {**(found if isinstance(found, dict) else {}), **tokenizer_config}

    def find(
        self, vocabulary: Mapping[str, int], path: Path, **usual: str
    ) -> dict[str, tuple[str, int]]:
        tokens = {}
        for role, name in usual.items():
            value = self._named.get(f"{role}_token", name)
            value = value.get("content") if isinstance(value, dict) else value
            number = vocabulary.get(value) if isinstance(value, str) else None
            if number is None:
                raise InputError(
                    f"has no token {value!r}, which is the {role}_token of this model; is it "
                    "another model's vocabulary?",
                    path=path,
                )
            tokens[role] = (str(value), number)
        return tokens


def _make_word_piece(
    path: Path, tokenizer_config: Mapping[str, Any], special: _SpecialTokens
) -> Tokenizer:
    """Make BERT's tokenizer of its vocabulary: a token a line."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    lines = read_text(path).split("\n")
    words = [line.rstrip("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]
    vocabulary = {word: number for number, word in enumerate(words)}
    tokens = special.find(
        vocabulary, path, unk="[UNK]", cls="[CLS]", sep="[SEP]", pad="[PAD]", mask="[MASK]"
    )
    lowers = tokenizer_config.get("do_lower_case")
    if not isinstance(lowers, bool):
        # A vocabulary of lower-case words is one of a model that has seen no others.
        lowers = not any(word != word.lower() for word in words if not word.startswith("["))
    strips = tokenizer_config.get("strip_accents")
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token=tokens["unk"][0]))
    tokenizer.normalizer = normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=tokenizer_config.get("tokenize_chinese_chars") is not False,
        strip_accents=strips if isinstance(strips, bool) else None,
        lowercase=lowers,
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(tokens["sep"], tokens["cls"])
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens([name for name, _ in tokens.values()])
    return tokenizer


def _make_byte_level(
    path: Path, tokenizer_config: Mapping[str, Any], special: _SpecialTokens
) -> Tokenizer:
    """Make RoBERTa's tokenizer of its vocabulary and its merges."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors

    merges = path.with_name("merges.txt")
    if not merges.is_file():
        raise InputError(
            "there is no merges.txt beside it, without which this vocabulary is no tokenizer",
            path=path,
        )
    check_file(merges)
    vocabulary = read_json(path)
    if not isinstance(vocabulary, dict) or not all(
        isinstance(number, int) for number in vocabulary.values()
    ):
        raise InputError("is no vocabulary: an object of tokens and numbers expected", path=path)
    usual = {"unk": "<unk>", "cls": "<s>", "sep": "</s>", "pad": "<pad>", "mask": "<mask>"}
    tokens = special.find(vocabulary, path, **usual)
    adds_blank = tokenizer_config.get("add_prefix_space") is True
    try:
        model = models.BPE.from_file(str(path), str(merges))
    except Exception as error:  # the library raises nothing more special
        raise InputError(f"does not fit merges.txt: {shorten_error(error)}", path=path) from error
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=adds_blank)
    tokenizer.post_processor = processors.RobertaProcessing(
        tokens["sep"], tokens["cls"], add_prefix_space=adds_blank
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(
        [
            AddedToken(name, lstrip=role == "mask", normalized=False, special=True)
            for role, (name, _) in tokens.items()
        ]
    )
    return tokenizer


def _convert(path: Path, config: Mapping[str, Any]) -> Tokenizer:
    """Let transformers make a fast tokenizer of what is in a folder."""
    remedy = (
        "pip install 'ietest-fast[train]', or write tokenizer.json where transformers is "
        "installed: AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER)"
    )
    try:
        import sentencepiece  # noqa: F401 - transformers says only much later that it is missing
        from transformers import AutoConfig, AutoTokenizer
    except ImportError as error:
        raise InputError(
            f"there is no tokenizer.json, and to make one of this file transformers and "
            f"sentencepiece are needed: {remedy}",
            path=path,
        ) from error
    folder, kind = path.parent, config.get("model_type")
    # Where the model's settings are in another folder, the tokenizer's does not say whose it is.
    told = {}
    try:
        if not (folder / "config.json").is_file() and isinstance(kind, str):
            told["config"] = AutoConfig.for_model(kind)
        tokenizer = AutoTokenizer.from_pretrained(
            check_folder(folder), trust_remote_code=False, local_files_only=True, **told
        )
        backend: Tokenizer | None = getattr(tokenizer, "backend_tokenizer", None)
    except Exception as error:  # what is damaged fails in more ways than can be named
        raise InputError(
            "there is no tokenizer.json, and transformers cannot make one of this file (does "
            "tokenizer_config.json name its tokenizer_class, or config.json its model_type?): "
            f"{shorten_error(error)}",
            path=path,
        ) from error
    if backend is None:
        raise InputError("this model's tokenizer has no fast version", path=path)
    return backend
