"""A worker process, started by path and fed by ``executors``.

Until the run has said where modules are found, only the standard library may be imported.

Messages, both ways, are a line of JSON and the bytes that it announces: ``blobs`` has their names
and lengths. A worker is told its context, then one task at a time with what an earlier attempt has
left of it. It answers with what is to be kept meanwhile, and in the end with the task's answer.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
import time
import traceback
from typing import IO, TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

Message = tuple[dict[str, Any], dict[str, bytes]]


def write_message(
    stream: IO[bytes], header: Mapping[str, Any], blobs: Mapping[str, bytes] | None = None
) -> None:
    """Send a message."""
    blobs = blobs or {}
    lengths = [[name, len(data)] for name, data in blobs.items()]
    stream.write(json.dumps({**header, "blobs": lengths}).encode() + b"\n")
    for data in blobs.values():
        stream.write(data)
    stream.flush()


def read_message(stream: IO[bytes]) -> Message | None:
    """Receive a message; None if the sender is gone, even in the middle of one."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        return None
    header = json.loads(line)
    blobs = {}
    for name, length in header.pop("blobs"):
        blobs[name] = stream.read(length)
        if len(blobs[name]) < length:
            return None
    return header, blobs


class _Outbox:
    """Sends what is to be kept to the run."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def keep_unfinished(self, name: str, data: bytes) -> None:
        write_message(self._stream, {"keep": "unfinished"}, {name: data})

    def keep_model(self, _task: Any, voter: int, files: Mapping[str, bytes]) -> None:
        write_message(self._stream, {"keep": "model", "voter": voter}, files)


def main() -> None:
    """Answer tasks until the input ends."""
    # Whatever a library prints must not end up between the answers, nor be lost in a buffer.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # it is a text stream
    # Of queues this one alone may be written to by the handler of a signal.
    requests: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(requests,), daemon=True).start()

    setting_up, _ = cast("Message", requests.get())
    sys.path.extend(path for path in setting_up["sys_path"] if path not in sys.path)

    from ietest_fast.errors import IetestError
    from ietest_fast.experiment.tasks import TaskRunner, context_from_dict, task_from_dict

    context = context_from_dict(setting_up["context"])
    stop = threading.Event()

    def end(*_: object) -> None:
        stop.set()
        requests.put(None)  # if it waits for a task

    if context.resumes:
        signal.signal(signal.SIGTERM, end)
    runner: TaskRunner | None = None
    while True:
        message = requests.get()
        if message is None or stop.is_set():
            os._exit(0)
        request, left = message
        task = task_from_dict(request["task"])
        begin = time.perf_counter()
        try:
            runner = runner or TaskRunner(context, _Outbox(answers), is_interrupted=stop.is_set)
            answer = runner.perform(task, left)
        except KeyboardInterrupt:
            os._exit(0)  # as the run asked; it has been sent the training
        except IetestError as error:
            write_message(answers, {"error": str(error)})
        except Exception:  # noqa: BLE001 - the run has to hear of anything
            write_message(answers, {"error": traceback.format_exc()})
        else:
            header = {"values": answer.values, "seconds": time.perf_counter() - begin}
            evaluations = {f"evaluation{i}": one for i, one in enumerate(answer.evaluations)}
            write_message(answers, header, {"artefact": answer.artefact, **evaluations})


def _read(requests: queue.SimpleQueue[Message | None]) -> None:
    while (message := read_message(sys.stdin.buffer)) is not None:
        requests.put(message)
    # The run is over, or was killed: nobody waits for the task at hand any more.
    os._exit(0)


if __name__ == "__main__":
    main()
