"""`eifel advise`: the hand-over to the engine, and its picture."""

import json
from pathlib import Path

import pytest

from eifel.cli import main

CAPTURE = Path(__file__).parents[2] / "crates/capture/tests/advice/held.pcap.gz"


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["advise", *arguments]) == 0
    return capsys.readouterr().out


def test_text_json_and_csv_are_of_the_same_curves(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table = tmp_path / "points.csv"
    found = json.loads(printed(capsys, str(CAPTURE), "--json", "--csv", str(table)))
    text = printed(capsys, str(CAPTURE))
    knobs = [curve["knob"] for curve in found["curves"]]
    assert knobs == ["smallest-rto", "duplicate-threshold", "reordering-window", "f-rto", "tail-loss-probes"]
    for curve in found["curves"]:
        assert curve["sentence"] in text.replace("\n", " ")
        assert (curve["reason"] is None) == bool(curve["points"])
    points = [point for curve in found["curves"] for point in curve["points"]]
    assert len(table.read_text().splitlines()) == 1 + len(points) > 1


def test_a_value_of_ones_own_is_judged_with_the_senders_settings(capsys: pytest.CaptureFixture[str]) -> None:
    # The capture holds packets for 3.3 s; the timer expired after 0.35 s, and doubled twice.
    timer = json.loads(printed(capsys, str(CAPTURE), "--json", "--value", "rto_min_ms=5000"))["curves"][0]
    assert [point["value"] for point in timer["points"]] == [5000]
    assert (timer["points"][0]["needless_gone"], timer["points"][0]["needless_left"]) == (3, 0)
    settings = json.loads(printed(capsys, str(CAPTURE), "--json", "--now", "tcp_recovery=0"))["settings"]
    assert settings == {"rto_min_ms": 200, "rack": False}


@pytest.mark.parametrize("form", ["svg", "png", "pdf"])
def test_the_picture_is_the_same_each_time(form: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.{form}" for name in ("one", "two")]
    for file in files:
        text = printed(capsys, str(CAPTURE), "--plot", str(file))
        assert text.startswith("37 retransmissions")
    assert files[0].read_bytes() == files[1].read_bytes() != b""
    if form == "svg":
        assert "needless ones gone" in files[0].read_text()


def test_an_input_without_retransmissions_has_a_picture_too(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    watched = tmp_path / "watched.json"
    watched.write_text('{"schema": "watch-summary", "version": 1}\n')
    out = printed(capsys, str(watched), "--plot", str(tmp_path / "nothing.svg"))
    assert out.startswith("0 retransmissions") and "No curve: the input has no timeout." in out
    assert "No setting can be judged" in (tmp_path / "nothing.svg").read_text()


def test_bad_input_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"schema":"watch","version":1}\n')
    for arguments, expected in (
        ([], "advise: no file"),
        ([str(broken)], "broken.json: line 1: cause"),
        ([str(CAPTURE), "--value", "rto_min_ms=1"], "expected a whole number from 200"),
        ([str(CAPTURE), "--now", "rtt=3"], "expected rto_min_ms or tcp_recovery"),
        (["nowhere.pcap"], "nowhere.pcap"),
    ):
        assert main(["advise", *arguments]) == 2
        output = capsys.readouterr()
        assert output.out == "" and expected in output.err and output.err.count("\n") == 1, output.err
