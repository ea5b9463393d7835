"""Masked inference: words that a model has to find in the place of a mask."""
