"""A cell's answers to a further test set, on disk: a table of predictions in a file of its own."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.answers import Predictions
from ietest_fast.errors import InputError, StoreError
from ietest_fast.experiment.artefacts import MADE_ANEW
from ietest_fast.experiment.search import canonical_json
from ietest_fast.files import read_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ietest_fast.experiment.encoded import FurtherTexts

_EVALUATION_KEY = b"ietest-fast.evaluation"


@dataclass(frozen=True, kw_only=True)
class EvaluationRecord:
    """The answers of a cell to a further test set, as they were written."""

    identity: str
    """sha256 of all that affects them."""
    cell: str
    """Identity of the cell."""
    artefact: str
    """File name under ``evaluations/``."""
    sha256: str
    """Of that file."""

    def __post_init__(self) -> None:
        if not all(isinstance(text, str) for text in (self.identity, self.cell)):
            raise ValueError("a name is no text")


@dataclass(frozen=True, kw_only=True, eq=False)
class Answered:
    """What a classifier has answered to a further test set."""

    source_row: NDArray[np.int64]
    """int64, shape (n,): the row of the test set that each row comes from."""
    gold: NDArray[np.int8]
    predicted: NDArray[np.int8]
    """int8, shape (n,): labels."""
    changed: NDArray[np.bool_]
    """bool, shape (n,): whether the texts differ from those of the source row."""

    @property
    def n_correct(self) -> int:
        """How many answers are right."""
        return int((self.gold == self.predicted).sum())


def write_evaluation(
    texts: FurtherTexts,
    predicted: NDArray[np.int8],
    *,
    label_names: Sequence[str],
    identity: str,
    cell: str,
    key: str,
    columns: Mapping[str, Any],
) -> bytes:
    """Write the answers to a further test set, as a table like that of a cell."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from ietest_fast.answers.asking import number_copies

    copies = number_copies(texts.source_row)
    table = Predictions.from_codes(
        items=texts.source_row,
        gold=texts.split.labels,
        versions={key: predicted},
        label_names=label_names,
        columns={**columns, **({"copy": copies} if copies.any() else {})},
        version_columns={"changed": {key: texts.changed}},
    ).table
    described = canonical_json({"identity": identity, "cell": cell}).encode()
    metadata = {**(table.schema.metadata or {}), _EVALUATION_KEY: described}
    sink = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata(metadata), sink, compression="zstd")
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def describe_evaluation(name: str, data: bytes) -> EvaluationRecord:
    """Read what such a file says of itself."""
    import pyarrow.parquet as pq

    described = json.loads(pq.read_schema(io.BytesIO(data)).metadata[_EVALUATION_KEY])
    return EvaluationRecord(**described, artefact=name, sha256=hashlib.sha256(data).hexdigest())


def read_evaluation(path: Path, record: EvaluationRecord) -> Answered:
    """Read the answers to a further test set."""
    import pyarrow.parquet as pq

    data = read_bytes(path, most_bytes=None)
    if describe_evaluation(path.name, data) != record:
        raise StoreError(f"{path}: has changed since it was written; {MADE_ANEW}")
    try:
        found = Predictions.from_table(pq.read_table(io.BytesIO(data)), source=path.name)
    except InputError as error:
        raise ValueError(str(error)) from error
    return Answered(
        source_row=found.table["item"].to_numpy(),
        gold=found.codes("gold").astype(np.int8),
        predicted=found.codes("predicted").astype(np.int8),
        changed=found.table["changed"].to_numpy(),
    )
