"""`eifel live` from Python. Tests that need namespaces and devices are skipped without the rights for them."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pyarrow import parquet

import eifel
from eifel import live, store
from eifel.cli import main
from eifel.documents import schemas
from eifel.papers import artefacts
from eifel.papers.live import kernel, loop, whatif, wire
from eifel.result import Result
from eifel.runs import run
from eifel.toml import dumps
from test_schemas import closed

needs_rights = pytest.mark.skipif(bool(live.missing()), reason=live.missing() or "none")
SHORT = {**live.SHORT, "flow": [{**live.ENDS, "application": {"kind": "bulk", "bytes": 100_000}}]}


def described(output: str, name: str) -> dict[str, Any]:
    """Returns a command's object, after its schema has accepted it."""
    found: dict[str, Any] = json.loads(output)
    assert [error.message for error in Draft202012Validator(closed(schemas.schema(name))).iter_errors(found)] == []
    return found


@pytest.mark.parametrize(
    ("name", "output"),
    [
        ("live-proxy", {"target": "10.0.0.1:80", "opened": True, "bytes_sent": 1, "bytes_received": 2, "segments": 3}),
        ("live-sctp", {"messages": 7, "bytes": 10, "chunks": 7, "bits_per_second": 4.0}),
    ],
)
def test_the_outputs_that_need_a_peer_have_a_schema(name: str, output: dict[str, Any]) -> None:
    more = {"schema": name, "version": 1, "seconds": 2.5, "retransmissions": 0}
    spurious = {"spurious_episodes": 0} if name == "live-proxy" else {}
    described(json.dumps({**output, **more, **spurious}), name)


@needs_rights
def test_simulation_and_wire_are_compared_in_an_object(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "short.toml").write_text(dumps(SHORT))
    code = main(["live", "compare", "--json", str(tmp_path / "short.toml")])
    found = described(capfd.readouterr().out, "live-compare")
    assert code == (0 if found["agrees"] else 1)
    assert found["agrees"] == (found["agreement"] in ("agrees", "box-late"))


@needs_rights
def test_a_run_on_the_wire_is_recorded_as_a_simulated_one_is(tmp_path: Path) -> None:
    found = live.run(SHORT)
    assert found.result.main["completed"]
    assert found.result.main["bytes"] == 100_000
    assert 0 < found.lateness.median_us <= found.lateness.max_us
    simulated = run(SHORT)
    sent = [one.of("transmissions").where(kind="new") for one in (found.result, simulated)]
    assert sent[0]["segment"].tolist() == sent[1]["segment"].tolist()
    assert set(sent[0]["fate"][sent[0]["segment"] > 0]) == {"delivered"}
    found.result.write(tmp_path / "run")
    assert Result.read(tmp_path / "run").main == found.result.main


@needs_rights
def test_a_scenario_that_has_no_bulk_transfer_is_refused() -> None:
    asks = {"kind": "request-response", "requests": 1, "request_bytes": 1, "response_bytes": 1, "think_ms": 1}
    with pytest.raises(OSError, match="bulk transfer"):
        live.run({**live.SHORT, "flow": [{**live.ENDS, "application": asks}]})
    with pytest.raises(eifel.ScenarioError):
        live.run({"duration_s": -1})


@needs_rights
def test_a_transfer_to_a_kernel_is_recorded(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    sink = "import socket; c, _ = socket.create_server(('', 5001)).accept()\nwhile c.recv(65536): pass"
    folder = tmp_path / "sent"
    call = ["live", "send", "--bytes", "300K", "--json", "--record", str(folder), "10.85.0.1:5001"]
    assert main([*call, "--", "python3", "-c", sink]) == 0
    assert json.loads(capfd.readouterr().out)["end"]["sum_sent"]["bytes"] == 300_000
    recorded = Result.read(folder)
    assert recorded.main["bytes"] == 300_000
    assert int(recorded.of("transmissions")["len"].sum()) >= 300_000
    assert "<title>eifel live send</title>" in folder.with_suffix(".html").read_text()


@needs_rights
def test_a_transfer_from_a_kernel_is_recorded_at_its_receiver(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source = "import socket; socket.create_connection(('10.85.0.2', 5001)).sendall(bytes(300_000))"
    folder = tmp_path / "taken"
    call = ["live", "receive", "--json", "--record", str(folder), "5001"]
    assert main([*call, "--", "python3", "-c", source]) == 0
    assert described(capfd.readouterr().out, "live-receive")["streams"][0]["bytes"] == 300_000
    recorded = Result.read(folder)
    assert recorded.main["bytes"] == 300_000
    arrivals = recorded.of("arrivals")
    # Nothing is lost between two ends of one device. A retransmitted segment is recorded with no
    # new bytes.
    assert int(arrivals["new_bytes"].sum()) == 300_000
    assert int(arrivals["start"].min()) == 1
    assert bool((arrivals["in_order"] == (arrivals["new_bytes"] > 0)).all())
    assert "arrivals" in folder.with_suffix(".html").read_text()
    assert "arrived in order" in recorded.svg()


@needs_rights
def test_a_document_is_recorded_as_the_data_of_its_server(tmp_path: Path) -> None:
    (tmp_path / "document").write_bytes(bytes(100_000))
    folder = tmp_path / "got"
    call = ["live", "receive", "--record", str(folder), "http://10.85.0.1/document"]
    assert main([*call, "--", "python3", "-m", "http.server", "--directory", str(tmp_path), "80"]) == 0
    recorded = Result.read(folder)
    # The head of the response precedes the document.
    arrived, asked = recorded.of("arrivals"), recorded.of("transmissions", end="to")
    assert 100_000 < int(arrived["new_bytes"].sum()) == recorded.main["bytes"] < 101_000
    assert 0 < int(asked["len"].sum()) < 1000
    assert len(recorded.of("arrivals", end="to")) == len(recorded.of("transmissions")) == 0


@needs_rights
def test_one_connection_is_recorded(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["live", "receive", "--record", "folder", "--calls", "2", "5001"]) == 2
    assert capfd.readouterr().err == "eifel live: --record: one connection is recorded; leave --calls out\n"


def test_a_command_that_cannot_be_done_says_why_in_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["live", "judge", "nowhere"]) == 1
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    assert "eifel live hiccup --out" in said


def test_artefacts_are_left_out_loudly_without_rights(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("eifel.cli.reproduce.missing", lambda: "no rights")
    assert main(["reproduce", "live", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().err
    assert "*** SKIPPED" in said
    assert all(name in said for name in artefacts() if name.startswith("live."))


def test_a_capture_that_shows_no_path_leaves_rows_empty_and_fails_claims(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(_file: Path) -> None:
        raise eifel.PathError("sender.pcapng: one queue does not explain it")

    monkeypatch.setattr(kernel, "sends", lambda *_asked: {"retransmissions": 23.0, "goodput_bps": 1e6})
    monkeypatch.setattr(whatif, "extract_path", refused)
    monkeypatch.setattr("eifel.cli.reproduce.missing", lambda: "")
    assert main(["reproduce", "live.whatif", "--fresh", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert f"live.whatif: {whatif.CAPTURED}: sender.pcapng: one queue does not explain it" in said.err
    measured = store.read(tmp_path, artefacts()["live.whatif"])
    assert measured is not None
    assert measured.mean("retransmissions", what=whatif.HAPPENED) == 23
    assert not measured.row(what=whatif.PREDICTED).means
    assert not any(claim["holds"] for claim in measured.claims())


def test_the_least_late_of_some_tries_is_kept(tmp_path: Path) -> None:
    late = iter([5000.0, wire.ON_TIME_US + 1.0, 3000.0, 4000.0, 9000.0])
    assert wire.least_late(lambda _out: next(late), tmp_path) == tmp_path / "try 2"
    assert wire.least_late(lambda _out: float(wire.ON_TIME_US), tmp_path) == tmp_path / "try 1"


@needs_rights
@pytest.mark.alone
def test_the_spike_is_the_same_on_the_wire() -> None:
    artefact = artefacts()["live.spike"]
    results = wire.results(artefact.rows[:2])
    late = results[1].main["late_ms"]
    if late > wire.ON_TIME_US / 1e3:
        pytest.skip(f"the machine is so busy that the box was {late} ms late")
    assert wire.retransmissions(results[0]) == wire.retransmissions(results[1]) != []
    assert wire.verdicts(results[0]) == wire.verdicts(results[1]) != []


@needs_rights
def test_the_log_of_a_box_is_stored_as_parquet(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    scenario = tmp_path / "path.toml"
    scenario.write_text(dumps(SHORT))
    sink = "import socket; c, _ = socket.create_server(('', 5001)).accept()\nwhile c.recv(65536): pass"
    source = (
        "import os, socket; s = socket.create_connection((os.environ['EIFEL_PEER'], 5001));"
        "s.sendall(bytes(50_000)); s.shutdown(socket.SHUT_WR); s.recv(1)"
    )
    (tmp_path / "sink.py").write_text(sink)
    call = ["live", "hiccup", "--json", "--out", str(tmp_path / "box"), "--peer", f"python3 {tmp_path}/sink.py"]
    assert main([*call, str(scenario), "--", "python3", "-c", source]) == 0
    numbers = described(capfd.readouterr().out, "live-hiccup")["numbers"]
    assert main(["live", "judge", "--json", str(tmp_path / "box")]) == 0
    assert described(capfd.readouterr().out, "live-judge")["retransmissions"] == 0
    table = parquet.read_table(tmp_path / "box" / "path.parquet")
    assert table.num_rows == numbers["there.packets"] + numbers["back.packets"]
    rows = [row for row in table.to_pylist() if row["fate"] == "ok"]
    assert all(row["t_in"] <= row["t_due"] <= row["t_out"] for row in rows)
    assert sum(row["len"] for row in rows if row["dir"] == "A") >= 50_000


@needs_rights
def test_the_path_of_a_recording_runs_in_the_emulator(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Runs record, extract and hiccup one after another, as a user would."""
    first, second = tmp_path / "first.toml", tmp_path / "second.toml"
    first.write_text(dumps(loop.path(loss={"kind": "random", "rate": 0.02}, rate_bps=4_000_000)))
    (tmp_path / "sink.py").write_text(kernel.SINK)
    (tmp_path / "source.py").write_text(kernel.SOURCE)
    dropped = []
    for number, scenario in enumerate((first, second)):
        recorded = tmp_path / f"{number}.pcapng"
        call = ["live", "hiccup", "--json", "--peer", f"python3 {tmp_path}/sink.py 250000", str(scenario), "--"]
        sent = ["python3", str(tmp_path / "source.py"), "500000", "tcp_congestion_control=reno"]
        for _ in range(wire.TRIES):
            assert main([*call, *kernel.EIFEL, "record", str(recorded), "--", *sent]) == 0
            numbers = json.loads(capfd.readouterr().out)["numbers"]
            if numbers["late_us_max"] <= wire.ON_TIME_US:
                break
        dropped.append(numbers["there.dropped"])
        if number == 0:
            assert main(["analyze", str(recorded), "--extract-path", str(second)]) == 0
            assert "retransmissions" in capfd.readouterr().out
    link = tomllib.loads(second.read_text())["point_to_point"]
    assert link["rate_bps"] == pytest.approx(4_000_000, rel=0.05)
    assert 2 * link["delay_ms"] == pytest.approx(loop.ROUND_TRIP_MS, rel=0.05)
    # The second run has the losses of the first one, as a list of segments and not as a rate.
    assert dropped[0] == dropped[1] > 0
    assert sum(drop["copies"] * len(drop["segments"]) for drop in link["drops"]) == dropped[0]
