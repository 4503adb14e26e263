"""Table I: the senders ranked by delivery in eight cases. Neighbours are compared on equal spikes."""

from eifel.papers import published
from eifel.papers.artefact import Artefact, Claim, Column, Measured, Row, Studied
from eifel.papers.spikes import ranking, settings
from eifel.papers.study import Study
from eifel.studies.settings import LINUX


def verdict(measured: Measured, cell: tuple[str, ...]) -> str:
    """Returns whether the measured leads confirm the printed order of a cell, are tied, or contradict it."""
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
    text = (
        f"{case}, {band} bandwidth, {window} window: {', '.join(ranking.PRINTED[cell])}"
        f" (each lead's interval over {settings.REPETITIONS} spikes above zero)"
    )
    return Claim(text, lambda measured: verdict(measured, cell) == "confirmed")


def _own(cell: tuple[str, ...]) -> Claim:
    case, band, window = cell
    order = ranking.PRINTED[cell]
    keys = {"case": case, "bandwidth": band, "window": window}
    text = f"{case}, {band} bandwidth, {window} window, with the paper's spike {settings.OWN}: {', '.join(order)}"
    return Claim(
        text, lambda m: [m.mean("own_rank", sender=sender, **keys) for sender in order] == [*range(1, len(order) + 1)]
    )


def _against_best(measured: Measured, sender: str, case: str) -> float:
    """Returns a sender's smallest lead over the best of the paper's three, in percentage points."""
    cells = [
        dict(zip(("case", "bandwidth", "window"), cell, strict=True)) for cell in ranking.PRINTED if cell[0] == case
    ]
    return min(
        measured.mean("share", sender=sender, **cell)
        - max(measured.mean("share", sender=paper, **cell) for paper in settings.PAPERS)
        for cell in cells
    )


def _today(sender: str, title: str) -> tuple[Claim, Claim]:
    return (
        Claim(
            f"today {title} delivers more than the paper's three in each cell with losses",
            lambda m: _against_best(m, sender, "spike+loss") > 0,
        ),
        Claim(
            f"{title} is within 2 % of the best of the paper's three in each cell without",
            lambda m: _against_best(m, sender, "spike") > -2,
        ),
    )


def _least_gain(measured: Measured, sender: str, without: str) -> float:
    """Returns the smallest gain of a sender over the same one without detection, in percentage points."""
    cells = [dict(zip(("case", "bandwidth", "window"), cell, strict=True)) for cell in ranking.PRINTED]
    return min(
        measured.mean("share", sender=sender, **cell) - measured.mean("share", sender=without, **cell) for cell in cells
    )


ARTEFACT = Artefact(
    id="spikes.table1",
    title=published.caption("spikes", "table1"),
    source=f"{settings.SOURCE}, table I",
    columns=(
        Column("share", "Delivered, % of the best of the paper's three", digits=1),
        Column("rank", "Rank among the paper's three", digits=0, absolute=0),
        Column("lead", "Lead over the next in the paper's order, points", digits=2),
        Column("own_share", f"Delivered with the paper's spike {settings.OWN}, % of the best", digits=1),
        Column("own_rank", "Rank with it", digits=0, absolute=0),
    ),
    rows=tuple(
        Row(
            {"case": cell[0], "bandwidth": cell[1], "window": cell[2], "sender": sender},
            published=dict.fromkeys(("rank", "own_rank"), float(order.index(sender) + 1)) if sender in order else {},
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
        *map(_own, ranking.PRINTED),
        *_today(settings.LATER_TIMER, "Linux's sender, if its timer begins with 3 s,"),
        Claim(
            "Linux's undo costs its sender no more than 1 % in any cell",
            lambda m: _least_gain(m, LINUX, settings.NOT_UNDONE) > -1,
        ),
        *_today("rfc6675+eifel", "TCP with RFC 6675 and Eifel"),
        *_today("rack+eifel", "TCP with RACK and Eifel"),
        Claim(
            "Eifel costs SCTP no more than 1 % in any cell",
            lambda m: _least_gain(m, "sctp+eifel", "sctp, RFC 9260") > -1,
        ),
    ),
    fitted=settings.LEFT_OPEN,
)
