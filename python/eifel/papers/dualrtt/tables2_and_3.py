"""Tables II and III: the sender's estimates in figure 2's run over time, as a table and as a picture.

The printed times are whole ticks, rounded down, and at least one. The MinRTT of 2.8 s is the
handshake's, without payload.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.papers import published
from eifel.papers.artefact import Artefact, Claim, Column, Measured, Studied
from eifel.papers.dualrtt import figure, nrtt, settings
from eifel.papers.responding import facts
from eifel.papers.study import Effort, Study
from eifel.plots import Figure, style
from eifel.result import Result
from eifel.runs import Runs, run
from eifel.statistics import Mean

SLACK_S = 0.01
"""An event counts for a time if it comes within these seconds after it."""
_ROWS = published.rows("dualrtt", "table2", lambda _keys: {})
_INSTANTS = [float(row.keys["t_s"]) for row in _ROWS]
PUBLISHED = {43.004: 0.1, 43.102: 0.1, 43.791: 0.2, 43.890: 0.3, 43.988: 0.3, 44.481: 0.4, 44.579: 0.4}
"""NRTT by the time of the ACK, both in seconds."""
COLUMNS = (
    Column("rto", "RTO, s", digits=1, absolute=settings.TOLERANCE_S),
    Column("rtt", "RTT, s", digits=1, absolute=settings.TOLERANCE_S),
    Column("nrtt", "NRTT, s", digits=1, absolute=settings.TICK_MS / 2000),
    Column("min_rtt", "MinRTT, s", digits=1, absolute=settings.TICK_MS / 2000),
)


def _at(result: Result, t_s: float) -> dict[str, float]:
    """Returns the estimates at a time. NRTT is that of the last ACK if its segment was retransmitted, else RTT."""
    until_ns = (t_s + SLACK_S) * 1e9
    timer, samples = result.of("timer", facts.FLOW), nrtt.samples(result)
    instants, values = nrtt.series(result)
    acks, again = result.of("acks", facts.FLOW), result.of("transmissions", facts.FLOW).where(kind="retransmission")
    acknowledged = acks["cumulative"][acks["t_ns"] <= until_ns].max()
    rtt_s = float(samples["rtt_ns"][samples["t_ns"] <= until_ns][-1]) / 1e9
    retransmitted = acknowledged in (again["start"] + again["len"])[again["t_ns"] < until_ns]
    return {
        "rto": float(timer["rto_ns"][timer["t_ns"] <= until_ns][-1]) / 1e9,
        "rtt": nrtt.in_ticks(rtt_s),
        "nrtt": nrtt.in_ticks(float(values[instants <= t_s + SLACK_S][-1]) if retransmitted else rtt_s),
        "min_rtt": nrtt.in_ticks(nrtt.minimum_before(result, t_s + SLACK_S)),
    }


def _find(effort: Effort) -> Mapping[str, NDArray[Any]]:
    result = run({**settings.spike(), "seed": effort.seed}, record=("timer", "acks", "transmissions"))
    rows = [_at(result, instant) for instant in _INSTANTS]
    return {column.name: np.array([row[column.name] for row in rows]) for column in COLUMNS}


def _measure(_artefact: Artefact, found: Runs) -> list[dict[str, Mean]]:
    return [{c.name: Mean(float(found[c.name][number]), None, 1) for c in COLUMNS} for number in range(len(_ROWS))]


def _column(m: Measured, name: str, first_s: float, last_s: float) -> list[float]:
    return [row.means[name].mean for row in m.rows if first_s <= float(row.row.keys["t_s"]) <= last_s]


def _is(instant: float, printed: float, measured: Measured) -> bool:
    return nrtt.in_ticks(nrtt.at(measured.result(), instant)) == printed


def _draw(measured: Measured) -> Figure:
    result = measured.result()
    drawn, axes = style.new_figure(1, (6.4, 3.6))
    instants, values = nrtt.series(result)
    style.shade(axes[0], result, 0)
    axes[0].plot(instants, values, ".", markersize=3, color=style.SENT, label="NRTT")
    timer = result.of("timer", 0)
    axes[0].step(timer["t_ns"] / 1e9, timer["rto_ns"] / 1e9, where="post", color=style.NEEDED, label="RTO")
    minimum = nrtt.minimum_before(result, settings.SPIKE_S[1])
    axes[0].axhline(minimum, color=style.LIMIT, linewidth=0.9, label="MinRTT")
    axes[0].axhline(minimum / 10, color=style.LIMIT, linewidth=0.9, linestyle=":", label="0.1 MinRTT")
    axes[0].set_yscale("log")
    axes[0].set_ylabel("RTO and NRTT, s")
    return style.finish(drawn, axes, measured.artefact.title)


TABLE_2 = Artefact(
    id="dualrtt.table2",
    title=published.caption("dualrtt", "table2"),
    source=f"{settings.SOURCE}, tables II and III",
    columns=COLUMNS,
    rows=_ROWS,
    method=Studied(Study(_find, settings.spike(), (_find, _at, nrtt)), measure=_measure),
    fitted=settings.LEFT_OPEN,
    claims=(
        Claim(
            "two timeouts double the RTO twice",
            lambda m: abs(m.mean("rto", t_s=42.905) / m.mean("rto", t_s=30.84) - 4) < 0.1,
        ),
        Claim(
            "while segments that were retransmitted are acknowledged, nothing changes it",
            lambda m: len(set(_column(m, "rto", 42, 46))) == 1,
        ),
        Claim("nor the RTT", lambda m: len(set(_column(m, "rtt", 30, 46))) == 1),
        Claim(
            "ACKs of segments that were not end that: at 52.7 s it is less than half of what it was at 44.6 s",
            lambda m: m.mean("rto", t_s=52.704) < m.mean("rto", t_s=44.579) / 2,
        ),
        Claim(
            "NRTT is below a fifth of MinRTT from the second ACK on",
            lambda m: all(value < 0.2 * m.mean("min_rtt", t_s=43.004) for value in _column(m, "nrtt", 43, 46)),
        ),
    ),
)
TABLE_3 = figure.drawn(
    "table3",
    "RTO, NRTT and MinRTT during a delay spike",
    settings.spike(),
    *(
        Claim(
            f"at {instant} s NRTT is {printed} s, in ticks of {settings.TICK_MS / 1000} s",
            partial(_is, instant, printed),
        )
        for instant, printed in PUBLISHED.items()
    ),
    Claim("MinRTT is 2.8 s, rounded to tenths", lambda m: round(nrtt.minimum_before(m.result(), 40), 1) == 2.8),
    Claim(f"at 42.905 s NRTT is 13.9 s, {figure.WITHIN}", lambda m: figure.near(nrtt.at(m.result(), 42.905), 13.9)),
    source="tables II and III",
    draw=_draw,
)
