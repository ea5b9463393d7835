from __future__ import annotations

import subprocess
import sys

import ietest_fast.corpus


def test_importing_the_package_loads_nothing_heavy() -> None:
    script = (
        "import sys, ietest_fast.corpus, ietest_fast.cli.describe\n"
        "print({'numpy', 'pyarrow', 'rich', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"


def test_every_name_can_be_had() -> None:
    for name in ietest_fast.corpus.__all__:
        assert getattr(ietest_fast.corpus, name).__doc__
