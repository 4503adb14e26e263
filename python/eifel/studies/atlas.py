"""A map of paths: the best detector, response and recovery for each, and their gain.

The grid has rates, round trips, queues, windows, spikes and loss. It contains the eight cases of
table I of "spikes" (TCP Reno, Eifel and SCTP over one spike). The report shows it as an interactive
map.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

from eifel.papers.artefact import Artefact, Claim, Column, Row, Studied
from eifel.papers.measured import Measured
from eifel.papers.study import Effort, Study
from eifel.statistics import Mean, mean_interval
from eifel.studies import map_settings as settings

if TYPE_CHECKING:
    from eifel.runs import Runs

TITLE = "detectors.atlas"


def find(effort: Effort) -> Mapping[str, Any]:
    """Returns the goodput of each run, by the number of its cell in the sweep."""
    table = effort.sweep(settings.design(TITLE)).select(["cell", "repetition", "goodput_bps"])
    return {name: table[name].to_numpy() for name in table.column_names}


def measure(artefact: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    """Returns each place's goodput by sender."""
    places, times = len(artefact.rows), int(runs["repetition"].max()) + 1
    # In the sweep, senders vary slowest and repetitions fastest.
    goodput = runs["goodput_bps"].reshape(len(settings.SENDERS), places, times) / 1000
    return [
        {name: mean_interval(goodput[code, place]) for code, name in enumerate(settings.SENDERS)}
        for place in range(places)
    ]


def show(measured: Measured) -> str:
    """Returns the map for the report."""
    from eifel.report.atlas import Cases, atlas

    cases = Cases('A case of "spikes", table I:', settings.POINTS, settings.START, ("rate_bps", "spike_s"))
    return atlas(measured, settings.AXES, settings.FAMILIES, cases)


def _better(measured: Measured, point: settings.Point, more: str, less: str) -> bool:
    means = measured.row(**point.place).means
    return means[more].mean > means[less].mean


def _lossy(point: settings.Point) -> Claim:
    return Claim(f"{point.name}: Reno is before Eifel", lambda m: _better(m, point, "Reno", "Eifel, Reno"))


ROWS = tuple(
    Row(dict(zip((axis.name for axis in settings.AXES), values, strict=True)))
    for values in product(*(axis.values for axis in settings.AXES))
)

ARTEFACT = Artefact(
    id=TITLE,
    title="Which sender for which path",
    source='eifel, docs/detectors.md; the cases of "spikes", table I, among its points',
    columns=tuple(Column(name, f"{name}, kbit/s", digits=1) for name in settings.SENDERS),
    rows=ROWS,
    method=Studied(Study(find, settings.design(TITLE), (find,)), measure=measure, repetitions=3, long=True, show=show),
    claims=(
        Claim(
            "spikes, table I: where nothing is lost, Eifel is before Reno in all four cases",
            lambda m: all(_better(m, point, "Eifel, Reno", "Reno") for point in settings.POINTS if not point.lossy),
        ),
        *(_lossy(point) for point in settings.POINTS if point.lossy),
        Claim(
            "with SACK, Eifel is no more than 3 % behind in any of the eight",
            lambda m: all(
                m.mean("Eifel, SACK", **point.place) > 0.97 * m.mean("SACK", **point.place) for point in settings.POINTS
            ),
        ),
    ),
    fitted=settings.CHOSEN,
)
