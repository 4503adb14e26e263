"""The measures of figures 13 to 15: segments delivered in a session by protocol, and differences to others."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.papers import rfc3522
from eifel.papers.artefact import Artefact, Claim, Column, Measured
from eifel.papers.dualrtt import parking_lot, settings
from eifel.runs import Runs
from eifel.statistics import Mean, mean_interval

COLUMNS = (
    Column("segments", "Segments delivered", digits=1),
    Column("over_reno", "More than Reno", digits=1),
    Column("over_eifel", "More than Eifel", digits=1),
)
"""Differences are taken by session, in which all protocols meet the same spikes."""

PROTOCOLS = tuple(parking_lot.PROTOCOLS)


def _segments(found: Runs) -> NDArray[np.float64]:
    """Returns the segments delivered, by protocol, bottleneck, wireless rate and repetition."""
    places = [found[name] for name in ("protocol", "bottleneck", "wireless", "repetition")]
    segments = np.zeros([int(place.max()) + 1 for place in places])
    segments[tuple(places)] = found["segments"]
    return segments


def _row(of_protocol: NDArray[np.float64], number: int) -> dict[str, Mean]:
    means = {"segments": mean_interval(of_protocol[number])}
    for other in ("reno", "eifel"):
        if other != PROTOCOLS[number]:
            means[f"over_{other}"] = mean_interval(of_protocol[number] - of_protocol[PROTOCOLS.index(other)])
    return means


def by_wireless(bottleneck_mbps: float) -> Callable[[Artefact, Runs], list[dict[str, Mean]]]:
    """Returns the measure for rows of protocol and wireless rate, behind this bottleneck."""
    bottleneck = parking_lot.BOTTLENECK_MBPS.index(bottleneck_mbps)

    def measure(_artefact: Artefact, found: Runs) -> list[dict[str, Mean]]:
        sessions = _segments(found)[:, bottleneck]
        wireless = range(len(parking_lot.WIRELESS_KBPS))
        return [_row(sessions[:, rate], number) for number in range(len(PROTOCOLS)) for rate in wireless]

    return measure


def by_bottleneck(_artefact: Artefact, found: Runs) -> list[dict[str, Mean]]:
    """Returns the mean over all wireless rates. A repetition counts once, which keeps values independent."""
    sessions = _segments(found).mean(axis=2)
    rates = range(len(parking_lot.BOTTLENECK_MBPS))
    return [_row(sessions[:, rate], number) for number in range(len(PROTOCOLS)) for rate in rates]


def above(m: Measured, other: str, *protocols: str) -> bool:
    """Returns whether each of these delivers more than `other` in every row, with the whole interval above zero."""
    return all(_difference(row.means, other)[0] > 0 for row in m.rows if row.row.keys["protocol"] in protocols)


def not_below(m: Measured, other: str, protocol: str) -> bool:
    """Returns whether `protocol` is never below `other` by a whole interval."""
    return all(_difference(row.means, other)[1] >= 0 for row in m.rows if row.row.keys["protocol"] == protocol)


def _difference(means: Any, other: str) -> tuple[float, float]:
    mean = means[f"over_{other}"]
    return mean.interval or (mean.mean, mean.mean)


def falls_above(m: Measured, rate_kbps: float) -> bool:
    """Returns whether Eifel and DualRTT deliver less at some higher rate of the wireless link than at this one."""
    return all(
        min(row.means["segments"].mean for row in m.rows if _is(row.row.keys, protocol, rate_kbps))
        < m.mean("segments", protocol=protocol, wireless_kbps=rate_kbps)
        for protocol in ("eifel", "dualrtt")
    )


def _is(keys: Any, protocol: str, above_kbps: float) -> bool:
    return bool(keys["protocol"] == protocol and keys["wireless_kbps"] > above_kbps)


def saturation_kbps(protocol: str) -> float:
    """Returns the rate of a full window per round trip on a link, with headers."""
    options = rfc3522.OPTION_BYTES if protocol == "eifel" else 0
    packet_bytes = settings.PAYLOAD_BYTES + 40 + options
    return settings.WINDOW_SEGMENTS * packet_bytes * 8 / (2 * settings.DELAY_MS)


def saturated_segments(protocol: str) -> float:
    """Returns the saturation as segments per session."""
    packet_bits = 8 * (settings.PAYLOAD_BYTES + 40 + (rfc3522.OPTION_BYTES if protocol == "eifel" else 0))
    return saturation_kbps(protocol) * 1000 * parking_lot.SESSION_S / packet_bits


ABOVE_RENO = Claim("Eifel and DualRTT deliver more than Reno", lambda m: above(m, "reno", "eifel", "dualrtt"))
"""With 95 % intervals."""
