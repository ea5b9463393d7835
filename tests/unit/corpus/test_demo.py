from __future__ import annotations

import itertools
import re
import tracemalloc
from collections import Counter
from functools import cache

import numpy as np
import pyarrow as pa
import pytest

from ietest_fast.corpus import demo_batches, demo_corpus, demo_splits, describe
from ietest_fast.corpus.demo.scenes import draw_scenes
from ietest_fast.corpus.demo.sentences import say
from ietest_fast.corpus.demo.words import TAXONOMIES, plural
from ietest_fast.errors import InputError
from ietest_fast.lexicon import WordNet
from reference.nli_oracle import LABELS, label_of, nouns
from reference.nltk_wordnet import dict_folder, reader


def tokens(text: str) -> list[str]:
    return re.findall(r"[\w']+", text.lower())


@cache
def sample() -> tuple[list[str], list[str], np.ndarray]:
    corpus = demo_corpus(20_000, seed=11)
    return corpus.texts(0).to_pylist(), corpus.texts(1).to_pylist(), corpus.labels


@pytest.mark.slow
def test_labels_are_those_of_the_oracle() -> None:
    scenes = draw_scenes(0, 20_000, seed=2)
    slots = list(TAXONOMIES)
    for i in range(len(scenes)):
        premise = {slot: int(values[i]) for slot, values in scenes.premise.items()}
        hypothesis = {slot: int(values[i]) for slot, values in scenes.hypothesis.items()}
        denied = slots[scenes.deciding[i]] if scenes.negated[i] else None
        assert label_of(premise, hypothesis, denied) == LABELS[scenes.label[i]], i


def test_one_slot_alone_decides() -> None:
    scenes = draw_scenes(0, 5_000, seed=6)
    slots = list(TAXONOMIES)
    undecided = np.zeros(3, int)
    for i in range(len(scenes)):
        hypothesis = {slot: int(values[i]) for slot, values in scenes.hypothesis.items()}
        if scenes.negated[i] or scenes.label[i] == 0:
            continue
        # Without what its deciding slot says, a hypothesis contradicts nothing any more.
        hypothesis[slots[scenes.deciding[i]]] = 0
        premise = {slot: int(values[i]) for slot, values in scenes.premise.items()}
        undecided[LABELS.index(label_of(premise, hypothesis, None))] += 1
    assert undecided[2] == 0
    assert undecided[0] > 10 * undecided[1]


def test_every_way_to_a_label_occurs() -> None:
    scenes = draw_scenes(0, 60_000, seed=1)
    seen = Counter(
        zip(scenes.deciding.tolist(), scenes.label.tolist(), scenes.negated.tolist(), strict=True)
    )
    for slot in range(len(TAXONOMIES)):
        for label in range(3):
            assert seen[slot, label, False] > 100, (slot, label)
    for slot in ("place", "action"):
        for label in range(3):
            assert seen[list(TAXONOMIES).index(slot), label, True] > 50


@pytest.mark.slow
def test_a_pair_depends_on_its_number_and_the_seed_alone() -> None:
    whole = demo_corpus(1000, seed=4)
    for batch_size in (1, 7, 999, 5000):
        if batch_size == 1:
            batches = list(demo_batches(20, seed=4, batch_size=1))
            assert pa.Table.from_batches(batches).equals(whole.table.slice(0, 20))
        else:
            batches = list(demo_batches(1000, seed=4, batch_size=batch_size))
            assert pa.Table.from_batches(batches).equals(whole.table)
    assert (
        demo_corpus(10, seed=4, start=990).fingerprint == whole.take(range(990, 1000)).fingerprint
    )
    assert demo_corpus(1000, seed=5).fingerprint != whole.fingerprint
    assert demo_corpus(1000, seed=0).fingerprint == demo_corpus(1000).fingerprint


def test_splits_are_one_run_cut_in_three() -> None:
    splits = demo_splits(30, 20, 10, seed=7)
    assert [len(part) for part in splits] == [30, 20, 10]
    joined = pa.concat_tables([part.table for part in splits])
    assert joined.equals(demo_corpus(60, seed=7).table)
    assert len(demo_corpus(0)) == 0


@pytest.mark.parametrize("arguments", [(-1, 0, 1), (1, -1, 1), (1, 0, 0)])
def test_wrong_numbers(arguments: tuple[int, int, int]) -> None:
    n, seed, batch_size = arguments
    with pytest.raises(InputError):
        list(demo_batches(n, seed=seed, batch_size=batch_size))


def test_labels_are_balanced() -> None:
    counts = demo_corpus(60_000, seed=8).label_counts
    # Five standard deviations of a binomial count.
    assert np.abs(counts - 20_000).max() < 5 * np.sqrt(60_000 * 2 / 9)


@pytest.mark.slow
@pytest.mark.parametrize("column", [0, 1])
def test_no_word_gives_the_label_away(column: int) -> None:
    texts, labels = sample()[column], sample()[2]
    with_word: dict[str, np.ndarray] = {}
    for text, label in zip(texts, labels, strict=True):
        for word in set(tokens(text)):
            with_word.setdefault(word, np.zeros(3))[label] += 1
    totals = np.bincount(labels, minlength=3)
    for word, inside in with_word.items():
        joint = np.stack([inside, totals - inside]) / len(labels)
        expected = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            bits = np.nansum(joint * np.log2(joint / expected))
        # The label has 1.585 bits. Hypotheses are drawn without regard to it, so that only
        # chance is left: 2 n ln 2 times the bits are chi-square with two degrees of freedom.
        bound = 0.05 if column == 0 else 30 / (2 * len(labels) * np.log(2))
        assert bits < bound, (word, bits, inside)
        if inside.sum() > 300:
            assert inside.min() / inside.sum() > 0.05, (word, inside)


@pytest.mark.slow
def test_the_hypothesis_alone_says_nothing() -> None:
    _, hypotheses, labels = sample()
    assert _naive_bayes_accuracy(hypotheses, labels) < 0.38


@pytest.mark.slow
def test_a_premise_alone_says_little() -> None:
    premises, _, labels = sample()
    assert _naive_bayes_accuracy(premises, labels) < 0.52


def _naive_bayes_accuracy(texts: list[str], labels: np.ndarray) -> float:
    half = len(texts) // 2
    counts: dict[str, np.ndarray] = {}
    for text, label in zip(texts[:half], labels[:half], strict=True):
        for word in tokens(text):
            counts.setdefault(word, np.ones(3))[label] += 1
    totals = np.sum(list(counts.values()), axis=0)
    right = 0
    for text, label in zip(texts[half:], labels[half:], strict=True):
        score = sum(np.log(counts[w] / totals) for w in tokens(text) if w in counts)
        right += int(np.argmax(score)) == label
    return right / (len(texts) - half)


@pytest.mark.slow
def test_a_bag_of_words_learns_something_and_not_everything() -> None:
    xgboost = pytest.importorskip("xgboost")
    sparse = pytest.importorskip("scipy.sparse")
    splits = demo_splits(seed=0)
    sides = [
        [part.texts(column).to_pylist() for column in (0, 1)]
        for part in (splits.train, splits.test)
    ]
    joined = [[[f"{p} {h}" for p, h in zip(*side, strict=True)]] for side in sides]
    for train, test in (sides, joined):
        matrices = []
        for column, texts in enumerate(train):
            vocabulary = {w: i for i, w in enumerate(sorted({w for t in texts for w in tokens(t)}))}
            matrices.append(
                [sparse.csr_matrix(_counts(side[column], vocabulary)) for side in (train, test)]
            )
        x_train, x_test = (sparse.hstack(parts, "csr") for parts in zip(*matrices, strict=True))
        model = xgboost.train(
            {
                "objective": "multi:softmax",
                "num_class": 3,
                "max_depth": 15,
                "learning_rate": 0.5,
                "nthread": 2,
            },
            xgboost.DMatrix(x_train, label=splits.train.labels),
            num_boost_round=30,
        )
        accuracy = (model.predict(xgboost.DMatrix(x_test)) == splits.test.labels).mean()
        assert 0.55 < accuracy < 0.85


def _counts(texts: list[str], vocabulary: dict[str, int]) -> np.ndarray:
    counts = np.zeros((len(texts), len(vocabulary)), np.float32)
    for row, text in enumerate(texts):
        for word in tokens(text):
            if word in vocabulary:
                counts[row, vocabulary[word]] += 1
    return counts


@pytest.mark.slow
def test_sentences_are_well_formed() -> None:
    premises, hypotheses, _ = sample()
    singular = "|".join(sorted(n for n in nouns() if plural(n) != n))
    for text in (*premises, *hypotheses):
        assert re.fullmatch(r"[A-Z][a-z' ,]*[a-z]\.", text), text
        assert "  " not in text
        for article, word in re.findall(r"\b(an?) (\w)", text.lower()):
            assert (article == "an") == (word in "aeiou"), text
        assert not re.search(rf"\b(two|three|four|some) (\w+ )?({singular}) (is|are)\b", text), text
        assert not re.search(r"\b(two|three|four) \w+ is\b", text), text
        words = tokens(text)
        assert not any(a == b for a, b in itertools.pairwise(words)), text


@pytest.mark.slow
def test_plurals_agree_with_verbs() -> None:
    scenes = draw_scenes(0, 20_000, seed=9)
    premise, hypothesis = say(scenes)
    one = next(i for i, v in enumerate(TAXONOMIES["number"]().values) if v.name == "one")
    for texts, scene in ((premise, scenes.premise), (hypothesis, scenes.hypothesis)):
        for text, number, agent in zip(
            texts.to_pylist(), scene["number"], scene["agent"], strict=True
        ):
            forms = TAXONOMIES["agent"]().values[agent].forms
            noun = forms["one"] if number == one else forms["many"]
            assert re.search(rf"\b{noun}\b", text, re.IGNORECASE), text
            if number == one:
                assert not re.match(r"(There are|Some|Two|Three|Four) ", text) or "being" in text
                assert not re.search(rf"\b{noun} (are|aren't)\b", text), text
            else:
                assert not re.match(r"(There is) ", text), text
                assert not re.search(rf"\b{noun} (is|isn't)\b", text), text


def test_several_hundred_nouns_occur() -> None:
    premises, hypotheses, _ = sample()
    seen = Counter(w for texts in (premises, hypotheses) for text in texts for w in tokens(text))
    used = [noun for noun in nouns() if seen[noun] + seen[plural(noun)] > 0]
    assert len(used) > 350
    assert describe(demo_corpus(3000)).vocabulary_size > 600


@pytest.mark.slow
def test_a_big_corpus_takes_bounded_memory() -> None:
    list(demo_batches(1000, batch_size=1000))
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    peak = 0
    n = 0
    for batch in demo_batches(60_000, batch_size=5_000):
        n += batch.num_rows
        peak = max(peak, pa.total_allocated_bytes() - before)
    _, traced = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert n == 60_000
    assert peak < 8 << 20
    assert traced < 64 << 20


# ---- against WordNet ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wordnet(tmp_path_factory: pytest.TempPathFactory) -> object:
    """NLTK's reader of WordNet 3.0's own files."""
    return reader(dict_folder(tmp_path_factory.mktemp("dict")), tmp_path_factory.mktemp("nltk"))


def _check_synonyms(synonyms_of: object) -> None:
    with_synonym = [
        noun
        for noun in nouns()
        if any(
            lemma.lower() != noun and "_" not in lemma and " " not in lemma
            for lemma in synonyms_of(noun)  # type: ignore[operator]
        )
    ]
    assert len(with_synonym) >= 280


def test_hundreds_of_nouns_have_synonyms(wordnet: object) -> None:
    def lemmas(noun: str) -> list[str]:
        synsets = wordnet.synsets(noun, "n")  # type: ignore[attr-defined]
        assert synsets, f"{noun} is no noun in WordNet"
        return synsets[0].lemma_names()  # type: ignore[no-any-return]

    _check_synonyms(lemmas)


def test_hundreds_of_nouns_have_synonyms_in_the_packaged_lexicon() -> None:
    packaged = WordNet.packaged()
    _check_synonyms(lambda noun: packaged.first_synset_lemmas(noun, "n"))


# WordNet's first sense of "girl" is a young woman; here a girl is a child.
_SAID_OTHERWISE = {("adult", "girl"), ("woman", "girl")}


def test_what_excludes_each_other_is_not_the_same(wordnet: object) -> None:
    for slot in ("agent", "thing"):
        taxonomy = TAXONOMIES[slot]()
        words = [value.forms.get("one", "").replace(" ", "_") for value in taxonomy.values]
        synsets = [wordnet.synsets(w, "n") if w else [] for w in words]  # type: ignore[attr-defined]
        above = [
            {s for path in found[0].hypernym_paths() for s in path} if found else set()
            for found in synsets
        ]
        for i in range(1, len(words)):
            for j in range(1, i):
                if taxonomy.relation(i, j) != "contradiction" or not (synsets[i] and synsets[j]):
                    continue
                assert not set(synsets[i]) & set(synsets[j]), (words[i], words[j])
                if (words[j], words[i]) not in _SAID_OTHERWISE:
                    assert synsets[i][0] not in above[j], (words[i], words[j])
                    assert synsets[j][0] not in above[i], (words[i], words[j])
