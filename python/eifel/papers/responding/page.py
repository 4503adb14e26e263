"""Writes docs/calibration.md: `python -m eifel.papers.responding.page > docs/calibration.md`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from eifel.papers.responding import distances, swept, tried
from eifel.papers.responding.calibration import NAMES, WITHIN, judged, results

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _line(cells: Sequence[Any]) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def report(columns: Mapping[str, NDArray[Any]], others: Sequence[str]) -> str:
    """Returns the page as Markdown."""
    lines = [HEAD, "## The settings that were judged", ""]
    axes = list(tried.AXES)
    lines += [_line(["setting", *axes]), "|---|" + "---|" * len(axes)]
    all_judged = judged(columns)
    for name, setting in zip(NAMES, all_judged, strict=False):
        lines.append(_line([name, *(setting[0].values[axis] for axis in axes)]))
    titles = ["setting", "seed", "rows", *(f"{title} within" for title in WITHIN.values())]
    lines += ["", _line(titles), "|---|" + "---:|" * (len(titles) - 1)]
    for name, setting in zip(NAMES, all_judged, strict=False):
        for one in setting:
            for rows, of in ((distances.IN_FIT, "tables 1 and 2"), (~distances.IN_FIT, "tables 3 and 4")):
                counts = one.within[rows].sum(axis=0)
                lines.append(_line([name, one.seed, of, *(f"{count} of {rows.sum()}" for count in counts)]))
    lines += ["", "## Sent again, row by row", "", SENT_AGAIN, ""]
    names = NAMES[: len(all_judged)]
    lines += [_line(["row", "printed", *names]), "|---|" + "---:|" * (1 + len(names))]
    for number, (table, row) in enumerate(distances.ROWS):
        here = [np.mean([one.means[number, 1] for one in setting[1:]]) for setting in all_judged]
        printed = row.published["retransmissions"]
        lines.append(_line([f"{table}: {row.name}", f"{printed:.0f}", *(f"{value:.0f}" for value in here)]))
    lines += ["", "## The front", "", FRONT, "", *front_table(columns), "", *others, ""]
    return "\n".join(lines)


def front_table(columns: Mapping[str, NDArray[Any]]) -> list[str]:
    """Returns the Pareto front on all rows, as the lines of a table."""
    found = [one for one in results(columns) if one.stage in ("screen", "steps")]
    points = np.array([one.distances() for one in found])
    kept = [number for number, point in enumerate(points) if not _bettered(points, point)]
    titles = ["time", "sent again", "timeouts", *tried.AXES]
    lines = [_line(titles), "|---:|---:|---:|" + "---|" * len(tried.AXES)]
    for number in sorted(kept, key=lambda number: points[number, 0]):
        lines.append(_line([*(f"{value:.2f}" for value in points[number]), *found[number].values.values()]))
    return lines


def _bettered(points: NDArray[np.float64], point: NDArray[np.float64]) -> bool:
    return bool(((points <= point).all(axis=1) & (points < point).any(axis=1)).any())


HEAD = f"""\
# What the tables of "Responding to Spurious Timeouts in TCP" leave open, swept

No setting meets all four tables. `eifel reproduce responding.calibration responding.front` runs the sweep, and
`python -m eifel.papers.responding.page > docs/calibration.md` writes this page.

- **Swept:** whether a spike holds data before or behind the queue, and whether it holds ACKs; the one-way delay, and
  the share of the access delay on the sender's side; the queue; the payload; the first spike; the CBR's packets; the
  delay of ACKs; the end of a back-off; the source of loss recovery's rules.
- **Runs:** {tried.SAMPLE} settings drawn from all combinations, and the tables' own, were run {tried.SCREEN} times a
  row. Then {tried.STEPS} settings followed that differ from the front by one value. The best {tried.FINALISTS} were run
  {tried.AGAIN} times more. The tables' setting and the best two others were run {tried.FULL} times with each of
  {1 + tried.JUDGES} seeds.
- **Fitted to** tables 1 and 2 with the seed 1. **Judged by** tables 3 and 4, and by other seeds.
- **Within:** 10 % of the time; 15 % of the segments sent again (the printed segments beyond 5000); 15 % or 0.3 of the
  timeouts.
"""
SENT_AGAIN = "Means over the seeds that were not used for the fit."
FRONT = """\
![How near the times and the segments sent again come together](front.svg)

The picture is `responding.front`'s. Across: a bound for the mean distance in time. Up: the least mean distance in
segments sent again within that bound. A distance is |log (here / print)|, over all rows. The dotted lines are 10 % and
15 %. No setting is near their corner. Where the times are near, the segments sent again are off by a factor of 1.8.
They come nearest with ns-2's rules, the whole access delay on the sender's side and larger CBR packets; then the times
are off. With a spike that holds packets before the queue, both are further off.

The settings below form the front: no other is nearer in one distance without being further off in another. Timeouts:
mean distance in tolerances, at most 5."""


if __name__ == "__main__":
    from eifel.papers.responding import variants

    sys.stdout.write(report(swept.stored(), variants.report()))
