"""``ietest-fast consistency`` where items have fewer paraphrases than were asked for."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

pytest.importorskip("onnx", reason="makes the models that are tested")

from ietest_fast.analyses.consistency.tables import MOST_SIZES
from ietest_fast.cli.main import main
from tiny_models import LABELS, make_onnx_folder

if TYPE_CHECKING:
    from pathlib import Path


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> str:
    with pytest.raises(SystemExit) as stop:
        main(["consistency", *map(str, arguments), "--details"])
    captured = capsys.readouterr()
    assert (int(stop.value.code or 0), captured.err) == (0, "")
    return captured.out


def lines_of(table: str) -> list[list[str]]:
    """The cells of the table of sizes."""
    _, _, rest = table.partition("Items, by how many paraphrases they have")
    body, _, _ = rest.partition("The measures are about")
    return [cells for line in body.splitlines() if (cells := line.split()) and cells[0].isdigit()]


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """Twelve texts, of which four have no word to change."""
    path = tmp_path / "test.jsonl"
    texts = ["It rains.", "He sat on the couch.", "He often bought a large couch."]
    rows = [
        {"premise": "It is so.", "hypothesis": texts[n % 3], "label": LABELS[n // 3 % 3]}
        for n in range(12)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.slow
def test_how_many_paraphrases_items_have_is_said(
    tmp_path: Path, labelled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_onnx_folder(tmp_path / "model")
    out = tmp_path / "out.parquet"
    asked = ("--onnx", tmp_path / "model", "--test", labelled, "--phi", "syn.careful")
    said = run(capsys, *asked, "--draws", 5, "-S", 50, "--out", out)
    # Counted by hand from the file.
    rows = pq.read_table(out).to_pylist()
    by_item = Counter(row["item"] for row in rows)
    expected = Counter(n - 1 for n in by_item.values())
    assert expected[0] == 4
    assert expected[5] < 6
    found = lines_of(said)
    assert [int(cells[0]) for cells in found] == [0, 1, 2, 3, 4, 5]
    assert {int(cells[0]): int(cells[1]) for cells in found if cells[1] != "0"} == dict(expected)
    flat = " ".join(said.split())
    paired = sum(n for size, n in expected.items() if size > 1)
    assert "The measures are about the 8 of 12 items that have a paraphrase" in flat
    assert f"about the {paired} that have two or more" in flat
    assert f"Warning: {expected[5]} of 12 items ({expected[5] / 12:.1%}) have all 5" in said
    # The file of answers says the same of itself, as JSON, and on the page.
    (profile,) = json.loads(run(capsys, out, "--json", "-S", 50))["profiles"]
    assert profile["items_by_paraphrases"] == [expected[k] for k in range(6)]
    assert (profile["n_items"], profile["n_wanted"]) == (12, 5)
    assert "12 items" in profile["warnings"][0]
    page = tmp_path / "report.html"
    with pytest.raises(SystemExit) as stop:
        main(["report", str(out), "--out", str(page)])
    assert not stop.value.code
    shown = page.read_text()
    assert "Items, by how many paraphrases they have" in shown
    assert f"Warning: {expected[5]} of 12 items" in shown


def test_no_warning_where_most_items_have_all(
    tmp_path: Path, labelled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_onnx_folder(tmp_path / "model")
    asked = ("--onnx", tmp_path / "model", "--test", labelled, "--phi", "syn.careful", "-S", 50)
    said = run(capsys, *asked, "--draws", 1)
    assert "Warning" not in said
    assert [cells[:2] for cells in lines_of(said)] == [["0", "4"], ["1", "8"]]
    (profile,) = json.loads(run(capsys, *asked, "--json"))["profiles"]
    assert (profile["n_wanted"], profile["items_by_paraphrases"]) == (1, [4, 8])


def test_most_items_without_the_one_paraphrase(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_onnx_folder(tmp_path / "model")
    rows = [
        {"premise": "It is so.", "hypothesis": text, "label": LABELS[n % 3]}
        for n, text in enumerate(["It rains."] * 3 + ["He sat on the couch."])
    ]
    path = tmp_path / "test.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = run(
        capsys, "--onnx", tmp_path / "model", "--test", path, "--phi", "syn.careful", "-S", 50
    )
    assert "Warning: 1 of 4 items (25.0%) has the paraphrase that was asked for" in said
    assert "and 3 have none. The measures are about the 1 item that could be reworded" in said


def test_many_different_numbers_are_put_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"item": item, "version": f"p{version}", "gold": "a", "predicted": "ab"[version % 2]}
        for item in range(1, 2 * MOST_SIZES)
        for version in range(item)
    ]
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = run(capsys, path, "-S", 50)
    found = lines_of(said)
    by_range = {" ".join(cells[:-2]): int(cells[-2]) for cells in found}
    assert sum(by_range.values()) == 2 * MOST_SIZES - 1
    assert by_range["6 to 10"] == 5
    assert by_range[f"21 to {2 * MOST_SIZES - 1}"] == 2 * MOST_SIZES - 1 - 20
    assert "Warning" not in said


def test_what_holds_of_all_models_is_said_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"item": item, "version": version, "gold": "a", "predicted": answer}
        for item, answers in enumerate(["ab", "aa", "a"])
        for version, answer in zip(("original", "p"), answers, strict=False)
    ]
    paths = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for path in paths:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        rows = [row | {"predicted": None if row["version"] == "p" else "a"} for row in rows]
    said = run(capsys, *paths, "-S", 50)
    assert said.count("1 item has an original but no paraphrase") == 1
    assert "\nAll models: 1 item has an original but no paraphrase" in said
    assert "\ntwo: 2 answers are missing and count as wrong." in said


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ([2, 2, 2], "The measures are about all 3 items. "),
        ([2, 1, 2], "about all 3 items; the unbiased ones, about the 2 that have two or more."),
        ([2, 1, 1], "about all 3 items; the unbiased ones, about the 1 that has two or more."),
        ([1, 1, 1], "about all 3 items; there are no unbiased ones, because no item has two."),
        ([1, 1, 0], "about the 2 of 3 items that have a paraphrase; there are no unbiased ones"),
    ],
)
def test_which_items_the_measures_are_about(
    sizes: list[int], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"item": item, "version": version, "gold": "a", "predicted": "a"}
        for item, size in enumerate(sizes)
        for version in ["original", "p", "q"][: 1 + size]
    ]
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert said in " ".join(run(capsys, path, "-S", 50).split())


def test_no_item_lacks_a_paraphrase_but_most_lack_some(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_onnx_folder(tmp_path / "model")
    rows = [
        {"premise": "It is so.", "hypothesis": "He sat on the couch.", "label": LABELS[n % 3]}
        for n in range(6)
    ]
    path = tmp_path / "test.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = ("--onnx", tmp_path / "model", "--test", path, "--phi", "syn.careful", "-S", 50)
    said = " ".join(run(capsys, *asked, "--draws", 5).split())
    assert (
        "Warning: 0 of 6 items (0.0%) have all 5 paraphrases that were asked for; ask for" in said
    )
    assert "differ from the others" not in said
