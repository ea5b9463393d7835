"""Labels, ids and versions of files are compared and cast in one place, and nowhere around it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "python" / "ietest_fast"

DOORS = {"values.py", "corpus/labels.py", "corpus/dialects.py"}

# Rooms whose own matter are words and letters.
OF_WORDS = ("lexicon/", "transform/", "templates/", "corpus/demo/")

FOLDS = {
    "atomic.py": "names of files",
    "cli/options.py": "labels of an option, before anything heavy is imported; checked again later",
    "cli/templates.py": "names of files",
    "corpus/columns.py": "names of columns",
    "corpus/formats.py": "endings of files",
    "corpus/similarity.py": "words of texts",
    "corpus/reasoning.py": "keys",
    "analyses/consistency/file.py": "units",
    "answers/logs.py": "endings of files",
    "answers/readers/facts_of_tables.py": "names of columns",
    "answers/readers/helm.py": "HELM's own comparison of free texts",
    "answers/readers/inspect_facts.py": "words for scores, as Inspect reads them",
    "analyses/stress/origins.py": "words of texts",
    "answers/file.py": "endings of files",
    "experiment/config.py": "names of files",
    "experiment/view/summary.py": "the first letter of a sentence",
    "frames.py": "the article of a type",
    "models/alignment.py": "words of texts",
    "models/vocabularies.py": "names of tokenizers, and words",
    "models/networks.py": "words of texts",
    "registry.py": "the first letter of a message",
    "annotation/soundness.py": "words of texts",
    "annotation/marks.py": "marks of people",
    "experiment/finished.py": "conditions that the user has typed",
    "report/tables.py": "names of tables",
    "stats/inputs.py": "spellings of labels in arrays, without Arrow",
}

CASTS = {
    "api/running.py": "versions that this program has named",
    "corpus/reasoning.py": "items that it has numbered or checked",
    "analyses/consistency/buckets.py": "items behind the door",
    "analyses/consistency/asking.py": "items and versions behind the door",
    "analyses/logic/asking.py": "predictions, which are behind the door",
    "analyses/masked/answers.py": "first choices of a masked model, which are tokens",
    "answers/asking.py": "items behind the door",
    "analyses/stress/asking.py": "predictions, which are behind the door",
    "transform/files.py": "labels that a transformation has set",
}

NAMES = ("item", "version", "gold", "predicted", "label", "ids")


def modules(*, leave: tuple[str, ...] = ()) -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name not in DOORS and not name.startswith(leave):
            yield name, ast.parse(path.read_text("utf-8"))


def calls(tree: ast.AST, *methods: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if is_call and node.func.attr in methods:
            yield node


def casts_names(node: ast.Call) -> bool:
    """Whether a call casts a column of ids, versions or labels to strings."""
    assert isinstance(node.func, ast.Attribute)
    kinds = {ast.unparse(each) for each in node.args[:1]}
    source = ast.unparse(node.func.value)
    return bool(kinds & {"pa.string()", "pa.large_string()", "'string'"}) and any(
        name in source for name in NAMES
    )


def folding(trees: Iterator[tuple[str, ast.Module]]) -> set[str]:
    return {name for name, tree in trees if any(calls(tree, "casefold", "lower"))}


def casting(trees: Iterator[tuple[str, ast.Module]]) -> set[str]:
    return {name for name, tree in trees if any(map(casts_names, calls(tree, "cast")))}


@pytest.mark.slow
def test_labels_are_folded_in_one_place() -> None:
    found = folding(modules(leave=OF_WORDS))
    assert found - set(FOLDS) == set(), "compare labels by corpus.labels.label_key"
    assert set(FOLDS) - found == set(), "no longer needed"


@pytest.mark.slow
def test_ids_and_versions_are_cast_in_one_place() -> None:
    found = casting(modules())
    assert found - set(CASTS) == set(), "use values.as_texts, as_items or name_versions"
    assert set(CASTS) - found == set(), "no longer needed"


@pytest.mark.slow
def test_names_of_labels_are_not_compared_as_they_stand() -> None:
    """No ``value == "entailment"``: only what :func:`label_key` has returned is compared so."""
    words = {"entailment", "neutral", "contradiction", "yes", "no"}
    for name, tree in modules(leave=OF_WORDS):
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                said = {side.value for side in sides if isinstance(side, ast.Constant)} & words
                folded = any("label_key" in ast.unparse(side) for side in sides)
                assert not said or folded, f"{name}, line {node.lineno}"


@pytest.mark.slow
def test_numbers_of_json_are_not_cast_where_they_are_read() -> None:
    """No ``int(record["n"])`` in readers: true is no 1, "3" no 3, and 1e400 is infinite."""
    for name, tree in modules():
        if not name.startswith(("answers/readers/", "corpus/")):
            continue
        for node in ast.walk(tree):
            is_cast = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            if is_cast and node.func.id in {"int", "float"} and node.args:
                inner = ast.walk(node.args[0])
                keys = [each.slice for each in inner if isinstance(each, ast.Subscript)]
                texts = [key for key in keys if isinstance(getattr(key, "value", None), str)]
                assert not texts, f"{name}, line {node.lineno}"


@pytest.mark.parametrize(
    ("code", "find"),
    [
        ("a = name.strip().casefold() == other", folding),
        ("def f(x):\n    return x.lower() in known", folding),
        ("ids = table['item'].cast(pa.string())", casting),
        ("pc.equal(own.gold.cast(pa.large_string()), x)", casting),
    ],
)
def test_a_way_around_is_found(code: str, find) -> None:
    assert find(iter([("new.py", ast.parse(code))])) == {"new.py"}
