"""docs/templates.md: its examples run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ietest_fast.cli.main import main
from ietest_fast.templates.files import parse_templates
from ietest_fast.templates.formulas import Sort
from ietest_fast.templates.language import read_language
from ietest_fast.templates.parsing import parse_formula
from ietest_fast.templates.wording import word_hypothesis
from reference.filled import fill

PAGE = Path(__file__).parents[2] / "docs" / "templates.md"


def blocks(language: str) -> list[str]:
    return re.findall(
        rf"^```{language}\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )


def test_the_template_of_the_page_is_proved() -> None:
    text = next(each for each in blocks("") if "template one-of-them" in each)
    (template,) = parse_templates(text)
    assert len([template.prove(sizes) for sizes in template.sizes()]) == sum(range(2, 13))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("formula", "spanish"),
    [
        ("V(juan, ana)", "Juan visitó a Ana"),
        ("V(ana, roma)", "Ana visitó Roma"),
        ("V(ana, juan) & V(ana, roma)", "Ana visitó a Juan y Roma"),
        ("~(some x in Pe: V(juan, x))", "Juan no visitó a nadie"),
        ("some x in Pe: V(x, juan)", "Alguien visitó a Juan"),
        ("all x in Pe: all y in Pl: V(x, y)", "Todo el mundo visitó todos los lugares"),
        ("ana > juan", "Ana es más alta que Juan"),
        ("all x in Pe: x >= juan", "Todo el mundo es al menos tan alto como Juan"),
        (
            "(exactly 2 y in Pl: V(ana, y)) & (exactly 1 y in Pe: V(ana, y))",
            "Ana visitó solo dos lugares y a solo una persona",
        ),
        (
            "juan = the y in Pe: all z in Pe: V(y, z)",
            "Juan es la persona que visitó a todo el mundo",
        ),
        ("~V(juan, roma) | V(ana, roma)", "Juan no visitó Roma o Ana visitó Roma"),
    ],
)
def test_the_language_of_the_page(tmp_path: Path, formula: str, spanish: str) -> None:
    (text,) = blocks("toml")
    path = tmp_path / "es.toml"
    path.write_text(text, "utf-8")
    sorts = {"juan": Sort.PERSON, "ana": Sort.PERSON, "roma": Sort.PLACE}
    parsed = parse_formula(formula, sorts)
    language = read_language(path)
    pieces = word_hypothesis(parsed, language)
    from ietest_fast.templates.formulas import Constant

    names = {Constant(name, sort): name.capitalize() for name, sort in sorts.items()}
    said = fill(pieces, language.verbs, names, frozenset({Constant("ana", Sort.PERSON)}))
    assert said == spanish


@pytest.mark.slow
def test_the_language_of_the_page_words_all_tasks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (text,) = blocks("toml")
    (tmp_path / "es.toml").write_text(text, "utf-8")
    people = {"women": [f"Ana{i}" for i in range(20)], "men": [f"Juan{i}" for i in range(20)]}
    names = {**people, "places": [f"Roma{i}" for i in range(40)]}
    lines = [f"{kind} = {own}" for kind, own in names.items()]
    (tmp_path / "names.toml").write_text("\n".join(["[test]", *lines]), "utf-8")
    tasks = "simple-negation quantifier definite-description comparative implication existential"
    options = {"split": "test", "language": tmp_path / "es.toml", "names": tmp_path / "names.toml"}
    with pytest.raises(SystemExit) as status:
        main(
            [
                "templates",
                *tasks.split(),
                *(f"--{name}={value}" for name, value in options.items()),
            ]
        )
    assert not status.value.code
    assert len(capsys.readouterr().out.splitlines()) == 30
