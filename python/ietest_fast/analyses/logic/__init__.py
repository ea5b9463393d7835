"""The logic of a classifier's answers: properties of its relation, and rules of inference."""

from __future__ import annotations
