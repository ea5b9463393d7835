"""Draw a sample from a run: of what its transformation did to the test set."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.annotation.marks import find_marks
from ietest_fast.annotation.sample import Criterion, Sample, Unit, join_pieces, write_sample
from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.transform.edits import ARTICLE_RULE, COMPANION_RULES, count_by_row
from ietest_fast.values import show_names

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.answers.versions import UnlabelledTexts, Version
    from ietest_fast.corpus import Corpus
    from ietest_fast.experiment.finished import FinishedRun, Versions
    from ietest_fast.transform import Transformed
    from ietest_fast.transform.phi import PlannedTransformation, TextSource


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
    return write_sample(
        Sample(
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
    )


def check_run(sample: Sample, run: FinishedRun) -> None:
    """Refuse a run that a sample was not drawn from, or whose texts it contradicts."""
    sample.check_is_of_run()
    if run.test_set != sample.test_set:
        raise InputError(f"was not drawn from the test set of {run.name}", path=sample.path)
    versions = run.read_versions()
    if sample.columns != versions.columns:
        sample.refuse(f"the columns of {run.name} are {show_names(versions.columns)}")
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
    counts = [count_by_row(versions.edits, name, n=len(versions)) for name in versions.columns]
    return np.flatnonzero(np.sum(counts, axis=0))


def _pairs_of_row(
    versions: Versions, row: int, edits: Sequence[Mapping[str, Any]], unit: Unit
) -> list[dict[str, Any]]:
    texts = {name: versions.original[name][row].as_py() for name in versions.columns}
    label = versions.label_names[versions.gold[row]]
    return _show_pairs(texts, edits, unit, row=row, label=label)


def _show_pairs(
    texts: Mapping[str, str],
    edits: Sequence[Mapping[str, Any]],
    unit: Unit,
    *,
    row: int,
    label: str,
) -> list[dict[str, Any]]:
    """Return the pairs of a row: one of all its edits, or one for each substitution.

    A pair has the old texts, by column, with what its edits do to them.
    """
    by_item = {row: edits}
    if unit == "edits":
        by_item = {own[-1]["item"]: own for own in split_edits(edits)}

    def cut(own: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        return {
            name: cut_pieces(text, [edit for edit in own if edit["column"] == name])
            for name, text in texts.items()
        }

    return [
        {"item": item, "row": row, "label": label, "pieces": cut(own)}
        for item, own in by_item.items()
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


# Draw a sample from a labelled file: of what a transformation makes of it.


@dataclass(kw_only=True)
class _Made:
    """Keeps the old rows, in the order of the new ones, and the edits that lead to these."""

    before: pa.Table = field(init=False)
    changed: NDArray[np.bool_] = field(init=False)
    edits: pa.Table = field(init=False)

    def __call__(
        self, before: pa.Table, made: Transformed, _text_columns: Sequence[str]
    ) -> dict[str, pa.Array]:
        from ietest_fast.transform.edits import merge_steps

        self.before, self.changed = before, made.changed
        # Edits of new rows lead from texts that nobody is shown.
        if made.labels is None:
            if made.edits is None:
                raise InputError("the transformation gives no edits, so nobody can be shown any")
            self.edits = merge_steps(before, made.edits)
        return {}


def draw_transformed(
    corpus: Corpus,
    phi: Any,
    path: Path,
    *,
    n: int = DEFAULT_N,
    seed: int = 0,
    unit: Unit = "texts",
    criterion: Criterion | None = None,
    learn_from: Sequence[Corpus | TextSource] = (),
    unlabelled: UnlabelledTexts | None = None,
    n_threads: int | None = None,
) -> Sample:
    """Transform a corpus, draw from the rows that changed without replacement, and write them.

    Different new texts are drawn, each with the same probability, and from no row of the corpus
    more than one. If the transformation sets labels, people see the new texts with their label;
    otherwise they see both versions, as of a run.
    """
    from ietest_fast.answers.versions import transform_corpus
    from ietest_fast.transform import plan

    check_new(path)
    planned = plan(phi)
    _check_question(planned, unit, criterion)
    keeps_labels = planned.keeps_labels
    made = _Made()
    version = transform_corpus(
        corpus,
        planned,
        learn_from=learn_from,
        unlabelled=unlabelled,
        n_threads=n_threads,
        note=made,
    )
    source = corpus.source if unlabelled is None else str(unlabelled.source)
    rng = np.random.default_rng(seed)
    found = _find_different(version, made, corpus.text_columns, keeps_labels, rng)
    if not found:
        raise InputError(
            f"the transformation {version.name!r} changes no text of it: there is nothing to draw",
            path=source,
        )
    rows = version.source_row if unlabelled is not None else corpus.source_rows[version.source_row]
    chosen = _draw_rows(found, rows, rng)[:n]
    shown = made.before if keeps_labels else version.table
    edits = edits_by_row(made.edits, set(chosen)) if keeps_labels else {}
    pairs: list[dict[str, Any]] = []
    for new in chosen:
        if unit == "edits" and len(pairs) >= n:
            break
        texts = {name: shown[name][new].as_py() for name in corpus.text_columns}
        row, label = int(rows[new]), corpus.label_names[version.labels[new]]
        lost = next((name for name, text in texts.items() if text is None), None)
        if lost is not None:
            raise InputError(
                f"the transformation {version.name!r} makes a row without a text of it",
                path=source,
                row=f"row {row}",
                column=lost,
            )
        pairs += _show_pairs(texts, edits.get(new, []), unit, row=row, label=label)
    if keeps_labels:
        order_versions(pairs, rng)
    said = phi if isinstance(phi, str) else version.name
    return write_sample(
        Sample(
            path=path,
            test_set=None,
            source=f"{said} on {Path(source).name}",
            unit=unit,
            criterion=(criterion or "label") if keeps_labels else "new-label",
            n_reworded=len(found),
            seed=seed,
            columns=corpus.text_columns,
            pairs=tuple(pairs),
        )
    )


def _check_question(
    planned: PlannedTransformation, unit: Unit, criterion: Criterion | None
) -> None:
    """Refuse, and close, a transformation about whose texts people cannot be asked this."""
    wrong = None
    if planned.keeps_labels and criterion == "new-label":
        wrong = f"the transformation {planned.name!r} keeps labels and sets none"
    if not planned.keeps_labels and (unit == "edits" or criterion not in {None, "new-label"}):
        wrong = (
            f"the transformation {planned.name!r} sets labels, so there is one version, and people "
            "are asked whether its label is right: leave out --edits and --criterion"
        )
    if wrong is not None:
        planned.close()
        raise InputError(wrong)


def _find_different(
    version: Version,
    made: _Made,
    columns: Sequence[str],
    keeps_labels: bool,
    rng: np.random.Generator,
) -> list[int]:
    """Return new rows that people can be asked about, one, at random, for each new text.

    Where labels are kept, a row's new text is what was reworded of it: equal premises that were
    reworded beside different hypotheses, which stayed as they were, count once.
    """
    wanted = made.changed.copy()
    if keeps_labels:
        is_companion = np.isin(made.edits["rule"].to_pylist(), COMPANION_RULES)
        reworded = made.edits["row"].to_numpy()[~is_companion]
        wanted &= np.bincount(reworded, minlength=len(wanted)) > 0
    unknown = wanted & (version.labels < 0)
    if unknown.any():
        warnings.warn(
            f"{unknown.sum():,} new rows have no label, and are not drawn",
            IetestWarning,
            stacklevel=3,
        )
    rows = rng.permutation(np.flatnonzero(wanted & ~unknown))
    new = [version.table[name].to_pylist() for name in columns]
    old = [made.before[name].to_pylist() for name in columns]
    first: dict[tuple[str | None, ...], int] = {}
    for row in map(int, rows):
        key = tuple(
            None if keeps_labels and after[row] == before[row] else after[row]
            for before, after in zip(old, new, strict=True)
        )
        first.setdefault(key, row)
    return list(first.values())


def _draw_rows(
    found: Sequence[int], rows: NDArray[np.int64], rng: np.random.Generator
) -> list[int]:
    """Put rows into random order, without those that come from a row that is there already."""
    first: dict[int, int] = {}
    for new in rng.permutation(np.array(found, np.int64)):
        first.setdefault(int(rows[new]), int(new))
    return list(first.values())
