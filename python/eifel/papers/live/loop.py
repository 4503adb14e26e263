"""The loop: a recording beside Linux, the path that it shows, and Linux again over that path, emulated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eifel.papers.artefact import Artefact, Claim, Column, Row, Setting, Studied
from eifel.papers.live import kernel, looped
from eifel.papers.live.looped import AGAIN, CHANGES, LOOPED, PATH, PATHS, SHOWN, STAGES
from eifel.papers.study import Study

if TYPE_CHECKING:
    from eifel.papers.measured import Measured

STEADY = tuple(name for name in PATHS if name != CHANGES)
"""The paths that one queue with one rate explains."""

COLUMNS = (
    Column("rate_bps", "Rate, Mbit/s", scale=1e-6, digits=3),
    Column("base_rtt_ms", "Round trip, ms", digits=1),
    Column("held_s", "Held, s", digits=3),
    Column("lost", "Lost", digits=0),
    Column("overtaken", "Overtaken", digits=0),
    Column("retransmissions", "Retransmissions", digits=0),
    Column("goodput_bps", "Goodput, Mbit/s", scale=1e-6, digits=3),
)


FIRST, AGAIN_SHOWN = (PATH, SHOWN), (LOOPED, AGAIN)
"""Pairs of stages in which the recording of the first shows the second."""
ROUND = (PATH, LOOPED)


def _near(measured: Measured, column: str, stages: tuple[str, str], share: float = 0.0, apart: float = 0.0) -> bool:
    """Returns whether two stages of each steady path differ by at most this share, or by at most this amount."""
    pairs = ([measured.mean(column, path=path, stage=stage) for stage in stages] for path in STEADY)
    return all(abs(one - other) <= max(apart, share * max(one, other)) for one, other in pairs)


def _holds_as_long(measured: Measured) -> bool:
    held = [[measured.mean("held_s", path=path, stage=stage) for stage in STAGES] for path in STEADY]
    return all(max(lengths) - min(lengths) <= looped.ROUND_TRIP_MS / 1e3 for lengths in held)


def _refused(measured: Measured) -> bool:
    return not any(measured.row(path=CHANGES, stage=stage).means for stage in (SHOWN, LOOPED, AGAIN))


ARTEFACT = Artefact(
    id="live.loop",
    title="Recorded, extracted, and put into the box",
    source="the kernel of this machine; `eifel live record`, `eifel analyze --extract-path`, `eifel live hiccup`",
    columns=COLUMNS,
    rows=tuple(Row({"path": path, "stage": stage}) for path in PATHS for stage in STAGES),
    method=Studied(
        Study(looped.find, {"paths": PATHS, "bytes": looped.BYTES}, (kernel, looped)),
        kernel.measure,
        live=True,
    ),
    claims=(
        Claim(
            "a recording shows the rate and the round trip within 1 %",
            lambda m: all(_near(m, column, FIRST, 0.01) for column in ("rate_bps", "base_rtt_ms")),
        ),
        Claim("and holds as long as they were, to a round trip", _holds_as_long),
        Claim(
            "it shows each packet that the box lost, and each that it let others overtake",
            lambda m: all(_near(m, c, stages) for c in ("lost", "overtaken") for stages in (FIRST, AGAIN_SHOWN)),
        ),
        Claim(
            "of the box with the extracted path it shows that path again, within 1 %",
            lambda m: all(_near(m, column, AGAIN_SHOWN, 0.01) for column in ("rate_bps", "base_rtt_ms")),
        ),
        Claim(
            "over the extracted path Linux is as fast as over the path itself, within 5 %",
            lambda m: _near(m, "goodput_bps", ROUND, 0.05),
        ),
        Claim(
            "and sends as many segments again, within one or a tenth",
            lambda m: _near(m, "retransmissions", ROUND, 0.10, 1),
        ),
        Claim("a path whose rate changes is refused", _refused),
    ),
    fitted=(
        Setting("paths", "2 Mbit/s, 100 ms", "one impairment each", "chosen"),
        Setting(
            "sender", "Linux with Reno, else as it is", "the default of some machines paces by its own model", "chosen"
        ),
    ),
)
