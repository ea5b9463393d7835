"""Signs that cannot be drawn, or that a terminal obeys, shown by others."""

from __future__ import annotations

import re

# Controls (C0, DEL, C1), separators of lines and paragraphs, signs that turn the direction, signs
# without a width, halves of surrogate pairs, tags. The two joiners belong to words of some scripts
# and to pictures: they are shown only behind ASCII, where they join nothing.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]|(?:(?<=[\x00-\x7f])|^)[\u200c\u200d]"
)
_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_MOST_SIGNS = 40  # of a label
_SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def escape(text: object) -> str:
    r"""Show signs that a terminal obeys, or that nobody sees, as Python writes them.

    Examples
    --------
    >>> print(escape("a name\x1b[2J"))
    a name\x1b[2J
    """
    whole = str(text)
    return whole if whole.isprintable() else _UNSEEN.sub(_show_sign, whole)


def _show_sign(found: re.Match[str]) -> str:
    sign = found[0]
    code = ord(sign)
    if sign in _SHORT:
        return _SHORT[sign]
    return (
        f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
    )


def show_controls(text: object) -> str:
    """Replace control characters, which a page cannot hold, by signs that stand for them.

    So are signs that turn the direction of all that follows.
    """
    return "".join(
        chr(0x2400 + ord(sign))
        if sign < " " and sign not in "\t\n"
        else "�"
        if "\x7f" <= sign <= "\x9f" or sign in _TURNS
        else sign
        for sign in str(text)
    )


def plain_label(text: str) -> str:
    """Make a text fit to be shown: on one line, not too long, without what draws no sign."""
    shown = "".join(sign if sign.isprintable() else "�" for sign in text)
    # Names that begin and end alike differ in the middle no more often than at either end.
    return shown if len(shown) <= _MOST_SIGNS else f"{shown[:19]}…{shown[-20:]}"


def escape_label(text: str) -> str:
    """Make a text fit for Matplotlib, which reads formulas and leaves out labels in ``_``."""
    escaped = plain_label(text).replace("$", r"\$")
    return f"\u200b{escaped}" if escaped.startswith("_") else escaped
