"""The parking lot of section VII (figure 12, tables VII and VIII): a host behind a hiccup, and two cross flows."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.papers import rfc3522
from eifel.papers.dualrtt import settings
from eifel.papers.study import Effort

WIRELESS_KBPS = (15.6, 21.4, 31.2, 42.8, 62.4, 100, 130, 160, 200, 360, 500, 1000, 1500)
BOTTLENECK_MBPS = (0.2, 0.5, 1.0, 1.5, 3.5)
SESSION_S = 150
RUNS = 50
CROSS_PAYLOAD_BYTES = 960
BOTTLENECK_QUEUE = 22

PROTOCOLS: Mapping[str, Mapping[str, Any]] = {
    "reno": {"detect": "none"},
    "eifel": {"detect": dict(rfc3522.PLAIN), **rfc3522.CLOCK},
    "dualrtt": {"detect": settings.dual_rtt()},
    "f-rto": {"detect": "f-rto"},
    "dsack": {"detect": "dsack", "sack": True},
}
"""The paper has the first three."""


def _link(name: str, ends: str, rate_bps: int, delay_ms: int, queue: Mapping[str, Any]) -> dict[str, Any]:
    begin, end = ends.split()
    link = {"name": name, "from": begin, "to": end, "rate_bps": rate_bps, "delay_ms": delay_ms}
    return {**link, "queue": dict(queue), "both": True}


def _flow(name: str, ends: str, payload_bytes: int) -> dict[str, Any]:
    flow: dict[str, Any] = settings.spike()["flow"][0]
    window = settings.WINDOW_SEGMENTS * payload_bytes
    begin, end = ends.split()
    flow |= {"name": name, "from": begin, "to": end}
    flow["tcp"] |= {"payload_bytes": payload_bytes, "receive_window_bytes": window}
    flow["sender"]["congest"] |= {"initial_ssthresh_bytes": window}
    flow["sender"]["recover"] |= {"bugfix": True, "fast_retransmit_below_recovery_point": "blocked"}
    settings.begin_without_handshake(flow)
    flow["sender"]["rto"] = {"name": "rfc6298", "minimum_ms": 200, "granularity_ms": 100, "initial_ms": 6000}
    return flow


def _scenario() -> dict[str, Any]:
    queue = {"kind": "drop-tail", "packets": 50}
    wired = {"W0 W3": "", "W3 W4": "", "W7 W3": "", "W8 W4": "", "W5 W6": "", "W5 W1": "", "W6 W2": "", "W6 W9": ""}
    spike = {"first_s": {"uniform": [20, 40]}, "length_s": {"uniform": [3, 15]}, "interval_s": {"uniform": [20, 40]}}
    return {
        "duration_s": SESSION_S,
        "stop": "at-duration",
        "node": [{"name": name} for name in ("MH", "hiccup", *(f"W{number}" for number in range(10)))],
        "link": [
            _link("hiccup", "MH hiccup", 1_000_000_000, 0, {"kind": "unlimited"}),
            _link("wireless", "hiccup W0", 15_600, 400, queue),
            _link("bottleneck", "W4 W5", 200_000, 200, {**queue, "packets": BOTTLENECK_QUEUE}),
            *(_link(ends.replace(" ", "-"), ends, 1_500_000, 200, queue) for ends in wired),
        ],
        "spike": [{"links": ["hiccup"], "holds": "arriving", "interval": "end-to-start", **spike}],
        "flow": [
            _flow("main", "MH W9", settings.PAYLOAD_BYTES),
            _flow("ftp", "W7 W2", CROSS_PAYLOAD_BYTES),
            _flow("exponential", "W8 W1", CROSS_PAYLOAD_BYTES),
        ],
    }


def _case(name: str, protocol: Mapping[str, Any]) -> dict[str, Any]:
    tcp = {f"flow.main.tcp.{key}": value for key, value in protocol.items() if key != "detect"}
    return {"name": name, "set": {"flow.main.sender.detect": protocol["detect"], **tcp}}


DESIGN = {
    "title": "dualrtt.parking_lot",
    "scenario": _scenario(),
    "case": [_case(name, protocol) for name, protocol in PROTOCOLS.items()],
    "product": {
        "link.bottleneck.rate_bps": [round(rate * 1e6) for rate in BOTTLENECK_MBPS],
        "link.wireless.rate_bps": [round(rate * 1e3) for rate in WIRELESS_KBPS],
    },
}
"""All 65 scenarios with each protocol at the mobile host. In a repetition, all meet the same spikes."""


def find(effort: Effort) -> dict[str, NDArray[Any]]:
    """Returns the segments delivered, with a row per session: protocol, bottleneck and wireless rate by index."""
    table = effort.sweep(DESIGN)
    main = table.filter(np.asarray(table["flow"]) == 0)
    rest, wireless = np.divmod(main["cell"].to_numpy(), len(WIRELESS_KBPS))
    protocol, bottleneck = np.divmod(rest, len(BOTTLENECK_MBPS))
    columns = {"protocol": protocol, "bottleneck": bottleneck, "wireless": wireless}
    columns["repetition"] = main["repetition"].to_numpy()
    return {**columns, "segments": main["bytes"].to_numpy() / settings.PAYLOAD_BYTES}
