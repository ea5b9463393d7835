from __future__ import annotations

import gzip
import json
import pickle
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ietest_fast.errors import InputError, ResourceError
from ietest_fast.lexicon import WordNet
from ietest_fast.lexicon.wordnet import PACKAGED_FILE, Relations
from reference import nltk_wordnet

WORD = r"[^\W_]+(?:['-][^\W_]+)*"
GOLDEN = Path(__file__).parents[1] / "golden" / "nltk_synsets.json"


@pytest.fixture(scope="module")
def wordnet() -> WordNet:
    return WordNet.packaged()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return nltk_wordnet.dict_folder(tmp_path_factory.mktemp("dict"))


@pytest.fixture(scope="module")
def nltk_reader(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return nltk_wordnet.reader(folder, tmp_path_factory.mktemp("nltk"))


def nltk_lemmas(reader: Any, word: str, pos: str | None) -> tuple[str, ...]:
    synsets = reader.synsets(word, pos)
    return tuple(synsets[0].lemma_names()) if synsets else ()


def test_first_synsets_are_those_of_the_golden_sample(wordnet: WordNet) -> None:
    sample = json.loads(GOLDEN.read_text("utf-8"))
    assert len(sample) > 2000
    wrong = [
        (word, pos)
        for word, by_pos in sample.items()
        for pos, lemmas in by_pos.items()
        if wordnet.first_synset_lemmas(word, None if pos == "any" else pos) != tuple(lemmas)
    ]
    assert wrong == []


def test_every_lemma_has_nltks_first_synset(wordnet: WordNet, nltk_reader: Any) -> None:
    lemmas = list(nltk_reader.all_lemma_names())
    assert set(lemmas) == set(wordnet.words())
    wrong = [
        (lemma, pos)
        for lemma in lemmas
        for pos in (None, "n", "v", "a", "r")
        if wordnet.first_synset_lemmas(lemma, pos) != nltk_lemmas(nltk_reader, lemma, pos)
    ]
    assert wrong == []


def test_forms_in_real_texts_have_nltks_first_synset(
    wordnet: WordNet, nltk_reader: Any, shared: Path
) -> None:
    import pyarrow.parquet as pq

    forms: set[str] = set()
    for path in sorted((shared / "data").glob("*/*.parquet")):
        table = pq.read_table(path, columns=["premise", "hypothesis"])
        for column in table.columns:
            for text in column.to_pylist():
                forms.update(re.findall(WORD, text))
    with zipfile.ZipFile(shared / "data" / "tagging" / "masc_tagged.zip") as archive:
        for name in archive.namelist():
            forms.update(re.findall(WORD, archive.read(name).decode("utf-8", "replace")))
    for path in (shared / "data" / "tagging").glob("*.conllu.gz"):
        forms.update(re.findall(WORD, gzip.decompress(path.read_bytes()).decode("utf-8")))
    # A form is inflected as a part of speech if another lemma is derived from it.
    inflected = [
        (form, pos)
        for form in forms
        for pos in "nvar"
        if any(base != form.lower() for base in wordnet.base_forms(form, pos))
    ]
    assert len({form for form, _ in inflected}) > 19_000
    assert len(inflected) >= 20_000
    wrong = [
        (form, pos)
        for form in forms
        for pos in (None, "n", "v", "a", "r")
        if wordnet.first_synset_lemmas(form, pos) != nltk_lemmas(nltk_reader, form, pos)
    ]
    assert wrong == []
    assert [
        (form, pos)
        for form, pos in inflected
        if wordnet.morphy(form, pos) != nltk_reader.morphy(form.lower(), pos)
    ] == []


def test_packaged_file_is_what_the_tool_makes(folder: Path, wordnet: WordNet) -> None:
    from_folder = WordNet.from_dict_folder(folder)
    assert from_folder.fingerprint == wordnet.fingerprint
    assert from_folder._relations.to_bytes() == PACKAGED_FILE.read_bytes()
    assert from_folder.version == "WordNet 3.0"


def test_relations_survive_their_file(tmp_path: Path, wordnet: WordNet) -> None:
    path = tmp_path / "relations.npz"
    path.write_bytes(wordnet._relations.to_bytes())
    assert Relations.from_file(path) == wordnet._relations


def test_licence_lies_beside_the_relations() -> None:
    licence = (PACKAGED_FILE.parent / "LICENSE").read_text("utf-8")
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in licence


def test_unknown_words_have_nothing(wordnet: WordNet) -> None:
    assert wordnet.first_synset_lemmas("zzyzzx") == ()
    assert wordnet.first_synset_lemmas("") == ()
    assert wordnet.morphy("zzyzzx", "n") is None
    assert wordnet.senses("zzyzzx", "n") == ()
    assert wordnet.sense_numbers("zzyzzx", "n") == ((), ())
    assert "zzyzzx" not in wordnet


def test_senses_carry_semcor_counts_and_tell_names_from_kinds(wordnet: WordNet) -> None:
    dog = wordnet.senses("dog", "n")
    assert dog[0].lemmas == ("dog", "domestic_dog", "Canis_familiaris")
    assert dog[0].count == 42
    assert not dog[0].is_instance
    assert wordnet.senses("paris", "n")[0].is_instance
    synsets, counts = wordnet.sense_numbers("dog", "n")
    assert synsets == tuple(sense.synset for sense in dog)
    assert counts == tuple(sense.count for sense in dog)


def test_survives_pickling(wordnet: WordNet) -> None:
    again = pickle.loads(pickle.dumps(wordnet))
    assert again.fingerprint == wordnet.fingerprint
    assert again.first_synset_lemmas("children") == wordnet.first_synset_lemmas("children")


def test_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match=r"data\.noun: cannot be read"):
        WordNet.from_dict_folder(tmp_path)


def test_damaged_folder_is_named_with_its_line(tmp_path: Path) -> None:
    for part in ("noun", "verb", "adj", "adv"):
        (tmp_path / f"data.{part}").write_text("  1 licence\n")
        (tmp_path / f"index.{part}").write_text("  1 licence\n")
        (tmp_path / f"{part}.exc").write_text("")
    (tmp_path / "cntlist.rev").write_text("")
    (tmp_path / "data.noun").write_text("  1 licence\n00001740 03 n 05 entity 0 000 | cut\n")
    with pytest.raises(InputError, match=r"data\.noun, line 2: .*WordNet's data format"):
        WordNet.from_dict_folder(tmp_path)
    (tmp_path / "data.noun").write_text("  1 licence\n00001740 03 n 01 entity 0 000 | whole\n")
    (tmp_path / "index.noun").write_text("  1 licence\nentity n 1 0 1 0 00001741\n")
    with pytest.raises(InputError, match=r"index\.noun, line 2: the synsets of 'entity'"):
        WordNet.from_dict_folder(tmp_path)
    (tmp_path / "index.noun").write_text("  1 licence\nentity n 1 0 1 0 00001740\n")
    assert WordNet.from_dict_folder(tmp_path).first_synset_lemmas("entities") == ("entity",)
    (tmp_path / "cntlist.rev").write_text("entity%1:03:00:: one 2\n")
    with pytest.raises(InputError, match=r"cntlist\.rev, line 1"):
        WordNet.from_dict_folder(tmp_path)


def test_damaged_resource_is_named(tmp_path: Path) -> None:
    path = tmp_path / "relations.npz"
    with pytest.raises(ResourceError, match=r"relations\.npz"):
        Relations.from_file(path)
    path.write_bytes(PACKAGED_FILE.read_bytes()[:100_000])
    with pytest.raises(ResourceError, match=r"not a readable lexicon file"):
        Relations.from_file(path)


LMF = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE LexicalResource SYSTEM "http://globalwordnet.github.io/schemas/WN-LMF-1.1.dtd">
<LexicalResource xmlns:dc="https://globalwordnet.github.io/schemas/dc/">
  <Lexicon id="tiny" label="Tiny" language="en" email="a@b.c" license="none" version="1">
    <LexicalEntry id="t-couch-n"><Lemma writtenForm="couch" partOfSpeech="n"/>
      <Sense id="t-1" synset="tiny-1-n"><Count>5</Count></Sense></LexicalEntry>
    <LexicalEntry id="t-sofa-n"><Lemma writtenForm="sofa" partOfSpeech="n"/>
      <Sense id="t-2" synset="tiny-1-n"/></LexicalEntry>
    <LexicalEntry id="t-bed-n"><Lemma writtenForm="day bed" partOfSpeech="n"/>
      <Form writtenForm="dayes bed"/><Sense id="t-3" synset="tiny-1-n"/></LexicalEntry>
    <LexicalEntry id="t-big-s"><Lemma writtenForm="big" partOfSpeech="s"/>
      <Sense id="t-4" synset="tiny-2-s"/></LexicalEntry>
    <Synset id="tiny-1-n" ili="" partOfSpeech="n" members="t-couch-n t-sofa-n t-bed-n"/>
    <Synset id="tiny-2-s" ili="" partOfSpeech="s" members="t-big-s"/>
  </Lexicon>
</LexicalResource>
"""


@pytest.mark.peer
def test_takes_a_lexicon_of_the_wn_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wn = pytest.importorskip("wn")
    monkeypatch.setattr(wn.config, "data_directory", tmp_path / "wn")
    lmf = tmp_path / "tiny.xml"
    lmf.write_text(LMF, "utf-8")
    wn.add(lmf, progress_handler=None)
    tiny = WordNet.from_wn("tiny:1")
    assert set(tiny.first_synset_lemmas("couches")) == {"couch", "sofa", "day_bed"}
    assert tiny.base_forms("dayes_bed", "n") == ("day_bed",)
    assert tiny.first_synset_lemmas("bigger", "a") == ("big",)
    assert tiny.senses("couch", "n")[0].count == 5
    with pytest.raises(ResourceError, match="no lexicon 'absent:1'"):
        WordNet.from_wn("absent:1")
