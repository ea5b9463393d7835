"""A finished classifier on a suite of stress tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from ietest_fast.analyses.logic.asking import ask_logic
from ietest_fast.analyses.logic.candidates import LogicOptions
from ietest_fast.analyses.logic.measure import measure_logic
from ietest_fast.analyses.logic.rules import read_weights
from ietest_fast.analyses.stress.asking import ask_stress, measure_answers
from ietest_fast.analyses.stress.suite import StressOptions, StressTest, choose_tests
from ietest_fast.api.evaluating import (
    as_labelled,
    check_answers_file,
    learn_source,
    list_names,
    refuse_given,
    show_bar,
    take_labelled,
)
from ietest_fast.errors import InputError
from ietest_fast.stats.inputs import seed_of
from ietest_fast.transform.phi import is_choice
from ietest_fast.transform.rewordings import is_function, name_function

if TYPE_CHECKING:
    from pathlib import Path

    from ietest_fast.analyses.logic.measure import LogicProfile
    from ietest_fast.analyses.stress.profile import StressProfile
    from ietest_fast.models.classifiers import AnswerCache, Inputs, Unparsed
    from ietest_fast.stats.inputs import Rng
    from ietest_fast.stats.outcomes import Method
    from ietest_fast.stats.resampling import Alternative


LOGIC = "logic"
"""The value of ``suite`` that is no file: the classifier is asked what follows from what among the
sentences of labelled pairs (thesis of Salvatore 2020, sections 1.2.3 and 5.1)."""


@overload
def stress(
    classifier: Any,
    data: Any,
    *,
    suite: Literal["logic"],
    draws: int | None = None,
    nearest: int | None = None,
    instances: int | None = None,
    weights: Any = None,
    renormalise: bool | None = None,
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
) -> LogicProfile: ...


@overload
def stress(
    classifier: Any,
    data: Any,
    *,
    suite: Any = None,
    allow_code: bool = False,
    add: Any = (),
    rules: str | None = None,
    quantities: Any = None,
    quantities_column: str | None = None,
    train: Any = None,
    group_by: str | None = None,
    clusters: str | None = None,
    text_columns: str | Sequence[str] | None = None,
    label_column: str | None = None,
    label_names: Sequence[str] | None = None,
    id_column: str | None = None,
    keep_columns: Sequence[str] = (),
    learn_from: Any = None,
    labels: Sequence[str] | None = None,
    label_map: Mapping[str, str] | None = None,
    inputs: Inputs | None = None,
    input_columns: str | Sequence[str] | None = None,
    batch_size: int | None = None,
    cache: str | Path | AnswerCache | None = None,
    unparsed: Unparsed = "error",
    threshold: float | None = None,
    out: str | Path | None = None,
    alpha: float | None = None,
    margin: float | None = None,
    method: Method | None = None,
    n_resamples: int | None = None,
    rng: Rng = 0,
    alternative: Alternative | None = None,
    n_threads: int | None = None,
) -> StressProfile: ...


def stress(
    classifier: Any,
    data: Any,
    *,
    suite: Any = None,
    allow_code: bool = False,
    add: Any = (),
    rules: str | None = None,
    quantities: Any = None,
    quantities_column: str | None = None,
    train: Any = None,
    group_by: str | None = None,
    clusters: str | None = None,
    text_columns: str | Sequence[str] | None = None,
    label_column: str | None = None,
    label_names: Sequence[str] | None = None,
    id_column: str | None = None,
    keep_columns: Sequence[str] = (),
    learn_from: Any = None,
    labels: Sequence[str] | None = None,
    label_map: Mapping[str, str] | None = None,
    inputs: Inputs | None = None,
    input_columns: str | Sequence[str] | None = None,
    batch_size: int | None = None,
    cache: str | Path | AnswerCache | None = None,
    unparsed: Unparsed = "error",
    threshold: float | None = None,
    out: str | Path | None = None,
    alpha: float | None = None,
    margin: float | None = None,
    method: Method | None = None,
    n_resamples: int | None = None,
    rng: Rng = 0,
    alternative: Alternative | None = None,
    n_threads: int | None = None,
    draws: int | None = None,
    nearest: int | None = None,
    instances: int | None = None,
    weights: Any = None,
    renormalise: bool | None = None,
) -> StressProfile | LogicProfile:
    """Run a finished classifier on stress tests, and compare it with itself on the originals.

    The tests of Naik et al. (2018) and any transformation: their texts are made of labelled ones,
    and the classifier answers each distinct input once. Tests that keep labels are compared with
    the originals by the paired test, with Holm's correction over the suite. The suite ``"logic"``
    is another one: it asks what follows from what among the sentences of the data.

    Parameters
    ----------
    classifier
        Anything that classifies, as for ``ie.evaluate``.
    data
        Labelled texts: a pandas or polars frame, an Arrow table, a ``datasets.Dataset``, a mapping
        of columns, a file, or a corpus.
    suite
        The tests: None for the paper's six; a TOML file
        (:func:`ietest_fast.analyses.stress.suite.read_suite`); or a mapping from names to
        transformations, each as for ``ie.transform``. ``"logic"``: properties of entailment and
        rules of inference.
    allow_code
        Whether the TOML file may name code to import (``"package.module:KIND"``); only for files
        that you trust.
    add
        More tests: one transformation by name, or a list of them; None for no more.
    rules
        Of the paper's six: ``"careful"`` (the default), or ``"paper"``, exactly as published.
    quantities, quantities_column
        Texts of which the paper's test ``numerical`` is made: a list of strings, or a file and its
        column. None for `data`.
    train
        What the classifier was trained on, labelled as `data`: the profile then says which antonyms
        its contradictions show.
    group_by
        A column, such as genre, by whose values accuracies are also given.
    clusters
        A column whose equal values belong together: the paired tests then draw whole clusters, and
        intervals of accuracies know of them.
    text_columns, label_column, label_names
        As for :func:`ietest_fast.corpus.read_corpus`; found by their names where None.
    id_column
        What names the rows: items of the predictions.
    keep_columns
        Further columns of `data` that the predictions get.
    learn_from
        A table of any kind, or a corpus, that transformations learn from; None: `data`.
    labels, label_map, inputs, input_columns, batch_size, cache, unparsed, threshold
        As for ``ie.evaluate``; `unparsed` is not for ``suite="logic"``.
    out
        Write all answers to this Parquet file, for ``ietest-fast report`` and
        ``ietest-fast stress``.
    alpha
        Level of the family of paired tests; 0.05 where None.
    margin
        Losses of accuracy that do not matter if they are smaller; 0.01 where None.
    method, n_resamples, rng, alternative
        As for ``ie.paired_test``; `alternative` is ``"two-sided"`` where None.
    n_threads
        Threads of transformations and tests; None for all cores. Makes no difference to the result.
    draws, nearest, instances, weights, renormalise
        Of the suite ``"logic"``.

    Returns
    -------
    StressProfile or LogicProfile
        Prints itself; ``profile["negation"]`` is one test. The latter of the suite ``"logic"``.

    Raises
    ------
    InputError
        If something does not fit: columns, labels, training data without contradictions, a test
        that sets labels which `data` do not have, or no test changes a text; and if `out` is a file
        that is read.
    ResourceError
        If `out` cannot be written.
    ConfigError
        If the suite, or options of a transformation, are wrong; all mistakes are listed.
    """
    asks_logic = isinstance(suite, str) and suite == LOGIC
    of_logic = {
        "draws": draws,
        "nearest": nearest,
        "instances": instances,
        "weights": weights,
        "renormalise": renormalise,
    }
    tests: dict[str, StressTest] = {}
    if asks_logic:
        refuse_given(
            "is not for suite='logic'",
            add=add or None,
            rules=rules,
            quantities=quantities,
            quantities_column=quantities_column,
            train=train,
            group_by=group_by,
            keep_columns=keep_columns or None,
            learn_from=learn_from,
            margin=margin,
            method=method,
            alpha=alpha,
            alternative=alternative,
            allow_code=allow_code or None,
            unparsed=None if unparsed == "error" else unparsed,
        )
    else:
        refuse_given("is for suite='logic'", **of_logic)
        tests = choose_tests(
            suite,
            _name_tests(add),
            rules=rules,
            quantities=quantities,
            quantities_column=quantities_column,
            allow_code=allow_code,
        )
    own = [file for test in tests.values() for file in test.files]
    read = [data] if asks_logic else [data, train, suite, learn_from, *own]
    shared: dict[str, Any] = {
        "text_columns": list_names(input_columns),
        "label_map": label_map,
        "id_column": id_column,
        "clusters": clusters,
        "out": check_answers_file(out, read),
        "n_resamples": n_resamples,
        "n_threads": n_threads,
    }
    asked = _ask_logic_of(of_logic, rng, shared) if asks_logic else None
    kept = [x for x in (*keep_columns, clusters, group_by, id_column) if x is not None]
    model, found, corpus = take_labelled(
        classifier,
        data,
        text_columns=text_columns,
        label_column=label_column,
        label_names=label_names,
        keep_columns=kept,
        label_map=label_map,
        labels=labels,
        inputs=inputs,
        batch_size=batch_size,
        cache=cache,
        unparsed=unparsed,
        threshold=threshold,
    )
    if asked is not None:
        with show_bar() as bar:
            known, _ = ask_logic(model, corpus, asked, **bar)
        return measure_logic([known], asked)[0]
    trained = None
    if train is not None:
        trained = as_labelled(
            train,
            text_columns=found.text_columns or None,
            label_column=label_column,
            label_names=label_names,
            like=found.corpus,
            source="train",
        ).corpus
    options = StressOptions(
        **shared,
        tests=tests,
        learn_from=() if learn_from is None else (learn_source(learn_from, found),),
        train=trained,
        keep_columns=kept,
        group_by=group_by,
        unparsed=unparsed,
        alpha=0.05 if alpha is None else alpha,
        margin=margin,
        method=method,
        rng=rng,
        alternative="two-sided" if alternative is None else alternative,
    )
    with show_bar() as bar:
        answers, _ = ask_stress(model, corpus, options, **bar)
    return measure_answers([answers], options)[0]


def _ask_logic_of(of_logic: Mapping[str, Any], rng: Rng, shared: Mapping[str, Any]) -> LogicOptions:
    """Return what is asked of the suite logic, whose defaults hold where nothing is said."""
    given = {name: value for name, value in of_logic.items() if value is not None}
    if "weights" in given:
        given["weights"] = read_weights(given["weights"])
    return LogicOptions(**shared, **given, seed=seed_of(rng))


def _name_tests(add: Any) -> list[tuple[str, Any]]:
    """Return tests that are added, each with its name."""
    is_one = isinstance(add, str | Mapping) or not isinstance(add, Sequence)
    tests = () if add is None else [add] if is_one else add
    return [(_name_of(each.phi if isinstance(each, StressTest) else each), each) for each in tests]


def _name_of(phi: Any) -> str:
    """Return what a test is called that is added by its transformation alone."""
    if isinstance(phi, str):
        return phi
    if is_function(phi):
        return name_function(phi)
    if isinstance(phi, Mapping) and not is_choice(phi):
        return "mapping"
    name = phi.get("name") if isinstance(phi, Mapping) else getattr(phi, "name", None)
    if not isinstance(name, str):
        raise InputError(
            f"add: no transformation, but {type(phi).__name__!r}: give a name such as 'swap', a "
            "mapping with name and options, a finished transformation, a mapping from texts to "
            "texts, or a function from a text to a text"
        )
    return name
