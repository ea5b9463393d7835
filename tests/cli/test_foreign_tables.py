"""Tables as other people write them, in the commands that read them: labels, versions, messages."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.command_line import run_here

PAIRS = [
    ("A dog runs.", "A dog moves."),
    ("A man eats.", "A man sleeps."),
    ("It rains.", "It pours."),
]


def write_pairs(path: Path, labels: list[object]) -> Path:
    rows = [(*PAIRS[n % 3], label) for n, label in enumerate(labels)]
    lines = [f"{first},{second},{label}\n" for first, second, label in rows]
    path.write_text("premise,hypothesis,label\n" + "".join(lines))
    return path


def labels_of(*paths: Path) -> list[dict[str, int]]:
    status, out, err = run_here("describe", *paths, "--json", folder=paths[0].parent)
    assert (status, err) == (0, "")
    return [each["labels"] for each in json.loads(out)["corpora"]]


NLI = ("entailment", "neutral", "contradiction")


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ([0, 1, 1], ("0", "1")),
        (["0.0", "1.0", "-"], ("0", "1")),
        ([1, 2, 1], ("1", "2")),
        ([0, 1, 2, 3], ("0", "1", "2", "3")),
        ([0, 1, 2], NLI),
        ([2, "-1", 0, 1], NLI),
        (["neutral", "Contradictory", "entails "], NLI),
        (["neutral", "neutral", "ENTAILED"], NLI),
        (["yes", " YES", "No"], ("No", "yes")),
    ],
)
def test_numbers_are_nlis_labels_where_all_three_occur(
    tmp_path: Path, labels: list[object], names: tuple[str, ...]
) -> None:
    (found,) = labels_of(write_pairs(tmp_path / "a.csv", labels))
    assert tuple(found) == names


@pytest.mark.parametrize(
    ("train", "test", "names"),
    [
        ([0, 1, 2], [0, 1], NLI),
        ([0, 1], [0, 1, 2], NLI),
        ([0, 1], [2, 0], NLI),
        ([0, 1], [1, 0], ("0", "1")),
        (["entailment", "neutral", "contradictory"], [0, 1], NLI),
    ],
)
def test_all_files_together_say_what_numbers_are(
    tmp_path: Path, train: list[object], test: list[object], names: tuple[str, ...]
) -> None:
    paths = [write_pairs(tmp_path / f"{n}.csv", each) for n, each in enumerate((train, test))]
    assert [tuple(found) for found in labels_of(*paths)] == [names, names]


def test_a_number_of_a_later_file_alone_stays_unknown(tmp_path: Path) -> None:
    paths = [write_pairs(tmp_path / f"{n}.csv", each) for n, each in enumerate(([0, 1], [0, 3]))]
    status, _, err = run_here("describe", *paths, folder=tmp_path)
    assert status == 1
    assert "1.csv, line 3, column 'label': unknown label '3'; expected one of: 0, 1" in err


def long_rows(spell: tuple[str, str], version: str) -> list[tuple[str, str, str, str]]:
    """Three items of which the model has all originals right, and one of the rewordings wrong."""
    yes, no = spell
    return [
        ("a", version, "yes", yes),
        ("b", version, "no", no),
        ("c", version, "yes", yes),
        ("a", "syn", "yes", yes),
        ("b", "syn", "no", yes),
        ("c", "syn", "yes", yes),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("spell", "version"),
    [
        (("yes", "no"), "Original"),
        (("YES", "No"), "original"),
        ((" Yes", "no "), " ORIGINAL "),
    ],
)
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_spellings_make_no_difference_to_any_command(
    tmp_path: Path, name: str, version: str, spell: tuple[str, str]
) -> None:
    from ietest_fast.corpus import BatchWriter

    rows = long_rows(spell, version)
    columns = ("item", "version", "gold", "predicted")
    table = pa.table(dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True)))
    path = tmp_path / name
    if name == "a.parquet":
        pq.write_table(table, path)
    else:
        with BatchWriter(path, table.schema) as writer:
            writer.write(table)
    status, out, err = run_here("consistency", path, "--json", "-S", "100", folder=tmp_path)
    assert (status, err) == (0, "")
    profile = json.loads(out)["profiles"][0]
    assert (profile["accuracy_original"], profile["accuracy_micro"]) == (1, pytest.approx(2 / 3))
    status, out, err = run_here("stress", path, "--json", folder=tmp_path)
    assert (status, err) == (0, "")
    tests = {each["test"]: each["accuracy"] for each in json.loads(out)["profiles"][0]["tests"]}
    assert tests == {"original": 1, "syn": pytest.approx(2 / 3)}
    status, out, err = run_here("eval", path, "--json", folder=tmp_path)
    assert (status, err) == (0, "")
    assert "|n:3|k:1|" in out


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([0, 1, 2, 3], ["0", "1", "2", "3"]),
        (["3", "1", "2", "0"], [0.0, 1.0, 2.0, 3.0]),
        (pa.array(["0", "1", "2", "3"]).dictionary_encode(), pa.array([3, 2, 1, 0], pa.uint8())),
        (pa.array([0, 1, 2, 3]).dictionary_encode(), pa.array(["0", "1", "2", "3"], "string_view")),
    ],
)
@pytest.mark.parametrize("logs_are", ["versions", "models"])
def test_an_id_is_the_same_as_number_and_as_text(
    tmp_path: Path, first: object, second: object, logs_are: str
) -> None:
    gold = {"0": "a", "1": "b", "2": "a", "3": "b"}
    for name, ids, said in (("one", first, "ABAB"), ("two", second, "aaaa")):
        column = pa.array(ids) if isinstance(ids, list) else ids
        keys = [str(int(each)) for each in column.to_pylist()]
        answers = dict(zip("0123", said, strict=True))
        table = pa.table(
            {
                "id": column,
                "label": [gold[key] for key in keys],
                "prediction": [answers[key] for key in keys],
            }
        )
        pq.write_table(table, tmp_path / f"{name}.parquet")
    status, out, err = run_here(
        "eval", "one.parquet", "two.parquet", "--id-column", "id", "--logs-are", logs_are,
        "--json", folder=tmp_path,
    )  # fmt: skip
    assert (status, err) == (0, "")
    assert "|n:4|k:2|" in out


def test_versions_of_two_spellings_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        "item,version,gold,predicted\na,original,yes,yes\nb,Original,no,no\na,syn,yes,no\n"
    )
    for command in ("consistency", "stress", "eval"):
        status, out, err = run_here(command, path, folder=tmp_path)
        assert (status, out) == (1, "")
        assert err.count("\n") == 1
        assert "a.csv, column 'version': 'original' and 'Original' name the same version" in err


@pytest.mark.parametrize("n_there", [12, 9])
def test_tables_of_two_models_may_have_tests_with_labels_of_their_own(
    tmp_path: Path, n_there: int
) -> None:
    own = {"original": NLI * 4, "antonym": ("contradiction",) * n_there}
    for name, flip in (("s", 0), ("t", 1)):
        rows = [
            f"{item},{version},{gold},{'neutral' if (item + flip) % 4 == 0 else gold}\n"
            for version, labels in own.items()
            for item, gold in enumerate(labels)
        ]
        (tmp_path / f"{name}.csv").write_text("item,version,gold,predicted\n" + "".join(rows))
    alone, both = (
        run_here("stress", *files, "--json", folder=tmp_path)
        for files in (["t.csv"], ["s.csv", "t.csv"])
    )
    assert (alone[0], both[0]) == (0, 0), both[2]
    one, two = (json.loads(said[1])["profiles"][-1]["tests"] for said in (alone, both))
    assert one == two
    path = tmp_path / "t.csv"
    path.write_text(path.read_text().replace("0,antonym,contradiction", "0,antonym,neutral"))
    status, _, err = run_here("stress", "s.csv", "t.csv", folder=tmp_path)
    assert status == 1
    assert "the gold label is 'neutral', and 'contradiction' in s.csv" in err


def test_long_values_are_cut_in_every_message(tmp_path: Path) -> None:
    long = "x" * 5000
    (tmp_path / "label.csv").write_text(f"text,label\na,{long}\n" + f"b,pos\nc,{long}y\n" * 2)
    (tmp_path / "column.csv").write_text(f"{long},label\na,1\n")
    (tmp_path / "json.jsonl").write_text(json.dumps({"text": [long], "label": 1}) + "\n")
    (tmp_path / "twice.jsonl").write_text(f'{{"{long}": 1, "{long}": 2}}\n')
    (tmp_path / "quote.csv").write_text(f'text,label\n"{long}" {long},1\n')
    (tmp_path / "known.csv").write_text(f"premise,hypothesis,label\na,b,neutral\nc,d,{long}\n")
    for name in ("column.csv", "json.jsonl", "twice.jsonl", "quote.csv", "known.csv"):
        status, _, err = run_here("describe", name, folder=tmp_path)
        assert (status, len(err) < 1500, err.count("\n")) == (1, True, 1), err
    status, _, err = run_here("describe", "label.csv", "--text-columns", long, folder=tmp_path)
    assert (status, len(err) < 1500) == (1, True)


def test_a_file_that_is_no_name_is_said(tmp_path: Path) -> None:
    toml = tmp_path / "run.toml"
    for value in ("[]", "3", "{a = 1}"):
        toml.write_text(f'[data]\ntrain = "a.csv"\nvalid = {value}\ntest = "a.csv"\n')
        status, _, err = run_here("run", toml, "--out", "r", folder=tmp_path)
        assert status == 1
        assert "data.valid: must be the name of a file" in err


def test_the_cases_are_read(shared: Path, tmp_path: Path) -> None:
    """The files of other people's reports, where they are there."""
    cases = shared / "cases"
    if not cases.is_dir():
        pytest.skip("needs the cases, absent here")
    unclear = cases / "13-unclear-messages"
    for name in ("array.json", "semi.csv"):
        status, _, err = run_here("describe", unclear / name, folder=tmp_path)
        assert (status, err) == (0, "")
    asked = ("--text-columns", "question1,question2", "--label-column", "is_duplicate")
    for name, habits in (("qqp_quoted.tsv", "quoted"), ("qqp_raw.tsv", "skip-bad-rows")):
        status, _, err = run_here("describe", unclear / name, *asked, folder=tmp_path)
        assert status == 1
        assert habits in err
        status, _, err = run_here(
            "describe", unclear / name, *asked, "--csv", habits, folder=tmp_path
        )
        assert status == 0
        assert err == "" or "left out" in err
    path = cases / "11-xnli-contradictory"
    status, out, err = run_here(
        "describe", path / "multinli.train.xx.tsv", path / "xnli.dev.tsv",
        "--text-columns", "premise,hypo", "--json", folder=tmp_path,
    )  # fmt: skip
    assert (status, err) == (0, "")
    assert [tuple(each["labels"]) for each in json.loads(out)["corpora"]] == [NLI, NLI]
