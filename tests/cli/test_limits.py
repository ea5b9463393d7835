"""Demands that no machine can meet end in one sentence, and in the same status everywhere."""

from __future__ import annotations

import pytest

from ietest_fast.cli.main import main
from ietest_fast.corpus import demo_corpus, demo_splits
from ietest_fast.errors import InputError


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as status:
        main(list(arguments))
    error = capsys.readouterr().err
    return int(status.value.code or 0), error


def test_demonstration_pairs_that_do_not_fit_in_memory_are_refused(tmp_path, capsys):
    for ask in (lambda: demo_corpus(10**12), lambda: demo_splits(10**12, 10, 10)):
        with pytest.raises(InputError, match=r"take 100,000 GB of memory .* available"):
            ask()
    for arguments in (
        ["describe", "--demo", "999999999999"],
        ["run", "--demo", "--demo-sizes", "999999999999,10,10", "--out", str(tmp_path / "run")],
    ):
        status, error = run(capsys, *arguments)
        assert status == 1
        assert "GB of memory" in error


@pytest.mark.parametrize(
    "error", [MemoryError(), MemoryError("Unable to allocate 933. GiB"), "arrow"]
)
def test_memory_that_is_short_is_one_sentence(capsys, monkeypatch, error):
    if error == "arrow":
        import pyarrow as pa

        error = pa.ArrowMemoryError("malloc of size 64 failed")

    def fail(*_args, **_options):
        raise error

    monkeypatch.setattr("ietest_fast.corpus.demo_corpus", fail, raising=False)
    status, message = run(capsys, "describe", "--demo", "10")
    assert status == 1
    assert message.startswith("Error: there is not enough memory")
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize("option", ["--rho", "--alpha"])
def test_an_option_that_is_no_number_is_a_mistake_of_usage(tmp_path, capsys, option):
    out = str(tmp_path / "run")
    status, error = run(capsys, "run", "--demo", option, "nan", "--out", out)
    assert status == 2, error
    config = tmp_path / "run.toml"
    config.write_text("data = {demo = true}\n", encoding="utf-8")
    status, error = run(capsys, "run", str(config), option, "nan", "--out", out)
    assert status == 2, error
    config.write_text(f"data = {{demo = true}}\n{option[2:]} = [nan]\n", encoding="utf-8")
    status, error = run(capsys, "run", str(config), "--out", out)
    assert status == 1, error


@pytest.mark.parametrize(
    "options", [["--text-columns", "a"], ["--label-column", "a"], ["--label-names", "a,b"]]
)
def test_a_run_refuses_columns_for_the_demonstration_corpus(tmp_path, capsys, options):
    status, error = run(capsys, "run", "--demo", *options, "--out", str(tmp_path / "run"))
    assert status == 2
    assert "demo has columns and labels of its own" in error


def test_a_long_file_name_is_refused_at_once_and_by_its_own_name(tmp_path, capsys):
    source = tmp_path / "in.csv"
    source.write_text("premise,hypothesis\nA dog runs.,It runs.\n", encoding="utf-8")
    name = "n" * 260 + ".csv"
    out = str(tmp_path / name)
    status, error = run(capsys, "transform", str(source), out, "--lexicon-from", str(source))
    assert status == 1
    assert name in error
    assert "File name too long" in error
    assert "unfinished" not in error
