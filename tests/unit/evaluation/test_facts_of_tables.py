"""What columns say of all rows of a table or of a version: settings, and shares of right answers;
and numbers that cannot be read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ietest_fast.analyses.compare.profile import choose_clusters, compare_versions
from ietest_fast.analyses.consistency.file import need_wordings
from ietest_fast.answers.logs import read_logs
from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

N = 12
GOLD = ["x", "y"] * 6
SECOND = ["y", "x", *GOLD[2:]]
ENDINGS = pytest.mark.parametrize("ending", ["csv", "parquet"])


def write(frame: pd.DataFrame, path: Path, sep: str = ",") -> Path:
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep=sep)
    return path


def write_as(
    form: str, folder: Path, ending: str, column: str, values: Sequence[Any]
) -> list[Path]:
    """Tables in which a column says something of each of two versions."""
    if form == "files":
        frames = [
            pd.DataFrame({"label": GOLD, "prediction": answers, column: value})
            for answers, value in zip((GOLD, SECOND), values, strict=True)
        ]
    elif form == "long":
        parts = [
            pd.DataFrame({"item": range(N), "version": version, "gold": GOLD, "predicted": answers})
            for version, answers in (("original", GOLD), ("t", SECOND))
        ]
        both = zip(parts, values, strict=True)
        frames = [pd.concat([part.assign(**{column: value}) for part, value in both])]
    else:
        names = [form.format(column, version) for version in ("original", "transformed")]
        frame = pd.DataFrame({"label": GOLD, "original": GOLD, "transformed": SECOND})
        frames = [frame.assign(**dict(zip(names, values, strict=True)))]
    return [write(each, folder / f"set{i}.{ending}") for i, each in enumerate(frames)]


WIDE = "{0}_{1}"


@pytest.mark.parametrize(
    ("column", "values", "said"),
    [
        ("checkpoint", ["bert@1", "bert@2"], "differ in checkpoint ('bert@1' and 'bert@2')"),
        ("Model_Version", ["1", "2"], "differ in model_version ('1' and '2')"),
        ("temperature", [0, 1], "differ in temperature ('0' and '1')"),
        ("top_p", [0.5, [0.5] * 11 + [0.9]], "differ in top_p ('0.5' and "),
        ("revision", ["main", "step-5000"], "differ in revision ('main' and 'step-5000')"),
        ("system_prompt", ["Be brief.", "Be kind."], "differ in system_prompt ('Be brief.' and"),
        ("temperature", [0, 0], None),
        ("temperature", [0.5, ""], None),  # of the program that has reworded
        ("temperature", [[0, 1] * 6, [1, 0] * 6], None),
        ("max_tokens", [range(90, 102), range(91, 103)], None),  # of each row
        ("seed", [1, 2], None),
        ("run", ["a", "b"], None),
        ("prompt_template", ["Is it {}?", "Say if {}."], None),
        ("date", ["2024-01-01", "2024-01-02"], None),
    ],
)
@pytest.mark.parametrize("form", ["files", "long", WIDE, "{1}_{0}"])
@ENDINGS
def test_other_models_and_settings_of_versions_are_told(
    tmp_path: Path, column: str, values: list[Any], *, said: str | None, form: str, ending: str
) -> None:
    if ending == "parquet":
        values = [None if value == "" else value for value in values]
    paths = write_as(form, tmp_path, ending, column, values)
    found = [read_logs(paths).notes]
    if form == "long":
        found.append(need_wordings(paths[0]).notes.warnings)
    for notes in found:
        told = [note for note in notes if " differ in " in note]
        assert len(told) == (said is not None)
        assert all(str(said) in note for note in told)


@pytest.mark.parametrize("kind", ["list", "fixed", "map", "struct"])
@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("probs_original", "original"),
        ("original_probs", "original"),
        ("logits_original", "pred_original"),
        ("original_scores", "pred_original"),
        ("probs_pred_original", "pred_original"),
    ],
)
def test_scores_of_a_version_in_any_form_are_compared(
    tmp_path: Path, name: str, column: str, kind: str
) -> None:
    """Those of the answers in 2 rows make another label likelier."""
    scores = [[0.9, 0.1] if (gold == "0") != (i < 2) else [0.1, 0.9] for i, gold in NUMBERED]
    values = {
        "list": lambda: pa.array(scores, pa.list_(pa.float32())),
        "fixed": lambda: pa.array(scores, pa.list_(pa.float32(), 2)),
        "map": lambda: pa.array(
            [[("0", a), ("1", b)] for a, b in scores], pa.map_(pa.string(), pa.float64())
        ),
        "struct": lambda: pa.array([{"0": a, "1": b} for a, b in scores]),
    }[kind]()
    gold = [each for _, each in NUMBERED]
    other = column.replace("original", "transformed")
    table = pa.table({"label": gold, column: gold, other: gold[::-1], name: values})
    pq.write_table(table, tmp_path / "t.parquet")
    notes = read_logs([tmp_path / "t.parquet"], columns=[column, other]).notes
    assert sum(f"another label than {column} is the likeliest in 2 rows" in n for n in notes) == 1


NUMBERED = [*enumerate(["0", "1"] * 6)]


@pytest.mark.parametrize("column", ["model", "model_name"])
@pytest.mark.parametrize("form", [WIDE, "{1}_{0}"])
def test_models_side_by_side_are_told(tmp_path: Path, column: str, form: str) -> None:
    for values, n in ((["a", "b"], 1), (["a", "a"], 0), (["a", ""], 0)):
        notes = read_logs(write_as(form, tmp_path, "csv", column, values)).notes
        assert sum(f"set0.csv differ in {column} ('a' and 'b')" in note for note in notes) == n
        assert sum(" differ in " in note for note in notes) == n


def test_models_have_settings_of_their_own(tmp_path: Path) -> None:
    """Two checkpoints on the same texts are compared, and each model of a table has its own."""
    frame = pd.DataFrame({"text": [f"t {i}" for i in range(N)], "label": GOLD})
    paths = [
        write(
            frame.assign(prediction=own, checkpoint=name, temperature=i), tmp_path / f"{name}.csv"
        )
        for i, (name, own) in enumerate((("a", GOLD), ("b", SECOND)))
    ]
    assert not [note for note in read_logs(paths).notes if " differ in " in note]
    parts = [
        pd.DataFrame(
            {"item": range(N), "version": version, "gold": GOLD, "predicted": SECOND}
        ).assign(model=model, temperature=value, m=m, checkpoint=f"{model}-{m}")
        for version in ("original", "t")
        for model, value in (("a", 0), ("b", 0.7))
        for m in (1, 2)
    ]
    path = write(pd.concat(parts), tmp_path / "long.csv")
    assert not [note for note in read_logs([path]).notes if " differ in " in note]
    assert not [note for note in need_wordings(path).notes.warnings if " differ in " in note]


@pytest.mark.parametrize(
    ("column", "values", "n"),
    [
        ("accuracy", [0.31, 0.30], 2),
        ("accuracy", [1.0, 0.30], 1),
        ("Accuracy", [100, 83], 0),
        ("accuracy", [100, 31.5], 1),
        ("acc", [0.5, 0.5], 2),
        ("acc", [0.99, 0.8333], 1),
        ("exact_match", [0.25, 0.83], 1),
        ("mean_accuracy", [1.0, 0.8333333], 0),
        ("accuracy", [1.0, 0.83], 0),
        ("accuracy", [1, 0.8], 0),
        ("accuracy", [12, 10], 0),  # how many
        ("accuracy", ["", ""], 0),
        ("accuracy", [[0.1, 0.2] * 6, [0.2, 0.1] * 6], 0),
        ("train_accuracy", [0.31, 0.3], 0),
        ("error_rate", [0.0, 2 / 12], 0),
        ("accuracy", [-3.5, 250], 0),
    ],
)
@pytest.mark.parametrize("form", ["files", "long", WIDE, "{1}_{0}", "outcomes"])
@ENDINGS
def test_shares_of_right_answers_are_compared(
    tmp_path: Path, column: str, values: list[Any], *, n: int, form: str, ending: str
) -> None:
    if ending == "parquet":
        values = [None if value == "" else value for value in values]
    if form == "outcomes":
        paths = write_as(WIDE, tmp_path, ending, column, values)
        frame = pd.read_parquet(paths[0]) if ending == "parquet" else pd.read_csv(paths[0])
        for name in ("original", "transformed"):
            frame[f"{name}_correct"] = frame.pop(name) == frame["label"]
        write(frame.drop(columns="label"), paths[0])
    else:
        paths = write_as(form, tmp_path, ending, column, values)
    found = [read_logs(paths).notes]
    if form == "long":
        found.append(need_wordings(paths[0]).notes.warnings)
    for notes in found:
        told = [note for note in notes if " in all rows" in note]
        assert len(told) == n
        # Of one version of a long table, it is said of its rows.
        assert all((" in all rows of " in note) == (form == "long") for note in told)


def test_shares_of_answered_or_labelled_rows_are_right(tmp_path: Path) -> None:
    second = ["", *SECOND[1:]]
    frame = pd.DataFrame({"label": GOLD, "original": GOLD, "transformed": second})
    path = write(frame.assign(accuracy_transformed=10 / 11), tmp_path / "t.csv")
    assert not [x for x in read_logs([path], unparsed="wrong").notes if " in all rows" in x]


@pytest.mark.parametrize(
    ("name", "first", "second", "said"),
    [
        ("original_prob_{}", "0,8", "0,1", "has no number in 12 of 12 rows (such as '0,"),
        ("prob_original_{}", "80%", "10 %", "has no number in 12 of 12 rows (such as '"),
        ("original_{}", "0,8", "0,1", "has no number in 12 of 12 rows (such as '0,"),
        ("original_prob_{}", "high", "low", "has no number in 12 of 12 rows (such as '"),
        ("original_prob_{}", "1.5e-1x", "low", "has no number in 12 of 12 rows (such as '"),
        ("original_{}", "Yes, it is 1.", "No.", None),  # explanations
        ("original_prob_{}", "", "", None),
        ("original_prob_{}", "0.5", "0.5", None),
    ],
)
def test_scores_that_are_no_numbers_are_told(
    tmp_path: Path, name: str, first: str, second: str, said: str | None
) -> None:
    frame = pd.DataFrame({"label": GOLD, "original": GOLD, "transformed": SECOND})
    frame = frame.assign(**{name.format("x"): first, name.format("y"): second})
    path = write(frame, tmp_path / "t.csv", ";")
    told = [note for note in read_logs([path]).notes if "has no number" in note]
    assert len(told) == (0 if said is None else 2)
    assert all(str(said) in note for note in told)


@pytest.mark.parametrize(("rows", "n"), [([0, 3], 2), ([], 0)])
def test_some_scores_that_are_no_numbers_are_counted(
    tmp_path: Path, rows: list[int], n: int
) -> None:
    long = [
        {"item": i, "version": v, "gold": GOLD[i], "predicted": GOLD[i], "prob_x": "0.5"}
        | {"prob_y": "0,5" if i in rows and v == "t" else "0.5" if i else "n/a"}
        for i in range(N)
        for v in ("original", "t")
    ]
    path = write(pd.DataFrame(long), tmp_path / "t.csv")
    for notes in (read_logs([path]).notes, need_wordings(path).notes.warnings):
        assert sum(f"prob_y has no number in {n} of 24 rows" in note for note in notes) == (n > 0)
        assert sum("has no number" in note for note in notes) == (n > 0)


@pytest.mark.parametrize(
    ("values", "n"),
    [([0.9] * N, 6), ([90] * N, 6), ([0.9, None] * 6, 0), ([None, *[0.9] * 11], 6)],
)
def test_the_score_of_one_label_is_compared_where_it_is_known(
    tmp_path: Path, values: list[Any], n: int
) -> None:
    frame = pd.DataFrame({"label": SECOND, "original": GOLD, "transformed": SECOND})
    path = write(frame.assign(original_prob_x=values), tmp_path / "t.csv")
    told = [note for note in read_logs([path]).notes if "likeliest" in note]
    assert [f"is the likeliest in {n} rows of 12" in note for note in told] == [True] * (n > 0)


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        ([*[1] * 6, *[0] * 5, None], None),
        ([*[0] * 6, *[0] * 5, None], "in 6 rows the column changed and the column edits disagree"),
        ([*["1,0"] * 6, *["0,0"] * 6], "edits has no number in 12 of 12 rows (such as '1,0')"),
    ],
)
def test_numbers_of_edits_are_compared_where_they_are_known(
    tmp_path: Path, edits: list[Any], said: str | None
) -> None:
    frame = pd.DataFrame({"label": GOLD, "original": GOLD, "transformed": SECOND})
    frame = frame.assign(changed=[True] * 6 + [False] * 6, edits=edits)
    notes = [x for x in read_logs([write(frame, tmp_path / "t.csv")]).notes if "edits" in x]
    assert len(notes) == (said is not None)
    assert all(str(said) in note for note in notes)


@pytest.mark.parametrize("form", ["files", "long", WIDE, "{1}_{0}"])
@pytest.mark.parametrize(
    ("column", "values", "n"),
    [
        ("prob_pred", (0.9, 0.4), 12),
        ("prob_pred", (0.9, 0.5), 0),
        ("max_prob", (0.9, [*[0.9] * 11, 1.2]), 1),
        ("max_prob", (90, 40), 0),  # percentages
        ("p_gold", (0.9, 0.9), 2),  # SECOND has two wrong answers
        ("gold_prob", (0.9, 0.1), 10),
        ("gold_prob", (0.9, 0.5), 0),
        ("confidence", (0.9, 0.1), 0),  # a model may say any
    ],
)
def test_the_probability_of_an_answer_is_that_of_the_likeliest(
    tmp_path: Path, form: str, column: str, values: tuple[Any, Any], n: int
) -> None:
    logs = write_as(form, tmp_path, "csv", column, values)
    notes = read_logs(logs, logs_are="versions" if form == "files" else None).notes
    told = [note for note in notes if "cannot be the probability of" in note]
    assert len(told) == (n > 0)
    assert not told or f" in {n} row" in told[0]


@pytest.mark.parametrize("name", ["original_premise", "premise_original"])
@pytest.mark.parametrize(("n", "is_told"), [(0, False), (1, True), (6, True), (12, False)])
def test_texts_of_the_originals_in_the_table_of_a_version_are_compared(
    tmp_path: Path, name: str, n: int, is_told: bool
) -> None:
    first = [f"premise {i}" for i in range(N)]
    own = [f"another {i}" if i < n else text for i, text in enumerate(first)]
    both = {"label": GOLD, "hypothesis": [f"h {i}" for i in range(N)], "prediction": GOLD}
    a = pd.DataFrame(both | {"premise": first})
    b = pd.DataFrame(both | {"premise": [f"p. {i}" for i in range(N)], name: own})
    logs = [write(a, tmp_path / "a.csv"), write(b, tmp_path / "b.csv")]
    notes = read_logs(logs, logs_are="versions").notes
    told = [note for note in notes if f"{name} is another text of the original" in note]
    assert len(told) == is_told
    assert not told or f"in {n} row" in told[0]


@pytest.mark.parametrize("of", ["premise", "hypothesis"])
def test_texts_of_the_originals_are_compared_column_by_column(tmp_path: Path, of: str) -> None:
    """The other column is reworded too, and nothing repeats what it was."""
    texts = {name: [f"{name} {i}" for i in range(N)] for name in ("premise", "hypothesis")}
    again = [f"another {i}" if i < 2 else text for i, text in enumerate(texts[of])]
    both = {"label": GOLD, "prediction": GOLD}
    own = {name: [f"some {text}" for text in column] for name, column in texts.items()}
    frames = pd.DataFrame(both | texts), pd.DataFrame(both | own | {f"{of}_original": again})
    logs = [write(frame, tmp_path / f"{i}.csv") for i, frame in enumerate(frames)]
    notes = read_logs(logs, logs_are="versions").notes
    assert [f"{of}_original is another text of the original" in note for note in notes] == [True]
    assert "in 2 rows" in notes[0]


@pytest.mark.parametrize("form", ["files", "long"])
@pytest.mark.parametrize(("n", "is_told"), [(0, False), (3, True)])
@pytest.mark.parametrize("labels", [("entailment", "neutral", "contradiction"), ("p", "n")])
def test_answers_to_the_originals_may_be_numbers_beside_names(
    tmp_path: Path, form: str, labels: tuple[str, ...], n: int, *, is_told: bool
) -> None:
    k, rows = len(labels), range(40)
    gold = [labels[i % k] for i in rows]
    before = [labels[(i + (i % 7 == 0)) % k] for i in rows]
    after = [labels[(i + (i % 5 == 0)) % k] for i in rows]
    again = [(labels.index(own) + (i < n)) % k for i, own in enumerate(before)]
    if form == "files":
        first = pd.DataFrame({"item": rows, "label": gold, "prediction": before})
        second = pd.DataFrame({"item": rows, "label": gold, "prediction": after})
        frames = [first, second.assign(original_prediction=again)]
        logs = [write(frame, tmp_path / f"{i}.csv") for i, frame in enumerate(frames)]
        notes = read_logs(logs, logs_are="versions", id_column="item").notes
    else:
        own = {"item": rows, "gold": gold}
        first = pd.DataFrame({**own, "version": "original", "predicted": before})
        second = pd.DataFrame({**own, "version": "v1", "predicted": after})
        frame = pd.concat([first, second.assign(original_prediction=again)])
        frame["original_prediction"] = frame["original_prediction"].astype("Int64")
        notes = read_logs([write(frame, tmp_path / "long.csv")]).notes
    told = [note for note in notes if "original_prediction is another answer to" in note]
    assert len(told) == is_told
    assert not told or f"in {n} rows" in told[0]


@pytest.mark.parametrize("form", ["wide", "files", "long"])
def test_a_column_cluster_counts_in_tables_of_every_form(tmp_path: Path, form: str) -> None:
    cluster = [f"c{i // 4}" for i in range(N)]
    whole = pd.DataFrame({"item": range(N), "cluster": cluster, "gold": GOLD})
    both = {"original": GOLD, "transformed": SECOND}
    if form == "wide":
        frames = [whole.rename(columns={"gold": "label"}).assign(**both)]
    elif form == "files":
        named = whole.rename(columns={"gold": "label"})
        frames = [named.assign(prediction=own) for own in both.values()]
    else:
        parts = [whole.assign(version=name, predicted=own) for name, own in both.items()]
        frames = [pd.concat(parts)]
    logs = [write(frame, tmp_path / f"{i}.csv") for i, frame in enumerate(frames)]
    found = read_logs(logs, logs_are="versions" if form == "files" else None).predictions
    assert choose_clusters(found, None, None) == "cluster"
    (test,) = compare_versions(found, clusters="cluster").tests
    assert test.result.n_clusters == N // 4


@pytest.mark.parametrize("name", ["n_paraphrases", "num_versions"])
@pytest.mark.parametrize(
    ("stated", "n"), [([2] * 4, 0), ([3] * 4, 0), ([2, 2, 2, 5], 3), ([7] * 4, 0)]
)
def test_numbers_of_rewordings_are_those_of_the_rows(
    tmp_path: Path, name: str, stated: list[int], n: int
) -> None:
    rows = [
        {"item": item, "version": version, "gold": "xy"[item % 2], "predicted": "yx"[item % 3 > 0]}
        for item in range(4)
        for version in ("original", "t", "u")
    ]
    frame = pd.DataFrame(rows)
    path = write(frame.assign(**{name: [stated[i] for i in frame["item"]]}), tmp_path / "a.csv")
    told = [note for note in read_logs([path]).notes if name in note]
    assert len(told) == (n > 0)
    assert not told or f"in {n} rows of 12; are rows missing" in told[0]


@pytest.mark.parametrize(("name", "is_told"), [("flipped", True), ("same", False), ("odd", False)])
def test_outcomes_beside_a_column_that_says_the_opposite_of_its_name(
    tmp_path: Path, name: str, *, is_told: bool
) -> None:
    first, second = [i < 80 for i in range(100)], [10 <= i < 90 for i in range(100)]
    stays = [int(a == b) for a, b in zip(first, second, strict=True)]
    frame = pd.DataFrame({"original_correct": first, "transformed_correct": second, name: stays})
    notes = read_logs([write(frame, tmp_path / "a.csv")]).notes
    assert any(f"{name} (the opposite of" in note for note in notes) == is_told, notes


@pytest.mark.parametrize(("by", "is_told"), [(0, False), (1, True)])
@pytest.mark.parametrize("name", ["original_text", "text_original"])
def test_two_columns_of_the_texts_of_the_originals_are_compared(
    tmp_path: Path, name: str, *, by: int, is_told: bool
) -> None:
    texts = [f"text {i}" for i in range(N)]
    frame = pd.DataFrame(
        {"text": texts, "text_transformed": [f"another {i}" for i in range(N)], "label": GOLD}
        | {"original": GOLD, "transformed": SECOND, name: texts[by:] + texts[:by]}
    )
    notes = read_logs([write(frame, tmp_path / "a.csv")]).notes
    assert any("name the rows otherwise" in note for note in notes) == is_told


@pytest.mark.parametrize("epochs", ["first", "mean"])
def test_epochs_of_tables_are_refused(tmp_path: Path, epochs: Any) -> None:
    logs = write_as("files", tmp_path, "csv", "note", ("a", "b"))
    with pytest.raises(InputError, match=f"--epochs {epochs} has no effect"):
        read_logs(logs, epochs=epochs)


@pytest.mark.parametrize(("given", "is_told"), [("xy", False), ("yx", True)])
def test_labels_in_another_order_than_the_table_notes_are_told(
    tmp_path: Path, given: str, *, is_told: bool
) -> None:
    numbers = [GOLD.index(label) for label in GOLD]
    noted = {"info": {"features": {"label": {"names": ["x", "y"], "_type": "ClassLabel"}}}}
    table = pa.table({"label": numbers, "original": numbers, "transformed": numbers[::-1]})
    path = tmp_path / "a.parquet"
    pq.write_table(table.replace_schema_metadata({"huggingface": json.dumps(noted)}), path)
    notes = read_logs([path], label_names=[*given]).notes
    assert any("notes its labels in the order x, y" in note for note in notes) == is_told


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({1: 2, 4: 5, 7: 8}, "in 3 of 40 rows, v has in text the text that original has in ano"),
        ({1: 2, 4: 5}, None),  # too few
        ({1: 2, 2: 1, 4: 5, 5: 4}, None),  # exchanged
        ({1: 50, 4: 50, 7: 50}, "in 3 of 40 rows, v has in text a text of another row, where"),
        ({1: 50, 4: 51, 7: 52}, None),
    ],
)
@pytest.mark.parametrize("form", ["files", "long", "wide"])
def test_some_texts_of_other_items_are_counted(
    tmp_path: Path, form: str, own: dict[int, int], said: str | None
) -> None:
    frame = pd.DataFrame({"item": range(40), "label": ["x", "y"] * 20, "answer": ["x", "y"] * 20})
    texts = [[f"a text, number {own.get(i, i) if v else i}" for i in range(40)] for v in (0, 1)]
    if form == "wide":
        sides = {"text_original": texts[0], "text_v": texts[1], "v": frame["answer"]}
        wide = frame.rename(columns={"answer": "original"}).assign(**sides)
        read = read_logs([write(wide, tmp_path / "a.csv")], columns=["original", "v"])
    elif form == "long":
        names = {"label": "gold", "answer": "predicted"}
        versions = zip(("original", "v"), texts, strict=True)
        parts = [frame.assign(version=name, text=each) for name, each in versions]
        whole = pd.concat(parts).rename(columns=names)
        read = read_logs([write(whole, tmp_path / "a.csv")])
    else:
        renamed = frame.rename(columns={"answer": "prediction"})
        paths = [
            write(renamed.assign(text=each), tmp_path / f"{name}.csv")
            for name, each in zip(("original", "v"), texts, strict=True)
        ]
        read = read_logs(paths, logs_are="versions", id_column="item")
    found = [note.replace("transformed", "v").replace("text_v", "text") for note in read.notes]
    told = [note for note in found if "put each text beside its own item" in note]
    assert len(told) == (said is not None)
    assert not told or said in told[0]


@pytest.mark.parametrize("column", ["max_length", "epoch", "train_seed"])
def test_settings_of_training_are_compared(tmp_path: Path, column: str) -> None:
    logs = write_as("files", tmp_path, "csv", column, (1, 2))
    assert any(column in note for note in read_logs(logs, logs_are="versions").notes)


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_name_leads_into_objects(tmp_path: Path, ending: str) -> None:
    rows = [
        {"label": gold, "said": {"by": {"one": gold, "two": answer}}}
        for gold, answer in zip(GOLD, SECOND, strict=True)
    ]
    path = tmp_path / f"a.{ending}"
    if ending == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    read = read_logs([path], columns=["said.by.one", "said.by.two"]).predictions
    assert read.table["predicted"].to_pylist() == [*GOLD, *SECOND]
    with pytest.raises(InputError, match=r"there is no such (column|field)"):
        read_logs([path], columns=["said.by.one", "said.by.three"])


def check_order(logs: list[Path], *, is_told: bool) -> None:
    """Whether files are refused since the second holds the originals."""
    if is_told:
        with pytest.raises(InputError, match="give the file of the originals first"):
            read_logs(logs, logs_are="versions")
    else:
        read_logs(logs, logs_are="versions")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("column", "values", "is_told"),
    [
        ("is_original", (1, 0), False),
        ("is_original", (0, 1), True),
        ("is_perturbed", (False, True), False),
        ("is_perturbed", (True, False), True),
        ("perturbed", (1, 0), True),
        ("perturbed", (0, 1), False),
        ("is_favourite", (0, 1), False),
    ],
)
def test_columns_that_say_which_version_is_the_original_are_compared(
    tmp_path: Path, ending: str, column: str, values: tuple[Any, Any], *, is_told: bool
) -> None:
    check_order(write_as("files", tmp_path, ending, column, values), is_told=is_told)
    (long,) = write_as("long", tmp_path, ending, column, values)
    for notes in (read_logs([long]).notes, need_wordings(long).notes.warnings):
        assert any("says otherwise than the column version" in each for each in notes) == is_told
    mixed = write_as("files", tmp_path, ending, column, ([1, *[0] * (N - 1)], values[1]))
    is_mixed = any("there are rows of 2 versions" in note for note in read_logs(mixed).notes)
    assert is_mixed == (column != "is_favourite")


def _say_sides(tmp_path: Path, column: str, *values: str) -> bool:
    versions = ["original", *(f"v{place}" for place in range(1, len(values)))]
    lines = [f"item,version,{column},gold,predicted"]
    for i in range(N):
        gold = "np"[i % 2]
        pairs = zip(versions, values, strict=True)
        lines += [f"{i},{version},{value},{gold},{'np'[i % 3 > 1]}" for version, value in pairs]
    path = tmp_path / "long.csv"
    path.write_text("\n".join([*lines, ""]))
    return any("says otherwise than the column version" in each for each in read_logs([path]).notes)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("perturbation", ("typo", "none")),
        ("perturbation", ("typo", "")),
        ("attack_type", ("swap", "Clean", "swap")),
        ("variant", ("rephrased", "original")),
    ],
)
def test_a_long_table_whose_original_is_called_reworded_is_told(
    tmp_path: Path, column: str, values: tuple[str, ...]
) -> None:
    assert _say_sides(tmp_path, column, *values)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("perturbation", ("none", "typo")),
        ("perturbation", ("", "typo")),
        ("perturbation", ("none", "typo", "none")),  # a version in which nothing was changed
        ("variant", ("original", "rephrased")),
        ("remark", ("typo", "none")),
    ],
)
def test_columns_that_call_the_original_so_are_not_told(
    tmp_path: Path, column: str, values: tuple[str, ...]
) -> None:
    assert not _say_sides(tmp_path, column, *values)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("column", "values", "is_told"),
    [
        ("variant", ("rephrased", "original"), True),
        ("variant", ("original", "rephrased"), False),
        ("what", ("typos", " Original "), True),
        ("what", ("none", "typos"), False),
        ("what", ("typos", "none"), False),  # which may be anything
        ("perturbation", ("typos", "none"), True),
        ("is_paraphrase", (1, 0), True),
        ("is_paraphrase", (0, 1), False),
        ("adversarial", (True, False), True),
        ("what", (1, 0), False),
        ("Version", ("typos", "original"), True),
        ("variant", ("original", "original"), False),
    ],
)
def test_a_column_of_any_name_says_which_file_holds_the_originals(
    tmp_path: Path, ending: str, column: str, values: tuple[Any, Any], *, is_told: bool
) -> None:
    check_order(write_as("files", tmp_path, ending, column, values), is_told=is_told)


def test_columns_of_models_are_known_in_any_case(tmp_path: Path) -> None:
    logs = write_as("files", tmp_path, "csv", "Model", ("one", "two"))
    with pytest.raises(InputError, match="these logs are of two models"):
        read_logs(logs)


def test_marks_that_contradict_the_texts_are_counted_in_consistency(tmp_path: Path) -> None:
    (path,) = write_as("long", tmp_path, "csv", "changed", (0, 1))
    frame = pd.read_csv(path)
    frame["text"] = [f"{i % N} of {version}" for i, version in enumerate(frame["version"])]
    frame.loc[[3, N + 1, N + 2], "changed"] = [1, 0, 0]
    notes = need_wordings(write(frame, path)).notes.warnings
    assert any("in 2 rows of t the column changed and the texts" in note for note in notes)
    assert any(
        "1 row of original, with which the others are compared, is" in note for note in notes
    )


@pytest.mark.parametrize("name", ["response", "answer", "completion"])
@pytest.mark.parametrize(("n", "is_told"), [(0, False), (4, True)])
def test_answers_in_sentences_are_compared_under_any_name(
    tmp_path: Path, name: str, n: int, *, is_told: bool
) -> None:
    (path,) = write_as("long", tmp_path, "csv", name, ("", ""))
    frame = pd.concat([pd.read_csv(path)] * 3, ignore_index=True)
    frame["item"] = [N * (row // (2 * N)) + item for row, item in enumerate(frame["item"])]
    other = {"x": "y", "y": "x"}
    said = [other[own] if row < n else own for row, own in enumerate(frame["predicted"])]
    frame[name] = [f"The answer is: {each}" for each in said]
    notes = read_logs([write(frame, path)]).notes
    assert any(f"{name} (unlike predicted in {n} rows" in note for note in notes) == is_told, notes


def test_marks_of_rows_say_nothing_of_versions(tmp_path: Path) -> None:
    """A column may say which texts of a version were changed."""
    (path,) = write_as("long", tmp_path, "csv", "perturbed", (0, [1, 0] * (N // 2)))
    assert not any("perturbed" in note for note in read_logs([path]).notes)


@pytest.mark.parametrize("n", [0, 3])
def test_marks_that_are_ticked_off_are_compared(tmp_path: Path, n: int) -> None:
    right = [a == b for a, b in zip(GOLD, SECOND, strict=True)]
    marks = ["x" if (own if i >= n else not own) else "" for i, own in enumerate(right)]
    frame = pd.DataFrame({"label": GOLD, "original": GOLD, "transformed": SECOND})
    path = write(frame.assign(transformed_correct=marks), tmp_path / "a.csv")
    if n:
        with pytest.raises(InputError, match="transformed_correct"):
            read_logs([path])
    else:
        assert not any("transformed_correct" in note for note in read_logs([path]).notes)
