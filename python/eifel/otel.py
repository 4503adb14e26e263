"""Writes the report as OpenTelemetry metrics: OTLP in JSON, for the collector's `otlpjsonfile` receiver."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from eifel import quic
from eifel.captures import repairs

SCOPE = "eifel"
CUMULATIVE = 2
"""The protocol's `AGGREGATION_TEMPORALITY_CUMULATIVE`."""


def metrics(report: Mapping[str, Any]) -> str:
    """Returns one line of OTLP/JSON. Counts are sums from the first packet of a connection to its last."""
    from eifel import _engine

    sums = [_retransmissions(report), _bytes(report), _segments(report), *_of_logs(report)]
    gauges = [_round_trips(report)]
    resource = {"attributes": [_attribute("service.name", "eifel")]}
    scope = {"name": SCOPE, "version": _engine.version()}
    content = {"resource": resource, "scopeMetrics": [{"scope": scope, "metrics": [*sums, *gauges]}]}
    return json.dumps({"resourceMetrics": [content]}) + "\n"


def _directions(report: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    for connection in report["connections"]:
        for end, way in zip(("client", "server"), connection["directions"], strict=True):
            yield end, connection, way


def _ends(connection: Mapping[str, Any], end: str) -> dict[str, Any]:
    (source, source_port), (destination, destination_port) = (
        connection[name].rsplit(":", 1) for name in (("client", "server") if end == "client" else ("server", "client"))
    )
    # OpenTelemetry's attributes for both ends of a connection, and for its protocols.
    return {
        "source.address": source.strip("[]"),
        "source.port": int(source_port),
        "destination.address": destination.strip("[]"),
        "destination.port": int(destination_port),
        "network.transport": connection["protocol"],
        "network.type": "ipv6" if source.startswith("[") else "ipv4",
    }


def _retransmissions(report: Mapping[str, Any]) -> dict[str, Any]:
    known = {row["connection"]: row for row in report["connections"]}
    counts: Counter[tuple[int, str, str, str, str]] = Counter()
    for row in repairs(report):
        counts[row["connection"], row["sender"], row["cause"], row["verdict"], row["confidence"]] += 1
    points = []
    for (number, end, cause, verdict, confidence), count in sorted(counts.items()):
        if number in known:
            words = {"eifel.cause": cause, "eifel.verdict": verdict, "eifel.confidence": confidence}
            points.append(_point(known[number], {**_ends(known[number], end), **words}, count))
    return _sum("tcp.retrans", "{segment}", "Segments that sent something again, by cause and verdict.", points)


def _bytes(report: Mapping[str, Any]) -> dict[str, Any]:
    points = []
    for end, connection, way in _directions(report):
        if way["bytes"]:
            for again, count in ((True, way["bytes_again"]), (False, way["bytes"] - way["bytes_again"])):
                points.append(_point(connection, {**_ends(connection, end), "eifel.again": again}, count))
    return _sum("tcp.bytes", "By", "Payload that was sent, apart by whether it was sent before.", points)


def _segments(report: Mapping[str, Any]) -> dict[str, Any]:
    points = [_point(one, _ends(one, end), way["segments"]) for end, one, way in _directions(report) if way["segments"]]
    return _sum("tcp.packets", "{segment}", "Segments with payload.", points)


def _round_trips(report: Mapping[str, Any]) -> dict[str, Any]:
    points = [
        {**_point(one, _ends(one, end), 0), "asInt": None, "asDouble": way["rtt_ms_min"] / 1e3}
        for end, one, way in _directions(report)
        if way["rtt_ms_min"] is not None and way["segments"]
    ]
    points = [{name: value for name, value in point.items() if value is not None} for point in points]
    description = "Smallest round trip from the place of the capture to the receiver."
    return {"name": "eifel.tcp.rtt.min", "unit": "s", "description": description, "gauge": {"dataPoints": points}}


def _of_logs(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    sums: dict[str, dict[str, Any]] = {}
    for name, unit, description, trace, words, value in quic.counts(report):
        first, last = quic.times_unix_ns(trace)
        point = {
            "attributes": [_attribute(name, word) for name, word in {**words, "network.transport": "quic"}.items()],
            "startTimeUnixNano": str(first),
            "timeUnixNano": str(last),
            "asInt": str(value),
        }
        sums.setdefault(name, _sum(name, unit, description, []))["sum"]["dataPoints"].append(point)
    return list(sums.values())


def _sum(name: str, unit: str, description: str, points: list[dict[str, Any]]) -> dict[str, Any]:
    content = {"dataPoints": points, "aggregationTemporality": CUMULATIVE, "isMonotonic": True}
    return {"name": name, "unit": unit, "description": description, "sum": content}


def _point(connection: Mapping[str, Any], attributes: Mapping[str, Any], count: int) -> dict[str, Any]:
    first = connection["time_s"]
    return {
        "attributes": [_attribute(name, value) for name, value in attributes.items()],
        "startTimeUnixNano": str(round(first * 1e9)),
        "timeUnixNano": str(round((first + connection["duration_s"]) * 1e9)),
        "asInt": str(count),
    }


def _attribute(name: str, value: str | int | bool) -> dict[str, Any]:
    # A bool is an int in Python, but not in the protocol.
    if isinstance(value, bool):
        return {"key": name, "value": {"boolValue": value}}
    if isinstance(value, int):
        return {"key": name, "value": {"intValue": str(value)}}
    return {"key": name, "value": {"stringValue": value}}
