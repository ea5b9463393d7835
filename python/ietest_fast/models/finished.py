"""Make a finished classifier of whatever can classify texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from ietest_fast.errors import InputError
from ietest_fast.models.classifiers import Inputs, Scores, Unparsed, rename_labels, select_columns
from ietest_fast.models.ngrams import is_ngram_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from ietest_fast.models.asking import AnswerCache
    from ietest_fast.models.classifiers import TextClassifier


# Files that the weights of a checkpoint are in.
_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")


def as_classifier(
    model: object,
    *,
    labels: Sequence[str] | None = None,
    data_labels: Sequence[str] | None = None,
    text_columns: Sequence[str] | None = None,
    inputs: Inputs | None = None,
    batch_size: int | None = None,
    threshold: float | None = None,
    cache: str | Path | AnswerCache | None = None,
    unparsed: Unparsed = "error",
    name: str | None = None,
) -> TextClassifier:
    """Make a finished classifier of whatever can classify texts.

    Parameters
    ----------
    model
        One of

        - a folder with an ONNX model, or an ``.onnx`` file with its tokenizer beside it;
        - a folder with a checkpoint of transformers, or a hub's name;
        - a folder of a classifier ``ngram-linear`` that a run has kept;
        - a transformers pipeline for text classification;
        - a fitted scikit-learn classifier, or a pipeline that ends in one (``classes_`` and
          ``predict``; ``predict_proba`` is used where it is there);
        - a function of a list of inputs that returns a label for each (names, or numbers that are
          indices into `labels`) or probabilities, shape (n, n_labels);
        - a :class:`TextClassifier`, which is returned as it is.
    labels
        Names of the labels in the order of the model's outputs. Models that have names of their own
        do not need them; where given they take the names' place.
    data_labels
        The data's labels: what a function may answer by name if `labels` is None.
    text_columns
        Columns that it sees; None for all that it is given.
    inputs
        The form in which a function or a scikit-learn model gets a batch of inputs:

        - ``"texts"``, a list of strings: the default for one column of texts;
        - ``"pairs"``, a list of tuples of strings: the default of a function for several columns;
        - ``"frame"``, a pandas frame: the default for scikit-learn models that were fitted on a
          frame (``feature_names_in_``);
        - ``"joined"``, a list of strings, each the texts of a row joined by a blank.
    batch_size
        Inputs of a call; None for 32 (1,024 for a scikit-learn model).
    threshold
        Of a checkpoint, an ONNX model or a pipeline with one logit: the probability (the logit's
        sigmoid) from which its answer is the second of its two labels; 0.5 where None.
    cache
        Keeps the answers of a function: a file (``"answers.jsonl"``), to which every answer is
        written as soon as it is there, or the attribute ``answers`` of an exception. What is in it
        is not asked again. None: answers are kept in memory as long as the classifier.
    unparsed
        What a function's answer that is no label stands for (None, NaN, "", another text):
        ``"error"``, which is raised as soon as the answer is there; or -1 in ``Scores.predicted``,
        for whoever takes the scores to count as ``"wrong"`` or to ``"drop"``.
    name
        What a function is called, for its fingerprint; None for its own name.

    Raises
    ------
    InputError
        If `model` is none of these, does not choose one label, or its labels are not known.

    Notes
    -----
    The fingerprint of a function is made of its name and source. What else it depends on (weights
    in a closure, a server's model) is unknown here: say it in `name`.
    """
    if inputs is not None and inputs not in get_args(Inputs):
        names = ", ".join(map(repr, get_args(Inputs)))
        raise InputError(f"inputs is one of {names}, not {inputs!r}")
    if batch_size is not None and batch_size < 1:
        raise InputError(f"batch_size must be 1 or more, not {batch_size}")
    if unparsed not in get_args(Unparsed):
        names = ", ".join(map(repr, get_args(Unparsed)))
        raise InputError(f"unparsed is one of {names}, not {unparsed!r}")
    if not is_function(model) and (cache is not None or unparsed != "error"):
        raise InputError(
            f"{'cache' if cache is not None else 'unparsed'} is for a function; this classifier "
            "gives a label for every text, as often as it is asked: leave it out"
        )
    given = None if labels is None else _check_labels(labels)
    columns = None if text_columns is None else tuple(text_columns)
    if isinstance(model, str | Path):
        made: TextClassifier = _load(model, threshold)
        return made if given is None and columns is None else _Renamed(made, given, columns)
    if isinstance(model, type):
        raise InputError(f"{model.__name__} is a class; a classifier is an instance of one")
    if all(hasattr(model, each) for each in ("score", "labels", "backend", "fingerprint")):
        _refuse_threshold(threshold)
        made = cast("TextClassifier", model)
        return made if given is None and columns is None else _Renamed(made, given, columns)
    from ietest_fast.models.asking import AnswerCache
    from ietest_fast.models.foreign import Estimator, Function, HubPipeline

    if _is_pipeline(model):
        return HubPipeline(
            model,
            labels=given,
            text_columns=columns,
            batch_size=batch_size or 32,
            threshold=threshold,
        )
    _refuse_threshold(threshold)
    if callable(getattr(model, "predict", None)):
        return Estimator(
            model,
            labels=given,
            text_columns=columns,
            inputs=inputs,
            batch_size=batch_size or 1024,
        )
    if callable(model):
        if not isinstance(cache, AnswerCache | str | Path | None):
            raise InputError(
                f"cache is of type {type(cache).__name__}; expected a file such as "
                "'answers.jsonl', or the attribute `answers` of an exception"
            )
        kept = cache if cache is None or isinstance(cache, AnswerCache) else AnswerCache(cache)
        return Function(
            cast("Callable[[Any], Any]", model),
            labels=given,
            data_labels=None if data_labels is None else _check_labels(data_labels),
            text_columns=columns,
            inputs=inputs,
            batch_size=batch_size or 32,
            cache=kept,
            unparsed=unparsed,
            name=name,
        )
    raise InputError(
        f"a {type(model).__name__} is no classifier; expected a folder, an .onnx file, a hub's "
        "name, a transformers pipeline, a scikit-learn classifier, or a function of a list of "
        "texts"
    )


def _check_labels(labels: Sequence[str]) -> tuple[str, ...]:
    names = tuple(map(str, labels))
    if isinstance(labels, str) or len(names) < 2 or len(set(names)) < len(names):
        raise InputError(f"labels must be at least two different names, not {labels!r}")
    return names


def is_function(model: object) -> bool:
    """Say whether a classifier is a mere function, which names no labels."""
    return callable(model) and not (
        isinstance(model, type)
        or callable(getattr(model, "predict", None))
        or hasattr(model, "fingerprint")
        or _is_pipeline(model)
    )


def _is_pipeline(model: object) -> bool:
    return any(each.__name__ == "TextClassificationPipeline" for each in type(model).__mro__)


def _refuse_threshold(threshold: float | None) -> None:
    if threshold is not None:
        raise InputError(
            "a threshold is for a checkpoint, an ONNX model or a pipeline with one logit; this "
            "classifier gives labels or probabilities itself: leave the threshold out"
        )


def _load(place: str | Path, threshold: float | None) -> TextClassifier:
    path = Path(place).expanduser()
    # Before torch is asked for: a hub's name is neither of these.
    if not path.exists() and (isinstance(place, Path) or place.startswith((".", "/", "~"))):
        raise InputError("no such folder or file", path=place)
    if is_ngram_folder(path):
        from ietest_fast.models.ngrams import NgramTextClassifier

        _refuse_threshold(threshold)
        return NgramTextClassifier(path)
    is_checkpoint = path.is_dir() and any(any(path.glob(kind)) for kind in _WEIGHTS)
    if path.is_file() or (path.is_dir() and (any(path.glob("*.onnx")) or not is_checkpoint)):
        from ietest_fast.models.onnx_models.classifier import OnnxClassifier

        return OnnxClassifier.load(path, threshold=threshold)
    from ietest_fast.models.checkpoint import CheckpointClassifier

    return CheckpointClassifier(str(place), threshold=threshold)


class _Renamed:
    """A classifier under other names of its labels, or that sees some columns only."""

    def __init__(
        self,
        model: TextClassifier,
        labels: tuple[str, ...] | None,
        text_columns: tuple[str, ...] | None,
    ) -> None:
        self.labels = rename_labels(model.labels, labels)
        self.backend = model.backend
        self._model = model
        self._columns = text_columns

    @property
    def fingerprint(self) -> str:
        return self._model.fingerprint

    def score(self, inputs: pa.Table, *, on_batch: Callable[[int], None] | None = None) -> Scores:
        return self._model.score(select_columns(inputs, self._columns), on_batch=on_batch)
