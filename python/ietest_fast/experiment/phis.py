"""The transformations of a run: those that it trains on, and those that it only evaluates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ietest_fast.errors import InputError
from ietest_fast.evaluation.versions import number_names
from ietest_fast.experiment.data import check_equivalence
from ietest_fast.experiment.identity import identify
from ietest_fast.models.protocol import ORIGINAL
from ietest_fast.transform import plan as plan_phi
from ietest_fast.transform.phi import PhiChoice, choose_phi, parse_phi

if TYPE_CHECKING:
    from ietest_fast.transform import PlannedTransformation


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
) -> tuple[tuple[PlannedPhi, ...], ...]:
    """Plan the transformations of a run."""
    evaluated = [_choose(each) for each in evaluated]
    planned: list[PlannedTransformation] = []
    try:
        for each in chosen:
            planned.append(plan_phi(each))
            check_equivalence(planned[-1])
        planned.extend(plan_phi(each) for each in evaluated)
        settings = [{**own.describe(), "inputs": own.fingerprint} for own in planned]
        first, more = settings[: len(chosen)], settings[len(chosen) :]
        refuse_twins("transformation", [(own["name"], identify(own)) for own in first])
        _refuse_known(first, more)
        refuse_twins(
            "transformation", [(own["name"], identify(own)) for own in more], key="eval_phi"
        )
    except BaseException:
        for own in planned:
            own.close()
        raise
    keys = number_names([own.name for own in planned[: len(chosen)]], taken=[ORIGINAL])
    spelled = [
        _spell(each, own.name) for each, own in zip(evaluated, planned[len(chosen) :], strict=True)
    ]
    keys += number_names(spelled, taken=[ORIGINAL, *keys])
    found = [
        PlannedPhi(key=key, planned=own, settings=each)
        for key, own, each in zip(keys, planned, settings, strict=True)
    ]
    return tuple(found[: len(chosen)]), tuple(found[len(chosen) :])


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


def _choose(given: Any) -> Any:
    """Read a transformation that is given by its name, so that it is known what was said of it."""
    if isinstance(given, str):
        return parse_phi(given)
    return choose_phi(given) if isinstance(given, Mapping) else given


def _spell(given: Any, name: str) -> str:
    """Write a transformation as it is given on a command line: its name and what is not usual."""
    if not isinstance(given, PhiChoice):
        return name
    parts = []
    for kind, options in given.parts:
        said = [
            f"{field}={_plain(value)}"
            for field, value in options
            if value != kind.options.model_fields[field].get_default(call_default_factory=True)
        ]
        parts.append(kind.name + (":" + ",".join(said) if said else ""))
    return "+".join(parts)


def _plain(value: Any) -> str:
    """Write the value of an option: of a path its name, for where it stood is nobody's business."""
    if isinstance(value, Path):
        return value.name
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return "/".join(map(_plain, value))
    return str(value)
