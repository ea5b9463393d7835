"""Samples of transformed texts, read by people: whether the new text is still equivalent."""

from __future__ import annotations
