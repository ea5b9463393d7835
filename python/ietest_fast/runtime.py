"""What the package runs on: the compiled core, the cores of the machine."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

__all__ = ["build_config", "core", "load_core", "n_cores"]

if TYPE_CHECKING:
    from types import ModuleType

    # What `from ietest_fast.runtime import core` gives at run time, by __getattr__ below.
    from ietest_fast import _core as core


def load_core() -> ModuleType:
    """Import the compiled extension, or say how to build it.

    Raises
    ------
    MissingExtensionError
        If the extension was not built for this interpreter. There is no slow fallback.
    """
    from ietest_fast.errors import MissingExtensionError

    try:
        from ietest_fast import _core

        _core.runtime  # noqa: B018 - a folder of stubs alone imports as an empty namespace
    except (ImportError, AttributeError) as error:
        raise MissingExtensionError(
            "the compiled core of ietest-fast is not available for this Python; build it with "
            "`pip install .` in the source folder (a C++20 compiler is needed)"
        ) from error
    return _core


def build_config() -> dict[str, str | bool | int | None]:
    """Facts about this build, for bug reports.

    Returns
    -------
    dict
        ``version``, ``compiler``, ``build_type``, ``sanitizer``, ``openmp`` and ``n_threads``
        (the number of threads used by default).
    """
    core = load_core()
    return {**core.runtime.build_config(), "n_threads": core.runtime.n_threads_for(0)}


def n_cores() -> int:
    """Count the cores that this process may use, which may be fewer than the machine has."""
    if sys.version_info >= (3, 13):
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):  # not on every system
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def __getattr__(name: str) -> Any:
    if name == "core":
        return load_core()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
