"""A worker process, started by path and fed by ``executors``.

Until the run has said where modules are found, only the standard library may be imported.
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
from pathlib import Path


def main() -> None:
    """Answer tasks, one JSON line each, until the input ends."""
    # Whatever a library prints must not end up between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    requests: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_read, args=(requests,), daemon=True).start()

    setting_up = json.loads(requests.get())
    sys.path.extend(path for path in setting_up["sys_path"] if path not in sys.path)

    from ietest_fast.errors import IetestError
    from ietest_fast.experiment.store import shared_worker_lock
    from ietest_fast.experiment.work import Workbench, WorkContext, task_from_dict

    context = WorkContext(**setting_up["context"])
    stop = threading.Event()
    if context.resumes:
        signal.signal(signal.SIGTERM, lambda *_: stop.set())
    with shared_worker_lock(Path(context.folder)):
        workbench: Workbench | None = None
        while True:
            task = task_from_dict(json.loads(requests.get())["task"])
            begin = time.perf_counter()
            try:
                workbench = workbench or Workbench(context, is_interrupted=stop.is_set)
                result = workbench.perform(task)
                answer = {"result": result, "seconds": time.perf_counter() - begin}
            except KeyboardInterrupt:
                os._exit(0)  # as the run asked; the training is saved
            except IetestError as error:
                answer = {"error": str(error)}
            except Exception:  # noqa: BLE001 - the run has to hear of anything
                answer = {"error": traceback.format_exc()}
            answers.write(json.dumps(answer) + "\n")
            answers.flush()


def _read(requests: queue.Queue[str]) -> None:
    for line in sys.stdin:
        requests.put(line)
    # The run is over, or was killed: nobody waits for the task at hand any more.
    os._exit(0)


if __name__ == "__main__":
    main()
