"""Make cpp/src/text/word_class_ranges.inc: the classes of characters that decide where words end.

The classes come from Unicode's property Word_Break (Standard Annex 29), which the package
`uniseg` carries, with its version; run with `pip install uniseg==0.10.1`::

    python tools/make_word_classes.py

ASCII is not in the file: the core writes those rules down itself, for it also needs them as masks.
"""

from __future__ import annotations

from pathlib import Path

import uniseg
from uniseg.wordbreak import word_break

TARGET = Path(__file__).parents[1] / "cpp" / "src" / "text" / "word_class_ranges.inc"

# Word_Break -> the core's class. All other values stand alone, as `other`.
CLASSES = {
    "ALETTER": "letter",
    "HEBREW_LETTER": "letter",
    "KATAKANA": "letter",
    "NUMERIC": "digit",
    "EXTENDNUMLET": "underscore",
    "MIDLETTER": "joins_letters",
    "MIDNUM": "joins_digits",
    "MIDNUMLET": "joins_both",
    "EXTEND": "extends",
    "FORMAT": "extends",
    "ZWJ": "extends",
    "NEWLINE": "line_break",
}


def class_of(code: int) -> str:
    """Return the core's class of a code point beyond ASCII."""
    if 0xD800 <= code <= 0xDFFF:
        return "other"
    return CLASSES.get(word_break(chr(code)).name.upper(), "other")


def make_ranges() -> list[tuple[int, int, str]]:
    """Return (first, last, class) of every run of one class, without `other`."""
    ranges: list[tuple[int, int, str]] = []
    for code in range(0x80, 0x110000):
        name = class_of(code)
        if name == "other":
            continue
        if ranges and ranges[-1][1] == code - 1 and ranges[-1][2] == name:
            ranges[-1] = (ranges[-1][0], code, name)
        else:
            ranges.append((code, code, name))
    return ranges


def main() -> None:
    """Write the file."""
    ranges = make_ranges()
    source = f"Unicode {uniseg.unidata_version} (uniseg {uniseg.__version__})"
    lines = [
        f"// Made by tools/make_word_classes.py from Word_Break of {source}.",
        "// Do not edit. Code points beyond ASCII that are in no range stand alone.",
        f'constexpr std::string_view kUnicodeVersion = "{uniseg.unidata_version}";',
        f"constexpr std::array<CodeRange, {len(ranges)}> kRanges{{{{",
        *(f"    {{0x{a:X}, 0x{b:X}, CharClass::{name}}}," for a, b, name in ranges),
        "}};",
    ]
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{TARGET}: {len(ranges)} ranges, Unicode {uniseg.unidata_version}")


if __name__ == "__main__":
    main()
