"""The Classifier protocol and every model."""
