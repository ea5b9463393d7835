"""Configuration, resampling, search, the run and its store."""
