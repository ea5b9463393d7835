"""Slow, obvious definitions of where a tautology goes."""

from __future__ import annotations

import re

FINAL_MARKS = ".!?\N{HORIZONTAL ELLIPSIS}\N{IDEOGRAPHIC FULL STOP}"
FINAL_MARKS += "\N{FULLWIDTH EXCLAMATION MARK}\N{FULLWIDTH FULL STOP}\N{FULLWIDTH QUESTION MARK}"
ABBREVIATIONS = set(
    "ave blvd capt corp dept dr est etc gov inc jr lt ltd mr mrs ms prof sgt sr vs".split()  # noqa: SIM905
)


def is_abbreviation(text: str) -> bool:
    """Tell whether a full stop behind the text belongs to its last word."""
    word = re.search(r"[A-Za-z.]*\Z", text)[0]
    if not word or word[-1] == ".":
        return False
    return word.lower() in ABBREVIATIONS or (len(word) > 2 and word[-2] == ".")


def insert_careful(text: str, phrase: str) -> str:
    """Put a phrase before the marks that end a text; nothing is lost."""
    body = text.rstrip()
    blanks = text[len(body) :]
    words = body.rstrip(FINAL_MARKS)
    marks = body[len(words) :]
    if not words.strip():
        return text
    if marks == "." and is_abbreviation(words):
        return f"{body} {phrase}.{blanks}"
    kept = words.rstrip()
    return f"{kept} {phrase}{words[len(kept) :]}{marks}{blanks}"


def insert_as_published(text: str, phrase: str) -> str:
    """Put a phrase before the first of . ! ? and drop what follows that mark."""
    parts = re.split(r"([.!?][ \t\n\r\f\v]*)", text)
    return parts[0] + phrase + (parts[1] if len(parts) > 1 else "")
