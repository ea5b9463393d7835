"""Transformations of syntax: sentences with their trees, read and written again."""
