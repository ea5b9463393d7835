"""What columns say beside answers in numbers and settings: scores, shares, how a model was asked.

Programs write it beside each row: which model has answered, how it was asked, how many are right.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.answers.readers.label_columns import key_counted, label_keys, say_near_copies
from ietest_fast.answers.readers.settings import OF_TABLES
from ietest_fast.answers.readers.table_columns import (
    are_named,
    find_largest,
    find_likeliest,
    is_list,
    list_columns,
    read_some,
    spread_values,
)
from ietest_fast.answers.schema import MARKS, MOST_KINDS, OF_NONE
from ietest_fast.corpus.columns import find_named
from ietest_fast.corpus.labels import NLI_LABELS, label_key
from ietest_fast.errors import InputError
from ietest_fast.numerals import say_count
from ietest_fast.values import (
    as_numbers,
    as_texts,
    as_words,
    find_missing,
    find_outcomes,
    show_value,
    trim_texts,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ietest_fast.answers.table import Predictions


_ACCURACIES = ("accuracy", "mean_accuracy")
_ERRORS = ("error_rate", "mean_error")
_FLIPS = ("flip_rate", "change_rate", "n_flips", "num_flips", "total_flips", "n_changed")
_MOST_SETTINGS = 5  # more are of single rows
_PERCENT = 100.0
_DEEPEST = 3  # objects in objects
# Numbers with a decimal comma, with signs between thousands, or with a sign of their unit.
_LIKE_NUMBERS = r"^[<>~≈]?\s*[+-]?[0-9.,'’ ]*[0-9]\s*[%‰]?$"
_SAME = 1e-6
_DECIMALS = 2  # of a share that is written as 1 or 0
_REWORDED = ("perturbed", "transformed", "reworded", "rephrased", "paraphrased", "augmented")
SIDES = ("is_original", *(form for name in _REWORDED for form in (name, f"is_{name}")))
"""Names of columns that say of rows which side they are of: the first the original, others not."""
_REWORDING = re.compile(
    r"(?i)perturb|transform|reword|rephras|paraphras|augment|modif|altered|attack|advers|corrupt"
)
_ORIGINALS = frozenset({"original", "originals", "orig", "unperturbed", "unmodified", "unchanged"})
_NO_REWORDING = frozenset({"none", "no", "false", "0", "clean", "base", "baseline", "identity", ""})
"""What columns say of originals, any, or those that are called like rewordings."""


def list_kinds(values: pa.Array | pa.ChunkedArray, path: Path) -> list[str]:
    """Return what a column says in its rows, each once; nothing where it says nothing."""
    with contextlib.suppress(InputError):  # lists
        column = as_texts(values, path=path)
        missing = find_missing(pa.chunked_array([column]))
        kinds: list[str] = pc.unique(trim_texts(column.filter(pa.array(~missing)))).to_pylist()
        return kinds
    return []


def name_with(names: Iterable[str], versions: Iterable[str]) -> list[str]:
    """Return names with that of a version before or behind."""
    return [
        made for name in names for each in versions for made in (f"{each}_{name}", f"{name}_{each}")
    ]


def read_side(name: str, values: pa.Array | pa.ChunkedArray) -> bool | None:
    """Return whether a column says that its first row is of the original; None if it says none."""
    if not find_named([name], SIDES):
        return None
    marks, bad = find_outcomes(pa.chunked_array(getattr(values, "chunks", [values])))
    if bad.size or not len(marks):
        return None
    return bool(marks[0]) == bool(find_named([name], SIDES[:1]))


def list_sides(columns: Mapping[str, pa.Array], path: Path) -> dict[str, bool]:
    """Return by column that says one thing in all rows whether that is a name of the original.

    Of a column that is called like a rewording, false or none is, too.
    """
    kinds = {name: list_kinds(values, path) for name, values in columns.items()}
    return {name: is_original(name, each[0]) for name, each in kinds.items() if len(each) == 1}


def is_original(name: str, value: str) -> bool:
    """Return whether a value of a column is one that originals have, by the column's name."""
    key = label_key(value)
    return key in _ORIGINALS or (_REWORDING.search(name) is not None and key in _NO_REWORDING)


def read_settings(
    path: Path, names: Sequence[str], columns: Mapping[str, str], taken: Collection[str | None]
) -> dict[str, dict[str, Any]]:
    """Return how the answers in each column came about, as other columns have it.

    Of several versions, such a column has the name of the version, or of its answers.
    """
    found: dict[str, dict[str, Any]] = {}
    free = [name for name in names if name not in taken]
    for version, column in columns.items():
        own = {
            name: find_named(free, name_with([name], dict.fromkeys((version, column))))
            for name in ("model", "model_name", *OF_TABLES)
        }
        if len(columns) == 1:
            own = {name: find_named(free, [name]) for name in OF_TABLES}
        values = read_some(path, [places[0] for places in own.values() if places])
        known = {name: values.get(places[0]) for name, places in own.items() if places}
        found[column] = name_settings(known, path)
    return found


def name_settings(
    columns: Mapping[str, pa.Array | pa.ChunkedArray | None], path: Path
) -> dict[str, Any]:
    """Return what columns of settings say: one value, or all that there are."""
    kinds = {
        name: sorted(list_kinds(values, path))
        for name, values in columns.items()
        if values is not None
    }
    return {
        name: own[0] if len(own) == 1 else own
        for name, own in kinds.items()
        if 0 < len(own) <= _MOST_SETTINGS
    }


def find_long_settings(whole: Predictions) -> dict[str, str]:
    """Return the columns of settings of a long table by what they say."""
    own = {name: find_named(whole.extra_columns, [name]) for name in ("model_name", *OF_TABLES)}
    return {name: places[0] for name, places in own.items() if places}


def say_wide_means(
    path: Path,
    names: Sequence[str],
    columns: Mapping[str, str],
    answers: Mapping[str, pa.ChunkedArray],
    *,
    gold: pa.ChunkedArray | None,
    marks: Mapping[str, tuple[str | None, pa.Array | None]],
) -> tuple[str, ...]:
    """Say where a column has another share of right answers than a version has; without gold
    labels, answers are outcomes.

    Of several versions, it has the name of the version, or of its answers.
    """
    said: list[str] = []
    for version, column in columns.items():
        made: list[list[str]] = [[*MARKS], [*_ACCURACIES], [*_ERRORS]]
        if len(columns) > 1:
            made = [name_with(each, dict.fromkeys((version, column))) for each in made]
        found = [[name for name in find_named(names, each) if name != column] for each in made]
        if not any(found):
            continue
        counts = _list_counts(answers[column], gold, marks[column][1], path)
        values = read_some(path, [*found[0], *found[1]])
        said += say_other_means(values, counts, path, outcomes=found[0])
        wrong = [~each for each in counts]
        said += say_other_means(read_some(path, found[2]), wrong, path, outcomes=(), of="wrong")
    changed = find_named(names, _FLIPS) if len(columns) == 2 else []
    if changed:
        flips = key_counted(None, answers, path).get("whether the answer changes")
        counts = [flips] if isinstance(flips, np.ndarray) else []
        values = read_some(path, changed)
        said += say_other_means(values, counts, path, outcomes=(), of="changed")
    return tuple(said)


def _list_counts(
    answers: pa.ChunkedArray, gold: pa.ChunkedArray | None, marks: pa.Array | None, path: Path
) -> list[NDArray[np.bool_]]:
    """Return which answers are right: of all rows, and of those that others may have counted."""
    if gold is None:
        right, bad = find_outcomes(answers)
        return [] if bad.size else [right]
    found = key_counted(("", gold), {"answer": answers}, path).get("whether answer is right")
    if not isinstance(found, np.ndarray):
        return []
    has_label, has_answer = (
        ~np.isin(label_keys(each, path), [*OF_NONE]) for each in (gold, answers)
    )
    own = [] if marks is None else [np.asarray(marks)]
    return [found, found[has_label], found[has_answer], found[has_label & has_answer], *own]


def say_long_means(whole: Predictions, path: Path) -> tuple[str, ...]:
    """Say where a column has another share of right answers than a version of a long table."""
    names = whole.extra_columns
    outcomes, others = find_named(names, MARKS), find_named(names, _ACCURACIES)
    changed = find_named(names, _FLIPS)
    said: list[str] = []
    for group in whole.groups if outcomes or others or changed else ():
        part = whole.select(**group) if group else whole
        versions = [part.select(version=version) for version in part.versions]
        for own in versions[1:] if changed else ():
            values = {name: own.table[name] for name in changed}
            said += say_other_flips(part, own.versions[0], values, path)
        every = [part.correct, *(own.correct for own in versions)]
        for own in versions:
            known = [own.correct, *every]
            if "predicted" in own.columns:
                known.append(own.correct[own.codes("predicted") >= 0])
            values = {name: own.table[name] for name in (*outcomes, *others)}
            rows = f"all rows of {own.versions[0]}"
            said += say_other_means(values, known, path, outcomes=outcomes, rows=rows)
    return tuple(dict.fromkeys(said))


def say_flips_of_files(predictions: Predictions, files: Mapping[str, Path]) -> list[str]:
    """Say where tables of one version each have another number of changed answers than there is."""
    said: list[str] = []
    reference = predictions.versions[0]
    for version, path in files.items():
        names = find_named(list_columns(path), _FLIPS) if version != reference else []
        if names and version in predictions.versions:
            said += say_other_flips(predictions, version, read_some(path, names), path)
    return said


def say_other_flips(
    part: Predictions,
    version: str,
    columns: Mapping[str, pa.Array | pa.ChunkedArray],
    path: Path,
) -> list[str]:
    """Say which columns have another number, or share, of changed answers than a version has."""
    if len(part.groups) > 1:
        return []
    try:
        pairs = part.pairs(version, reference=part.versions[0])
        known = pairs.reworded()
        answers = pairs.answers
    except InputError:  # which is told where it is compared
        return []
    sample = pairs.sample
    counts = [sample.original_correct != sample.transformed_correct]
    if answers is not None:
        counts.insert(0, answers[0] != answers[1])
    if known is not None:
        counts += [each[known] for each in counts]
    rows = f"all rows of {version}"
    return say_other_means(columns, counts, path, outcomes=(), rows=rows, of="changed")


def say_other_means(
    columns: Mapping[str, pa.Array | pa.ChunkedArray],
    counts: Sequence[NDArray[np.bool_]],
    path: Path,
    *,
    outcomes: Collection[str],
    rows: str = "all rows",
    of: str = "right",
) -> list[str]:
    """Say which columns have a share of right answers that is none of those of the answers.

    0 and 1 in columns that may hold outcomes, or right answers, are these.
    """
    said: list[str] = []
    for name, values in columns.items():
        said += say_no_numbers({name: values}, path, are_named=False)
        share = _find_share(values)
        if share is None or (name in outcomes and share in {0.0, 1.0}):
            continue
        if counts and not any(_is_share(share, each) for each in counts):
            n = say_count(counts[0].size, "answer")
            said.append(
                f"Warning: {path}: {name} is {share:g} in {rows}, and {counts[0].mean():.4f} of "
                f"{n} are {of}; the answers count (mend the column, or leave it out if it is of "
                "other rows)."
            )
    return said


def say_no_numbers(
    columns: Mapping[str, pa.Array | pa.ChunkedArray], path: Path, *, are_named: bool
) -> list[str]:
    """Say which columns of numbers hold some that cannot be read, and are not compared.

    Columns that are named so hold nothing else; in others, words are something else.
    """
    said = []
    for name, values in columns.items():
        column = pa.chunked_array(getattr(values, "chunks", [values]))
        words = as_words(column)
        if words is None:
            continue
        are_none = ~np.isfinite(as_numbers(column)) & ~find_missing(column)
        look_alike = pc.fill_null(pc.match_substring_regex(words, _LIKE_NUMBERS), False)
        bad = are_none & look_alike.to_numpy()
        if not bad.any() and are_named and (are_none | find_missing(column)).all():
            bad = are_none
        if bad.any():
            first = show_value(words[int(np.argmax(bad))].as_py())
            said.append(
                f"Warning: {path}: {name} has no number in {int(bad.sum()):,} of "
                f"{say_count(len(bad), 'row')} (such as {first}), and is not compared there; write "
                "numbers with a decimal point, not a comma, and without signs such as %."
            )
    return said


def _find_share(values: pa.Array | pa.ChunkedArray) -> float | None:
    """Return the one number that a column has in all rows, if it may be a share or a percentage."""
    numbers = as_numbers(pa.chunked_array(getattr(values, "chunks", [values])))
    kinds = np.unique(numbers[np.isfinite(numbers)])
    return float(kinds[0]) if kinds.size == 1 and 0 <= kinds[0] <= _PERCENT else None


def _is_share(said: float, right: NDArray[np.bool_]) -> bool:
    """Whether a number is the share or the number of right answers, but for its last digit."""
    if not right.size or said == right.sum():
        return True
    n_decimals = len(f"{said:.6g}".partition(".")[2])
    own = float(right.mean())
    if said > 1:
        own *= _PERCENT
    elif not n_decimals:
        n_decimals = _DECIMALS
    # Some programs cut digits off; a single one is rounded.
    most = 1 - _SAME if n_decimals >= _DECIMALS else 0.5 + _SAME
    return abs(said - own) <= most * 10.0**-n_decimals


# Scores of labels, and the label that they make the likeliest.


_SCORES = (
    *("prob", "probs", "proba", "probas", "probability", "probabilities", "p", "score", "scores"),
    *("logit", "logits", "logprob", "logprobs", "softmax"),
    *("nll", "nlls", "loss", "losses", "perplexity", "ppl"),
)
_LOWER_IS_LIKELIER = re.compile(r"(?i)(^|[^a-z])(nlls?|loss(es)?|perplexity|ppl)([^a-z]|$)")
_SCORE_WORDS = re.compile(rf"(?i)(^|[^a-z])({'|'.join(_SCORES)})([^a-z]|$)")
_PAIR = 2
_MOST_DIGITS = 3  # of the number of a label
_LEAST_PERCENT = 10  # is the largest of some percentages
_OF_ONE = frozenset(
    {f"{word}_" for word in ("prob", "probs", "proba", "probability", "p")}
    | {f"_{word}" for word in ("prob", "probs", "proba", "probability")}
)
_PROBABILITIES = ("prob", "proba", "probability", "p")
_OF_ANSWER = name_with(_PROBABILITIES, ("pred", "predicted", "prediction", "max", "top", "top1"))
_OF_GOLD = name_with(_PROBABILITIES, ("gold", "label", "target", "gold_label", "true_label"))
_ROUNDED = 0.01  # probabilities of two digits
# What writers put between such a word and a label, or between it and a column of answers.
_BETWEEN = re.compile(r"[.:/ ([-]")


def say_other_scores(
    names: Sequence[str],
    read: Callable[[list[str]], Mapping[str, pa.Array | pa.ChunkedArray]],
    answers: Mapping[str, pa.ChunkedArray],
    gold: tuple[str, pa.ChunkedArray] | None,
    *,
    path: Path,
    is_alone: bool,
    nested: Collection[str] = (),
    versions: Mapping[str, str] | None = None,
    chosen: Collection[str] = (),
) -> tuple[str, ...]:
    """Say where columns that score each label make another one likelier than the answer.

    Those without the name of a column of answers, or of its version, may be of another one, unless
    that is alone. Those in `nested` hold objects or lists; which are not of labels by their names
    are held against what counts by their largest scores.
    """
    if not answers:
        return ()
    said = []
    values = read([name for name in nested if names.count(name) == 1])
    by_name = [name for name, own in values.items() if not is_list(own.type) or are_named(own.type)]
    spread = {
        f"{name}.{key}": part
        for name, own in values.items()
        if name in by_name or _SCORE_WORDS.search(name)
        for key, part in spread_values(own).items()
    }
    spread |= _spread_further(spread)
    names = [*names, *spread]
    used: set[str] = set()
    sizes: set[int] = set()
    for column, own in answers.items():
        try:
            mine = label_keys(own, path)
            right = mine if gold is None else label_keys(gold[1], path)
        except InputError:  # whoever compares them refuses them
            continue
        labels = {*mine, *right} - OF_NONE
        sizes.add(len(labels))
        owners = dict.fromkeys((column, (versions or {}).get(column, column)))
        made = (
            list_scores(names, labels, owner, is_alone=is_alone, words=by_name) for owner in owners
        )
        for scores in itertools.chain.from_iterable(made):
            used.update(name.rpartition(".")[0] for name in scores.values() if name in spread)
            used.update(scores.values())
            found = {**spread, **read([name for name in scores.values() if name not in spread])}
            is_read = found.keys() >= {*scores.values()}
            if is_read:
                columns = {name: found[name] for name in scores.values()}
                are_scores = any(_SCORE_WORDS.search(name) for name in columns)
                said += say_no_numbers(columns, path, are_named=are_scores)
            n = _count_unlikely(scores, found, mine, right) if is_read else 0
            if n:
                said.append(
                    f"Warning: {path}: by {', '.join(scores.values())}, another label than "
                    f"{column} is the likeliest in {say_count(n, 'row')} of {len(mine):,}; "
                    f"{column} counts (leave out the columns that are wrong)."
                )
    largest = {name: find_likeliest(own) for name, own in values.items() if name not in used}
    free = [name for name in names if name not in spread and name not in used]
    for prefix, n in _list_numbered(free).items():
        if prefix and not _SCORE_WORDS.search(prefix) and n not in sizes:
            continue
        numbered = read([f"{prefix}{place}" for place in range(n)])
        if len(numbered) == n:
            largest[f"{prefix}0 to {prefix}{n - 1}"] = find_largest(
                {str(place): own for place, own in enumerate(numbered.values())}
            )
    known = {f"first or largest of {name}": own for name, own in largest.items() if own is not None}
    known |= {name: own for name, own in spread.items() if name not in used}
    counted = key_counted(gold, answers, path)
    said += say_near_copies(known, counted, path, chosen=chosen)
    for column, own in answers.items():
        names_of = () if is_alone else (column, (versions or {}).get(column, column))
        said += _say_unlike_shares(free, read, (column, own), gold, path=path, owners=names_of)
    return tuple(dict.fromkeys(said))


def _spread_further(
    spread: Mapping[str, pa.Array | pa.ChunkedArray], most: int = _DEEPEST
) -> dict[str, pa.Array | pa.ChunkedArray]:
    """Return the fields of objects that are fields of objects, by all their names."""
    found = {
        f"{name}.{key}": part
        for name, own in spread.items()
        if pa.types.is_struct(own.type)
        for key, part in spread_values(own).items()
    }
    return found | (_spread_further(found, most - 1) if found and most > 1 else {})


def _say_unlike_shares(
    names: Sequence[str],
    read: Callable[[list[str]], Mapping[str, pa.Array | pa.ChunkedArray]],
    answers: tuple[str, pa.ChunkedArray],
    gold: tuple[str, pa.ChunkedArray] | None,
    *,
    path: Path,
    owners: Sequence[str],
) -> list[str]:
    """Say where the probability of the answer, or of the right one, is not that of such a one.

    The likeliest of k labels has at least one k-th, and who has more than a half is the likeliest.
    """
    column, own = answers
    named = {
        name: usual is _OF_ANSWER
        for usual in (_OF_ANSWER, _OF_GOLD)
        for name in find_named(names, name_with(usual, owners) if owners else usual)
    }
    if not named:
        return []
    try:
        mine = label_keys(own, path)
        right = None if gold is None else label_keys(gold[1], path)
    except InputError:  # whoever compares them refuses them
        return []
    labels = {*mine, *(() if right is None else right)} - OF_NONE
    least = 1 / len(labels) if 2 <= len(labels) <= MOST_KINDS else 0
    said = []
    for name, values in read([*named]).items():
        numbers = as_numbers(pa.chunked_array(getattr(values, "chunks", [values])))
        numbers = np.where(np.isin(mine, [*OF_NONE]), np.nan, numbers)
        if np.nanmedian([0, *numbers]) > 1 or not least:  # percentages
            continue
        is_other = (numbers < 0) | (numbers > 1)
        if named[name]:
            is_other |= numbers < least - _ROUNDED
        elif right is not None:
            is_other |= (mine == right) & (numbers < least - _ROUNDED)
            is_other |= (mine != right) & (numbers > 0.5 + _ROUNDED)
        n = int(is_other.sum())
        if n:
            what = f"the answer in {column}" if named[name] else "the right answer"
            said.append(
                f"Warning: {path}: {name} cannot be the probability of {what} in "
                f"{say_count(n, 'row')} of {len(mine):,} (the likeliest of {len(labels)} labels "
                f"has {least:.2g} or more); {column} counts (mend the column, or leave it out if "
                "it is something else)."
            )
    return said


def _list_numbered(names: Sequence[str]) -> dict[str, int]:
    """Find columns of scores that are numbered from 0, by what stands before the number."""
    found: dict[str, set[int]] = {}
    for name in names:
        prefix = name.rstrip("0123456789")
        number = name[len(prefix) :]
        if 0 < len(number) <= _MOST_DIGITS:
            found.setdefault(prefix, set()).add(int(number))
    return {
        prefix: len(numbers)
        for prefix, numbers in found.items()
        if 2 <= len(numbers) <= MOST_KINDS and max(numbers) == len(numbers) - 1
    }


def list_scores(
    names: Sequence[str],
    labels: set[str],
    column: str,
    *,
    is_alone: bool = True,
    words: Collection[str] = (),
) -> Iterator[dict[str, str]]:
    """Find columns of numbers for each label: its name alone, or with one word for all of them.

    The probability of one of two labels says that of the other, too. Of `words`, which are more
    than the usual ones, those with the column's name at an end are of it, and all if it is alone.
    """
    if not 2 <= len(labels) <= MOST_KINDS:
        return
    folded = {name: _BETWEEN.sub("_", name.lower()) for name in names}
    may_be_bare = not any(label.isdecimal() for label in labels)
    for first, behind, word in _list_affixes(column, words, is_alone=is_alone):
        if not word and not may_be_bare:
            continue
        scores = {
            label_key(_cut_label(name, len(first), len(behind))): name
            for name, plain in folded.items()
            if plain.startswith(first) and plain.endswith(behind) and names.count(name) == 1
        }
        if labels == set("012") and scores.keys() >= set(NLI_LABELS):
            yield {str(place): scores[label] for place, label in enumerate(NLI_LABELS)}
        elif labels <= scores.keys():
            known = {*labels, *NLI_LABELS} if labels <= set(NLI_LABELS) else labels
            yield {label: name for label, name in scores.items() if label in known}
        elif len(labels) == _PAIR and labels & scores.keys() and word in _OF_ONE:
            yield {label: name for label, name in scores.items() if label in labels}


def _list_affixes(
    column: str, words: Collection[str], *, is_alone: bool
) -> Iterator[tuple[str, str, str]]:
    """Give what may stand before and behind a label, and of both what is not the column's name."""
    own = _BETWEEN.sub("_", column.lower())
    usual = [each for word in _SCORES for each in ((f"{word}_", ""), ("", f"_{word}"))]
    usual.append(("", ""))
    for before, behind in usual:
        word = before + behind
        yield f"{own}_{before}", behind, word
        yield before, f"{behind}_{own}", word
        if before:
            yield f"{before}{own}_", behind, word
        elif behind:
            yield "", f"_{own}{behind}", word
    for before, behind in usual if is_alone else ():
        yield before, behind, before + behind
    for word in (_BETWEEN.sub("_", name.lower()) for name in words):
        of_one = word.startswith(f"{own}_") or word.endswith(f"_{own}")
        if (is_alone or of_one) and not word.endswith(_SCORES):
            yield f"{word}_", "", f"{word}_"


def _cut_label(name: str, n_before: int, n_behind: int) -> str:
    """Return the label in the name of a column of scores, without the parentheses around it."""
    label = name[n_before : len(name) - n_behind]
    return label.rstrip(")]") if name[:n_before].endswith(("(", "[")) else label


# Whole numbers in columns of such names are no votes of annotators.
_NO_VOTES = ("logit", "prob")


def _count_unlikely(
    scores: Mapping[str, str],
    found: Mapping[str, pa.Array | pa.ChunkedArray],
    mine: NDArray[Any],
    right: NDArray[Any],
) -> int:
    """Count rows with another likeliest label; votes and columns of the right answers say none."""
    chunks = [getattr(found[name], "chunks", [found[name]]) for name in scores.values()]
    numbers = np.array([as_numbers(pa.chunked_array(each)) for each in chunks])
    if all(map(_LOWER_IS_LIKELIER.search, scores.values())):
        numbers = -numbers
    kinds = [*scores, *({*mine, *right} - OF_NONE - {*scores})][: max(len(scores), 2)]
    if len(scores) == 1:
        known = numbers[np.isfinite(numbers)]
        if not known.size or known.min() < 0 or known.max() > _PERCENT:
            return 0
        if known.max() > 1:  # percentages, or something else that has such a name
            if known.max() < _LEAST_PERCENT or "prob" not in "".join(scores.values()):
                return 0
            numbers = numbers / _PERCENT
        numbers = np.vstack([numbers, 1 - numbers])
    labels = np.array(kinds, dtype=object)
    rows = np.isfinite(numbers).all(axis=0) & np.isin(mine, labels)
    numbers, mine = numbers[:, rows], mine[rows]
    are_of_gold = (labels[numbers.argmax(axis=0)] == right[rows]).all()
    may_be_votes = not any(word in name for name in scores.values() for word in _NO_VOTES)
    if are_of_gold or (may_be_votes and (numbers == np.round(numbers)).all()):
        return 0
    places = {label: place for place, label in enumerate(kinds)}
    own = numbers[[places[label] for label in mine], np.arange(len(mine))]
    return int((own < numbers.max(axis=0)).sum())
