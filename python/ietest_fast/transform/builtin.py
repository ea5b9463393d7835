"""The transformations that come with the package, as they are registered."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from ietest_fast.errors import InputError
from ietest_fast.transform.base import Identity, fingerprint_of
from ietest_fast.transform.kinds import (
    InputFile,
    InputModel,
    Material,
    PhiOptions,
    PlannedTransformation,
    TransformationKind,
    take_several,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.lexicon import WordNet
    from ietest_fast.models.sense import SenseModel
    from ietest_fast.transform.base import Transformation
    from ietest_fast.transform.synonyms import RuleSet, WordChoice
    from ietest_fast.transform.tagged import TaggedSubstitution

# Counted up when a transformation of the same settings begins to give other texts.
_SYNONYMS_SCHEME = 2


_NO_BLOCK_LIST = (
    "syn.paper without a block list also replaces words that the published experiments left alone; "
    "name a file of words to leave alone, one a line, by the option block_list "
    "(--phi syn.paper:block_list=FILE)"
)


class IdentityOptions(PhiOptions):
    """None."""


def _plan_identity(_: IdentityOptions) -> PlannedTransformation:
    identity = Identity()
    return PlannedTransformation(
        name=identity.name,
        fingerprint=identity.fingerprint,
        options={},
        builder=lambda _: identity,
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
        from ietest_fast.transform.sense import DEFAULT_LEAST

        model = SenseModel.load(options.sense_check)
        given = options.sense_least
        if model.kind == "encoder" and given is not None and not -1 <= given <= 1:
            raise InputError(f"sense_least: {given:g} is no cosine, which lies between -1 and 1")
        return cls(model=model, least=DEFAULT_LEAST[model.kind] if given is None else given)

    @property
    def recorded(self) -> dict[str, Any]:
        return {
            "sense_check": f"{self.model.kind}@{self.model.fingerprint[:12]}",
            "sense_least": self.least,
        }

    def over(self, built: TaggedSubstitution) -> Transformation:
        """Let the model judge what a transformation replaces."""
        from ietest_fast.transform.sense import SenseChecked

        return SenseChecked(
            inner=built, model=self.model, least=self.least, lemma_of=built.words.family_of
        )


def _plan_synonyms(rules: RuleSet, options: SynonymOptions) -> PlannedTransformation:
    from ietest_fast.lexicon import TagCache, Tagger, read_block_list
    from ietest_fast.lexicon.reviewed import fingerprint_reviewed
    from ietest_fast.transform.synonyms import build_from_texts, default_tagger
    from ietest_fast.transform.tagged import TaggedSubstitution, pipeline_name
    from ietest_fast.transform.words import describe_words

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
        recorded |= check.recorded
        identified["sense"] = [check.model.fingerprint, check.least]

    def build(material: Material) -> Transformation:
        if material.tag_cache is not None:
            kept = None if material.tag_cache == "temporary" else material.tag_cache
            tagger.keep_tags(TagCache(kept))
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
            return check.over(built)
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
    options=IdentityOptions,
    plan=_plan_identity,
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
