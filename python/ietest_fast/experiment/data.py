"""From a configuration to three splits in two versions."""

from __future__ import annotations

import json
import warnings
from contextlib import ExitStack
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.experiment.artefacts import check_seal, reading, write_sealed_folder
from ietest_fast.experiment.identity import identify
from ietest_fast.files import check_file, read_json
from ietest_fast.models import SplitTexts
from ietest_fast.models.protocol import ORIGINAL
from ietest_fast.numerals import say_count
from ietest_fast.transform import Material, RowError
from ietest_fast.transform import plan as plan_phi
from ietest_fast.values import find_missing, number_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.corpus import Corpus
    from ietest_fast.experiment.config import DataConfig
    from ietest_fast.transform import PlannedTransformation, Transformation, Transformed


TRANSFORMED = "transformed"
"""The version that one transformation makes of a split."""


@dataclass(frozen=True, kw_only=True)
class Splits:
    """The three splits of a classification task, untransformed.

    Raises
    ------
    InputError
        If the splits differ in columns or labels, one has fewer than 2 rows, or the training set
        has one label only.
    """

    train: Corpus
    valid: Corpus
    test: Corpus
    """D_T, D_V and D_Te, with the same text columns and label names."""

    def __post_init__(self) -> None:
        from ietest_fast.corpus import require_trainable

        for name, corpus in self.items():
            for noun, own, said in (
                ("text columns", corpus.text_columns, self.train.text_columns),
                # Labels are numbers from here on: the same name has to have the same number.
                ("labels", corpus.label_names, self.train.label_names),
            ):
                if own != said:
                    raise InputError(
                        f"the {name} set has the {noun} {', '.join(own)}, the training set "
                        f"{', '.join(said)}",
                        path=corpus.source,
                    )
            if len(corpus) < 2:
                raise InputError(
                    f"the {name} set has {len(corpus)} labelled rows; at least 2 are needed",
                    path=corpus.source,
                )
        require_trainable(self.train)

    def items(self) -> list[tuple[str, Corpus]]:
        """Give names and corpora, in order."""
        return [("train", self.train), ("valid", self.valid), ("test", self.test)]

    def fingerprints(self) -> dict[str, str]:
        """Give the fingerprint of each split's texts and labels."""
        return {name: corpus.fingerprint for name, corpus in self.items()}

    @property
    def n_classes(self) -> int:
        """Number of labels of the task."""
        return len(self.train.label_names)


def read_splits(config: DataConfig, *, keep: Sequence[str] = ()) -> Splits:
    """Read or make the three splits; :class:`Splits` checks that they fit together."""
    splits = _read_splits(config, keep)
    if not config.shuffle_labels:
        return splits
    shuffled = {
        name: corpus.with_shuffled_labels(number)
        for number, (name, corpus) in enumerate(splits.items())
    }
    return Splits(**shuffled)


def _read_splits(config: DataConfig, keep: Sequence[str]) -> Splits:
    from ietest_fast.corpus import read_corpora, reading_csv, split

    if config.demo is not None:
        from ietest_fast.corpus import demo_splits

        train, valid, test = demo_splits(**config.demo.model_dump())
        return Splits(train=train, valid=valid, test=test)
    whole = None if config.split is None else config.split.file
    grouping = None if config.split is None else config.split.group_by
    paths = [path for path in (config.train, config.valid, config.test, whole) if path is not None]
    with reading_csv(config.csv):
        corpora = read_corpora(
            paths,
            text_columns=config.text_columns,
            label_column=config.label_column,
            label_names=config.label_names,
            missing_text=config.missing_text,
            quoted=config.quoted,
            # The last file is the one to split, or the test set.
            keep_in_last=list(
                dict.fromkeys(
                    name for name in (config.cluster, grouping, *keep) if name is not None
                )
            ),
        )
    if config.split is not None:
        own_train = [] if config.split.n_train is None else [config.split.n_train]
        parts = split(
            corpora[-1],
            [*own_train, config.split.n_valid, config.split.n_test],
            seed=config.split.seed,
            group_by=grouping,
        )
        corpora = (*corpora[:-1], *parts)
    train, valid, test = corpora
    return Splits(train=train, valid=valid, test=test)


def read_groups(
    cluster: str | None, strata: Sequence[str], test: Corpus
) -> tuple[NDArray[np.int64] | None, dict[str, NDArray[Any]]]:
    """Return the test rows' clusters, as numbers, and their strata by column, each of shape (n,).

    Results are judged by these groups, so a row that is in none is refused before work begins.
    """
    from ietest_fast.stats.strata import read_strata

    _refuse_unknown([*([] if cluster is None else [cluster]), *strata], test)
    clusters = None if cluster is None else _number_clusters(cluster, test)
    found = {}
    for name in strata:
        distinct, codes = read_strata(test.table.column(name), len(test), name=name)
        found[name] = np.asarray(distinct)[codes]
    return clusters, found


def _refuse_unknown(names: Sequence[str], test: Corpus) -> None:
    for name in names:
        if name not in test.table.column_names:
            raise InputError(
                f"there is no such column; there are {', '.join(test.table.column_names)}",
                path=test.source,
                column=name,
            )


def _number_clusters(name: str, test: Corpus) -> NDArray[np.int64]:
    from ietest_fast.stats.inputs import as_clusters

    clusters = test.table.column(name)
    missing = np.flatnonzero(find_missing(clusters))
    if missing.size:
        raise InputError(
            f"{say_count(missing.size, 'row belongs', 'rows belong')} to no cluster; fill the "
            "column in, or name another (data.cluster, --clusters)",
            path=test.source,
            row=f"row {missing[0]}",
            column=name,
        )
    codes, _ = as_clusters(clusters, len(test), name)
    return codes


@dataclass(frozen=True, kw_only=True, eq=False)
class MadeTexts:
    """What a transformation says of the texts that it made."""

    name: str
    fingerprint: str
    """Of the transformation."""
    described: dict[str, Any]
    """What it says about itself, now that it has learnt from the texts."""
    test_edits: dict[str, int]
    """Number of edits of the test set by rule."""
    warnings: tuple[str, ...] = ()
    """Whole sentences about the transformation's options and material."""
    n_edits: NDArray[np.int64] | None = None
    """Edits of each test row that it made, those left out that reword nothing, shape (n,); None if
    the transformation does not tell."""

    @classmethod
    def of(cls, summary: Mapping[str, Any], **more: Any) -> Self:
        """Take the fields from a summary that was kept with the texts, and tell its warnings."""
        messages = tuple(summary["warnings"])
        for message in messages:
            warnings.warn(message, IetestWarning, stacklevel=3)
        own = {each.name: summary[each.name] for each in fields(cls) if each.name in summary}
        return cls(**own | more | {"warnings": messages})


@dataclass(frozen=True, kw_only=True)
class TransformedSplits(MadeTexts):
    """Both versions of the three splits."""

    texts: dict[str, SplitTexts]
    """By split: the versions ``"original"`` and ``"transformed"``."""
    changed: dict[str, NDArray[np.bool_]]
    """By split: which observations the transformation changed, bool, shape (n,)."""
    n_test_reworded: int
    """Number of test observations with an edit that is more than a normalisation."""


def kept_folder(folder: Path, fingerprints: Mapping[str, str], transformation: str) -> Path:
    """Say where both versions of three splits are kept."""
    key = identify({**fingerprints, "transformation": transformation})
    return folder / key[:16]


def transform_splits(
    splits: Splits,
    planned: PlannedTransformation,
    folder: Path,
    *,
    listener: Callable[[int], None] | None = None,
) -> TransformedSplits:
    """Transform every split, or read what an earlier run of the same inputs left."""
    kept = kept_folder(folder, splits.fingerprints(), planned.fingerprint)
    if not kept.is_dir():
        _transform_into(kept, splits, planned, listener)
    check_seal(kept)
    with reading(kept):
        return _read_transformed(kept, splits)


def check_keeps_labels(planned: PlannedTransformation) -> None:
    """Stop before anything is begun unless a transformation keeps labels."""
    if not planned.keeps_labels:
        raise InputError(_not_an_equivalence(planned.name))


def _not_an_equivalence(name: str) -> str:
    return (
        f"the transformation {name} does not keep every row with its label; a run compares the "
        "two versions of the same labelled rows, so it needs an equivalence (keeps_labels is "
        "true, and no row is left out or added)"
    )


def _transform_into(
    kept: Path,
    splits: Splits,
    planned: PlannedTransformation,
    listener: Callable[[int], None] | None,
) -> None:
    import pyarrow.parquet as pq

    transformation, summary = build(planned, splits, kept)

    def fill(place: Path) -> None:
        for n_done, (name, corpus) in enumerate(splits.items()):
            result = _transform(transformation, name, corpus)
            table = result.table.select(list(corpus.text_columns))
            table = table.append_column("changed", [np.asarray(result.changed, dtype=bool)])
            pq.write_table(table, place / f"{name}.parquet", compression="zstd")
            if result.edits is not None:
                pq.write_table(result.edits, place / f"{name}.edits.parquet", compression="zstd")
                summary.update(count_edits(result.edits))
            if listener is not None:
                listener(n_done + 1)
        (place / "summary.json").write_text(json.dumps(summary), encoding="utf-8")

    write_sealed_folder(kept, fill)


def build(
    planned: PlannedTransformation, splits: Splits, kept: Path
) -> tuple[Transformation, dict[str, Any]]:
    """Build a transformation, and begin the summary that is kept with its texts."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    told: list[str] = []
    transformation = planned.build(
        Material(
            corpora=(splits.train, splits.valid),
            source=splits.train,
            tag_cache=kept.parent / "tags.sqlite",
            on_warning=told.append,
        )
    )
    summary = {
        "name": transformation.name,
        "fingerprint": transformation.fingerprint,
        "described": transformation.describe(),
        "warnings": told,
    }
    return transformation, summary


def _transform(transformation: Transformation, split: str, corpus: Corpus) -> Transformed:
    """Transform a split, or say why a run cannot use what becomes of it."""
    try:
        result = transformation.transform(
            corpus.table, corpus.text_columns, with_edits=split == "test", n_threads=None
        )
    except RowError as error:
        raise error.locate(corpus) from error
    if not (transformation.keeps_labels and result.keeps_rows(len(corpus))):
        raise InputError(_not_an_equivalence(transformation.name))
    if split == "test" and result.edits is None:
        raise InputError(
            f"the transformation {transformation.name} tells no edits, by which a run shows and "
            "counts what became of the test texts"
        )
    if result.edits is not None:
        untold = np.setdiff1d(np.flatnonzero(result.changed), result.edits["row"].to_numpy())
        if untold.size:
            raise InputError(
                f"the transformation {transformation.name} changes row {untold[0] + 1} of the test "
                "set but tells no edit of it, by which a run counts reworded texts"
            )
    return result


def count_edits(edits: pa.Table) -> dict[str, Any]:
    """Count edits of a test set: ``test_edits`` by rule, and the rows reworded by any."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from ietest_fast.transform.edits import NORMALISING_RULE, count_rules

    rules = edits["rule"].cast(pa.string())
    rewording = edits["row"].filter(pc.not_equal(rules, NORMALISING_RULE))
    return {
        "test_edits": count_rules(edits),
        "n_test_reworded": len(pc.unique(rewording)),
    }


def _read_transformed(kept: Path, splits: Splits) -> TransformedSplits:
    import pyarrow.parquet as pq

    summary = read_json(kept / "summary.json")
    texts: dict[str, SplitTexts] = {}
    changed: dict[str, NDArray[np.bool_]] = {}
    for name, corpus in splits.items():
        table: pa.Table = pq.read_table(check_file(kept / f"{name}.parquet"))
        changed[name] = table["changed"].to_numpy()
        texts[name] = SplitTexts(
            versions={ORIGINAL: corpus.table, TRANSFORMED: table.drop_columns(["changed"])},
            labels=corpus.labels,
        )
    if summary["n_test_reworded"] == 0:
        raise InputError(
            f"the transformation {summary['name']} rewords none of the {len(splits.test)} test "
            "texts, so there is nothing to test",
            path=splits.test.source,
        )
    return TransformedSplits.of(
        summary,
        texts=texts,
        changed=changed,
        n_edits=count_row_edits(kept / "test.edits.parquet", splits.test),
    )


def count_row_edits(path: Path, test: Corpus) -> NDArray[np.int64] | None:
    """Count the edits of each test row, but those that reword nothing, shape (n,).

    None if there is no file of edits.
    """
    import pyarrow.parquet as pq

    from ietest_fast.transform.edits import count_by_row

    if not path.is_file():
        return None
    there = set(pq.read_schema(check_file(path)).names)
    edits = pq.read_table(path, columns=sorted(there & {"row", "column", "rule"}))
    counts = [count_by_row(edits, column, n=len(test)) for column in test.text_columns]
    summed: NDArray[np.int64] = np.sum(counts, axis=0)
    return summed


# The transformations of a run: those that it trains on, and those that it only evaluates.


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannedPhi:
    """One of the transformations of a run."""

    key: str
    """What the run calls it, and the version of the texts that it makes: its name, numbered where
    several have the same; of one that is only evaluated, the name with its options."""
    planned: PlannedTransformation
    """The transformation, not built yet."""
    settings: Mapping[str, Any]
    """What is recorded of it, ready for JSON."""

    @property
    def fingerprint(self) -> str:
        """Of all that it hangs on, before texts are seen."""
        return self.planned.fingerprint


def plan_phis(
    chosen: Sequence[Any], evaluated: Sequence[Any]
) -> tuple[tuple[PlannedPhi, ...], tuple[PlannedPhi, ...]]:
    """Plan the transformations of a run."""
    with ExitStack() as held:
        first = [held.enter_context(plan_phi(each)) for each in chosen]
        for own in first:
            check_keeps_labels(own)
        more = [held.enter_context(plan_phi(each)) for each in evaluated]
        found = _name_phis(first, more)
        held.pop_all()
    return found


def _name_phis(
    chosen: Sequence[PlannedTransformation], evaluated: Sequence[PlannedTransformation]
) -> tuple[tuple[PlannedPhi, ...], tuple[PlannedPhi, ...]]:
    """Give each transformation the key by which results tell it apart; none may be there twice."""
    first, more = map(_describe_phis, (chosen, evaluated))
    refuse_twins("transformation", [(own["name"], identify(own)) for own in first])
    _refuse_known(first, more)
    refuse_twins("transformation", [(own["name"], identify(own)) for own in more], key="eval_phi")
    keys = number_names([own.name for own in chosen], taken=[ORIGINAL])
    further = number_names([own.spelled or own.name for own in evaluated], taken=[ORIGINAL, *keys])
    return _key_phis(keys, chosen, first), _key_phis(further, evaluated, more)


def _describe_phis(planned: Sequence[PlannedTransformation]) -> list[dict[str, Any]]:
    """Return what is recorded of transformations; two of the same record are the same."""
    return [{**own.describe(), "inputs": own.fingerprint} for own in planned]


def _key_phis(
    keys: Sequence[str],
    planned: Sequence[PlannedTransformation],
    settings: Sequence[Mapping[str, Any]],
) -> tuple[PlannedPhi, ...]:
    return tuple(
        PlannedPhi(key=key, planned=own, settings=each)
        for key, own, each in zip(keys, planned, settings, strict=True)
    )


def refuse_twins(noun: str, named: Sequence[tuple[str, object]], *, key: str | None = None) -> None:
    """Refuse two of a kind, each given by its name and by what must differ."""
    before = "" if key is None else f"{key}: "
    for place, (name, own) in enumerate(named):
        if own in [other for _, other in named[:place]]:
            raise InputError(f"{before}the {noun} {name!r} is there twice; leave one of them out")


def _refuse_known(
    chosen: Sequence[Mapping[str, Any]], evaluated: Sequence[Mapping[str, Any]]
) -> None:
    """Refuse to evaluate what the classifiers are evaluated on anyway."""
    known = {identify(own) for own in chosen}
    for own in evaluated:
        if identify(own) in known:
            raise InputError(
                f"eval_phi: {own['name']!r}, with the same options, is a transformation of this "
                "run already, so its classifiers answer that test set anyway; leave it out here"
            )
