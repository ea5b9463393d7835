"""Which clauses do not say the same in the other voice, or say it oddly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.transform.doubt import Doubt

if TYPE_CHECKING:
    from ietest_fast.lexicon.wordnet import WordNet
    from ietest_fast.transform.clauses import Clause
    from ietest_fast.transform.noun_phrases import NounPhrase
    from ietest_fast.transform.trees import Sentence

# States, measures and ways to move, which have no passive, or an odd one.
NO_PASSIVE = frozenset(
    "arise ask await be become believe belong comprise concern contain cost deserve do "  # noqa: SIM905
    "equal escape exceed face feel fit get go guess happen have hope include involve jog "
    "know lack last let like love marry mean mind miss need occur owe possess prefer "
    "remain resemble roam run say seem sound stand stroll suffer suit survive swim think "
    "travel undergo walk wander want weigh wish".split()
)
# Verbs without an object, beside which a noun or adjective may look like one: "sat motionless".
INTRANSITIVE = frozenset(
    "arrive crouch die dine exist fall kneel laugh lay lie live nap pose sit sleep slouch smile "  # noqa: SIM905
    "squat wait wink work yawn".split()
)
# "convinced my wife that he ...": the clause belongs to the verb.
_TELLING = frozenset(
    "advise assure convince inform persuade promise remind show teach tell warn write".split()  # noqa: SIM905
)
# With a particle these say where somebody goes: "ride up the street".
_MOTION = frozenset(
    "bike climb come crawl cycle dance drive drop fall fly go hike hop jump leap look move ride "  # noqa: SIM905
    "rush skate ski skip slide step".split()
)
_OF_SENSES = frozenset("feel hear help let make notice observe see watch".split())  # noqa: SIM905
# Verb and noun are one expression.
_IDIOMS = {
    verb: frozenset(nouns.split())
    for verb, nouns in {
        "catch": "breath fire sight",
        "change": "course mind",
        "cross": "arms legs",
        "give": "birth chase pause rise thought way",
        "hold": "breath hand hands",
        "keep": "pace track",
        "lose": "control time weight",
        "make": "eye face faces friends fun love mistake mistakes money noise sense way",
        "pay": "attention heed tribute visit",
        "play": "catch doll dolls house part role tag",
        "run": "errands",
        "set": "fire foot sail",
        "shake": "hands head",
        "turn": "back corner head heads page tables",
        "take": "advantage bath bite bow break breaks care dip drink jog look nap note notice part "
        "place rest ride seat shower sip step steps stroll swim time trip turn turns walk",
    }.items()
}
# How far, how long, how much.
MEASURES = frozenset(
    "% afternoon cent century day decade degree dollar euro foot gallon gram hour inch "  # noqa: SIM905
    "kilogram kilometer kilometre lap lb liter litre meter metre mile minute month "
    "morning night ounce percent pound second step time ton week yard year".split()
)
# "in a red dress", "with glasses": whose, once the words stand in another order?
WORN = frozenset(
    "apron arm attire bag bandana beard bikini black blue boot bow brown cap clothes "  # noqa: SIM905
    "clothing coat costume dress eye face flag foot garb gear glass glasses glove goggles "
    "gold gown gray green grey hair hand hat head headphone headscarf helmet hood hoodie "
    "jacket jean jeans jersey kimono leg leotard mask mohawk orange outfit overalls pants "
    "pink ponytail purple red robe sandal scarf shirt shoe shorts skirt smile sneaker "
    "suit sunglasses sweater sweatshirt swimsuit swimwear tank tattoo tie top trunks tutu "
    "uniform vest wetsuit white yellow".split()
)
# "spreads wings": whose, if nothing says so?
_OF_A_BODY = frozenset(
    "arm eye face finger fist foot hand head hip knee leg mouth paw shoulder tail thumb tongue "  # noqa: SIM905
    "tooth wing".split()
)
_OF_SOMEBODY = frozenset({"in", "with", "without"})
# What they say, they say of the object.
_OF_OBJECT = frozenset("about as concerning of regarding than".split())  # noqa: SIM905
_NO_AGENTS = frozenset(
    "accident air bike boat bus car chance default definition design email fax foot force hand "  # noqa: SIM905
    "land law mail means midnight mistake name nature night noon phone plane post rail rights "
    "road sea ship sunset surprise tomorrow train truck virtue".split()
)
# Relations of words behind a noun that surely belong to it.
_BEHIND_NOUN = frozenset(
    "case cc compound conj det fixed flat goeswith nmod:poss nummod punct".split()  # noqa: SIM905
)
_OWN = frozenset("her his its their".split())  # noqa: SIM905
_THEY = frozenset({"he", "she", "they"})
_NOBODY = frozenset({"it", "you"})


_ADVERB_TAGS = frozenset({"RB", "RP", "RBR", "RBS"})


def nouns_of(wordnet: WordNet, word: str) -> set[str]:
    """Return a word and the nouns that it may be a form of."""
    return {word, *wordnet.base_forms(word, "n")}


def check_active(sentence: Sentence, clause: Clause, lemma: str | None, wordnet: WordNet) -> None:
    """Stop unless an active clause with this verb can be told in the passive voice.

    Raises
    ------
    Doubt
        If it cannot.
    """
    if len(clause.between):
        raise Doubt("something stands between verb and object")
    if clause.subject.is_pronoun and sentence.lower[clause.subject.head] in _NOBODY:
        raise Doubt("nobody is the subject")
    if lemma is None or lemma in NO_PASSIVE or lemma in INTRANSITIVE:
        raise Doubt("the verb has no passive")
    if clause.particle is not None and lemma in _MOTION:
        raise Doubt("the verb says where somebody goes")
    if lemma in _TELLING and any(
        sentence.relations[i].startswith("acl") for i in clause.other.span
    ):
        raise Doubt("the clause behind the object may be what is told")
    noun = sentence.lower[clause.other.head]
    is_verb_too = len(clause.other.span) > 1 and wordnet.base_forms(noun, "v")
    if lemma in _OF_SENSES and is_verb_too:  # "watched the river flow"
        raise Doubt("the object may be a clause")
    if noun in _IDIOMS.get(lemma, ()):
        raise Doubt("verb and noun are one expression")
    nouns = nouns_of(wordnet, noun)
    if not MEASURES.isdisjoint(nouns):
        raise Doubt("the object is a measure")
    is_bare = len(clause.other.span) == 1
    if is_bare and not _OF_A_BODY.isdisjoint(nouns):
        raise Doubt("part of somebody's body")
    first, second = clause.other.span.start, clause.other.span.start + 1
    if sentence.tags[first] == "JJ" and sentence.tags[second] in {"CD", "DT"}:
        raise Doubt("the object begins with what is said of it")  # "makes available 300"
    if sentence.tags[first] in _ADVERB_TAGS:
        raise Doubt("the object begins with an adverb")
    start = clause.subject.span.start
    if len(clause.subject.span) == 1 and start == 0 and sentence.tags[0] == "NN":
        raise Doubt("the subject may be a name")


def check_agent(sentence: Sentence, clause: Clause) -> None:
    """Stop if what *by* introduces is no agent: *by hand*, *by noon*.

    Raises
    ------
    Doubt
        If it is none.
    """
    if len(clause.other.span) == 1 and sentence.lower[clause.other.head] in _NO_AGENTS:
        raise Doubt("a way or a time, and no agent")


def check_parts(sentence: Sentence, clause: Clause, wordnet: WordNet) -> None:
    """Stop unless each part of a clause means the same wherever it stands.

    Raises
    ------
    Doubt
        If one may not.
    """
    for phrase in (clause.subject, clause.other):
        if any(sentence.tags[i] == "PRP$" and sentence.lower[i] in _OWN for i in phrase.span):
            raise Doubt("a possessive may refer to another part")
    check_whole(sentence, clause.other, wordnet)
    parts = (clause.subject, clause.other)
    # "has not published a report": which report, once it comes first?
    if clause.group.negation and not all(phrase.is_definite for phrase in parts):
        raise Doubt("a negation and somebody indefinite")
    if all(any(sentence.tags[i] == "CD" for i in phrase.span) for phrase in parts):
        raise Doubt("two numbers, each or together")
    named = {sentence.lower[phrase.head] for phrase in (clause.subject, clause.other)}
    for i in clause.after:
        if sentence.lower[i] in _THEY - named:
            raise Doubt("a pronoun may refer to another part")
    for i in (*clause.between, *clause.after):
        if sentence.relations[i] != "case":
            continue
        word, noun = sentence.lower[i], sentence.lower[sentence.heads[i]]
        is_worn = word in _OF_SOMEBODY and not WORN.isdisjoint(nouns_of(wordnet, noun))
        if is_worn or word in _OF_OBJECT:
            raise Doubt("a phrase may belong to one noun or another")


def check_whole(sentence: Sentence, phrase: NounPhrase, wordnet: WordNet) -> None:
    """Stop unless all behind a noun belongs to it; of prepositions only *of* is sure.

    Raises
    ------
    Doubt
        If something may belong to the verb.
    """
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
            is_measure = not MEASURES.isdisjoint(nouns_of(wordnet, sentence.lower[i]))
            if cases != ["of"] or is_measure:
                raise Doubt("a phrase behind the noun may belong to the verb")
        elif relation not in _BEHIND_NOUN:
            raise Doubt("a word behind the noun may belong to the verb")
