"""NRTT and MinRTT by the definitions of section IV.B, read off a recorded run."""

import numpy as np
from numpy.typing import NDArray

from eifel.papers.dualrtt import settings
from eifel.papers.responding import facts
from eifel.result import Result
from eifel.tables import Frame


def series(result: Result) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns the times of ACKs for new data, and the NRTT: seconds since the highest covered segment last left."""
    sent = result.of("transmissions", facts.FLOW)
    acks = result.of("acks", facts.FLOW)
    last: dict[int, int] = {}
    instants, values = [], []
    number, reached = 0, 0
    ends = sent["start"] + sent["len"]
    for t_ns, cumulative in zip(acks["t_ns"], acks["cumulative"], strict=True):
        # A segment that leaves at the time of an ACK leaves because of it.
        while number < len(ends) and sent["t_ns"][number] < t_ns:
            last[int(ends[number])] = int(sent["t_ns"][number])
            number += 1
        if cumulative > reached and int(cumulative) in last:
            instants.append(t_ns / 1e9)
            values.append((t_ns - last[int(cumulative)]) / 1e9)
        reached = max(reached, int(cumulative))
    return np.array(instants), np.array(values)


def at(result: Result, t_s: float) -> float:
    """Returns the NRTT of the ACK within 0.05 s of this time. Raises LookupError if there is none."""
    instants, values = series(result)
    if len(instants) == 0 or abs(instants - t_s).min() > 0.05:
        raise LookupError(f"no ACK near {t_s} s")
    return float(values[abs(instants - t_s).argmin()])


def in_ticks(value_s: float) -> float:
    """Rounds a time as the paper's sender does: to whole elapsed ticks, at least one."""
    return max(1, int(value_s * 1000 / settings.TICK_MS)) * settings.TICK_MS / 1000


def samples(result: Result) -> Frame:
    sampled = facts.rto_samples(result)
    return sampled.rows(sampled["rtt_ns"] >= 0)


def minimum_before(result: Result, t_s: float) -> float:
    """Returns the smallest round trip before this time in seconds, among the samples and the handshake."""
    sampled = samples(result)
    before = sampled["rtt_ns"][sampled["t_ns"] < t_s * 1e9] / 1e9
    if len(before) == 0:
        raise LookupError(f"no sample before {t_s} s")
    instants, values = series(result)
    first = values[:1][instants[:1] < sampled["t_ns"][0] / 1e9]
    return float(np.concatenate([before, first]).min())
