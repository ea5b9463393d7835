"""Reading and checking datasets; the built-in demonstration corpus."""
