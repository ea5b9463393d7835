"""The transformations that come with the package, as they are registered."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from ietest_fast.transform.base import Identity, fingerprint_of
from ietest_fast.transform.kinds import (
    InputFile,
    Material,
    PhiOptions,
    PlannedTransformation,
    TransformationKind,
)

if TYPE_CHECKING:
    from ietest_fast.lexicon import WordNet
    from ietest_fast.transform.base import Transformation
    from ietest_fast.transform.synonyms import RuleSet

# Counted up when a transformation of the same settings begins to give other texts.
_SYNONYMS_SCHEME = 1


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


def _plan_synonyms(rules: RuleSet, options: SynonymOptions) -> PlannedTransformation:
    from ietest_fast.lexicon import TagCache, Tagger, read_block_list
    from ietest_fast.transform.synonyms import build_from_texts, default_tagger, pipeline_name
    from ietest_fast.transform.words import describe_words

    blocked = () if options.block_list is None else tuple(read_block_list(options.block_list))
    wordnet = _load_wordnet(options.wordnet)
    tagger = Tagger.load(default_tagger(rules) if options.tagger is None else options.tagger)
    recorded = {
        "tagger": pipeline_name(tagger),
        "wordnet": "packaged" if options.wordnet is None else Path(options.wordnet).name,
        "block_list": describe_words(blocked),
    }

    def build(material: Material) -> Transformation:
        if material.tag_cache is not None:
            kept = None if material.tag_cache == "temporary" else material.tag_cache
            tagger.keep_tags(TagCache(kept))
        return build_from_texts(
            material.texts(),
            rules=rules,
            tagger=tagger,
            wordnet=wordnet,
            block_list=blocked,
            settings=recorded,
            n_threads=material.n_threads,
            on_progress=material.on_progress,
            on_warning=material.on_warning,
        )

    return PlannedTransformation(
        name=f"syn.{rules}",
        fingerprint=fingerprint_of(
            {
                "scheme": _SYNONYMS_SCHEME,
                "name": f"syn.{rules}",
                "tagger": tagger.fingerprint,
                "wordnet": wordnet.fingerprint,
                "block_list": sorted(blocked),
            }
        ),
        options=recorded,
        builder=build,
        closer=tagger.close,
        learns=True,
        warnings=(_NO_BLOCK_LIST,) if rules == "paper" and not blocked else (),
    )


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
    return PlannedTransformation(
        name=made.name,
        fingerprint=made.fingerprint,
        options=made.describe()["options"],
        builder=lambda _: made,
        keeps_labels=made.keeps_labels,
    )


IDENTITY = TransformationKind(
    name="identity",
    summary="leaves every text as it is: a control",
    options=IdentityOptions,
    plan=_plan_identity,
)

CAREFUL = TransformationKind(
    name="syn.careful",
    summary="replaces common nouns by synonyms; keeps number, capitals and articles",
    options=SynonymOptions,
    plan=partial(_plan_synonyms, "careful"),
)

PAPER = TransformationKind(
    name="syn.paper",
    summary="replaces words by synonyms as published; lower case, no punctuation",
    options=SynonymOptions,
    plan=partial(_plan_synonyms, "paper"),
)

WORDS = TransformationKind(
    name="words",
    summary="replaces whole words by a mapping of your own",
    options=WordOptions,
    plan=_plan_words,
)
