"""Predicts Linux with `tcp_frto` on from a capture with it off, and compares with the actual run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eifel.papers.artefact import Artefact, Claim, Column, Row, Setting, Studied
from eifel.papers.live import kernel, predicted, spike
from eifel.papers.live.predicted import AGAIN, CAPTURED, DRAWS, HAPPENED, PREDICTED, SYSCTLS
from eifel.papers.study import Study

if TYPE_CHECKING:
    from eifel.papers.measured import Measured

COLUMNS = (
    Column("retransmissions", "Retransmissions", digits=0),
    Column("goodput_bps", "Goodput, Mbit/s", scale=1e-6, digits=3),
    Column("low_bps", "Nine of ten paths, from", scale=1e-6, digits=3),
    Column("high_bps", "to", scale=1e-6, digits=3),
)


def _within(measured: Measured) -> bool:
    low, high = (measured.mean(name, what=PREDICTED) for name in ("low_bps", "high_bps"))
    return low <= measured.mean("goodput_bps", what=HAPPENED) <= high


def _near(measured: Measured, column: str, one: str, other: str, share: float) -> bool:
    found = [measured.mean(column, what=what) for what in (one, other)]
    return abs(found[0] - found[1]) <= share * max(found)


ARTEFACT = Artefact(
    id="live.whatif",
    title="What a capture of Linux predicts, and what Linux then does",
    source="the kernel of this machine; `eifel analyze --extract-path` and `eifel whatif`",
    columns=COLUMNS,
    rows=tuple(Row({"what": what}) for what in (CAPTURED, AGAIN, PREDICTED, HAPPENED)),
    method=Studied(
        Study(predicted.find, {"path": spike.scenario(), "sysctls": SYSCTLS, "draws": DRAWS}, (kernel, predicted)),
        kernel.measure,
        live=True,
    ),
    claims=(
        Claim("Linux with F-RTO is within nine of ten of the predicted goodputs", _within),
        Claim("and within 5 % of the middle one", lambda m: _near(m, "goodput_bps", PREDICTED, HAPPENED, 0.05)),
        Claim(
            "F-RTO saves retransmissions, as predicted",
            lambda m: (
                max(m.mean("retransmissions", what=what) for what in (PREDICTED, HAPPENED))
                < m.mean("retransmissions", what=CAPTURED)
            ),
        ),
        Claim(
            "the same Linux over the extracted path in the box is as fast as over the path itself, within 10 %",
            lambda m: _near(m, "goodput_bps", CAPTURED, AGAIN, 0.10),
        ),
    ),
    fitted=(
        Setting("timestamps, DSACK, RACK", "off", "F-RTO alone is what differs", "chosen"),
        Setting("response", "RFC 4015", "the nearest to Linux's undo after F-RTO", "chosen"),
    ),
)
