"""The situations of the mix: the effects of paths on packets, and how often each is drawn."""

import math
from random import Random

from eifel.studies.mix import DURATION_S, Extra, Situation, Way, log_uniform

SPIKE_S = (0.1, 15.0)
REORDERED_PACKETS = (1, 30)


def spikes(
    draw: Random, way: Way, links: list[str], holds: str, lengths_s: tuple[float, float] = SPIKE_S
) -> list[Extra]:
    """Draws spikes one after another, with time between them for the flow to recover."""
    at: list[Extra] = []
    start_s = 3 + 10 * way.rtt_s
    while True:
        start_s += draw.uniform(3, 6) + 10 * way.rtt_s
        length_s = log_uniform(draw, lengths_s)
        if start_s + length_s > DURATION_S - 5:
            return [{"links": links, "holds": holds, "at": at}]
        at.append({"start_s": start_s, "length_s": length_s})
        start_s += length_s


def any_spikes(draw: Random, way: Way) -> list[Extra]:
    """Draws spikes that hold either or both directions, before or behind the transmitter."""
    links = draw.choice([["bottleneck"], ["bottleneck-back"], ["bottleneck", "bottleneck-back"]])
    return spikes(draw, way, links, draw.choice(["sending", "arriving"]))


def _spike(draw: Random, way: Way, _point: int) -> Extra:
    return {"spike": any_spikes(draw, way)}


def _spike_and_loss(draw: Random, way: Way, _point: int) -> Extra:
    # The path alone holds the window, and the queue does not. Only a spike causes losses: those of
    # the window's tail.
    queue = {"kind": "drop-tail", "packets": max(1, round(way.window * draw.uniform(0.2, 0.9)))}
    return {"link": {"queue": queue}, "spike": spikes(draw, way, ["bottleneck"], "sending")}


def _reordering(draw: Random, _way: Way, point: int) -> Extra:
    shortest, longest = REORDERED_PACKETS
    length = shortest + point % (longest - shortest + 1)
    return {"link": {"reorder": {"rate": log_uniform(draw, (0.002, 0.02)), "length": length}}}


def _loss(draw: Random, _way: Way, point: int) -> Extra:
    if point % 2:
        bursts = {"good_to_bad": log_uniform(draw, (0.0005, 0.005)), "bad_to_good": draw.uniform(0.05, 0.5)}
        return {"link": {"loss": {"kind": "gilbert-elliott", **bursts}}}
    return {"link": {"loss": {"kind": "random", "rate": log_uniform(draw, (0.001, 0.03))}}}


def _lost_acks(draw: Random, way: Way, point: int) -> Extra:
    lost = {"loss": {"kind": "random", "rate": draw.uniform(0.05, 0.5)}}
    return {"back": lost, "spike": any_spikes(draw, way) if point % 2 else []}


def _duplicates(draw: Random, way: Way, point: int) -> Extra:
    duplicate = {"duplicate": {"rate": log_uniform(draw, (0.01, 0.2))}}
    loss = {"loss": {"kind": "random", "rate": 0.005}} if point % 2 else {}
    return {"link": {**duplicate, **loss}, "back": duplicate, "spike": any_spikes(draw, way)}


def _rate_changes(draw: Random, way: Way, _point: int) -> Extra:
    changes: list[Extra] = []
    at_s = 5.0
    while at_s < DURATION_S - 20:
        slow = way.rate_bps / log_uniform(draw, (5, 100))
        changes.append({"at_s": at_s, "rate_bps": max(1000, round(slow))})
        at_s += draw.uniform(3, 10)
        changes.append({"at_s": at_s, "rate_bps": way.rate_bps})
        at_s += draw.uniform(3, 6)
    return {"link": {"rate_changes": changes}}


def _cellular(draw: Random, way: Way, _point: int) -> Extra:
    # The rate changes each quarter of a second. Its logarithm has a deviation of 0.7 and a memory
    # of two seconds.
    step_s, deviation, memory = 0.25, 0.7, math.exp(-0.25 / 2)
    wander, changes = draw.gauss(0, deviation), []
    for step in range(1, round(DURATION_S / step_s)):
        wander = memory * wander + math.sqrt(1 - memory**2) * draw.gauss(0, deviation)
        changes.append({"at_s": step * step_s, "rate_bps": max(1000, round(way.rate_bps * math.exp(wander)))})
    queue = {"kind": "drop-tail", "packets": max(2, round(way.window * draw.uniform(0.5, 2)))}
    outages = spikes(draw, way, ["bottleneck"], "sending", (0.1, 5))
    return {"link": {"rate_changes": changes, "queue": queue}, "spike": outages}


SITUATIONS = (
    Situation("spike", "delay spikes of 0.1 to 15 s, nothing lost", 800, _spike),
    Situation(
        "spike and loss", "the same over a queue too short for the window", 500, _spike_and_loss, load=(0.5, 1.0)
    ),
    Situation(
        "reordering",
        "packets held until 1 to 30 later ones have passed",
        330,
        _reordering,
        window=(8, 64),
        duration_s=60,
    ),
    Situation("loss", "random loss of 0.1 to 3 %, and bursts of 2 to 20 packets", 420, _loss, duration_s=60),
    Situation(
        "lost ACKs", "5 to 50 % of the ACKs lost, in half of the runs with spikes", 1400, _lost_acks, window=(2, 32)
    ),
    Situation("duplicates", "spikes where 1 to 20 % of all packets arrive twice, half with loss", 400, _duplicates),
    Situation(
        "rate changes", "a rate that falls to a fifth to a hundredth for 3 to 10 s", 1900, _rate_changes, window=(2, 16)
    ),
    Situation("cellular", "a rate that wanders, outages of 0.1 to 5 s, a queue of 0.5 to 2 windows", 600, _cellular),
)
