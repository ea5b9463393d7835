"""Signs that cannot be drawn, shown by others."""

from __future__ import annotations


def show_controls(text: object) -> str:
    """Replace control characters, which a page cannot hold, by signs that stand for them."""
    return "".join(
        chr(0x2400 + ord(sign))
        if sign < " " and sign not in "\t\n"
        else "�"
        if "\x7f" <= sign <= "\x9f"
        else sign
        for sign in str(text)
    )
