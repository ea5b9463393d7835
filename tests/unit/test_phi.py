"""Transformations by name, in turn, from other packages, and those that set labels."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from ietest_fast.cli.main import main
from ietest_fast.errors import ConfigError, IetestWarning, InputError
from ietest_fast.transform import (
    EDIT_SCHEMA,
    STEP_SCHEMA,
    Composition,
    Identity,
    Material,
    Transformed,
    WordSubstitution,
    apply_edits,
    choose_phi,
    parse_phi,
    plan,
    transform_file,
    undo,
)
from ietest_fast.transform.base import BaseTransformation

TABLE = pa.table(
    {
        "premise": ["a boy runs", "no key", None, "the boy and a boy"],
        "hypothesis": ["lad", "boy", "x", ""],
        "label": ["neutral", "entailment", "neutral", "contradiction"],
    }
)
COLUMNS = ["premise", "hypothesis"]


def words(**mapping: str) -> WordSubstitution:
    return WordSubstitution(mapping=mapping)


@dataclass(frozen=True)
class Twice(BaseTransformation):
    """Leaves out rows without a boy, gives the others twice, and denies them."""

    name = "twice"
    keeps_labels = False

    def transform_table(self, table, text_columns, *, with_edits, n_threads):
        column = text_columns[0]
        hit = pc.fill_null(pc.match_substring(table[column], "boy"), False).to_numpy()
        rows = np.repeat(np.flatnonzero(hit), 2)
        new = table.take(rows)
        texts = pc.binary_join_element_wise("not ", new[column], "")
        n = len(rows)
        edits = pa.table(
            {
                "row": np.arange(n),
                "column": pa.array([column] * n).dictionary_encode(),
                "start": np.zeros(n, np.int64),
                "end": np.zeros(n, np.int64),
                "old": [""] * n,
                "new": ["not "] * n,
                "rule": ["negation"] * n,
            }
        )
        return Transformed(
            table=new.set_column(new.schema.get_field_index(column), column, texts),
            changed=np.ones(n, np.bool_),
            edits=edits.cast(EDIT_SCHEMA) if with_edits else None,
            source_row=rows,
            labels=pa.array(["contradiction"] * n),
        )


# ---- names and options -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("identity", [("identity", {})]),
        (" identity + identity ", [("identity", {}), ("identity", {})]),
        ("syn.paper:tagger=C:\\a\\b", [("syn.paper", {"tagger": "C:\\a\\b"})]),
        ("syn.paper: tagger = x y , wordnet=z", [("syn.paper", {"tagger": "x y", "wordnet": "z"})]),
        (
            "syn.paper:tagger='a,b+c\"',wordnet=",
            [("syn.paper", {"tagger": 'a,b+c"', "wordnet": ""})],
        ),
        (
            'syn.careful:tagger="it\'s"+identity',
            [("syn.careful", {"tagger": "it's"}), ("identity", {})],
        ),
    ],
)
def test_names_with_options(text, parts):
    choice = parse_phi(text)
    found = [
        (kind.name, options.model_dump(exclude_defaults=True)) for kind, options in choice.parts
    ]
    assert found == parts
    assert choice.name == "+".join(name for name, _ in parts)


@pytest.mark.parametrize(
    "text",
    ["", "+", "identity+", "+identity", ":a=b", "syn.careful:", "syn.careful:tagger",
     "syn.careful:tagger=a,", "syn.careful:tagger='a", "syn.careful:tagger='a'b",
     "syn.careful:=x", "syn.careful x", "syn.careful,syn.paper"],
)  # fmt: skip
def test_what_has_another_form_is_refused(text):
    with pytest.raises(InputError, match=r"is not NAME\[:option=value"):
        parse_phi(text)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("syn.carefull", "did you mean 'syn.careful'"),
        ("syn.careful:tager=x", "tager: no such key; syn.careful has tagger, wordnet, block_list"),
        ("identity:x=1", "x: no such key; identity has no options"),
        ("words", "words: mapping: is missing"),
        ("syn.careful:block_list=nowhere.txt", "nowhere.txt: no such file"),
        ("syn.careful:tagger=a,tagger=b", "tagger: is given 2 times, and takes one value"),
        ("negation:times=1001", "times: input should be less than or equal to 1000"),
        ("length-mismatch:times=10000000", "times: input should be less than or equal to 1000"),
        ("swap+word-overlap:times=1e30", "word-overlap: times"),
        (f"negation:tautology={'x' * 1001}", "tautology: string should have at most 1000"),
        (f"spelling:n_words={10**30}", "n_words: input should be less than or equal to 1000"),
        ("+".join(["identity"] * 21), "21 transformations are composed with +, and at most 20"),
        ("+".join(["spelling"] * 130), "130 transformations are composed with +, and at most 20"),
    ],
)
def test_wrong_names_and_options(text, complaint):
    with pytest.raises((InputError, ConfigError), match=re.escape(complaint)):
        parse_phi(text)


@pytest.mark.parametrize(
    "name", [".x:y", "..:y", "builtins:dict", "builtins:print", "os:system", "subprocess:Popen"]
)
def test_nothing_is_called_that_is_no_transformation(name):
    for call in (lambda: parse_phi(name), lambda: choose_phi({"name": name, "command": "false"})):
        with pytest.raises(InputError, match="transformation"):
            call()


def test_tables_of_options(tmp_path):
    (tmp_path / "block.txt").write_text("boy\n")
    choice = choose_phi({"name": "syn.paper", "block_list": "block.txt"}, folder=tmp_path)
    assert choice.files() == [tmp_path / "block.txt"]
    assert choose_phi({"name": "identity+identity"}).name == "identity+identity"
    with pytest.raises(ConfigError, match="tagger: with options, name is one name"):
        choose_phi({"name": "syn.careful+identity", "tagger": "x"})
    with pytest.raises(ConfigError, match="name: must be a string, not 3"):
        choose_phi({"name": 3})
    with pytest.raises(ConfigError, match=r"tagger: input should be a valid string.*\n.*rules: no"):
        choose_phi({"tagger": 3, "rules": "paper"})


def test_paper_rules_without_a_block_list_are_warned_of(tmp_path):
    (tmp_path / "block.txt").write_text("boy\n")
    without = plan("syn.paper:tagger=packaged+identity")
    assert len(without.warnings) == 1
    told: list[str] = []
    without.build(Material(on_warning=told.append))
    assert tuple(told) == without.warnings
    with pytest.warns(IetestWarning, match=r"syn.paper:block_list=FILE"):
        without.build()
    assert not plan(f"syn.paper:tagger=packaged,block_list={tmp_path / 'block.txt'}").warnings
    assert not plan("syn.careful").warnings


def test_an_object_says_itself_what_it_is():
    phi = words(boy="lad")
    planned = plan(phi)
    assert planned.build() is phi
    assert planned.describe() == phi.describe()
    assert planned.fingerprint == phi.fingerprint
    for wrong in (3, None, WordSubstitution, object()):
        with pytest.raises(InputError, match="no transformation, but"):
            plan(wrong)


def test_a_plan_tells_what_a_built_one_is(tmp_path):
    (tmp_path / "m.csv").write_text("old,new\nboy,lad\n")
    options = {"mapping": "m.csv", "rule": "youth", "keeps_labels": False}
    planned = plan({"name": "words", **options}, folder=tmp_path)
    built = planned.build(Material())
    assert (planned.name, planned.fingerprint) == (built.name, built.fingerprint)
    assert planned.describe() == built.describe()
    assert not planned.keeps_labels
    assert str(tmp_path) not in json.dumps(planned.describe())


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("old,new\nboy,lad\nboy,man\n", "m.csv, row 1: 'boy' is replaced by 'lad' before"),
        ("old,new\nboy,lad\nboy ,man\n", "m.csv, row 1: 'boy' is replaced by 'lad' before"),
        ("old,new\n,lad\n", "row 0, column 'old': a word is missing"),
        ("old,new\n  ,lad\n", "row 0, column 'old': a word is missing"),
        ("old,other\nboy,lad\n", "column 'new': there is no such column"),
        ("old,new\n", "no rows"),
    ],
)
def test_mappings_that_are_none(tmp_path, text, complaint):
    (tmp_path / "m.csv").write_text(text)
    with pytest.raises(InputError, match=complaint):
        plan({"name": "words", "mapping": "m.csv"}, folder=tmp_path)


@pytest.mark.parametrize("blank", [" ", "\t", "\u00a0"])
@pytest.mark.parametrize("row", ["boy{0},lad", "{0}boy,lad", "boy,lad{0}", "boy,{0}lad{0}"])
def test_blanks_around_a_word_of_a_mapping_are_of_no_word(tmp_path, row, blank):
    (tmp_path / "m.csv").write_text(f"old,new\n{row.format(blank)}\nboy ,lad\n", "utf-8")
    planned = plan({"name": "words", "mapping": "m.csv"}, folder=tmp_path)
    phi = planned.build(Material())
    assert phi.replace(["A young boy is sitting"]) == ["A young lad is sitting"]
    assert phi.fingerprint == words(boy="lad").fingerprint


def test_a_mapping_that_ignores_case_has_one_replacement_for_a_word(tmp_path):
    (tmp_path / "m.csv").write_text("old,new\nDog,A\nDOG,A\ndog,B\n")
    given = {"name": "words", "mapping": "m.csv"}
    plan(given, folder=tmp_path).close()
    complaint = r"m.csv, row 2: 'dog' is replaced by 'A' before and by 'B' here \(case is ignored\)"
    with pytest.raises(InputError, match=complaint):
        plan(given | {"ignore_case": True}, folder=tmp_path)


# ---- edits, labels and rows --------------------------------------------------------------------


def test_a_users_own_mapping_has_its_own_rule(tmp_path):
    pq.write_table(TABLE, tmp_path / "in.parquet")
    for rule in ("words", "youth"):
        phi = WordSubstitution(mapping={"boy": "lad"}, rule=rule)
        assert set(phi.transform(TABLE, COLUMNS).edits["rule"].to_pylist()) == {rule}
        made = transform_file(tmp_path / "in.parquet", tmp_path / "out.parquet", phi)
        assert made.n_edits == {rule: 4}
        assert made.substitutions == {("boy", "lad"): 4}


def test_edits_of_any_rule_are_counted(tmp_path):
    pq.write_table(TABLE, tmp_path / "in.parquet")
    made = transform_file(tmp_path / "in.parquet", tmp_path / "out.parquet", Twice())
    assert made.n_edits == {"negation": 4}
    assert (made.n_source_rows, made.n_rows) == (4, 4)


def test_edits_that_cancel_out_change_nothing():
    same = words(boy="boy").transform(TABLE, COLUMNS)
    assert not same.changed.any()
    crossed = WordSubstitution(mapping={"a b": "a", "c": "b c"})
    table = pa.table({"t": ["a b c", "c", "a b", None]})
    made = crossed.transform(table, ["t"])
    assert made.table["t"].to_pylist() == ["a b c", "b c", "a", None]
    assert made.changed.tolist() == [False, True, True, False]
    assert made.undo().equals(table)


def test_a_composition_does_one_after_the_other():
    phi = Composition(
        parts=(words(boy="lad"), WordSubstitution(mapping={"lad": "boy", "a": "one"}))
    )
    made = phi.transform(TABLE, COLUMNS)
    assert made.table["premise"].to_pylist() == [
        "one boy runs",
        "no key",
        None,
        "the boy and one boy",
    ]
    assert made.table["hypothesis"].to_pylist() == ["boy", "boy", "x", ""]
    # The second row's boy became a lad and a boy again.
    assert made.changed.tolist() == [True, False, False, True]
    assert made.edits.schema == STEP_SCHEMA
    assert made.edits["step"].to_pylist() == [0] * 4 + [1] * 7
    assert made.undo().equals(TABLE)
    assert apply_edits(TABLE, made.edits).equals(made.table)
    order = np.random.default_rng(0).permutation(len(made.edits))
    assert undo(made.table, made.edits.take(order)).equals(TABLE)
    assert phi.transform(TABLE, COLUMNS, with_edits=False).edits is None


def test_what_a_composition_is():
    a, b = words(a="b"), words(b="c")
    phi = Composition(parts=(a, b))
    assert phi.name == "words+words"
    assert phi.describe()["options"]["parts"] == [a.describe(), b.describe()]
    assert phi.keeps_labels
    assert phi.fingerprint != Composition(parts=(b, a)).fingerprint
    nested = Composition(parts=(Composition(parts=(a, b)), Identity()))
    assert nested.parts == (a, b, Identity())
    assert not Composition(parts=(a, Twice())).keeps_labels
    with pytest.raises(InputError, match="at least two"):
        Composition(parts=(a,))


def test_rows_that_come_and_go():
    parts = [words(boy="boy boy", runs="walks"), Twice(), words(walks="strolls"), Twice()]
    made = Composition(parts=tuple(parts)).transform(TABLE, COLUMNS)
    assert made.source_row.tolist() == [0] * 4 + [3] * 4
    assert made.table["premise"][0].as_py() == "not not a boy boy strolls"
    assert made.labels.to_pylist() == ["contradiction"] * 8
    assert made.changed.all()
    assert made.undo()["premise"].equals(TABLE.take(made.source_row)["premise"])
    before = TABLE.take(made.source_row)
    assert apply_edits(before, made.edits)["premise"].equals(made.table["premise"])


def test_labels_of_unknown_truth_are_null(tmp_path):
    (tmp_path / "m.csv").write_text("old,new\nboy,girl\n")
    phi = WordSubstitution(mapping={"boy": "girl"}, keeps_labels=False)
    made = phi.transform(TABLE, COLUMNS)
    assert made.labels.to_pylist() == [None] * 4
    after = Composition(parts=(Twice(), phi)).transform(TABLE, COLUMNS)
    assert after.labels.to_pylist() == [None] * 4
    # Labels that no longer hold are not written either.
    pq.write_table(TABLE, tmp_path / "in.parquet")
    target = tmp_path / "out.parquet"
    transform_file(tmp_path / "in.parquet", target, phi)
    assert pq.read_table(target)["label"].to_pylist() == [None] * 4
    edits = tmp_path / "edits.parquet"
    transform_file(tmp_path / "in.parquet", target, Twice(), edits_path=edits)
    assert pq.read_table(target)["label"].to_pylist() == ["contradiction"] * 4
    old = TABLE.take([0, 0, 3, 3])["premise"]
    assert undo(pq.read_table(target), pq.read_table(edits))["premise"].equals(old)


def test_edits_of_compositions_are_written(tmp_path):
    pq.write_table(TABLE, tmp_path / "in.parquet")
    target, edits = tmp_path / "out.parquet", tmp_path / "edits.parquet"
    phi = Composition(parts=(words(boy="lad"), words(lad="youth")))
    made = transform_file(tmp_path / "in.parquet", target, phi, edits_path=edits)
    assert made.n_edits == {"words": 9}
    written = pq.read_table(target)
    assert written["changed"].to_pylist() == [True, True, False, True]
    assert undo(written.drop_columns(["changed"]), pq.read_table(edits)).equals(TABLE)


@pytest.mark.parametrize(
    "kind", ["pandas", pytest.param("polars", marks=pytest.mark.peer), "mapping"]
)
def test_tables_of_other_kinds_come_back_as_they_came(kind):
    if kind == "mapping":
        table = TABLE.to_pydict()
    else:
        library = pytest.importorskip(kind)
        columns = TABLE.to_pydict()
        table = library.DataFrame(columns)
    made = words(boy="lad").transform(table, COLUMNS)
    assert type(made.table) is type(table)
    assert list(made.table["hypothesis"]) == ["lad", "lad", "x", ""]
    assert list(made.undo()["hypothesis"]) == list(table["hypothesis"])


def test_lists_of_texts():
    assert words(boy="lad").replace(["a boy", None]) == ["a lad", None]
    assert words(boy="lad").replace(("boys",)) == ["boys"]
    with pytest.raises(InputError, match="not one text"):
        words(boy="lad").replace("a boy")
    made = words(boy="lad").transform(["a boy", "b"], ["text"])
    assert made.table == ["a lad", "b"]


# ---- from a package outside --------------------------------------------------------------------

REVERSING = '''
"""A package that knows nothing of ietest-fast's insides."""
from pydantic import Field

from ietest_fast.transform import BaseTransformation, PhiOptions, PlannedTransformation
from ietest_fast.transform import TransformationKind, WordSubstitution


class Options(PhiOptions):
    word: str = Field("boy", description="what goes")
    times: int = Field(1, ge=1)


def plan(options):
    phi = WordSubstitution(
        mapping={options.word: options.word[::-1] * options.times}, rule="reversal"
    )
    return PlannedTransformation(
        name="reversal",
        fingerprint=phi.fingerprint,
        options=options.model_dump(),
        builder=lambda material: phi,
    )


KIND = TransformationKind(
    name="reversal", summary="spells a word backwards", options=Options, plan=plan
)
'''


@pytest.fixture
def reversing(tmp_path, monkeypatch):
    site = tmp_path / "site"
    info = site / "reversing-0.3.dist-info"
    info.mkdir(parents=True)
    (site / "reversing.py").write_text(REVERSING)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: reversing\nVersion: 0.3\n")
    (info / "entry_points.txt").write_text(
        "[ietest_fast.transformations]\nreversal = reversing:KIND\nbroken = reversing:nothing\n"
    )
    monkeypatch.syspath_prepend(site)
    yield
    sys.modules.pop("reversing", None)


def call(capsys, *arguments) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([*map(str, arguments)])
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def test_a_package_outside_adds_a_transformation(reversing, tmp_path, capsys):
    status, out, _ = call(capsys, "transform", "--list")
    assert status == 0
    assert "reversal: spells a word backwards  (reversing 0.3)" in out
    assert '    word (text): what goes ["boy"]' in out
    assert "    times (integer) [1]" in out
    assert "broken: the transformation 'broken' cannot be imported" in out
    assert "syn.careful: replaces words by what readers accepted" in out
    assert (
        "    mapping (file): a file with columns old and new (CSV, TSV, JSONL, Parquet) [needed]"
        in out
    )
    status, out, _ = call(capsys, "transform", "--list", "--json")
    kinds = {kind["name"]: kind for kind in json.loads(out)}
    assert kinds["reversal"]["package"] == "reversing 0.3"
    assert kinds["syn.careful"]["package"] is None
    assert [option["name"] for option in kinds["reversal"]["options"]] == ["word", "times"]

    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(TABLE, source)
    arguments = ["transform", source, target, "--phi", "identity+reversal:word=key,times=2"]
    status, out, _ = call(capsys, *arguments, "--json")
    assert status == 0
    facts = json.loads(out)
    assert facts["n_edits"] == {"reversal": 1}
    assert facts["transformation"]["name"] == "identity+words"
    assert pq.read_table(target)["premise"][1].as_py() == "no yekyek"
    status, _, err = call(capsys, *arguments[:-1], "reversal:times=0")
    assert status == 1
    assert "reversal: times: input should be greater than or equal to 1" in err


def test_the_example_of_the_guide_works(tmp_path, monkeypatch):
    guide = Path(__file__).parents[2] / "docs" / "transform.md"
    code = re.search(r"```python\n(# shouting\.py\n.*?)```", guide.read_text(), re.DOTALL)
    assert code is not None
    (tmp_path / "shouting.py").write_text(code[1])
    monkeypatch.syspath_prepend(tmp_path)
    phi = plan("shouting:KIND:sign=?").build()
    made = phi.transform(TABLE, COLUMNS)
    assert made.table["premise"].to_pylist() == [
        "a boy runs?",
        "no key?",
        None,
        "the boy and a boy?",
    ]
    assert made.undo().equals(TABLE.cast(made.undo().schema))
    assert phi.describe() == {"name": "shouting", "options": {"sign": "?"}}
    sys.modules.pop("shouting")


@pytest.mark.slow
def test_without_a_lexicon_the_texts_themselves_are_learnt_from(tmp_path, capsys):
    source = tmp_path / "in.csv"
    source.write_text("premise,hypothesis\nA child drives a car.,It rains.\n")
    outputs = []
    for more in ((), ("--lexicon-from", source)):
        target = tmp_path / f"out{len(more)}.csv"
        assert call(capsys, "transform", source, target, *more)[0] == 0
        outputs.append(target.read_text())
    assert outputs[0] == outputs[1]
    assert "automobile" in outputs[0]


@pytest.fixture
def tagged(monkeypatch):
    """Texts that the pipeline tags, and the numbers of processes that were asked for."""
    from ietest_fast.lexicon.annotator import Tagger
    from ietest_fast.lexicon.pipelines import Pipeline

    texts, n_processes = [], []
    tag_by_pipeline, tag = Pipeline.tag, Tagger.tag

    def record_texts(self, given):
        texts.extend(given)
        return tag_by_pipeline(self, given)

    def record_processes(self, given, *, n_process=None, **options):
        n_processes.append(n_process)
        return tag(self, given, n_process=n_process, **options)

    monkeypatch.setattr(Pipeline, "tag", record_texts)
    monkeypatch.setattr(Tagger, "tag", record_processes)
    return texts, n_processes


@pytest.mark.parametrize("entrance", ["ie.transform", "transform", "eval"])
def test_every_text_is_tagged_once_and_by_the_threads_asked_for(tagged, tmp_path, capsys, entrance):
    import ietest_fast as ie
    from ietest_fast.answers.versions import transform_corpus
    from ietest_fast.corpus import corpus_from_table

    if entrance == "ie.transform":
        ie.transform(TABLE, n_threads=2)
    elif entrance == "eval":
        corpus = corpus_from_table(
            TABLE, text_columns=COLUMNS, label_column="label", missing_text="drop"
        )
        transform_corpus(corpus, "syn.careful", n_threads=2)
    else:
        source = tmp_path / "in.parquet"
        pq.write_table(TABLE, source)
        status, *_ = call(capsys, "transform", source, tmp_path / "out.csv", "--threads", 2)
        assert status == 0
    texts, n_processes = tagged
    assert "a boy runs" in texts
    assert len(texts) == len(set(texts))
    assert set(n_processes) == {2}


def test_an_empty_mapping_is_no_transformation():
    import ietest_fast as ie

    for phi in ({}, [{}], ["spelling", {}]):
        with pytest.raises(InputError, match="an empty mapping names no transformation"):
            ie.evaluate(lambda texts: [*texts], {"text": ["a", "b"], "label": ["a", "b"]}, phi=phi)
    with pytest.raises(InputError, match="an empty mapping names no transformation"):
        ie.transform(["a couch"], phi={})


def test_what_is_wrong_in_a_list_is_said_once() -> None:
    with pytest.raises(ConfigError) as said:
        parse_phi("syn.careful:pos=nouns")
    assert str(said.value).count("pos") == 1
