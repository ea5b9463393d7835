"""Helping processes for tagging and parsing.

Not multiprocessing: its spawned children import the caller's main module, which breaks scripts
without a guard; its forked ones inherit locked BLAS threads; and its pool workers may not have
children of their own. A helper here is a bare interpreter that reads lists of texts from its
standard input and writes arrays to its standard output. It ends when its input does, so none
outlives its parent, whatever kills that.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import weakref
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, Literal, TypeVar

from ietest_fast.errors import IetestError, ResourceError
from ietest_fast.runtime import claim_process, helper_command, module_folders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Task = Literal["tag", "parse"]

T = TypeVar("T")

_START = (
    "import sys, json; "
    "sys.path.extend(path for path in json.loads(sys.argv[1]) if path not in sys.path); "
    "from ietest_fast.lexicon.tag_workers import serve; serve(*sys.argv[2:])"
)
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class TagWorkers(Generic[T]):
    """Some helpers that have loaded (or are loading) a pipeline."""

    def __init__(self, task: Task, pipeline_name: str, n_helpers: int) -> None:
        environment = {**os.environ, **dict.fromkeys(_THREADS, "1")}
        command = helper_command("-c", _START, json.dumps(module_folders()), task, pipeline_name)
        self._processes: list[subprocess.Popen[bytes]] = []
        self._owner = os.getpid()
        self._finalizer = weakref.finalize(self, _end, self._processes, self._owner)
        for _ in range(n_helpers):
            process = subprocess.Popen(  # noqa: S603 - this interpreter, our own module
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
            )
            self._processes.append(process)

    def usable_for(self, n_helpers: int) -> bool:
        """Tell whether there are at least so many, all alive and started by this very process."""
        return (
            self._owner == os.getpid()
            and len(self._processes) >= n_helpers
            and all(process.poll() is None for process in self._processes)
        )

    def work(
        self,
        chunks: list[list[str]],
        work_here: Callable[[list[str]], T],
        report: Callable[[int], None] | None,
        *,
        n_helpers: int,
    ) -> list[T]:
        """Work on all chunks here and in `n_helpers` processes; return results in their order."""
        waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
        for i in range(len(chunks)):
            waiting.put(i)
        results: dict[int, T] = {}
        failures: list[BaseException] = []
        n_done = 0
        done_lock = threading.Lock()

        def finish(i: int, found: T) -> None:
            nonlocal n_done
            with done_lock:
                results[i] = found
                n_done += len(chunks[i])

        def feed(process: subprocess.Popen[bytes]) -> None:
            try:
                for i in _take(waiting, failures):
                    finish(i, _ask(process, chunks[i]))
            except BaseException as error:  # noqa: BLE001 - raised again in the calling thread
                failures.append(error)

        feeders = [
            threading.Thread(target=feed, args=(process,), daemon=True)
            for process in self._processes[:n_helpers]
        ]
        for feeder in feeders:
            feeder.start()
        try:
            for i in _take(waiting, failures):
                finish(i, work_here(chunks[i]))
                if report is not None:
                    report(n_done)
            for feeder in feeders:
                feeder.join()
            if failures:
                raise failures[0]
        except BaseException:
            # Also after Ctrl-C: an answer still under way would be taken for the next one's.
            self.close()
            raise
        if report is not None:
            report(n_done)
        return [results[i] for i in range(len(chunks))]

    def close(self) -> None:
        """End the helpers."""
        self._finalizer()


def _take(waiting: queue.SimpleQueue[int], failures: list[BaseException]) -> Iterator[int]:
    """Yield what is waiting, until nothing is or something has failed."""
    with contextlib.suppress(queue.Empty):
        while not failures:
            yield waiting.get_nowait()


def _end(processes: list[subprocess.Popen[bytes]], owner: int) -> None:
    if os.getpid() != owner:  # a forked child must not end its parent's helpers
        return
    for process in processes:
        process.kill()
    for process in processes:
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        process.wait()


def _ask(process: subprocess.Popen[bytes], texts: list[str]) -> Any:
    assert process.stdin is not None  # noqa: S101 - opened with PIPE
    assert process.stdout is not None  # noqa: S101
    try:
        _write(process.stdin, texts)
        kind, value = _read(process.stdout)
    except (OSError, EOFError, ValueError) as error:
        status = process.poll()
        raise ResourceError(
            "a helping process ended before its work was done"
            + (f" (exit status {status})" if status is not None else "")
            + "; with n_process=1 everything is done in this process"
        ) from error
    if kind == "error":
        raise ResourceError(f"a helping process failed: {value}")
    return value


def serve(task: Task, pipeline_name: str) -> None:
    """Answer lists of texts on standard input until it ends (what a helper runs)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not get among the answers
    questions = sys.stdin.buffer
    claim_process()
    work: Callable[[list[str]], Any] | None = None
    while True:
        try:
            texts = _read(questions)
        except EOFError:
            return
        try:
            work = _load(task, pipeline_name) if work is None else work
            answer = ("done", work(texts))
        except (IetestError, ValueError, RuntimeError, MemoryError) as error:
            answer = ("error", f"{type(error).__name__}: {error}")
        try:
            _write(answers, answer)
        except BrokenPipeError:
            return


def _load(task: Task, pipeline_name: str) -> Callable[[list[str]], Any]:
    if task == "tag":
        from ietest_fast.lexicon.pipelines import Pipeline

        return Pipeline.load(pipeline_name).tag
    from ietest_fast.lexicon.parse_pipelines import ParsePipeline

    return ParsePipeline.load(pipeline_name).parse


def _write(stream: BinaryIO | Any, value: object) -> None:
    data = pickle.dumps(value, protocol=5)
    stream.write(len(data).to_bytes(8, "little"))
    stream.write(data)
    stream.flush()


def _read(stream: BinaryIO | Any) -> Any:
    n_bytes = int.from_bytes(_exactly(stream, 8), "little")
    # Both ends are this package, in processes of one user.
    return pickle.loads(_exactly(stream, n_bytes))  # noqa: S301


def _exactly(stream: BinaryIO | Any, n_bytes: int) -> bytes:
    data: bytes = stream.read(n_bytes)
    if len(data) < n_bytes:
        raise EOFError
    return data
