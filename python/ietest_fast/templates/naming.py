"""Names of people and places."""

from __future__ import annotations

import functools
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import pyarrow as pa

from ietest_fast.errors import InputError
from ietest_fast.escapes import escape
from ietest_fast.files import read_toml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NAMES = Path(__file__).parent / "names"

Split = Literal["train", "valid", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)

_KINDS = ("women", "men", "places")

# Small or capital, these look like Latin letters; no two of a script like the same one, so texts in
# one script are not confused.
_ALIKE = str.maketrans(
    # Cyrillic, then Greek.
    "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443"
    "\u0445\u0456\u0458\u0455\u0501\u04bb\u051b\u051d"
    "\u03b1\u03b2\u03b5\u03b6\u03b7\u03b9\u03ba\u03bc\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7",
    "abekmhopctyxijsdhqw" + "abezhikmnoptyx",
)

MOST_NAMES = 100_000
"""Of a split; the packaged ones have some hundreds."""

MOST_CHARACTERS = 100
"""Of a name."""


@dataclass(frozen=True)
class Names:
    """Names that entities get."""

    women: tuple[str, ...]
    men: tuple[str, ...]
    """Names of people, all different."""
    places: tuple[str, ...]
    """Names of places, all different, none of which is a person's name."""

    def __post_init__(self) -> None:
        n_names = len(self.women) + len(self.men) + len(self.places)
        if n_names > MOST_NAMES:
            raise InputError(
                f"there are {n_names:,} names, at most {MOST_NAMES:,} expected; remove the others"
            )
        seen: dict[str, str] = {}
        found: set[str] = set()
        for name in (*self.women, *self.men, *self.places):
            _check_name(name)
            other = seen.setdefault(fold_name(name), name)
            if other != name:
                raise InputError(
                    f"the names {other!r} and {name!a} look alike, so that nobody could tell "
                    "two entities apart; remove one of them"
                )
            if name in found:
                raise InputError(
                    f"the name {name!r} stands there twice, so two entities could have it; "
                    "remove one of them"
                )
            found.add(name)

    @property
    def people(self) -> pa.Array:
        """The names of people, women first, as large strings."""
        return pa.array([*self.women, *self.men], pa.large_string())


@functools.lru_cache(maxsize=1 << 15)
def fold_name(name: str) -> str:
    """Return what two texts have in common that readers cannot tell apart.

    Capitals, kinds of blanks, signs that show nothing, such as U+200B, and letters of other scripts
    that look like Latin ones make no difference.
    """
    folded = unicodedata.normalize("NFKC", name).casefold().translate(_ALIKE)
    shown = "".join(each for each in folded if unicodedata.category(each) != "Cf")
    return " ".join(unicodedata.normalize("NFKC", shown).split())


def _check_name(name: str) -> None:
    if len(name) > MOST_CHARACTERS:
        raise InputError(
            f"the name {name[:20]!r}... has {len(name):,} characters, at most {MOST_CHARACTERS} "
            "expected; shorten it"
        )
    if not fold_name(name):
        raise InputError("a name is empty; remove it")
    if name != name.strip():
        raise InputError(f"the name {name!r} has blanks at its ends; remove them")
    # These stand between sentences, between names, and in the place of words.
    if escape(name) != name and len(name.splitlines()) < 2:
        raise InputError(
            f"the name {escape(name)} has a sign that nobody sees, or that turns others; remove it"
        )
    found = re.search(r"[\r\n,;{}\[\]]|\.\s|\.$", name)
    if found is not None or len(name.splitlines()) > 1:
        mark = "a line break" if found is None else repr(found.group())
        raise InputError(f"the name {name!r} has {mark}, which means something else; remove it")


def check_disjoint(names: Sequence[tuple[str, Names]]) -> None:
    """Check that no name stands in two splits."""
    owner: dict[str, str] = {}
    for split, own in names:
        for name in (*own.women, *own.men, *own.places):
            first = owner.setdefault(fold_name(name), split)
            if first != split:
                raise InputError(
                    f"the name {name!r} stands in the splits {first!r} and {split!r}; "
                    "remove it from one of them"
                )


def read_names(path: str | Path) -> dict[str, Names]:
    """Read a file of names: a TOML table for each split, with ``women``, ``men`` and ``places``."""
    content = read_toml(path)
    try:
        found = {split: _names_of(split, own) for split, own in content.items()}
        if not found:
            raise InputError("there is no split; write a table such as [train]")
        check_disjoint(tuple(found.items()))
    except InputError as error:
        raise InputError(str(error), path=path) from error
    return found


def _names_of(split: str, content: object) -> Names:
    if split in _KINDS:
        raise InputError(f"the list {split!r} must stand in the table of a split, such as [train]")
    expected = f"[{split}] must have the lists {', '.join(_KINDS)}, and nothing else"
    if not isinstance(content, dict) or set(content) != set(_KINDS):
        raise InputError(expected)
    return Names(**{kind: _texts(content, kind, split) for kind in _KINDS})


def _texts(content: Mapping[str, object], kind: str, split: str) -> tuple[str, ...]:
    texts = content[kind]
    if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
        raise InputError(f"{kind} in [{split}] must be a list of texts")
    return tuple(texts)


@functools.cache
def load_names(code: str, split: Split) -> Names:
    """Return the names that the package has for a language and a split."""
    known = sorted(path.stem for path in NAMES.glob("*.toml"))
    if code not in known:
        raise InputError(
            f"there are no names for the language {code!r}; pass a file of names (--names FILE)"
        )
    found = read_names(NAMES / f"{code}.toml")
    if split not in found:
        raise InputError(f"there is no split {split!r}; there are {', '.join(found)}")
    return found[split]
