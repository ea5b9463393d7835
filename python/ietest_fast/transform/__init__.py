"""The Transformation protocol and every transformation (phi)."""
