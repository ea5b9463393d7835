"""Make the packaged table of reviewed substitutions from the tables in tools/reviewed.

Each accepted substitution of a lemma becomes one of each of its inflected forms. The forms come
from LemmInflect (``pip install lemminflect==0.2.3``)::

    python tools/make_reviewed.py

A verb's form that stands for several (*walked* is past and participle) is kept only if the
substitution is allowed for all of them and puts the same form there; one that is allowed for past
or participle only is kept where the word before it tells them apart.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import lemminflect

from ietest_fast.lexicon import UPOS
from ietest_fast.lexicon.reviewed import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCES = Path(__file__).parent / "reviewed"
TARGET = Path(__file__).parents[1] / "python/ietest_fast/lexicon/resources/reviewed/table.tsv"
COLUMNS = ("form", "pos", "number", "value", "when", "word", "texts", "in_wordnet", "n_read")

#: Our names of forms, the Penn tags that stand for them, and the grammatical number of nouns.
FORMS = {
    "NOUN": {"singular": ("NN",), "plural": ("NNS",)},
    "VERB": {
        "base": ("VB", "VBP"),
        "s": ("VBZ",),
        "past": ("VBD",),
        "part": ("VBN",),
        "ing": ("VBG",),
    },
    "ADJ": {"pos": ("JJ",), "comp": ("JJR",), "sup": ("JJS",)},
    "ADV": {"pos": ("RB",), "comp": ("RBR",), "sup": ("RBS",)},
}
TAGS = {*UPOS, NOTHING} - {""}
NUMBERS = {"singular": 1, "plural": 2}
#: Substitutes that are a form already, for a form of the lemma.
AS_WRITTEN = ("seated", "sitting")
FIRST = {"NOUN": "singular", "VERB": "base", "ADJ": "pos", "ADV": "pos"}
#: Behind these, what is tagged as a verb modifies a noun, or is one: a social gathering.
BEFORE_NOUNS = ("DET", "ADJ")
#: Behind these words, a form that may be past or participle is the one or the other.
BEFORE = {
    "past": ("i", "he", "she", "we", "they", "it", "who"),
    "part": ("am", "is", "are", "was", "were", "be", "been", "being", "has", "have", "had", "'ve"),
}


def forms_of(lemma: str, pos: str) -> dict[str, str]:
    """Return the spelling of each form of a lemma; of several words, the head is inflected.

    The first form is the lemma as it was read, and the only one if LemmInflect does not know it.
    """
    words = lemma.split(" ")
    head = 0 if pos == "VERB" else len(words) - 1
    known = lemminflect.getAllInflections(words[head], upos=pos)
    forms = {}
    for name, tags in FORMS[pos].items():
        spellings = [each for tag in tags for each in known.get(tag, ())]
        if name == FIRST[pos]:
            spellings = [words[head]]
        if pos == "VERB" and name == "part" and not spellings:  # of regular verbs
            spellings = list(known.get("VBD", ()))
        if spellings:
            forms[name] = " ".join((*words[:head], spellings[0], *words[head + 1 :]))
    return forms


def normalise(condition: str) -> str:
    """Write the words of a condition in lower case, each once."""
    place, listed = condition.split("=", 1)
    items = [each if each in TAGS else each.lower() for each in listed.split("|")]
    return f"{place}={'|'.join(dict.fromkeys(items))}"


def compile_one(row: dict[str, str]) -> Iterator[tuple[str, int, str, str]]:
    """Yield (form, number, value, conditions) of one accepted substitution."""
    pos, lemma, substitute = row["pos"], row["lemma"], row["substitute"]
    conditions = [] if row["when"] == "always" else row["when"].split(";")
    named = [each for each in conditions if each.startswith("form=")]
    rest = sorted(normalise(each) for each in conditions if not each.startswith("form="))
    # Comparison is read for itself: the richer man is the wealthier, the fuller list no completer.
    default = list(FORMS[pos]) if pos in {"NOUN", "VERB"} else [FIRST[pos]]
    allowed = named[0].removeprefix("form=").split("|") if named else default
    old, new = forms_of(lemma, pos), forms_of(substitute, pos)
    if substitute in AS_WRITTEN:
        new = dict.fromkeys(FORMS[pos], substitute)
    if pos != "VERB":  # the tagger gives the number, and comparison shows in the spelling
        is_inflected = len(old) > 1
        for name in allowed:
            if name not in old or name not in new:
                continue
            if name != FIRST[pos] and (new[name] == new[FIRST[pos]] or old[name] == lemma):
                continue  # power -> electricity has no plural
            yield old[name], NUMBERS.get(name, 0) * is_inflected, new[name], ";".join(rest)
        return
    if not any(each.startswith("prev=") for each in rest):
        rest.append(f"prev!={'|'.join(BEFORE_NOUNS)}")
    by_spelling: dict[str, set[str]] = {}
    for name, spelling in old.items():
        by_spelling.setdefault(spelling, set()).add(name)
    for spelling, names in by_spelling.items():
        tests = list(rest)
        if names == {"past", "part"} and len(names & set(allowed)) == 1:
            names &= set(allowed)
            tests.append(f"prev={'|'.join(BEFORE[next(iter(names))])}")
        values = {new.get(name, "") for name in names}
        if names <= set(allowed) and len(values) == 1 and all(values):
            yield spelling, 0, values.pop(), ";".join(tests)


def main() -> None:
    """Write the table."""
    with (SOURCES / "substitutions.tsv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["verdict"] == "accept"]
    lines = []
    for row in rows:
        for form, number, value, when in compile_one(row):
            word = f"{row['lemma']}/{row['pos']}"
            lines.append(
                (
                    form,
                    row["pos"],
                    number,
                    value,
                    when,
                    word,
                    row["texts"],
                    row["in_wordnet"],
                    row["n_read"],
                )
            )
    lines.sort(key=lambda line: (line[0], line[1], line[2]))  # the order of choices is kept
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    with TARGET.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(lines)
    print(f"{len(rows)} substitutions, {len(lines)} forms -> {TARGET.name}")


if __name__ == "__main__":
    main()
