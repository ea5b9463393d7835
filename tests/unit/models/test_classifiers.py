"""Whatever classifies texts is a finished classifier."""

import json

import numpy as np
import pyarrow as pa
import pytest

from ietest_fast.errors import InputError
from ietest_fast.models import as_classifier
from ietest_fast.models.classifiers import Scores

PAIRS = pa.table(
    {
        "premise": ["a boy runs", "a girl eats", "the dog sleeps", "a man sits"],
        "hypothesis": ["a kid runs", "nobody eats", "a cat is red", "a guy sits"],
    }
)
TEXTS = PAIRS.select(["premise"])
NLI = ("entailment", "neutral", "contradiction")


def _by_length(texts):
    lengths = np.array([len(text) for text in texts], dtype=float)
    return np.stack([lengths, 22 - lengths], axis=1) / 22


def test_a_function_gives_probabilities_in_the_order_of_the_labels():
    seen, done = [], []

    def function(texts):
        seen.append(list(texts))
        return _by_length(texts)

    model = as_classifier(function, labels=("long", "short"), batch_size=3)
    scores = model.score(TEXTS, on_batch=done.append)
    assert model.labels == ("long", "short")
    assert seen == [TEXTS["premise"].to_pylist()[:3], TEXTS["premise"].to_pylist()[3:]]
    assert done == [3, 1]
    np.testing.assert_allclose(
        scores.probabilities, _by_length(TEXTS["premise"].to_pylist()), rtol=1e-6
    )
    assert scores.predicted.tolist() == [1, 0, 0, 1]
    assert scores.probabilities.dtype == np.float32
    empty = model.score(TEXTS.slice(0, 0))
    assert len(empty) == 0
    assert empty.probabilities.shape == (0, 2)


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        (None, ("a boy runs", "a kid runs")),
        ("pairs", ("a boy runs", "a kid runs")),
        ("joined", "a boy runs a kid runs"),
    ],
)
def test_a_function_gets_pairs_in_the_form_that_is_asked_for(inputs, expected):
    seen = []

    def function(batch):
        seen.extend(batch)
        return ["Neutral"] * len(batch)

    scores = as_classifier(function, data_labels=NLI, inputs=inputs).score(PAIRS)
    assert seen[0] == expected
    assert scores.predicted.tolist() == [1, 1, 1, 1]
    assert scores.probabilities is None
    only = as_classifier(function, labels=NLI, text_columns=["hypothesis"])
    only.score(PAIRS)
    assert seen[-1] == "a guy sits"
    frame = as_classifier(lambda table: list(table["gold"]), labels=NLI, inputs="frame")
    gold = PAIRS.append_column("gold", [["neutral", "entailment", "neutral", "contradiction"]])
    assert frame.score(gold).predicted.tolist() == [1, 0, 1, 2]


@pytest.mark.parametrize(
    "answers",
    [
        [0, 2, 1, 0],
        np.array([0, 2, 1, 0], dtype=np.int8),
        ["entailment", " Contradiction", "NEUTRAL", "entailment"],
        np.array(["entailment", "contradiction", "neutral", "entailment"], dtype=object),
    ],
)
def test_a_function_answers_with_names_or_numbers(answers):
    model = as_classifier(lambda texts: answers, labels=NLI)
    assert model.score(TEXTS).predicted.tolist() == [0, 2, 1, 0]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (["entailment"] * 3, "returned 3 answers for 4 inputs"),
        (["entailment", "maybe", "x", "y"], "returned 'maybe' for input 1; expected one of 'ent"),
        (["entailment", None, "x", "y"], "returned None for input 1"),
        ([{"label": "entailment"}] * 4, r"returned \{'label': 'entailment'\} for input 0"),
        ([3, 0, 0, 0], "returned 3 for input 0; expected one of 0, 1, 2"),
        (np.zeros((4, 2)), r"shape \(4, 2\) for 4 inputs and 3 labels; expected \(4, 3\)"),
        (np.ones((4, 3)), r"returned \[1.0, 1.0, 1.0\] for input 0.*apply a softmax"),
        (np.full((4, 3), np.nan), r"returned \[nan, nan, nan\] for input 0; expected one of"),
        (np.array([[np.nan, 0.5, 0.5]] * 4), "input 0, and probabilities.*apply a softmax"),
        ([0.5, 0.5, 0.5, 0.5], "returned 0.5 for input 0: a number is the index of a label"),
        (np.full(4, 0.5), "an array of float64 and shape"),
        ([[0.5, 0.5, 0.0], [0.5], [], []], "input 1: 1 probabilities for 3 labels"),
        ([[["entailment"]]] * 4, "input 0: a list is one of probabilities"),
        (None, "returned None .of the type NoneType. for 4 inputs; expected a list"),
        ("entailment", "returned 'entailment' .of the type str. for 4 inputs"),
        (dict.fromkeys("abcd", "neutral"), "of the type dict. for 4 inputs"),
        ({"neutral"}, "of the type set. for 4 inputs"),
        ([True, False, True, False], "returned True for input 0: return the name of a label"),
        (np.array([True] * 4), "an array of bool and shape"),
        ([b"\xff"] * 4, "returned b'.xff' for input 0"),
    ],
)
def test_answers_that_are_none_are_told(answer, message):
    with pytest.raises(InputError, match=message):
        as_classifier(lambda texts: answer, labels=NLI).score(TEXTS)


def test_nobody_guesses_which_number_is_which_label():
    with pytest.raises(InputError, match="a function does not say what its labels are"):
        as_classifier(len)
    model = as_classifier(lambda texts: [0] * len(texts), data_labels=NLI)
    with pytest.raises(InputError, match="a number, and which label is which"):
        model.score(TEXTS)


def test_what_is_no_classifier_is_refused():
    for wrong, message in (
        (3, "a int is no classifier; expected a folder"),
        (dict, "dict is a class; a classifier is an instance"),
        ("./no/such/folder/at/all", "no such folder"),
    ):
        with pytest.raises(InputError, match=message):
            as_classifier(wrong, labels=NLI)
    for options, message in (
        ({"labels": "abc"}, "two different names"),
        ({"labels": ("a", "a")}, "two different names"),
        ({"labels": NLI, "inputs": "text"}, "inputs is one of 'texts', 'joined'"),
        ({"labels": NLI, "batch_size": 0}, "batch_size must be 1 or more"),
    ):
        with pytest.raises(InputError, match=message):
            as_classifier(len, **options)
    with pytest.raises(InputError, match="sees the column 'text', and there are premise"):
        as_classifier(len, labels=NLI, text_columns=["text"]).score(PAIRS)
    with pytest.raises(InputError, match="inputs='texts' is for one column"):
        as_classifier(len, labels=NLI, inputs="texts").score(PAIRS)


def test_the_fingerprint_of_a_function_is_its_name_and_source():
    first = as_classifier(lambda texts: ["a"], labels=("a", "b"))
    second = as_classifier(lambda texts: ["b"], labels=("a", "b"))
    named = as_classifier(_by_length, labels=("a", "b"))
    assert len({first.fingerprint, second.fingerprint, named.fingerprint}) == 3
    assert named.fingerprint == as_classifier(_by_length, labels=("a", "b")).fingerprint
    other = as_classifier(_by_length, labels=("a", "b"), name="weights of May")
    assert other.fingerprint != named.fingerprint


def test_a_function_whose_file_is_no_python_has_a_fingerprint(tmp_path):
    page = tmp_path / "page.md"
    page.write_text('# It\'s a page\n"""\n(')
    made = {}
    exec(compile("def ask(pairs):\n    return ['a'] * len(pairs)\n", str(page), "exec"), made)
    assert as_classifier(made["ask"], labels=["a", "b"]).fingerprint


def _fitted(texts, labels, last=None):
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    return make_pipeline(CountVectorizer(), last or LogisticRegression()).fit(texts, labels)


def test_a_scikit_learn_pipeline():
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    texts = TEXTS["premise"].to_pylist()
    pipeline = _fitted(texts, ["neutral", "entailment", "contradiction", "neutral"])
    model = as_classifier(pipeline, batch_size=3)
    assert model.labels == ("contradiction", "entailment", "neutral")
    assert model.backend.startswith("scikit-learn ")
    scores = model.score(TEXTS)
    assert [model.labels[i] for i in scores.predicted] == pipeline.predict(texts).tolist()
    np.testing.assert_allclose(scores.probabilities, pipeline.predict_proba(texts), rtol=1e-6)
    again = as_classifier(_fitted(texts, ["neutral", "entailment", "contradiction", "neutral"]))
    assert again.fingerprint == model.fingerprint
    other = as_classifier(_fitted(texts, ["neutral", "entailment", "contradiction", "entailment"]))
    assert other.fingerprint != model.fingerprint
    with pytest.raises(InputError, match="say inputs='joined'"):
        model.score(PAIRS)
    assert len(as_classifier(pipeline, inputs="joined").score(PAIRS)) == 4
    assert len(as_classifier(pipeline, text_columns=["premise"]).score(PAIRS)) == 4


def test_scikit_learn_models_with_numbers_for_labels_take_names():
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    from sklearn.svm import LinearSVC

    texts = TEXTS["premise"].to_pylist()
    pipeline = _fitted(texts, [1, 0, 2, 1], LinearSVC())
    assert as_classifier(pipeline).labels == ("0", "1", "2")
    model = as_classifier(pipeline, labels=NLI)
    scores = model.score(TEXTS)
    assert [NLI[i] for i in scores.predicted] == [NLI[i] for i in pipeline.predict(texts)]
    assert scores.probabilities is None  # it has no predict_proba
    with pytest.raises(InputError, match="labels names 2 labels, and the model has 3: 0, 1, 2"):
        as_classifier(pipeline, labels=("a", "b"))


def test_scikit_learn_models_of_a_frame_get_their_columns():
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    from sklearn.compose import make_column_transformer
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    counted = make_column_transformer(
        (CountVectorizer(), "hypothesis"), (CountVectorizer(), "premise")
    )
    frame = PAIRS.to_pandas()[["hypothesis", "premise"]]
    pipeline = make_pipeline(counted, LogisticRegression())
    pipeline.fit(frame, ["a", "b", "a", "b"])
    scores = as_classifier(pipeline).score(PAIRS)
    np.testing.assert_allclose(scores.probabilities, pipeline.predict_proba(frame), rtol=1e-6)
    with pytest.raises(InputError, match="fitted on a frame with the column 'hypothesis'"):
        as_classifier(pipeline).score(TEXTS)


def test_labels_are_what_predict_says():
    """Where a classifier has a threshold of its own, the likeliest label is not its answer."""
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    from sklearn.model_selection import FixedThresholdClassifier

    texts = TEXTS["premise"].to_pylist()
    never = FixedThresholdClassifier(_fitted(texts, [0, 1, 0, 1]), threshold=0.999)
    never.fit(texts, [0, 1, 0, 1])
    scores = as_classifier(never).score(TEXTS)
    assert scores.predicted.tolist() == [0, 0, 0, 0]
    assert scores.probabilities.argmax(axis=1).tolist() == [0, 1, 0, 1]


def test_unfitted_models_are_told():
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    from sklearn.linear_model import LogisticRegression

    with pytest.raises(InputError, match="has no classes_: it is not fitted, or no classifier"):
        as_classifier(LogisticRegression())


def test_an_onnx_folder_and_new_names_for_its_labels(tmp_path):
    pytest.importorskip("onnx", reason="makes the model that is tested")
    from tiny_models import make_onnx_folder, make_tokenizer

    weights = make_onnx_folder(tmp_path)
    model = as_classifier(tmp_path)
    assert model.labels == NLI
    done = []
    scores = model.score(PAIRS, on_batch=done.append)
    oracle = make_tokenizer()
    ids = [oracle.encode(*row.values()).ids for row in PAIRS.to_pylist()]
    expected = np.array([weights[row].sum(axis=0) for row in ids])
    np.testing.assert_allclose(scores.logits, expected, rtol=1e-5, atol=1e-5)
    assert scores.predicted.tolist() == expected.argmax(axis=1).tolist()
    np.testing.assert_allclose(scores.probabilities.sum(axis=1), 1, rtol=1e-5)
    assert scores.n_tokens == sum(map(len, ids))
    assert sum(done) == 4
    assert as_classifier(model) is model
    renamed = as_classifier(str(tmp_path / "model.onnx"), labels=("a", "b", "c"))
    assert renamed.labels == ("a", "b", "c")
    assert renamed.fingerprint == model.fingerprint
    assert renamed.score(PAIRS).predicted.tolist() == scores.predicted.tolist()
    one = as_classifier(model, text_columns=["premise"]).score(PAIRS)
    assert one.n_tokens < scores.n_tokens
    taken = scores.take(np.array([3, 3, 0]))
    assert taken.predicted.tolist() == scores.predicted[[3, 3, 0]].tolist()
    assert taken.logits.shape == (3, 3)
    assert len(Scores(predicted=np.zeros(2, np.int64)).take(np.array([1]))) == 1


@pytest.mark.slow
def test_a_checkpoint_and_its_pipeline_say_the_same(tmp_path):
    pytest.importorskip("torch", reason="needs the train extra")
    transformers = pytest.importorskip("transformers", reason="needs the train extra")
    from tiny_models import make_bert

    make_bert(tmp_path, labels=NLI)
    settings = {"pad_token": "[PAD]", "model_max_length": 48}
    settings["tokenizer_class"] = "PreTrainedTokenizerFast"
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    checkpoint = as_classifier(tmp_path)
    expected = checkpoint.score(PAIRS)
    pipeline = transformers.pipeline("text-classification", model=str(tmp_path), device="cpu")
    model = as_classifier(pipeline, batch_size=3)
    assert model.labels == NLI
    assert model.backend.startswith("transformers ")
    # A pair whose second text is empty, alone and among others, is still a pair.
    texts = ["A boy runs.", "A boy runs.", "A dog.", ""]
    blank = pa.table({"premise": texts, "hypothesis": ["", "He moves.", "", ""]})
    seen = []
    hook = pipeline.model.register_forward_pre_hook(
        lambda _, args, own: seen.append(own["input_ids"]), with_kwargs=True
    )
    for row, (text, pair) in enumerate(zip(texts, ["", "He moves.", "", ""], strict=True)):
        model.score(blank.slice(row, 1))
        assert seen[-1].tolist() == pipeline.tokenizer([text], [pair])["input_ids"]
    hook.remove()
    for table in (PAIRS, TEXTS, blank):
        expected, scores = checkpoint.score(table), model.score(table)
        np.testing.assert_allclose(scores.logits, expected.logits, atol=0.02)  # bf16 or not
        assert scores.predicted.tolist() == expected.predicted.tolist()
    assert model.fingerprint == as_classifier(pipeline).fingerprint
    long = pa.table({"text": ["boy " * 500]})
    assert np.isfinite(model.score(long).logits).all()
