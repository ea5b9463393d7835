"""Names that lead to built-in things, to other packages and to modules of one's own."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from ietest_fast.errors import InputError, ResourceError
from ietest_fast.registry import Registry, check_options, lacks_methods

if TYPE_CHECKING:
    from pathlib import Path

GROUP = "ietest_fast.tests_of_registry"


class Animal:
    def speak(self) -> str:
        return "..."


def registry(**builtin: str) -> Registry[type[Animal]]:
    return Registry(
        group=GROUP,
        builtin={"animal": f"{__name__}:Animal", **builtin},
        noun="animal",
        check=lacks_methods("animals", "speak", see="the tests"),
    )


def install(site: Path, package: str, code: str, *lines: str) -> None:
    """Make a package with entry points, as pip would leave it."""
    (site / f"{package}.py").write_text(code)
    info = site / f"{package}-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *lines, ""]))


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(tmp_path) in str(
            sys.modules[name].__file__
        ):
            del sys.modules[name]


DOG = "class Dog:\n    def speak(self): return 'wau'\n"


def test_built_in_names():
    assert registry().names() == ("animal",)
    assert registry().find("animal") is Animal
    assert registry().origin("animal") is None


def test_another_package_adds_a_name(site):
    install(site, "kennel", DOG, "dog = kennel:Dog")
    assert registry().names() == ("animal", "dog")
    assert registry().origin("dog") == "kennel 1.2"
    assert registry().find("dog")().speak() == "wau"


def test_a_module_of_ones_own(site):
    (site / "barn.py").write_text("class Stable:\n    class Horse:\n        def speak(self): ...\n")
    assert registry().find("barn:Stable.Horse").__name__ == "Horse"


def test_built_in_names_are_never_taken_over(site):
    install(site, "thief", DOG, "animal = thief:Dog")
    assert registry().find("animal") is Animal
    assert registry().names() == ("animal",)


def test_a_name_of_two_packages_is_nobodys(site):
    install(site, "kennel", DOG, "dog = kennel:Dog")
    install(site, "pound", DOG, "dog = pound:Dog")
    with pytest.raises(InputError, match=r"several packages.*kennel 1\.2, pound 1\.2"):
        registry().find("dog")


def test_near_matches_are_named():
    with pytest.raises(InputError, match="no animal is called 'anmial'; did you mean 'animal'"):
        registry().find("anmial")
    with pytest.raises(InputError, match="'xyz'; there are animal, or"):
        registry().find("xyz")


@pytest.mark.parametrize(
    "name",
    ["", ".x:y", "..:y", ":", "a:", ":b", "a..b:c", "a:b:c", "../x:y", "a b:c", "1:2", "os:path."],
)
def test_what_is_no_name_is_refused_without_an_import(name, monkeypatch):
    def refuse(_name):
        raise AssertionError("imported")

    monkeypatch.setattr("importlib.import_module", refuse)
    with pytest.raises(InputError, match=r"does not name an? animal|no animal is called"):
        registry().find(name)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("builtins:dict", "no class of animals: it lacks speak"),
        ("builtins:print", "no class of animals, but a builtin_function_or_method"),
        ("builtins:exit", "no class of animals, but a Quitter|cannot be imported"),
        ("os:system", "no class of animals, but a builtin_function_or_method"),
        ("subprocess:Popen", "no class of animals: it lacks speak"),
        ("os:nothing", "cannot be imported: module 'os' has no attribute"),
        ("no_such_module_:x", "cannot be imported: No module named"),
        ("os.path.deeper:x", "cannot be imported: No module named"),
    ],
)
def test_nothing_of_another_kind_is_called(name, complaint):
    with pytest.raises(InputError, match=complaint):
        registry().find(name)


@pytest.mark.parametrize(
    ("code", "error", "complaint"),
    [
        ("import no_such_dependency", ResourceError, "it needs no_such_dependency"),
        ("raise RuntimeError('broken')", InputError, "RuntimeError: broken"),
        ("def (", InputError, "SyntaxError"),
        ("raise SystemExit(0)", InputError, "SystemExit"),
    ],
)
def test_modules_that_cannot_be_imported(site, code, error, complaint):
    (site / "broken_animal.py").write_text(code)
    with pytest.raises(error, match=complaint):
        registry().find("broken_animal:Dog")


def test_options_are_compared_with_parameters():
    def factory(*, size: int, colour: str = "red") -> None: ...

    check_options("the animal 'dog'", factory, {"size": 1})
    with pytest.raises(InputError, match="'dog' has no option 'name'; it has size, colour"):
        check_options("the animal 'dog'", factory, {"name": "Rex"})
    with pytest.raises(InputError, match="it has none"):
        check_options("the animal 'dog'", lambda: None, {"name": "Rex"})
    check_options("the animal 'dog'", lambda **options: None, {"name": "Rex"})
