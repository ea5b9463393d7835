"""A transformer whose training is interrupted in its midst, whatever the machine's speed."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ietest_fast.models.transformer import Transformer

if TYPE_CHECKING:
    from collections.abc import Callable

RUN = "IETEST_INTERRUPTED_RUN"  # the process of the run
MARKER = "IETEST_INTERRUPTED_MARKER"  # a file that is made by whoever interrupts it

_STEPS = 5


class InterruptedTransformer(Transformer):
    """Sends SIGINT to the run after some steps, and takes no other before it is told to stop.

    The environment names the process of the run; if it names none, this is a transformer.
    """

    name = "interrupted"

    def fit(self, *args: Any, is_interrupted: Callable[[], bool], **kwargs: Any) -> Any:
        if RUN in os.environ:
            is_interrupted = _interrupted_after(_STEPS, is_interrupted)
        return super().fit(*args, is_interrupted=is_interrupted, **kwargs)


def _interrupted_after(n_steps: int, is_told: Callable[[], bool]) -> Callable[[], bool]:
    n_asked = 0

    def is_interrupted() -> bool:
        nonlocal n_asked
        n_asked += 1
        if n_asked > n_steps:
            # Two workers may be here at once, and a second signal would be another one.
            with contextlib.suppress(FileExistsError):
                Path(os.environ[MARKER]).touch(exist_ok=False)
                os.kill(int(os.environ[RUN]), signal.SIGINT)
            while not is_told():
                time.sleep(0.01)
        return is_told()

    return is_interrupted
