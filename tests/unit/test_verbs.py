"""Forms of verbs: known ones, all of WordNet's there and back, and those of a treebank."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from ietest_fast.lexicon import WordNet
from ietest_fast.lexicon.verbs import Verbs

# What lemma gives instead: another spelling of the verb, or the commoner of two verbs.
HOMOGRAPHS = {
    "bath": "bathe",
    "distil": "distill",
    "enrol": "enroll",
    "enthral": "enthrall",
    "fulfil": "fulfill",
    "instal": "install",
    "nett": "net",
    "programme": "program",
    "putt": "put",
    "whirr": "whir",
    "whizz": "whiz",
}
TAGS = {"past": "VBD", "participle": "VBN", "third": "VBZ", "gerund": "VBG"}


@pytest.fixture(scope="module")
def verbs() -> Verbs:
    return Verbs.packaged()


@pytest.mark.parametrize(
    "line",
    [
        "eat ate eaten eats eating",
        "be was been is being",
        "have had had has having",
        "do did done does doing",
        "go went gone goes going",
        "put put put puts putting",
        "read read read reads reading",
        "hurt hurt hurt hurts hurting",
        "sing sang sung sings singing",
        "take took taken takes taking",
        "run ran run runs running",
        "become became become becomes becoming",
        "overcome overcame overcome overcomes overcoming",
        "overtake overtook overtaken overtakes overtaking",
        "withdraw withdrew withdrawn withdraws withdrawing",
        "undo undid undone undoes undoing",
        "rewrite rewrote rewritten rewrites rewriting",
        "understand understood understood understands understanding",
        "overeat overate overeaten overeats overeating",
        "string strung strung strings stringing",
        "bring brought brought brings bringing",
        "show showed shown shows showing",
        "stop stopped stopped stops stopping",
        "quiz quizzed quizzed quizzes quizzing",
        "prefer preferred preferred prefers preferring",
        "offer offered offered offers offering",
        "travel traveled traveled travels traveling",
        "control controlled controlled controls controlling",
        "fix fixed fixed fixes fixing",
        "play played played plays playing",
        "try tried tried tries trying",
        "die died died dies dying",
        "dye dyed dyed dyes dyeing",
        "agree agreed agreed agrees agreeing",
        "singe singed singed singes singeing",
        "picnic picnicked picnicked picnics picnicking",
        "watch watched watched watches watching",
        "stomach stomached stomached stomachs stomaching",
        "veto vetoed vetoed vetoes vetoing",
        "kayak kayaked kayaked kayaks kayaking",
        "fuel fueled fueled fuels fueling",
        "welcome welcomed welcomed welcomes welcoming",
        "behave behaved behaved behaves behaving",
        # WordNet has none of these.
        "text texted texted texts texting",
        "resend resent resent resends resending",
        "re-run re-ran re-run re-runs re-running",
    ],
)
def test_forms(verbs: Verbs, line: str) -> None:
    lemma, past, participle, third, gerund = line.split()
    assert verbs.past(lemma) == past
    assert verbs.participle(lemma) == participle
    assert verbs.third(lemma) == third
    assert verbs.gerund(lemma) == gerund


@pytest.mark.parametrize(
    "line",
    [
        "hoped hope VBD",
        "hopped hop VBD",
        "hoping hope VBG",
        "hopping hop VBG",
        "used use VBN",
        "seated seat VBN",
        "planed plane VBD",
        "planned plan VBD",
        "rated rate VBD",
        "lined line VBN",
        "filled fill VBD",
        "missed miss VBD",
        "added add VBD",
        "breathed breathe VBD",
        "bathed bathe VBD",
        "putting put VBG",
        "lies lie VBZ",
        "dying die VBG",
        "lay lie VBD",
        "lay lay VB",
        "found find VBD",
        "founded found VBD",
        "felt feel VBD",
        "felled fell VBD",
        "saw see VBD",
        "left leave VBN",
        "wound wind VBD",
        "travelled travel VBD",
        "traveled travel VBN",
        "gotten get VBN",
        "born bear VBN",
        "are be VBP",
        "'re be VBP",
        "'ve have VBP",
        "were be VBD",
        "re-trained re-train VBN",
        "co-operate co-operate VB",
    ],
)
def test_lemmas(verbs: Verbs, line: str) -> None:
    form, lemma, tag = line.split()
    assert verbs.lemma(form, tag) == lemma


def test_lemmas_that_are_not_sure(verbs: Verbs) -> None:
    assert verbs.lemma("'s", "VBZ") is None  # is or has
    assert verbs.lemma("'d", "VBD") is None
    assert verbs.lemma("routed", "VBD") is None  # rout or route
    assert verbs.lemma("feed", "VBD") is None  # of fee, or the base of feed
    assert verbs.lemma("table-topped", "VBN") is None
    assert verbs.lemma("qwerted", "VBN") is None
    assert verbs.lemma("qwert", "VB") is None
    assert verbs.past("lie") is None  # lay or lied
    assert verbs.participle("lie") is None
    assert verbs.past("unboxet") is None  # who knows where the stress is
    with pytest.raises(ValueError, match="tag: VB, VBP"):
        verbs.lemma("dogs", "NNS")


@pytest.mark.parametrize(
    "line",
    [
        "ate eaten",
        "took taken",
        "put put",
        "travelled travelled",
        "traveled traveled",
        "dreamt dreamt",
        "dreamed dreamed",
        "lay lain",
        "lied lied",
        "hung hung",
        "hanged hanged",
        "woke woken",
        "waked waked",
        "routed routed",
        "axed axed",
        "enrolled enrolled",
    ],
)
def test_past_and_participle_lead_to_each_other(verbs: Verbs, line: str) -> None:
    past, participle = line.split()
    assert verbs.participle_of_past(past) == participle
    assert verbs.past_of_participle(participle) == past


def test_other_participles_and_pasts(verbs: Verbs) -> None:
    assert verbs.participle_of_past("were") == "been"
    assert verbs.past_of_participle("been") == "was"
    assert verbs.past_of_participle("gotten") == "got"
    assert verbs.past_of_participle("proved") == "proved"
    assert verbs.past_of_participle("born") == "bore"
    assert verbs.participle_of_past("qwerted") is None
    assert verbs.past_of_participle("qwerted") is None


def test_every_verb_of_wordnet_there_and_back(verbs: Verbs) -> None:
    lemmas = [verb for verb in WordNet.packaged().words("v") if verb.isalpha()]
    assert len(lemmas) > 8_000
    wrong = {}
    n_unsure = 0
    for lemma in lemmas:
        for name, tag in TAGS.items():
            form = getattr(verbs, name)(lemma)
            back = None if form is None else verbs.lemma(form, tag)
            n_unsure += back is None
            if back not in {None, lemma, HOMOGRAPHS.get(lemma)}:
                wrong[lemma, name] = (form, back)
    assert wrong == {}
    # Pairs such as ax and axe, and lie.
    assert n_unsure < 0.01 * len(lemmas) * len(TAGS)


def test_every_verb_of_wordnet_has_its_irregular_forms(verbs: Verbs) -> None:
    """What the exception list has, our forms have too, but for archaic and odd spellings."""
    known = {verb for verb in WordNet.packaged().words("v") if verb.isalpha()}
    missing = {
        form
        for form, bases in WordNet.packaged().exceptions("v").items()
        for base in known.intersection(bases)
        if form.isalpha() and form not in {base, *(each for _, each in verbs._forms(base))}
    }
    present_or_another_verb = "am are singing"
    archaic = (
        "abye addrest beholden bestrid bypast curst gan gript overflown smit squilgee taxying "
        "tranship transfixt"
    )
    other_spellings = (
        "chevied chevies chevying chivvied chivvies chivvying programmes swopped swopping swops "
        "trameled trameling tramelled tramelling tramels"
    )
    assert missing == {*f"{present_or_another_verb} {archaic} {other_spellings}".split()}


def _read_verbs(path: Path) -> list[tuple[str, str, str]]:
    """Give form, gold lemma and Penn tag of verbs, without clitics and marked misspellings."""
    found = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            cells = line.rstrip("\n").split("\t")
            if len(cells) != 10 or not cells[0].isdigit() or not cells[4].startswith("VB"):
                continue
            form, lemma = cells[1].lower(), cells[2].lower()
            if form.isalpha() and lemma != "_" and "Typo=Yes" not in cells[5]:
                found.append((form, lemma, cells[4]))
    return found


def test_lemmas_of_a_treebank(verbs: Verbs, shared: Path) -> None:
    tokens = _read_verbs(shared / "data/tagging/ud_english_ewt_dev.conllu.gz")
    inflected = [each for each in tokens if each[2] in TAGS.values()]
    assert len(inflected) > 1_800
    for some in (tokens, inflected):
        found = [(verbs.lemma(form, tag), lemma, form) for form, lemma, tag in some]
        sure = [each for each in found if each[0] is not None]
        wrong = [each for each in sure if each[0] != each[1]]
        print(f"{len(some)} tokens, {len(some) - len(sure)} unsure, {len(wrong)} wrong: {wrong}")
        assert len(wrong) <= 0.005 * len(sure)
        assert len(sure) >= 0.99 * len(some)


def test_forms_of_a_treebank(verbs: Verbs, shared: Path) -> None:
    tokens = _read_verbs(shared / "data/tagging/ud_english_ewt_dev.conllu.gz")
    for name, tag in TAGS.items():
        some = [(form, lemma) for form, lemma, each in tokens if each == tag]
        # The only verb with two forms of the past, by person.
        made = [(getattr(verbs, name)(lemma), form) for form, lemma in some if form != "were"]
        wrong = [each for each in made if each[0] != each[1]]
        print(f"{name}: {len(made)} tokens, {len(wrong)} written otherwise: {wrong}")
        assert len(wrong) <= 0.01 * len(made)
