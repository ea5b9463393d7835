"""The transformations that come with the package, as they are registered."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Self, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BeforeValidator, Field, model_validator

from ietest_fast.errors import InputError
from ietest_fast.models.sense import Context
from ietest_fast.transform.base import BaseTransformation, Identity, Transformed, fingerprint_of
from ietest_fast.transform.edits import ARTICLE_RULE, COMPANION_RULES, apply_edits, find_changed
from ietest_fast.transform.phi import (
    InputFile,
    InputModel,
    Material,
    PhiOptions,
    PlannedTransformation,
    TransformationKind,
    take_several,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from ietest_fast.lexicon import WordNet
    from ietest_fast.models.sense import SenseKind, SenseModel
    from ietest_fast.transform.base import Transformation
    from ietest_fast.transform.synonyms import RuleSet, WordChoice

# A check of substitutions by a model: what changes a word's meaning too much is taken back.


# Counted up when the same model begins to leave other words alone.
_SCHEME = 1

DEFAULT_LEAST: Mapping[SenseKind, float] = {"encoder": 0.6, "masked": -4.0}
"""What a substitution has to score, unless something else is said; see docs/lexicon.md."""


# What of a text is looked at before and after a word: more than a model takes.
_BYTES_BESIDE = 1 << 14
# Contexts held at a time.
_CHARACTERS_AT_ONCE = 1 << 26
_NO_CONTEXT = Context("", "", "")


class _Substitution(NamedTuple):
    """An edit: its place among the edits, that of its article, both words in their contexts.

    ``word`` is by what it is known: its row, and which forms are the same word.
    """

    place: int
    article: int | None
    old: Context
    new: Context
    word: tuple[int, str]


@dataclass(frozen=True, kw_only=True, eq=False)
class SenseChecked(BaseTransformation):
    """Make the substitutions of another transformation that a model accepts in their context.

    Each substitution is scored by itself, in the text as it was before. What scores less than
    `least` is taken back, with the article that was repaired for it. A word that occurs several
    times in a row is replaced everywhere or nowhere: its worst score counts.
    """

    inner: BaseTransformation
    """Makes the substitutions; keeps rows."""
    model: SenseModel
    """Scores them; see :class:`ietest_fast.models.sense.SenseModel`."""
    least: float
    """From which score on a substitution is made."""
    lemma_of: Callable[[str], str]
    """Which forms are the same word."""

    @property
    def name(self) -> str:
        """The inner transformation's."""
        return self.inner.name

    @property
    def keeps_labels(self) -> bool:
        """As the inner transformation's."""
        return self.inner.keeps_labels

    @property
    def edits_are_independent(self) -> bool:
        """As the inner transformation's."""
        return bool(getattr(self.inner, "edits_are_independent", False))

    @functools.cached_property
    def fingerprint(self) -> str:
        """Sha256 of the inner transformation, the model and the threshold, 64 digits."""
        return fingerprint_of(
            {
                "scheme": _SCHEME,
                "inner": self.inner.fingerprint,
                "model": self.model.fingerprint,
                "least": self.least,
            }
        )

    @property
    def _options(self) -> dict[str, Any]:
        return {
            **self.inner.describe()["options"],
            **describe_check(self.model, self.least),
        }

    def transform_table(
        self,
        table: pa.Table,
        text_columns: tuple[str, ...],
        *,
        with_edits: bool,
        n_threads: int | None,
    ) -> Transformed:
        """Replace words; see :meth:`ietest_fast.transform.Transformation.transform`."""
        made = self.inner.transform(table, text_columns, with_edits=True, n_threads=n_threads)
        edits = cast("pa.Table", made.edits)
        accepted = self._accepted(table, edits, n_threads)
        if not accepted.all():
            edits = edits.filter(pa.array(accepted))
            made_again = apply_edits(table, edits)
            names = list(text_columns)
            touched = np.zeros(table.num_rows, np.bool_)
            touched[edits["row"].to_numpy()] = True
            changed = find_changed(table, made_again, names, touched)
            made = Transformed(table=made_again, changed=changed, edits=edits)
        if with_edits:
            return made
        return Transformed(table=made.table, changed=made.changed, edits=None)

    def _accepted(
        self, table: pa.Table, edits: pa.Table, n_threads: int | None
    ) -> npt.NDArray[np.bool_]:
        """Say of each edit whether it is made."""
        found: list[_Substitution] = []
        refused: set[tuple[int, str]] = set()
        waiting: list[_Substitution] = []
        size = 0

        def score() -> None:
            scores = self.model.score(
                [each.old for each in waiting],
                [each.new for each in waiting],
                n_threads=n_threads,
            )
            refused.update(
                each.word
                for each, score in zip(waiting, scores, strict=True)
                if not float(score) >= self.least
            )
            found.extend(each._replace(old=_NO_CONTEXT, new=_NO_CONTEXT) for each in waiting)
            waiting.clear()

        for each in self._substitutions(table, edits):
            waiting.append(each)
            size += sum(map(len, each.old)) + sum(map(len, each.new))
            if size >= _CHARACTERS_AT_ONCE:
                score()
                size = 0
        score()
        kept = np.ones(len(edits), np.bool_)
        for each in found:
            if each.word in refused:
                kept[each.place] = False
                if each.article is not None:
                    kept[each.article] = False
        return kept

    def _substitutions(self, table: pa.Table, edits: pa.Table) -> Iterator[_Substitution]:
        columns = pc.cast(edits["column"], pa.string()).to_pylist()
        rules = pc.cast(edits["rule"], pa.string()).to_pylist()
        rows, starts, ends = (edits[name].to_pylist() for name in ("row", "start", "end"))
        olds, news = edits["old"].to_pylist(), edits["new"].to_pylist()
        texts = {name: table[name] for name in dict.fromkeys(columns)}
        text, key = b"", None
        for i, rule in enumerate(rules):
            if rule in COMPANION_RULES:
                continue
            if key != (rows[i], columns[i]):
                key = (rows[i], columns[i])
                text = texts[columns[i]][rows[i]].as_py().encode()
            before = text[max(0, starts[i] - _BYTES_BESIDE) : starts[i]]
            after = text[ends[i] : ends[i] + _BYTES_BESIDE].decode(errors="ignore")
            article = i - 1 if _is_article_of(i, rules, rows, columns) else None
            before_new = before
            if article is not None:
                at = len(before) - (starts[i] - starts[article])
                end = len(before) - (starts[i] - ends[article])
                before_new = before[: max(0, at)] + news[article].encode() + before[end:]
            yield _Substitution(
                place=i,
                article=article,
                old=Context(before.decode(errors="ignore"), olds[i], after),
                new=Context(before_new.decode(errors="ignore"), news[i], after),
                word=(rows[i], self.lemma_of(olds[i])),
            )


def describe_check(model: SenseModel, least: float) -> dict[str, Any]:
    """Return what runs record of a check."""
    return {"sense_check": f"{model.kind}@{model.fingerprint[:12]}", "sense_least": least}


def _is_article_of(
    i: int, rules: Sequence[str], rows: Sequence[int], columns: Sequence[str]
) -> bool:
    """Say whether the edit before is of an article, in the same text."""
    return (
        i > 0
        and rules[i - 1] == ARTICLE_RULE
        and rows[i - 1] == rows[i]
        and columns[i - 1] == columns[i]
    )


# Counted up when a transformation of the same settings begins to give other texts.
_SYNONYMS_SCHEME = 2


_NO_BLOCK_LIST = (
    "syn.paper without a block list also replaces words that the published experiments left alone; "
    "name a file of words to leave alone, one a line, by the option block_list "
    "(--phi syn.paper:block_list=FILE)"
)


class SynonymOptions(PhiOptions):
    """What synonym substitution can be told."""

    tagger: str | None = Field(
        None,
        description="packaged, an installed spaCy pipeline, or its folder "
        "[packaged; syn.paper: en_core_web_sm]",
    )
    wordnet: str | None = Field(
        None, description="a WordNet dict folder, or the name of a wn lexicon [packaged]"
    )
    block_list: InputFile | None = Field(
        None, description="a file of words to leave alone, one a line"
    )


class ReviewedOptions(SynonymOptions):
    """What substitution by reviewed words can be told besides."""

    pos: Annotated[
        tuple[Literal["noun", "adj", "adv", "verb"], ...], BeforeValidator(take_several)
    ] = Field(
        ("noun", "adj", "adv", "verb"),
        min_length=1,
        description="a part of speech to replace; may be repeated",
    )
    texts: Literal["auto", "captions", "any", "formal"] = Field(
        "auto",
        description="what the texts are: captions and formal texts have substitutions of their "
        "own; auto tells captions by how they begin, and is any for syn.strict",
    )
    wordnet_only: bool = Field(
        False, description="whether to leave out pairs that are no synonyms in WordNet"
    )
    sense_check: InputModel | None = Field(
        None,
        description="a sentence encoder or masked language model that judges each replacement in "
        "its context: an ONNX file or folder, or a checkpoint",
    )
    sense_least: float | None = Field(
        None,
        allow_inf_nan=False,
        description="what a replacement has to score [encoder: 0.6, a cosine; masked language "
        "model: -4, a difference of log-probabilities]",
    )

    @model_validator(mode="after")
    def _check_sense(self) -> Self:
        if self.sense_least is not None and self.sense_check is None:
            raise ValueError("sense_least: needs sense_check, which names the model")
        return self

    def choice(self) -> WordChoice:
        """Return which reviewed substitutions are asked for."""
        from ietest_fast.transform.synonyms import WordChoice

        return WordChoice(
            pos=tuple(part for part in WordChoice().pos if part.lower() in self.pos),
            texts=None if self.texts == "auto" else self.texts,
            wordnet_only=self.wordnet_only,
        )


@dataclass(frozen=True, kw_only=True)
class _SenseCheck:
    """A model that judges replacements, and from which score on one is made."""

    model: SenseModel
    least: float

    @classmethod
    def load(cls, options: ReviewedOptions) -> Self | None:
        """Load what the options name; None if they name no model."""
        if options.sense_check is None:
            return None
        from ietest_fast.models.sense import SenseModel

        model = SenseModel.load(options.sense_check)
        given = options.sense_least
        if model.kind == "encoder" and given is not None and not -1 <= given <= 1:
            raise InputError(f"sense_least: {given:g} is no cosine, which lies between -1 and 1")
        return cls(model=model, least=DEFAULT_LEAST[model.kind] if given is None else given)


def _plan_synonyms(rules: RuleSet, options: SynonymOptions) -> PlannedTransformation:
    from ietest_fast.lexicon import Tagger, read_block_list
    from ietest_fast.lexicon.reviewed import fingerprint_reviewed
    from ietest_fast.transform.synonyms import build_from_texts, default_tagger
    from ietest_fast.transform.words import TaggedSubstitution, describe_words, pipeline_name

    blocked = () if options.block_list is None else tuple(read_block_list(options.block_list))
    wordnet = _load_wordnet(options.wordnet)
    tagger = Tagger.load(default_tagger(rules) if options.tagger is None else options.tagger)
    recorded: dict[str, Any] = {
        "tagger": pipeline_name(tagger),
        "wordnet": "packaged" if options.wordnet is None else Path(options.wordnet).name,
        "block_list": describe_words(blocked),
    }
    identified: dict[str, Any] = {
        "scheme": _SYNONYMS_SCHEME,
        "name": f"syn.{rules}",
        "tagger": tagger.fingerprint,
        "wordnet": wordnet.fingerprint,
        "block_list": sorted(blocked),
    }
    words, check = None, None
    if isinstance(options, ReviewedOptions):
        words, check = options.choice(), _SenseCheck.load(options)
        recorded |= {"pos": [part.lower() for part in words.pos]}
        recorded |= {"wordnet_only": options.wordnet_only}
        identified["reviewed"] = [
            fingerprint_reviewed(),
            sorted(words.pos),
            words.texts,
            words.wordnet_only,
        ]
    if check is not None:
        recorded |= describe_check(check.model, check.least)
        identified["sense"] = [check.model.fingerprint, check.least]

    def build(material: Material) -> Transformation:
        material.keep_tags(tagger)
        built = build_from_texts(
            material.texts(),
            rules=rules,
            tagger=tagger,
            wordnet=wordnet,
            block_list=blocked,
            words=words,
            settings=recorded,
            n_threads=material.n_threads,
            on_progress=material.on_progress,
            on_warning=material.on_warning,
        )
        if check is not None and isinstance(built, TaggedSubstitution):
            lemma_of = built.words.family_of
            return SenseChecked(
                inner=built, model=check.model, least=check.least, lemma_of=lemma_of
            )
        return built

    return PlannedTransformation(
        name=f"syn.{rules}",
        fingerprint=fingerprint_of(identified),
        options=recorded,
        builder=build,
        closer=tagger.close,
        learns=True,
        warnings=_warn_of_blocked(rules, options, blocked),
    )


def _warn_of_blocked(
    rules: RuleSet, options: SynonymOptions, blocked: Sequence[str]
) -> tuple[str, ...]:
    if blocked:
        return ()
    if options.block_list is not None:
        return (f"the block list {options.block_list.name} has no words; nothing is left alone",)
    return (_NO_BLOCK_LIST,) if rules == "paper" else ()


def _load_wordnet(name: str | None) -> WordNet:
    from ietest_fast.lexicon import WordNet

    if name is None or name == "packaged":
        return WordNet.packaged()
    if Path(name).is_dir():
        return WordNet.from_dict_folder(name)
    return WordNet.from_wn(name)


class WordOptions(PhiOptions):
    """What a substitution of words by a mapping can be told."""

    mapping: InputFile = Field(
        description="a file with columns old and new (CSV, TSV, JSONL, Parquet)"
    )
    ignore_case: bool = Field(False, description="whether A to Z are as good as a to z")
    keeps_labels: bool = Field(True, description="whether a label holds for the new texts")
    rule: str = Field("words", min_length=1, description="what its edits are counted as")


def _plan_words(options: WordOptions) -> PlannedTransformation:
    from ietest_fast.transform.words import WordSubstitution, read_mapping

    made = WordSubstitution(
        mapping=read_mapping(options.mapping, ignore_case=options.ignore_case),
        ignore_case=options.ignore_case,
        keeps_labels=options.keeps_labels,
        rule=options.rule,
    )
    return PlannedTransformation.of(made)


IDENTITY = TransformationKind(
    name="identity",
    summary="leaves every text as it is: a control",
    options=PhiOptions,
    plan=lambda _: PlannedTransformation.of(Identity()),
)

STRICT = TransformationKind(
    name="syn.strict",
    summary="replaces words by what readers accepted most often: fewer, and safer",
    options=ReviewedOptions,
    plan=partial(_plan_synonyms, "strict"),
    language="English",
)

CAREFUL = TransformationKind(
    name="syn.careful",
    summary="replaces words by what readers accepted, where it fits the words beside it",
    options=ReviewedOptions,
    plan=partial(_plan_synonyms, "careful"),
    language="English",
)

BROAD = TransformationKind(
    name="syn.broad",
    summary="the same, and other nouns by synonyms that nobody read: more, and less safe",
    options=ReviewedOptions,
    plan=partial(_plan_synonyms, "broad"),
    language="English",
)

PAPER = TransformationKind(
    name="syn.paper",
    summary="replaces words by synonyms as published; lower case, no punctuation",
    options=SynonymOptions,
    plan=partial(_plan_synonyms, "paper"),
    language="English",
)

WORDS = TransformationKind(
    name="words",
    summary="replaces whole words by a mapping of your own",
    options=WordOptions,
    plan=_plan_words,
)
