"""Progress of commands: bars on a terminal, else a line a minute on standard error.

Every command that may take more than a second shows its stages here::

    with show_progress() as progress:
        tell = progress("Writing pairs", n_rows)
        for n_done in ...:
            tell(n_done)

Nothing goes to standard output. Off a terminal nothing is written in the first half minute, so
short commands stay silent. :func:`watch` says of every command that it is still at work, also where
it has no stages to show.
"""

from __future__ import annotations

import contextlib
import sys
import time
from typing import TYPE_CHECKING, Any, Protocol

from ietest_fast.escapes import escape
from ietest_fast.report.terminal import echo, make_console

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

QUIET_SECONDS = 30.0
"""How long nothing is said, off a terminal."""

SECONDS_BETWEEN = 60.0
"""Between two lines, at least."""

_LOOKS_SECONDS = 2.0


class Tell(Protocol):
    """Says how far a stage is."""

    def __call__(self, done: int, total: int | None = None, /, *, running: int = 0) -> None:
        """Say that so much is done, of how much (None: as before), and how many are at work."""


class Stage:
    """What is done at present."""

    def __init__(self, label: str, total: int | None, now: float) -> None:
        self.label = label
        self.done = self.running = 0
        self.total = total
        self._began = now
        self._n_before: int | None = None  # what an earlier command has left done

    def reach(self, done: int, total: int | None, running: int, now: float) -> None:
        """Note how far it is."""
        if self._n_before is None:
            self._n_before = done if self.total is not None or total is not None else 0
            self._began = now
        self.done, self.running = done, running
        self.total = self.total if total is None else total

    def say(self, now: float) -> str:
        """Return the line: what is done, of how much, how fast, and how long it still takes."""
        said = [self.label]
        if self.total:
            share = min(100 * self.done // self.total, 100)
            said[0] += f": {self.done:,} of {self.total:,} ({share}%)"
        elif self.done:
            said[0] += f": {self.done:,}"
        if self.running:
            said.append(f"{self.running} running")
        seconds = now - self._began
        n_new = self.done - (self._n_before or 0)
        if n_new > 0 and seconds > 0:
            said.append(_say_rate(n_new / seconds))
            if self.total and self.done < self.total:
                said.append(f"{say_time((self.total - self.done) * seconds / n_new)} left")
        else:
            said.append(f"for {say_time(seconds)}")
        return ", ".join(said)


class Progress:
    """The stages of a command; see :func:`show_progress`."""

    def __init__(self, bars: Any = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        from threading import Lock

        self._bars = bars
        self._clock = clock
        self._stage: Stage | None = None
        self._is_silent = False
        self._next = clock() + QUIET_SECONDS
        self._lock = Lock()

    def __call__(self, label: str, total: int | None = None) -> Tell:
        """Begin a stage, and return what says how far it is."""
        stage = self._stage = Stage(label, total, self._clock())
        task = None if self._bars is None else self._bars.add_task(escape(label), total=total)

        def tell(done: int, total: int | None = None, /, *, running: int = 0) -> None:
            stage.reach(done, total, running, self._clock())
            self._stage = stage
            if self._bars is not None:
                self._bars.update(task, completed=done, total=stage.total)
            self.look()

        return tell

    def count(self, label: str) -> Counter:
        """Begin a stage, and return what counts how far it is."""
        return Counter(self(label))

    @contextlib.contextmanager
    def inside(self, *, silently: bool = False) -> Iterator[Progress]:
        """Show other stages for a while, and then the one from before again."""
        before, self._is_silent = self._stage, silently
        try:
            yield self
        finally:
            self._stage, self._is_silent = before, False

    def look(self) -> None:
        """Write a line, if it is time for one."""
        with self._lock:
            now = self._clock()
            if self._stage is None or self._bars is not None or self._is_silent or now < self._next:
                return
            self._next = now + SECONDS_BETWEEN
            line = self._stage.say(now)
        # What is shown beside the work must not end it: nobody may be reading.
        with contextlib.suppress(OSError, ValueError):
            echo(line, err=True)


class Counter:
    """A stage that is told of each part, not of the sum."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._done = 0
        self._total: int | None = None

    def start(self, total: int) -> None:
        """Begin with so many parts; where there are several beginnings, they add up."""
        self._total = total + (self._total or 0)
        self._tell(self._done, self._total)

    def advance(self, n: int) -> None:
        """Say that so many more are done."""
        self._done += n
        self._tell(self._done, self._total)


@contextlib.contextmanager
def show_progress() -> Iterator[Progress]:
    """Give what shows the stages of a command."""
    if not sys.stderr.isatty():
        with _looking(Progress()) if _watching is None else _watching.inside() as progress:
            yield progress
        return
    from rich.progress import (
        BarColumn,
        ProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bars
    from rich.text import Text

    class Amount(ProgressColumn):
        def render(self, task: Any) -> Text:
            done = f"{int(task.completed):,}" if task.completed or task.total else ""
            return Text(done if task.total is None else f"{done} of {int(task.total):,}")

    bars = Bars(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        Amount(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=make_console(err=True),
        transient=True,
        redirect_stdout=False,  # rich would put it on standard error
    )
    quiet = contextlib.nullcontext() if _watching is None else _watching.inside(silently=True)
    with quiet, bars:
        yield Progress(bars)


@contextlib.contextmanager
def show_stage(label: str) -> Iterator[None]:
    """Show one stage that cannot say how far it is."""
    with show_progress() as progress:
        progress(label)
        yield


_watching: Progress | None = None


@contextlib.contextmanager
def watch(label: str) -> Iterator[None]:
    """Say once a minute that a command is at work, unless it shows stages of its own."""
    global _watching  # noqa: PLW0603 - one command at a time
    with _looking(Progress()) as progress:
        progress(label)
        _watching = progress
        try:
            yield
        finally:
            _watching = None


@contextlib.contextmanager
def _looking(progress: Progress) -> Iterator[Progress]:
    """Look at the clock also while a stage has nothing to tell, as in one long training."""
    from threading import Event, Thread

    is_over = Event()

    def look() -> None:
        while not is_over.wait(_LOOKS_SECONDS):
            progress.look()

    watch = Thread(target=look, name="progress", daemon=True)
    watch.start()
    try:
        yield progress
    finally:
        is_over.set()
        watch.join()


def _say_rate(of_a_second: float) -> str:
    units = ((1, "a second"), (60, "a minute"), (3600, "an hour"))
    factor, unit = next((own for own in units if of_a_second * own[0] >= 1), units[-1])
    rate = of_a_second * factor
    return f"{rate:,.0f} {unit}" if rate >= 10 else f"{rate:.1f} {unit}"


def say_time(seconds: float) -> str:
    """Say how long: ``40 s``, ``12 min``, ``3 h 20 min``, ``2 d 5 h``."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if hours else f"{days} d"
