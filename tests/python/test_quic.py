"""What the command writes of QUIC logs."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest

import eifel
from eifel.cli import main


def events(*, named: bool) -> list[dict[str, Any]]:
    def of(packet: int) -> dict[str, Any]:
        return {"header": {"packet_type": "1RTT", "packet_number": packet}, "raw": {"length": 1200}}

    def ack(time: int, number: int, ranges: list[list[int]]) -> dict[str, Any]:
        frames = [{"frame_type": "ack", "acked_ranges": ranges}]
        return {"time": time, "name": "quic:packet_received", "data": {**of(number), "frames": frames}}

    lost = [
        {"time": 40, "name": "quic:packet_lost", "data": {**of(packet), "trigger": 'a "b", c'}} for packet in (3, 4)
    ]
    counted = {"cf_lost_packets": {"total": 2, "delta": 2}, "congestion_window": 9000}
    return [
        {"time": 0, "name": "quic:recovery_metrics_updated", "data": {"smoothed_rtt": 30, "congestion_window": 20000}},
        *({"time": packet, "name": "quic:packet_sent", "data": of(packet)} for packet in range(10)),
        ack(40, 0, [[0, 2], [5, 9]]),
        *(lost if named else [{"time": 40, "name": "quic:recovery_metrics_updated", "data": counted}]),
        ack(60, 1, [[0, 2], [4, 9]]),
        ack(90, 2, [[0, 2], [4, 9]]),
    ]


def write(folder: Path, *, named: bool = True) -> str:
    log = folder / "server.qlog"
    log.write_text(json.dumps({"traces": [{"vantage_point": {"type": "server"}, "events": events(named=named)}]}))
    os.utime(log, ns=(5_000_000_000, 5_000_000_000))
    return str(log)


def test_tables_have_a_row_for_each_packet_declared_lost(tmp_path: Path) -> None:
    from pyarrow import parquet

    log, rows = write(tmp_path), tmp_path / "rows.csv"
    assert main(["analyze", log, "--csv", str(rows), "--parquet", str(tmp_path / "rows.parquet")]) == 0
    with rows.open(newline="") as file:
        read = list(csv.DictReader(file))
    told = [(row["packet_number"], row["verdict"], row["bytes"], row["acknowledged_ms"]) for row in read]
    assert told == [("3", "genuine", "1200", ""), ("4", "spurious", "1200", "60.0")]
    assert read[0]["trigger"] == 'a "b", c'
    table = parquet.read_table(tmp_path / "rows.parquet")
    assert table.column("verdict").to_pylist() == ["genuine", "spurious"]
    assert eifel.analyze(log).lost_packets.to_pylist() == table.to_pylist()


@pytest.mark.parametrize(
    ("condition", "fails"),
    [
        ("spurious>9%", True),
        ("spurious>10%", False),
        ("needed=1", True),
        ("genuine=1", True),
        ("lost>=2", True),
        ("retransmissions>2", False),
        ("undecidable>0", False),
    ],
)
def test_a_condition_counts_packets_declared_lost(tmp_path: Path, condition: str, fails: bool) -> None:
    assert main(["analyze", write(tmp_path), "--fail-if", condition]) == int(fails)


def test_a_condition_that_logs_cannot_answer_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = write(tmp_path, named=False)
    assert main(["analyze", log, "--fail-if", "spurious>1%"]) == 1
    assert "nothing is known of any of the 2 packets declared lost" in capsys.readouterr().err
    assert main(["analyze", log, "--fail-if", "lost>2"]) == 0
    empty = tmp_path / "empty.qlog"
    empty.write_text('{"traces": [{"events": []}]}')
    assert main(["analyze", str(empty), "--fail-if", "lost>2"]) == 1
    assert "the logs show no packets that were sent" in capsys.readouterr().err


def test_metrics_count_losses_by_verdict(tmp_path: Path) -> None:
    log, found = write(tmp_path), tmp_path / "metrics.json"
    assert main(["analyze", log, "--otel", str(found)]) == 0
    metrics = json.loads(found.read_text())["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]
    points = {metric["name"]: metric["sum"]["dataPoints"] for metric in metrics if metric["name"].startswith("quic")}
    assert [point["asInt"] for point in points["quic.packets"]] == ["10"]
    assert [point["asInt"] for point in points["quic.packets.lost"]] == ["1", "1"]
    assert [point["asInt"] for point in points["quic.congestion_events"]] == ["1"]
    [point] = points["quic.packets"]
    assert (point["startTimeUnixNano"], point["timeUnixNano"]) == ("4910000000", "5000000000")
    named = {one["key"]: one["value"] for one in points["quic.packets.lost"][1]["attributes"]}
    assert named["eifel.verdict"] == {"stringValue": "spurious"}
    assert named["network.transport"] == {"stringValue": "quic"}


def test_a_page_and_graphs_show_the_losses(tmp_path: Path) -> None:
    log, page, graphs = write(tmp_path), tmp_path / "page.html", tmp_path / "graphs"
    assert main(["analyze", log, "--report", str(page), "--xpl", str(graphs)]) == 0
    text = page.read_text()
    total = "1 of 2 packets declared lost had arrived. 1 was lost."
    assert total in text and repr(eifel.analyze(log)) == f"Analysis: {total}"
    assert "a &quot;b&quot;, c" in text
    graph = (graphs / "0.server.xpl").read_text()
    assert graph.startswith("timeval unsigned\n") and graph.endswith("go\n")
    assert "atext 0.004000 4\nS\n" in graph and "atext 0.003000 3\nG\n" in graph


@pytest.mark.parametrize("option", ["--annotate", "--anonymise"])
def test_a_log_has_no_frames_to_copy(tmp_path: Path, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", write(tmp_path), option, str(tmp_path / "copy.pcapng")]) == 2
    assert "a log of QUIC has no frames" in capsys.readouterr().err


def test_records_of_another_transport_are_judged_as_logs_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The example: transmission 1 was declared lost by reordering, and acknowledged 50 ms later."""
    example = Path(__file__).parents[2] / "examples" / "facts.csv"
    assert main(["analyze", "--facts", str(example), "--json", "--fail-if", "spurious>1%"]) == 1
    found = json.loads(capsys.readouterr().out)["quic"]
    (lost,) = found["packets"]
    assert (lost["packet_number"], lost["trigger"], lost["acknowledged_ms"]) == (1, "reordering", 160.0)
    assert (lost["verdict"], lost["confidence"]) == ("spurious", "certain")
    assert main(["analyze", str(example), "--csv", str(tmp_path / "rows.csv")]) == 0
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 2


def test_a_table_without_the_columns_of_records_is_refused_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "table.csv"
    table.write_text("time,what\n0,sent\n")
    assert main(["analyze", "--facts", str(table)]) == 2
    expected = f"eifel: --facts: {table}: expected a first line with the columns time_s, event and number"
    assert capsys.readouterr().err.strip() == expected
    table.write_text("time_s,event,number\n0,sent,0\nx,lost,0\n")
    assert main(["analyze", "--facts", str(table)]) == 2
    assert 'line 3: time_s "x"; expected seconds' in capsys.readouterr().err
