"""``ietest-fast consistency`` by diversity and by partial input, as a shell would call it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from ietest_fast.analyses.consistency.noting import DIVERSITY_MEASURES, MOST_GROUPS
from ietest_fast.cli import consistency as consistency_parts
from ietest_fast.cli.main import main
from reference import overlap_oracle as slow

if TYPE_CHECKING:
    from pathlib import Path

STAY = "a dog sleeps on the mat"
#: Paraphrases from the nearest to the farthest, and whether each is answered rightly.
WORDINGS = [
    (["a dog sleeps on the mats", "a dog sleeps on the mat"], [True, True]),
    (["the dog sleeps on a mat", "a dog slept on the mat"], [True, True]),
    (["a hound is asleep on the mat", "on the mat, a dog sleeps"], [True, False]),
    (["some animal dozes upon it", "zzz qqq xxx"], [False, True]),
]


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(map(str, arguments)))
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def rows(n_repeats: int = 3, **columns: Any) -> list[dict[str, Any]]:
    made = []
    for repeat in range(n_repeats):
        for place, (texts, answers) in enumerate(WORDINGS):
            item = f"{place}, {repeat}"
            for number, (text, right) in enumerate(
                zip([STAY, *texts], [True, *answers], strict=True)
            ):
                made.append(
                    {
                        "item": item,
                        "version": f"p{number}" if number else "original",
                        "gold": "yes",
                        "predicted": "yes" if right else "no",
                        "text": text,
                        "source": ("", "people", "program")[number],
                        **columns,
                    }
                )
    return made


def write(path: Path, made: list[dict[str, Any]]) -> Path:
    table = pa.Table.from_pylist(made)
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        pacsv.write_csv(table, path)
    return path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write(tmp_path / "log.csv", rows())


def profile_of(said: str) -> dict[str, Any]:
    (profile,) = json.loads(said)["profiles"]
    return dict(profile)


def distance(text: str) -> float:
    return slow.bag_distance(slow.words_of(STAY), slow.words_of(text))


def test_the_choices_are_those_of_the_measures() -> None:
    assert (
        tuple(name.replace("-", "_") for name in consistency_parts.MEASURES) == DIVERSITY_MEASURES
    )
    assert consistency_parts.MOST_GROUPS == MOST_GROUPS


def test_items_are_grouped_by_how_far_their_paraphrases_are(
    tmp_path: Path, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("consistency", log, "--by-diversity", "lexical-distance", "-S", "100")
    status, said, err = run(capsys, *asked, "--diversity-groups", "2", "--json")
    assert (status, err) == (0, "")
    found = profile_of(said)["diversity"]
    assert (found["texts"], found["column"], found["n_without_original"]) == (["text"], None, 0)
    (line,) = found["means"]
    each = [distance(text) for texts, _ in WORDINGS for text in texts]
    assert line["lexical_distance"] == pytest.approx(np.mean(each))
    assert (line["name"], line["n_paraphrases"], line["n_items"]) == ("all", 24, 12)
    (groups,) = found["groups"]
    assert groups["measure"] == "lexical_distance"
    of_item = [np.mean([distance(text) for text in texts]) for texts, _ in WORDINGS]
    order = np.argsort(of_item)
    assert order.tolist() == [0, 1, 2, 3]
    near, far = groups["parts"].values()
    # The near ones are all right; of the far ones, each has one that is right.
    assert (near["n_buckets"], far["n_buckets"]) == (6, 6)
    assert (near["p_c"], far["p_c"]) == (1, 0.5)
    assert (near["p_c_unbiased"], far["p_c_unbiased"]) == (1, 0)
    assert [*groups["means"].values()] == pytest.approx(
        [np.mean(of_item[:2]), np.mean(of_item[2:])]
    )
    (pair,) = groups["pairs"]
    assert pair["p_c_unbiased"] == 1
    assert pair["p_c_unbiased_p_value"] < 0.01
    # Four groups by default, each against all others.
    status, said, err = run(capsys, *asked, "--json")
    (groups,) = profile_of(said)["diversity"]["groups"]
    assert [part["n_buckets"] for part in groups["parts"].values()] == [3, 3, 3, 3]
    assert {pair["second"] for pair in groups["pairs"]} == {"all others"}
    status, said, err = run(capsys, *asked)
    assert (status, err) == (0, "")
    for words in ("Diversity of the paraphrases", "Consistency by lexical distance", "group by"):
        assert words in said


@pytest.mark.parametrize("column", ["lexical_distance", "text"])
def test_measures_are_those_of_the_texts_beside_them(
    column: str, tmp_path: Path, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own.parquet"
    asked = ("--by-diversity", "lexical-distance", "-S", "50")
    assert run(capsys, "consistency", log, *asked, "--out", own)[0] == 0
    for command in (("consistency", own), ("report", own, "--out", tmp_path / "r.html")):
        assert run(capsys, *command)[0] == 0
    table = pq.read_table(own)
    values = pc.if_else(pc.equal(table["version"], "original"), table[column], table[column][-1])
    place = table.column_names.index(column)
    pq.write_table(table.set_column(place, column, values), own)
    for command in (("consistency", own), ("report", own, "--out", tmp_path / "r.html")):
        status, _, err = run(capsys, *command)
        assert status == 1
        assert "column 'lexical_distance': is " in err
        assert "by the texts beside it" in err
    assert run(capsys, "consistency", own, *asked)[0] == 0


def test_mean_diversity_by_source(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("consistency", log, "--by-diversity", "jaccard", "--subset", "source", "-S", "100")
    status, said, err = run(capsys, *asked, "--json")
    assert (status, err) == (0, "")
    found = profile_of(said)["diversity"]
    assert found["column"] == "source"
    lines = {line["name"]: line for line in found["means"]}
    assert list(lines) == ["all", "people", "program"]
    for place, name in enumerate(("people", "program")):
        texts = [texts[place] for texts, _ in WORDINGS]
        assert lines[name]["n_paraphrases"] == 12
        assert lines[name]["lexical_distance"] == pytest.approx(
            np.mean([distance(text) for text in texts])
        )
        assert lines[name]["jaccard"] == pytest.approx(
            np.mean([slow.jaccard(slow.words_of(STAY), slow.words_of(text)) for text in texts])
        )
    status, said, err = run(capsys, *asked)
    assert "people" in said.split("Diversity of the paraphrases")[1]


def test_syntax_is_measured_if_it_is_asked_for(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("consistency", log, "--by-diversity", "tag-distance", "-S", "50", "--json")
    status, said, err = run(capsys, *asked, "--by-diversity", "bleu")
    assert (status, err) == (0, "")
    found = profile_of(said)["diversity"]
    assert [groups["measure"] for groups in found["groups"]] == ["tag_distance", "bleu"]
    assert found["means"][0]["relation_distance"] > 0
    assert found["means"][0]["tag_distance"] > 0


@pytest.mark.slow
def test_the_file_and_the_report_have_it(
    tmp_path: Path, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, page = tmp_path / "out.parquet", tmp_path / "page.html"
    partial = write(tmp_path / "part.csv", partial_rows())
    asked = ("--by-diversity", "lexical-distance", "--partial-input", partial, "-S", "100")
    status, said, err = run(capsys, "consistency", log, *asked, "--out", out, "--json")
    assert (status, err) == (0, "")
    status, again, err = run(capsys, "consistency", out, "-S", "100", "--json")
    assert (status, err) == (0, "")
    assert profile_of(again) == profile_of(said)
    table = pq.read_table(out)
    far = [
        None if version == "original" else distance(text)
        for version, text in zip(
            table["version"].to_pylist(), table["text"].to_pylist(), strict=True
        )
    ]
    assert table["lexical_distance"].to_pylist() == pytest.approx(far)
    # Asked again, it is measured again.
    status, again, err = run(capsys, "consistency", out, *asked, "-S", "100", "--json")
    assert (status, err) == (0, "")
    assert profile_of(again) == profile_of(said)
    status, _told, err = run(capsys, "report", out, "--out", page, "--paper", tmp_path / "paper")
    assert (status, err) == (0, "")
    whole = page.read_text()
    for words in (
        'id="diversity"',
        "Consistency by lexical distance",
        "P_C by lexical distance",
        'id="partial-input-items"',
        "Consistency by the answers to a part of the input",
    ):
        assert words in whole, words
    assert [*(tmp_path / "paper").rglob("consistency-diversity.csv")]


@pytest.mark.parametrize(
    ("change", "arguments", "expected"),
    [
        (lambda row: row.update(bleu=1), [], (1, "is the name of a measure of diversity")),
        (lambda row: row.update(n=5), ["--text-columns", "n"], (1, "is int64; texts expected")),
        (lambda row: None, ["--diversity-groups", "1"], (2, "diversity-groups")),
    ],
    ids=["a name taken", "numbers", "one"],
)
def test_diversity_that_cannot_be_measured(
    tmp_path: Path,
    change: Any,
    arguments: list[str],
    expected: tuple[int, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = rows()
    for row in made:
        change(row)
    path = write(tmp_path / "log.parquet", made)
    asked = ("consistency", path, "--by-diversity", "bleu", "-S", "50")
    status, said, err = run(capsys, *asked, *arguments)
    assert (status, said) == (expected[0], "")
    assert expected[1] in " ".join(err.split())
    assert "Traceback" not in err


def test_texts_that_are_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = rows()
    made[1]["text"] = None
    path = write(tmp_path / "log.parquet", made)
    status, said, err = run(capsys, "consistency", path, "--by-diversity", "bleu")
    assert (status, said) == (1, "")
    assert "log.parquet, column 'text': 1 text of originals or paraphrases is missing" in err


def test_options_of_diversity_without_a_measure(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, said, err = run(capsys, "consistency", log, "--text-columns", "text")
    assert (status, said) == (2, "")
    assert "--text-columns is for a model that is run, and for --by-diversity" in err
    status, said, err = run(capsys, "consistency", log, "--diversity-groups", "3")
    assert (status, said) == (2, "")
    assert "--diversity-groups needs --by-diversity" in err


@pytest.mark.slow
def test_items_without_an_original_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = [row for row in rows() if (row["item"], row["version"]) != ("0, 0", "original")]
    path = write(tmp_path / "log.csv", made)
    asked = ("consistency", path, "--by-diversity", "bleu", "-S", "50")
    status, said, err = run(capsys, *asked, "--json")
    found = profile_of(said)["diversity"]
    assert (status, err, found["n_without_original"]) == (0, "", 2)
    assert found["groups"][0]["n_unknown"] == 1
    status, said, err = run(capsys, *asked)
    assert "The diversity of 2 paraphrases is not known" in said
    assert "1 item is in no group by bleu" in said


def partial_rows() -> list[dict[str, Any]]:
    """A partial-input model that gets items of the first half right, and one wording of others."""
    made = []
    for row in rows():
        place = int(row["item"].split(",")[0])
        right = place < 2 if row["version"] == "original" else row["version"] == "p1"
        made.append({**row, "predicted": "yes" if right else "no"})
    return made


def test_items_are_parted_by_what_a_part_of_the_input_decides(
    tmp_path: Path, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    partial = write(tmp_path / "part.csv", partial_rows())
    asked = ("consistency", log, "--partial-input", partial, "-S", "100")
    status, said, err = run(capsys, *asked, "--json")
    assert (status, err) == (0, "")
    found = profile_of(said)["partial_input"]
    assert (found["model"], found["n_unmatched"], found["corrected"]) == ("part", 0, {})
    right, wrong = (found["parts"][name] for name in ("right", "wrong"))
    assert (right["n_buckets"], right["p_c_unbiased"], right["accuracy_macro"]) == (6, 1, 1)
    assert (wrong["n_buckets"], wrong["p_c_unbiased"], wrong["accuracy_macro"]) == (6, 0, 0.5)
    own = {"n_items": 6, "paraphrases": 0.5, "n_paraphrases": 12}
    assert found["own"] == {
        "right": {**own, "originals": 1},
        "wrong": {**own, "originals": 0},
    }
    (pair,) = found["pairs"]
    assert (pair["first"], pair["second"], pair["p_c_unbiased"]) == ("right", "wrong", 1)
    assert pair["p_c_unbiased_p_value"] < 0.01
    status, said, err = run(capsys, *asked)
    assert (status, err) == (0, "")
    for words in ("right: artefacts likely", "from a part, paraphrases %", "right   wrong"):
        assert words in said


def test_parts_of_the_full_test_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With two strata, of which the right items lie in the one and the wrong ones in both."""
    made = rows()
    for row in made:
        place, repeat = map(int, row["item"].split(","))
        row["confidence"] = 0.5 if place < 2 or repeat == 0 else 0.2
    log = write(tmp_path / "log.csv", made)
    full = [
        {"item": n, "version": "original", "gold": "yes", "predicted": "yes", "confidence": sure}
        for n, sure in enumerate([0.9] * 30 + [0.1] * 10)
    ]
    test = write(tmp_path / "full.csv", full)
    partial = write(tmp_path / "part.csv", partial_rows())
    asked = ("consistency", log, "--partial-input", partial, "--test-set", test, "--strata", "2")
    status, said, err = run(capsys, *asked, "-S", "50", "--json")
    assert (status, err) == (0, "")
    found = profile_of(said)["partial_input"]["corrected"]
    assert found["right"]["weight_used"] == pytest.approx(0.75)
    assert found["right"]["accuracy"] == pytest.approx(0.75)
    assert found["right"]["accuracy_renormalised"] == pytest.approx(1)
    assert found["wrong"]["weight_used"] == pytest.approx(1)
    assert found["wrong"]["accuracy"] == pytest.approx(0.5)
    status, said, err = run(capsys, *asked, "-S", "50")
    assert "Estimates for the full test set" not in said.split("answers to a part")[-1]
    assert "Standardised to the strata of the test set, by the answers to a part" in said
    assert "not an estimate of any set of items" in " ".join(said.split())
    assert "Warning, items that it gets right" in said


def test_the_log_of_partial_answers_is_not_written_over(
    tmp_path: Path, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    partial = write(tmp_path / "part.parquet", partial_rows())
    before = partial.read_bytes()
    asked = ("consistency", log, "--partial-input", partial, "--out", partial)
    status, said, err = run(capsys, *asked)
    assert (status, said) == (1, "")
    assert "would be overwritten while it is in use" in err
    assert partial.read_bytes() == before


@pytest.mark.slow
def test_published_results_of_paranlu(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = shared / "data" / "paranlu" / "results"
    asked = (
        "consistency",
        folder / "snli_human_d-snli-roberta-large.json.gz",
        "--partial-input",
        folder / "snli_human_d-snli-partial_input_lexical.json.gz",
        "--by-diversity",
        "lexical-distance",
        "-S",
        "50",
        "--json",
    )
    status, said, err = run(capsys, *asked)
    assert (status, err) == (0, "")
    profile = profile_of(said)
    # Table 6 has 34.4, from words that another program has cut.
    assert 100 * profile["diversity"]["means"][0]["lexical_distance"] == pytest.approx(
        34.4, abs=0.3
    )
    # The reference file: 59.6% of 250 originals, 56.11% of 1,980 paraphrases.
    own = profile["partial_input"]["own"]
    assert (own["right"]["n_items"], own["wrong"]["n_items"]) == (149, 101)
    right = sum(each["paraphrases"] * each["n_paraphrases"] for each in own.values())
    assert 100 * right / 1980 == pytest.approx(56.111111111111114)
    assert sum(each["n_buckets"] for each in profile["partial_input"]["parts"].values()) == 250
