"""A map of paths: the best detector, response and recovery for each, and their gain.

The grid has rates, round trips, queues, windows, spikes and loss. It contains the eight cases of
table I of "spikes" (TCP Reno, Eifel and SCTP over one spike). The report shows it as an interactive
map.
"""

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

from eifel.flows import main_flow
from eifel.papers.artefact import Artefact, Claim, Column, Measured, Row, Setting, Studied
from eifel.papers.study import Effort, Study
from eifel.report.atlas import Axis, Cases, Point, atlas
from eifel.runs import Runs
from eifel.statistics import Mean, mean_interval
from eifel.studies.settings import LINUX

TITLE = "detectors.atlas"


AXES = (
    Axis(
        "rate_bps",
        "Rate",
        "point_to_point.rate_bps",
        (21_400, 128_000, 500_000, 1_500_000, 10_000_000),
        ("21.4 kbit/s", "128 kbit/s", "500 kbit/s", "1.5 Mbit/s", "10 Mbit/s"),
    ),
    Axis(
        "rtt_ms",
        "Round trip",
        "point_to_point.delay_ms",
        (40, 200, 600, 2800),
        ("40 ms", "200 ms", "600 ms", "2.8 s"),
        scale=0.5,
    ),
    Axis("queue", "Queue, packets", "point_to_point.queue.packets", (13, 50, 100, 250), ("13", "50", "100", "250")),
    Axis(
        "window",
        "Peer's window, segments",
        "flow.main.tcp.receive_window_segments",
        (20, 60, 250),
        ("20", "60", "250"),
    ),
    Axis("spike_s", "Spike", "spike.0.length_s", (1, 3, 6, 12), ("1 s", "3 s", "6 s", "12 s")),
    Axis("loss", "Loss at random", "point_to_point.loss.rate", (0, 0.01), ("none", "1 %")),
)

PRR = {"name": "rack-tlp", "reduction": "prr"}
RTO = {"name": "rfc6298", "initial_ms": 3000}
UNDONE, BY_RFC4015, NOT_UNDONE = "Linux", "Linux, RFC 4015", "Linux, no undo"
SENDERS: dict[str, dict[str, Any]] = {
    UNDONE: {"profile": LINUX},
    BY_RFC4015: {"profile": LINUX, "respond": "rfc4015"},
    NOT_UNDONE: {"profile": LINUX, "detect": "none", "respond": "none"},
    "Reno": {"detect": "none", "respond": "none", "recover": "reno"},
    "Eifel, Reno": {"detect": "eifel-timestamps", "respond": "option-1", "recover": "reno"},
    "SACK": {"detect": "none", "respond": "none"},
    "Eifel, SACK": {"detect": "eifel-timestamps", "respond": "rfc4015"},
    "Eifel, SACK, paced restore": {"detect": "eifel-timestamps", "respond": "option-1", "pace": "pacing"},
    "F-RTO, SACK": {"detect": "f-rto-sack", "respond": "rfc4015"},
    "DSACK, SACK": {"detect": "dsack", "respond": "rfc3708"},
    "DualRTT, SACK": {"detect": "dual-rtt", "respond": "option-1"},
    "RACK, CUBIC": {"detect": "none", "respond": "none", "recover": PRR, "congest": "cubic"},
    "Eifel, RACK, CUBIC": {"detect": "eifel-timestamps", "respond": "rfc4015", "recover": PRR, "congest": "cubic"},
    "F-RTO, RACK, CUBIC": {"detect": "f-rto-sack", "respond": "rfc4015", "recover": PRR, "congest": "cubic"},
}
"""Detector, response and recovery by displayed name, or what differs from a profile."""

FAMILIES = {
    name: "no detector" if sender.get("detect") == "none" else name.split(",")[0] for name, sender in SENDERS.items()
}
"""The colour of a place on the map: the detector of the winning sender."""


def _point(rate_bps: int, window: int, *, lossy: bool) -> Point:
    rate = "low" if rate_bps < 100_000 else "high"
    size = "small" if window == 20 else "large"
    queue = {20: 13, 60: 50}[window] if lossy else 250
    place = {"rate_bps": rate_bps, "rtt_ms": 2800, "queue": queue, "window": window, "spike_s": 12, "loss": 0}
    return Point(f"{'spike + loss' if lossy else 'spike'}, {rate} rate, {size} window", place, lossy)


POINTS = tuple(
    _point(rate, window, lossy=lossy) for lossy in (False, True) for rate in (21_400, 1_500_000) for window in (20, 60)
)
"""Table I of "spikes": a window of 20 or 60 segments, and for losses the paper's queues of 13 and 50."""

START = {"rate_bps": 1_500_000, "rtt_ms": 200, "queue": 50, "window": 60, "spike_s": 3, "loss": 0}
"""The place at which the map opens."""

LEFT_OPEN = (
    Setting("spikes", "at about 20 and 60 s of 100 s, both directions held", "long enough to come back between"),
    Setting("sender", "an initial window of 10, timestamps for those who look at them", "today's"),
    Setting("timer", "RFC 6298's, 3 s before the first sample", "a round trip of 2.8 s is else a timeout at once"),
    Setting("Linux", 'profile = "linux"', "docs/reference/scenario.md says what it sets; its timer begins with 1 s"),
    Setting(
        "table I",
        "without SCTP, and two spikes instead of one",
        "at the low rate a window of 60 has not filled when they come, so that they lose nothing where the paper's did",
    ),
)


def _settings(sender: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what a sender sets in its flow."""
    algorithms = {f"sender.{key}": value for key, value in sender.items() if key != "profile"}
    if "profile" in sender:
        return {"profile": sender["profile"], **algorithms}
    return {"sender.rto": RTO, "tcp.timestamps": sender["detect"] == "eifel-timestamps", **algorithms}


def design(title: str) -> dict[str, Any]:
    """Returns the grid as a sweep: each sender at each place, over the same spikes and losses."""
    spike = {
        "links": ["bottleneck", "bottleneck-back"],
        "holds": "sending",
        "first_s": {"uniform": [18, 22]},
        "length_s": 1,
        "interval_s": 40,
        "interval": "start-to-start",
    }
    queue, loss = {"kind": "drop-tail", "packets": 50}, {"kind": "random", "rate": 0}
    flow = main_flow(application={"kind": "bulk", "endless": True}, tcp={"receive_window_segments": 20})
    scenario = {
        "duration_s": 100,
        "point_to_point": {"rate_bps": 1_000_000, "delay_ms": 100, "queue": queue, "loss": loss},
        "spike": [spike],
        "flow": [flow],
    }
    cases = [
        {"name": name, "set": {f"flow.main.{key}": value for key, value in _settings(sender).items()}}
        for name, sender in SENDERS.items()
    ]
    return {
        "title": title,
        "scenario": scenario,
        "case": cases,
        "product": {axis.key: [_whole(value * axis.scale) for value in axis.values] for axis in AXES},
    }


def _whole(value: float) -> float:
    return int(value) if value == int(value) else value


def find(effort: Effort) -> Mapping[str, Any]:
    """Returns the goodput of each run, by the number of its cell in the sweep."""
    table = effort.sweep(design(TITLE)).select(["cell", "repetition", "goodput_bps"])
    return {name: table[name].to_numpy() for name in table.column_names}


def measure(artefact: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    """Returns each place's goodput by sender."""
    places, times = len(artefact.rows), int(runs["repetition"].max()) + 1
    # In the sweep, senders vary slowest and repetitions fastest.
    goodput = runs["goodput_bps"].reshape(len(SENDERS), places, times) / 1000
    return [{name: mean_interval(goodput[code, place]) for code, name in enumerate(SENDERS)} for place in range(places)]


def show(measured: Measured) -> str:
    cases = Cases('A case of "spikes", table I:', POINTS, START, ("rate_bps", "spike_s"))
    return atlas(measured, AXES, FAMILIES, cases)


def _better(measured: Measured, point: Point, more: str, less: str) -> bool:
    means = measured.row(**point.place).means
    return means[more].mean > means[less].mean


SAME = 0.03
"""Differences within this share count as equal, as in the map."""


def _share(measured: Measured, holds: Callable[[Mapping[str, Mean]], bool]) -> float:
    """Returns the share of the places at which something holds."""
    return sum(holds(row.means) for row in measured.rows) / len(measured.rows)


def _leads(means: Mapping[str, Mean], more: str, less: str) -> bool:
    return means[more].mean > (1 + SAME) * means[less].mean


def _near_best(means: Mapping[str, Mean], sender: str) -> bool:
    return means[sender].mean >= (1 - SAME) * max(mean.mean for mean in means.values())


def _lossy(point: Point) -> Claim:
    return Claim(f"{point.name}: Reno is before Eifel", lambda m: _better(m, point, "Reno", "Eifel, Reno"))


ROWS = tuple(
    Row(dict(zip((axis.name for axis in AXES), values, strict=True)))
    for values in product(*(axis.values for axis in AXES))
)

ARTEFACT = Artefact(
    id=TITLE,
    title="Which sender for which path",
    source='eifel, docs/internals/detectors.md; the cases of "spikes", table I, among its points',
    columns=tuple(Column(name, f"{name}, kbit/s", digits=1) for name in SENDERS),
    rows=ROWS,
    method=Studied(Study(find, design(TITLE), (find,)), measure=measure, repetitions=3, long=True, show=show),
    claims=(
        Claim(
            "Linux's undo delivers over 3 % more than none at two of five places, and less at fewer than one of 100",
            lambda m: (
                _share(m, lambda means: _leads(means, UNDONE, NOT_UNDONE)) > 2 / 5
                and _share(m, lambda means: _leads(means, NOT_UNDONE, UNDONE)) < 1 / 100
            ),
        ),
        Claim(
            "with RFC 4015's response Linux's sender is within 3 % of the best at more places than with its own",
            lambda m: (
                _share(m, lambda means: _near_best(means, BY_RFC4015))
                > _share(m, lambda means: _near_best(means, UNDONE))
            ),
        ),
        Claim(
            "spikes, table I: where nothing is lost, Eifel is before Reno in all four cases",
            lambda m: all(_better(m, point, "Eifel, Reno", "Reno") for point in POINTS if not point.lossy),
        ),
        *(_lossy(point) for point in POINTS if point.lossy),
        Claim(
            "with SACK, Eifel is no more than 3 % behind in any of the eight",
            lambda m: all(
                m.mean("Eifel, SACK", **point.place) > 0.97 * m.mean("SACK", **point.place) for point in POINTS
            ),
        ),
    ),
    fitted=LEFT_OPEN,
)
