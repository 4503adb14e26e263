"""Recommends a protocol for a path: runs candidates over a scenario's path, and says which delivers most.

"Effect of Delay Spike on SCTP, TCP Reno, and Eifel" recommends one in eight cases, by which engineers can "switch
between protocols depending on network conditions" (section V). Here the conditions are a scenario's:
bandwidth, delay, queue, losses, reordering, spikes and other flows.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eifel import scenario as scenarios
from eifel.errors import BadInputError
from eifel.flows import flows_of
from eifel.statistics import Mean, mean_interval
from eifel.tables import text_table

CANDIDATES = ("reno", "eifel", "sctp", "rfc6675+eifel", "rack+eifel", "sctp+eifel")
"""The paper's three protocols, and today's: Eifel with a loss recovery that knows the lost segments."""
ERROR = 0.05
"""The probability that any of the compared intervals misses its difference."""
EQUAL = 0.1
"""Protocols that differ by no more than this deliver the same, in percent. `eifel whatif` has the same bound."""
PACKET_BEYOND_MESSAGE_BYTES = 64
"""IP header, SCTP's common header, a chunk's header and a timestamp chunk."""

_DETECTION = ("detect", "observers", "respond", "grant", "recover")
"""What a protocol decides in `sender`. Timer, window and pace of a flow over TCP stay."""
_EVIDENCE = (
    *("sack", "dsack", "timestamps", "timestamp_values", "timestamp_granularity_ms", "retransmission_marks"),
    *("rules", "timestamp_chunk", "retransmit_bit"),
)
"""What a protocol decides in `tcp` and `sctp`."""
_OF_TCP = ("transport", "sender", "answering_sender", "handshake", "isn", "profile", "tcp", "answering_tcp")
_OF_SCTP = ("transport", "sender", "answering_sender", "alternates", "changeovers", "sctp", "answering_sctp")
"""What a flow over one transport does not take to the other."""


def protocols(
    scenario: scenarios.ScenarioLike | scenarios.Source, names: Sequence[str] = CANDIDATES, *, flow: str | None = None
) -> dict[str, scenarios.Source]:
    """Returns the scenario with each of these protocols in one flow, by default the first.

    Example: `eifel.compare(eifel.protocols("path.toml"), repetitions=60).recommendation()`.

    A flow over TCP keeps its timer, window and other settings under each protocol of TCP. Over another transport
    than its own it keeps the peer's window and the length of a segment, and uses its primary path.

    Raises BadInputError for an unknown name or flow, and ScenarioError if the scenario cannot have a protocol.
    """
    unknown = [name for name in names if name not in CANDIDATES]
    if unknown or not names:
        raise BadInputError(f"no protocol {', '.join(unknown) or 'given'}; there is: {', '.join(CANDIDATES)}")
    source = scenarios.load(scenario)
    settings = source.settings
    entry = _entry(settings, flow, source.origin)
    made = {}
    for name in dict.fromkeys(names):
        document = copy.deepcopy(settings)
        document["flow"][entry] = _flow(document, entry, _candidate(name))
        made[name] = scenarios.from_values(document, Path(source.origin).parent, f"{source.origin}, with {name}")
    return made


def _candidate(name: str) -> Mapping[str, Any]:
    from eifel.papers.spikes import settings

    return settings.SENDERS[name]


def _entry(settings: Mapping[str, Any], flow: str | None, origin: str) -> int:
    """Returns the number of the entry that describes a flow. Copies of a repeated flow share theirs."""
    each = [{one.name for one in flows_of({"flow": [entry]})} for entry in settings.get("flow", ())]
    if flow is None:
        return 0
    found = [number for number, names in enumerate(each) if flow in names]
    if not found:
        raise BadInputError(f"{origin}: no flow {flow}; there is: {', '.join(one.name for one in flows_of(settings))}")
    return found[0]


def _flow(document: Mapping[str, Any], entry: int, candidate: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a flow of a scenario with a protocol in place of its own."""
    flow = document["flow"][entry]
    own, wanted = flow.get("transport", "tcp"), candidate.get("transport", "tcp")
    link = {**document.get(own, {}), **flow.get(own, {})}
    if wanted != own:
        flow = _without(flow, _OF_TCP if own == "tcp" else _OF_SCTP)
        link = _association(link) if wanted == "sctp" else _connection(link)
    flow = {key: _without(value, _DETECTION) if key.endswith("sender") else value for key, value in flow.items()}
    flow["sender"] = {**flow.get("sender", {}), **candidate["sender"]}
    flow |= {key: _without(flow[key], _EVIDENCE) for key in ("answering_tcp", "answering_sctp") if key in flow}
    link = _without(link, _EVIDENCE)
    if wanted == "sctp":
        plain = {"rules": "rfc9260", "timestamp_chunk": "off"}
        return {**flow, "transport": "sctp", "sctp": {**link, **plain, **candidate.get("sctp", {})}}
    evidence = {"sack": False, "timestamps": False, **candidate.get("tcp", {})}
    return {**flow, "tcp": {**link, **evidence, "dsack": evidence["sack"]}}


def _without(table: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if key not in names}


def _association(tcp: Mapping[str, Any]) -> dict[str, int]:
    """Returns the settings of an association like a connection: one segment's data a message, and its window."""
    made, segment = {}, tcp.get("payload_bytes", tcp.get("mss_bytes"))
    if segment is not None:
        made = {"message_bytes": segment, "pmtu_bytes": min(max(segment + PACKET_BEYOND_MESSAGE_BYTES, 512), 65_535)}
    window = tcp.get("receive_window_bytes")
    if "receive_window_segments" in tcp:
        window = tcp["receive_window_segments"] * (segment or 1448)
    return made if window is None else {**made, "receive_window_bytes": max(window, 1500)}


def _connection(sctp: Mapping[str, Any]) -> dict[str, int]:
    """Returns the settings of a connection like an association."""
    names = {"receive_window_bytes": "receive_window_bytes", "message_bytes": "payload_bytes"}
    made = {names[key]: value for key, value in sctp.items() if key in names}
    # A longer message is fragmented, and says nothing of the length of a segment.
    if made.get("payload_bytes", 0) > sctp.get("pmtu_bytes", 1500) - PACKET_BEYOND_MESSAGE_BYTES:
        del made["payload_bytes"]
    return made


@dataclass(frozen=True)
class Recommendation:
    """The protocol that delivers most, and how much less each of the others delivers."""

    best: str
    goodput_bps: Mapping[str, float]
    """The mean of each protocol."""
    less: Mapping[str, Mean]
    """By how much each of the others delivers less, in percent of what the best delivers. The intervals hold together,
    for all pairs of protocols, with 95 %.
    """

    @property
    def equal(self) -> tuple[str, ...]:
        """The protocols of which the runs do not show that they deliver less."""
        return tuple(name for name, less in self.less.items() if not _is_clear(less))

    @property
    def sentence(self) -> str:
        if len(self.equal) == len(self.less):
            return f"all are equal: {', '.join([self.best, *self.equal])}"
        return f"use {self.best}, which delivers most" + (f"; equal: {', '.join(self.equal)}" if self.equal else "")

    def __str__(self) -> str:
        rows = [[self.best, _tenth(self.goodput_bps[self.best] / 1000), "", ""]]
        for name, less in self.less.items():
            ends = less.interval or (less.mean, less.mean)
            goodput = _tenth(self.goodput_bps[name] / 1000)
            rows.append([name, goodput, _tenth(less.mean), " to ".join(map(_tenth, ends))])
        head = ["protocol", "goodput, kbit/s", "less, %", "95 % for all pairs"]
        return f"{text_table(head, rows)}\n{self.sentence}"


def _tenth(value: float) -> str:
    """Formats a number to one digit after the point. Zero has no sign."""
    return f"{round(value, 1) + 0.0:.1f}"


def _is_clear(less: Mean) -> bool:
    return less.interval is not None and less.interval[0] > 0 and less.mean > EQUAL


def recommended(goodput: Mapping[str, Sequence[float]]) -> Recommendation:
    """Returns the recommendation by the goodput of each repetition, which all protocols ran over the same chance.

    Raises BadInputError for fewer than two protocols or repetitions, or if none delivers anything.
    """
    if len(goodput) < 2 or min(map(len, goodput.values())) < 2:
        raise BadInputError("a recommendation needs two protocols and two repetitions at least")
    means = {name: sum(values) / len(values) for name, values in goodput.items()}
    best = max(means, key=means.__getitem__)
    if means[best] == 0:
        raise BadInputError("no recommendation: no protocol delivers anything over this path")
    # Bonferroni's correction, as the best one was chosen by the same runs.
    pairs = len(means) * (len(means) - 1) / 2
    less = {
        name: mean_interval(
            [100 * (most - one) / means[best] for most, one in zip(goodput[best], values, strict=True)],
            1 - ERROR / pairs,
        )
        for name, values in goodput.items()
        if name != best
    }
    return Recommendation(best, means, dict(sorted(less.items(), key=lambda item: item[1].mean)))
