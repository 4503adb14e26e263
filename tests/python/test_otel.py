"""The metrics of a report, as OpenTelemetry has them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from eifel import otel


def report(protocol: str, client: str, server: str) -> dict[str, Any]:
    way = {"bytes": 3000, "bytes_again": 1000, "segments": 3, "rtt_ms_min": 12.5}
    idle = {"bytes": 0, "bytes_again": 0, "segments": 0, "rtt_ms_min": None}
    connection = {
        "connection": 0,
        "protocol": protocol,
        "client": client,
        "server": server,
        "time_s": 5.0,
        "duration_s": 2.5,
        "directions": [way, idle],
    }
    again = {"connection": 0, "sender": "client", "cause": "rto", "verdict": "spurious", "confidence": "certain"}
    return {"connections": [connection], "retransmissions": [again, again]}


def points(found: dict[str, Any], name: str) -> list[dict[str, Any]]:
    metrics = found["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]
    metric = next(one for one in metrics if one["name"] == name)
    content: list[dict[str, Any]] = metric.get("sum", metric.get("gauge"))["dataPoints"]
    return content


@pytest.mark.parametrize(
    ("protocol", "client", "server", "version"),
    [("tcp", "10.0.0.1:1000", "10.0.0.2:80", "ipv4"), ("sctp", "[fd00::1]:1000", "[fd00::2]:80", "ipv6")],
)
def test_a_point_names_both_ends_and_the_protocols(protocol: str, client: str, server: str, version: str) -> None:
    found = json.loads(otel.metrics(report(protocol, client, server)))
    [segments] = points(found, "tcp.packets")
    named = {one["key"]: next(iter(one["value"].values())) for one in segments["attributes"]}
    assert named == {
        "source.address": client.rsplit(":", 1)[0].strip("[]"),
        "source.port": "1000",
        "destination.address": server.rsplit(":", 1)[0].strip("[]"),
        "destination.port": "80",
        "network.transport": protocol,
        "network.type": version,
    }
    assert (segments["startTimeUnixNano"], segments["timeUnixNano"]) == ("5000000000", "7500000000")
    assert segments["asInt"] == "3"
    assert [point["asInt"] for point in points(found, "tcp.bytes")] == ["1000", "2000"]
    assert [point["asInt"] for point in points(found, "tcp.retrans")] == ["2"]
    assert [point["asDouble"] for point in points(found, "eifel.tcp.rtt.min")] == [0.0125]
