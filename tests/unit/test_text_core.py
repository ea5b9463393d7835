"""The compiled text kernels' dealings with Arrow buffers."""

from __future__ import annotations

import collections
import gc
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pyarrow as pa
import pytest

from ietest_fast._core import text as core


def table_of(mapping, **options):
    return core.SubstitutionTable(
        pa.array(list(mapping), pa.string()),
        pa.array(list(mapping.values()), pa.string()),
        np.zeros(1, np.int8),
        **options,
    )


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_types_slices_and_nulls(kind):
    array = pa.array(["x", "a cat", None, "cats", "cat"], kind).slice(1)
    strings, changed, n_changed, edits = table_of({"cat": "feline"}).replace_words(array)
    result = pa.array(strings)
    result.validate(full=True)
    assert result.type == kind
    assert result.to_pylist() == ["a feline", None, "cats", "feline"]
    assert changed.tolist() == [True, False, False, True]
    assert n_changed == 2
    assert edits is None


def test_32_bit_offsets_are_promoted_when_the_text_outgrows_them():
    array = pa.array(["cat", "cat"], pa.string())
    table = table_of({"cat": "a longer text"})
    assert pa.array(table.replace_words(array, offset_limit=26)[0]).type == pa.string()
    promoted = pa.array(table.replace_words(array, offset_limit=25)[0])
    promoted.validate(full=True)
    assert promoted.type == pa.large_string()
    assert promoted.to_pylist() == ["a longer text"] * 2


@pytest.mark.slow
def test_results_outlive_everything():
    source = pa.array(["a cat"] * 1000)
    strings, changed, _, edits = table_of({"cat": "feline"}).replace_words(source, with_edits=True)
    result, made = pa.array(strings), pa.array(edits)
    del source, strings, edits
    gc.collect()
    assert set(result.to_pylist()) == {"a feline"}
    assert changed.all()
    assert made.field("old").to_pylist() == ["cat"] * 1000


def test_an_export_is_taken_over_once():
    exported = table_of({"cat": "x"}).replace_words(pa.array(["cat"]))[0]
    assert pa.array(exported).to_pylist() == ["x"]
    with pytest.raises(ValueError, match="taken over already"):
        pa.array(exported)


@pytest.mark.slow
def test_no_memory_is_lost():
    """What a hundred calls export and nobody keeps is gone again."""
    code = """
import resource, numpy as np, pyarrow as pa
from ietest_fast._core import text
table = text.SubstitutionTable(pa.array(["cat"]), pa.array(["feline"]), np.zeros(1, np.int8))
array = pa.array(["a cat sat on another cat " * 20] * 20_000)
def peak():
    table.replace_words(array, with_edits=True)
    pa.array(table.replace_words(array, with_edits=True)[3])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
first = max(peak() for _ in range(3))
last = max(peak() for _ in range(25))
print((last - first) / 1024)
"""
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert float(out.stdout) < 60  # MiB; a call's result alone is 11 MB and its edits 70 MB


@pytest.mark.parametrize("wrong", [pa.array([1, 2]), pa.array([b"x"]), ["a"], None])
def test_other_things_are_refused(wrong):
    with pytest.raises((TypeError, ValueError), match="Arrow"):
        table_of({"cat": "x"}).replace_words(wrong)


def test_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="as many values"):
        core.SubstitutionTable(pa.array(["a"]), pa.array(["b", "c"]), np.zeros(1, np.int8))
    with pytest.raises(ValueError, match="key 0 is empty"):
        core.SubstitutionTable(pa.array([""]), pa.array(["b"]), np.zeros(1, np.int8))


def test_ctrl_c_stops_a_kernel():
    array = pa.array(["a cat sat on another cat " * 4] * 200_000, pa.large_string())
    replace_words = table_of({"cat": "feline"}).replace_words
    n_calls = 100
    done = collections.deque()

    def interrupt_second_call():
        while not done:
            time.sleep(0)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt_second_call)
    thread.start()
    # No Python code runs between the calls. If the kernel did not look for signals, it would be
    # called as often as there are arrays, and the exception raised afterwards.
    with pytest.raises(KeyboardInterrupt):
        done.extend(map(replace_words, [array] * n_calls))
    thread.join()
    assert 1 <= len(done) < n_calls


@pytest.mark.parametrize(
    ("phrase", "an"),
    [
        ("hour", True), ("honest man", True), ("European", False), ("one", False),
        ("university", False), ("unicorn", False), ("umbrella", True), ("MRI", True),
        ("NASA", False), ("x-ray", True), ("U-boat", False), ("apple", True), ("house", False),
        ("8", True), ("18", True), ("1800", False), ("11", True), ("", False),
    ],
)  # fmt: skip
def test_articles_go_by_sound(phrase, an):
    assert core.takes_an(phrase) is an
