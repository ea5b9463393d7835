"""Doing tasks, here or in worker processes.

Workers are plain subprocesses that are spoken to in lines of JSON and bytes: no fork of a process
that has threads, no import of the user's main module, no pickles. They read the data from files
that the system maps into all of them, write nothing, and end when the pipe from their run closes,
even if it was killed.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import tempfile
import threading
import time
from collections import deque
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import IO, TYPE_CHECKING, Any, Protocol, cast

from ietest_fast.errors import WorkerError
from ietest_fast.experiment import worker as worker_script
from ietest_fast.experiment.tasks import Answer, Keeper, Task, TaskRunner, WorkContext
from ietest_fast.experiment.worker import Message, read_message, write_message
from ietest_fast.runtime import helper_command, module_folders, n_cores

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import FrameType

    from ietest_fast.experiment.tasks import CellTask
    from ietest_fast.models import Model

# A worker may die of something outside (memory, a signal); twice with the same task is no accident.
_MAX_ATTEMPTS = 2

# A training that can be taken up again is given this long to write down what it has.
_SECONDS_TO_SAVE = 20.0


@dataclass(frozen=True, kw_only=True, eq=False)
class FinishedTask:
    """A finished task: what came of it, and the time it took."""

    task: Task
    answer: Answer
    seconds: float


class Driver(Keeper, Protocol):
    """The run that an executor works for; it alone writes."""

    def log(self, task: Task, event: str, detail: str | None) -> None:
        """Hear of ``"started"`` and ``"worker_died"``, with a detail."""
        ...

    def find_left(self, task: Task) -> Mapping[str, bytes]:
        """Give what an earlier attempt at a task has kept, by name."""
        ...


class Executor(Protocol):
    """Does independent tasks, in any order."""

    def run(self, tasks: Sequence[Task], driver: Driver) -> Iterator[FinishedTask]:
        """Do the tasks and give outcomes as they come.

        Everything that an executor needs of a task is in the task, in the context and in what
        `driver` gives; everything that comes of it goes through `driver` and the outcomes.
        """
        ...

    def close(self) -> None:
        """End at once; what is in work is given up."""
        ...


def make_executor(
    context: WorkContext,
    *,
    n_jobs: int | None,
    most: int | None = None,
    given: Mapping[str, Model] | None = None,
) -> Executor:
    """Choose how to work: `n_jobs` processes, or in this one if that is 1.

    Without `n_jobs`, as many as fill the cores with ``context.n_threads`` threads each, but no more
    than `most`. Models that are `given` as objects, by key, are trained in this process.
    """
    if given:
        return InProcessExecutor(context, given)
    jobs = n_jobs
    if jobs is None:
        jobs = max(1, n_cores() // context.n_threads)
        jobs = jobs if most is None else max(1, min(jobs, most))
    return InProcessExecutor(context) if jobs == 1 else ProcessExecutor(context, n_jobs=jobs)


class InProcessExecutor:
    """Does one task after the other in this process."""

    def __init__(self, context: WorkContext, given: Mapping[str, Model] | None = None) -> None:
        self._context = context
        self._given = given or {}
        self._runner: TaskRunner | None = None
        self._interrupt = _Interrupt()

    def run(self, tasks: Sequence[Task], driver: Driver) -> Iterator[FinishedTask]:
        """Do the tasks in order."""
        if self._runner is None:
            caught = self._interrupt.is_caught
            self._runner = TaskRunner(
                self._context, driver, is_interrupted=caught, given=self._given
            )
        for task in tasks:
            # Ctrl-C waits until the outcome is written, too.
            with self._interrupt.deferred():
                driver.log(task, "started", None)
                begin = time.perf_counter()
                answer = self._runner.perform(task, driver.find_left(task))
                yield FinishedTask(task=task, answer=answer, seconds=time.perf_counter() - begin)

    def close(self) -> None:
        """Let go of the data."""
        self._runner = None


class _Interrupt:
    """Lets Ctrl-C wait until a task is over, or stops to save what it has.

    Raised inside one of XGBoost's callbacks it would be lost, and the model trained on a part of
    its rows. A second Ctrl-C does not wait.
    """

    def __init__(self) -> None:
        self._n_caught = 0

    def is_caught(self) -> bool:
        """Say whether there was one since the task began."""
        return self._n_caught > 0

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Catch it inside this block, and raise it behind."""
        before = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or not callable(before):
            yield
            return
        self._n_caught = 0
        signal.signal(signal.SIGINT, self._remember)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
        if self.is_caught():
            raise KeyboardInterrupt

    def _remember(self, _number: int, _frame: FrameType | None) -> None:
        self._n_caught += 1
        if self._n_caught > 1:
            raise KeyboardInterrupt


class _Worker:
    """A subprocess, and the thread that waits for its lines."""

    def __init__(
        self, context: WorkContext, answers: queue.Queue[tuple[_Worker, Message | None]]
    ) -> None:
        self.task: Task | None = None
        self.attempt = 0
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by stop()
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter, our own script
            helper_command(worker_script.__file__),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            # Idle OpenMP threads that spin would take the cores from the other workers.
            env={
                "OMP_WAIT_POLICY": "passive",
                **os.environ,
                "OMP_NUM_THREADS": str(context.n_threads),
            },
            # Ctrl-C is for the run to deal with; its workers do not hear of it.
            start_new_session=True,
        )
        self._requests = cast("IO[bytes]", self._process.stdin)
        self._messages = cast("IO[bytes]", self._process.stdout)
        self._send({"context": asdict(context), "sys_path": module_folders()})
        self._thread = threading.Thread(target=self._listen, args=(answers,), daemon=True)
        self._thread.start()

    def _listen(self, answers: queue.Queue[tuple[_Worker, Message | None]]) -> None:
        while (message := read_message(self._messages)) is not None:
            answers.put((self, message))
        answers.put((self, None))

    def _send(self, header: Mapping[str, Any], blobs: Mapping[str, bytes] | None = None) -> None:
        # If it has died, the listening thread will say so.
        with suppress(BrokenPipeError):
            write_message(self._requests, header, blobs)

    def give(self, task: Task, attempt: int, left: Mapping[str, bytes]) -> None:
        self.task, self.attempt = task, attempt
        self._send({"task": asdict(task)}, left)

    def describe_death(self) -> str:
        """Say how the process ended, with the last it wrote."""
        code = self._process.wait()
        how = f"was killed by signal {-code}" if code < 0 else f"ended with status {code}"
        if code == -9:
            how += " (out of memory?)"
        self._errors.seek(0)
        last = self._errors.read().decode("utf-8", "replace").strip().splitlines()[-15:]
        return "\n".join([how, *last])

    def interrupt(self) -> None:
        """Ask it to save what it has of its task, and end."""
        self._process.terminate()

    def stop(self, *, patience: float = 0.0) -> None:
        """Kill the process, after so many seconds, and wait until it is gone."""
        if patience:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(patience)
        self._process.kill()
        self._process.wait()
        self._thread.join()
        with suppress(BrokenPipeError):  # an unsent rest; nobody is left to read it
            self._requests.close()
        self._messages.close()
        self._errors.close()


class ProcessExecutor:
    """Does tasks in worker processes; one that dies is replaced, its task tried once more."""

    def __init__(self, context: WorkContext, *, n_jobs: int) -> None:
        self._context = context
        self._n_jobs = n_jobs
        self._workers: list[_Worker] = []
        self._answers: queue.Queue[tuple[_Worker, Message | None]] = queue.Queue()
        self._driver: Driver | None = None

    def run(self, tasks: Sequence[Task], driver: Driver) -> Iterator[FinishedTask]:
        """Do the tasks and give outcomes as they come."""
        self._driver = driver
        waiting = deque((task, 1) for task in tasks)
        n_left = len(waiting)
        while len(self._workers) < min(self._n_jobs, n_left):
            self._workers.append(_Worker(self._context, self._answers))
        for worker in self._workers:
            _give_next(worker, waiting, driver)
        while n_left:
            worker, message = self._answers.get()
            task = worker.task
            if message is None or task is None:
                self._bury(worker, waiting, driver)
                continue
            header, blobs = message
            if "keep" in header:
                _keep(driver, task, header, blobs)
                continue
            if "error" in header:
                worker.task = None  # it has nothing to save
                first, *below = header["error"].splitlines()
                raise WorkerError(
                    f"{task.describe()} failed: {first}", *(f"  {line}" for line in below)
                )
            worker.task = None
            _give_next(worker, waiting, driver)
            n_left -= 1
            artefact = blobs.pop("artefact")
            answer = Answer(
                values=header["values"], artefact=artefact, evaluations=tuple(blobs.values())
            )
            yield FinishedTask(task=task, answer=answer, seconds=header["seconds"])

    def _bury(self, worker: _Worker, waiting: deque[tuple[Task, int]], driver: Driver) -> None:
        how = worker.describe_death()
        self._workers.remove(worker)
        worker.stop()
        task = worker.task
        if task is None:
            return
        driver.log(task, "worker_died", how)
        if worker.attempt >= _MAX_ATTEMPTS:
            first, *wrote = how.split("\n")
            raise WorkerError(
                f"the worker of {task.describe()} {first}",
                *(f"  {line}" for line in wrote),
                f"This was attempt {worker.attempt}. What is finished is kept; run again to go on.",
            )
        waiting.appendleft((task, worker.attempt + 1))
        replacement = _Worker(self._context, self._answers)
        self._workers.append(replacement)
        _give_next(replacement, waiting, driver)

    def close(self) -> None:
        """End the workers, keep what they have sent of trainings that can be taken up again."""
        at_work = [worker for worker in self._workers if worker.task is not None]
        patience = _SECONDS_TO_SAVE if self._context.resumes else 0.0
        if patience:
            for worker in at_work:
                worker.interrupt()
        deadline = time.monotonic() + patience
        for worker in self._workers:
            left = max(0.0, deadline - time.monotonic())
            worker.stop(patience=left if worker in at_work else 0.0)
        self._workers.clear()
        while not self._answers.empty():
            worker, message = self._answers.get()
            if message is not None and "keep" in message[0] and worker.task and self._driver:
                _keep(self._driver, worker.task, *message)


def _keep(
    driver: Driver, task: Task, header: Mapping[str, Any], blobs: Mapping[str, bytes]
) -> None:
    if header["keep"] == "model":
        driver.keep_model(cast("CellTask", task), header["voter"], blobs)
        return
    for name, data in blobs.items():
        driver.keep_unfinished(name, data)


def _give_next(worker: _Worker, waiting: deque[tuple[Task, int]], driver: Driver) -> None:
    if waiting:
        task, attempt = waiting.popleft()
        driver.log(task, "started", None if attempt == 1 else f"attempt {attempt}")
        worker.give(task, attempt, driver.find_left(task))
