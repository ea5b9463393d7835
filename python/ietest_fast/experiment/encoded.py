"""Encoded texts on disk: plain arrays that several processes can map at once."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.experiment.artefacts import check_seal, reading, write_sealed_folder
from ietest_fast.models import EncodedSplit

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from ietest_fast.models import Model

# Smaller arrays are read whole: a mapping costs a page and a file handle.
_MAP_FROM_BYTES = 1 << 16


@dataclass(frozen=True, kw_only=True, eq=False)
class EncodedTexts:
    """Three splits as one model encodes them.

    Attributes
    ----------
    train, valid, test
        The splits.
    test_changed
        Which test texts the transformation changed, in the columns that the model sees, bool, shape
        (n_test,).
    """

    train: EncodedSplit
    valid: EncodedSplit
    test: EncodedSplit
    test_changed: NDArray[np.bool_]


def save_encoded(
    path: Path, splits: Mapping[str, EncodedSplit], test_changed: NDArray[np.bool_]
) -> None:
    """Write encoded splits, and a checksum of each file.

    Parameters
    ----------
    path
        A folder that does not exist yet.
    splits
        ``"train"``, ``"valid"`` and ``"test"``.
    test_changed
        As in :class:`EncodedTexts`.
    """

    def fill(folder: Path) -> None:
        written: dict[int, tuple[NDArray[Any], Path]] = {}
        for name, split in splits.items():
            (folder / name).mkdir()
            arrays = {f"store.{key}": array for key, array in split.store.arrays().items()}
            arrays |= {
                **split.versions,
                "labels": split.labels,
            }
            if name == "test":
                arrays["changed"] = test_changed
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


def load_encoded(folder: Path, model: Model) -> EncodedTexts:
    """Load what :func:`save_encoded` wrote; the larger arrays are mapped, not read.

    Raises
    ------
    StoreError
        If something is missing or cannot be read.
    """
    with reading(folder):
        train, valid, test = (_load_arrays(folder / name) for name in ("train", "valid", "test"))
        return EncodedTexts(
            train=_make_split(train, model),
            valid=_make_split(valid, model),
            test=_make_split(test, model),
            test_changed=test["changed"],
        )


def check_encoded(folder: Path, model: Model) -> None:
    """Make sure that encoded splits are as they were written, before workers map them.

    Raises
    ------
    StoreError
        If they are not; the message says what to delete.
    """
    check_seal(folder)
    load_encoded(folder, model)


def _load_arrays(folder: Path) -> dict[str, NDArray[Any]]:
    return {path.name.removesuffix(".npy"): _load_array(path) for path in folder.glob("*.npy")}


def _load_array(path: Path) -> NDArray[Any]:
    mapped = path.stat().st_size >= _MAP_FROM_BYTES
    array: NDArray[Any] = np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
    return array


def _make_split(arrays: Mapping[str, NDArray[Any]], model: Model) -> EncodedSplit:
    store = {
        key.removeprefix("store."): array
        for key, array in arrays.items()
        if key.startswith("store.")
    }
    return EncodedSplit(
        store=model.load_store(store),
        versions={name: arrays[name] for name in ("original", "transformed")},
        labels=arrays["labels"],
    )
