"""`eifel watch`: judged live against the truth of the box, with tracepoints missing, killed, and without rights."""

import csv
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest
from jsonschema import Draft202012Validator

from eifel import _engine
from eifel.cli import main
from eifel.documents import schemas
from eifel.watch import METRICS, Found, line
from test_schemas import closed

pytestmark = pytest.mark.alone

RECORDINGS = 12
"""One recording of each class that is drawn, and two of some."""
NEAR_S = 0.1
"""How far apart a recording and the kernel's own clock may have a retransmission."""
WAIT_S = 60
MISSING = ("this build has none", "run it as root", "/sys/kernel/btf")
"""Words of the lines that say why BPF cannot be used here."""


def row(**others: Any) -> dict[str, Any]:
    made = {
        "time_s": 1.5,
        "connection": 0,
        "local": "10.0.0.1:80",
        "remote": "10.0.0.2:4000",
        "seq": 1,
        "bytes": 100,
        "cause": "tlp",
        "verdict": "spurious",
        "confidence": "certain",
        "reason": "because",
        "kernel_undid": True,
        "undone_after_ms": 3.2,
    }
    return {**made, **others}


def test_totals_and_the_worst_connections_are_counted() -> None:
    found = Found()
    found.add([row(), row(verdict="needed", cause="rto"), row(connection=1, local="10.0.0.1:81", bytes=7)])
    found.add([row(connection=1, local="10.0.0.1:81")])
    found.counts = {"facts": 9, "undone": 2}
    summary = found.summary(1)
    assert (summary["retransmissions"], summary["spurious"], summary["needed"]) == (4, 3, 1)
    assert (summary["bytes"], summary["bytes_spurious"]) == (307, 207)
    assert summary["causes"] == {
        "rto": {"spurious": 0, "needed": 1, "undecidable": 0},
        "tlp": {"spurious": 3, "needed": 0, "undecidable": 0},
    }
    assert [one["local"] for one in summary["worst"]] == ["10.0.0.1:81"]
    assert (summary["facts"], summary["undone"], summary["facts_dropped"]) == (9, 2, 0)


def test_of_too_many_connections_those_with_most_retransmissions_are_kept() -> None:
    found = Found(most_connections=4)
    found.add([row(connection=7), row(connection=7), *(row(connection=number) for number in (1, 2, 3, 4))])
    assert len(found.connections) == 2
    assert 7 in found.connections
    assert found.retransmissions.total() == 6


def test_a_line_names_cause_verdict_and_undo() -> None:
    assert line(row()) == (
        "00:00:01.500 10.0.0.1:80 > 10.0.0.2:4000 seq 1 100 bytes, tlp: spurious (certain), because; "
        "the kernel undid it after 3 ms\n"
    )
    assert line(row(kernel_undid=None)).endswith("because\n")


@pytest.mark.parametrize(
    ("text", "holds"),
    [("spurious>1", False), ("spurious>=1", True), ("needed=50%", True), ("retransmissions<2", False)],
)
def test_a_condition_compares_a_number_or_a_share_of_all_retransmissions(text: str, *, holds: bool) -> None:
    found = Found()
    found.add([row(), row(verdict="needed")])
    assert bool(found.failures([text])) == holds


def test_a_host_that_sent_nothing_again_fails_no_condition_on_shares() -> None:
    assert Found().failures(["spurious>0%", "retransmissions>=1"]) == []
    assert main(["watch", "--fail-if", "often"]) == 2


def scraped(text: str) -> dict[str, float]:
    """Parses Prometheus' text format, and checks that each metric is described before its values."""
    values, described = {}, set()
    for one in text.splitlines():
        if one.startswith("# TYPE "):
            _, _, name, kind = one.split(" ")
            assert kind == "counter"
            described.add(name)
        elif not one.startswith("#"):
            series, value = one.rsplit(" ", 1)
            assert series.partition("{")[0] in described
            values[series] = float(value)
    assert described == set(METRICS)
    return values


def test_metrics_have_a_value_for_each_cause_and_verdict() -> None:
    found = Found()
    found.add([row(), row()])
    found.counts = {"facts_dropped": 5}
    values = scraped(found.prometheus(_engine.watched_causes()))
    assert values['eifel_tcp_retransmissions_total{cause="tlp",verdict="spurious"}'] == 2
    assert values['eifel_tcp_retransmissions_total{cause="rto",verdict="needed"}'] == 0
    assert values["eifel_watch_facts_dropped_total"] == 5
    assert sum(series.startswith("eifel_tcp_retransmissions_total") for series in values) == 3 * 8


@contextmanager
def watching(*arguments: str) -> Iterator[tuple["Watched", list[str]]]:
    """Watches this host until the end of the block. Gives the process, and the lines before it began."""
    call = [sys.executable, "-m", "eifel", "watch", "--json", *arguments]
    # Nobody reads the lines while it watches, and a pipe has room for some hundred.
    with tempfile.TemporaryFile("w+", encoding="utf-8") as lines:
        watch = subprocess.Popen(call, stdout=lines, stderr=subprocess.PIPE, text=True)
        said: list[str] = []
        try:
            assert watch.stderr
            for text in watch.stderr:
                said.append(text.strip())
                if text.strip() == "eifel watch: watching":
                    break
            else:
                if any(word in one for one in said for word in MISSING):
                    pytest.skip(f"BPF cannot be used here: {said[-1]}")
                pytest.fail(f"no watch: {said}")
            yield Watched(watch, lines), said
        finally:
            watch.kill()
            watch.communicate()


@dataclass
class Watched:
    process: subprocess.Popen[str]
    lines: IO[str]

    def ended(self) -> list[dict[str, Any]]:
        """Ends the watch in good order, and returns its lines."""
        self.process.send_signal(signal.SIGTERM)
        _, error = self.process.communicate(timeout=WAIT_S)
        assert self.process.returncode == 0, error
        self.lines.seek(0)
        return [json.loads(one) for one in self.lines]


def test_verdicts_agree_with_the_truth_of_the_box(tmp_path: Path) -> None:
    folder = tmp_path / "truth"
    with watching() as (watch, said):
        assert len(said) == 1, said
        record = [sys.executable, "-m", "eifel", "truth", "record", "--count", str(RECORDINGS), "--seed", "5"]
        recorded = subprocess.run([*record, str(folder)], capture_output=True, text=True, check=False)
        if recorded.returncode:
            pytest.skip(f"no recordings here: {recorded.stderr}")
        *rows, summary = watch.ended()
    # The host has other connections, in other tests too. A second lookup is by time.
    by_seq: dict[int, list[dict[str, Any]]] = {}
    for one in rows:
        by_seq.setdefault(one["seq"], []).append(one)
    said_of: Counter[tuple[bool, str]] = Counter()
    for file in sorted(folder.glob("*.sender.truth.csv")):
        with file.open(encoding="utf-8") as lines:
            for truth in csv.DictReader(lines):
                seq, at = int(truth["seq"]), float(truth["time"])
                near = [one for one in by_seq.get(seq, ()) if abs(one["time_s"] - at) < NEAR_S]
                if not near:
                    # The kernel retransmits several segments at once.
                    covers = (one for one in rows if (seq - one["seq"]) % 2**32 < one["bytes"])
                    near = [one for one in covers if abs(one["time_s"] - at) < NEAR_S]
                assert near, (file.name, truth)
                found = min(near, key=lambda one: abs(one["time_s"] - at))
                assert found["cause"] in (truth["cause"], "rack-timer"), (file.name, truth, found)
                spurious = truth["spurious"] == "1"
                said_of[spurious, found["verdict"]] += 1
                if found["verdict"] == "spurious" and found["confidence"] == "certain":
                    assert spurious, (file.name, truth, found)
    needed = sum(count for (spurious, _), count in said_of.items() if not spurious)
    spurious = sum(count for (spurious, _), count in said_of.items() if spurious)
    assert needed > 100, said_of
    assert spurious >= 5, said_of
    assert said_of[False, "spurious"] <= 0.02 * needed, said_of
    # As many are right as `eifel analyze` has right on captures at the sender, within two points.
    score = subprocess.run(
        [sys.executable, "-m", "eifel", "truth", "score", str(folder), "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    (all_,) = (one for one in json.loads(score.stdout)["rows"] if (one["place"], one["by"]) == ("sender", "all"))
    assert said_of[True, "spurious"] + said_of[False, "needed"] >= all_["right"] - 0.02 * (needed + spurious), all_
    for one in (*rows, summary):
        Draft202012Validator(closed(schemas.schema(one["schema"]))).validate(one)
    assert summary["schema"] == "watch-summary"
    assert summary["retransmissions"] == len(rows)
    assert summary["facts_dropped"] == 0


@pytest.mark.parametrize("filter_", [("--port", "9"), ("--namespace", "/proc/self/ns/net")])
def test_a_filter_leaves_out_other_connections(filter_: tuple[str, str], tmp_path: Path) -> None:
    with watching(*filter_) as (watch, _):
        record = [sys.executable, "-m", "eifel", "truth", "record", "--count", "1", "--first", "3", "--seed", "5"]
        subprocess.run([*record, str(tmp_path / "truth")], capture_output=True, check=False)
        *rows, _ = watch.ended()
    # The addresses of the box.
    assert [one for one in rows if one["remote"].startswith("10.77.")] == []


def test_a_full_disk_ends_a_watch_with_one_line() -> None:
    with watching():
        pass
    with Path("/dev/full").open("w") as full:
        call = [sys.executable, "-m", "eifel", "watch", "--seconds", "1"]
        watch = subprocess.run(call, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=WAIT_S)
    assert watch.returncode == 1
    assert watch.stderr.splitlines() == ["eifel watch: watching", "eifel: No space left on device"]


def test_a_kernel_without_a_tracepoint_is_watched_without_it() -> None:
    with watching("--without", "tcp_cong_state_set") as (watch, said):
        assert said[0] == (
            "eifel watch: tcp_cong_state_set: left out: causes are unknown, and observations begin with the first "
            "retransmission"
        )
        assert watch.ended()[-1]["schema"] == "watch-summary"


def test_without_acks_nothing_can_be_watched() -> None:
    with watching():
        pass
    call = [sys.executable, "-m", "eifel", "watch", "--without", "tcp_probe"]
    watch = subprocess.run(call, capture_output=True, text=True, check=False, timeout=WAIT_S)
    assert watch.returncode == 1
    assert watch.stderr == "eifel watch: attach to the tracepoint tcp_probe: left out\n"


def test_without_rights_one_line_says_what_is_missing() -> None:
    with watching():
        pass
    # In a user namespace of its own, root has no rights outside.
    call = ["unshare", "--user", sys.executable, "-m", "eifel", "watch", "--seconds", "1"]
    watch = subprocess.run(call, capture_output=True, text=True, check=False, timeout=WAIT_S)
    if "unshare" in watch.stderr:
        pytest.skip(f"no user namespace here: {watch.stderr}")
    assert watch.returncode == 1
    (said,) = watch.stderr.splitlines()
    assert said.startswith("eifel watch: load the BPF programs: ")
    assert said.endswith("run it as root, or with the capabilities CAP_BPF and CAP_PERFMON")


def programs() -> set[int]:
    """Returns the numbers of all BPF programs of the kernel."""

    class Next(ctypes.Structure):
        _fields_ = (("start", ctypes.c_uint32), ("next", ctypes.c_uint32), ("flags", ctypes.c_uint32))

    bpf, prog_get_next_id = 321, 11
    libc = ctypes.CDLL(None, use_errno=True)
    found, request = set(), Next()
    while libc.syscall(bpf, prog_get_next_id, ctypes.byref(request), ctypes.sizeof(request)) == 0:
        found.add(request.next)
        request.start = request.next
    return found


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the number of the system call is another one")
def test_a_killed_watch_leaves_nothing_attached() -> None:
    before = programs()
    with watching() as (watch, _):
        own = programs() - before
        assert len(own) >= 6
        watch.process.kill()
        watch.process.wait()
    end = time.monotonic() + 10
    while programs() & own and time.monotonic() < end:
        time.sleep(0.05)
    assert not programs() & own


def test_a_scraper_that_hangs_stops_no_other(tmp_path: Path) -> None:
    with watching("--listen", "127.0.0.1:0") as (watch, said):
        url = next(one for one in said if "/metrics" in one).removeprefix("eifel watch: ")
        port = int(url.split(":")[2].partition("/")[0])
        with socket.create_connection(("127.0.0.1", port)) as hangs:
            hangs.sendall(b"GET /metr")
            with urllib.request.urlopen(url, timeout=WAIT_S) as answer:
                values = scraped(answer.read().decode())
        assert values["eifel_watch_facts_dropped_total"] == 0
        assert watch.ended()[-1]["schema"] == "watch-summary"


def test_two_watches_see_the_same(tmp_path: Path) -> None:
    with watching() as (one, _), watching() as (other, _):
        record = [sys.executable, "-m", "eifel", "truth", "record", "--count", "1", "--first", "3", "--seed", "5"]
        subprocess.run([*record, str(tmp_path / "truth")], capture_output=True, check=False)
        # Observations end by time too, which differs between the two.
        first, second = ({(row["seq"], row["cause"]) for row in watch.ended()[:-1]} for watch in (one, other))
    shared = first & second
    assert len(shared) >= 0.8 * max(len(first), len(second))


def test_an_occupied_address_is_refused_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as occupied:
        address = f"127.0.0.1:{occupied.getsockname()[1]}"
        call = [sys.executable, "-m", "eifel", "watch", "--listen", address]
        watch = subprocess.run(call, capture_output=True, text=True, check=False, timeout=WAIT_S)
    assert watch.returncode == 2
    assert watch.stderr.splitlines()[-1] == f"eifel: --listen {address}: Address already in use"
