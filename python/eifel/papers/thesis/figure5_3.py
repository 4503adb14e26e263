"""Figure 5-3: like figure 5-2 with a small interface buffer, which go-back-N overflows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eifel.papers.artefact import Claim
from eifel.papers.published import numbers
from eifel.papers.thesis import traces
from eifel.papers.thesis.hiccup import RATE_BPS, hiccup_of, transfer
from eifel.papers.thesis.traced_figure import figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from eifel.papers.measured import Measured
    from eifel.result import Result
    from eifel.tables import Frame

PRINTED = numbers("thesis", "figure5_3")


def _draw(measured: Measured) -> Figure:
    from eifel.plots.both_traces import both_traces_figure

    return both_traces_figure({"": measured.result()}, (38, 61), title=measured.artefact.title)


def _at_twice_the_rate(result: Result) -> bool:
    """Returns whether slow start after the timeout's own retransmission sends at twice the line's rate."""
    again = traces.sent(result, kind="retransmission", cause="timeout")
    instants, lengths = again["t_ns"][1:], again["len"][1:]
    steps = np.unique(instants)
    # The packets of the last step have the time until the next ACK, which equals the previous
    # interval.
    seconds = float(steps[-1] - steps[0]) / 1e9 * len(steps) / (len(steps) - 1)
    return 1.7 <= float(lengths.sum()) * 8 / seconds / RATE_BPS <= 2.3


def _dropped(result: Result) -> Frame:
    """Returns the transmissions that overflowed the buffer."""
    return traces.sent(result).rows(np.isin(traces.sent(result)["tx"], result.of("drops")["tx"]))


def _drops(result: Result) -> tuple[int, int, int]:
    """Returns the numbers of all drops, of dropped spurious retransmissions, and of dropped originals."""
    lost = _dropped(result)
    return len(lost), len(lost.where(kind="retransmission", needed="spurious")), len(lost.where(kind="new"))


def _lost_and_repaired(result: Result) -> bool:
    """Returns whether exactly the lost original is retransmitted out of need."""
    lost = _dropped(result).where(kind="new")["start"]
    needed = traces.sent(result, kind="retransmission", needed="needed")["start"]
    return bool(np.array_equal(np.unique(needed), lost))


ARTEFACT = figure(
    3,
    "Go-back-N after a spurious timeout causing a real packet drop",
    {"drawn": transfer(hiccup_s=hiccup_of(2), buffer_packets=int(PRINTED["buffer_packets"]))},
    _draw,
    Claim("retransmissions leave at twice the line's rate", lambda m: _at_twice_the_rate(m.result())),
    Claim("the interface buffer overflows four times", lambda m: _drops(m.result())[0] == PRINTED["drops"]),
    Claim(
        "three spurious retransmissions and one original are dropped",
        lambda m: _drops(m.result())[1:] == (PRINTED["dropped_spurious_retransmissions"], PRINTED["dropped_originals"]),
    ),
    Claim("that original is really lost, and has to be sent again", lambda m: _lost_and_repaired(m.result())),
)
