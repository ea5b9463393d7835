"""``ietest-fast annotate`` as users meet it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request

import pytest
from statsmodels.stats.proportion import proportion_confint

from finished_runs import make_run, toy_splits
from ietest_fast.annotation.marks import Marks
from ietest_fast.annotation.sample import read_sample
from ietest_fast.cli.main import main

MAIN = "from ietest_fast.cli.main import main; main()"


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main(["annotate", *map(str, arguments)])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return stop.value.code, out, err


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("cli") / "run")


@pytest.fixture
def sample(tmp_path, capsys, folder):
    path = tmp_path / "sample.json"
    status, out, _ = run(capsys, "draw", folder, path, "-n", "60")
    assert status == 0
    assert re.fullmatch(rf"{re.escape(str(path))}: 60 of \d+ reworded observations\n", out)
    return path


def test_marks_are_summed_up_and_the_test_is_repeated(capsys, folder, sample):
    drawn = read_sample(sample)
    anna, ben = Marks(drawn, "anna"), Marks(drawn, "ben")
    for number, row in enumerate(drawn.items):
        anna.add(row, "sound" if number < 50 else "unsound")
        ben.add(row, "sound" if number < 48 else "unsound")
    status, out, _ = run(capsys, "summary", sample)
    low, high = proportion_confint(50, 60, method="wilson")
    assert status == 0
    assert re.search(rf"anna +texts +60 +60 +50 +83\.3 +{100 * low:.1f} to {100 * high:.1f}", out)
    assert re.search(r"majority +texts +58 +60 +48", out)
    assert "Cohen's kappa: 0.889, on 60 marked by all, 96.7% of marks agree." in out
    out_text = out
    _, out, _ = run(capsys, "summary", sample, "--json")
    found = json.loads(out)
    assert found["soundness"][0]["interval"] == pytest.approx({"low": low, "high": high})
    assert found["agreement"]["kappa"] == pytest.approx(8 / 9, abs=1e-3)
    assert (found["unit"], found["criterion"], found["texts"]) == ("texts", "label", None)
    assert sum(each["n_marked"] for each in found["by_first"].values()) == 120
    assert re.search(
        r"Sound marks by order of the versions: \d\d\.\d% of \d+ with the original", out_text
    )
    status, out, _ = run(capsys, "test", sample, folder)
    assert status == 0
    assert "On 48 observations that are sound by majority." in out
    # What it is about can be read, however narrow the screen that is not there.
    assert "exact McNemar p" in out
    assert "n00" not in out
    assert "Power" not in out
    assert re.search(r"0\.5 +1 +\d+ +\d+ +[+−]?\d+\.\d\d +[+−]?\d+\.\d\d to [+−]?\d+\.\d\d", out)
    assert "…" not in out
    assert "On 50 observations" in run(capsys, "test", sample, folder, "--by", "anna")[1]
    found = json.loads(run(capsys, "test", sample, folder, "--json")[1])
    assert len(found["rows"]) == 48
    assert all(0 < cell["p_mcnemar_exact"] <= 1 for rho in found["rhos"] for cell in rho["cells"])
    cells = [cell for rho in found["rhos"] for cell in rho["cells"]]
    assert all(sum(cell[n] for n in ("n11", "n10", "n01", "n00")) == 48 for cell in cells)
    assert all(low <= cell["delta"] <= high for cell in cells for low, high in [cell["interval"]])


def test_mistakes_are_told(tmp_path, capsys, folder, sample):
    assert "is there already" in run(capsys, "draw", folder, sample)[2]
    assert "nobody has marked" in run(capsys, "summary", sample)[2]
    assert f"{sample}: nobody has marked" in run(capsys, "test", sample, folder)[2]
    status, _, err = run(capsys, "serve", sample, "--person", "a b", "--no-open")
    assert (status, "a person is named by" in err) == (1, True)
    assert run(capsys, "serve", sample)[0] == 2
    other = make_run(tmp_path / "other", splits=toy_splits(n_test=200), rho=[0])
    drawn = read_sample(sample)
    Marks(drawn, "anna").add(drawn.items[0], "unsound")
    assert "was not drawn from the test set" in run(capsys, "test", sample, other)[2]
    assert "no marked observation is sound by majority" in run(capsys, "test", sample, folder)[2]
    (sample.parent / "sample.json.ben.marks.jsonl").write_text("x\n")
    assert "is no mark" in run(capsys, "test", sample, folder)[2]
    assert (
        "no marked observation is sound by anna"
        in run(capsys, "test", sample, folder, "--by", "anna")[2]
    )
    (sample.parent / "sample.json.ben.marks.jsonl").unlink()
    assert "'cid' has not marked" in run(capsys, "test", sample, folder, "--by", "cid")[2]


def test_edits_are_marked_one_by_one(capsys, folder, tmp_path):
    path = tmp_path / "edits.json"
    options = ("-n", 30, "--edits", "--criterion", "meaning")
    status, out, _ = run(capsys, "draw", folder, path, *options)
    drawn = read_sample(path)
    n_texts = len({pair["row"] for pair in drawn.pairs})
    assert status == 0
    assert out.startswith(f"{path}: {len(drawn.pairs)} edits of {n_texts} of ")
    anna = Marks(drawn, "anna")
    for number, item in enumerate(drawn.items):
        anna.add(item, "unsound" if number == 0 else "sound")
    out = run(capsys, "summary", path)[1]
    assert "Sound rephrasings by the meaning" in out
    assert re.search(rf"anna +texts, all edits sound +{n_texts} +{n_texts} +{n_texts - 1}", out)
    assert re.search(r"Most often unsound: .+ -> .+ \(1 of \d+\)\.", out)
    found = json.loads(run(capsys, "summary", path, "--json")[1])
    assert found["texts"][0]["n_sound"] == n_texts - 1
    assert found["unsound_edits"][0]["n_unsound"] == 1
    assert f"On {n_texts - 1} observations" in run(capsys, "test", path, folder)[1]


@pytest.mark.slow
def test_the_page_is_served_until_ctrl_c(capsys, sample):
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", MAIN, "annotate", "serve", str(sample)),
            *("--person", "anna", "--no-open"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline().startswith("0 of 60 marked.")
    url = process.stdout.readline().strip()
    assert url.startswith("http://127.0.0.1:")
    with urllib.request.urlopen(url) as answer:
        assert "A and B are two versions of a text" in answer.read().decode()
    base, token = url.split("/?token=")
    body = json.dumps({"item": read_sample(sample).items[0], "mark": "sound"}).encode()
    with urllib.request.urlopen(
        urllib.request.Request(f"{base}/mark", data=body, headers={"X-Token": token})
    ) as answer:
        assert json.loads(answer.read()) == {"n_marked": 1}
    port = base.rsplit(":", 1)[1]
    status, _, err = run(capsys, "serve", sample, "--person", "ben", "--port", port, "--no-open")
    assert (status, f"the port {port} cannot be used" in err) == (1, True)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    assert "1 of 60 marked, in" in out


def test_help_lists_what_there_is(capsys):
    status, out, _ = run(capsys, "--help")
    assert status == 0
    for name in ("draw", "export", "import", "serve", "summary", "test"):
        assert re.search(rf"^  {name} ", out, re.MULTILINE)
