"""`eifel analyze` and `eifel whatif`, on captures that the simulator writes."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import sys
from html import escape
from pathlib import Path
from typing import Any

import pytest

import eifel
from browser import CHROMIUM, Browser
from eifel.cli import main
from eifel.studies.captures_tools import tstat_kinds

SCENARIO = """
duration_s = 300
[point_to_point]
rate_bps = 4_000_000
delay_ms = 40
queue = { kind = "drop-tail", packets = 60 }
[[spike]]
links = ["bottleneck"]
holds = "sending"
at = [{ start_s = 2.0, length_s = 1.5 }]
[[flow]]
name = "main"
from = "sender"
to = "receiver"
application = { kind = "bulk", bytes = 2_000_000 }
[flow.tcp]
receive_window_segments = 50
[flow.sender]
detect = "none"
respond = "none"
recover = "rack-tlp"
rto = "linux"
"""
ROW = {"frame", "time_s", "connection", "seq", "bytes", "copy", "cause", "verdict", "confidence", "evidence_frame"}


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("captures")
    (folder / "spike.toml").write_text(SCENARIO)
    assert main(["run", str(folder / "spike.toml"), "--pcap", str(folder / "spike.pcapng")]) == 0
    return folder / "spike.pcapng"


def said(capsys: pytest.CaptureFixture[str]) -> str:
    err = capsys.readouterr().err
    assert err.count("\n") == 1, err
    return err


def test_json_has_the_published_shape(capture: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", str(capture), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert {"captures", "connections", "retransmissions"} <= report.keys()
    assert report["retransmissions"]
    for row in report["retransmissions"]:
        assert {*ROW, "stack_noticed"} <= row.keys()
        assert row["frame"] >= 1 and row["copy"] >= 2 and row["verdict"] in ("spurious", "needed", "undecidable")
    assert {row["verdict"] for row in report["retransmissions"]} == {"spurious"}


def test_retransmissions_of_sctp_are_listed_by_their_tsn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario, pcap = tmp_path / "sctp.toml", tmp_path / "sctp.pcapng"
    flow = SCENARIO[SCENARIO.index("[[flow]]") : SCENARIO.index("[flow.tcp]")]
    scenario.write_text(SCENARIO[: SCENARIO.index("[[flow]]")] + flow + 'transport = "sctp"\n')
    assert main(["run", str(scenario), "--pcap", str(pcap)]) == 0
    assert main(["analyze", str(pcap), "--json"]) == 0
    text = capsys.readouterr().out
    rows = json.loads(text[text.index("\n{") :])["retransmissions"]
    assert rows and "seq" not in rows[0]
    assert main(["analyze", "-v", str(pcap)]) == 0
    shown = capsys.readouterr().out
    assert "seq or TSN" in shown and str(rows[0]["tsn"]) in shown
    if shutil.which("tshark"):
        assert main(["analyze", str(pcap), "--compare-tshark", "--json"]) == 0
        pairs = json.loads(capsys.readouterr().out)["tshark"]
        # tshark sees each retransmission of a chunk, and calls none of them new data.
        assert sum(pair["count"] for pair in pairs if pair["tshark"] != "-") == len(rows)


def test_a_condition_decides_the_exit_code(capture: Path) -> None:
    assert main(["analyze", str(capture), "--fail-if", "spurious>1%"]) == 1
    assert main(["analyze", str(capture), "--fail-if", "needed>0"]) == 0


FAULTS = Path(__file__).parents[2] / "crates/capture/tests/faults"


def test_keep_alives_meet_no_condition_and_count_in_no_metric() -> None:
    capture = FAULTS / "keep_alives.pcapng"
    assert main(["analyze", str(capture), "--fail-if", "spurious>1%", "--fail-if", "retransmissions>0"]) == 0
    resource = json.loads(eifel.analyze(capture).otel())["resourceMetrics"][0]
    metrics = {metric["name"]: metric for metric in resource["scopeMetrics"][0]["metrics"]}
    assert metrics["tcp.retrans"]["sum"]["dataPoints"] == []


def test_a_judgement_over_nothing_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unread = tmp_path / "infiniband.pcap"
    header = b"\xd4\xc3\xb2\xa1\x02\x00\x04\x00" + bytes(8) + (262144).to_bytes(4, "little")
    record = bytes(8) + (60).to_bytes(4, "little") * 2 + bytes(60)
    unread.write_bytes(header + (242).to_bytes(4, "little") + record)
    assert main(["analyze", str(unread)]) == 1
    shown = capsys.readouterr()
    assert "IP over InfiniBand" in shown.err and "Nothing was retransmitted" not in shown.out
    # Frames of other protocols were read, and there is nothing to judge.
    other = tmp_path / "other.pcap"
    other.write_bytes(header + (1).to_bytes(4, "little") + record)
    assert main(["analyze", str(other)]) == 0
    assert main(["analyze", str(other), "--fail-if", "spurious>1%"]) == 1


def test_a_condition_that_a_capture_cannot_answer_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = (FAULTS / "lan_reorder_ts.pcap").read_bytes()
    packets = [24]
    while packets[-1] < len(whole):
        packets.append(packets[-1] + 16 + int.from_bytes(whole[packets[-1] + 8 : packets[-1] + 12], "little"))

    def asked(content: bytes, condition: str = "spurious>99%") -> tuple[int, str]:
        (tmp_path / "x.pcap").write_bytes(content)
        code = main(["analyze", str(tmp_path / "x.pcap"), "--fail-if", condition])
        return code, capsys.readouterr().err

    assert asked(whole) == (0, "")
    for begin in (b"", whole[:24]):
        code, said = asked(begin)
        assert code == 1 and "nothing in the capture can be judged" in said
    # The handshake alone.
    assert asked(whole[: packets[2]]) == (1, "eifel: fails because of --fail-if: no segment has data\n")
    code, said = asked(whole[: packets[-2] + 20])
    assert code == 1 and said.endswith("eifel: fails because of --fail-if: the rest of a file could not be read\n")


@pytest.mark.skipif(shutil.which("tshark") is None, reason="SKIPPED: tshark is not installed, so it was not compared")
def test_tshark_and_the_report_agree_on_the_retransmissions_of_sctp(capsys: pytest.CaptureFixture[str]) -> None:
    capture = FAULTS / "sctp_verbose.pcapng"
    assert main(["analyze", str(capture), "--compare-tshark", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert sum(row["count"] for row in report["tshark"] if row["tshark"] != "-") == len(report["retransmissions"]) == 7


def test_a_copy_to_give_away_has_the_same_verdicts_and_no_address(capture: Path, tmp_path: Path) -> None:
    assert main(["analyze", str(capture), "--anonymise", str(tmp_path / "copy.pcapng")]) == 0
    original, copy = eifel.analyze(capture).report, eifel.analyze(tmp_path / "copy.pcapng").report
    assert original["retransmissions"] == copy["retransmissions"]
    assert original["connections"][0]["client"].startswith("10.0.0.1:")
    assert copy["connections"][0]["client"].startswith("198.18.0.1:")


def test_the_metrics_have_the_reports_counts(capture: Path, tmp_path: Path) -> None:
    assert main(["analyze", str(capture), "--otel", str(tmp_path / "metrics.json")]) == 0
    content = json.loads((tmp_path / "metrics.json").read_text())
    (metrics,) = (scope["metrics"] for scope in content["resourceMetrics"][0]["scopeMetrics"])
    sums = {
        one["name"]: sum(int(point["asInt"]) for point in one["sum"]["dataPoints"]) for one in metrics if "sum" in one
    }
    report = eifel.analyze(capture).report
    way = report["connections"][0]["directions"][0]
    assert sums == {
        "tcp.retrans": len(report["retransmissions"]),
        "tcp.bytes": way["bytes"],
        "tcp.packets": way["segments"],
    }


def test_the_page_draws_each_direction_and_zooms_to_episodes(capture: Path, tmp_path: Path) -> None:
    assert main(["analyze", str(capture), "--report", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text()
    assert page.count('<figure class="chart" aria-label') == 1 and "spurious retransmission" in page
    assert page.count("data-from=") >= 1 and "http://" not in page.split("<body>")[1].split("<script>")[0]


LOST_ACKS = """
duration_s = 60
seed = {seed}
[point_to_point]
rate_bps = 2_000_000
delay_ms = 50
queue = {{ kind = "drop-tail", packets = 200 }}
back = {{ loss = {{ kind = "random", rate = {rate} }} }}
[[flow]]
name = "main"
from = "sender"
to = "receiver"
application = {{ kind = "bulk", bytes = 4_000_000 }}
tcp = {{ receive_window_segments = 30 }}
sender = {{ rto = "linux", recover = "rack-tlp" }}
"""


def advice_over(scenario: Path) -> dict[str, str]:
    """Returns the faults that the capture of a run shows, with their evidence."""
    capture = scenario.with_suffix(".pcap")
    assert main(["run", str(scenario), "--pcap", str(capture)]) == 0
    return {one["fault"]: one["evidence"] for one in eifel.analyze(capture).report["advice"]}


def test_the_spike_of_the_examples_is_named_with_its_length(tmp_path: Path) -> None:
    # It repeats one segment twice, and the ACK of the original comes a round trip after the second time.
    found = advice_over(Path(shutil.copy(Path(__file__).parents[2] / "examples" / "spike.toml", tmp_path)))
    assert found.keys() == {"stall"}
    # The path stands still from 28 s to 40 s, and the round trip is 2.9 s.
    assert "The longest wait for such an ACK was 14.87 s, from 26.542 s after the first packet" in found["stall"]


@pytest.mark.parametrize("rate", [0.5, 0.8])
def test_lost_acks_are_no_delay_spike(tmp_path: Path, rate: float) -> None:
    faults, needless = set(), 0
    for seed in range(1, 9):
        (tmp_path / "lost.toml").write_text(LOST_ACKS.format(seed=seed, rate=rate))
        faults |= advice_over(tmp_path / "lost.toml").keys()
        rows = eifel.analyze(tmp_path / "lost.pcap").report["retransmissions"]
        needless += sum(row["verdict"] == "spurious" for row in rows)
    assert faults == {"lost-acks"} and needless > 8


def test_an_empty_capture_says_how_to_capture_in_text_and_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty.pcap"
    # The header of a file without packets.
    empty.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    assert main(["analyze", str(empty), "--report", str(tmp_path / "page.html")]) == 0
    shown = capsys.readouterr().out
    page = (tmp_path / "page.html").read_text()
    way_on = "Capture on the host that sends, while it sends data: tcpdump -i any -w file.pcap 'tcp or sctp'"
    for said in ("Nothing can be said about retransmissions: the capture holds no packet.", way_on):
        assert f"{said}\n" in shown and escape(said) in page
    assert shown.splitlines()[2] == f"{empty}: 0 frames"


def test_text_json_and_page_have_the_same_total_and_advice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capture = FAULTS.parent / "advice" / "reordered_without_dsack.pcap.gz"
    assert main(["analyze", str(capture), "--json", "--report", str(tmp_path / "page.html")]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [one["fault"] for one in report["advice"]] == ["reordering", "no-dsack"]
    assert all(set(one) == {"fault", "evidence", "action", "confirm", "source"} for one in report["advice"])
    page = (tmp_path / "page.html").read_text()
    text = " ".join(str(eifel.analyze(capture)).split())
    assert text.startswith(report["headline"]) and escape(report["headline"]) in page
    for one in report["advice"]:
        for name in ("evidence", "action", "confirm", "source"):
            assert one[name] in text and escape(one[name]) in page
    for words in ("fast: ACKs reported a gap", "seen at the sender, round trip from there to the receiver at least"):
        assert words in text and words in page


@pytest.mark.skipif(CHROMIUM is None, reason="SKIPPED: chromium is not installed, so the page was not opened")
@pytest.mark.parametrize("width", [390, 1280])
def test_the_pages_totals_and_advice_fit_the_screen(width: int, tmp_path: Path) -> None:
    capture = FAULTS.parent / "advice" / "reordered_without_dsack.pcap.gz"
    assert main(["analyze", str(capture), "--report", str(tmp_path / "page.html")]) == 0
    tables = "[...document.querySelectorAll('.causes, .advice')]"
    with Browser(tmp_path / "profile") as browser:
        browser.screen(width, 844)
        browser.open(tmp_path / "page.html")
        beyond = browser.evaluate(f"{tables}.map((one) => one.offsetWidth - one.parentElement.clientWidth)")
    assert len(beyond) == 2
    assert max(beyond) <= 0


def test_the_page_lists_what_was_not_counted(tmp_path: Path) -> None:
    assert main(["analyze", str(FAULTS / "keep_alives.pcapng"), "--report", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text()
    assert "Nothing was retransmitted, in 100 segments with data." in page
    assert "<li>not counted as retransmissions, since they repair nothing: 15 keep-alives</li>" in page
    assert "What the evidence shows" not in page


@pytest.mark.skipif(shutil.which("tshark") is None, reason="SKIPPED: tshark is not installed, so it was not compared")
def test_each_difference_from_tshark_is_shown_with_its_reason(
    capture: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyze", str(capture), "--compare-tshark", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    ours = sum(row["count"] for row in report["tshark"] if row["verdict"] != "-")
    assert ours == len(report["retransmissions"])
    assert all(row["why"] and row["frames"] for row in report["tshark"])


def test_without_tshark_one_line_says_so(
    capture: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert main(["analyze", str(capture), "--compare-tshark"]) == 2
    assert "tshark is not installed" in said(capsys)


def test_a_run_over_the_extracted_path_behaves_like_the_capture(
    capture: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "path.toml"
    assert main(["analyze", str(capture), "--extract-path", str(path)]) == 0
    text = path.read_text()
    assert text.startswith("# The path that 10.0.0.1:") and "its events agree" in text and "# Open: the queue" in text
    replayed, original = eifel.run(path), eifel.run(SCENARIO)
    assert replayed.summary["captured"]["time_s"] == pytest.approx(original.summary["main"]["time_s"], rel=0.02)
    link = eifel.extract_path(capture).found["path"]
    assert link["rate_bps"] == pytest.approx(4e6, rel=0.005)
    assert link["base_rtt_ms"] == pytest.approx(80.1, rel=0.005)


def test_a_predictions_range_holds_the_other_senders_goodput(
    capture: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changes = ["--set", "sender.detect=eifel-timestamps", "--set", "sender.respond=rfc4015"]
    assert main(["whatif", str(capture), *changes, "--draws", "20", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["refused"] is None and found["prediction"]["draws"] == 20
    captured, other = found["prediction"]["senders"]
    assert (
        captured["name"] == "as captured" and other["name"] == "sender.detect=eifel-timestamps sender.respond=rfc4015"
    )
    (tmp_path / "other.toml").write_text(SCENARIO.replace('detect = "none"', "").replace('"none"', '"rfc4015"'))
    assert main(["run", str(tmp_path / "other.toml"), "--pcap", str(tmp_path / "other.pcapng")]) == 0
    truth = eifel.extract_path(tmp_path / "other.pcapng").found["events"]
    goodput = truth["bytes"] * 8 / truth["took_s"]
    assert other["goodput_bps"]["low"] <= goodput <= other["goodput_bps"]["high"]
    assert sum(order["share"] for order in found["prediction"]["orders"]) == pytest.approx(1)


def test_a_receiver_without_sack_has_no_dsack_either(capture: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whatif", str(capture), "--set", "tcp.sack=false", "--draws", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in found["prediction"]["senders"]] == ["as captured", "tcp.sack=false"]
    # A contradiction that was asked for is an error.
    assert main(["whatif", str(capture), "--set", "tcp.sack=false", "--set", "tcp.dsack=true"]) == 2
    assert "contradicts sack = false" in capsys.readouterr().err


def test_an_application_that_pauses_is_no_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pauses = '{ kind = "request-response", requests = 5, request_bytes = 90000, response_bytes = 9, think_ms = 500 }'
    scenario = tmp_path / "pauses.toml"
    scenario.write_text(SCENARIO.replace('{ kind = "bulk", bytes = 2_000_000 }', pauses))
    capture = tmp_path / "pauses.pcapng"
    assert main(["run", str(scenario), "--pcap", str(capture)]) == 0
    capsys.readouterr()
    assert main(["whatif", str(capture), "--set", "sender.rto=linux", "--json"]) == 1
    printed = capsys.readouterr()
    assert "application paused" in json.loads(printed.out)["refused"] and "application paused" in printed.err


def test_an_unknown_sender_is_bad_input(capture: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whatif", str(capture), "--set", "sender.detekt=none"]) == 2
    assert "nearest: detect" in said(capsys)


def test_every_packet_that_a_quic_stack_declared_lost_has_a_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def of(packet: int) -> dict[str, Any]:
        return {"header": {"packet_type": "1RTT", "packet_number": packet}}

    events = [
        *({"time": packet, "name": "transport:packet_sent", "data": of(packet)} for packet in (3, 4)),
        *({"time": 5, "name": "recovery:packet_lost", "data": of(packet)} for packet in (3, 4)),
        {
            "time": 6,
            "name": "transport:packet_received",
            "data": {**of(0), "frames": [{"frame_type": "ack", "acked_ranges": [[3, 3]]}]},
        },
    ]
    log = tmp_path / "server.qlog"
    log.write_text(json.dumps({"traces": [{"vantage_point": {"type": "server"}, "events": events}]}))
    assert main(["analyze", str(log), "-v"]) == 0
    out = capsys.readouterr().out
    rows = [line.split() for line in out.splitlines() if "application" in line]
    # In milliseconds since the first event.
    assert [[row[0], row[5], row[7], row[8]] for row in rows] == [
        ["spurious", "3", "2.0", "3.0"],
        ["undecidable", "4", "2.0", "-"],
    ], out
    assert "evidence frame" not in out


def test_a_benchmark_is_the_same_each_time_and_is_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two"):
        assert main(["captures", str(tmp_path / name), "--transfers", "2", "--seed", "5"]) == 0
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    places = [f"{place}.{end}" for place in ("between", "receiver", "sender") for end in ("pcapng", "truth.csv")]
    assert files == sorted(f"{seed}.{end}" for seed in (5, 6) for end in (*places, "toml"))
    assert all((tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes() for name in files)
    capsys.readouterr()
    score = ["--score", str(tmp_path / "one" / "5.sender.truth.csv"), "--json"]
    assert main(["analyze", str(tmp_path / "one" / "5.sender.pcapng"), *score]) == 0
    assert "retransmissions" in json.loads(capsys.readouterr().out)["score"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["whatif", "CAPTURE"], "expected a change to ask about"),
        (["whatif", "CAPTURE", "--set", "sender.rto"], "expected key.path=value"),
        (["whatif", "CAPTURE", "--set", "sender.rto=linus"], "linus"),
        (["whatif", "CAPTURE", "--set", "seed.x=1"], "is no key"),
        (["whatif", "CAPTURE", "--set", "point_to_point.queue.packet=20"], "nearest: packets"),
        (["whatif", "CAPTURE", "--set", "sender.rto=linux", "--connection", "7"], "connection 7"),
        (["whatif", "missing.pcap", "--set", "sender.rto=linux"], "missing.pcap"),
        (["analyze", "missing.pcap"], "missing.pcap"),
        (["analyze", "CAPTURE", "--fail-if", "much"], "expected one of spurious"),
        (["analyze", "CAPTURE", "--score", "missing.csv"], "missing.csv"),
        (["analyze", "CAPTURE", "CAPTURE", "--extract-path", "x.toml"], "expected one file"),
    ],
)
def test_bad_input_is_refused_in_one_line(
    capture: Path, arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(capture) if argument == "CAPTURE" else argument for argument in arguments]) == 2
    assert complaint in said(capsys)


def test_a_capture_is_followed_while_it_is_made(capture: Path) -> None:
    command = [sys.executable, "-m", "eifel", "analyze", "-", "--json"]
    whole = capture.read_bytes()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write(whole[: len(whole) // 2])
        process.stdin.flush()
        # The command prints before the capture has ended.
        assert b" frames, " in process.stderr.readline()
        process.stdin.write(whole[len(whole) // 2 :])
        process.stdin.close()
        report = json.loads(process.stdout.read())
    assert report["retransmissions"] == eifel.analyze(capture).report["retransmissions"]


def test_tstats_logs_are_counted_by_kind_and_of_incomplete_connections_in_all() -> None:
    kinds = ("rto", "fs", "reor", "dup", "unk", "fc", "unrto", "unfs")
    names = [f"{end}_pkts_{kind}" for end in "cs" for kind in kinds]
    head = " ".join(f"{name}:{number}" for number, name in enumerate(names, 1))
    complete = tstat_kinds(f"#{head}\n" + " ".join(map(str, range(16))))
    assert complete == {kind: 2 * number + 8 for number, kind in enumerate(kinds)}
    assert tstat_kinds("#c_pkts_retx:1 s_pkts_retx:2\n3 4\n0 1") == {"unk": 8}
    assert not tstat_kinds(f"#{head}")
