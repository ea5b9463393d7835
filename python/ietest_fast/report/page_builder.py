"""A report as one HTML file that needs nothing beside it."""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import ietest_fast
from ietest_fast.numerals import plain
from ietest_fast.signs import show_controls

if TYPE_CHECKING:
    from ietest_fast.report.contents import Contents

_MARKS = {"differs": "≠", "equivalent": "=", "undecided": "?"}


def build_page(contents: Contents, *, title: str | None = None) -> str:
    """Write a report as a page: no outside script, font or picture, and no request at all.

    Data appear in the page escaped, or packed in base64 and set as text by its script; a content
    security policy allows that one script, by its hash, and nothing else.

    Parameters
    ----------
    contents
        What :func:`~ietest_fast.report.contents.gather` has found.
    title
        Of the page. The default is that of the source if there is one alone, such as "Stress
        tests", and "Invariance under equivalence" otherwise.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def show(value: object) -> object:
        """Show the control characters of every text that the page gets, whatever names it."""
        is_text = isinstance(value, str) and not isinstance(value, Markup)
        return show_controls(value) if is_text else value

    environment = Environment(
        loader=PackageLoader("ietest_fast.report", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=show,
    )
    script = read_page_file("report.js")
    numbers: Counter[str] = Counter()

    def number(name: str) -> str:
        numbers[name] += 1
        return f"{name}-{numbers[name]}"

    return environment.get_template("report.html.j2").render(
        title=_name_page(contents) if title is None else title,
        version=ietest_fast.__version__,
        css=read_page_file("report.css"),
        js=script,
        script_hash=hash_script(script),
        verdicts=[
            {"kind": found.kind, "mark": _MARKS[found.kind], "text": found.text}
            for source in contents.sources
            for found in source.findings()
        ],
        sections=[
            {
                "id": section.id,
                "title": section.title,
                "intro": section.intro,
                "parts": [part.on_page(number) for part in section.parts],
            }
            for section in contents.sections
        ],
        data=_for_script({source.key: source.to_dict() for source in contents.sources}),
    )


def _name_page(contents: Contents) -> str:
    is_one = len(contents.sources) == 1
    return contents.sources[0].title if is_one else "Invariance under equivalence"


def read_page_file(name: str) -> str:
    """Give the text of a file of the page's folder."""
    return (importlib.resources.files("ietest_fast.report") / "page" / name).read_text("utf-8")


def hash_script(script: str) -> str:
    """Give the source of a content security policy that allows just this script."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _for_script(value: dict[str, Any]) -> str:
    # What could end the element, or begin a comment, is escaped; JSON means the same.
    return json.dumps(plain(value), allow_nan=False).replace("<", "\\u003c")
