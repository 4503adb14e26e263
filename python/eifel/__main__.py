"""`python -m eifel` is the command line."""

from eifel.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
