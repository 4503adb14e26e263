"""Table I: the senders ranked by what they deliver, in eight cases; each neighbour compared on the same spikes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eifel.papers import published
from eifel.papers.artefact import Artefact, Claim, Column, Row, Studied
from eifel.papers.measured import Measured
from eifel.papers.spikes import ranking, settings
from eifel.papers.study import Study

if TYPE_CHECKING:
    pass


def verdict(measured: Measured, cell: tuple[str, ...]) -> str:
    """Whether the measured leads confirm the printed order of a cell, tie, or contradict it."""
    case, band, window = cell
    leads = [
        measured.row(case=case, bandwidth=band, window=window, sender=sender).means["lead"].interval
        for sender in ranking.PRINTED[cell][:-1]
    ]
    if any(lead is not None and lead[1] < 0 for lead in leads):
        return "contradicted"
    return "confirmed" if all(lead is not None and lead[0] > 0 for lead in leads) else "tied"


def _claim(cell: tuple[str, ...]) -> Claim:
    case, band, window = cell
    text = f"{case}, {band} bandwidth, {window} window: {', '.join(ranking.PRINTED[cell])}"
    return Claim(text, lambda measured: verdict(measured, cell) == "confirmed")


def _today(measured: Measured, sender: str) -> bool:
    cells = [dict(zip(("case", "bandwidth", "window"), cell, strict=True)) for cell in ranking.PRINTED]
    return all(
        measured.mean("share", sender=sender, **cell) >= measured.mean("share", sender=paper, **cell)
        for cell in cells
        for paper in settings.PAPERS
    )


ARTEFACT = Artefact(
    id="spikes.table1",
    title=published.caption("spikes", "table1"),
    source=f"{settings.SOURCE}, table I",
    columns=(
        Column("share", "Delivered, % of the best of the paper's three", digits=1),
        Column("rank", "Rank among the paper's three", digits=0, absolute=0),
        Column("lead", "Lead over the next in the paper's order, points", digits=2),
    ),
    rows=tuple(
        Row(
            {"case": cell[0], "bandwidth": cell[1], "window": cell[2], "sender": sender},
            published={"rank": float(order.index(sender) + 1)} if sender in order else {},
        )
        for cell, order in ranking.PRINTED.items()
        for sender in settings.SENDERS
    ),
    seed=settings.SEED,
    method=Studied(
        Study(
            ranking.find,
            {"senders": dict(settings.SENDERS), "grid": [list(cell) for cell in ranking.GRID]},
            (ranking, settings),
        ),
        measure=ranking.measure,
        repetitions=settings.REPETITIONS,
        long=True,
    ),
    claims=(
        *map(_claim, ranking.PRINTED),
        Claim(
            "today RFC 6675 with Eifel is at least as good as the paper's three in every cell",
            lambda m: _today(m, "rfc6675+eifel"),
        ),
        Claim(
            "so is RACK with Eifel",
            lambda m: _today(m, "rack+eifel"),
        ),
    ),
    fitted=settings.CHOSEN,
    known=(
        "A cell is confirmed where each lead's interval lies above zero, tied where one spans it, contradicted where "
        "one lies below.",
    ),
)
