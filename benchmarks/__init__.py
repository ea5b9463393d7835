"""Each hot path beside its peers, in one run: ``pytest benchmarks --benchmark-only``."""
