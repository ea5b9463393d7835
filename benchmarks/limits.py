"""What the machine can do at best, measured by limits.cpp: the yardstick beside the peers."""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import tempfile
from pathlib import Path


@functools.cache
def machine_limits() -> dict[str, float] | None:
    """Compile and run limits.cpp; None without a compiler."""
    compiler = shutil.which("c++")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "limits"
        source = Path(__file__).with_name("limits.cpp")
        include = f"-I{Path(__file__).parents[1] / 'cpp' / 'include'}"
        subprocess.run(
            [compiler, "-std=c++20", "-O3", include, str(source), "-o", str(program)], check=True
        )
        done = subprocess.run([str(program)], check=True, capture_output=True, text=True)
    limits: dict[str, float] = json.loads(done.stdout)
    return limits


if __name__ == "__main__":
    print(json.dumps(machine_limits(), indent=2))
