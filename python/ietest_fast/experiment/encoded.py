"""Encoded texts on disk: plain arrays that several processes can map at once."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.experiment.artefacts import check_seal, reading, write_sealed_folder
from ietest_fast.files import read_array, read_json
from ietest_fast.models import EncodedSplit
from ietest_fast.models.protocol import ORIGINAL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ietest_fast.models import Model

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
        written: dict[int, tuple[NDArray[Any], Path]] = {}
        for name, arrays in parts.items():
            (folder / name).mkdir()
            for key, array in arrays.items():
                path = folder / name / f"{key}.npy"
                # What splits share is one file, and in memory once.
                with suppress(OSError):  # not every file system has links
                    if id(array) in written:
                        path.hardlink_to(written[id(array)][1])
                if not path.exists():
                    np.save(path, array, allow_pickle=False)
                    written[id(array)] = array, path

    write_sealed_folder(path, fill)


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
