"""The sweep over what the paper leaves open: with which one setting most values of tables 1-4 come out.

`python -m eifel.papers.responding.calibration > docs/calibration.md` runs it and writes the rankings, and what else was
tried. It is no artefact: it is where `settings.FIT` comes from.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from functools import partial

from eifel.papers.responding import nearness, settings
from eifel.papers.responding.nearness import Nearness

REPETITIONS = 20
AGAIN = 12
"""So many of the best settings are run again, with as many repetitions as the tables."""

Found = Sequence[tuple[settings.Open, Nearness]]


def _product(
    delays: Sequence[float], shares: Sequence[float], firsts: Sequence[float], sizes: Sequence[int]
) -> list[settings.Open]:
    values = itertools.product(delays, shares, (988, 1000), firsts, sizes)
    return [settings.Open(*one, cbr_jitter=0.5, ack_delay_ms=100) for one in values]


GRID = tuple(
    dict.fromkeys(
        _product((190, 200), (0, 0.5, 1), (5, 7), (64, 210, 1000))
        + _product((185, 190, 195), (0.75, 1), (4.5, 5, 6, 7), (64,))
        + _product((190,), (0.75, 1), (5, 6), (80,))
    )
)
"""Coarse over everything, and finer where the coarse grid came near."""


def sweep(grid: Sequence[settings.Open], repetitions: int) -> Found:
    """Runs a grid, and tells on standard error how far it has come."""
    found = []
    for number, values in enumerate(grid, 1):
        found.append((values, nearness.of(partial(nearness.put, values=values), repetitions)))
        print(f"\r{number}/{len(grid)} settings", end="", file=sys.stderr)
    print(file=sys.stderr)
    return found


def ranked(found: Found) -> Found:
    """The most values within first, and the nearest among equals."""
    return sorted(found, key=lambda one: (-one[1].values_within, one[1].distance))


def ranking(found: Found) -> list[str]:
    """A ranking as the lines of a table in Markdown."""
    titles = ["delay, ms", "of the rest at the sender", "payload, bytes", "first spike, s", "CBR, bytes", "distance"]
    titles += [f"{column.title} within" for column in settings.COLUMNS] + ["in all"]
    lines = ["| " + " | ".join(titles) + " |", "|" + "---:|" * len(titles)]
    for values, near in found:
        asked = (values.one_way_delay_ms, values.sender_share, values.payload_bytes, values.first_spike_s)
        cells = [f"{value:g}" for value in (*asked, values.cbr_packet_bytes)] + [f"{near.distance:.3f}"]
        cells += [str(count) for count in (*near.within.values(), near.values_within)]
        mark = "**" if values == settings.FIT else ""
        lines.append("| " + " | ".join(f"{mark}{cell}{mark}" for cell in cells) + " |")
    return lines


def report(coarse: Found, again: Found, tried: Sequence[str]) -> str:
    """The page as Markdown."""
    return "\n".join(
        [
            '# What the tables of "Responding to Spurious Timeouts in TCP" leave open, swept',
            "",
            f"Each setting runs all {len(nearness.rows())} rows of tables 1-4. Distance: the mean of |log(measured",
            "time / printed time)| over the rows; the last columns count the values within the tolerance: 10 % of the",
            "time, 1 % of the segments, 15 % or 0.3 of the timeouts. The delay is one-way and in all; what the",
            "bottleneck's 150 ms leave of it lies on the sender's side or the receiver's. The tables use the setting",
            f"in bold: of the {AGAIN} with the most values within, run again with {settings.REPETITIONS} repetitions,",
            "the one with the most. The CBR's intervals are drawn within half of their mean; without jitter single",
            "timeouts hang on the phase of the two flows: they come always or never,",
            "where the paper's counts lie between. ACKs wait 100 ms. Written by",
            "`python -m eifel.papers.responding.calibration > docs/calibration.md`.",
            "",
            f"## The best {AGAIN}, with {settings.REPETITIONS} repetitions",
            "",
            *ranking(again),
            "",
            *tried,
            "",
            f"## All {len(coarse)}, with {REPETITIONS} repetitions",
            "",
            *ranking(coarse),
            "",
        ]
    )


if __name__ == "__main__":
    from eifel.papers.responding import variants

    coarse = ranked(sweep(GRID, REPETITIONS))
    again = ranked(sweep([values for values, _ in coarse[:AGAIN]], settings.REPETITIONS))
    sys.stdout.write(report(coarse, again, variants.report()))
