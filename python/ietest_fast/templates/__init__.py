"""Corpora whose labels are true by proof: formulas, a solver, and their wording."""
