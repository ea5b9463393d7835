"""What may run code that a file names: each such call is known, and made so that it does not."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import ietest_fast

PACKAGE = Path(ietest_fast.__file__).parent
MAY_RUN = re.compile(
    r"import_module|__import__|pickle|joblib|dill|marshal|\bexec\(|\beval\(|\.load\(|from_pretrained|"
    r"snapshot_download|hf_hub|load_dataset|urlopen|os\.system|Popen|subprocess\.|spacy\.load|trust_"
)

# Function -> the files that may call it.
KNOWN = {
    "importlib.import_module": {
        "registry.py",  # names that a person typed, or that are installed
        "lazy.py",
        "cli/main.py",
        "lexicon/pipelines.py",
        "lexicon/words.py",
    },
    "pickle.loads": {"lexicon/tag_workers.py"},  # from a process of this package, through a pipe
    "snapshot_download": {"models/checkpoint.py"},
    "spacy.load": {"lexicon/pipelines.py"},
    "subprocess.Popen": {"experiment/executors.py", "lexicon/tag_workers.py"},
}
NEVER = {
    "__import__",
    "exec",
    "eval",
    "pickle.load",
    "pickle.Unpickler",
    "joblib.load",
    "dill.load",
    "dill.loads",
    "marshal.loads",
    "os.system",
    "subprocess.run",
    "subprocess.call",
    "subprocess.check_output",
    "load_dataset",
    "hf_hub_download",
    "urlopen",
    "urllib.request.urlopen",
}


def problems_of(text: str, name: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        given = {each.arg: ast.unparse(each.value) for each in node.keywords}
        where = f"{name}:{node.lineno}: {called}"
        if called in NEVER or (called in KNOWN and name not in KNOWN[called]):
            found.append(where)
        if called in {"np.load", "numpy.load"} and given.get("allow_pickle") != "False":
            found.append(f"{where} without allow_pickle=False")
        if called == "torch.load" and given.get("weights_only") != "True":
            found.append(f"{where} without weights_only=True")
        own = called.endswith("from_pretrained") and not called.startswith("torch.nn.")
        said = given.get("trust_remote_code") == "False" and given.get("local_files_only") == "True"
        if own and not said and given.get(None) != "_NO_CODE" and not _is_safe(node):
            found.append(f"{where} without **_NO_CODE")
        if given.get("trust_remote_code", "False") != "False":
            found.append(f"{where} trusts code")
    return found


def _is_safe(node: ast.Call) -> bool:
    return any(each.arg is None and ast.unparse(each.value) == "_NO_CODE" for each in node.keywords)


@pytest.mark.parametrize(
    "code",
    [
        "import pickle\npickle.loads(data)",
        "np.load(path)",
        "np.load(path, allow_pickle=True)",
        "torch.load(path)",
        "torch.load(path, weights_only=False)",
        "AutoModel.from_pretrained(folder)",
        "AutoModel.from_pretrained(folder, trust_remote_code=True)",
        "getattr(transformers, kind).from_pretrained(folder, **options)",
        "importlib.import_module(settings['module'])",
        "subprocess.run([settings['program']])",
        "snapshot_download(settings['base'])",
        "eval(settings['value'])",
    ],
)
def test_ways_around_are_seen(code: str) -> None:
    assert problems_of(code, "models/somewhere.py")


@pytest.mark.slow
def test_no_file_has_code_run() -> None:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text("utf-8")
        if MAY_RUN.search(text):
            found += problems_of(text, path.relative_to(PACKAGE).as_posix())
    assert not found


def test_nothing_of_a_checkpoint_is_trusted() -> None:
    from ietest_fast.models.checkpoint import _NO_CODE

    assert _NO_CODE == {"trust_remote_code": False, "local_files_only": True}


def test_names_are_looked_up_by_the_registry_alone() -> None:
    """A reader of files that names things says so, by reading_names."""
    readers = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if "reading_names(" in path.read_text("utf-8")
    }
    assert readers == {
        "registry.py",
        "experiment/config.py",
        "analyses/stress/suite.py",
    }
