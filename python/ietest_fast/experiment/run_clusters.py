"""Clusters of a run's test rows: kept in its folder, for what is measured once it has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.errors import StoreError
from ietest_fast.experiment.artefacts import reading, write_artefact
from ietest_fast.experiment.claim import CLUSTERS
from ietest_fast.files import check_file

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from ietest_fast.experiment.schema import RunResult

_KEY = b"ietest_fast.clusters"
_REMEDY = "give the run's command again, then it is written anew and nothing is trained"


def write_clusters(
    folder: Path, column: str | None, test: str, clusters: NDArray[np.int64] | None
) -> None:
    """Write the clusters of the test rows into a run's folder, or remove those of other
    settings.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / CLUSTERS
    if column is None or clusters is None:
        path.unlink(missing_ok=True)
        return
    table = pa.table({"cluster": clusters}).replace_schema_metadata({_KEY: _describe(column, test)})
    write_artefact(path, lambda file: pq.write_table(table, file, compression="zstd"))


def read_clusters(results: RunResult) -> NDArray[np.int64] | None:
    """Return the cluster of each test row of a run, int64 (n_test,); None without clusters."""
    import pyarrow.parquet as pq

    column = results.settings.data.cluster
    if column is None:
        return None
    path = results.folder / CLUSTERS
    if not path.exists():
        raise StoreError(f"{path}: the clusters of the test rows are missing; {_REMEDY}")
    with reading(path, remedy=_REMEDY):
        table = pq.read_table(check_file(path))
        codes = table["cluster"].to_numpy()
        said = (table.schema.metadata or {}).get(_KEY)
        if codes.dtype != np.int64:
            raise ValueError(f"its clusters are {codes.dtype}, int64 expected")
    wanted = _describe(column, results.settings.data.fingerprints["test"])
    if said != wanted or len(codes) != results.data.test.rows:
        raise StoreError(f"{path}: holds other clusters than the results speak of; {_REMEDY}")
    found: NDArray[np.int64] = codes
    return found


def _describe(column: str, test: str) -> bytes:
    import json

    return json.dumps({"column": column, "test": test}, sort_keys=True).encode()
