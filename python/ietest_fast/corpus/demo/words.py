"""What the demonstration corpus speaks of: people, animals, places, things and actions.

Every slot of a scene takes its value from a :class:`Taxonomy`, in which a value entails those
above it and excludes those beside it. That is what makes labels true by construction, so a word
belongs here only if it is no kind of, no part of and no other word for one beside it: "river" and
"park" do not stand side by side, since one can be in a park by a river; "rabbit" and "hare" do.

Most nouns have a synonym in WordNet 3.0 (their first noun synset has another single word), which
is what the demonstration of synonym substitution needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

ABSENT = 0
"""The value of a slot of which a sentence says nothing, in every taxonomy."""


@dataclass(frozen=True, kw_only=True)
class Value:
    """One value of a slot."""

    name: str
    """Unique in its taxonomy."""
    forms: dict[str, str]
    """What is said, by form: a noun's ``one`` and ``many``, a verb's ``base``, ``third``, ``ing``
    and ``past`` (participle), anything else's ``text``."""
    parent: int = ABSENT
    """Index of the value that this one is a kind of; 0 for none."""
    aspect: str = ""
    """Values without a common parent exclude each other if their aspect is the same ("young",
    "old"), and have nothing to do with each other if not ("young", "tall")."""
    parts: frozenset[str] = frozenset()
    """Which domains draw it."""


@dataclass(frozen=True, kw_only=True)
class Taxonomy:
    """The values of a slot; number 0 is no value."""

    values: tuple[Value, ...]
    """A parent stands before its children."""
    open_parents: frozenset[str] = frozenset()
    """Names of values whose children do not exclude each other."""

    def ancestors(self, value: int) -> tuple[int, ...]:
        """List the values that a value is a kind of, nearest first, without 0."""
        line: list[int] = []
        while (value := self.values[value].parent) != ABSENT:
            line.append(value)
        return tuple(line)

    def relation(self, premise: int, hypothesis: int) -> str:
        """Tell what a value in the premise says of one in the hypothesis."""
        above = (premise, *self.ancestors(premise))
        if hypothesis == ABSENT or hypothesis in above:
            return "entailment"
        line = (hypothesis, *self.ancestors(hypothesis))
        if premise == ABSENT or premise in line:
            return "neutral"
        common = next((value for value in above if value in line), ABSENT)
        if common == ABSENT:
            excluded = self.values[above[-1]].aspect == self.values[line[-1]].aspect
        else:
            excluded = self.values[common].name not in self.open_parents
        return "contradiction" if excluded else "neutral"


class _Builder:
    def __init__(self) -> None:
        self.values = [Value(name="", forms={"text": ""})]

    def add(
        self,
        name: str,
        forms: dict[str, str],
        *,
        parent: str | None = None,
        aspect: str = "",
        parts: str = "",
    ) -> None:
        index = 0
        if parent is not None:
            index = next(i for i, value in enumerate(self.values) if value.name == parent)
        self.values.append(
            Value(
                name=name,
                forms=forms,
                parent=index,
                aspect=aspect,
                parts=frozenset(parts.split()),
            )
        )

    def build(self, *open_parents: str) -> Taxonomy:
        return Taxonomy(values=tuple(self.values), open_parents=frozenset(open_parents))


_IRREGULAR = {
    "person": "people",
    "child": "children",
    "sheep": "sheep",
    "moose": "moose",
    "reindeer": "reindeer",
    "goose": "geese",
    "scarf": "scarves",
    "mouse": "mice",
    "piece of furniture": "pieces of furniture",
    "piece of clothing": "pieces of clothing",
}


def plural(noun: str) -> str:
    """Form the plural of a noun of this module."""
    if noun in _IRREGULAR:
        return _IRREGULAR[noun]
    if noun.endswith("man"):
        return noun[:-2] + "en"
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


# ---- who ------------------------------------------------------------------------------------

_MUSICIANS = "violinist trumpeter cellist harpist flutist saxophonist bagpiper pianist drummer"
_ATHLETES = "boxer wrestler cyclist golfer surfer archer goalkeeper bodybuilder gymnast skier"
_ROLES = (
    "doctor farmer lawyer teacher cowboy clown policeman courier sailor waiter fisherman magician "
    "gardener hunter actor firefighter mechanic butcher diplomat engineer mailman tailor "
    "miner reporter photographer astronaut lumberjack lifeguard bartender monk librarian "
    "comedian electrician cobbler pharmacist accountant architect sculptor potter "
    "hairdresser undertaker seamstress referee judge cashier dietitian stonemason innkeeper "
    "translator explorer theologian "
    "botanist astronomer peddler butler jeweler playwright hypnotist glazier "
    "bellboy gondolier herdsman archaeologist historian optometrist soldier carpenter nurse "
    "plumber baker dentist barber roofer"
)
_BIRDS = "rooster owl seagull parakeet woodpecker robin lark duck penguin crow"
_INSECTS = "grasshopper ladybug bumblebee cockroach ant butterfly"
_BEASTS = (
    "dog horse rabbit kitten pig cow monkey goat sheep turtle frog giraffe elephant "
    "cheetah jaguar chimpanzee moose reindeer hippopotamus rhinoceros opossum porcupine walrus "
    "lion bear tiger cougar wildebeest anteater"
)
_FARM = {"dog", "horse", "rabbit", "kitten", "pig", "cow", "goat", "sheep", "turtle", "rooster"}


def _noun(noun: str) -> dict[str, str]:
    return {"one": noun, "many": plural(noun)}


@cache
def agents() -> Taxonomy:
    """Give the taxonomy of who does something."""
    make = _Builder()
    make.add("anyone", _noun("person"), aspect="plain", parts="plain")
    make.add("adult", _noun("adult"), parent="anyone", parts="plain")
    make.add("child", _noun("child"), parent="anyone", parts="plain")
    make.add("man", _noun("man"), parent="adult", parts="plain")
    make.add("woman", _noun("woman"), parent="adult", parts="plain")
    make.add("girl", _noun("girl"), parent="child", parts="plain")
    make.add("boy", _noun("boy"), parent="child", parts="plain")
    make.add("somebody", _noun("person"), aspect="role", parts="role")
    for family, members in (("musician", _MUSICIANS), ("athlete", _ATHLETES)):
        make.add(family, _noun(family), parent="somebody", parts="role")
        for member in members.split():
            make.add(member, _noun(member), parent=family, parts="role")
    for role in _ROLES.split():
        make.add(role, _noun(role), parent="somebody", parts="role")
    _add_animals(make)
    return make.build()


def _add_animals(make: _Builder) -> None:
    make.add("animal", _noun("animal"), aspect="animal", parts="animal farm")
    for beast in _BEASTS.split():
        parts = "animal farm" if beast in _FARM else "animal"
        make.add(beast, _noun(beast), parent="animal", parts=parts)
    for family, members in (("bird", _BIRDS), ("insect", _INSECTS)):
        make.add(family, _noun(family), parent="animal", parts="animal")
        for member in members.split():
            parts = "animal farm" if member in _FARM else "animal"
            make.add(member, _noun(member), parent=family, parts=parts)


@cache
def numbers() -> Taxonomy:
    """Give the taxonomy of how many."""
    make = _Builder()
    make.add("one", {"text": ""})
    make.add("some", {"text": "some "})
    for number in ("two", "three", "four"):
        make.add(number, {"text": number + " "}, parent="some")
    return make.build()


@cache
def agent_traits() -> Taxonomy:
    """Give the taxonomy of what somebody is like."""
    make = _Builder()
    for aspect, words, parts in (
        ("age", "young old", "grown animal"),
        ("height", "tall short", "grown small"),
        ("mood", "happy sad angry", "grown small"),
        ("size", "big small", "animal"),
        ("coat", "black white brown gray", "animal"),
        ("state", "wet dry", "animal"),
    ):
        for word in words.split():
            make.add(word, {"text": word + " "}, aspect=aspect, parts=parts)
    return make.build()


_COLORS = "red blue green yellow black white"


@cache
def outfits() -> Taxonomy:
    """Give the taxonomy of what somebody wears."""
    make = _Builder()
    for garment in ("hat", "shirt", "sweater", "coat", "vest", "scarf"):
        forms = {"one": f" in a {garment}", "many": f" in {plural(garment)}"}
        make.add(garment, forms, aspect=garment, parts="people")
        for color in _COLORS.split():
            colored = {
                "one": f" in a {color} {garment}",
                "many": forms["many"].replace(" in ", f" in {color} "),
            }
            make.add(f"{color} {garment}", colored, parent=garment, parts="people")
    return make.build()


# ---- what is done ---------------------------------------------------------------------------

_CONSONANT_DOUBLED = {"run", "skip", "pet", "drop"}


def _verb(base: str, past: str = "") -> dict[str, str]:
    """Conjugate a verb; what follows its first word follows every form."""
    word, _, rest = base.partition(" ")
    rest = f" {rest}" if rest else ""
    third = word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")
    if word.endswith("y") and word[-2] not in "aeiou":
        third = word[:-1] + "ies"
    if word in _CONSONANT_DOUBLED:
        ing = word + word[-1] + "ing"
    elif word.endswith("e"):
        ing = word[:-1] + "ing"
    else:
        ing = word + "ing"
    if not past:
        past = word + "d" if word.endswith("e") else word + "ed"
        if word in _CONSONANT_DOUBLED:
            past = word + word[-1] + "ed"
        elif word.endswith("y") and word[-2] not in "aeiou":
            past = word[:-1] + "ied"
    return {"base": word + rest, "third": third + rest, "ing": ing + rest, "past": past + rest}


# Where an activity takes place (a sight or a room is a place itself), and its verbs, none of which
# one does while doing another.
_ACTIVITIES = {
    "food": ("anywhere", "eat:eaten buy:bought sell:sold cook: slice:"),
    "drink": ("anywhere", "drink:drunk pour: order: spill:spilled buy:bought"),
    "instrument": ("anywhere", "play: repair: sell:sold paint: carry:"),
    "vehicle": ("outside", "drive:driven wash: repair: paint: push:"),
    "garment": ("inside", "wear:worn wash: fold: iron: sew:sewn"),
    "furniture": ("inside", "paint: clean: push: lift: sell:sold"),
    "container": ("anywhere", "carry: open: paint: drop: fill: hide:hidden"),
    "text": ("anywhere", "read:read write:written sell:sold print: burn:"),
    "pet": ("yard", "feed:fed wash: chase: photograph: pet:petted"),
    "sight": ("", "draw:drawn photograph: describe:"),
    "flower": ("outside", "water: pick: plant: photograph:"),
    "tool": ("anywhere", "use: buy:bought clean: drop: carry:"),
    "appliance": ("inside", "repair: clean: paint: sell:sold push:"),
    "weapon": ("anywhere", "polish: carry: steal:stolen bury: sell:sold"),
    "room": ("", "clean: paint: decorate: photograph: enter:"),
}
PLACES_OF = {activity: place for activity, (place, _) in _ACTIVITIES.items()}
"""Where an activity that has an object takes place."""

MOTION = "motion"
"""The activity that has none."""

FRAMES = (MOTION, *_ACTIVITIES)


@cache
def actions() -> Taxonomy:
    """Give the taxonomy of what is done."""
    make = _Builder()
    make.add("moving", _verb("move"), aspect=MOTION, parts="motion-people motion-animal")
    make.add("resting", _verb("rest"), aspect=MOTION, parts="motion-people motion-animal")
    for verb in ("run", "walk", "jump", "crawl"):
        make.add(verb, _verb(verb), parent="moving", parts="motion-people motion-animal")
    for verb in ("dance", "march", "skip"):
        make.add(verb, _verb(verb), parent="moving", parts="motion-people")
    make.add(
        "sleep", _verb("sleep", "slept"), parent="resting", parts="motion-people motion-animal"
    )
    make.add("kneel", _verb("kneel", "knelt"), parent="resting", parts="motion-people")
    make.add("stand still", _verb("stand still"), parent="resting", parts="motion-animal")
    for activity, (_, verbs) in _ACTIVITIES.items():
        busy = {"base": "are busy with", "third": "is busy with", "ing": "busy with", "past": ""}
        make.add(f"busy {activity}", busy, aspect=activity, parts=activity)
        for pair in verbs.split():
            base, _, past = pair.partition(":")
            make.add(
                f"{base} {activity}", _verb(base, past), parent=f"busy {activity}", parts=activity
            )
    return make.build()


@cache
def voices() -> Taxonomy:
    """Give the taxonomy of what is done besides, with the voice."""
    make = _Builder()
    for verb in ("sing", "laugh", "whistle", "shout", "whisper", "cry"):
        make.add(verb, _verb(verb), parts="people")
    return make.build()


# ---- with what ------------------------------------------------------------------------------

_OBJECTS: dict[str, tuple[str | None, str, dict[str, str]]] = {
    # activity: what all are, those that are nothing closer, and families of others
    "food": (
        None,
        (
            "hamburger pancake bagel cookie omelet doughnut muffin pizza dumpling lollipop "
            "cake sausage taco pie"
        ),
        {
            "fruit": "banana apple papaya avocado cantaloupe pear melon orange",
            "vegetable": "carrot cabbage potato eggplant zucchini onion turnip leek",
        },
    ),
    "drink": (
        "drink",
        "*coffee *tea *milk *cocoa *lemonade *juice",
        {"alcoholic drink": "*wine *whiskey *beer *cider"},
    ),
    "instrument": (
        "instrument",
        (
            "piano guitar violin trumpet drum cello saxophone harmonica xylophone tuba oboe "
            "harpsichord flute accordion banjo kettledrum zither gong"
        ),
        {},
    ),
    "vehicle": (
        "vehicle",
        "truck bus motorcycle bulldozer wagon streetcar steamroller",
        {"car": "taxi jeep limousine"},
    ),
    "garment": (
        "piece of clothing",
        "sweater dress vest necktie shirt skirt glove nightgown apron swimsuit tuxedo petticoat",
        {"coat": "overcoat raincoat parka"},
    ),
    "furniture": (
        "piece of furniture",
        "couch chair table dresser bench crib cupboard desk bookcase stool",
        {},
    ),
    "container": (
        "container",
        "basket bucket suitcase bottle box jar mug kettle backpack handbag wallet barrel",
        {},
    ),
    "text": (
        None,
        (
            "newspaper letter magazine postcard diary dictionary menu poem catalog novel pamphlet "
            "textbook manuscript encyclopedia poster advertisement"
        ),
        {},
    ),
    "pet": ("animal", "dog horse rabbit kitten pig cow goat sheep rooster turtle", {}),
    "sight": (
        None,
        (
            "castle bridge waterfall mountain volcano cottage cliff lighthouse pond statue "
            "windmill stadium steeple canyon fort"
        ),
        {},
    ),
    "flower": ("flower", "rose tulip daisy carnation dandelion buttercup anemone orchid lily", {}),
    "tool": ("tool", "ax shovel screwdriver broom mop pickax crowbar plow", {}),
    "appliance": (
        None,
        "stove refrigerator telephone radio television lamp toaster heater microphone",
        {},
    ),
    "weapon": ("weapon", "sword spear pistol dagger shotgun bow slingshot cannon", {}),
    "room": (
        None,
        (
            "bedroom kitchen bathroom attic hallway cellar classroom stable laboratory elevator "
            "greenhouse office"
        ),
        {},
    ),
}


@cache
def things() -> Taxonomy:
    """Give the taxonomy of what something is done with; a mass noun has no plural."""
    make = _Builder()
    for activity, (top, members, families) in _OBJECTS.items():
        something = f"something {activity}"
        make.add(something, {"one": "something"}, aspect=activity, parts=activity)
        parent = something
        if top is not None:
            parent = f"{top} {activity}"
            make.add(parent, _noun(top), parent=something, parts=activity)
        for group, (family, words) in enumerate((("", members), *families.items())):
            above = parent
            if group > 0:
                above = f"{family} {activity}"
                make.add(above, _noun(family), parent=parent, parts=activity)
            for word in words.split():
                noun = word.removeprefix("*")
                forms = {"one": noun} if word.startswith("*") else _noun(noun)
                make.add(f"{noun} {activity}", forms, parent=above, parts=activity)
    return make.build()


_TRAITS_OF = {
    "color": ("red blue green yellow black white", "vehicle garment furniture container tool"),
    "size": (
        "big small",
        "food instrument vehicle furniture container pet sight tool weapon room flower appliance",
    ),
    "age": ("new old", "instrument vehicle garment furniture text appliance weapon tool"),
    "taste": ("fresh stale", "food"),
    "warmth": ("hot cold", "drink"),
    "care": ("clean dirty", "pet room appliance container"),
    "pattern": ("plain striped", "garment"),
    "price": ("cheap expensive", "drink instrument text weapon"),
    "bloom": ("white yellow pink", "flower"),
    "look": ("famous unknown", "sight"),
}


@cache
def thing_traits() -> Taxonomy:
    """Give the taxonomy of what a thing is like."""
    make = _Builder()
    for aspect, (words, parts) in _TRAITS_OF.items():
        for word in words.split():
            make.add(f"{word} {aspect}", {"text": word + " "}, aspect=aspect, parts=parts)
    return make.build()


# ---- where, when and with whom --------------------------------------------------------------

_INDOORS = (
    "kitchen hospital classroom library restaurant gym bedroom theater office factory museum "
    "airport attic church jail cellar bathroom garage nightclub supermarket laboratory courtroom "
    "dormitory synagogue drugstore bakery hallway elevator greenhouse"
)
_OUTDOORS = (
    "park beach garden forest street mountain desert swamp vineyard cemetery courtyard meadow "
    "sidewalk orchard canyon pier driveway jungle quarry valley"
)
_ON = {"beach", "street", "mountain", "sidewalk", "pier"}
_FOR_ANIMALS = {"garage", "greenhouse"}


@cache
def places() -> Taxonomy:
    """Give the taxonomy of where."""
    make = _Builder()
    make.add("indoors", {"text": " indoors"}, parts="inside anywhere yard")
    make.add("outdoors", {"text": " outdoors"}, parts="outside anywhere yard")
    for place in _INDOORS.split():
        parts = "inside anywhere yard" if place in _FOR_ANIMALS else "inside anywhere"
        make.add(place, {"text": f" in the {place}"}, parent="indoors", parts=parts)
    make.add("barn", {"text": " in the barn"}, parent="indoors", parts="yard")
    for place in _OUTDOORS.split():
        text = f" {'on' if place in _ON else 'in'} the {place}"
        make.add(place, {"text": text}, parent="outdoors", parts="outside anywhere yard")
    return make.build()


@cache
def times() -> Taxonomy:
    """Give the taxonomy of when."""
    make = _Builder()
    for hour in ("in the morning", "in the afternoon", "in the evening", "at night"):
        make.add(hour, {"text": " " + hour}, aspect="hour", parts="all")
    for season in ("winter", "summer", "spring", "autumn"):
        make.add(season, {"text": " in " + season}, aspect="season", parts="all")
    for weather in ("sunny", "rainy", "snowy"):
        text = f" on a {weather} day"
        make.add(weather, {"text": text}, aspect="weather", parts="all")
    return make.build()


@cache
def companies() -> Taxonomy:
    """Give the taxonomy of with whom."""
    make = _Builder()
    make.add("alone", {"text": " alone"}, parts="all")
    make.add("with someone", {"text": " with someone"}, parts="all")
    for other in ("friend", "neighbor", "stranger", "relative", "customer", "tourist"):
        make.add(other, {"text": f" with a {other}"}, parent="with someone", parts="all")
    return make.build("with someone")


TAXONOMIES = {
    "agent": agents,
    "number": numbers,
    "trait": agent_traits,
    "outfit": outfits,
    "action": actions,
    "voice": voices,
    "thing": things,
    "thing_trait": thing_traits,
    "place": places,
    "time": times,
    "company": companies,
}
"""The slots of a scene, in the order in which its words come."""
