"""One choice of instruction set for all kernels: made once, forced by IETEST_CPU, the same bits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ietest_fast._core import runtime
from ietest_fast.runtime import build_config

SETS = ("portable", "sse2", "avx2", "avx512")

# Something of every kernel that is compiled for several instruction sets, as a digest.
PROGRAM = """
import hashlib, json
import numpy as np, pyarrow as pa
from ietest_fast.runtime import build_config, core
key = np.array([3, 4], np.uint64)
rng = np.random.default_rng(5)
digest = hashlib.sha256()
values = rng.normal(size=(1, 700))
weights = rng.integers(1, 4, 700)
sums = core.scores.draw_sums(values, weights, n_units=2000, n_replicates=50, key=key)
digest.update(sums.tobytes())
t = np.empty(100_000)
counts = core.stats.multinomial_test(900, 60, 30, 10, n_replicates=len(t), key=key, t_replicates=t)
digest.update(repr(counts).encode() + t.tobytes())
words = ["cat", "ice cream", "dog's", "naïve", "3,5", "x_y", " ", ". ", "-", "\\n"]
texts = pa.array(["".join(rng.choice(words, 12)) for _ in range(3000)])
keys, new = pa.array(["cat", "ice cream", "3,5"]), pa.array(["feline", "sorbet", "four"])
table = core.text.SubstitutionTable(keys, new, np.zeros(1, np.int8))
digest.update("".join(pa.array(table.replace_words(texts)[0]).to_pylist()).encode())
print(json.dumps([build_config()["instruction_set"], digest.hexdigest()]))
"""


def _run(program: str, choice: str | None) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "IETEST_CPU"}
    if choice is not None:
        environment["IETEST_CPU"] = choice
    return subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_choice_is_reported():
    assert build_config()["instruction_set"] == runtime.chosen_instruction_set()
    assert runtime.instruction_sets()[0] == "portable"
    assert set(runtime.instruction_sets()) <= set(SETS)
    if "IETEST_CPU" not in os.environ:
        assert runtime.chosen_instruction_set() == runtime.instruction_sets()[-1]


@pytest.mark.slow
def test_every_path_that_can_be_forced_gives_the_same_bits():
    expected = json.loads(_run(PROGRAM, None).stdout)
    assert expected[0] == runtime.instruction_sets()[-1]
    for name in runtime.instruction_sets():
        assert json.loads(_run(PROGRAM, name).stdout) == [name, expected[1]]


def test_a_choice_that_cannot_be_met_is_one_sentence():
    program = "import sys; from ietest_fast.cli.main import main; sys.exit(main())"
    program = program.replace("main())", "main(['test', '--counts', '90,5,4,1']))")
    ended = _run(program, "avx3")
    assert ended.returncode == 1
    assert "environment variable IETEST_CPU: " in ended.stderr
    assert '"avx3" is no instruction set; this machine has portable' in ended.stderr
    assert "Traceback" not in ended.stderr
    for name in set(SETS) - set(runtime.instruction_sets()):
        assert "IETEST_CPU" in _run("from ietest_fast.runtime import core", name).stderr


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="the system lists no features")
def test_no_set_is_available_that_the_processor_lacks():
    """The features asked for include those of the bit instructions that the kernels use."""
    flags = next(
        (
            line.split()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "flags" in line
        ),
        [],
    )
    if "avx2" in runtime.instruction_sets():
        assert {"avx2", "bmi1", "bmi2", "popcnt"} <= set(flags)
