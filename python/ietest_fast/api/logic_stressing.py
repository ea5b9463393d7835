"""A finished classifier on the suite logic."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ietest_fast.analyses.logic.candidates import LogicOptions
from ietest_fast.analyses.logic.file import write_logic
from ietest_fast.analyses.logic.measure import measure_logic
from ietest_fast.analyses.logic.run import run_logic
from ietest_fast.analyses.logic.score import read_weights
from ietest_fast.api.data import as_labelled, with_labels
from ietest_fast.api.evaluating import make_classifier, show_bar
from ietest_fast.corpus.batch_writer import check_target
from ietest_fast.errors import InputError
from ietest_fast.stats.inputs import seed_of
from ietest_fast.transform.files import check_distinct

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ietest_fast.analyses.logic.measure import LogicProfile
    from ietest_fast.models.asking import AnswerCache
    from ietest_fast.models.classifiers import Inputs
    from ietest_fast.stats.inputs import Rng

LOGIC = "logic"
"""The value of ``suite`` that is no file."""


def stress_logic(
    classifier: Any,
    data: Any,
    *,
    draws: int = 1,
    nearest: int = 3,
    instances: int = 10_000,
    weights: str | Path | Mapping[str, float] | None = None,
    renormalise: bool = False,
    clusters: str | None = None,
    text_columns: str | Sequence[str] | None = None,
    label_column: str | None = None,
    label_names: Sequence[str] | None = None,
    id_column: str | None = None,
    labels: Sequence[str] | None = None,
    label_map: Mapping[str, str] | None = None,
    inputs: Inputs | None = None,
    input_columns: str | Sequence[str] | None = None,
    batch_size: int | None = None,
    cache: str | Path | AnswerCache | None = None,
    threshold: float | None = None,
    out: str | Path | None = None,
    n_resamples: int | None = None,
    rng: Rng = 0,
    n_threads: int | None = None,
) -> LogicProfile:
    """Hold the answers of a finished classifier against properties of entailment and rules.

    The classifier is asked what follows from what among the sentences of labelled pairs (thesis of
    Salvatore 2020, sections 1.2.3 and 5.1); each distinct input once. ``ie.stress`` with
    ``suite="logic"`` is the same.
    """
    chosen = None if weights is None else read_weights(weights)
    seed = seed_of(rng)
    options = LogicOptions(draws=draws, nearest=nearest, instances=instances, seed=seed)
    texts = (text_columns,) if isinstance(text_columns, str) else text_columns
    seen = (input_columns,) if isinstance(input_columns, str) else input_columns
    if out is not None:
        check_target(Path(out))
        if Path(out).suffix != ".parquet":
            raise InputError("out is a Parquet file, whose name ends in .parquet", path=out)
        if isinstance(data, str | Path):
            check_distinct(Path(data), Path(out))
    found = as_labelled(
        data,
        text_columns=texts,
        label_column=label_column,
        label_names=label_names,
        keep_columns=list(dict.fromkeys(x for x in (clusters, id_column) if x is not None)),
        source="data",
    )
    model = make_classifier(
        classifier,
        found,
        labels=labels,
        inputs=inputs,
        batch_size=batch_size,
        cache=cache,
        threshold=threshold,
    )
    with show_bar() as bar:
        answers, _ = run_logic(
            model,
            found.corpus if label_map is not None else with_labels(found.corpus, model.labels),
            options=options,
            label_map=label_map,
            text_columns=seen,
            clusters=clusters,
            id_column=id_column,
            n_threads=n_threads,
            **bar,
        )
    if out is not None:
        write_logic(answers, Path(out))
    (profile,) = measure_logic(
        [answers],
        weights=chosen,
        leave_out_undefined=renormalise,
        n_resamples=n_resamples,
        seed=seed,
        n_threads=n_threads,
    )
    return profile
