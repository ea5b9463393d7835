"""The corpora that the thesis published (four test sets), read back, and beside ours."""

from __future__ import annotations

import functools
import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ietest_fast.templates.files import load_tasks
from ietest_fast.templates.formulas import Sort
from ietest_fast.templates.grounding import Label, label_of
from ietest_fast.templates.language import load_language
from ietest_fast.templates.naming import Names
from ietest_fast.templates.sampling import CONTRADICTION_OR_NOT, PairDrawer, prove_templates
from reference.text_reader import TextReader

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "simple_negation_test": ("simple-negation", "en"),
    "simple_negation_pt_test": ("simple-negation", "pt"),
    "boolean_coordination_test": ("boolean-coordination", "en"),
    "quantifier_test": ("quantifier", "en"),
}
VERBS = {
    "en": re.compile(" has visited | have visited | didn't visit "),
    "pt": re.compile(" visitou | visitaram | não visitou "),
}
# A place with the name of a person, so that the fact is taken for one about her.
EXCEPTIONS = {"quantifier_test": {"Sharon", "Virginia"}}
LEVEL = 1e-3


@functools.cache
def read_file(shared: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(shared / "data" / "clcd" / f"{name}.csv.gz")


def split_list(text: str, code: str) -> list[str]:
    return re.split(", | and " if code == "en" else ", | e ", text)


def subjects(text: str, code: str) -> list[str]:
    """Who visits somewhere; sentences have one verb each, and a comma between."""
    before = VERBS[code].split(text)[:-1]
    plain = [each.rpartition(", ")[2] for each in before]
    return split_list(before[0], code) if len(before) == 1 else plain


@functools.cache
def find_people(shared: Path, code: str) -> frozenset[str]:
    """Who visits somewhere in any file of the language is a person."""
    files = [name for name, (_, own) in FILES.items() if own == code]
    texts = [
        text
        for name in files
        for column in ("sentence1", "sentence2")
        for text in read_file(shared, name)[column]
    ]
    return frozenset(name for text in texts for name in subjects(text, code)) - {
        "Everyone",
        "Someone",
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_every_row_is_read_and_its_label_proved(shared: Path, name: str) -> None:
    rows, code = read_file(shared, name), FILES[name][1]
    people = find_people(shared, code)
    reader = TextReader(
        load_language(code), lambda each: Sort.PERSON if each in people else Sort.PLACE
    )
    assert len(rows) == 1_000
    others = []
    for row in rows.itertuples():
        premises = reader.read_sentences(row.sentence1)
        (hypothesis,) = reader.read_sentences(row.sentence2)
        is_contradiction = label_of(premises, hypothesis) is Label.CONTRADICTION
        if is_contradiction != bool(row.label):
            others.append(VERBS[code].split(row.sentence2)[1])
    assert Counter(others) == Counter(EXCEPTIONS.get(name, ()))


def sample_like(shared: Path, name: str, n_rows: int) -> pd.DataFrame:
    """Rows of ours with the names of a published file, all of women."""
    task, code = FILES[name]
    people = find_people(shared, code)
    rows = read_file(shared, name)
    places = {
        place
        for text in [*rows["sentence1"], *rows["sentence2"]]
        for behind in VERBS[code].split(text)[1:]
        for place in (split_list(behind, code) if " have" in text or " and " in text else [behind])
        if not place.startswith(("every ", "Everyone"))
    }
    if task == "simple-negation":
        places = {each.partition(", ")[0] for each in places}
    names = Names(women=tuple(sorted(people)), men=(), places=tuple(sorted(places - people)))
    language = load_language(code, "released")
    proved = prove_templates(load_tasks(task, "released"), language)
    table = PairDrawer(proved, names, label_names=CONTRADICTION_OR_NOT, seed=20200721).draw(
        0, n_rows
    )
    return pd.DataFrame(
        {
            "sentence1": table["premise"].to_pylist(),
            "sentence2": table["hypothesis"].to_pylist(),
            "label": [int(each == "contradiction") for each in table["label"].to_pylist()],
        }
    )


def n_names(row: tuple, code: str) -> tuple[int, int]:
    return row.label, len(split_list(row.sentence1, code))


def roles(row: tuple, code: str, people: frozenset[str]) -> tuple[object, ...]:
    """Who stands where: what the premise says of all or of several, and what is new in H."""
    subject, visited = VERBS[code].split(row.sentence2)
    named = set(subjects(row.sentence1, code))
    objects = [
        place
        for behind in VERBS[code].split(row.sentence1)[1:]
        for place in split_list(behind, code)
    ]
    general = tuple(each for each in objects if each.startswith("every "))
    return (
        row.label,
        " have visited " in row.sentence1,
        tuple(sorted(named & {"Everyone", "Someone"})),
        general,
        subject in named,
        visited in objects,
        visited in people if general else None,
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_our_corpora_are_like_the_published_ones(shared: Path, name: str) -> None:
    """Two-sample tests: labels, numbers of names, who stands where, and lengths."""
    code = FILES[name][1]
    people = find_people(shared, code)
    theirs, ours = read_file(shared, name), sample_like(shared, name, 4_000)
    assert theirs["label"].mean() == ours["label"].mean() == 0.5
    for key in (
        lambda row: n_names(row, code),
        lambda row: roles(row, code, people),
    ):
        counts = [Counter(map(key, rows.itertuples())) for rows in (theirs, ours)]
        values = sorted(set(counts[0]) | set(counts[1]), key=str)
        table = np.array([[count[value] for value in values] for count in counts])
        # What the published names make hard to read, such as a place named like a person.
        table = table[:, table.sum(axis=0) >= 20]
        assert table[0].sum() >= 990
        assert stats.chi2_contingency(table).pvalue > LEVEL, dict(
            zip(values, table.T, strict=False)
        )
    lengths = [(rows["sentence1"] + " " + rows["sentence2"]).str.len() for rows in (theirs, ours)]
    assert stats.ks_2samp(*lengths).pvalue > LEVEL
