"""One line that says how a result came about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ietest_fast.stats.multiple import JOINT_CORRECTIONS
from ietest_fast.stats.signature import clean_field, write_signature

if TYPE_CHECKING:
    from collections.abc import Sequence


class Named(Protocol):
    """What has a name and a fingerprint, such as a transformation."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def fingerprint(self) -> str:
        """A hexadecimal digest."""
        ...


def _numbers(values: Sequence[float]) -> str:
    return ",".join(f"{value:g}" for value in values)


def sign(
    *,
    n: int,
    discordant: Sequence[int],
    n_clusters: int | None = None,
    method: str,
    n_resamples: int | None,
    n_classifiers: int,
    alpha: float,
    transformation: str,
    transformation_fingerprint: str,
    rho: Sequence[float],
    data: str,
    data_fingerprint: str,
    model: str,
    model_fingerprint: str,
    backend: str,
    seed: int,
    correction: str = "bonferroni",
    mode: str | None = None,
    trained: Named | None = None,
    train_size: int | None = None,
) -> str:
    """Write the signature of a result.

    Parameters
    ----------
    n
        Number of test pairs.
    discordant
        Discordant pairs k of each test that the result rests on; the line has their range.
    n_clusters
        How many clusters the test drew from; None for independent pairs.
    method
        ``"exact"``, ``"multinomial"`` or ``"resample"``.
    n_resamples
        S of the method, and of a joint correction; the exact method has none.
    n_classifiers, alpha, rho, seed
        As configured.
    transformation, data, model
        Names; their fingerprints are cut to four digits.
    transformation_fingerprint, data_fingerprint, model_fingerprint
        Hexadecimal digests.
    backend
        What trained the model.
    correction
        The correction for several tests, such as ``"bonferroni"``.
    mode
        What became of transformed rows in training, unless they replaced their originals.
    trained
        The transformation of the training data, where the test set has another one.
    train_size
        Number of training rows; None for all.

    Returns
    -------
    str
        Such as ``ie|n:9824|k:593|S:exact|stat:t|alt:two|mc:bonf|M:5|...``. A joint correction
        stands behind its S: ``mc:10000.maxt``. Thread counts have no place in it, for they change
        nothing.
    """
    k = (
        f"{min(discordant)}"
        if len(set(discordant)) == 1
        else f"{min(discordant)}-{max(discordant)}"
    )
    short = "bonf" if correction == "bonferroni" else correction
    return write_signature(
        "ie",
        n=n,
        k=k,
        clusters=n_clusters,
        S=method if method == "exact" else f"{n_resamples}.{method}",
        stat="t",
        alt="two",
        mc=f"{n_resamples}.{correction}" if correction in JOINT_CORRECTIONS else short,
        M=n_classifiers,
        alpha=f"{alpha:g}",
        phi=_named(transformation, transformation_fingerprint),
        trained=None if trained is None else _named(trained.name, trained.fingerprint),
        mode=mode,
        train=train_size,
        rho=_numbers(rho),
        data=_named(data, data_fingerprint),
        model=_named(model, model_fingerprint),
        be=backend,
        seed=seed,
    )


def _named(name: str, fingerprint: str) -> str:
    return f"{clean_field(name)}@{fingerprint[:4]}"
