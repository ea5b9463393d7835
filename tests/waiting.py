"""Waiting for something to happen in another process, without a clock."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from typing import Any


def wait_until(holds: Callable[[], object], process: subprocess.Popen[Any]) -> None:
    """Wait until something holds that a process brings about.

    There is no limit on the time: a slow machine is no defect. A process that ends before it has
    brought it about is one, and fails the test with what the process said last.
    """
    while True:
        alive = process.poll() is None
        if holds():
            return
        if not alive:
            raise AssertionError(f"the process ended too early: {process.communicate()}")
        time.sleep(0.005)
