"""What holds of an algorithm, whichever training it gets, and not of these classifiers only."""
