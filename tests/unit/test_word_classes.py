"""The table of word boundaries beyond ASCII is what its tool makes of Unicode's."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from ietest_fast.runtime import build_config

ROOT = Path(__file__).parents[2]


@pytest.mark.peer
def test_the_table_is_the_tools(monkeypatch):
    uniseg = pytest.importorskip("uniseg")
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import make_word_classes

    text = make_word_classes.TARGET.read_text(encoding="utf-8")
    rows = re.findall(r"\{0x([0-9A-F]+), 0x([0-9A-F]+), CharClass::(\w+)\}", text)
    ranges = [(int(first, 16), int(last, 16), name) for first, last, name in rows]
    assert ranges == make_word_classes.make_ranges()
    assert build_config()["unicode"] == uniseg.unidata_version
    sys.modules.pop("make_word_classes")
