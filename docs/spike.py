"""Draws the README's picture: one spike without and with Eifel, from the runs of figures 1 (a) and 2."""

from pathlib import Path

import eifel
from eifel.papers import select
from eifel.plots import save, side_by_side

RUNS = {"responding.figure1a": "Reno-SACK", "responding.figure2": "Reno-SACK with Eifel"}


def main() -> None:
    """Writes spike.svg beside this file."""
    chosen = zip(select(RUNS), RUNS.values(), strict=True)
    runs = {name: eifel.run(artefact.rows[0].scenario) for artefact, name in chosen}
    save(side_by_side.figure(runs), Path(__file__).with_suffix(".svg"), "svg")


if __name__ == "__main__":
    main()
