"""Encoded texts on disk: plain arrays that several processes can map at once."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.answers.versions import encode_labels
from ietest_fast.errors import InputError
from ietest_fast.experiment.artefacts import check_seal, reading, write_sealed_folder
from ietest_fast.experiment.data import MadeTexts, build, count_edits, count_row_edits
from ietest_fast.experiment.identity import identify
from ietest_fast.files import check_file, read_array, read_json
from ietest_fast.models import EncodedSplit
from ietest_fast.models.protocol import ORIGINAL
from ietest_fast.transform import RowError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.corpus import Corpus
    from ietest_fast.experiment.data import Splits
    from ietest_fast.models import Model
    from ietest_fast.transform import PlannedTransformation, Transformation, Transformed

# Smaller arrays are read whole: a mapping costs a page and a file handle.
_MAP_FROM_BYTES = 1 << 16

_NAMES = "versions.json"
_FURTHER = "further.json"
_SPLITS = ("train", "valid", "test")


@dataclass(frozen=True, kw_only=True, eq=False)
class FurtherTexts:
    """A further test set, which is only evaluated."""

    split: EncodedSplit
    """Its texts, as the version ``"original"``, and its labels."""
    source_row: NDArray[np.int64]
    """int64, shape (n,): the row of the test set that each row comes from."""
    changed: NDArray[np.bool_]
    """Which texts differ from those of that row, in the columns that the model sees, bool, shape
    (n,)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class EncodedTexts:
    """Three splits as one model encodes them."""

    train: EncodedSplit
    valid: EncodedSplit
    test: EncodedSplit
    """The splits."""
    changed: Mapping[str, NDArray[np.bool_]]
    """By version: which test texts the transformation changed, in the columns that the model sees,
    bool, shape (n_test,)."""
    further: Mapping[str, FurtherTexts] = field(default_factory=dict)
    """Further test sets, by key of their transformation."""


def save_encoded(
    path: Path,
    splits: Mapping[str, EncodedSplit],
    changed: Mapping[str, NDArray[np.bool_]],
    further: Mapping[str, FurtherTexts] | None = None,
) -> None:
    """Write encoded splits, and a checksum of each file."""
    further = further or {}

    def fill(folder: Path) -> None:
        # Names of versions may hold anything; their numbers make the files.
        names = [ORIGINAL, *changed]
        (folder / _NAMES).write_text(json.dumps(names), encoding="utf-8")
        parts = {name: _list_arrays(split, names) for name, split in splits.items()}
        parts["test"] |= {f"changed{i}": changed[each] for i, each in enumerate(names) if i}
        if further:
            (folder / _FURTHER).write_text(json.dumps(list(further)), encoding="utf-8")
        for i, own in enumerate(further.values()):
            rows = {"source_row": own.source_row, "changed": own.changed}
            parts[f"further{i}"] = _list_arrays(own.split, [ORIGINAL]) | rows
        _write_arrays(folder, parts)

    write_sealed_folder(path, fill)


def _write_arrays(folder: Path, parts: Mapping[str, Mapping[str, NDArray[Any]]]) -> None:
    """Write the arrays of each part; what parts share is one file, and in memory once."""
    written: dict[int, tuple[NDArray[Any], Path]] = {}
    for name, arrays in parts.items():
        (folder / name).mkdir()
        for key, array in arrays.items():
            path = folder / name / f"{key}.npy"
            with suppress(OSError):  # not every file system has links
                if id(array) in written:
                    path.hardlink_to(written[id(array)][1])
            if not path.exists():
                np.save(path, array, allow_pickle=False)
                written[id(array)] = array, path


def _list_arrays(split: EncodedSplit, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    arrays = {f"store.{key}": array for key, array in split.store.arrays().items()}
    arrays |= {f"version{i}": split.versions[each] for i, each in enumerate(names)}
    return {**arrays, "labels": split.labels}


def load_encoded(folder: Path, model: Model) -> EncodedTexts:
    """Load what :func:`save_encoded` wrote; the larger arrays are mapped, not read."""
    with reading(folder):
        names = read_json(folder / _NAMES)
        arrays = {split: _load_arrays(folder / split) for split in _SPLITS}
        splits = {split: _make_split(own, names, model) for split, own in arrays.items()}
        changed = {name: arrays["test"][f"changed{i}"] for i, name in enumerate(names) if i}
        further = {}
        if (folder / _FURTHER).is_file():
            keys = read_json(folder / _FURTHER)
            for i, key in enumerate(keys):
                own = _load_arrays(folder / f"further{i}")
                further[key] = FurtherTexts(
                    split=_make_split(own, [ORIGINAL], model),
                    source_row=own["source_row"],
                    changed=own["changed"],
                )
        return EncodedTexts(**splits, changed=changed, further=further)


def check_encoded(folder: Path, model: Model) -> None:
    """Make sure that encoded splits are as they were written, before workers map them."""
    check_seal(folder)
    load_encoded(folder, model)


def _load_arrays(folder: Path) -> dict[str, NDArray[Any]]:
    return {path.name.removesuffix(".npy"): _load_array(path) for path in folder.glob("*.npy")}


def _load_array(path: Path) -> NDArray[Any]:
    return read_array(path, mapped=path.stat().st_size >= _MAP_FROM_BYTES)


def _make_split(
    arrays: Mapping[str, NDArray[Any]], names: Sequence[str], model: Model
) -> EncodedSplit:
    store = {
        key.removeprefix("store."): array
        for key, array in arrays.items()
        if key.startswith("store.")
    }
    return EncodedSplit(
        store=model.load_store(store),
        versions={name: arrays[f"version{i}"] for i, name in enumerate(names)},
        labels=arrays["labels"],
    )


# The test set under transformations that a run only evaluates: ``eval_phi``.


@dataclass(frozen=True, kw_only=True, eq=False)
class FurtherTest(MadeTexts):
    """The test set as a further transformation makes it."""

    table: pa.Table
    """Its texts, of n rows, each with a label."""
    source_row: NDArray[np.int64]
    """int64, shape (n,): the row of the test set that each row comes from."""
    labels: NDArray[np.int8]
    """int8, shape (n,): the right answers."""
    keeps_labels: bool
    """Whether the rows are those of the test set, in order and with their labels, so that each can
    be compared with its original."""
    n_changed: int
    """Rows whose texts differ from those of their source row."""
    n_unlabelled: int
    """Rows that were left out, because nobody knows their label."""

    def find_changed(self, test: Corpus, columns: Sequence[str]) -> NDArray[np.bool_]:
        """Say which texts differ from those of their source row in some columns, bool, shape
        (n,).
        """
        from ietest_fast.models.tokens import find_changed

        before = test.table.select(list(columns)).take(self.source_row)
        return find_changed(before, self.table, columns, source=test.source)


def transform_test(splits: Splits, planned: PlannedTransformation, folder: Path) -> FurtherTest:
    """Transform the test set alone, or read what an earlier run of the same inputs left."""
    key = identify({**splits.fingerprints(), "evaluation": planned.fingerprint})
    kept = folder / key[:16]
    if not kept.is_dir():
        _transform_into(kept, splits, planned)
    check_seal(kept)
    with reading(kept):
        return _read(kept, splits.test)


def _transform_into(kept: Path, splits: Splits, planned: PlannedTransformation) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    test = splits.test
    transformation, summary = build(planned, splits, kept)
    try:
        made = transformation.transform(
            test.table, test.text_columns, with_edits=True, n_threads=None
        )
    except RowError as error:
        raise error.locate(test) from error
    labels = _find_labels(transformation, made, test)
    known = labels >= 0
    n_unlabelled = int((~known).sum())
    changed = np.asarray(made.changed, dtype=bool)
    if not changed[known].any():
        raise InputError(
            f"eval_phi: the transformation {transformation.name} makes no other text of any of the "
            f"{len(test)} test rows, so there is nothing to evaluate",
            path=test.source,
        )
    table = made.table.select(list(test.text_columns))
    table = table.append_column("source_row", pa.array(made.source_row, pa.int64()))
    table = table.append_column("label", pa.array(labels, pa.int8()))
    if n_unlabelled:
        table = table.filter(pa.array(known))
    keeps_labels = transformation.keeps_labels and made.keeps_rows(len(test)) and not n_unlabelled
    summary |= {
        "keeps_labels": keeps_labels,
        "n_changed": int(changed[known].sum()),
        "n_unlabelled": n_unlabelled,
        "test_edits": {} if made.edits is None else count_edits(made.edits)["test_edits"],
    }

    def fill(place: Path) -> None:
        pq.write_table(table, place / "test.parquet", compression="zstd")
        if made.edits is not None:
            pq.write_table(made.edits, place / "test.edits.parquet", compression="zstd")
        (place / "summary.json").write_text(json.dumps(summary), encoding="utf-8")

    write_sealed_folder(kept, fill)


def _find_labels(
    transformation: Transformation, made: Transformed, test: Corpus
) -> NDArray[np.int8]:
    """Return the right answers, int8, shape (n,); -1 where nobody knows."""
    if transformation.keeps_labels:
        return test.labels[made.source_row]
    if made.labels is None:
        raise InputError(
            f"eval_phi: the transformation {transformation.name} does not keep labels and sets "
            "none, so nobody knows the right answers to what it writes"
        )
    return encode_labels(made.labels, test, transformation.name)


def _read(kept: Path, test: Corpus) -> FurtherTest:
    import pyarrow.parquet as pq

    summary = read_json(kept / "summary.json")
    table = pq.read_table(check_file(kept / "test.parquet"))
    edits = kept / "test.edits.parquet"
    return FurtherTest.of(
        summary,
        table=table.select(list(test.text_columns)),
        source_row=table["source_row"].to_numpy(),
        labels=table["label"].to_numpy(),
        n_edits=count_row_edits(edits, test) if summary["keeps_labels"] else None,
    )
