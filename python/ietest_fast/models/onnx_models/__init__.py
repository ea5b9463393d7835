"""Finished models as ONNX files: read, run, written."""
