"""One scenario simulated and on the wire: Reno-SACK with and without Eifel, 2 Mbit/s, one spike."""

from typing import Any

from eifel.flows import main_flow
from eifel.papers.artefact import Artefact, Claim, Column, Measured, Recorded, Row, Setting, counts
from eifel.papers.live import wire
from eifel.plots import Figure, style, time_sequence

WITHIN_MS = 5
WORLDS = ("simulated", "live")


def scenario(detect: str = "eifel-timestamps") -> dict[str, Any]:
    """Returns a scenario whose window fills the link but never the queue. Nothing is lost, and the link sets the pace.

    The spike begins shortly before an arrival, so a packet that is up to 3.7 ms late still precedes
    it.
    """
    return {
        "duration_s": 60,
        "point_to_point": {
            "rate_bps": 2_000_000,
            "delay_ms": 50,
            "queue": {"kind": "drop-tail", "packets": 75},
        },
        "spike": [{"links": ["bottleneck"], "holds": "arriving", "at": [{"start_s": 2.0015, "length_s": 2.5}]}],
        "flow": [
            main_flow(
                application={"kind": "bulk", "bytes": 800_000},
                tcp={
                    "payload_bytes": 1000,
                    "receive_window_segments": 40,
                    "delayed_ack_every": 1,
                    "delayed_ack_ms": 0,
                },
                sender={
                    "detect": detect,
                    "respond": "rfc4015",
                    "rto": {"name": "rfc6298", "minimum_ms": 1000},
                    "recover": "reno-sack",
                    "congest": {"name": "reno", "initial_window_segments": 40},
                },
            )
        ],
    }


def _draw(measured: Measured) -> Figure:
    figure, axes = style.new_figure(len(measured.rows), (7.0, 2.2 * len(measured.rows)))
    for place, row, result in zip(axes, measured.rows, measured.results, strict=True):
        time_sequence.draw(place, result)
        place.set_title(row.row.name, fontsize=8, loc="left")
    style.finish(figure, axes, measured.artefact.title)
    return figure


def _agree(measured: Measured, story: str) -> bool:
    read = getattr(wire, story)
    pairs = ([measured.result(world=world, eifel=eifel) for world in WORLDS] for eifel in (True, False))
    return all(read(simulated) == read(live) for simulated, live in pairs)


def _on_time(measured: Measured) -> bool:
    return all(
        measured.mean("difference_ms", world="live", eifel=eifel)
        <= WITHIN_MS + measured.mean("late_ms", world="live", eifel=eifel)
        for eifel in (True, False)
    )


ARTEFACT = Artefact(
    id="live.spike",
    title="One spike at 2 Mbit/s, simulated and on the wire",
    source="our own scenario, as in examples/live-spike.toml",
    columns=(
        *counts("retransmissions", "spurious_retransmissions", "detected_spurious"),
        Column("time_s", "Time, s", digits=3),
        Column("difference_ms", "Later than simulated at most, ms", digits=3),
        Column("late_ms", "The box late at most, ms", digits=3),
    ),
    rows=tuple(
        Row({"eifel": eifel, "world": world}, scenario("eifel-timestamps" if eifel else "none"))
        for eifel in (True, False)
        for world in WORLDS
    ),
    method=Recorded(_draw, chart=False, wire=wire.results),
    claims=(
        Claim(
            "the same segments are retransmitted, as often and for the same reasons",
            lambda m: _agree(m, "retransmissions"),
        ),
        Claim("the verdicts are the same, with the same reasons", lambda m: _agree(m, "verdicts")),
        Claim(f"times differ by no more than {WITHIN_MS} ms and the box's own lateness", _on_time),
        Claim(
            "on the wire Eifel saves all retransmissions of go-back-N but the first",
            lambda m: (
                m.mean("retransmissions", world="live", eifel=True) == 1
                and m.mean("retransmissions", world="live", eifel=False) > 10
            ),
        ),
    ),
    fitted=(Setting("window", "40 segments", "it fills the link and never its queue"),),
)
