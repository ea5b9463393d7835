"""The command line; see ``ietest_fast.cli.main``."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType


def start() -> None:
    """Run the command line; the command ``ietest-fast`` begins here.

    Ctrl-C while packages are imported ends the process at once: nothing has been begun, and an
    import that is broken off fails in many ways.
    """
    is_heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_heeded:
        signal.signal(signal.SIGINT, _leave)
    from ietest_fast.cli.main import main

    if is_heeded:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    main()


def _leave(_number: int, _frame: FrameType | None) -> None:
    try:
        os.write(2, b"Interrupted.\n")
    finally:
        os._exit(130)
