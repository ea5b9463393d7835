"""Stress tests: suites of transformations, answered and profiled."""
