"""A report as one HTML file that needs nothing beside it."""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
import json
from typing import TYPE_CHECKING, Any

import ietest_fast
from ietest_fast.report.consistency_page import say_consistency
from ietest_fast.report.evaluations import say_evaluation
from ietest_fast.report.examples import pack
from ietest_fast.report.logic import say_logic
from ietest_fast.report.parts import Examples, Figures, Heading, Note, Numbers, Wordings, Words
from ietest_fast.report.stress import say_stress
from ietest_fast.report.summary import say_verdict
from ietest_fast.signs import show_controls
from ietest_fast.stats import Verdict
from ietest_fast.stats.result import plain

if TYPE_CHECKING:
    from ietest_fast.report.contents import Contents
    from ietest_fast.report.parts import Part
    from ietest_fast.report.runs import FinishedRun
    from ietest_fast.report.tables import Table

_MARKS = {"differs": "≠", "equivalent": "=", "undecided": "?"}
_KINDS = {
    Verdict.DIFFERS: "differs",
    Verdict.CHANGES: "differs",
    Verdict.ALIKE: "equivalent",
    Verdict.EQUIVALENT: "undecided",
    Verdict.UNDECIDED: "undecided",
    Verdict.COLLAPSED: "undecided",
}


def build_page(contents: Contents, *, title: str | None = None) -> str:
    """Write a report as a page: no outside script, font or picture, and no request at all.

    Data appear in the page escaped, or packed in base64 and set as text by its script; a content
    security policy allows that one script, by its hash, and nothing else.

    Parameters
    ----------
    contents
        What :func:`~ietest_fast.report.contents.gather` has found.
    title
        Of the page. The default is "Stress tests", "The logic of answers" or "Paraphrastic
        consistency" for a page about one of them alone, and "Invariance under equivalence" for all
        others.
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
    numbers: dict[str, int] = {}
    return environment.get_template("report.html.j2").render(
        title=_name_page(contents) if title is None else title,
        version=ietest_fast.__version__,
        css=read_page_file("report.css"),
        js=script,
        script_hash=hash_script(script),
        verdicts=[
            *(_verdict(run) for run in contents.runs),
            *(
                {"kind": _KINDS[found], "mark": _MARKS[_KINDS[found]], "text": text}
                for found, text in _say_finished(contents)
            ),
        ],
        sections=[
            {
                "id": section.id,
                "title": section.title,
                "intro": section.intro,
                "parts": [_part(part, numbers) for part in section.parts],
            }
            for section in contents.sections
        ],
        data=_for_script(
            {
                "runs": [run.to_dict() for run in contents.runs],
                "evaluations": [each.to_dict() for each in contents.evaluations],
                "stress": None if contents.stress is None else contents.stress.to_dict(),
                "logic": None if contents.logic is None else contents.logic.to_dict(),
                "consistency": None
                if contents.consistency is None
                else contents.consistency.to_dict(),
            }
        ),
    )


def _name_page(contents: Contents) -> str:
    alone = {
        "Stress tests": contents.stress,
        "The logic of answers": contents.logic,
        "Paraphrastic consistency": contents.consistency,
    }
    found = [title for title, part in alone.items() if part is not None]
    is_one = len(found) == 1 and not contents.runs and not contents.evaluations
    return found[0] if is_one else "Invariance under equivalence"


def _say_finished(contents: Contents) -> list[tuple[Verdict, str]]:
    stress = () if contents.stress is None else contents.stress.profiles
    logic = () if contents.logic is None else contents.logic.profiles
    measured = () if contents.consistency is None else contents.consistency.profiles
    said = [say_stress(profile) for profile in stress]
    said += [say_logic(profile) for profile in logic]
    said += [say_consistency(profile) for profile in measured]
    return said + [each for found in contents.evaluations for each in say_evaluation(found)]


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


def _verdict(run: FinishedRun) -> dict[str, str]:
    found = set(run.condition.verdicts)
    kind = "undecided"
    if found & {Verdict.DIFFERS, Verdict.CHANGES}:
        kind = "differs"
    elif found == {Verdict.ALIKE} and not run.condition.collapsed:
        kind = "equivalent"
    return {"kind": kind, "mark": _MARKS[kind], "text": say_verdict(run)}


def _part(part: Part, numbers: dict[str, int]) -> dict[str, Any]:
    if isinstance(part, Heading):
        return {"kind": "heading", "text": part.text}
    if isinstance(part, Figures):
        figures = [
            {"title": chart.title, "svg": chart.to_page(), "note": chart.note}
            for chart in part.charts
        ]
        return {"kind": "figures", "figures": figures}
    if isinstance(part, Numbers):
        return {"kind": "table", "folded": part.folded, "table": _table(part.table, numbers)}
    if isinstance(part, Note):
        return {"kind": "note", "text": part.text}
    if isinstance(part, Words):
        return {"kind": "pre", "title": part.title, "text": part.text}
    assert isinstance(part, Examples | Wordings)  # noqa: S101 - there is no other
    return _reading(part, numbers)


def _reading(part: Examples | Wordings, numbers: dict[str, int]) -> dict[str, Any]:
    """Return what the script of the page shows."""
    kind = "examples" if isinstance(part, Examples) else "wordings"
    packed = pack(part.found) if isinstance(part, Examples) else {"packed": part.found.pack()}
    return {"kind": kind, "id": _number(kind, numbers), "title": part.title} | packed


def _number(name: str, numbers: dict[str, int]) -> str:
    numbers[name] = numbers.get(name, 0) + 1
    return f"{name}-{numbers[name]}"


def _table(table: Table, numbers: dict[str, int]) -> dict[str, Any]:
    return {
        "id": _number(table.name, numbers),
        "title": table.title,
        "columns": table.columns,
        "rows": table.shown(),
        "note": table.note,
    }
