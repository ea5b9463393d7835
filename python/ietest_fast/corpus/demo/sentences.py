"""Saying scenes in English."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.corpus.dataset import Corpus
from ietest_fast.corpus.demo.scenes import STYLES, Scenes, draw_scenes
from ietest_fast.corpus.demo.words import ABSENT, TAXONOMIES
from ietest_fast.corpus.labels import NLI_LABELS
from ietest_fast.errors import InputError
from ietest_fast.runtime import available_memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_VERB_FORMS = ("ing", "third", "base", "past")
_PROGRESSIVE, _THERE, _PRESENT, _PASSIVE, _PLACE_FIRST, _FRAGMENT = range(len(STYLES))


def say(scenes: Scenes) -> tuple[pa.Array, pa.Array]:
    """Put pairs of scenes into words."""
    n = len(scenes)
    never = np.zeros(n, np.bool_)
    return (
        _sentences(scenes.premise, scenes.premise_style, definite=never, negated=never),
        _sentences(
            scenes.hypothesis,
            scenes.hypothesis_style,
            definite=scenes.definite,
            negated=scenes.negated,
        ),
    )


def _sentences(
    scene: dict[str, NDArray[np.int16]],
    style: NDArray[np.int8],
    *,
    definite: NDArray[np.bool_],
    negated: NDArray[np.bool_],
) -> pa.Array:
    acts = scene["action"] != ABSENT
    has_thing = scene["thing"] != ABSENT
    has_place = scene["place"] != ABSENT
    contracted = style == _PRESENT  # "isn't" for "is not"
    style = np.where(
        negated
        | ((style == _PRESENT) & ~acts)
        | ((style == _PASSIVE) & ~(has_thing & _has_passive()[scene["action"]]))
        | ((style == _PLACE_FIRST) & ~(has_place & acts))
        | (((style == _THERE) | (style == _FRAGMENT)) & definite),
        _PROGRESSIVE,
        style,
    )
    is_one = scene["number"] == _value("number", "one")
    is_passive = style == _PASSIVE
    place_first = style == _PLACE_FIRST

    agent = _agent_phrases(scene, is_one, definite)
    thing = _thing_phrases(scene)
    place = _look_up(_texts("place"), scene["place"])
    nothing = pa.scalar("", pa.string())

    bare_place = pc.ascii_ltrim_whitespace(place)
    front = _or_nothing(place_first, pc.binary_join_element_wise(bare_place, ", ", ""))
    there = _look_up(["", "there is ", "there are "], (style == _THERE) * np.where(is_one, 1, 2))

    # What stands between the first noun phrase and the verb.
    links = [" ", " is ", " are ", " is being ", " is not ", " are not ", " isn't ", " aren't "]
    link = np.where(is_one, 1, 2)
    link = np.where(negated, link + np.where(contracted, 5, 3), link)
    link = np.where(np.isin(style, (_THERE, _PRESENT, _FRAGMENT)), 0, link)
    link = np.where(is_passive, 3, link)

    # progressive, third person, plural, participle; the same for what the voice does besides.
    form = np.where(is_passive, 3, np.where(style == _PRESENT, np.where(is_one, 1, 2), 0))
    verb, voice = (
        _look_up(_forms(slot, *_VERB_FORMS), scene[slot].astype(np.int64) * len(_VERB_FORMS) + form)
        for slot in ("action", "voice")
    )
    voice = _or_nothing(scene["voice"] != ABSENT, pc.binary_join_element_wise(" and ", voice, ""))

    spaced = _or_nothing(has_thing, pc.binary_join_element_wise(" ", thing, ""))
    by_agent = pc.binary_join_element_wise(" by ", agent, "")
    mask = pa.array(is_passive)
    sentence = pc.binary_join_element_wise(
        front,
        there,
        pc.if_else(mask, thing, agent),
        _look_up(links, link),
        verb,
        voice,
        pc.if_else(mask, by_agent, spaced),
        _look_up(_texts("company"), scene["company"]),
        pc.if_else(pa.array(place_first), nothing, place),
        _look_up(_texts("time"), scene["time"]),
        ".",
        "",
    )
    # "is  in the park": without a verb two spaces meet.
    return pc.ascii_capitalize(pc.replace_substring(sentence, "  ", " "))


def _agent_phrases(
    scene: dict[str, NDArray[np.int16]], is_one: NDArray[np.bool_], definite: NDArray[np.bool_]
) -> pa.Array:
    agent, trait = scene["agent"].astype(np.int64), scene["trait"]
    opens_with_vowel = np.where(
        trait != ABSENT, _vowels("trait", "text")[trait], _vowels("agent", "one")[agent]
    )
    is_some = scene["number"] == _value("number", "some")
    article = np.where(opens_with_vowel, 1, 0)
    article = np.where(is_one, article, np.where(is_some, 3, 4))
    article = np.where(definite, 2, article)
    number = np.where(is_some, ABSENT, scene["number"])
    return pc.binary_join_element_wise(
        _look_up(["a ", "an ", "the ", "some ", ""], article),
        _look_up(_texts("number"), number),
        _look_up(_texts("trait"), trait),
        _look_up(_forms("agent", "one", "many"), agent * 2 + ~is_one),
        _look_up(_forms("outfit", "one", "many"), scene["outfit"].astype(np.int64) * 2 + ~is_one),
        "",
    )


def _thing_phrases(scene: dict[str, NDArray[np.int16]]) -> pa.Array:
    thing, trait = scene["thing"], scene["thing_trait"]
    opens_with_vowel = np.where(
        trait != ABSENT, _vowels("thing_trait", "text")[trait], _vowels("thing", "one")[thing]
    )
    counted = np.array(["many" in value.forms for value in TAXONOMIES["thing"]().values])
    article = np.where(counted[thing], np.where(opens_with_vowel, 2, 1), 0)
    return pc.binary_join_element_wise(
        _look_up(["", "a ", "an "], article),
        _look_up(_texts("thing_trait"), trait),
        _look_up(_texts("thing"), thing),
        "",
    )


def _look_up(table: list[str] | pa.Array, index: NDArray[np.integer]) -> pa.Array:
    return pa.array(table, pa.string()).take(pa.array(index))


def _or_nothing(mask: NDArray[np.bool_], texts: pa.Array) -> pa.Array:
    return pc.if_else(pa.array(mask), texts, pa.scalar("", pa.string()))


@cache
def _texts(slot: str) -> pa.Array:
    values = TAXONOMIES[slot]().values
    return pa.array([value.forms.get("text", value.forms.get("one", "")) for value in values])


@cache
def _forms(slot: str, *names: str) -> pa.Array:
    """Return these forms of every value, one after the other."""
    values = TAXONOMIES[slot]().values
    return pa.array([value.forms.get(name, "") for value in values for name in names])


@cache
def _has_passive() -> NDArray[np.bool_]:
    return np.array([bool(value.forms.get("past")) for value in TAXONOMIES["action"]().values])


@cache
def _vowels(slot: str, form: str) -> NDArray[np.bool_]:
    values = TAXONOMIES[slot]().values
    return np.array([value.forms.get(form, "")[:1] in set("aeiou") for value in values])


@cache
def _value(slot: str, name: str) -> int:
    return next(i for i, value in enumerate(TAXONOMIES[slot]().values) if value.name == name)


# The demonstration corpus, of any size.


DEMO_SCHEMA = pa.schema(
    [("premise", pa.string()), ("hypothesis", pa.string()), ("label", pa.int8())]
)
"""Columns of the demonstration corpus."""

_BATCH_ROWS = 32_768
_BYTES_OF_PAIR = 100  # at the least


class DemoSplits(NamedTuple):
    """Three disjoint parts of the demonstration corpus."""

    train: Corpus
    valid: Corpus
    test: Corpus


def demo_corpus(n: int, *, seed: int = 0, start: int = 0) -> Corpus:
    """Generate sentence pairs about everyday scenes, with labels that are true by construction.

    The premise and the hypothesis are about the same event. A third of the pairs each are
    entailment, neutral and contradiction, in random order.

    Parameters
    ----------
    n
        How many pairs.
    seed
        Any integer from 0. Pair ``i`` depends on the seed and ``i`` alone.
    start
        Number of the first pair: ``demo_corpus(10, start=90)`` is the end of
        ``demo_corpus(100)``.

    Returns
    -------
    Corpus
        With the columns ``premise``, ``hypothesis`` and ``label``.

    Raises
    ------
    InputError
        If the pairs do not fit in memory; :func:`demo_batches` gives any number.
    """
    _check_room(n)
    table = pa.Table.from_batches(
        demo_batches(n, seed=seed, start=start, batch_size=_BATCH_ROWS), DEMO_SCHEMA
    )
    return Corpus(
        table=table,
        text_columns=("premise", "hypothesis"),
        label_names=NLI_LABELS,
        source=f"demo:{seed}" if start == 0 else f"demo:{seed}+{start}",
    )


def _check_room(n: int) -> None:
    """Stop before pairs are made for which there is no memory."""
    available = available_memory()
    if available is not None and n * _BYTES_OF_PAIR > available:
        raise InputError(
            f"{n:,} demonstration pairs take {n * _BYTES_OF_PAIR / 1e9:,.0f} GB of memory or more, "
            f"and {available / 1e9:,.1f} GB are available; ask for fewer"
        )


def demo_batches(
    n: int, *, seed: int = 0, batch_size: int = _BATCH_ROWS, start: int = 0
) -> Iterator[pa.RecordBatch]:
    """Generate the demonstration corpus in batches, in bounded memory.

    Parameters
    ----------
    n, seed, start
        As for :func:`demo_corpus`.
    batch_size
        Rows of a batch; the rows are the same whatever it is.

    Yields
    ------
    pyarrow.RecordBatch
        With the schema ``DEMO_SCHEMA``.
    """
    if n < 0 or start < 0 or seed < 0:
        raise InputError(f"n, start and seed are 0 or more, not {n}, {start} and {seed}")
    if batch_size < 1:
        raise InputError(f"a batch has at least one row, not {batch_size}")
    for first in range(start, start + n, batch_size):
        scenes = draw_scenes(first, min(batch_size, start + n - first), seed=seed)
        premise, hypothesis = say(scenes)
        yield pa.record_batch([premise, hypothesis, pa.array(scenes.label)], schema=DEMO_SCHEMA)


def demo_splits(
    n_train: int = 3_000, n_valid: int = 500, n_test: int = 2_000, *, seed: int = 0
) -> DemoSplits:
    """Generate a training, a validation and a test set: one run of pairs, cut in three.

    Parameters
    ----------
    n_train, n_valid, n_test
        Pairs of each.
    seed
        Any integer from 0.
    """
    _check_room(n_train + n_valid + n_test)
    return DemoSplits(
        train=demo_corpus(n_train, seed=seed),
        valid=demo_corpus(n_valid, seed=seed, start=n_train),
        test=demo_corpus(n_test, seed=seed, start=n_train + n_valid),
    )
