"""Principal parts of English verbs that WordNet's exception list does not tell apart.

The list gives the forms of a verb (took and taken lead to *take*), not which of them is the past
and which the participle, nor verbs whose past is the base (*put*), nor which of two forms is in
use (*worked*, *wrought*).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass


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
