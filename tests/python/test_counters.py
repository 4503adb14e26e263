"""`eifel counters`: what it reads from the tools that show the kernel's counters, and what it prints."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from eifel.documents import schemas
from test_schemas import closed

EIFEL = (sys.executable, "-m", "eifel")
NEVER_DOWN = ("RetransSegs", "TCPTimeouts", "TCPDSACKRecvSegs", "TCPLossUndo")
"""Counters of other tests' traffic too, so that a later look may show more."""


def counted(*words: str, given: str | None = None) -> dict[str, Any]:
    done = subprocess.run([*EIFEL, *words, "--json"], input=given, capture_output=True, text=True, check=True)
    output = json.loads(done.stdout)
    Draft202012Validator(closed(schemas.schema("counters"))).validate(output)
    assert isinstance(output, dict)
    return output


def values(output: dict[str, Any]) -> dict[str, int]:
    return {one["name"]: one["value"] for one in output["counters"]}


@pytest.fixture(scope="module")
def own() -> dict[str, Any]:
    """This host's counters."""
    if not Path("/proc/net/netstat").exists():
        pytest.skip("SKIPPED: no /proc/net here, so the host's own counters were not read")
    return counted("counters")


@pytest.mark.skipif(not shutil.which("nstat"), reason="SKIPPED: nstat is not installed, so its text was not compared")
@pytest.mark.parametrize("options", ["-az", "-azj"])
def test_nstat_shows_what_the_files_show(options: str, own: dict[str, Any], tmp_path: Path) -> None:
    # Without its history it counts from the start of the host on.
    text = subprocess.run(["nstat", "--ignore", options], capture_output=True, text=True, check=True).stdout
    file = tmp_path / "nstat.txt"
    file.write_text(text)
    for output in (counted("counters", "-", given=text), counted("counters", str(file))):
        assert values(output).keys() == values(own).keys()
        assert all(values(output)[name] >= values(own)[name] for name in NEVER_DOWN)


def test_node_exporters_text_and_the_two_files_show_the_same(own: dict[str, Any]) -> None:
    files = ("/proc/net/snmp", "/proc/net/netstat")
    assert values(counted("counters", *files)).keys() == values(own).keys()
    lines = ["# HELP node_netstat_Tcp_RetransSegs Statistic TcpRetransSegs."]
    for name, value in values(own).items():
        group = "Tcp" if name == "RetransSegs" else "TcpExt"
        lines.append(
            f"node_netstat_{group}_{name} {float(value):g}" if value < 1e5 else f"node_netstat_{group}_{name} {value}"
        )
    output = counted("counters", "-", given="\n".join(lines))
    assert values(output) == values(own)
    assert (output["retransmissions"], output["estimate"]) == (own["retransmissions"], own["estimate"])


@pytest.mark.skipif(not shutil.which("ss"), reason="ss is not installed")
def test_ss_shows_sockets() -> None:
    text = subprocess.run(["ss", "-tin"], capture_output=True, text=True, check=True).stdout
    assert "sockets" in values(counted("counters", "-", given=text))


def test_a_default_node_exporter_is_told_what_it_leaves_out() -> None:
    given = "node_netstat_Tcp_RetransSegs 20\nnode_netstat_TcpExt_TCPSynRetrans 1\nnode_netstat_TcpExt_TCPTimeouts 3\n"
    output = counted("counters", "-", given=given)
    assert output["estimate"] is None
    assert output["no_estimate"].startswith("TCPDSACKRecvSegs is not in the text; node_exporter has it with ")


@pytest.mark.usefixtures("own")
def test_a_watch_from_counters_counts_for_a_while() -> None:
    call = [*EIFEL, "watch", "--from", "counters", "--seconds", "0.2", "--json"]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    output = json.loads(done.stdout)
    assert done.stderr == "eifel: watch: watching\n"
    assert output["schema"] == "counters"
    assert 0.2 <= output["seconds"] < 5
