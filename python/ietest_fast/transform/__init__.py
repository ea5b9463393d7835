"""The Transformation protocol and every transformation (phi).

The names below are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.lazy import lazy_names

if TYPE_CHECKING:
    from ietest_fast.transform.base import EDIT_SCHEMA as EDIT_SCHEMA
    from ietest_fast.transform.base import Identity as Identity
    from ietest_fast.transform.base import Transformation as Transformation
    from ietest_fast.transform.base import Transformed as Transformed
    from ietest_fast.transform.base import apply_edits as apply_edits
    from ietest_fast.transform.base import undo as undo
    from ietest_fast.transform.files import FileSummary as FileSummary
    from ietest_fast.transform.files import transform_file as transform_file
    from ietest_fast.transform.synonyms import SynonymSubstitution as SynonymSubstitution
    from ietest_fast.transform.synonyms import (
        build_synonym_substitution as build_synonym_substitution,
    )
    from ietest_fast.transform.words import WordSubstitution as WordSubstitution

__all__ = [
    "EDIT_SCHEMA",
    "FileSummary",
    "Identity",
    "SynonymSubstitution",
    "Transformation",
    "Transformed",
    "WordSubstitution",
    "apply_edits",
    "build_synonym_substitution",
    "transform_file",
    "undo",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "EDIT_SCHEMA": "base",
        "FileSummary": "files",
        "Identity": "base",
        "SynonymSubstitution": "synonyms",
        "Transformation": "base",
        "Transformed": "base",
        "WordSubstitution": "words",
        "apply_edits": "base",
        "build_synonym_substitution": "synonyms",
        "transform_file": "files",
        "undo": "base",
    },
)
