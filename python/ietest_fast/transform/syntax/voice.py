"""Active into passive clauses and back: the same event, told from its other side."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from ietest_fast.transform.phi import PlannedTransformation, TransformationKind
from ietest_fast.transform.syntax.clauses import (
    Rewritten,
    SyntacticTransformation,
    SyntaxOptions,
    check_agreement,
    find_texts_with,
    plan_syntactic,
    read_active,
    read_passive,
    write_active,
    write_passive,
)
from ietest_fast.transform.syntax.trees import (
    MEASURES,
    NOUN_TAGS,
    PEOPLE,
    Doubt,
    is_one_of,
    nouns_of,
    write_noun_phrase,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    import numpy.typing as npt

    from ietest_fast.lexicon.token_table import TokenParses
    from ietest_fast.lexicon.verbs import Verbs
    from ietest_fast.lexicon.wordnet import WordNet
    from ietest_fast.transform.syntax.clauses import Clause
    from ietest_fast.transform.syntax.trees import NounPhrase, Sentence

    Read = Callable[[Sentence], Clause]
    Write = Callable[[Sentence, Clause], Iterator[str]]

# Which clauses do not say the same in the other voice, or say it oddly.


# Objects of active clauses, and whether what stands behind belongs to them or to the verb.

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
    is_person = subject.is_pronoun or is_one_of(PEOPLE, sentence.lower[subject.head], wordnet)
    if lemma in _CONTAINING and clause.group.tense != "progressive" and not is_person:
        raise Doubt("what something contains")
    phrase = clause.other
    is_bare = not phrase.is_definite and sentence.tags[phrase.span.start] not in {"DT", "CD"}
    if is_bare and clause.group.tense == "perfect" and len(clause.group.span) == 2:
        raise Doubt("the participle may say something of the object")
    _check_one(sentence, phrase, lemma)
    if lemma in _ACCUSING and phrase.is_long:
        raise Doubt("what follows may belong to the verb")
    if lemma in _GIVING and phrase.is_pronoun and sentence.lower[phrase.head] != "it":
        raise Doubt("what is given is left out")
    if len(clause.after):
        _check_behind(sentence, clause, lemma, wordnet)


def _check_one(sentence: Sentence, phrase: NounPhrase, lemma: str) -> None:
    """Stop if what stands before the noun of an object may be an object of its own."""
    inner = range(phrase.span.start, phrase.head)
    if lemma in _GIVING and any(sentence.lower[i] in _RECEIVERS for i in inner):
        raise Doubt("two objects, read as one")
    is_named = len(inner) > 1 or any(sentence.tags[i] in NOUN_TAGS | {"VBG"} for i in inner)
    if lemma in _NAMING and is_named:
        raise Doubt("what is named, and its name")
    if lemma == "take" and any(sentence.lower[i] == "time" for i in inner):
        raise Doubt("how long something takes")


def _check_behind(sentence: Sentence, clause: Clause, lemma: str, wordnet: WordNet) -> None:
    """Stop if what stands behind the object may belong to it."""
    phrase, begins = clause.other, clause.after.start
    if lemma in _KEEPING and sentence.tags[begins] not in {"IN", ",", "CC", "WRB"}:
        raise Doubt("what the object is kept as")  # "kept me late"
    if phrase.is_pronoun:
        return
    is_prepositional = begins_place(sentence, clause)
    shown = nouns_of(wordnet, sentence.lower[phrase.head])
    if is_prepositional and lemma in _SEEING and _SHOWN.isdisjoint(shown):
        raise Doubt("where somebody sees or is seen")
    word = sentence.lower[begins]
    if word in _DIRECTIONS and not _LEADING.isdisjoint(shown):
        raise Doubt("where the object leads")
    is_about = word == "on" and not _ABOUT.isdisjoint(shown)
    if is_prepositional and (is_about or not _says_how(sentence, clause, lemma, wordnet)):
        raise Doubt("what follows may belong to the object")


def _says_how(sentence: Sentence, clause: Clause, lemma: str, wordnet: WordNet) -> bool:
    """Tell whether a preposition behind a noun belongs to the verb, as far as that is clear."""
    phrase, begins = clause.other, clause.after.start
    word, behind = sentence.lower[begins], sentence.heads[begins]
    if word in {"by", "with"}:
        return word == "by" or lemma in _WITH_TOOL
    if sentence.tags[behind] in {"CD", "NNP"} or sentence.lower[behind] == "all":
        return True
    if is_one_of(MEASURES, sentence.lower[behind], wordnet):
        return True
    is_way = word not in {"from", "to"} or lemma in _PUTTING | _GIVING | _SENDING
    is_known = phrase.is_definite or sentence.children(phrase.head, "nmod:poss")
    return is_way and (belongs_to_verb(sentence, clause, lemma) or not (phrase.is_long or is_known))


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


# States, measures and ways to move, which have no passive, or an odd one.
NO_PASSIVE = frozenset(
    "amount arise ask await be become believe belong compete comprise concern constitute "  # noqa: SIM905
    "contain cost cry deserve do equal escape exceed face feel fit get go graduate guess happen "
    "have hope include involve jog know lack last leave let like love marry mean mind miss need "
    "nod number occur owe possess prefer prove remain resemble roam run say seem sound stand "
    "stroll suffer suit survive swim think travel undergo walk wander want weigh wish".split()
)
# Verbs without an object, beside which a noun or adjective may look like one: "sat motionless".
INTRANSITIVE = frozenset(
    "appear arrive crouch die dine exist fall kneel laugh lay lie live look nap pose sit sleep "  # noqa: SIM905
    "slouch smile squat stay wait wink work yawn".split()
)
# "convinced my wife that he ...": the clause belongs to the verb.
_TELLING = frozenset(
    "advise assure convince inform persuade promise remind show teach tell warn write".split()  # noqa: SIM905
)
# With a particle these say where somebody goes: "ride up the street".
_MOTION = frozenset(
    "bike climb come crawl cycle dance drive drop fall float fly glide go head hike "  # noqa: SIM905
    "hop hurry jump leap look march move paddle parade pedal ride row rush sail skate "
    "ski skip sled slide snowboard step surf swing".split()
)
_IN_ING = frozenset("bedding clothing lighting stuffing wiring".split())  # noqa: SIM905
_WAYS = frozenset("across along around over past through".split())  # noqa: SIM905
_DOWN = frozenset(
    "break burn cool cut hand hold hunt knock lay let mark pass play pull put set "  # noqa: SIM905
    "shoot shut slow strike take tear tie track turn wash water wear weigh write".split()
)
_OF_SENSES = frozenset("feel hear help let make notice observe see watch".split())  # noqa: SIM905
# Verb and noun are one expression.
_IDIOMS = {
    verb: frozenset(nouns.split())
    for verb, nouns in {
        "beg": "forgiveness leave mercy pardon",
        "catch": "breath fire sight",
        "change": "color colors colour colours course mind",
        "cross": "arms legs",
        "follow": "suit",
        "give": "birth chase cry laugh nod pause rise shout sigh smile thought way",
        "hit": "town",
        "hold": "breath captive hand hands hostage hostages office prisoner",
        "join": "forces hands",
        "keep": "pace track",
        "kick": "bucket habit",
        "lose": "control time weight",
        "make": "contact eye face faces friends fun love mistake mistakes money noise sense way",
        "pay": "attention heed tribute visit",
        "play": "ball catch chase dead doctor doll dolls fetch house nurse part role tag",
        "run": "errands",
        "save": "energy lives money time trouble",
        "set": "fire foot sail",
        "shake": "hands head",
        "turn": "back corner head heads page tables",
        "take": "advantage aim bath bite bow break breaks care center dip drink field floor hike "
        "jog lead look mound nap note notice part place podium rest ride seat shower sip stage step "  # noqa: E501
        "steps stroll swim swing time trip turn turns walk",
    }.items()
}
# Verbs whose "it" is a thing; "sweat it", "make it", "doubt it" have none.
_OF_A_THING = frozenset(
    "build carry clean design destroy examine invent own paint photograph publish "  # noqa: SIM905
    "purchase repair sell steal unfasten wash wear".split()
)
# "in a red dress", "with glasses": whose, once the words stand in another order?
WORN = frozenset(
    "apron arm attire bag bandana beard bikini black blue boot bow brown cap clothes "  # noqa: SIM905
    "clothing coat costume dress eye face flag foot garb gear glass glasses glove "
    "goggles gold gown gray green grey hair hand hat head headphone headscarf helmet "
    "hood hoodie jacket jean jeans jersey kimono leg leotard mask mohawk orange "
    "outfit overalls pants pink ponytail purple red robe sandal scarf shirt shoe "
    "shorts skirt smile sneaker suit sunglasses sweater sweatshirt swimsuit swimwear "
    "tank tattoo tie top trunks tutu uniform vest wetsuit white yellow".split()
)
# Verb and a bare noun are one expression more often than not: "follow suit", "lose face".
_LIGHT = frozenset(
    "bear break call cast draw follow gain give keep lay lend lose pay raise set "  # noqa: SIM905
    "strike throw turn".split()
)
# "spreads wings": whose, if nothing says so?
_OF_A_BODY = frozenset(
    "arm brow ear eye eyebrow face finger fist foot hand head hip knee leg mouth paw shoulder tail "  # noqa: SIM905
    "thumb tongue tooth wing".split()
)
_OF_SOMEBODY = frozenset({"in", "with", "without"})
# What they say, they say of the object.
_OF_OBJECT = frozenset("about as concerning like of regarding than".split())  # noqa: SIM905
_NO_AGENTS = frozenset(
    "accident air bike boat bus car chance default definition design email fax foot "  # noqa: SIM905
    "force hand land law mail means midnight mistake name nature night noon phone "
    "plane post rail rights road sea ship sunset surprise tomorrow train truck virtue".split()
)
# Relations of words behind a noun that surely belong to it.
_BEHIND_NOUN = frozenset(
    "case cc compound conj det fixed flat goeswith nmod:poss nummod punct".split()  # noqa: SIM905
)
_OWN = frozenset("her his its their".split())  # noqa: SIM905
# "I nodded my head"
_OWN_OF = {"i": "my", "me": "my", "we": "our", "us": "our", "you": "your"}
# Plurals that are base forms.
_PLURALS = frozenset("cattle deer fish folk people police sheep".split())  # noqa: SIM905
_THEY = frozenset({"he", "she", "they"})
_OF_OTHERS = frozenset("he her him it she them they".split())  # noqa: SIM905
_NOBODY = frozenset({"it", "you"})


_ADVERB_TAGS = frozenset({"RB", "RP", "RBR", "RBS"})


def check_active(sentence: Sentence, clause: Clause, lemma: str | None, wordnet: WordNet) -> None:
    """Stop unless an active clause with this verb can be told in the passive voice."""
    if len(clause.between):
        raise Doubt("something stands between verb and object")
    _check_subject(sentence, clause.subject)
    if lemma is None or lemma in NO_PASSIVE or lemma in INTRANSITIVE:
        raise Doubt("the verb has no passive")
    _check_particle(sentence, clause, lemma)
    if lemma in _TELLING and any(
        sentence.relations[i].startswith("acl") for i in clause.other.span
    ):
        raise Doubt("the clause behind the object may be what is told")
    noun = sentence.lower[clause.other.head]
    if lemma in _OF_SENSES and _may_be_clause(sentence, clause.other, wordnet):
        raise Doubt("the object may be a clause")
    if noun in _IDIOMS.get(lemma, ()):
        raise Doubt("verb and noun are one expression")
    if is_one_of(MEASURES, noun, wordnet):
        raise Doubt("the object is a measure")
    if noun == "it" and lemma not in _OF_A_THING:
        raise Doubt("it may be no thing")
    _check_own(sentence, clause.subject, clause.other)
    check_object(sentence, clause, lemma, wordnet)
    _check_bare(sentence, clause.other, lemma, wordnet)
    first, second = clause.other.span.start, clause.other.span.start + 1
    if sentence.tags[first] == "JJ" and sentence.tags[second] in {"CD", "DT"}:
        raise Doubt("the object begins with what is said of it")  # "makes available 300"
    if sentence.tags[first] in _ADVERB_TAGS:
        raise Doubt("the object begins with an adverb")


def _may_be_clause(sentence: Sentence, phrase: NounPhrase, wordnet: WordNet) -> bool:
    """Tell whether a phrase of several words ends or begins with what may be a verb."""
    if len(phrase.span) == 1:
        return False
    begins = phrase.span.start
    if wordnet.base_forms(sentence.lower[phrase.head], "v"):  # "watched the river flow"
        return True
    # "helped increase quality"
    is_base = sentence.tags[begins] in {"NN", "VB"}
    return is_base and bool(wordnet.base_forms(sentence.lower[begins], "v"))


def _check_particle(sentence: Sentence, clause: Clause, lemma: str) -> None:
    if clause.particle is None:
        return
    particle = sentence.lower[clause.particle]
    if lemma in _MOTION or particle in _WAYS or (particle == "down" and lemma not in _DOWN):
        raise Doubt("the verb says where somebody goes")


def _check_bare(sentence: Sentence, phrase: NounPhrase, lemma: str, wordnet: WordNet) -> None:
    """Stop if verb and object are one expression, as a noun without an article shows."""
    begin, noun = phrase.span.start, sentence.lower[phrase.head]
    is_bare = begin == phrase.head
    is_one = begin + 1 == phrase.head and (
        sentence.tags[begin] == "CD" or sentence.lower[begin] in {"a", "an"}
    )
    if (is_bare or is_one) and is_one_of(_OF_A_BODY, noun, wordnet):
        raise Doubt("part of somebody's body")
    if is_bare and sentence.tags[begin] == "NN" and lemma in _LIGHT:
        raise Doubt("verb and noun may be one expression")
    if is_bare and noun.endswith("ing") and noun not in _IN_ING and wordnet.base_forms(noun, "v"):
        raise Doubt("the object may be a verb")  # "are drag racing"


def _check_subject(sentence: Sentence, subject: NounPhrase) -> None:
    last = subject.span.stop - 1
    is_name = sentence.relations[last] == "flat" and sentence.words[last].islower()
    is_bare = {sentence.tags[subject.span.start], sentence.tags[subject.head]} == {"NN"}
    if is_name or (is_bare and sentence.children(subject.head, "compound")):
        raise Doubt("the subject may have a word of the verb")  # "Boy slam dunks"
    if subject.is_pronoun and sentence.lower[subject.head] in _NOBODY:
        raise Doubt("nobody is the subject")
    if len(subject.span) == 1 and subject.span.start == 0 and sentence.tags[0] == "NN":
        raise Doubt("the subject may be a name")


def check_agent(sentence: Sentence, clause: Clause) -> None:
    """Stop if what *by* introduces is no agent: *by hand*, *by noon*."""
    if len(clause.other.span) == 1 and sentence.lower[clause.other.head] in _NO_AGENTS:
        raise Doubt("a way or a time, and no agent")
    _check_own(sentence, clause.other, clause.subject)


def _check_own(sentence: Sentence, agent: NounPhrase, other: NounPhrase) -> None:
    """Stop if people do something with what is their own: *I nodded my head*."""
    own = _OWN_OF.get(sentence.lower[agent.head])
    if agent.is_pronoun and any(sentence.lower[i] == own for i in other.span):
        raise Doubt("what somebody does with what is their own")


def check_parts(sentence: Sentence, clause: Clause, wordnet: WordNet) -> None:
    """Stop unless each part of a clause means the same wherever it stands."""
    parts = (clause.subject, clause.other)
    for phrase in parts:
        if any(sentence.tags[i] == "PRP$" and sentence.lower[i] in _OWN for i in phrase.span):
            raise Doubt("a possessive may refer to another part")
        _check_words(sentence, phrase, wordnet)
    _check_pronouns(sentence, clause)
    check_whole(sentence, clause.other, wordnet)
    # "has not published a report": which report, once it comes first?
    if clause.group.negation and not all(phrase.is_definite for phrase in parts):
        raise Doubt("a negation and somebody indefinite")
    if all(any(sentence.tags[i] == "CD" for i in phrase.span) for phrase in parts):
        raise Doubt("two numbers, each or together")
    _check_pronouns_behind(sentence, clause, wordnet)
    if len(clause.after):
        _check_begin(sentence, clause.after.start, wordnet)
    for i in (*clause.between, *clause.after):
        if sentence.relations[i] != "case":
            continue
        word, noun = sentence.lower[i], sentence.lower[sentence.heads[i]]
        is_worn = word in _OF_SOMEBODY and is_one_of(WORN, noun, wordnet)
        if is_worn or word in _OF_OBJECT:
            raise Doubt("a phrase may belong to one noun or another")


def _check_pronouns(sentence: Sentence, clause: Clause) -> None:
    """Stop if a pronoun in one part may stand for the other part, or for a noun in it."""
    parts = (clause.subject, clause.other)
    words = [sentence.lower[phrase.head] for phrase in parts]
    if all(phrase.is_pronoun for phrase in parts) and any(
        set(words) <= pair for pair in ({"he", "him"}, {"she", "her"}, {"they", "them"}, {"it"})
    ):
        raise Doubt("two that have the same pronoun")
    for one, other in (parts, parts[::-1]):
        # "A boy's father follows him"
        if (
            one.is_pronoun
            and sentence.lower[one.head] in _OF_OTHERS
            and any(sentence.tags[i] == "POS" for i in other.span)
        ):
            raise Doubt("a pronoun may stand for somebody in the other part")
        # "Rome retained the power that it had"
        if not one.is_pronoun and not other.is_pronoun:
            inner = [i for i in other.span if sentence.tags[i] == "PRP"]
            if any(sentence.lower[i] in _OF_OTHERS for i in inner):
                raise Doubt("a pronoun may stand for the other part")


def _check_pronouns_behind(sentence: Sentence, clause: Clause, wordnet: WordNet) -> None:
    """Stop if a pronoun behind both parts may stand for one of them, or for somebody beside it."""
    parts = (clause.subject, clause.other)
    are_things = all(
        not phrase.is_pronoun
        and phrase.person == "singular"
        and not is_one_of(PEOPLE, sentence.lower[phrase.head], wordnet)
        for phrase in parts
    )
    if are_things and any(sentence.lower[i] in {"it", "its"} for i in clause.after):
        raise Doubt("a pronoun may refer to another part")
    named = {sentence.lower[phrase.head] for phrase in parts}
    for i in clause.after:
        if sentence.lower[i] in _THEY - named:
            raise Doubt("a pronoun may refer to another part")
        # "carry it with them"
        is_beside = sentence.relations[i] == "nmod" or sentence.heads[i] == clause.group.verb
        if sentence.tags[i] == "PRP" and is_beside:
            raise Doubt("a pronoun that stands for the subject, or somebody beside it")


def _check_words(sentence: Sentence, phrase: NounPhrase, wordnet: WordNet) -> None:
    """Stop if the words of a noun phrase are none that can stand there."""
    if phrase.is_pronoun:
        return
    word, tag = sentence.lower[phrase.head], sentence.tags[phrase.head]
    known = wordnet.base_forms(word, "n")
    if sentence.tags[phrase.span.stop - 1] == "POS" or word.endswith(("'s", "’s")):
        raise Doubt("a genitive or a plural")
    if len(phrase.span) == 1 and not known and tag in {"NN", "NNS"}:
        raise Doubt("a word that is not known")
    if tag == "NNS" and known == (word,) and not word.endswith("s") and word not in _PLURALS:
        raise Doubt("a plural that is none")
    first = phrase.span.start
    if not sentence.tags[first].startswith("NNP") and any(
        sentence.tags[i].startswith("NNP") for i in sentence.children(first, "conj")
    ):
        raise Doubt("a name that looks like a word")
    _check_joined(sentence, phrase, wordnet)


def _check_joined(sentence: Sentence, phrase: NounPhrase, wordnet: WordNet) -> None:
    """Stop if what is joined to a noun may be a verb."""
    last = sentence.lower[phrase.span.stop - 1]
    is_joined = phrase.span.stop - 1 > phrase.head and sentence.tags[phrase.span.stop - 2] == "CC"
    if is_joined and last.endswith("ing") and wordnet.base_forms(last, "v"):
        raise Doubt("a participle beside the object")  # "holding a bottle and smiling"
    is_one = sentence.tags[phrase.head] == "NN" and sentence.children(phrase.head, "det")
    for i in sentence.children(phrase.head, "conj"):
        if sentence.children(i, "det", "nummod", "nmod:poss"):
            continue
        begin = min([i, *sentence.children(i, "amod", "compound")])
        # "kicked the horse and spit", "eat apples and drink juice"
        is_verb = wordnet.base_forms(sentence.lower[begin], "v") and sentence.tags[begin] != "JJ"
        if is_verb and (begin != i or (is_one and not sentence.children(i, "nmod"))):
            raise Doubt("the second noun may be a verb")


def _check_begin(sentence: Sentence, word: int, wordnet: WordNet) -> None:
    """Stop if what stands behind begins with a word that belongs to the object."""
    is_split = sentence.words[word][0].isupper() and sentence.tags[word - 1].startswith("NNP")
    if is_split and not sentence.tags[word].startswith("IN"):
        raise Doubt("a name that goes on")  # "USA Today"
    if sentence.lower[word] == "how":
        raise Doubt("how the subject does it")
    if sentence.tags[word] == "CC" and sentence.tags[word + 1 : word + 2] == ("PRP",):
        behind = sentence.tags[word + 2 : word + 3]
        if not any(tag.startswith(("VB", "MD", "RB")) for tag in behind):
            raise Doubt("a second object")  # "encouraged my brother and I to"
    if sentence.tags[word] == "IN" and sentence.lower[word] in _OF_OBJECT - {"as"}:
        raise Doubt("a phrase that says something of the object")
    # "table tennis"
    if sentence.tags[word] == "RB" and not wordnet.base_forms(sentence.lower[word], "r"):
        raise Doubt("an adverb that is none")


def check_whole(sentence: Sentence, phrase: NounPhrase, wordnet: WordNet) -> None:
    """Stop unless all behind a noun belongs to it; of prepositions only *of* is sure."""
    # What a relative clause says stays beside the noun, whatever its own parts belong to.
    clauses = [
        set(sentence.subtree(i)) for i in phrase.span if sentence.relations[i] == "acl:relcl"
    ]
    for i in range(phrase.head + 1, phrase.span.stop):
        if any(i in clause for clause in clauses):
            continue
        relation = sentence.relations[i]
        if relation == "nmod":
            cases = [sentence.lower[each] for each in sentence.children(i, "case")]
            if cases != ["of"] or is_one_of(MEASURES, sentence.lower[i], wordnet):
                raise Doubt("a phrase behind the noun may belong to the verb")
        elif relation not in _BEHIND_NOUN:
            raise Doubt("a word behind the noun may belong to the verb")


Direction = Literal["both", "passive", "active"]

# A tree without such a relation has nothing to turn.
_RELATIONS = {"both": ("obj", "obl:agent"), "passive": ("obj",), "active": ("obl:agent",)}


@dataclass(frozen=True, kw_only=True, eq=False)
class Voice(SyntacticTransformation):
    """Turn active clauses into passive ones and back.

    A clause is turned if it is the main clause of a statement and its parts stand where they
    usually do, and if the result, parsed, leads back to it.
    """

    verbs: Verbs
    """Inflects verbs."""
    direction: Direction = "both"
    """``"passive"`` or ``"active"`` for one direction alone."""

    name = "voice"

    @property
    def options(self) -> dict[str, Any]:
        """The direction."""
        return {"direction": self.direction}

    def find_candidates(self, parses: TokenParses) -> npt.NDArray[np.bool_]:
        """Return which texts have a verb with an object, or a passive with an agent."""
        return find_texts_with(parses, _RELATIONS[self.direction])

    def rewrite(self, sentence: Sentence) -> list[Rewritten]:
        """Return the sentence in the other voice; two ways to order a passive."""
        return self._turn(sentence, self.direction, is_back=False)

    def lead_back(self, sentence: Sentence) -> list[Rewritten]:
        """Return the sentence in the other voice, whatever the direction that was asked for."""
        return self._turn(sentence, "both", is_back=True)

    def _turn(self, sentence: Sentence, direction: Direction, *, is_back: bool) -> list[Rewritten]:
        to_active = partial(self._to_active, is_back=is_back)
        ways: list[tuple[Read, Write, str]] = []
        if direction != "active":
            ways.append((read_active, self._to_passive, "to-passive"))
        if direction != "passive":
            ways.append((read_passive, to_active, "to-active"))
        for read, write, rule in ways:
            try:
                return [Rewritten(text, rule) for text in write(sentence, read(sentence))]
            except Doubt:
                continue
        return []

    def _to_passive(self, sentence: Sentence, clause: Clause) -> Iterator[str]:
        """Yield the sentence with the agent behind the verb or at its end, the better one first."""
        tag = sentence.tags[clause.group.verb]
        lemma = self.verbs.lemma(sentence.lower[clause.group.verb], tag)
        check_active(sentence, clause, lemma, self.wordnet)
        check_parts(sentence, clause, self.wordnet)
        check_agreement(sentence, clause.group, clause.subject.person, self.verbs)
        group = write_passive(sentence, clause.group, clause.other.person, self.verbs)
        begin = f"{self._write_subject(sentence, clause)} {_with_particle(sentence, clause, group)}"
        agent = f" by {self._write(sentence, clause.subject, 'object')}"
        after, end = sentence.write_on(clause.after), _write_end(sentence, clause)
        refers = any(
            sentence.tags[i].startswith("PRP") or sentence.relations[i].startswith("nsubj")
            for i in clause.after
        )
        directly, last = f"{begin}{agent}{after}{end}", f"{begin}{after}{agent}{end}"
        ways = [] if refers or "," in after else [last]
        if not after:
            ways = [directly]
        elif not (clause.subject.is_long or belongs_to_verb(sentence, clause, lemma)):
            is_short = clause.subject.is_pronoun or not begins_place(sentence, clause)
            ways.insert(0 if is_short else len(ways), directly)
        yield from ways

    def _to_active(self, sentence: Sentence, clause: Clause, *, is_back: bool) -> Iterator[str]:
        """Yield the sentence with the agent in front; on the way back also other orders."""
        check_agent(sentence, clause)
        check_parts(sentence, clause, self.wordnet)
        check_agreement(sentence, clause.group, clause.subject.person, self.verbs)
        between, after = map(sentence.write_on, (clause.between, clause.after))
        is_prepositional = len(clause.after) and sentence.tags[clause.after.start] in {"IN", "TO"}
        if "," in between or (is_prepositional and not is_back):
            raise Doubt("a phrase behind the agent may belong to it")
        group = write_active(sentence, clause.group, clause.other.person, self.verbs)
        what = self._write(sentence, clause.subject, "object")
        begin = f"{self._write_subject(sentence, clause)} {_with_particle(sentence, clause, group)}"
        end = _write_end(sentence, clause)
        yield f"{begin} {what}{between}{after}{end}"
        if is_back and clause.particle is not None:  # "picked the ball up"
            begin = f"{self._write_subject(sentence, clause)} {group}"
            yield f"{begin} {what} {sentence.words[clause.particle]}{between}{after}{end}"

    def _write_subject(self, sentence: Sentence, clause: Clause) -> str:
        """Return what stands before the new subject, and the subject, with the old capital."""
        text = self._write(sentence, clause.other, "subject")
        start = clause.subject.span.start
        if start == 0:
            return text[0].upper() + text[1:] if sentence.words[0][0].isupper() else text
        return f"{sentence.write(range(start))} {text}"

    def _write(self, sentence: Sentence, phrase: NounPhrase, case: str) -> str:
        return write_noun_phrase(sentence, phrase, case, self.wordnet)


def _with_particle(sentence: Sentence, clause: Clause, group: str) -> str:
    return group if clause.particle is None else f"{group} {sentence.words[clause.particle]}"


def _write_end(sentence: Sentence, clause: Clause) -> str:
    """Return the final marks."""
    return sentence.write_on(range(clause.after.stop, len(sentence)))


class VoiceOptions(SyntaxOptions):
    """What the change of voice can be told."""

    direction: Direction = Field(
        "both", description="passive: active clauses become passive; active: the reverse"
    )


def _plan_voice(options: VoiceOptions) -> PlannedTransformation:
    from ietest_fast.lexicon.verbs import Verbs

    return plan_syntactic(Voice, options, verbs=Verbs.packaged(), direction=options.direction)


VOICE = TransformationKind(
    name="voice",
    summary="turns active clauses into passive ones and back, where both parses are sure",
    options=VoiceOptions,
    plan=_plan_voice,
    language="English",
)
