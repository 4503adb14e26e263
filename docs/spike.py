"""Draws the README's picture: one spike without Eifel and with it, from the runs of figures 1 (a) and 2."""

from pathlib import Path

import eifel
from eifel.papers import select
from eifel.plots import save, time_sequence
from eifel.plots.style import finish, new_figure

RUNS = {"responding.figure1a": "Reno-SACK", "responding.figure2": "Reno-SACK with Eifel"}


def main() -> None:
    """Writes spike.svg beside this file."""
    figure, axes = new_figure(2, (7.6, 6.4))
    for place, artefact, title in zip(axes, select(RUNS), RUNS.values(), strict=True):
        time_sequence.draw(place, eifel.run(artefact.rows[0].scenario))
        place.set_title(title, fontsize="medium", loc="left")
    limits = [place.get_xlim() for place in axes]
    for place in axes:
        place.set_xlim(0, max(high for _, high in limits))
    save(finish(figure, axes, ""), Path(__file__).with_suffix(".svg"), "svg")


if __name__ == "__main__":
    main()
