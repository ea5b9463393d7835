"""Paraphrastic consistency: wordings of items, answered, and measured."""
