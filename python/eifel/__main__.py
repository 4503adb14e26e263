"""Runs the command line for `python -m eifel`."""

from eifel.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
