"""Lets ``python -m ietest_fast`` be the command ``ietest-fast``."""

from ietest_fast.cli import start

if __name__ == "__main__":
    start()
