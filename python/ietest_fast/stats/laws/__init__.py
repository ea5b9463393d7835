"""Distributions of what tests count and sum: exact where they can be, else approximated."""
