"""What the package runs on: the compiled core, the cores of the machine."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

__all__ = [
    "available_memory",
    "build_config",
    "claim_process",
    "core",
    "helper_command",
    "hide_module",
    "is_own_process",
    "load_core",
    "module_folders",
    "n_cores",
]

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    # What `from ietest_fast.runtime import core` gives at run time, by __getattr__ below.
    from ietest_fast import _core as core


def load_core() -> ModuleType:
    """Import the compiled extension, or say how to build it."""
    from ietest_fast.errors import InputError, MissingExtensionError

    try:
        from ietest_fast import _core

        _core.runtime  # noqa: B018 - a folder of stubs alone imports as an empty namespace
    except (ImportError, AttributeError) as error:
        raise MissingExtensionError(
            "the compiled core of ietest-fast is not available for this Python; build it with "
            "`pip install .` in the source folder (a C++20 compiler is needed)"
        ) from error
    try:
        _core.runtime.chosen_instruction_set()
    except ValueError as error:
        raise InputError(str(error)) from None
    return _core


def build_config() -> dict[str, str | bool | int | None]:
    """Facts about this build, for bug reports.

    Returns
    -------
    dict
        ``version``, ``compiler``, ``build_type``, ``sanitizer``, ``openmp``, ``unicode``
        (version of the table of word boundaries), ``instruction_set``
        (what the kernels use: the best that the processor has, or what the environment variable
        ``IETEST_CPU`` says) and ``n_threads`` (the number of threads used by default).
    """
    core = load_core()
    return {**core.runtime.build_config(), "n_threads": core.runtime.n_threads_for(0)}


_claimed: list[int] = []


def claim_process() -> None:
    """Say that this process is the command or one of its helpers: no other code will run in it."""
    _claimed.append(os.getpid())


def is_own_process() -> bool:
    """Tell whether nothing but this package will use the libraries that this process loads."""
    return os.getpid() in _claimed


def helper_command(*arguments: str) -> list[str]:
    """Return the command that starts this interpreter as a helping process.

    ``-P`` keeps the current folder, and that of a script, out of the helper's module search path:
    a file there that is called like a module of the standard library would be executed.
    """
    return [sys.executable, "-P", *arguments]


def module_folders() -> list[str]:
    """Return this process's module search path, absolute, for a helper to append to its own."""
    return [os.path.abspath(folder) for folder in sys.path]  # noqa: PTH100 - pathlib costs 2 ms


@contextmanager
def hide_module(name: str) -> Iterator[None]:
    """Let imports of a module fail, as if it were not installed; in all threads of the process."""
    missing = object()
    before: Any = sys.modules.get(name, missing)
    sys.modules[name] = None  # type: ignore[assignment]  # what imports take for "not there"
    try:
        yield
    finally:
        if before is missing:
            del sys.modules[name]
        else:
            sys.modules[name] = before


def n_cores() -> int:
    """Count the cores that this process may use, which may be fewer than the machine has."""
    if sys.version_info >= (3, 13):
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):  # not on every system
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def available_memory() -> int | None:
    """Estimate how many bytes this process can still take; None where the system does not say.

    What the system could free is counted, and what a container allows is respected.
    """
    known = [_available_in_system(), _available_in_group()]
    return min((n for n in known if n is not None), default=None)


def _available_in_system() -> int | None:
    with suppress(OSError, ValueError):
        for line in _read_lines("/proc/meminfo"):
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return None


def _available_in_group(folder: str | os.PathLike[str] = "/sys/fs/cgroup") -> int | None:
    """Give what is left of a control group's limit, if there is one (version 2)."""
    with suppress(OSError, ValueError):
        limit, used = (
            int(_read_lines(f"{os.fspath(folder)}/memory.{name}")[0]) for name in ("max", "current")
        )
        stat = _read_lines(f"{os.fspath(folder)}/memory.stat")
        cached = sum(int(line.split()[1]) for line in stat if line.startswith("inactive_file "))
        return max(0, limit - used + cached)
    return None


def _read_lines(path: str) -> list[str]:
    with open(path, encoding="ascii") as file:  # noqa: PTH123 - pathlib costs 2 ms at every start
        return file.read().splitlines()


def __getattr__(name: str) -> Any:
    if name == "core":
        return load_core()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
