"""Names of people and places, those of the package and those of files."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from ietest_fast.errors import InputError
from ietest_fast.templates.files import RULE_SETS, load_tasks
from ietest_fast.templates.formulas import Sort
from ietest_fast.templates.language import load_language, load_wordings
from ietest_fast.templates.naming import (
    NAMES,
    SPLITS,
    Names,
    check_disjoint,
    load_names,
    read_names,
)

if TYPE_CHECKING:
    from pathlib import Path

CODES = sorted(path.stem for path in NAMES.glob("*.toml"))


def fold(name: str) -> str:
    parts = unicodedata.normalize("NFKD", name)
    return "".join(part for part in parts if not unicodedata.combining(part)).casefold()


@pytest.mark.parametrize("code", CODES)
def test_splits_have_nothing_in_common(code: str) -> None:
    """Neither names, nor words of names, nor names but for accents."""
    words: dict[str, str] = {}
    for split in SPLITS:
        own = load_names(code, split)
        for name in (*own.women, *own.men, *own.places):
            for word in name.split():
                assert words.setdefault(fold(word), f"{split} {name}") == f"{split} {name}"


@pytest.mark.parametrize("code", CODES)
def test_there_are_enough_for_every_task(code: str) -> None:
    needed = dict.fromkeys(Sort, 0)
    for rules in RULE_SETS:
        for task in load_tasks("mixed", rules):
            for template in task.templates:
                largest = max(template.sizes(), key=lambda sizes: sum(sizes.values()))
                counts = Counter(each.sort for each in template.shape(largest).constants)
                needed = {sort: max(own, counts[sort]) for sort, own in needed.items()}
    for split in SPLITS:
        own = load_names(code, split)
        assert len(own.women) + len(own.men) >= needed[Sort.PERSON] > 30
        assert len(own.places) >= needed[Sort.PLACE] > 30
        assert 0.4 < len(own.women) / (len(own.women) + len(own.men)) < 0.6


@pytest.mark.parametrize("code", CODES)
def test_no_name_is_a_word_of_the_language(code: str) -> None:
    text = (NAMES.parent / "languages" / f"{code}.toml").read_text("utf-8").lower()
    load_language(code)
    words = set(text.replace('"', " ").replace(",", " ").split())
    for split in SPLITS:
        own = load_names(code, split)
        assert not words & {name.lower() for name in (*own.women, *own.men, *own.places)}


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize("code", CODES)
def test_no_name_has_words_that_mean_something_else(code: str, rules: str) -> None:
    for split in SPLITS:
        wordings = load_wordings(code, rules)
        load_language(code, rules).check_names(load_names(code, split), wordings=wordings)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("someone", "someone"),
        ("Every\u00a0Place", "every place"),
        ("Bob and Carla", "and"),
        ("only two places", "only two places"),
        ("Bob OR Carla", "or"),
        ("If", "if"),
        ("S\u043emeone", "someone"),
        ("Nobody", "nobody"),
        ("three people", "three people"),
        ("Twenty-one  places", "twenty-one places"),
        ("3 places", "3 places"),
        ("many people", "people"),
        ("only Rome", "only"),
        ("Just Rome", "just"),
        ("every Rome", "every"),
        ("At least Rome", "at least"),
        ("all of Rome", "all of"),
        ("everything except Rome", "except"),
        ("none", "none"),
        ("one place", "one place"),
        ("The Place", "the place"),
        ("a place", "a place"),
        ("that place", "place"),
        ("Ann didn't visit Rome", "didn't visit"),
        ("Ann didn't see Rome", "didn't"),
        ("Ann didn\u2019t see Rome", "didn't"),
        ("Ann not in Rome", "not"),
        ("Ann has visited", "has visited"),
        ("Bob is tall", "is"),
        ("Ann isn't", "isn't"),
        ("Ann is taller than Bob", "is taller than"),
    ],
)
def test_names_have_no_words_that_mean_something_else(name: str, words: str) -> None:
    message = f"has {words!r}, which means something else in English"
    with pytest.raises(InputError, match=re.escape(message)):
        load_language("en").check_names(Names(women=("Ana",), men=(), places=(name,)))


@pytest.mark.parametrize(
    ("code", "name", "words"),
    [
        ("en", "has seen Rome", "has seen"),
        ("en", "Ann has heard of Rome", "has heard of"),
        ("en", "they have read about", "have read about"),
        ("en", "Ann is older than Bob", "is older than"),
        ("en", "Ann didn't see", "didn't see"),
        ("pt", "Ana viu Roma", "viu"),
        ("pt", "Conheceu", "conheceu"),
        ("en", "Painted Desert", None),
        ("en", "Old Kent", None),
        ("pt", "Porto Velho", None),
        ("pt", "São Paulo", None),
    ],
)
def test_names_have_no_verbs_of_other_wordings(code: str, name: str, words: str | None) -> None:
    language, names = load_language(code), Names(women=("Eva",), men=(), places=(name,))
    if words is None:
        language.check_names(names, wordings=load_wordings(code))
        return
    with pytest.raises(InputError, match=f"has {words!r}, which means something else"):
        language.check_names(names, wordings=load_wordings(code))


def test_names_have_no_quantities_of_other_languages() -> None:
    for name, words in (
        ("duas pessoas", "duas pessoas"),
        ("3 lugares", "3 lugares"),
        ("Ana não visitou Roma", "não visitou"),
        ("Ana visitou Roma", "visitou"),
        ("Ana não foi", "não"),
        ("Ana é alta", "é"),
        ("apenas Roma", "apenas"),
        ("Só Roma", "só"),
        ("nenhuma de Roma", "nenhuma"),
        ("uma Pessoa", "uma pessoa"),
        ("o lugar", "o lugar"),
        ("um lugar", "um lugar"),
    ):
        with pytest.raises(InputError, match=f"has '{words}', which means something else in Port"):
            load_language("pt").check_names(Names(women=(name,), men=(), places=()))
    # Numerals and nouns by themselves are names as well.
    places = ("João Pessoa", "Três Lagoas", "Todos os Santos", "São Paulo", "Barra de São João")
    load_language("pt").check_names(Names(women=("Ana",), men=(), places=places))


def test_names_may_have_such_words_within_words() -> None:
    places = ("Oxford", "Côte d'Or", "Stow-and-Wold", "Three Rivers", "Seven", "Market Place")
    places += ("The Hague", "A Coruña", "Somerset", "Mostar")
    women = ("Andrea", "Ann Marie", "Sofía de la Cruz", "Hasna Visitacion", "Isabel")
    men = ("Iff", "Dick Van Dyke", "O'Neil", "Are", "Will", "Tall Bear")
    load_language("en").check_names(Names(women=women, men=men, places=places))


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "names.toml"
    path.write_text(text, "utf-8")
    return path


GOOD = '[train]\nwomen = ["Ana"]\nmen = ["Bo"]\nplaces = ["Oslo"]\n'


def test_files_are_read(tmp_path: Path) -> None:
    names = Names(women=("Ana",), men=("Bo",), places=("Oslo",))
    assert read_names(write(tmp_path, GOOD)) == {"train": names}
    assert names.people.to_pylist() == ["Ana", "Bo"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no split"),
        ("[train", "is not TOML"),
        (GOOD.replace('men = ["Bo"]\n', ""), r"\[train\] must have the lists women, men, places"),
        (GOOD + "age = 3\n", "and nothing else"),
        ("train = 3\n", r"\[train\] must have the lists"),
        (GOOD.replace('["Bo"]', '"Bo"'), r"men in \[train\] must be a list of texts"),
        (GOOD.replace('["Bo"]', "[1]"), r"men in \[train\] must be a list of texts"),
        (GOOD.replace("Bo", "Ana"), "'Ana' stands there twice"),
        (GOOD + GOOD.replace("train", "test"), "'Ana' stands in the splits 'train' and 'test'"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_names(write(tmp_path, text))
    assert str(caught.value).startswith(str(tmp_path / "names.toml"))


def test_what_is_not_there() -> None:
    with pytest.raises(InputError, match="no names for the language 'xx'"):
        load_names("xx", "train")
    with pytest.raises(InputError, match="no split 'dev'; there are train, valid, test"):
        load_names("en", "dev")  # type: ignore[arg-type]


def test_splits_of_a_caller_are_checked() -> None:
    first = Names(women=("A",), men=(), places=())
    check_disjoint([("train", first), ("test", Names(women=("B",), men=(), places=()))])
    with pytest.raises(InputError, match="'A' stands in the splits"):
        check_disjoint([("train", first), ("test", first)])
