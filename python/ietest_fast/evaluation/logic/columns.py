"""The columns of answers to the suite logic."""

COLUMNS = ("instance", "part", "expected", "unit")
"""What the table has beside the columns of predictions and the texts."""

ANTECEDENT, CONSEQUENT, CONTROL = "antecedent", "consequent", "control"
"""What a row is, in the column ``part``; rows of labelled pairs have no value there."""
