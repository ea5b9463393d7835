"""The Transformation protocol and every transformation (phi).

The package can be called: ``ie.transform(table, "syn.careful")`` rephrases the texts of a table;
see :class:`TransformRoom`. The names below are loaded when they are first used.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ietest_fast.lazy import lazy_names
from ietest_fast.transform.files import TransformRoom

if TYPE_CHECKING:
    from ietest_fast.transform.base import BaseTransformation as BaseTransformation
    from ietest_fast.transform.base import Identity as Identity
    from ietest_fast.transform.base import RowError as RowError
    from ietest_fast.transform.base import Transformation as Transformation
    from ietest_fast.transform.base import Transformed as Transformed
    from ietest_fast.transform.edits import COMPANION_RULES as COMPANION_RULES
    from ietest_fast.transform.edits import EDIT_SCHEMA as EDIT_SCHEMA
    from ietest_fast.transform.edits import STEP_SCHEMA as STEP_SCHEMA
    from ietest_fast.transform.edits import apply_edits as apply_edits
    from ietest_fast.transform.edits import undo as undo
    from ietest_fast.transform.files import FileSummary as FileSummary
    from ietest_fast.transform.files import TextFile as TextFile
    from ietest_fast.transform.files import transform_file as transform_file
    from ietest_fast.transform.phi import TRANSFORMATIONS as TRANSFORMATIONS
    from ietest_fast.transform.phi import InputFile as InputFile
    from ietest_fast.transform.phi import Material as Material
    from ietest_fast.transform.phi import PhiChoice as PhiChoice
    from ietest_fast.transform.phi import PhiOptions as PhiOptions
    from ietest_fast.transform.phi import PlannedTransformation as PlannedTransformation
    from ietest_fast.transform.phi import TransformationKind as TransformationKind
    from ietest_fast.transform.phi import choose_phi as choose_phi
    from ietest_fast.transform.phi import parse_phi as parse_phi
    from ietest_fast.transform.phi import plan as plan
    from ietest_fast.transform.rewordings import Composition as Composition
    from ietest_fast.transform.synonyms import SynonymSubstitution as SynonymSubstitution
    from ietest_fast.transform.synonyms import WordChoice as WordChoice
    from ietest_fast.transform.synonyms import (
        build_synonym_substitution as build_synonym_substitution,
    )
    from ietest_fast.transform.words import TaggedSubstitution as TaggedSubstitution
    from ietest_fast.transform.words import WordSubstitution as WordSubstitution

__all__ = [
    "COMPANION_RULES",
    "EDIT_SCHEMA",
    "STEP_SCHEMA",
    "TRANSFORMATIONS",
    "BaseTransformation",
    "Composition",
    "FileSummary",
    "Identity",
    "InputFile",
    "Material",
    "PhiChoice",
    "PhiOptions",
    "PlannedTransformation",
    "RowError",
    "SynonymSubstitution",
    "TaggedSubstitution",
    "TextFile",
    "Transformation",
    "TransformationKind",
    "Transformed",
    "WordSubstitution",
    "apply_edits",
    "build_synonym_substitution",
    "choose_phi",
    "parse_phi",
    "plan",
    "transform_file",
    "undo",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "BaseTransformation": "base",
        "COMPANION_RULES": "edits",
        "Composition": "rewordings",
        "EDIT_SCHEMA": "edits",
        "FileSummary": "files",
        "Identity": "base",
        "InputFile": "phi",
        "Material": "phi",
        "PhiChoice": "phi",
        "PhiOptions": "phi",
        "PlannedTransformation": "phi",
        "RowError": "base",
        "STEP_SCHEMA": "edits",
        "SynonymSubstitution": "synonyms",
        "TaggedSubstitution": "words",
        "WordChoice": "synonyms",
        "TRANSFORMATIONS": "phi",
        "TextFile": "files",
        "Transformation": "base",
        "TransformationKind": "phi",
        "Transformed": "base",
        "WordSubstitution": "words",
        "apply_edits": "edits",
        "build_synonym_substitution": "synonyms",
        "choose_phi": "phi",
        "parse_phi": "phi",
        "plan": "phi",
        "transform_file": "files",
        "undo": "edits",
    },
)

# So that `ie.transform(...)` works in whatever order the two are imported.
sys.modules[__name__].__class__ = TransformRoom
