"""Things by name: built-in ones, those of other packages, and those of the user's own modules.

One mechanism serves transformations, models and readers of logs. Whatever a name leads to is
imported when it is asked for, and checked before anything of it is called.

A name that a person typed, on the command line or in Python, may lead to any module. A name in a
file leads to what is built in or installed as an entry point: an import runs the module, so a file
that somebody else wrote must not choose it. Whoever reads names from a file says so by
:func:`reading_names`.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import importlib
import inspect
import operator
import re
import sys
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from ietest_fast.errors import InputError, ResourceError, shorten_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from importlib.metadata import EntryPoint

    from pydantic import ValidationError

T = TypeVar("T")


_OWN_CODE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*(?![\w.]*\s*=)")


@dataclass(frozen=True, kw_only=True)
class FileNames:
    """Names that stand in a file: none of them leads to code of one's own, or to a download."""

    path: str
    """The file, for messages."""
    typed: frozenset[str] = frozenset()
    """What a person has typed beside it, and the names of code in that: the file may say the
    same."""

    @classmethod
    def of(cls, path: object, typed: object = None) -> FileNames:
        """Take all strings in nested values for typed ones."""
        strings = frozenset(_strings(typed))
        code = {name for text in strings for name in _OWN_CODE.findall(text)}
        return cls(path=str(path), typed=strings | code)


_reading: ContextVar[FileNames | None] = ContextVar("ietest_fast_file_names", default=None)


@contextlib.contextmanager
def reading_names(names: FileNames | None) -> Iterator[None]:
    """Take names for those of a file while the block runs; None: a person's."""
    before = _reading.set(names)
    try:
        yield
    finally:
        _reading.reset(before)


def names_at_hand() -> FileNames | None:
    """Return the file whose names are being read, for what asks for them later; None: a person."""
    return _reading.get()


def must_be_here(name: str) -> FileNames | None:
    """Return the file that names something without a person: it must be here, not fetched."""
    names = _reading.get()
    return None if names is None or name in names.typed else names


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _strings(each)


@dataclass(frozen=True, kw_only=True)
class Registry(Generic[T]):
    """Names, and what they stand for."""

    group: str
    """Entry-point group by which other packages add names, such as ``"ietest_fast.models"``."""
    builtin: Mapping[str, str]
    """Name -> ``"package.module:attribute"``."""
    noun: str
    """What is registered, in one word, for messages: ``"model"``."""
    check: Callable[[object], str | None]
    """Is given what a name leads to and returns what is wrong with it, to follow "'NAME' is ", or
    None if it is of the right kind. It must not call what it is given. :func:`lacks_methods` makes
    such a function for classes."""

    def names(self) -> tuple[str, ...]:
        """Return the built-in names, followed by those of other packages in alphabetical order."""
        return (*self.builtin, *sorted(set(self._foreign()) - set(self.builtin)))

    def origin(self, name: str) -> str | None:
        """Return the package that adds a name, ``"name version"``; None for other names."""
        if name in self.builtin:
            return None
        points = self._foreign().get(name, [])
        return _package(points[0]) if points else None

    def find(self, name: str) -> T:
        """Import what a name stands for."""
        found = self._import(name, self._locate(name))
        problem = self.check(found)
        if problem is not None:
            raise InputError(f"{name!r} is {problem}")
        return cast("T", found)

    def _foreign(self) -> dict[str, list[EntryPoint]]:
        found: dict[str, list[EntryPoint]] = {}
        for point in _entry_points(self.group, tuple(map(_stamp, sys.path))):
            # The same package twice on the path (a source tree and its installation) is one.
            same = [other.value for other in found.get(point.name, [])]
            if point.value not in same:
                found.setdefault(point.name, []).append(point)
        return found

    def _locate(self, name: str) -> str:
        if name in self.builtin:
            return self.builtin[name]
        points = self._foreign().get(name, [])
        if len(points) > 1:
            packages = ", ".join(sorted(_package(point) for point in points))
            raise InputError(
                f"several packages have a {self.noun} called {name!r}: {packages}; write "
                f'"package.module:attribute" instead of its name'
            )
        if points:
            return points[0].value
        if ":" in name:
            file = must_be_here(name)
            if file is not None:
                raise InputError(
                    f"{name!r} is code outside of this program, and none is imported because a "
                    f"file ({file.path}) names it; give the {self.noun} on the command line as "
                    "well, or pass --allow-code (in Python allow_code=True) if you trust the file"
                )
            return name
        known = self.names()
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
        hint = f"did you mean {' or '.join(map(repr, near))}? There are" if near else "there are"
        raise InputError(
            f"no {self.noun} is called {name!r}; {hint} {', '.join(known)}, "
            f'or "package.module:attribute" for a {self.noun} of your own'
        )

    def _import(self, name: str, target: str) -> object:
        module_name, _, attribute = target.partition(":")
        if not all(
            part.isidentifier() for part in (*module_name.split("."), *attribute.split("."))
        ):
            raise InputError(
                f"{target!r} does not name a {self.noun}; write it as "
                '"package.module:attribute", such as "my_package.my_module:MyClass"'
            )
        wording = f"the {self.noun} {name!r} cannot be imported"
        try:
            found: object = operator.attrgetter(attribute)(importlib.import_module(module_name))
        except ModuleNotFoundError as error:
            own = error.name is None or f"{module_name}.".startswith(f"{error.name}.")
            if own:
                raise InputError(
                    f"{wording}: {error} (if it is in the current folder, which is not on the "
                    "path of the command, set PYTHONPATH=.)"
                ) from error
            raise ResourceError(f"{wording}: it needs {error.name}, which is not installed") from (
                error
            )
        except AttributeError as error:
            raise InputError(f"{wording}: {shorten_error(error)}") from error
        # A module of the user's own may do anything when it is imported, and even exit.
        except (Exception, SystemExit) as error:
            problem = f"{type(error).__name__}: {shorten_error(error)}"
            raise InputError(f"{wording}: {problem}") from error
        return found


def lacks_methods(what: str, *methods: str, see: str) -> Callable[[object], str | None]:
    """Make the check that something is a class with certain methods."""

    def check(found: object) -> str | None:
        if not inspect.isclass(found):
            return f"no class of {what}, but a {type(found).__name__}; see {see}"
        missing = [name for name in methods if not callable(getattr(found, name, None))]
        if missing:
            return f"no class of {what}: it lacks {', '.join(missing)}; see {see}"
        return None

    return check


def check_options(
    called: str, factory: Callable[..., object], options: Mapping[str, object]
) -> None:
    """Compare options with the parameters of what is called with them."""
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):
        return  # written in C: the call itself will tell
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return
    takes = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    known = [parameter.name for parameter in parameters if parameter.kind in takes]
    unknown = [option for option in options if option not in known]
    if unknown:
        raise InputError(
            f"{called} has no option {', '.join(map(repr, unknown))}; "
            + (f"it has {', '.join(known)}" if known else "it has none")
        )


def list_problems(error: ValidationError) -> list[str]:
    """Word the mistakes that a pydantic model found, each with its key.

    A validator's own message that begins with a dot or a colon goes on with the key; each of its
    lines is a mistake by itself.
    """
    found = error.errors()
    # A list is too short for what is wrong in it, which is said already.
    within = {item["loc"][:-1] for item in found}
    told = [item for item in found if item["type"] != "too_short" or item["loc"] not in within]
    problems = [line for item in told for line in _word(item)]
    return list(dict.fromkeys(problems))


def _word(item: Any) -> list[str]:
    key = ".".join(str(part) for part in item["loc"]) or "configuration"
    message = {
        "missing": "is missing",
        "extra_forbidden": "no such key",
        "path_type": "must be the name of a file",
    }.get(item["type"], item["msg"].removeprefix("Value error, "))
    if message.startswith((".", ":")):
        return [f"{key}{line}" for line in message.splitlines()]
    # Our own messages name the value where that helps; pydantic's leave it out.
    own = item["type"] in {"missing", "extra_forbidden", "value_error"}
    if not own and isinstance(item["input"], bool | int | float | str):
        message += f", not {_shorten(item['input'])}"
    return [f"{key}: {message[:1].lower()}{message[1:]}"]


def _shorten(value: float | str) -> str:
    # Python refuses to write out integers of thousands of digits.
    if isinstance(value, int) and value.bit_length() > 64:
        return f"an integer of {value.bit_length()} bits"
    words = repr(value)
    return words if len(words) <= 60 else f"{words[:60]}..."


def _stamp(folder: str) -> tuple[str, int]:
    """Return a folder that is searched for packages, and when one was last added or removed."""
    try:
        return folder, Path(folder).stat().st_mtime_ns
    except OSError:
        return folder, -1


@functools.lru_cache(maxsize=32)
def _entry_points(group: str, _searched: tuple[tuple[str, int], ...]) -> tuple[EntryPoint, ...]:
    """Look through the metadata of all packages, which takes tens of milliseconds, once."""
    from importlib.metadata import entry_points

    return tuple(entry_points(group=group))


def _package(point: EntryPoint) -> str:
    if point.dist is None:
        return point.module
    return f"{point.dist.name} {point.dist.version}"
