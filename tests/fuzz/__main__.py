"""Fuzz the readers: ``python -m tests.fuzz --target lm-eval --n 10000 --seed 0 --workers 2``.

Each input is a number: with the seed and the code it gives the same files and the same command. It
is run in a worker process under limits of time and memory. A good answer is an answer, or an error
of this package or of click in a few clean words. Everything else is a failure: it is counted by its
root, and its files are kept to be looked at, and run again by ``--only NUMBER``.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib.metadata
import json
import os
import random
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests")]

MOST_SECONDS = 10
"""Of processor time for an input; of waiting, three times as much."""

LEAST_INPUTS = 12
"""Of a run that is limited by time."""

MOST_BYTES = 2 << 30
"""By which memory may grow."""

MOST_WORDS = 1500
"""Characters of a line of a message."""

_KEPT = 3
_SHORT = 80
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_GOOD = ("accepted", "refused")


@dataclass(frozen=True)
class Outcome:
    """What became of an input: a kind, for failures their root, and what was said."""

    number: int
    kind: str
    root: str = ""
    said: str = ""
    command: str = ""
    files: str = ""


class TooSlow(BaseException):
    """An input takes longer than it may; nothing that catches errors catches it."""


def _stop(number: int, _frame: object) -> None:
    raise TooSlow("it waits" if number == signal.SIGALRM else "it computes")


def _blame(error: BaseException) -> str:
    """Name the error and the innermost line of the package that it went through."""
    own = [f for f in traceback.extract_tb(error.__traceback__) if "/ietest_fast/" in f.filename]
    if not own:
        return type(error).__name__
    last = own[-1]
    where = last.filename.partition("/ietest_fast/")[2]
    return f"{type(error).__name__} at {where}:{last.lineno} {last.name}"


@contextlib.contextmanager
def _remembering() -> Iterator[None]:
    """Do once what takes most of the time and does not depend on the files."""
    from ietest_fast.stats import equivalence as equivalence_result

    places = ((importlib.metadata, "entry_points"), (equivalence_result, "pairs_to_decide"))
    before = [getattr(module, name) for module, name in places]
    for (module, name), function in zip(places, before, strict=True):
        setattr(module, name, functools.cache(function))
    try:
        yield
    finally:
        for (module, name), function in zip(places, before, strict=True):
            setattr(module, name, function)


class Worker:
    """Runs inputs of a target in this process, with handlers of signals of its own."""

    def __init__(self, target: str, seed: int, save: Path | None) -> None:
        from fuzz.targets import TARGETS

        self.name, self.seed, self.save = target, seed, save
        self.target = TARGETS[target]
        self.good = self.target.make()
        self.kept: Counter[str] = Counter()
        self.scratch = Path(tempfile.mkdtemp(prefix="fuzz-"))
        self.remembering = _remembering()

    def __enter__(self) -> Self:
        self.remembering.__enter__()
        numbers = (signal.SIGALRM, signal.SIGPROF)
        self.handlers = {number: signal.signal(number, _stop) for number in numbers}
        return self

    def __exit__(self, *_: object) -> None:
        self.remembering.__exit__(None, None, None)
        for number, handler in self.handlers.items():
            signal.signal(number, handler)
        shutil.rmtree(self.scratch, ignore_errors=True)

    def draw(self, number: int) -> tuple[dict[str, bytes], list[str]]:
        """Return the files and the command of an input."""
        rng = random.Random(f"{self.name}/{self.seed}/{number}")
        return self.target.draw(rng, dict(self.good))

    def try_one(self, number: int) -> Outcome:
        """Run an input and judge what comes of it."""
        files, arguments = self.draw(number)
        folder = self.scratch / str(number)
        try:
            self._write(folder, files)
            before = {path.name for path in folder.iterdir()}
            with contextlib.chdir(folder):
                kind, root, said = self._judge(arguments)
            left = {path.name for path in folder.iterdir()} - before
            if kind == "refused" and left:
                kind, root = "left behind", " ".join(sorted(left))[:_SHORT]
            kept = ""
            if kind not in _GOOD:
                kept = self._keep(
                    number, files, arguments=arguments, kind=kind, root=root, said=said
                )
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        command = " ".join(arguments)
        return Outcome(number, kind, root, said[-2000:], command[:500], kept)

    @staticmethod
    def _write(folder: Path, files: dict[str, bytes]) -> None:
        folder.mkdir()
        for name, data in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        os.mkfifo(folder / "pipe")
        (folder / "loop").symlink_to("loop")
        (folder / "folder").mkdir()

    def _judge(self, arguments: list[str]) -> tuple[str, str, str]:  # noqa: PLR0912
        import click

        from fuzz.good_files import run_here
        from fuzz.targets import CALLS
        from ietest_fast.errors import IetestError, IetestWarning
        from ietest_fast.escapes import escape

        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        said, kind, root = "", "accepted", ""
        signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
        signal.setitimer(signal.ITIMER_REAL, 3 * MOST_SECONDS)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.simplefilter("ignore", IetestWarning)
                if arguments[0] in CALLS:
                    said = CALLS[arguments[0]](arguments[1]) or ""
                else:
                    said = run_here(*arguments)
        except click.ClickException as error:  # whose signs the last handler escapes
            said, kind, root = escape(error.format_message()), "refused", _blame(error)
        except IetestError as error:
            said, kind, root = str(error), "refused", _blame(error)
        except TooSlow as error:
            kind, root, said = "slow", f"{error}: {_blame(error)}", traceback.format_exc()
        except MemoryError as error:
            kind, root, said = "memory", _blame(error), traceback.format_exc()
        except (Exception, SystemExit, KeyboardInterrupt) as error:  # noqa: BLE001 - that is what is looked for
            kind = "warning" if isinstance(error, Warning) else "traceback"
            root, said = _blame(error), traceback.format_exc()
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
        if kind == "refused" and not said.strip():
            kind = "no message"
        elif kind == "refused" and max(map(len, said.splitlines())) > MOST_WORDS:
            kind = "long message"
        elif kind in _GOOD and (found := _CONTROL.search(said)):
            kind, root = "control characters", f"{found.group()!r} {root}"
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) << 10
        if grown > MOST_BYTES:
            kind, root = "memory", f"{grown >> 20} MiB {root}"
        if sys.modules.pop("antigravity", None) is not None:
            kind, root = "foreign code", arguments[0]
        return kind, root, said

    def _keep(
        self,
        number: int,
        files: dict[str, bytes],
        *,
        arguments: list[str],
        kind: str,
        root: str,
        said: str,
    ) -> str:
        """Keep the files of a failure, the first few of each root."""
        key = f"{kind} {root}"
        self.kept[key] += 1
        if self.save is None or self.kept[key] > _KEPT:
            return ""
        place = self.save / self.name / re.sub(r"[^\w.-]+", "-", key)[:_SHORT] / str(number)
        shutil.rmtree(place, ignore_errors=True)
        for name, data in files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(data)
        again = f"python -m tests.fuzz --target {self.name} --seed {self.seed} --only {number}"
        text = f"{again}\n\n{arguments}\n\n{kind}: {root}\n\n{said}\n"
        (place / "why.txt").write_text(text, "utf-8", "backslashreplace")
        return str(place)


def work(options: argparse.Namespace) -> None:
    """Run every so many-th input and write what came of it to standard output, a line each."""
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    worker = Worker(options.target[0], options.seed, options.save)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)

    def tell(value: Any) -> None:
        lines.write(json.dumps(value) + "\n")
        lines.flush()

    with worker:
        for number in range(options.start, min(options.start + 3, options.n)):
            worker.try_one(number)  # imports what is imported late
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        fence = size + MOST_BYTES + (MOST_BYTES >> 2)
        resource.setrlimit(resource.RLIMIT_AS, (fence, fence))
        for number in range(options.start, options.n, options.step):
            tell(number)
            tell(asdict(worker.try_one(number)))


@dataclass
class Tally:
    """What became of the inputs of a target."""

    target: str
    kinds: Counter[str] = field(default_factory=Counter)
    roots: dict[str, list[Outcome]] = field(default_factory=dict)
    slowest: float = 0.0
    seconds: float = 0.0

    def add(self, outcome: Outcome) -> None:
        """Count an input."""
        self.kinds[outcome.kind] += 1
        if outcome.kind not in _GOOD:
            self.roots.setdefault(f"{outcome.kind}: {outcome.root}", []).append(outcome)

    def __str__(self) -> str:
        bad = sum(map(len, self.roots.values()))
        text = (
            f"{self.target}: {self.kinds.total():,} inputs in {self.seconds:.0f} s (the slowest "
            f"{self.slowest:.1f} s), {self.kinds['accepted']:,} accepted, "
            f"{self.kinds['refused']:,} refused, {bad:,} failures of {len(self.roots)} roots"
        )
        for root, found in sorted(self.roots.items(), key=lambda each: -len(each[1])):
            first = found[0]
            text += f"\n  {len(found):5,}  {root}\n         input {first.number}: {first.command}"
            if first.files:
                text += f"\n         {first.files}"
        return text


def fuzz(
    target: str,
    *,
    n: int,
    seed: int = 0,
    workers: int = 1,
    seconds: float = float("inf"),
    save: Path | None = None,
) -> Tally:
    """Run inputs 0 to n - 1 of a target, or as many as the seconds allow.

    Parameters
    ----------
    target
        Its name in :data:`fuzz.targets.TARGETS`.
    n, seed
        How many inputs, and which.
    workers
        Processes.
    seconds
        When to stop, after :data:`LEAST_INPUTS` at the earliest: a slow machine sees as many. Until
        a worker has made its good files, time does not count.
    save
        Folder for the files of failures.
    """
    tally, begun = Tally(target), time.monotonic()
    deadline = float("inf")
    crew = {
        start: _Process(target, start, n=n, seed=seed, step=workers, save=save)
        for start in range(workers)
    }
    try:
        while crew:
            ready, _, _ = select.select([each.out for each in crew.values()], [], [], 1.0)
            for start, each in list(crew.items()):
                if each.out in ready:
                    deadline = min(deadline, time.monotonic() + seconds)
                    for outcome in each.read():
                        tally.slowest = max(tally.slowest, each.took)
                        tally.add(outcome)
                elif each.hangs():
                    each.kill()
                    tally.add(Outcome(each.number, "hang", "it had to be killed"))
                if each.is_done() and not each.restart(after_crash=tally):
                    crew.pop(start)
            if time.monotonic() > deadline and tally.kinds.total() >= LEAST_INPUTS:
                break
    finally:
        for each in crew.values():
            each.kill()
    tally.seconds = time.monotonic() - begun
    return tally


class _Process:
    """A worker process, and where it is; one that dies is started again behind what killed it."""

    def __init__(
        self, target: str, start: int, *, n: int, seed: int, step: int, save: Path | None
    ) -> None:
        self.target, self.n, self.seed, self.step, self.save = target, n, seed, step, save
        self._start(start)

    def _start(self, start: int) -> None:
        self.number, self.since, self.took, self.is_at_work = start, time.monotonic(), 0.0, False
        self._rest = b""
        command = [sys.executable, "-m", "tests.fuzz", "--worker", "--target", self.target]
        command += ["--n", self.n, "--seed", self.seed, "--start", start, "--step", self.step]
        command += ["--save", self.save] if self.save else []
        self._process = subprocess.Popen(
            list(map(str, command)), cwd=ROOT, stdout=subprocess.PIPE, env=_environment(), bufsize=0
        )
        assert self._process.stdout is not None
        self.out = self._process.stdout

    def read(self) -> Iterator[Outcome]:
        data = self.out.read(1 << 16) or b""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            found = json.loads(line)
            if isinstance(found, int):
                self.number, self.since, self.is_at_work = found, time.monotonic(), True
            else:
                self.took, self.is_at_work = time.monotonic() - self.since, False
                yield Outcome(**found)
        if not data:
            self._process.wait()

    def hangs(self) -> bool:
        return self.is_at_work and time.monotonic() - self.since > 6 * MOST_SECONDS

    def is_done(self) -> bool:
        return self._process.returncode is not None

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self.out.close()

    def restart(self, *, after_crash: Tally) -> bool:
        code = self._process.returncode
        if code == 0:
            return False
        if not self.is_at_work:
            raise RuntimeError(f"{self.target}: a worker ended with status {code} before its work")
        if code != -signal.SIGKILL:
            name = signal.Signals(-code).name if code < 0 else f"status {code}"
            after_crash.add(Outcome(self.number, "crash", name))
        self._start(self.number + self.step)
        return True


def _environment() -> dict[str, str]:
    once = {"OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system", "HF_HUB_OFFLINE": "1"}
    return {**os.environ, **once}


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--target", action="append", help="default: all; may be repeated")
    parser.add_argument("--n", type=int, default=1000, help="inputs of each target")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for each target")
    parser.add_argument("--save", type=Path, help="folder for failures")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="run one input, and show it")
    for hidden, kind in (("--start", int), ("--step", int)):
        parser.add_argument(hidden, type=kind, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.save is not None:
        options.save = options.save.resolve()
    if options.worker:
        work(options)
        return
    from fuzz.targets import TARGETS

    names = options.target or list(TARGETS)
    if options.only is not None:
        save = options.save or Path("fuzz-failures").resolve()
        with Worker(names[0], options.seed, save) as worker:
            outcome = worker.try_one(options.only)
        print(
            outcome.command,
            f"{outcome.kind}: {outcome.root}",
            outcome.said,
            outcome.files,
            sep="\n\n",
        )
        return
    n_bad = 0
    for name in names:
        tally = fuzz(
            name, n=options.n, seed=options.seed, workers=options.workers,
            seconds=options.seconds, save=options.save,
        )  # fmt: skip
        n_bad += len(tally.roots)
        print(tally, flush=True)
    sys.exit(bool(n_bad))


if __name__ == "__main__":
    main()
