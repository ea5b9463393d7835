"""Drawing pairs of scenes whose relation is known.

The hypothesis is drawn first, without regard to the label: which activity, who, where, and the one
slot that decides. Then the premise is drawn so that it entails, leaves open or excludes what the
hypothesis says in that slot, and entails all the rest. So the hypothesis alone says nothing about
the label, exactly; and every word occurs with every label.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.corpus.demo.words import ABSENT, FRAMES, MOTION, PLACES_OF, TAXONOMIES, Taxonomy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

ENTAILMENT, NEUTRAL, CONTRADICTION = 0, 1, 2

WORDS_PER_PAIR = 20
"""64-bit random words that belong to one pair; a multiple of Philox's four."""

STYLES = ("progressive", "there is", "present", "passive", "place first", "fragment")

_RESOLUTION = 4096
_KINDS = ("plain", "role", "animal")
_OBLIGATORY = frozenset({"agent", "number", "action", "thing"})
_OF_ACTION = ("action", "voice", "thing", "thing_trait")
_RELATIONS = {"entailment": ENTAILMENT, "neutral": NEUTRAL, "contradiction": CONTRADICTION}

# How often an activity is drawn, and by whom it is done.
_FRAME_WEIGHTS = dict(zip(FRAMES, (30, 9, 6, 9, 7, 7, 5, 6, 6, 7, 3, 3, 3, 3, 3, 3), strict=True))
_KIND_WEIGHTS = {"plain": 0.65, "role": 0.35}
_MOTION_KIND_WEIGHTS = {"plain": 0.4, "role": 0.2, "animal": 0.4}

# How often a slot decides; and, where it does not, the shares in which it is in both sentences and
# in the premise alone.
_SHARES = {
    "agent": (18, 1.0, 0.0),
    "number": (13, 1.0, 0.0),
    "trait": (18, 0.10, 0.14),
    "outfit": (6, 0.04, 0.08),
    "action": (13, 1.0, 0.0),
    "voice": (8, 0.04, 0.08),
    "thing": (20, 1.0, 0.0),
    "thing_trait": (8, 0.10, 0.12),
    "place": (18, 0.22, 0.22),
    "time": (12, 0.06, 0.12),
    "company": (4, 0.03, 0.06),
}
# Per mille; see _even_out_premises.
_SAYS_WHEN = 90
_SAYS_WHERE = 120
_STYLE_WEIGHTS = (46, 12, 14, 10, 8, 10)
_NUMBERS = {"one": 0.62, "some": 0.12, "two": 0.13, "three": 0.08, "four": 0.05}
_ZIPF = {"agent": 1.2, "thing": 1.3, "place": 1.7, "time": 1.6}
_GENERAL_SHARE = {"agent": 0.2, "action": 0.12, "thing": 0.2, "place": 0.15, "outfit": 0.3}


@dataclass(frozen=True, kw_only=True, eq=False)
class Scenes:
    """Pairs of scenes, by slot."""

    premise: dict[str, NDArray[np.int16]]
    hypothesis: dict[str, NDArray[np.int16]]
    """For every slot of ``words.TAXONOMIES`` an int16 array (n,) of values in its taxonomy."""
    negated: NDArray[np.bool_]
    """bool (n,): the hypothesis says that its deciding slot is *not* so."""
    definite: NDArray[np.bool_]
    """bool (n,): the hypothesis says "the", not "a"."""
    premise_style: NDArray[np.int8]
    hypothesis_style: NDArray[np.int8]
    """int8 (n,): index into ``STYLES``; what a sentence cannot do is said progressively."""
    deciding: NDArray[np.int8]
    """int8 (n,): index of the slot that decides."""
    label: NDArray[np.int8]
    """int8 (n,)."""

    def __len__(self) -> int:
        return len(self.label)


def draw_scenes(start: int, n: int, *, seed: int) -> Scenes:
    """Draw the pairs ``start`` to ``start + n``; each depends on its number and the seed alone."""
    draws = _Draws(start, n, seed)
    label = (draws.next(3)).astype(np.int8)
    code = draws.choose(_frames_and_kinds())
    frame = code // len(_KINDS)
    deciding = _deciding_table()[code, draws.next(_RESOLUTION)].astype(np.int8)
    is_motion = frame == FRAMES.index(MOTION)

    # A "not" turns what the deciding slot has to do for a label around.
    place_decides = _is_slot(deciding, "place")
    may_negate = place_decides | (is_motion & _is_slot(deciding, "action"))
    negated = may_negate & (draws.next(100) < 25)
    target = np.where(negated, 2 - label, label)

    premise: dict[str, NDArray[np.int16]] = {}
    hypothesis: dict[str, NDArray[np.int16]] = {}
    for slot in TAXONOMIES:
        decides = _is_slot(deciding, slot)
        tables = _tables(slot)
        domain = tables.domain_of(code, hypothesis)
        in_hypothesis = tables.drawn[domain, draws.next(_RESOLUTION)]
        decisive = tables.decisive[domain, draws.next(_RESOLUTION)]
        in_hypothesis = np.where(decides, decisive, in_hypothesis)
        if slot == "thing":
            # A thing whose trait decides has to be named.
            named = tables.named[domain, draws.next(_RESOLUTION)]
            in_hypothesis = np.where(_is_slot(deciding, "thing_trait"), named, in_hypothesis)
        relation = np.where(decides, target, ENTAILMENT)
        row = tables.row_of[domain, in_hypothesis]
        in_premise = tables.premises[relation, row, draws.next(_RESOLUTION)]
        if slot not in _OBLIGATORY:
            u = draws.next(1 << 16) / float(1 << 16)
            _, both, premise_only = _SHARES[slot]
            in_hypothesis = np.where(decides | (u < both), in_hypothesis, ABSENT)
            in_premise = np.where(decides | (u < both + premise_only), in_premise, ABSENT)
        premise[slot] = np.where(domain > 0, in_premise, ABSENT).astype(np.int16)
        hypothesis[slot] = np.where(domain > 0, in_hypothesis, ABSENT).astype(np.int16)

    # "something" has no traits. Where the thing decides, whether it is named depends on the
    # label, so there traits are left out throughout.
    unnamed = np.isin(hypothesis["thing"], _unnamed()) | np.isin(premise["thing"], _unnamed())
    bare = unnamed | _is_slot(deciding, "thing")
    for side in (premise, hypothesis):
        side["thing_trait"][bare] = ABSENT

    # "A man is in the park": the action is left out.
    about_action = _is_slot(deciding, *_OF_ACTION)
    only_there = (hypothesis["place"] != ABSENT) & ~about_action & (draws.next(100) < 15)
    only_there |= negated & place_decides
    for slot in _OF_ACTION:
        hypothesis[slot][only_there] = ABSENT
    for slot in ("trait", "outfit", "voice", "place", "time", "company"):
        kept = negated & ~_is_slot(deciding, slot)
        hypothesis[slot][kept] = ABSENT

    _even_out_premises(
        premise,
        hypothesis,
        draws,
        label=label,
        affirmed=~negated,
        deciding=deciding,
        code=code,
    )
    style = _table(_STYLE_WEIGHTS)
    return Scenes(
        premise=premise,
        hypothesis=hypothesis,
        negated=negated,
        definite=negated | (draws.next(100) < 35),
        premise_style=draws.choose(style).astype(np.int8),
        hypothesis_style=draws.choose(style).astype(np.int8),
        deciding=deciding,
        label=label,
    )


def _is_slot(numbers: NDArray[np.int8], *slots: str) -> NDArray[np.bool_]:
    return np.isin(numbers, [list(TAXONOMIES).index(slot) for slot in slots])


def _even_out_premises(
    premise: dict[str, NDArray[np.int16]],
    hypothesis: dict[str, NDArray[np.int16]],
    draws: _Draws,
    *,
    label: NDArray[np.int8],
    affirmed: NDArray[np.bool_],
    deciding: NDArray[np.int8],
    code: NDArray[np.int64],
) -> None:
    """Change premises, without a change of label, so that they too say little by themselves."""
    # What leaves something open would often be vague ("busy with something"). A premise that
    # only says where somebody is leaves it open, too.
    vague = (
        (label == NEUTRAL)
        & affirmed
        & _is_slot(deciding, "action", "thing")
        & (premise["place"] != ABSENT)
        & (draws.next(100) < 50)
    )
    for slot in _OF_ACTION:
        premise[slot][vague] = ABSENT

    # A premise that says no more than its hypothesis says when, as well; and as many of the
    # premises of other labels do so.
    same = affirmed.copy()
    for slot, values in premise.items():
        same &= values == hypothesis[slot]
    says_when = np.where(label == ENTAILMENT, same, draws.next(1000) < _SAYS_WHEN)
    says_when &= hypothesis["time"] == ABSENT
    _add(premise, draws, slot="time", rows=says_when, domain=_tables("time").domain_of(code, {}))
    # Neutral premises lack what the hypothesis adds, so more of them say where.
    says_where = (label == NEUTRAL) & (draws.next(1000) < _SAYS_WHERE)
    says_where &= hypothesis["place"] == ABSENT
    _add(premise, draws, slot="place", rows=says_where, domain=_tables("place").domain_of(code, {}))


def _add(
    scene: dict[str, NDArray[np.int16]],
    draws: _Draws,
    *,
    slot: str,
    rows: NDArray[np.bool_],
    domain: NDArray[np.int64],
) -> None:
    value = _tables(slot).drawn[domain, draws.next(_RESOLUTION)]
    scene[slot] = np.where(rows & (scene[slot] == ABSENT), value, scene[slot]).astype(np.int16)


class _Draws:
    """The random numbers of a range of pairs, one column of 16 bits after the other."""

    def __init__(self, start: int, n: int, seed: int) -> None:
        source = np.random.Philox(np.random.SeedSequence(seed))
        source.advance(start * (WORDS_PER_PAIR // 4))
        words = source.random_raw(n * WORDS_PER_PAIR).astype("<u8", copy=False)
        # Columns are read one by one: lay them out so.
        self._columns = words.view("<u2").reshape(n, 4 * WORDS_PER_PAIR).T.copy()
        self._used = 0

    def next(self, below: int) -> NDArray[np.int64]:
        """Integers in [0, below), one for each pair."""
        column: NDArray[np.int64] = self._columns[self._used].astype(np.int64)
        self._used += 1
        scaled: NDArray[np.int64] = (column * below) >> 16
        return scaled

    def choose(self, table: NDArray[np.int16]) -> NDArray[np.int64]:
        """Draw from a table of :func:`_table`."""
        return table[self.next(len(table))].astype(np.int64)


def _table(weights: Sequence[float] | NDArray[np.float64]) -> NDArray[np.int16]:
    """Quantiles of a discrete law: entry k is the value at (k + ½) / size."""
    cumulative = np.cumsum(np.asarray(weights, np.float64))
    points = (np.arange(_RESOLUTION) + 0.5) / _RESOLUTION * cumulative[-1]
    table: NDArray[np.int16] = np.searchsorted(cumulative, points, side="right").astype(np.int16)
    return table


@cache
def _frames_and_kinds() -> NDArray[np.int16]:
    weights = np.zeros((len(FRAMES), len(_KINDS)))
    for f, frame in enumerate(FRAMES):
        shares = _MOTION_KIND_WEIGHTS if frame == MOTION else _KIND_WEIGHTS
        for kind, share in shares.items():
            weights[f, _KINDS.index(kind)] = _FRAME_WEIGHTS[frame] * share
    return _table(weights.ravel())


@cache
def _deciding_table() -> NDArray[np.int16]:
    """For every frame and kind, the law of the deciding slot."""
    rows = []
    for frame in FRAMES:
        for kind in _KINDS:
            weights = [
                _SHARES[slot][0] if _domain_name(slot, frame, kind) is not None else 0.0
                for slot in TAXONOMIES
            ]
            rows.append(_table(weights))
    return np.stack(rows)


def _domain_name(slot: str, frame: str, kind: str) -> str | None:
    """Which values a slot draws from, by what is done and by whom; None for none."""
    people, moves = kind != "animal", frame == MOTION
    found: dict[str, str | None] = {
        "agent": kind,
        "trait": "grown" if people else "animal",
        "outfit": "people" if people and frame != "garment" else None,
        "action": f"motion-{'people' if people else 'animal'}" if moves else frame,
        "voice": "people" if moves and people else None,
        "thing": None if moves else frame,
        "thing_trait": None if moves else frame,
        "place": ("anywhere" if people else "yard") if moves else PLACES_OF[frame] or None,
        "company": "all" if people else None,
    }
    return found.get(slot, "all")


@cache
def _unnamed() -> NDArray[np.int16]:
    values = TAXONOMIES["thing"]().values
    return np.array(
        [i for i, value in enumerate(values) if value.forms.get("one") == "something"], np.int16
    )


class _SlotTables:
    """Everything that is drawn for one slot, as tables to look up."""

    def __init__(self, slot: str) -> None:
        self._slot = slot
        self._taxonomy: Taxonomy = TAXONOMIES[slot]()
        names = {
            (f, k): _domain_name(slot, frame, kind)
            for f, frame in enumerate(FRAMES)
            for k, kind in enumerate(_KINDS)
        }
        domains = sorted({name for name in names.values() if name is not None})
        if slot == "trait":
            domains.append("small")
        self.domains = domains
        self._of_code = np.array(
            [domains.index(name) + 1 if name is not None else 0 for name in names.values()]
        )

        nothing = np.zeros(_RESOLUTION, np.int16)
        drawn, decisive, named = [nothing], [nothing], [nothing]
        # (n_domains + 1, n_values): row of ``premises`` for a value of a domain
        self.row_of = np.zeros((len(domains) + 1, len(self._taxonomy.values)), np.int32)
        rows: list[list[NDArray[np.int16]]] = [[nothing], [nothing], [nothing]]
        for d, domain in enumerate(domains, start=1):
            members = self._members_of(domain)
            if not members:
                # An activity whose things have no traits: as if the slot were not there.
                for table in (drawn, decisive, named):
                    table.append(nothing)
                continue
            general = [i for i in members if self._has_kinds(i, members)]
            weights = self._weights(members, general)
            able = []
            for i in members:
                self.row_of[d, i] = len(rows[0])
                laws = self._premise_laws(i, members, general, weights)
                able.append(all(law.sum() > 0 for law in laws))
                for table, law in zip(rows, laws, strict=True):
                    table.append(self._over(members, law) if law.sum() > 0 else nothing)
            drawn.append(self._over(members, weights))
            decisive.append(self._over(members, weights * able))
            named.append(self._over(members, weights * [i not in general for i in members]))
        # (n_domains + 1, resolution): values in general; those that a premise can entail, leave
        # open and exclude; those of which there is no kind. Row 0 is for rows without this slot.
        self.drawn, self.decisive, self.named = map(np.stack, (drawn, decisive, named))
        # (3, n_rows, resolution): by relation, values of the premise for one of the hypothesis
        self.premises = np.stack([np.stack(table) for table in rows])

    def domain_of(
        self, code: NDArray[np.int64], hypothesis: dict[str, NDArray[np.int16]]
    ) -> NDArray[np.int64]:
        """Domain of every row, 0 for none."""
        domain = self._of_code[code]
        if self._slot == "trait":
            # "old" does not go with a child, nor with a person who may turn out to be one.
            names = [value.name for value in TAXONOMIES["agent"]().values]
            small = [names.index(name) for name in ("anyone", "child", "girl", "boy")]
            is_small = np.isin(hypothesis["agent"], small)
            domain = np.where(is_small, self.domains.index("small") + 1, domain)
        return domain

    def _members_of(self, domain: str) -> list[int]:
        return [
            i
            for i, value in enumerate(self._taxonomy.values)
            if i != ABSENT and (not value.parts or domain in value.parts)
        ]

    def _has_kinds(self, value: int, members: list[int]) -> bool:
        return any(self._taxonomy.values[i].parent == value for i in members)

    def _weights(self, members: list[int], general: list[int]) -> NDArray[np.float64]:
        """Zipf's law over the specific values, and a share for the general ones."""
        weights = np.zeros(len(members))
        if self._slot == "number":
            return np.array([_NUMBERS[self._taxonomy.values[i].name] for i in members])
        is_general = np.isin(members, general)
        n_specific = int((~is_general).sum())
        weights[~is_general] = 1 / (np.arange(n_specific) + 2.0) ** _ZIPF.get(self._slot, 1.3)
        if is_general.any():
            share = _GENERAL_SHARE.get(self._slot, 0.25)
            weights[is_general] = weights.sum() * share / (1 - share) / is_general.sum()
        return weights

    def _premise_laws(
        self, value: int, members: list[int], general: list[int], weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """For one value of the hypothesis: laws over (absent, *members) of the premise's."""
        taxonomy = self._taxonomy
        choices = [ABSENT, *members]
        base = np.concatenate([[0.0], weights])
        relation = np.array([_RELATIONS[taxonomy.relation(i, value)] for i in choices])
        same = np.array([i == value for i in choices])
        above = np.isin(choices, taxonomy.ancestors(value))
        parents = np.array([taxonomy.values[i].parent for i in choices])
        beside = (np.array(choices) != ABSENT) & (parents == taxonomy.values[value].parent)
        absent = (np.array(choices) == ABSENT) & (self._slot not in _OBLIGATORY)
        is_general = np.isin(choices, general)

        entails = relation == ENTAILMENT
        law_e = _mix(base, [(same, 0.6), (entails & ~same, 0.4)])
        opens = relation == NEUTRAL
        law_n = _mix(
            np.where(absent, 1.0, base),
            [(absent, 0.4), (opens & above, 0.35), (opens & ~above & (base > 0), 0.35)],
        )
        excludes = relation == CONTRADICTION
        law_c = _mix(
            base,
            [
                (excludes & beside & ~is_general, 0.6),
                (excludes & ~beside & ~is_general, 0.2),
                (excludes & is_general, 0.2),
            ],
        )
        return law_e, law_n, law_c

    def _over(self, members: list[int], law: NDArray[np.float64]) -> NDArray[np.int16]:
        values = np.array(members if len(law) == len(members) else [ABSENT, *members], np.int16)
        return values[_table(law)]


def _mix(
    base: NDArray[np.float64], groups: list[tuple[NDArray[np.bool_], float]]
) -> NDArray[np.float64]:
    """Mix the base law restricted to each group, in the shares given, empty groups left out."""
    law = np.zeros(len(base))
    for members, share in groups:
        weight = base[members].sum()
        if weight > 0:
            law[members] += share * base[members] / weight
    return law


@cache
def _tables(slot: str) -> _SlotTables:
    return _SlotTables(slot)
