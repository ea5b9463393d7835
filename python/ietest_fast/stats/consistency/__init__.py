"""Paraphrastic consistency (Srikanth et al. 2024): estimates, intervals, comparisons."""
