"""Two alternatives to detection that the papers discuss: careful duplicate ACKs, and a proxy in the path.

Neither detects that a timeout was spurious. Both prevent the spurious fast retransmit that follows
one. One ignores duplicate ACKs after a timeout (RFC 2582's more careful policy, its "bugfix"). The
other is a performance-enhancing proxy at the begin of the wireless link (DualRTT, section I, its
reference 14). Each is compared with detectors, alone and together.
"""

from typing import Any

from eifel.papers.artefact import Artefact, Claim, Column, Measured, Repeated, Row, Setting
from eifel.statistics import Mean
from eifel.studies import facts, settings
from eifel.studies.settings import HOLDS, LINUX, LOSES, QUEUES

KEYS = ("queue", "sender", "remedy", "proxy")
NOTHING, CAREFUL, EIFEL, DSACK = "nothing", "careful duplicate ACKs (RFC 2582)", "eifel-timestamps", "dsack"
BOTH, BLOCKED = "dual-rtt, careful", "dual-rtt, careful after its verdict too"
_RENO = {"name": "reno", "bugfix": False}
_CAREFUL = {"name": "reno", "bugfix": True}
RENO: dict[str, dict[str, Any]] = {
    NOTHING: {"detect": "none"},
    CAREFUL: {"detect": "none", "recover": _CAREFUL},
    EIFEL: {"detect": EIFEL},
    "dual-rtt": {"detect": "dual-rtt"},
    BOTH: {"detect": "dual-rtt", "recover": _CAREFUL},
    BLOCKED: {"detect": "dual-rtt", "recover": {**_CAREFUL, "fast_retransmit_below_recovery_point": "blocked"}},
}
RFC6675: dict[str, dict[str, Any]] = {
    NOTHING: {"detect": "none"},
    EIFEL: {"detect": EIFEL},
    "f-rto-sack": {"detect": "f-rto-sack"},
    DSACK: {"detect": DSACK},
}
SHARED = "eifel-f-rto-dsack"
ON_WIRE: dict[str, dict[str, Any]] = {
    NOTHING: {"detect": "none"},
    LINUX: {"detect": LINUX},
    SHARED: {"detect": SHARED},
}
SENDERS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, dict[str, Any]]]] = {
    LINUX: ({"sack": True}, {"respond": LINUX}, ON_WIRE),
    "reno": ({"sack": False}, {"recover": _RENO}, RENO),
    "rfc6675": ({"sack": True}, {"recover": "rfc6675"}, RFC6675),
}
"""The connection's settings, the sender's recovery, and the changes of each remedy."""
WIRED_MS, WIRELESS_MS = 45, 150


LEFT_OPEN = (
    Setting("path", f"{WIRED_MS} ms wired, {WIRELESS_MS} ms wireless", "195 ms, as in detectors.responses"),
    Setting("proxy", "where the wired link ends", "withholds by numbers alone: docs/reference/scenario.md"),
    *settings.SPIKES_LEFT_OPEN[1:],
)


def _scenario(queue: int, sender: str, remedy: str, proxy: bool) -> dict[str, Any]:
    """Returns the spikes of `detectors.responses` on a path whose first quarter is wired."""
    made = settings.spikes(queue, "rfc6675", "none", "none")
    wireless = {**made.pop("point_to_point"), "delay_ms": WIRELESS_MS}
    tcp, recovers, remedies = SENDERS[sender]
    flow = {
        **made["flow"][0],
        "from": "left1",
        "to": "right1",
        "tcp": {**made["flow"][0]["tcp"], **tcp},
        "sender": {"respond": "option-1", **recovers, **remedies[remedy]},
        **({"profile": LINUX} if sender == LINUX else {}),
    }
    return {
        **made,
        "dumbbell": {
            "left": 1,
            "right": 1,
            "left_access": {"rate_bps": 100_000_000, "delay_ms": WIRED_MS},
            "right_access": {"rate_bps": "unlimited", "delay_ms": 0},
            "bottleneck": wireless,
        },
        "flow": [flow],
        **({"proxy": {"links": ["bottleneck"]}} if proxy else {}),
    }


def _rows() -> tuple[Row, ...]:
    return tuple(
        Row(dict(zip(KEYS, values, strict=True)), _scenario(*values))
        for queue in settings.QUEUES
        for sender, (_, _, remedies) in SENDERS.items()
        for remedy in remedies
        for proxy in (False, True)
        for values in [(queue, sender, remedy, proxy)]
    )


def _of(measured: Measured, column: str, *values: Any) -> Mean:
    return measured.row(**dict(zip(KEYS, values, strict=True))).means[column]


def _low(mean: Mean) -> float:
    return mean.interval[0] if mean.interval else mean.mean


def _high(mean: Mean) -> float:
    return mean.interval[1] if mean.interval else mean.mean


CLAIMS = (
    Claim(
        "where nothing is lost, each of the two spares Reno its spurious fast retransmits",
        lambda m: (
            _low(_of(m, "spurious_fast_retransmits", HOLDS, "reno", NOTHING, False)) > 0.5
            and _of(m, "spurious_fast_retransmits", HOLDS, "reno", CAREFUL, False).mean == 0
            and _high(_of(m, "spurious_fast_retransmits", HOLDS, "reno", NOTHING, True)) < 0.1
        ),
    ),
    Claim(
        "neither spares a needless retransmission: what they leave out, Eifel does not",
        lambda m: all(
            _low(_of(m, "needless", HOLDS, "reno", remedy, proxy))
            > 2 * _high(_of(m, "needless", HOLDS, "reno", EIFEL, False))
            for remedy, proxy in ((CAREFUL, False), (NOTHING, True))
        ),
    ),
    Claim(
        "and neither saves as much of the time as Eifel",
        lambda m: all(
            _high(_of(m, "saved", HOLDS, "reno", remedy, proxy)) < _low(_of(m, "saved", HOLDS, "reno", EIFEL, False))
            for remedy, proxy in ((CAREFUL, False), (NOTHING, True), (CAREFUL, True))
        ),
    ),
    Claim(
        "where the window's tail is lost, careful duplicate ACKs save more than a proxy, which cannot know of losses",
        lambda m: (
            _low(_of(m, "saved", LOSES, "reno", CAREFUL, False)) > _high(_of(m, "saved", LOSES, "reno", NOTHING, True))
        ),
    ),
    Claim(
        "a proxy takes from DSACK what it detects by: behind one it undoes nothing",
        lambda m: (
            all(_of(m, "undos", queue, "rfc6675", DSACK, True).mean == 0 for queue in QUEUES)
            and _low(_of(m, "undos", HOLDS, "rfc6675", DSACK, False)) > 1
        ),
    ),
    Claim(
        "DualRTT on Reno is followed by spurious fast retransmits, unless a proxy keeps their duplicate ACKs or the "
        "sender ignores them",
        lambda m: (
            _low(_of(m, "spurious_fast_retransmits", HOLDS, "reno", "dual-rtt", False)) > 1
            and _of(m, "spurious_fast_retransmits", HOLDS, "reno", "dual-rtt", True).mean == 0
            and _of(m, "spurious_fast_retransmits", HOLDS, "reno", BLOCKED, False).mean == 0
        ),
    ),
    Claim(
        "Eifel with a proxy is no slower than without",
        lambda m: all(
            _high(_of(m, "saved", HOLDS, sender, EIFEL, True)) >= _low(_of(m, "saved", HOLDS, sender, EIFEL, False))
            for sender, (_, _, remedies) in SENDERS.items()
            if EIFEL in remedies
        ),
    ),
)

ARTEFACT = Artefact(
    id="detectors.neighbours",
    title="What the papers weigh detection against: careful duplicate ACKs, and a proxy",
    source="eifel, docs/internals/detectors.md; DualRTT, section I",
    columns=(
        Column("time_s", "Time, s", digits=1),
        Column("saved", "saved, against nothing and no proxy, %", summary="time_s", digits=1),
        Column("needless", "Sent needlessly, %", summary="spurious_retransmissions", digits=2),
        Column("spurious_timeouts", "Spurious timeouts", digits=2),
        Column("spurious_fast_retransmits", "Spurious fast retransmits", digits=2),
        Column("undos", "Undos", digits=2),
        Column("drops", "Packets dropped", digits=1),
    ),
    rows=_rows(),
    method=Repeated(
        repetitions=50, measure=facts.against(lambda row: row.keys["remedy"] == NOTHING and row.keys["proxy"] is False)
    ),
    fitted=LEFT_OPEN,
    claims=CLAIMS,
)
