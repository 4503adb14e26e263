"""Common parts of figures 2 to 4 and 7 to 9: one run over the paper's own spike, from 28 to 40 s."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from eifel.papers.artefact import Artefact, Claim, Column, Recorded, Row, Setting
from eifel.papers.dualrtt import figure as dualrtt
from eifel.papers.measured import Measured
from eifel.papers.spikes import settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from eifel.result import Result
    from eifel.tables import Frame

COLUMNS = (
    *dualrtt.COLUMNS,
    Column("drops", "Drops", digits=0),
    Column("segments", "Segments delivered", summary="bytes", scale=1 / settings.PAYLOAD_BYTES, digits=0),
)
LOSSLESS_S = 55
LOSSY_KBPS = 50
LOSSY = Setting(
    "rate of figures 7 to 9",
    f"{LOSSY_KBPS} kbit/s",
    "not stated; in steps of 0.5 kbit/s from 46.8 the first with a fast retransmit at 47.8 s",
    rows=("all rows of figure 8, by the instant of the fast retransmit",),
)


def figure(
    number: int,
    title: str,
    runs: Mapping[str, Mapping[str, Any]],
    *claims: Claim,
    known: tuple[str, ...] = (),
) -> Artefact:
    """Returns a figure that draws the first run. A claim may compare it with the others."""
    lossy = number > 4
    return Artefact(
        id=f"spikes.figure{number}",
        title=title,
        source=f"{settings.SOURCE}, figure {number}",
        columns=COLUMNS,
        rows=tuple(Row({"run": run}, made) for run, made in runs.items()),
        seed=settings.SEED,
        claims=claims,
        known=known,
        fitted=(*settings.CHOSEN[1:], *((LOSSY,) if lossy else ())),
        method=Recorded(_draw, chart=False),
    )


def _draw(measured: Measured) -> Figure:
    from eifel.plots import paths_figure, time_sequence_figure

    result = measured.results[0]
    draw = paths_figure if "path" in result.tables["transmissions"].column_names else time_sequence_figure
    return draw(result, title=measured.artefact.title)


def lossless(sender: str, bugfix: bool | None = None) -> dict[str, Any]:
    """Returns a session of section II.B-D: 46.8 kbit/s, small window."""
    made = settings.scenario(sender, 46.8, "small", "spike", spike=settings.one_spike(), duration_s=LOSSLESS_S)
    if bugfix is not None:
        recover = made["flow"][0]["sender"]["recover"]
        made["flow"][0]["sender"]["recover"] = {**recover, "bugfix": bugfix}
    return made


def lossy(sender: str, case: str = "spike+loss") -> dict[str, Any]:
    """Returns a session of section III.A: large window, queue of 50 packets."""
    return settings.scenario(sender, LOSSY_KBPS, "large", case, spike=settings.one_spike())


def again(result: Result, **wanted: str) -> Frame:
    """Returns the retransmissions in order of time."""
    return result.of("transmissions").where(kind="retransmission", **wanted)


def lost_come_again_by_timeout(result: Result) -> bool:
    """Returns whether segments are lost, and go-back-N retransmits each of them."""
    lost = {*result.of("transmissions").where(fate="dropped")["segment"].tolist()}
    return bool(lost) and lost <= {*again(result, cause="timeout")["segment"].tolist()}


def held(result: Result) -> int:
    """Returns the number of packets sent during the spike, which its end releases."""
    sent = result.of("transmissions")["t_ns"] / 1e9
    start = settings.SPIKE_S
    return int(((sent >= start) & (sent < start + settings.SPIKE_LENGTH_S)).sum())


def costs_little(measured: Measured) -> bool:
    """Returns whether the losses cost at most a tenth of the delivery without them."""
    return measured.mean("segments", run="drawn") >= 0.9 * measured.mean("segments", run="no losses")


def stall_s(result: Result) -> tuple[float, float]:
    """Returns the longest time without a packet after the spike: its begin and its end, in seconds."""
    sent = result.of("transmissions")["t_ns"] / 1e9
    sent = sent[sent >= settings.SPIKE_S + settings.SPIKE_LENGTH_S]
    longest = int((sent[1:] - sent[:-1]).argmax())
    return float(sent[longest]), float(sent[longest + 1])
