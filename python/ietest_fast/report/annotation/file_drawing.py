"""Draw a sample from a labelled file: of what a transformation makes of it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.report.annotation.drawing import (
    DEFAULT_N,
    check_new,
    edits_by_row,
    order_versions,
    show_pair,
    split_edits,
)
from ietest_fast.report.annotation.sample import Criterion, Sample, Unit, write_sample
from ietest_fast.transform.edits import COMPANION_RULES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.corpus import Corpus
    from ietest_fast.evaluation.foreign_texts import ForeignTexts
    from ietest_fast.evaluation.versions import Version
    from ietest_fast.transform import Transformed
    from ietest_fast.transform.kinds import TextSource


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
    foreign: ForeignTexts | None = None,
    n_threads: int | None = None,
) -> Sample:
    """Transform a corpus, draw from the rows that changed without replacement, and write them.

    Different new texts are drawn, each with the same probability, and from no row of the corpus
    more than one. If the transformation sets labels, people see the new texts with their label;
    otherwise they see both versions, as of a run.
    """
    from ietest_fast.evaluation.versions import transform_corpus
    from ietest_fast.transform import plan

    check_new(path)
    planned = plan(phi)
    if not planned.keeps_labels and (unit == "edits" or criterion not in {None, "new-label"}):
        planned.close()
        raise InputError(
            f"the transformation {planned.name!r} sets labels, so there is one version, and people "
            "are asked whether its label is right: leave out --edits and --criterion"
        )
    if planned.keeps_labels and criterion == "new-label":
        planned.close()
        raise InputError(f"the transformation {planned.name!r} keeps labels and sets none")
    keeps_labels = planned.keeps_labels
    made = _Made()
    version = transform_corpus(
        corpus, planned, learn_from=learn_from, foreign=foreign, n_threads=n_threads, note=made
    )
    source = corpus.source if foreign is None else str(foreign.source)
    rng = np.random.default_rng(seed)
    found = _find_different(version, made, corpus.text_columns, keeps_labels, rng)
    if not found:
        raise InputError(
            f"the transformation {version.name!r} changes no text of it: there is nothing to draw",
            path=source,
        )
    rows = version.source_row if foreign is not None else corpus.source_rows[version.source_row]
    chosen = _draw_rows(found, rows, rng)[:n]
    labels = [corpus.label_names[code] for code in version.labels]
    pairs: list[dict[str, Any]] = []
    if keeps_labels:
        edits = edits_by_row(made.edits, set(chosen))
        for new in chosen:
            texts = {name: made.before[name][new].as_py() for name in corpus.text_columns}
            parts = [edits[new]] if unit == "texts" else split_edits(edits[new])
            if unit == "edits" and len(pairs) >= n:
                break
            row = int(rows[new])
            pairs += [
                show_pair(
                    texts,
                    own,
                    item=row if unit == "texts" else own[-1]["item"],
                    row=row,
                    label=labels[new],
                )
                for own in parts
            ]
        order_versions(pairs, rng)
    else:
        for new in chosen:
            texts = {name: version.table[name][new].as_py() for name in corpus.text_columns}
            row = int(rows[new])
            for name, text in texts.items():
                if text is None:
                    raise InputError(
                        f"the transformation {version.name!r} makes a row without a text of it",
                        path=source,
                        row=f"row {row}",
                        column=name,
                    )
            pairs.append(show_pair(texts, (), item=row, row=row, label=labels[new]))
    said = phi if isinstance(phi, str) else version.name
    sample = Sample(
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
    write_sample(sample)
    return sample


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
