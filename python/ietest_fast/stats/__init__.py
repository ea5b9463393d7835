"""Matched samples, paired tests and how their p-values are combined."""
