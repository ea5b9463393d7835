"""Objects of active clauses, and whether what stands behind belongs to them or to the verb."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.transform.doubt import Doubt
from ietest_fast.transform.noun_kinds import MEASURES, PEOPLE, nouns_of
from ietest_fast.transform.noun_phrases import NOUN_TAGS

if TYPE_CHECKING:
    from ietest_fast.lexicon.wordnet import WordNet
    from ietest_fast.transform.clauses import Clause
    from ietest_fast.transform.trees import Sentence

# What a place or a thing does with what it contains.
_CONTAINING = frozenset("boast feature hold house seat sleep sport".split())  # noqa: SIM905
# They say where something goes, or what becomes of it.
_PUTTING = frozenset(
    "aim bring drop fling hang hit insert kick knock lay lead lean load move place "  # noqa: SIM905
    "pour pull push put set shove stick strike throw toss turn".split()
)
_DIRECTIONS = frozenset(
    "across ahead along apart around aside away back backward backwards down downhill "  # noqa: SIM905
    "downstairs forward forwards from here into off onto out over past there through "
    "to together toward towards up uphill upstairs".split()
)
# Verbs with two objects: "giving a woman meat".
_GIVING = frozenset(
    "bring buy feed give hand lend offer pass pay read sell send serve show teach "  # noqa: SIM905
    "throw".split()
)
# What is seen stands where it is seen: "watching the swimmers in the sea".
_SEEING = frozenset(
    "admire examine inspect notice observe photograph see spot study view watch".split()  # noqa: SIM905
)
_SHOWN = frozenset("film game match movie performance play show television tv".split())  # noqa: SIM905
# "hit a ball with a bat", but "wear a shirt with sleeves"
_WITH_TOOL = frozenset(
    "attack break carve catch clean clear cover cut defend dig dry examine fill fix "  # noqa: SIM905
    "hit kill make measure open paint play reach remove repair scrape shoot spray "
    "stab strike sweep take tie touch treat wash wipe".split()
)
# "carry a box to a car", but "board a plane to an island"
_SENDING = frozenset(
    "accompany add apply attach bring carry connect convey deliver direct drag drive "  # noqa: SIM905
    "escort export fly guide haul invite lift lower mail present protect relate remove return ride "
    "row ship steal take transfer transport walk wheel".split()
)
# "accuse somebody of something"
_ACCUSING = frozenset(
    "accuse acquit assure clear convict convince cure deprive inform notify relieve remind rid rob "  # noqa: SIM905
    "strip suspect warn".split()
)
# "a view down onto the river", "the road to the coast"
_LEADING = frozenset(
    "access bridge door entrance flight gate journey look path plane road route stair tour trail "  # noqa: SIM905
    "train trip view way".split()
)
# What stands behind the object says how it is kept.
_KEEPING = frozenset("drive find get hold keep leave make render".split())  # noqa: SIM905
# Verbs that say what the object is: "call gambling tobacco".
_NAMING = frozenset("appoint call consider declare deem dub elect name proclaim pronounce".split())  # noqa: SIM905
# They say something on a matter.
_ABOUT = frozenset(
    "advice article bet book comment debate decision discussion essay information "  # noqa: SIM905
    "lecture limit note opinion paper position presentation report research ruling "
    "speech study tax view".split()
)
_RECEIVERS = PEOPLE | frozenset(
    "animal bird cat children cow dog duck horse men women".split()  # noqa: SIM905
)


def check_object(sentence: Sentence, clause: Clause, lemma: str, wordnet: WordNet) -> None:
    """Stop if a verb and its object are not what they look like, or something belongs to it."""
    subject = clause.subject
    is_person = subject.is_pronoun or not PEOPLE.isdisjoint(
        nouns_of(wordnet, sentence.lower[subject.head])
    )
    if lemma in _CONTAINING and clause.group.tense != "progressive" and not is_person:
        raise Doubt("what something contains")
    phrase = clause.other
    is_perfect = (
        clause.group.tense == "perfect" and clause.group.span.stop - clause.group.span.start == 2
    )
    if (
        is_perfect
        and not phrase.is_definite
        and sentence.tags[phrase.span.start] not in {"DT", "CD"}
    ):
        raise Doubt("the participle may say something of the object")
    inner = range(phrase.span.start, phrase.head)
    if lemma in _GIVING and any(sentence.lower[i] in _RECEIVERS for i in inner):
        raise Doubt("two objects, read as one")
    is_named = len(inner) > 1 or any(sentence.tags[i] in NOUN_TAGS | {"VBG"} for i in inner)
    if lemma in _NAMING and is_named:
        raise Doubt("what is named, and its name")
    if lemma in _ACCUSING and phrase.is_long:
        raise Doubt("what follows may belong to the verb")
    if lemma in _GIVING and phrase.is_pronoun and sentence.lower[phrase.head] != "it":
        raise Doubt("what is given is left out")
    if lemma == "take" and any(sentence.lower[i] == "time" for i in inner):
        raise Doubt("how long something takes")
    if len(clause.after):
        _check_behind(sentence, clause, lemma, wordnet)


def _check_behind(sentence: Sentence, clause: Clause, lemma: str, wordnet: WordNet) -> None:
    """Stop if what stands behind the object may belong to it."""
    phrase, begins = clause.other, clause.after.start
    if lemma in _KEEPING and sentence.tags[begins] not in {"IN", ",", "CC", "WRB"}:
        raise Doubt("what the object is kept as")  # "kept me late"
    if phrase.is_pronoun:
        return
    is_prepositional = sentence.tags[begins] == "IN" and sentence.relations[begins] == "case"
    shown = nouns_of(wordnet, sentence.lower[phrase.head])
    if is_prepositional and lemma in _SEEING and _SHOWN.isdisjoint(shown):
        raise Doubt("where somebody sees or is seen")
    word, behind = sentence.lower[begins], sentence.heads[begins]
    if word in _DIRECTIONS and not _LEADING.isdisjoint(shown):
        raise Doubt("where the object leads")
    if not is_prepositional:
        return
    is_about = word == "on" and not _ABOUT.isdisjoint(shown)
    if is_about or (word == "with" and lemma not in _WITH_TOOL):
        raise Doubt("what follows may belong to the object")
    is_way = word not in {"from", "to"} or lemma in _PUTTING | _GIVING | _SENDING
    if (
        (is_way and belongs_to_verb(sentence, clause, lemma))
        or word in {"by", "with"}
        or sentence.tags[behind] in {"CD", "NNP"}
        or sentence.lower[behind] == "all"
        or not MEASURES.isdisjoint(nouns_of(wordnet, sentence.lower[behind]))
    ):
        return
    is_the = (
        phrase.is_definite
        or sentence.tags[phrase.head].startswith("NNP")
        or bool(sentence.children(phrase.head, "nmod:poss"))
    )
    if phrase.is_long or is_the or not is_way:
        raise Doubt("what follows may belong to the object")


def belongs_to_verb(sentence: Sentence, clause: Clause, lemma: str | None) -> bool:
    """Tell whether what stands behind the object has to stand beside the verb.

    A single adverb (*well*), a direction (*away*, *into the sea*), or where something is put.
    """
    after = clause.after
    if not len(after):
        return False
    first = after.start
    if len(after) == 1 and sentence.tags[first] == "RB":
        return True
    is_clause = sentence.relations[first] == "mark"
    return not is_clause and (lemma in _PUTTING | _KEEPING or sentence.lower[first] in _DIRECTIONS)


def begins_place(sentence: Sentence, clause: Clause) -> bool:
    """Tell whether a preposition follows the object: behind an agent it would belong to that."""
    first = clause.after.start
    return sentence.tags[first] == "IN" and sentence.relations[first] == "case"
