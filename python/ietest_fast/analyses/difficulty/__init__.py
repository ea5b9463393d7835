"""Difficulty: which items adversarial filtering finds easy."""
