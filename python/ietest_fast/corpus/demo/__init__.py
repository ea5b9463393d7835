"""A generated corpus of sentence pairs, for trying things out and for tests."""
