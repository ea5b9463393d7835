"""Draw a sample from a run: of what its transformation did to the test set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.corpus.columns import list_names
from ietest_fast.errors import InputError
from ietest_fast.report.annotation.marks import find_marks
from ietest_fast.report.annotation.sample import Criterion, Sample, Unit, join_pieces, write_sample
from ietest_fast.transform.edits import ARTICLE_RULE, COMPANION_RULES

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.report.runs import FinishedRun, Versions

DEFAULT_N = 400
"""Pairs of a sample, as in the paper's Tables 1 and 16."""


def draw_sample(
    run: FinishedRun,
    path: Path,
    *,
    n: int = DEFAULT_N,
    seed: int = 0,
    unit: Unit = "texts",
    criterion: Criterion = "label",
) -> Sample:
    """Draw reworded observations of a run's test set without replacement, and write them."""
    check_new(path)
    versions = run.read_versions()
    reworded = _reworded_rows(versions)
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(reworded)[:n]
    edits = edits_by_row(versions.edits, {int(row) for row in chosen})
    pairs: list[dict[str, Any]] = []
    for row in map(int, chosen):
        if unit == "texts" or len(pairs) < n:
            pairs += _pairs_of_row(versions, row, edits[row], unit)
    order_versions(pairs, rng)
    sample = Sample(
        path=path,
        test_set=str(run.test_set),
        source=f"{run.transformation} on {run.data_name}",
        unit=unit,
        criterion=criterion,
        n_reworded=len(reworded),
        seed=seed,
        columns=versions.columns,
        pairs=tuple(pairs),
    )
    write_sample(sample)
    return sample


def check_run(sample: Sample, run: FinishedRun) -> None:
    """Refuse a run that a sample was not drawn from, or whose texts it contradicts."""
    sample.check_is_of_run()
    if run.test_set != sample.test_set:
        raise InputError(f"was not drawn from the test set of {run.name}", path=sample.path)
    versions = run.read_versions()
    if sample.columns != versions.columns:
        sample.refuse(f"the columns of {run.name} are {list_names(versions.columns)}")
    drawn, n_reworded = pairs_of_run(versions, {pair["row"] for pair in sample.pairs}, sample.unit)
    if sample.n_reworded != n_reworded:
        said = f"n_reworded is {sample.n_reworded:,}, and {run.name} has {n_reworded:,}"
        sample.refuse(f"{said} reworded observations")
    for pair in sample.pairs:
        expected = drawn.get(pair["item"])
        if expected is None or _facts_of(pair) != _facts_of(expected):
            sample.refuse(
                f"item {pair['item']}, row {pair['row']}: row, label or texts are not those of "
                f"{run.name}"
            )


def _facts_of(pair: Mapping[str, Any]) -> tuple[Any, ...]:
    """Give what the run says of a pair, however its texts are cut."""
    texts = [join_pieces(pair, without=kind) for kind in ("new", "old")]
    return pair["row"], pair["label"], *texts


def pairs_of_run(
    versions: Versions, rows: Collection[int], unit: Unit
) -> tuple[dict[int, dict[str, Any]], int]:
    """Give all pairs that can be drawn of some rows, by item, and how many rows are reworded.

    A sample is held against them: a number that somebody has edited names another text.
    """
    reworded = _reworded_rows(versions)
    edits = edits_by_row(versions.edits, set(rows) & set(map(int, reworded)))
    found = [pair for row, own in edits.items() for pair in _pairs_of_row(versions, row, own, unit)]
    return {pair["item"]: pair for pair in found}, len(reworded)


def _reworded_rows(versions: Versions) -> NDArray[np.int64]:
    from ietest_fast.report.effects import find_substitutions

    return np.flatnonzero(find_substitutions(versions).n_by_row)


def _pairs_of_row(
    versions: Versions, row: int, edits: Sequence[Mapping[str, Any]], unit: Unit
) -> list[dict[str, Any]]:
    texts = {name: versions.original[name][row].as_py() for name in versions.columns}
    label = versions.label_names[versions.gold[row]]
    if unit == "texts":
        return [show_pair(texts, edits, item=row, row=row, label=label)]
    return [
        show_pair(texts, own, item=own[-1]["item"], row=row, label=label)
        for own in split_edits(edits)
    ]


def check_new(path: Path) -> None:
    """Refuse the name of a sample that is there already, or that marks are left of."""
    if path.exists():
        raise InputError("is there already, and marks may belong to it; name another", path=path)
    left = find_marks(path)
    if left:
        raise InputError(
            f"marks of a sample of this name are still there: {', '.join(left.values())}; name "
            "another, or put them away",
            path=path,
        )


def edits_by_row(edits: pa.Table, rows: Collection[int]) -> dict[int, list[dict[str, Any]]]:
    """Return the edits of some rows, each with ``item``, its place among all edits."""
    found: dict[int, list[dict[str, Any]]] = {}
    for place, edit in enumerate(edits.to_pylist()):
        if edit["row"] in rows:
            found.setdefault(edit["row"], []).append({**edit, "item": place})
    return found


def show_pair(
    texts: Mapping[str, str],
    edits: Sequence[Mapping[str, Any]],
    *,
    item: int,
    row: int,
    label: str,
) -> dict[str, Any]:
    """Return a pair of a sample: old texts, by column, with what edits do to them."""
    return {
        "item": item,
        "row": row,
        "label": label,
        "pieces": {
            name: cut_pieces(text, [edit for edit in edits if edit["column"] == name])
            for name, text in texts.items()
        },
    }


def order_versions(pairs: Sequence[dict[str, Any]], rng: np.random.Generator) -> None:
    """Say of each pair which version is shown first.

    This is drawn after the rows, so that it is the same sample whatever is marked.
    """
    for pair, is_first in zip(pairs, rng.random(len(pairs)) < 0.5, strict=True):
        pair["first"] = "original" if is_first else "rephrased"


def split_edits(edits: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Part the edits of a row: each substitution, behind the article that it brought along.

    Edits that bring a text into normal form belong to none.
    """
    parts: list[list[Mapping[str, Any]]] = []
    article: Mapping[str, Any] | None = None
    for edit in sorted(edits, key=lambda edit: (edit["column"], edit["start"])):
        if edit["rule"] == ARTICLE_RULE:
            article = edit
        elif edit["rule"] not in COMPANION_RULES:
            is_own = article is not None and article["column"] == edit["column"]
            parts.append([article, edit] if article is not None and is_own else [edit])
            article = None
    return parts


def cut_pieces(text: str, edits: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Cut a text at its edits: pieces kept, taken out (``old``) and put in (``new``)."""
    data = text.encode()
    pieces, at = [], 0
    for edit in sorted(edits, key=lambda edit: edit["start"]):
        pieces.append(["keep", data[at : edit["start"]].decode()])
        pieces.append(["old", edit["old"]])
        pieces.append(["new", edit["new"]])
        at = edit["end"]
    pieces.append(["keep", data[at:].decode()])
    return [piece for piece in pieces if piece[1]]
