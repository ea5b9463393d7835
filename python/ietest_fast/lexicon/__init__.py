"""WordNet, tagging and corpus frequencies, made into synonym tables."""
