"""Forms of English verbs, made and recognised with WordNet's exception list."""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ietest_fast.lexicon.wordnet import WordNet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

# Principal parts of English verbs that WordNet's exception list does not tell apart.


@dataclass(frozen=True, kw_only=True)
class Paradigm:
    """A past and the participles that go with it, the one to write first."""

    past: str
    participles: tuple[str, ...]

    def prefixed(self, prefix: str) -> Paradigm:
        """Return the paradigm of a verb made with a prefix."""
        return Paradigm(
            past=prefix + self.past,
            participles=tuple(prefix + participle for participle in self.participles),
        )


# The verb, then past and participle; "/" parts participles, ";" whole paradigms (the usual first).
_PARTS = """
abide: abided abided; abode abode
aby: abought abought
address: addressed addressed
arise: arose arisen
awake: awoke awoken; awaked awaked
be: was been; were been
bear: bore borne/born
beat: beat beaten/beat
become: became become
beget: begot begotten; begat begotten
begin: began begun
behold: beheld beheld
beseech: besought besought; beseeched beseeched
bespeak: bespoke bespoken
bestrew: bestrewed bestrewn/bestrewed
bet: bet bet; betted betted
bid: bid bid; bade bidden
bite: bit bitten
bless: blessed blessed; blest blest
blow: blew blown
break: broke broken
broadcast: broadcast broadcast; broadcasted broadcasted
burn: burned burned; burnt burnt
bullshit: bullshitted bullshitted; bullshit bullshit
burst: burst burst
bust: busted busted; bust bust
bypass: bypassed bypassed
cast: cast cast
chide: chided chided; chid chidden
choose: chose chosen
cleave: cleaved cleaved; cleft cleft; clove cloven
clothe: clothed clothed; clad clad
come: came come
cost: cost cost; costed costed
curse: cursed cursed
cut: cut cut
die: died died
dive: dived dived; dove dived
do: did done
draw: drew drawn
dream: dreamed dreamed; dreamt dreamt
drink: drank drunk
drive: drove driven
dwell: dwelt dwelt; dwelled dwelled
eat: ate eaten
fall: fell fallen
feed: fed fed
fit: fit fit; fitted fitted
flee: fled fled
fly: flew flown
forbid: forbade forbidden/forbid; forbad forbidden
forecast: forecast forecast; forecasted forecasted
forego: forewent foregone
forget: forgot forgotten/forgot
forgo: forwent forgone
forsake: forsook forsaken
freeze: froze frozen
geld: gelded gelded; gelt gelt
get: got got/gotten
gild: gilded gilded; gilt gilt
gin: ginned ginned
gird: girded girded; girt girt
give: gave given
gnaw: gnawed gnawed/gnawn
go: went gone
grave: graved graved/graven
grip: gripped gripped
grow: grew grown
hang: hung hung; hanged hanged
have: had had
heave: heaved heaved; hove hove
hew: hewed hewn/hewed
hide: hid hidden/hid
hit: hit hit
honey: honeyed honeyed; honied honied
hurt: hurt hurt
input: input input; inputted inputted
inset: inset inset
kneel: knelt knelt; kneeled kneeled
knit: knitted knitted; knit knit
know: knew known
lade: laded laden/laded
lean: leaned leaned; leant leant
leap: leaped leaped; leapt leapt
learn: learned learned; learnt learnt
let: let let
lie: lay lain; lied lied
light: lit lit; lighted lighted
make: made made
melt: melted melted/molten
mow: mowed mown/mowed
output: output output; outputted outputted
overflow: overflowed overflowed
partake: partook partaken
pen: penned penned; pent pent
plead: pleaded pleaded; pled pled
prove: proved proven/proved
put: put put
quit: quit quit; quitted quitted
read: read read
rend: rent rent; rended rended
rid: rid rid; ridded ridded
ride: rode ridden
ring: rang rung; ringed ringed
rise: rose risen
rive: rived riven/rived
run: ran run
saw: sawed sawn/sawed
see: saw seen
set: set set
sew: sewed sewn/sewed
shake: shook shaken
shave: shaved shaved/shaven
shear: sheared shorn/sheared
shed: shed shed
shew: shewed shewn
shine: shone shone; shined shined
shit: shit shit; shat shat; shitted shitted
shoe: shod shod; shoed shoed
show: showed shown/showed
shrink: shrank shrunk/shrunken; shrunk shrunk
shrive: shrove shriven; shrived shrived
shut: shut shut
simulcast: simulcast simulcast; simulcasted simulcasted
sing: sang sung; sung sung
sink: sank sunk/sunken; sunk sunk
ski: skied skied
slay: slew slain; slayed slayed
slide: slid slid/slidden
sling: slung slung
slink: slunk slunk; slinked slinked
slit: slit slit
smell: smelled smelled; smelt smelt
smite: smote smitten
sneak: sneaked sneaked; snuck snuck
sow: sowed sown/sowed
speak: spoke spoken
speed: sped sped; speeded speeded
spell: spelled spelled; spelt spelt
spill: spilled spilled; spilt spilt
spit: spat spat; spit spit; spitted spitted
split: split split
spoil: spoiled spoiled; spoilt spoilt
spread: spread spread
spring: sprang sprung; sprung sprung
stave: staved staved; stove stove
steal: stole stolen
stink: stank stunk; stunk stunk
strew: strewed strewn/strewed
stride: strode stridden
strike: struck struck/stricken
string: strung strung
strive: strove striven; strived strived
swap: swapped swapped
swear: swore sworn
sweat: sweated sweated; sweat sweat
sweep: swept swept
swell: swelled swollen/swelled
swim: swam swum
take: took taken
tear: tore torn
telecast: telecast telecast; telecasted telecasted
thrive: thrived thrived; throve thriven
throw: threw thrown
thrust: thrust thrust
transfix: transfixed transfixed
tread: trod trodden/trod; treaded treaded
unreeve: unreeved unreeved; unrove unrove
wake: woke woken; waked waked
wear: wore worn
weave: wove woven; weaved weaved
wed: wed wed; wedded wedded
wet: wet wet; wetted wetted
wind: wound wound; winded winded
work: worked worked; wrought wrought
wring: wrung wrung
write: wrote written
"""

# Verbs made of another verb, inflected like it, of which the exception list says nothing.
_COMPOUNDS = """
baby|sit be|set bottle|feed breast|feed by-|bid cheer|lead chicken-|fight chicken|fight clear-|cut
color|cast copy|read counter|strike cross|cut custom-|make day|dream dis|spread di|spread dog|fight
film-|make fine|draw finger-|spell finger|spell fist|fight flash-|freeze fore|cast fore|swear
hand-|build hand|build hand|write house|break house|keep impulse-|buy inter|weave joy|ride lip-|read
lip|read mis|cast mis|read mis|speak off|set out|bid over|bid over|cast over|eat over|feed
over|spread pod|cast prize|fight proof|read re|bind re|broadcast re|cast re|do re|grow re|learn
re|read re|sell re|set re|shoot render-|set rough|cast sharp|shoot sight-|read sight|read
sight-|sing sight|sing speech-|read spoon|feed sports|cast stock-|take sub|let sun|burn switch-|hit
tailor-|make trouble-|shoot trouble|shoot type|cast type|set un|spell un|weave under|bid under|cut
under|grow under|spend up|hold up|set way|lay
"""


@functools.cache
def read_paradigms() -> dict[str, tuple[Paradigm, ...]]:
    """Return the paradigms of each listed verb, the usual one first."""
    found: dict[str, tuple[Paradigm, ...]] = {}
    for line in _PARTS.strip().splitlines():
        verb, _, rest = line.partition(": ")
        rows = [row.split() for row in rest.split(";")]
        found[verb] = tuple(
            Paradigm(past=past, participles=tuple(participles.split("/")))
            for past, participles in rows
        )
    return found


@functools.cache
def read_compounds() -> dict[str, tuple[str, str]]:
    """Return the prefix and the verb that each listed compound is made of."""
    parts = (word.partition("|") for word in _COMPOUNDS.split())
    return {prefix + verb: (prefix, verb) for prefix, _, verb in parts}


# How regular verbs are spelt: stopped, tries, hoping, dying.

# One vowel letter and one consonant at the end: the consonant may have to be doubled. "Qu" is a
# consonant.
_CLOSED = re.compile(r"(?:^|[^aeiou]|qu)[aeiouy][bcdfgjklmnprstvz]$")
_ONE_SYLLABLE = re.compile(r"(?:qu|y(?=[aeiou])|[^aeiouy])*[aeiouy]+(?:[^aeiouy])*$")
# Doubled, though WordNet's exception list has no doubled form of them.
_DOUBLED = frozenset(
    "air-drop backlog backslap backstop bed-hop bedhop besot bespot blacktop bobsled "  # noqa: SIM905
    "bootstrap by-bid chit-chat clear-cut co-occur comparison-shop cooccur cross-refer defat defog "
    "dogsled dry-rot egotrip flat-hat flim-flam gift-wrap globe-trot hop-skip hot-dog imperil "
    "instil lollygag misread namedrop one-step overcut photostat re-equip readmit reallot "
    "rejig render-set reship resubmit she-bop shrinkwrap side-slip suntan switch-hit teargas "
    "two-step unclip unknot unstrap whistlestop wiretap".split()
)
# Not doubled, though they look like words of one syllable.
_SINGLE = frozenset("crayon kayak layer".split())  # noqa: SIM905
# Spelt either way; the single consonant first.
_EITHER = frozenset(
    "apparel backpedal ballot bayonet benefit bias brevet bus callus canvas caucus chorus "  # noqa: SIM905
    "combat corbel crenel curvet debus embus focus imperil marcel misbias nonplus peril refocus "
    "remodel revet ricochet snorkel teetotal tittup trammel transit worship".split()
)
# Stressed on -l, and so doubled on both sides of the Atlantic.
_STRESSED_L = frozenset(
    "annul appal cabal compel control corral decontrol dispel distil enrol enthral excel expel "  # noqa: SIM905
    "extol fulfil impel instal instil patrol propel rappel rebel repel".split()
)
# Written with two consonants rather than one where both are in use.
_RATHER_DOUBLED = frozenset("brevet bus coif revet worship".split())  # noqa: SIM905
# -o after a consonant takes -es in these (and in their compounds) only.
_O_TO_OES = ("buffalo", "do", "echo", "embargo", "go", "stucco", "torpedo", "veto", "zero")
# Keep their -e before -ing.
_KEEPS_E = frozenset("binge dinge segue singe swinge tinge".split())  # noqa: SIM905
_MAY_KEEP_E = frozenset("age cue eye hinge queue whinge".split())  # noqa: SIM905
# -ie stays before -ing.
_KEEPS_IE = frozenset("birdie boogie caddie stymie".split())  # noqa: SIM905
# -ch spoken as k.
_HARD_CH = ("stomach", "synch")


def find_stems(verb: str, listed: Iterable[str]) -> tuple[str, ...]:
    """Return what a verb becomes before a vowel, but for a silent e: *stopp*, *panick*,
    *travel*.
    """
    if not verb:
        raise ValueError("verb: an empty word has no forms")
    doubled = verb + verb[-1]
    found = {
        form[: -len(ending)]
        for form in listed
        for ending in ("ed", "ing")
        if form.endswith(ending) and form.startswith(verb) and len(form) > len(verb + ending)
    }
    is_closed = bool(_CLOSED.search(verb))
    if (verb.endswith("ic") and _syllables(verb) > 1) or f"{verb}k" in found:
        return (f"{verb}k",)
    if verb in _EITHER or (doubled in found and (not is_closed or _may_be_single(verb))):
        return (doubled, verb) if verb in _RATHER_DOUBLED else (verb, doubled)
    is_short = is_closed and _syllables(verb) == 1 and verb not in _SINGLE
    return (doubled,) if is_short or doubled in found or verb in _DOUBLED else (verb,)


def is_stress_known(verb: str) -> bool:
    """Tell whether the spelling shows, without a list, if a last consonant is doubled."""
    return verb.endswith("ic") or not _CLOSED.search(verb) or _syllables(verb) == 1


def _may_be_single(verb: str) -> bool:
    return verb.endswith("l") and _syllables(verb) > 1 and verb not in _STRESSED_L


def _syllables(verb: str) -> int:
    return 1 if _ONE_SYLLABLE.match(verb) else 2


def spell_past(verb: str, stems: Iterable[str]) -> tuple[str, ...]:
    """Return the regular past and participle, the usual spelling first."""
    if verb.endswith("e"):
        return (f"{verb}d",)
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return (f"{verb[:-1]}ied",)
    return tuple(f"{stem}ed" for stem in stems)


def spell_gerund(verb: str, stems: Iterable[str]) -> tuple[str, ...]:
    """Return the form in -ing, the usual spelling first."""
    if verb.endswith("ie"):
        dying = (f"{verb[:-2]}ying",)
        return (f"{verb}ing", *dying) if verb in _KEEPS_IE else dying
    if verb == "be" or verb.endswith(("ee", "oe", "ye")) or verb in _KEEPS_E:
        return (f"{verb}ing",)
    if verb.endswith("e"):
        without = (f"{verb[:-1]}ing",)
        return (*without, f"{verb}ing") if verb in _MAY_KEEP_E else without
    return tuple(f"{stem}ing" for stem in stems)


def spell_third(verb: str, stems: Iterable[str]) -> tuple[str, ...]:
    """Return the third person singular, the usual spelling first."""
    if verb.endswith(("s", "z")):
        return tuple(f"{stem}es" for stem in stems)
    if verb.endswith(("x", "sh")) or (verb.endswith("ch") and not verb.endswith(_HARD_CH)):
        return (f"{verb}es",)
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return (f"{verb[:-1]}ies",)
    if verb.endswith("o") and verb[-2:-1] not in "aeiouy":
        pair = (f"{verb}es", f"{verb}s")
        if verb.endswith(("do", "go")) and verb.endswith(_O_TO_OES):
            return pair[:1]
        return pair if verb.endswith(_O_TO_OES) else pair[::-1]
    return (f"{verb}s",)


Slot = Literal["past", "participle", "third", "gerund"]

_SLOT_OF_TAG: dict[str, Slot] = {
    "VBD": "past",
    "VBN": "participle",
    "VBZ": "third",
    "VBG": "gerund",
}
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
# A preposition stands at their end: the verb before it is inflected.
_PHRASAL = frozenset({"log-in", "matt-up", "white-out"})
# Two verbs with one base form (lay, lain; lied, lied).
_TWO_VERBS = frozenset({"lie"})
# Listed as forms, but spellings of the base.
_RESPELT = frozenset({"co-ordinate", "squilgee", "tranship"})
_THIRD = {"be": "is", "have": "has"}
# Forms that belong to one verb only; "'s" is is or has, "'d" is had, would or did.
_PRESENT = {"am": "be", "are": "be", "'m": "be", "'re": "be", "'ve": "have", "wan": "want"}
# Put before any verb, whether WordNet has that verb or not.
_PREFIXES = ("co", "de", "mis", "out", "over", "pre", "re", "under", "un")


class Verbs:
    """Forms of verbs according to a WordNet's exception list and spelling rules.

    The exception list, turned round, gives the irregular forms of a verb, and tells where a
    consonant is doubled; :mod:`ietest_fast.lexicon.verbs` tells which form is which. All
    other forms follow from the spelling. Lemmas are found by inflecting back: a verb is the lemma
    of a form if the form is one of its forms.

    Parameters
    ----------
    wordnet
        The lexicon whose verbs of one word are known.
    """

    def __init__(self, wordnet: WordNet) -> None:
        self._wordnet = wordnet
        listed: dict[str, list[str]] = defaultdict(list)
        for form, bases in wordnet.exceptions("v").items():
            for base in bases:
                if form != base and "_" not in form:
                    listed[base].append(form)
        self._listed: Mapping[str, list[str]] = listed

    @staticmethod
    @functools.cache
    def packaged() -> Verbs:
        """Return the verbs of the packaged WordNet; made once per process.

        Raises
        ------
        ResourceError
            If the packaged file is missing or damaged.
        """
        return Verbs(WordNet.packaged())

    def past(self, lemma: str) -> str | None:
        """Return the past tense (*eat*: *ate*; *be*: *was*).

        None for *lie*, which is two verbs, and for a verb that WordNet does not have and whose last
        consonant may have to be doubled.
        """
        paradigms = self._of(lemma)
        return paradigms[0].past if paradigms and lemma not in _TWO_VERBS else None

    def participle(self, lemma: str) -> str | None:
        """Return the past participle (*eat*: *eaten*); None as for :meth:`past`."""
        paradigms = self._of(lemma)
        return paradigms[0].participles[0] if paradigms and lemma not in _TWO_VERBS else None

    def third(self, lemma: str) -> str:
        """Return the third person singular of the present (*go*: *goes*; *be*: *is*)."""
        return self._third(lemma)[0]

    def gerund(self, lemma: str) -> str:
        """Return the form in -ing (*run*: *running*; *die*: *dying*)."""
        return self._gerund(lemma)[0]

    def lemma(self, form: str, tag: str) -> str | None:
        """Return the base form of a verb.

        Parameters
        ----------
        form
            In lower case; the clitics ``'m``, ``'re`` and ``'ve``, and the *wan* of *wanna*, are
            known.
        tag
            Penn tag: VB, VBP, VBZ, VBD, VBN or VBG.

        Returns
        -------
        str or None
            The only verb of WordNet that has this form, or the one among several that SemCor tags
            more often. None if there is none, if nothing decides between several, or if the form
            looks like the base of a commoner verb (*feed*, tagged VBD, is hardly of *fee*).

        Raises
        ------
        ValueError
            If the tag is none of a verb.
        """
        slot = _SLOT_OF_TAG.get(tag)
        if slot is None and tag not in {"VB", "VBP"}:
            raise ValueError(f"tag: VB, VBP, {', '.join(_SLOT_OF_TAG)}, not {tag!r}")
        prefix, hyphen, rest = form.partition("-")
        if hyphen and prefix in _PREFIXES and not self._has(form, slot):
            lemma = self.lemma(rest, tag)
            return None if lemma is None else f"{prefix}-{lemma}"
        if slot is None:
            return self._base_of_present(form, tag)
        candidates = self._candidates(form, slot)
        best = self._most_frequent(candidates)
        if best is None or best == form or not self._is_verb(form):
            return best
        is_regular = form in spell_past(best, self._stems(best))
        return None if is_regular and self._count(form) >= self._count(best) else best

    def _base_of_present(self, form: str, tag: str) -> str | None:
        """Return the base form of what is tagged VB or VBP."""
        if form in _PRESENT and (tag == "VBP" or form in {"'ve", "wan"}):
            return _PRESENT[form]
        return form if self._is_verb(form) else None

    def participle_of_past(self, form: str) -> str | None:
        """Return the participle that goes with a past tense, in the spelling of the text.

        *ate*: *eaten*; *travelled*: *travelled*, *traveled*: *traveled*; *lay*: *lain*, *lied*:
        *lied*. None if :meth:`lemma` is not sure and its candidates have different participles.
        """
        return self._counterpart(form, "VBD")

    def past_of_participle(self, form: str) -> str | None:
        """Return the past tense that goes with a participle, in the spelling of the text.

        *eaten*: *ate*; *travelled*: *travelled*; *been*: *was*. None as for
        :meth:`participle_of_past`.
        """
        return self._counterpart(form, "VBN")

    def _counterpart(self, form: str, tag: Literal["VBD", "VBN"]) -> str | None:
        best = self.lemma(form, tag)
        lemmas = self._candidates(form, _SLOT_OF_TAG[tag]) if best is None else (best,)
        found = {self._counterpart_of(lemma, form, tag) for lemma in lemmas}
        return found.pop() if len(found) == 1 else None

    def _counterpart_of(self, lemma: str, form: str, tag: Literal["VBD", "VBN"]) -> str | None:
        for row in self._of(lemma):
            if tag == "VBD" and row.past == form:
                return row.participles[0]
            if tag == "VBN" and form in row.participles:
                return row.past
        return None

    def _is_verb(self, word: str) -> bool:
        return word in self._verbs

    def _has(self, form: str, slot: Slot | None) -> bool:
        return self._is_verb(form) if slot is None else bool(self._candidates(form, slot))

    @functools.cached_property
    def _verbs(self) -> frozenset[str]:
        known = {verb for verb in self._wordnet.words("v") if _WORD.fullmatch(verb)} - _PHRASAL
        return frozenset(known | read_paradigms().keys() | read_compounds().keys())

    @functools.cached_property
    def _index(self) -> dict[Slot, dict[str, tuple[str, ...]]]:
        """Verbs by form, for each slot; all spellings that are in use."""
        index: dict[Slot, dict[str, list[str]]] = {
            slot: defaultdict(list) for slot in ("past", "participle", "third", "gerund")
        }
        for verb in sorted(self._verbs):
            for slot, form in self._forms(verb):
                if verb not in index[slot][form]:
                    index[slot][form].append(verb)
        return {
            slot: {form: tuple(verbs) for form, verbs in forms.items()}
            for slot, forms in index.items()
        }

    def _forms(self, verb: str) -> Iterator[tuple[Slot, str]]:
        for row in self._of(verb):
            yield "past", row.past
            for participle in row.participles:
                yield "participle", participle
        for form in self._third(verb):
            yield "third", form
        for form in self._gerund(verb):
            yield "gerund", form

    def _candidates(self, form: str, slot: Slot) -> tuple[str, ...]:
        """Return the verbs that a form may be of.

        A past that only is a participle, and the other way round, is taken for what it is: *have
        went*, *I seen*.
        """
        found = self._index[slot].get(form, ())
        if not found and slot in {"past", "participle"}:
            return self._index["participle" if slot == "past" else "past"].get(form, ())
        return found

    def _most_frequent(self, candidates: tuple[str, ...]) -> str | None:
        if len(candidates) < 2:
            return next(iter(candidates), None)
        first, second = sorted(candidates, key=self._count, reverse=True)[:2]
        # Two spellings of one verb (enroll, enrol) are told apart by less than two verbs.
        least = 1 if self._synsets(first) & self._synsets(second) else 2
        return first if self._count(first) - self._count(second) >= least else None

    def _synsets(self, verb: str) -> set[int]:
        return set(self._wordnet.sense_numbers(verb, "v")[0])

    def _count(self, verb: str) -> int:
        return sum(self._wordnet.sense_numbers(verb, "v")[1])

    def _stems(self, verb: str) -> tuple[str, ...]:
        made_of = self._split(verb)
        if made_of is not None:
            return tuple(made_of[0] + stem for stem in self._stems(made_of[1]))
        return find_stems(verb, self._listed.get(verb, ()))

    def _third(self, verb: str) -> tuple[str, ...]:
        if verb in _THIRD:
            return (_THIRD[verb],)
        return spell_third(verb, self._stems(verb))

    def _gerund(self, verb: str) -> tuple[str, ...]:
        return spell_gerund(verb, self._stems(verb))

    def _of(self, verb: str) -> tuple[Paradigm, ...]:
        """Return the paradigms of a verb, the usual one first; empty if it cannot be told."""
        listed = read_paradigms().get(verb)
        if listed is not None:
            return listed
        made_of = read_compounds().get(verb) or self._split(verb)
        if made_of is not None:
            prefix, base = made_of
            return tuple(row.prefixed(prefix) for row in self._of(base))
        irregular = [form for form in self._listed.get(verb, ()) if _is_irregular(form, verb)]
        for start in range(1, len(verb) - 1) if irregular else ():
            prefix, base = verb[:start], verb[start:]
            rows = tuple(row.prefixed(prefix) for row in read_paradigms().get(base, ()))
            if any(not {row.past, *row.participles}.isdisjoint(irregular) for row in rows):
                return rows
        if len(irregular) == 1:
            return (Paradigm(past=irregular[0], participles=(irregular[0],)),)
        if verb not in self._verbs and not is_stress_known(verb):
            return ()
        pasts = spell_past(verb, self._stems(verb))
        return tuple(Paradigm(past=past, participles=(past,)) for past in pasts)

    def _split(self, verb: str) -> tuple[str, str] | None:
        """Return prefix and verb of what WordNet does not have, but a known verb is part of."""
        if verb in self._verbs or self._listed.get(verb):
            return None
        for prefix in _PREFIXES:
            for start in (f"{prefix}-", prefix):
                base = verb.removeprefix(start)
                if base != verb and base in self._verbs:
                    return start, base
        return None


def _is_irregular(form: str, verb: str) -> bool:
    """Tell whether a listed form is a past or participle that no rule of spelling makes."""
    if form.endswith(("ing", "s")) or form in _RESPELT:
        return False
    return not (form.endswith("ed") and len(form) > len(verb))
