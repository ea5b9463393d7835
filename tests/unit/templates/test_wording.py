"""Formulas in words, and words back to formulas."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from ietest_fast.errors import ConfigError, InputError
from ietest_fast.templates.files import RULE_SETS, read_templates
from ietest_fast.templates.formulas import Constant, Sort
from ietest_fast.templates.grounding import Label, label_of
from ietest_fast.templates.language import (
    LANGUAGES,
    Language,
    load_language,
    load_wordings,
    read_language,
)
from ietest_fast.templates.parsing import parse_formula
from ietest_fast.templates.wording import mask, word_hypothesis, word_premises
from reference.filled import fill
from reference.text_reader import TextReader

PEOPLE, PLACES = ("Anna", "Bob", "Carla"), ("Rome", "Oslo", "Lima")
SORTS = dict.fromkeys(PEOPLE, Sort.PERSON) | dict.fromkeys(PLACES, Sort.PLACE)
NAMES = {Constant(name, sort): name for name, sort in SORTS.items()}
WOMEN = frozenset({Constant("Anna", Sort.PERSON), Constant("Carla", Sort.PERSON)})
TASKS = files("ietest_fast.templates") / "tasks" / "thesis"


def say(text: str, code: str, rules: str = "careful") -> str:
    language = load_language(code, rules)
    pieces = word_hypothesis(parse_formula(text, SORTS), language)
    return fill(pieces, language.verbs, NAMES, WOMEN)


@pytest.mark.parametrize(
    ("formula", "english", "portuguese"),
    [
        ("V(Anna, Rome)", "Anna has visited Rome", "Anna visitou Rome"),
        ("~V(Anna, Rome)", "Anna didn't visit Rome", "Anna não visitou Rome"),
        (
            "V(Anna, Rome) & V(Bob, Rome)",
            "Anna and Bob have visited Rome",
            "Anna e Bob visitaram Rome",
        ),
        (
            "V(Anna, Rome) & V(Anna, Oslo) & V(Anna, Lima)",
            "Anna has visited Rome, Oslo and Lima",
            "Anna visitou Rome, Oslo e Lima",
        ),
        (
            "V(Anna, Rome) & V(Bob, Oslo)",
            "Anna has visited Rome and Bob has visited Oslo",
            "Anna visitou Rome e Bob visitou Oslo",
        ),
        (
            "~V(Anna, Rome) | ~V(Bob, Rome)",
            "Anna didn't visit Rome or Bob didn't visit Rome",
            "Anna não visitou Rome ou Bob não visitou Rome",
        ),
        ("all x in Pe: V(x, Rome)", "Everyone has visited Rome", "Todo mundo visitou Rome"),
        (
            "all x in Pe: all y in Pe: all z in Pl: V(x, y) & V(x, z)",
            "Everyone has visited every person and every place",
            "Todo mundo visitou todo mundo e todo lugar",
        ),
        ("some x in Pe: V(x, Rome)", "Someone has visited Rome", "Alguém visitou Rome"),
        ("~(some x in Pe: V(x, Rome))", "No one has visited Rome", "Ninguém visitou Rome"),
        (
            "~(some x in Pe: V(Anna, x))",
            "Anna has visited no one",
            "Anna não visitou ninguém",
        ),
        (
            "(exactly 3 y in Pl: V(Anna, y)) & (exactly 2 y in Pe: V(Anna, y))",
            "Anna has visited only three places and only two people",
            "Anna visitou apenas três lugares e apenas duas pessoas",
        ),
        (
            "exactly 1 y in Pl: V(Anna, y)",
            "Anna has visited only one place",
            "Anna visitou apenas um lugar",
        ),
        (
            "at least 2 x in Pe: V(x, Rome)",
            "At least two people have visited Rome",
            "Pelo menos duas pessoas visitaram Rome",
        ),
        (
            "Bob = the y in Pe: all z in Pl: V(y, z)",
            "Bob is the person that has visited every place",
            "Bob é a pessoa que visitou todo lugar",
        ),
        ("Anna > Bob", "Anna is taller than Bob", "Anna é mais alta que Bob"),
        ("Bob > Anna", "Bob is taller than Anna", "Bob é mais alto que Anna"),
        (
            "Anna > Bob & Carla > Bob",
            "Anna and Carla are taller than Bob",
            "Anna e Carla são mais altas que Bob",
        ),
        ("Bob >= Anna", "Bob is at least as tall as Anna", "Bob é pelo menos tão alto quanto Anna"),
        (
            "~(all x in Pe: V(x, Rome))",
            "It's not true that everyone has visited Rome",
            "Não é verdade que todo mundo visitou Rome",
        ),
        (
            "V(Anna, Rome) -> V(Bob, Rome)",
            "If Anna has visited Rome, then Bob has visited Rome",
            "Se Anna visitou Rome, então Bob visitou Rome",
        ),
    ],
)
def test_words(formula, english, portuguese):
    assert say(formula, "en") == english
    assert say(formula, "pt") == portuguese


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize("code", ["en", "pt"])
def test_no_two_comparisons_have_the_same_words(code, rules):
    atoms = ["Bob > Anna", "Bob >= Anna", "Bob == Anna"]
    said = [say(text, code, rules) for atom in atoms for text in (atom, f"~({atom})")]
    assert len(set(said)) == 6


def test_there_are_no_words_for_some_formulas():
    with pytest.raises(InputError, match="there are no words for"):
        say("some y in Pl: all x in Pe: V(x, y)", "en")


@pytest.mark.parametrize(
    "formula",
    [
        # "Anna has visited Rome and Bob has visited Oslo or ..."
        "(V(Anna, Rome) & V(Bob, Oslo)) | V(Carla, Lima)",
        "V(Anna, Rome) & (V(Bob, Oslo) | V(Carla, Lima))",
        "(V(Anna, Rome) -> V(Bob, Oslo)) & V(Carla, Lima)",
        "~(V(Anna, Rome) & V(Bob, Oslo)) & V(Carla, Lima)",
        "V(Carla, Lima) & ~(V(Anna, Rome) | V(Bob, Oslo))",
        "~(V(Anna, Rome) & V(Bob, Oslo))",
        "~(V(Anna, Rome) | V(Bob, Oslo))",
        # "Anna has visited the person that has visited Bob and Rome"
        "V(Anna, the y in Pe: V(y, Bob) & V(y, Rome))",
        "V(Anna, the y in Pe: y = the z in Pe: V(z, Bob) & V(z, Rome))",
        "Anna = the y in Pe: V(y, the z in Pe: V(z, Bob)) & V(y, Rome)",
        # "Anna is the person that has visited only two people and Bob"
        "Anna = the y in Pe: (exactly 2 x in Pe: V(y, x)) & V(y, Bob)",
        # "Anna is taller than every person", also than herself
        "all x in Pe: Anna > x",
        "all x in Pe: x > Anna",
        "some x in Pe: Anna >= x",
        "some x in Pe: ~(x > Anna)",
        "some x in Pe: all y in Pe: x > y",
        "exactly 1 x in Pe: Anna == x",
        "~(some x in Pe: x >= Anna)",
    ],
)
def test_what_could_mean_something_else_has_no_words(formula):
    with pytest.raises(InputError, match="there are no words for"):
        say(formula, "en")


def test_compounds_that_are_clear():
    english = {
        "V(Anna, Rome) -> V(Bob, Oslo) & V(Carla, Lima)": "If Anna has visited Rome, then Bob has "
        "visited Oslo and Carla has visited Lima",
        # Not "no one has visited no one".
        "~(some x in Pe: ~(some y in Pe: V(x, y)))": "It's not true that someone has visited no "
        "one",
        "~(V(Anna, Rome) & V(Bob, Rome))": "It's not true that Anna and Bob have visited Rome",
        # Not "only two people and Bob", who are three.
        "(exactly 2 x in Pe: V(Anna, x)) & V(Anna, Bob)": "Anna has visited only two people and "
        "Anna has visited Bob",
        "(some x in Pe: V(Anna, x)) & V(Anna, Bob)": "Anna has visited someone and Anna has "
        "visited Bob",
        "(at least 2 x: V(Anna, x)) & V(Anna, Rome)": "Anna has visited at least two people or "
        "places and Anna has visited Rome",
        "V(Anna, the y in Pe: V(y, Bob)) & V(Anna, Rome)": "Anna has visited the person that has "
        "visited Bob and Anna has visited Rome",
        "V(Anna, Rome) & V(Anna, the y in Pe: V(y, Bob))": "Anna has visited Rome and the person "
        "that has visited Bob",
        "(exactly 2 x in Pe: V(Anna, x)) & V(Anna, Rome)": "Anna has visited only two people and "
        "Rome",
        "all x in Pe: Anna >= x": "Anna is at least as tall as every person",
        "some x in Pe: Anna > x": "Anna is taller than someone",
        "some x in Pe: ~(x >= Anna)": "Someone isn't as tall as Anna",
        "~(some x in Pe: x > Anna)": "No one is taller than Anna",
    }
    for formula, expected in english.items():
        assert say(formula, "en") == expected


def test_no_denies_itself_only():
    """In Portuguese "não visitou Rome e ninguém" would deny Rome, too."""
    said = say("V(Anna, Rome) & ~(some x in Pe: V(Anna, x))", "pt")
    assert said == "Anna visitou Rome e Anna não visitou ninguém"


def test_everyone_did_not_is_no_one():
    """ "Everyone didn't visit Rome" could mean that not all of them did."""
    assert say("all x in Pe: ~V(x, Rome)", "en") == "No one has visited Rome"
    assert say("all x in Pe: ~V(x, Rome)", "pt") == "Ninguém visitou Rome"
    assert say("all x: ~(x = Anna)", "en") == "No one and no place is Anna"
    assert say("some x in Pe: ~V(x, Rome)", "en") == "Someone didn't visit Rome"


MASKED = {
    ("V(Anna, Rome) & V(Bob, Oslo)", "and"): "Anna has visited Rome [MASK] Bob has visited Oslo",
    # Not the "and" of a quantity, nor the "or" of a description.
    (
        "(all x: V(Bob, x)) & (some y in Pe: V(y, Rome))",
        "and",
    ): "Bob has visited every person and every place [MASK] someone has visited Rome",
    (
        "V(Anna, (the x: x = Bob)) | V(Carla, Rome)",
        "or",
    ): "Anna has visited the person or place that is Bob [MASK] Carla has visited Rome",
    ("V(Anna, Rome) & V(Anna, Oslo)", "and"): "Anna has visited Rome [MASK] Oslo",
    ("all x: V(Bob, x)", "every"): None,
    ("all x in Pe: V(x, Rome)", "every"): "[MASK] has visited Rome",
    ("all x in Pe: ~V(x, Rome)", "every"): None,
    ("all x in Pl: V(Anna, x)", "every"): "Anna has visited [MASK]",
    ("some x in Pe: V(x, Rome)", "some"): "[MASK] has visited Rome",
    ("~(some x in Pe: V(x, Rome))", "some"): None,
    ("exactly 3 x in Pl: V(Anna, x)", "number"): "Anna has visited only [MASK] places",
    ("exactly 1 x in Pe: V(Anna, x)", "number"): "Anna has visited only [MASK] person",
    ("at least 2 x in Pe: V(Anna, x)", "number"): "Anna has visited at least [MASK] people",
    ("~(exactly 0 x in Pe: V(Anna, x))", "number"): "Anna has visited at least [MASK] person",
    # "No one" has no numeral in it.
    (
        "(exactly 0 x in Pe: V(x, Rome)) & (exactly 1 y in Pl: V(Anna, y))",
        "number",
    ): "No one has visited Rome and Anna has visited only [MASK] place",
    ("exactly 0 x in Pe: V(x, Rome)", "number"): None,
    # The first one.
    (
        "(exactly 2 x in Pe: V(Anna, x)) & (exactly 3 y in Pl: V(Anna, y))",
        "number",
    ): "Anna has visited only [MASK] people and only three places",
}


@pytest.mark.parametrize(("formula", "what"), MASKED)
def test_masks(formula, what):
    language = load_language("en")
    parsed = parse_formula(formula, SORTS)
    found = mask(word_hypothesis(parsed, language), what)
    expected = MASKED[formula, what]
    assert (found and fill(found[0], language.verbs, NAMES)) == expected


def test_a_long_conjunction_has_words():
    text = " & ".join(f"({a} > {b})" for a in PEOPLE for b in PEOPLE for _ in range(130))
    assert say(text, "en").count("taller than") == 9 * 130


@pytest.mark.parametrize("code", ["en", "pt"])
@pytest.mark.parametrize("task", sorted(each.name for each in TASKS.iterdir()))
def test_texts_can_be_read_again(task, code):
    """What is read has the label of the template, so nothing was lost or added by words."""
    language = load_language(code)
    for template in read_templates(TASKS / task):
        sizes = list(template.sizes())
        for own in (sizes[0], sizes[len(sizes) // 2]):
            shape = template.shape(own)
            names = {each: f"N{place}" for place, each in enumerate(shape.constants)}
            sorts = {names[each]: each.sort for each in shape.constants}
            reader = TextReader(language, sorts.__getitem__)
            given = word_premises(shape.premises, language)
            premises = reader.read_sentences(fill(given, language.verbs, names))
            said = fill(word_hypothesis(shape.hypothesis, language), language.verbs, names)
            (hypothesis,) = reader.read_sentences(said)
            assert label_of(premises, hypothesis) is template.label, said


def test_languages_are_checked(tmp_path):
    path = tmp_path / "xx.toml"
    path.write_text((LANGUAGES / "en.toml").read_text("utf-8").replace("[lists]", "[list]"))
    with pytest.raises(ConfigError) as caught:
        read_language(path)
    assert "lists: is missing" in str(caught.value)
    assert "list: is unknown; remove it" in str(caught.value)
    with pytest.raises(InputError, match="no language 'xx'; there are en, pt"):
        load_language("xx")


def refuse_changed(tmp_path, right, wrong, message):
    """Check that English with other words is refused."""
    text = (LANGUAGES / "en.toml").read_text("utf-8")
    assert right in text
    path = tmp_path / "xx.toml"
    path.write_text(text.replace(right, wrong))
    with pytest.raises(ConfigError, match=re.escape(message)):
        read_language(path)


@pytest.mark.parametrize(
    ("right", "wrong", "slots"),
    [
        ('and = "{0} and {1}"', 'and = "{0} and {2}"', "{0} and {1}"),
        ('if = "', 'if = "{0}: ', "{0} and {1}"),
        ("only {number} people", "only some people", "{number}"),
        ('if = "if {0}, then {1}"', 'if = "{1} if {0}"', "{0} and {1}"),
        ("the person that {predicate}", "the person", "{predicate}"),
    ],
)
def test_what_stands_for_words_is_there(tmp_path, right, wrong, slots):
    refuse_changed(tmp_path, right, wrong, f"{slots} should stand in it, each once")


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ('"has visited"', '"has {visited}"', "braces mean nothing here"),
        ('"has visited"', '"has visited\\n"', "has a line break"),
        (
            '"has visited"',
            '"didn\'t visit"',
            "verbs.visited has the same words where it is negated",
        ),
        (
            '"isn\'t taller than"',
            '"is t\u0430ller than"',
            "verbs.taller has the same words where it is negated",
        ),
        ('"is taller than"', '"h\u0430s visited"', "verbs have 'has visited' for two meanings"),
        ('or = "{0} or {1}"', 'or = "{0} and {1}"', "connectives have '{0} and {1}' for two"),
        ('"it\'s not true that {0}"', '"{0}"', "connectives.not denies nothing"),
        ('subject = "no one",', 'subject = "everyone",', "have 'everyone' for two meanings"),
        (
            'not-singular = "isn\'t taller than"',
            'not-singular = { masculine = "isn\'t taller than", feminine = "Is taller than" }',
            "verbs.taller has the same words where it is negated",
        ),
        ('"aren\'t as tall as"', '"aren\'t taller than"', 'verbs have "aren\'t taller than" for'),
        (
            '"is exactly as tall as"',
            '"isn\'t as tall as"',
            'verbs have "isn\'t as tall as" for two',
        ),
        ('one = "at least one place"', 'one = "only one place"', "have 'only one place' for two"),
        (
            'many = "at least {number} people"',
            'many = "only {number} people"',
            "quantities (subject) have 'only two people' for two meanings",
        ),
        (
            'many = "only {number} places"',
            'many = "only {number} people"',
            "have 'only two people'",
        ),
        (
            'one = "only one person"',
            'one = "only three people"',
            "have 'only three people' for two",
        ),
        ('one = "only one person"', 'one = "someone"', "quantities (subject) have 'someone' for"),
        ('object = "every place" }', 'object = "every person" }', "(object) have 'every person'"),
        (
            'object = "every person" }',
            'object = "every person", described = "someone" }',
            "quantities (described) have 'someone' for two meanings",
        ),
        ('"the place that', '"the person that', "described have 'the person that {predicate}' for"),
        ('if = "if {0}, then {1}"', 'if = "{0} OR {1}"', "connectives have '{0} or {1}' for two"),
        (
            'if = "if {0}, then {1}"',
            'if = "{0} and  {1}"',
            "connectives have '{0} and {1}' for two",
        ),
        ('or = "{0} or {1}"', 'or = "{0} {1}"', "connectives.or has blanks only"),
        ('"it\'s not true that {0}"', '"{0}!"', "connectives.not denies nothing"),
        ('last = " and "', 'last = " or "', "lists.last has a word of connectives.or: ' or '"),
        ('last = " and "', 'last = ", or "', "lists.last has a word of connectives.or: ', or '"),
        (
            'between = ", "',
            'between = " if "',
            "lists.between has a word of connectives.if: ' if '",
        ),
        (
            'if = "if {0}, then {1}"',
            'if = "{0}, {1}"',
            "lists.between has a word of connectives.if",
        ),
        ('sentences = ", "', 'sentences = " or "', "lists.sentences has a word of connectives.or"),
        ('"has visited"', '" \u200b"', "verbs.visited.singular.masculine: has blanks only"),
        (
            '"has visited"',
            '"has \u202evisited"',
            "has a sign that nobody sees, or that turns others",
        ),
        ('"two", "three"', '"two", "tw\u043e"', "numerals (masculine) have 'two' for two meanings"),
        ('"two", "three"', '"two", "two"', "numerals (masculine) have 'two' for two meanings"),
    ],
)
def test_what_means_something_else_has_other_words(tmp_path, right, wrong, message):
    refuse_changed(tmp_path, right, wrong, message)


@pytest.mark.parametrize(
    ("right", "other"),
    [
        ('"has visited"', '"has visited "'),
        ('"no one"', '" no one"'),
        ('"only {number} people"', '"only {number} people "'),
        ('"the person that {predicate}"', '" the person that {predicate}"'),
        ('"{0} and {1}"', '"{0} and {1} "'),
        ('"two", "three"', '"two ", " three"'),
    ],
)
def test_blanks_around_words_are_of_no_word(tmp_path, right, other):
    text = (LANGUAGES / "en.toml").read_text("utf-8")
    assert right in text
    (tmp_path / "xx.toml").write_text(text.replace(right, other), "utf-8")
    assert read_language(tmp_path / "xx.toml") == load_language("en")


@pytest.mark.parametrize(
    ("right", "other"),
    [
        ('if = "if {0}, then {1}"', 'if = "if {0}, {1}"'),
        ('and = "{0} and {1}"', 'and = "{0}, {1}"'),
        ('last = " and "', 'last = ", "'),
        ("it's not true that", "¬"),
    ],
)
def test_words_that_are_other_words(tmp_path, right, other):
    text = (LANGUAGES / "en.toml").read_text("utf-8")
    assert right in text
    (tmp_path / "xx.toml").write_text(text.replace(right, other), "utf-8")
    assert read_language(tmp_path / "xx.toml") != load_language("en")


def test_numerals_are_a_list(tmp_path):
    text = (LANGUAGES / "en.toml").read_text("utf-8").partition("[numerals]")[0]
    (tmp_path / "xx.toml").write_text(f'{text}[numerals]\nwords = "uno"\n')
    with pytest.raises(ConfigError, match=r"numerals\.words: has to be a list of texts$"):
        read_language(tmp_path / "xx.toml")


def test_words_are_not_empty(tmp_path):
    path = tmp_path / "xx.toml"
    text = (LANGUAGES / "en.toml").read_text("utf-8")
    path.write_text(text.replace('"one", "two"', '"", "two"').replace('"has visited"', '""'))
    with pytest.raises(ConfigError) as caught:
        read_language(path)
    assert "verbs.visited.singular.masculine: is empty" in str(caught.value)
    assert "numerals.words.0.masculine: is empty" in str(caught.value)
    path.write_text(text, "utf-8-sig")
    assert read_language(path) == load_language("en")


def test_people_as_objects_can_have_a_mark(tmp_path):
    """As in Spanish, "visitó a Juan"; it is read again without the mark."""
    path = tmp_path / "xx.toml"
    text = (LANGUAGES / "en.toml").read_text("utf-8")
    path.write_text(text.replace("[verbs.visited]", '[verbs.visited]\nperson = "at {0}"', 1))
    language = read_language(path)
    sorts = {"Anna": Sort.PERSON, "Bob": Sort.PERSON, "Rome": Sort.PLACE}
    reader = TextReader(language, sorts.__getitem__)
    for formula, words in (
        ("V(Anna, Bob) & V(Anna, Rome)", "Anna has visited at Bob and Rome"),
        ("some x in Pe: V(Anna, x)", "Anna has visited at someone"),
        ("Anna > Bob", "Anna is taller than Bob"),
    ):
        parsed = parse_formula(formula, sorts)
        names = {Constant(name, sort): name for name, sort in sorts.items()}
        assert fill(word_hypothesis(parsed, language), language.verbs, names) == words
        assert label_of([parsed], reader.read_sentence(words)) is Label.ENTAILMENT


@pytest.mark.parametrize("code", ["en", "pt"])
def test_other_wordings_have_other_words(code):
    """All forms are others, and no two wordings have the same visits."""
    usual, *others = load_wordings(code)
    assert usual == load_language(code).verbs
    assert len(others) >= 15
    said = set()
    for verbs in (usual, *others):
        assert verbs.is_ == usual.is_
        visited = verbs.visited
        assert visited.person == usual.visited.person
        content = load_language(code).model_dump(by_alias=True)
        Language.model_validate({**content, "verbs": verbs.model_dump(by_alias=True)})
        said.add((visited.singular, visited.plural, visited.not_singular, visited.not_plural))
        for verb in ("taller", "as-tall", "same-height"):
            assert (verbs.of(verb) == usual.of(verb)) == (verbs is usual)
    for form in zip(*said, strict=True):
        assert len(set(form)) == len(said)
