"""Telling that texts are not English, and what is done about it."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from ietest_fast.cli.describe import command as describe
from ietest_fast.cli.transform import command as transform
from ietest_fast.errors import InputError
from ietest_fast.lexicon.reviewed import FEWEST_WORDS, FREQUENT_WORDS, count_languages
from ietest_fast.transform.phi import TRANSFORMATIONS, Material, plan

if TYPE_CHECKING:
    from pathlib import Path

SENTENCES = {
    "English": [
        "The old man is sitting on a bench in the park with his dog",
        "Two children were playing near the river while their mother read a book",
        "She could not find the keys that he had left under the mat",
    ],
    "French": [
        "Le vieil homme est assis sur un banc dans le parc avec son chien",
        "Deux enfants jouaient au bord de la rivière pendant que leur mère lisait",
        "Elle ne trouvait pas les clés qu'il avait laissées sous le tapis",
    ],
    "Spanish": [
        "El hombre viejo está sentado en un banco del parque con su perro",
        "Dos niños jugaban junto al río y la madre leía un libro",
        "Ella no encontraba las llaves que él dejó por la mañana en la mesa",
    ],
    "Portuguese": [
        "O homem velho está sentado em um banco do parque com o cachorro dele",
        "Duas crianças brincavam perto do rio e a mãe delas lia um livro",
        "Ela não achava as chaves que ele deixou na mesa da sala",
    ],
    "German": [
        "Der alte Mann sitzt mit dem Hund auf einer Bank im Park",
        "Zwei Kinder spielten am Fluss und die Mutter las ein Buch",
        "Sie konnte die Schlüssel nicht finden, die er unter der Matte ließ",
    ],
    "Italian": [
        "Il vecchio siede su una panchina del parco con il cane",
        "Due bambini giocavano vicino alla riva e la madre leggeva un libro",
        "Non trovava le chiavi che sono state lasciate sul tavolo della sala",
    ],
    "Dutch": [
        "De oude man zit met zijn hond op een bank in het park",
        "Twee kinderen speelden bij de rivier en hun moeder las een boek",
        "Ze vond de sleutels niet die hij onder de mat had gelegd",
    ],
    "Cyrillic": [
        "Старый человек сидит на скамейке в парке со своей собакой",
        "Двое детей играли у реки, а мать читала книгу",
        "Она не могла найти ключи под ковриком",
    ],
    "CJK": ["老人 和 他的 狗 坐在 公园 的 长椅 上", "两个 孩子 在 河边 玩", "她 找不到 钥匙"],
    "Arabic": ["جلس الرجل العجوز على مقعد في الحديقة مع كلبه", "لعب طفلان قرب النهر"],
}  # fmt: skip
FOREIGN = [name for name in SENTENCES if name != "English"]


@pytest.mark.parametrize("name", SENTENCES)
@pytest.mark.parametrize("change", [str, str.upper, str.lower])
def test_texts_of_a_language_are_told(name: str, change) -> None:
    found = count_languages([change(text) for text in SENTENCES[name] * 30])
    assert found.main == name
    assert found.is_foreign == (name != "English")
    assert set(found.foreign) == ({name} if name != "English" else set())


@pytest.mark.parametrize(
    "texts",
    [
        ["man walking dog", "dog running beach", "woman red hat", "girls dancing"] * 60,
        ["STOCKS FALL AS OIL NEARS RECORD", "Giants Top Dodgers 4-2", "UN warns Sudan"] * 60,
        ["omg cant even 😂😂 #blessed @user", "u r gr8 thx", "rt if u agree lol"] * 60,
        ["Los Angeles, El Paso, San Jose and Las Vegas", "Le Monde and La Repubblica"] * 60,
        ["x = y + 1", "42", "", "N/A", "3.14 kg"] * 60,
        ["Ana de la Cruz", "Otto von Bismarck", "Vincent van Gogh"] * 30,
        ["Vamos to the beach with my amigos, it was so much fun", "das ist so true, I was there"]
        * 40,
        [None, "A man and a woman are on a boat"] * 100,
    ],
)
def test_what_is_in_no_language_or_in_english_is_not_foreign(texts: list[str | None]) -> None:
    assert not count_languages(texts).is_foreign


@pytest.mark.parametrize("name", FOREIGN)
def test_with_few_words_nothing_is_said(name: str) -> None:
    found = count_languages(SENTENCES[name])
    assert found.n_words < FEWEST_WORDS
    assert not found.is_foreign


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Der Hund und die Katze sind in dem Haus und sie essen das Brot.", "German"),
        ("Le chien et le chat sont dans la maison et ils mangent le pain.", "French"),
        ("El perro y el gato son de la casa y comen el pan.", "Spanish"),
        ("Кот спит.", "Cyrillic"),
    ],
)
@pytest.mark.parametrize("n", [5, 30])
def test_one_sentence_that_is_there_often_is_in_its_language(text: str, name: str, n: int) -> None:
    found = count_languages([text] * n)
    assert (found.main, found.is_foreign, found.n_foreign) == (name, True, n)
    assert count_languages([*[text] * n, "A man sleeps."]).is_foreign == (n == 30)
    assert not count_languages([text] * 4).is_foreign
    for phi in ("voice", "permute", "negation", "numerical"):
        with plan(phi) as planned, pytest.raises(InputError, match=f"the texts are {name}"):
            planned.build(Material(corpora=(Texts([text] * n),)))


def test_a_language_has_words_of_its_own() -> None:
    for name, words in FREQUENT_WORDS.items():
        assert words.isdisjoint(FREQUENT_WORDS["English"]) or name == "English"
        others = frozenset().union(*(own for other, own in FREQUENT_WORDS.items() if other != name))
        assert len(words - others) >= 15


def write(path: Path, texts: list[str]) -> str:
    rows = [f'"{text}","{text}",{k % 3}' for k, text in enumerate(texts)]
    path.write_text("\n".join(["premise,hypothesis,label", *rows]) + "\n")
    return str(path)


ENGLISH_ONLY = {
    "antonym", "length-mismatch", "negation", "numerical", "permute", "syn.broad", "syn.careful",
    "syn.paper", "syn.strict", "voice", "word-overlap",
}  # fmt: skip
ANY_LANGUAGE = {"identity", "internalise", "spelling", "swap", "words"}


def test_every_transformation_says_whether_it_is_for_english() -> None:
    assert set(TRANSFORMATIONS.names()) >= ENGLISH_ONLY | ANY_LANGUAGE
    for name in TRANSFORMATIONS.names():
        assert name in ENGLISH_ONLY | ANY_LANGUAGE, "say of a new transformation what it is for"
        if name not in {"negation", "length-mismatch", "word-overlap"}:  # their words may be others
            wanted = "English" if name in ENGLISH_ONLY else None
            assert TRANSFORMATIONS.find(name).language == wanted


class Texts:
    def __init__(self, texts: list[str]) -> None:
        self.texts = texts

    def text_chunks(self):
        import pyarrow as pa

        yield pa.array(self.texts, pa.large_string())


@pytest.mark.parametrize("phi", ["length-mismatch", "negation", "numerical", "word-overlap"])
@pytest.mark.parametrize("name", ["French", "Portuguese", "Cyrillic"])
def test_rules_for_english_refuse_other_languages(phi: str, name: str) -> None:
    material = Material(corpora=(Texts(SENTENCES[name] * 30),))
    with plan(phi) as planned, pytest.raises(InputError, match=f"{phi} is for English, .*{name}"):
        planned.build(material)


@pytest.mark.parametrize(
    "phi", ["identity", "spelling", "negation:tautology='et faux n\\'est pas vrai'", "swap"]
)
def test_what_knows_no_language_takes_all(phi: str) -> None:
    phi = phi.replace("\\'", "’")
    with plan(phi) as planned:
        assert planned.build(Material(corpora=(Texts(SENTENCES["French"] * 30),))) is not None


def test_a_minority_is_counted() -> None:
    texts = SENTENCES["English"] * 60 + SENTENCES["French"] * 4 + SENTENCES["German"]
    told: list[str] = []
    with plan("numerical") as planned:
        planned.build(Material(corpora=(Texts(texts),), on_warning=told.append))
        assert len(told) == 1
        assert told[0].startswith("of 195 texts looked at, 14 are clearly French, German, and")
        few = SENTENCES["English"] * 60 + SENTENCES["French"]
        planned.build(Material(corpora=(Texts(few),), on_warning=told.append))
        assert len(told) == 1


def test_the_commands_say_so(tmp_path: Path) -> None:
    source = write(tmp_path / "fr.csv", SENTENCES["French"] * 10)
    found = CliRunner().invoke(transform, [source, str(tmp_path / "new.csv")])
    assert isinstance(found.exception, InputError)
    assert "syn.careful is for English, and the texts are French" in str(found.exception)
    assert "words with a mapping of your own" in str(found.exception)
    assert not (tmp_path / "new.csv").exists()
    found = CliRunner().invoke(describe, [source])
    assert found.exit_code == 0
    assert "column 'premise': the texts are French, so no reading ease" in found.stderr
    assert "Flesch" not in found.stdout
    english = write(tmp_path / "en.csv", SENTENCES["English"] * 10)
    assert "Flesch" in CliRunner().invoke(describe, [english]).stdout


def read_conllu(path: Path) -> list[str]:
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    return [line.removeprefix("# text = ") for line in lines if line.startswith("# text = ")]


@pytest.mark.slow
def test_real_texts_of_both_kinds(shared: Path) -> None:
    """The figures of docs/transform.md: samples of 30 texts, none of them taken for the other."""
    data = shared / "data"
    for path in sorted((data / "domains").glob("*.txt.gz")):
        lines = gzip.decompress(path.read_bytes()).decode().splitlines()
        for first in range(0, len(lines) - 30, 30):
            assert not count_languages(lines[first : first + 30]).is_foreign, path
        found = count_languages(lines)
        assert found.n_foreign <= found.n_texts / 200
    for path in [
        *(data / "languages").glob("*.gz"),
        data / "portuguese/ud_portuguese_gsd_dev.conllu.gz",
    ]:
        texts = read_conllu(path)
        for first in range(0, len(texts) - 30, 30):
            assert count_languages(texts[first : first + 30]).is_foreign, path
