"""The cost on an honest path of requiring each original's own timestamp as proof."""

from collections.abc import Mapping
from typing import Any

from eifel.flows import main_flow
from eifel.papers import rfc3522
from eifel.papers.artefact import Artefact, Claim, Column, Measured, Repeated, Row, Setting, means_of
from eifel.runs import Runs
from eifel.statistics import Mean
from eifel.studies.cheating import ratio
from eifel.studies.settings import LINUX

NONE, PLAIN, DEFAULT = "none", "plain", "original"
DETECT: Mapping[str, Any] = {NONE: "none", PLAIN: dict(rfc3522.PLAIN), DEFAULT: "eifel-timestamps"}
"""No detection, RFC 3522's comparison, and the default: each retransmission's original must be
proven by its own timestamp.
"""
RECOVERIES = ("rfc6675", "rack-tlp")
SENDERS = (LINUX, *RECOVERIES)
"""Linux's sender, and the default with each loss recovery."""
_SPIKE = {
    "links": ["bottleneck", "bottleneck-back"],
    "holds": "sending",
    "first_s": {"uniform": [2, 6]},
    "length_s": {"uniform": [0.5, 4]},
    "interval_s": {"uniform": [6, 12]},
    "interval": "start-to-start",
}
SPIKES, SPIKES_AND_LOSS, LOST_ACKS = "spikes", "spikes, 0.5 % loss", "spikes, 10 % of the ACKs lost"
LITTLE, MUCH = "1 % overtaken by five", "5 % overtaken by ten"
_PATHS: Mapping[str, tuple[Mapping[str, Any], tuple[Mapping[str, Any], ...]]] = {
    SPIKES: ({}, (_SPIKE,)),
    SPIKES_AND_LOSS: ({"loss": {"kind": "random", "rate": 0.005}}, (_SPIKE,)),
    LOST_ACKS: ({"back": {"loss": {"kind": "random", "rate": 0.1}}}, (_SPIKE,)),
    LITTLE: ({"reorder": {"rate": 0.01, "length": 5}}, ()),
    MUCH: ({"reorder": {"rate": 0.05, "length": 10}}, ()),
}


def scenario(path: str, recover: str, detect: str) -> dict[str, Any]:
    """Returns a minute of bulk transfer with the default response and grant, or with Linux's.

    Linux's timestamps are its clock's but for the default's proof, which needs distinct ones.
    """
    trouble, spikes = _PATHS[path]
    ends: dict[str, Any] = {"sender": {"detect": DETECT[detect], "respond": "rfc4015", "recover": recover}}
    if recover == LINUX:
        distinct = {"timestamp_values": "distinct", "timestamp_granularity_ms": 0.001} if detect == DEFAULT else {}
        ends = {"profile": LINUX, "sender": {"detect": DETECT[detect]}, "tcp": distinct}
    flow = main_flow(application={"kind": "bulk", "endless": True}, **ends)
    link = {"rate_bps": 5_000_000, "delay_ms": 40, "queue": {"kind": "drop-tail", "packets": 60}, **trouble}
    return {"duration_s": 60, "point_to_point": link, "flow": [flow], **({"spike": list(spikes)} if spikes else {})}


def _measure(artefact: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    """Returns the means, and each sender's goodput relative to no detection with the same seeds."""
    measured = means_of(artefact, runs)
    goodput = [runs.where(scenario=number)["goodput_bps"] for number in range(len(artefact.rows))]
    for number, means in enumerate(measured):
        plain, none = number // len(DETECT) * len(DETECT) + 1, number // len(DETECT) * len(DETECT)
        means["over_none"] = ratio(goodput[number], goodput[none])
        means["over_plain"] = ratio(goodput[number], goodput[plain])
    return measured


def _over_plain(measured: Measured, path: str) -> list[float]:
    rows = (measured.row(path=path, recovery=recovery, proof=DEFAULT) for recovery in RECOVERIES)
    return [row.means["over_plain"].mean for row in rows]


ARTEFACT = Artefact(
    id="detectors.proof",
    title="What it costs to believe only the original's own timestamp",
    source="this project; docs/internals/liars.md",
    columns=(
        Column("goodput_mbps", "Goodput, Mbit/s", summary="goodput_bps", scale=1e-6, digits=3),
        Column("over_none", "Over no detection", summary="goodput_bps", digits=3),
        Column("over_plain", "Over the plain comparison", summary="goodput_bps", digits=3),
        Column("undos", "Undos", digits=1),
    ),
    rows=tuple(
        Row({"path": path, "recovery": recover, "proof": detect}, scenario(path, recover, detect))
        for path in _PATHS
        for recover in SENDERS
        for detect in DETECT
    ),
    method=Repeated(repetitions=100, measure=_measure),
    fitted=(
        Setting("path", "5 Mbit/s, 80 ms, 60 packets", "a flight of some 35 to 95 segments"),
        Setting("spikes", "0.5 to 4 s, every 6 to 12 s", "most make the timer expire"),
        Setting("reordering", "1 % by five packets, 5 % by ten", "a little, and a lot"),
    ),
    claims=(
        Claim(
            "over delay spikes, with 0.5 % loss or without, the proof costs at most 1 % of goodput",
            lambda m: min(_over_plain(m, SPIKES) + _over_plain(m, SPIKES_AND_LOSS)) >= 0.99,
        ),
        Claim(
            "with 10 % of the ACKs lost it costs more, and at most 5 %",
            lambda m: 0.95 <= min(_over_plain(m, LOST_ACKS)) < 0.99,
        ),
        Claim(
            "where 1 % of the packets are overtaken by five others it costs at most 1 %",
            lambda m: min(_over_plain(m, LITTLE)) >= 0.99,
        ),
        Claim("where 5 % are overtaken by ten others it costs more", lambda m: min(_over_plain(m, MUCH)) < 0.99),
    ),
)
