"""The recommended protocol for a path: by hand, and beside the recommendations of "spikes", section IV."""

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest

import eifel
from eifel.cli import main
from eifel.errors import BadInputError
from eifel.papers.spikes import settings
from eifel.recommendation import CANDIDATES, recommended
from eifel.recording import Wanted, capture
from eifel.statistics import t_quantile
from eifel.studies import captures_protocols

PAPERS = ["reno", "eifel", "sctp"]


def test_a_recommendation_is_the_arithmetic_of_paired_differences() -> None:
    advice = recommended({"a": [100.0, 120.0, 110.0], "b": [99.0, 121.0, 110.0], "c": [88.0, 108.0, 98.0]})
    assert (advice.best, list(advice.less)) == ("a", ["b", "c"])
    # b: differences 1, -1, 0 of 110, whose mean is 0. c: 12 each time, of 110. Three pairs share an error of 5 %.
    half = t_quantile(1 - 0.05 / 3 / 2, 2) * (100 / 110) / 3**0.5
    assert advice.less["b"].mean == pytest.approx(0, abs=1e-12)
    assert advice.less["b"].interval == pytest.approx((-half, half))
    assert advice.less["c"].interval == pytest.approx((1200 / 110, 1200 / 110))
    assert advice.equal == ("b",)
    assert str(advice).splitlines() == [
        "protocol  goodput, kbit/s  less, %  95 % for all pairs",
        "a         0.1",
        f"b         0.1              0.0      {-half:.1f} to {half:.1f}",
        "c         0.1              10.9     10.9 to 10.9",
        "use a, which delivers most; equal: b",
    ]


def test_a_thousandth_makes_no_difference() -> None:
    advice = recommended({"a": [1000.0, 1000.0], "b": [999.1, 999.1], "c": [998.0, 998.0]})
    assert advice.equal == ("b",)
    assert recommended({"a": [5.0, 5.0], "b": [5.0, 5.0]}).sentence == "all are equal: a, b"


@pytest.mark.parametrize("goodput", [{"a": [1.0, 2.0]}, {"a": [1.0], "b": [2.0]}, {"a": [0.0, 0.0], "b": [0.0, 0.0]}])
def test_too_little_gives_no_recommendation(goodput: dict[str, list[float]]) -> None:
    with pytest.raises(BadInputError, match="recommendation"):
        recommended(goodput)


def test_scenarios_of_one_name_get_no_recommendation(scenario: Path) -> None:
    with pytest.raises(BadInputError, match="names of their own"):
        eifel.compare([scenario, scenario], repetitions=2).recommendation()


@pytest.mark.parametrize("base", ["reno", "sctp"])
def test_the_protocols_over_the_papers_path_are_its_senders(base: str) -> None:
    def delivered(scenario: Any) -> dict[str, Any]:
        summary = eifel.run(scenario, record=()).main
        return {name: summary[name] for name in ("bytes", "segments_sent", "timeouts", "drops")}

    path = settings.scenario(base, 78, "small", "spike+loss")
    found = eifel.protocols(path)
    assert list(found) == list(CANDIDATES)
    same = [name for name in CANDIDATES if name in ("sctp", "sctp+eifel") or base == "reno"]
    for name in same:
        assert delivered(found[name]) == delivered(settings.scenario(name, 78, "small", "spike+loss")), name


@pytest.mark.parametrize(
    ("case", "kbps", "window", "use"),
    [("spike", 360, "small", "eifel"), ("spike+loss", 21.4, "large", "sctp"), ("spike+loss", 360, "small", "reno")],
)
def test_the_papers_recommendations_come_out(case: str, kbps: float, window: str, use: str) -> None:
    path = settings.scenario("reno", kbps, window, case)
    advice = eifel.compare(eifel.protocols(path, PAPERS), repetitions=12).recommendation()
    assert (advice.best, advice.equal) == (use, ())


def test_a_capture_over_a_hidden_path_advises_what_delivers_most_there() -> None:
    found = captures_protocols.judged(5000)
    delivers = {name: found[name] for name in CANDIDATES}
    assert (found["refused"], found["advised"]) == ("", max(delivers, key=delivers.__getitem__))
    best, *_, worst = sorted(delivers.values(), reverse=True)
    assert worst < 0.9 * best


def test_a_path_that_cannot_be_replayed_gives_no_advice() -> None:
    found = captures_protocols.judged(5003)
    assert found["advised"] == "" and found["refused"].startswith("the replayed sender differs from the captured one")
    assert min(found[name] for name in CANDIDATES) > 0


def test_most_slow_paths_of_the_paper_cannot_be_replayed(tmp_path: Path) -> None:
    refused = []
    for kbps, window in itertools.product((21.4, 78, 1500), ("small", "large")):
        path = settings.scenario("reno", kbps, window, "spike+loss", spike=settings.one_spike())
        capture(eifel.scenario.load(path), "sender", tmp_path / "sender.pcapng", Wanted())
        refused.append(eifel.extract_path(tmp_path / "sender.pcapng").refused is not None)
    assert sum(refused) > len(refused) / 2


def test_a_flow_keeps_what_no_protocol_decides(scenario: Path) -> None:
    changed = {
        "flow.main.tcp": {"mss_bytes": 1000, "receive_window_segments": 30, "delayed_ack_every": 1},
        "flow.main.sender": {"detect": "dsack", "observers": ["f-rto"], "congest": "cubic"},
        "flow.main.answering_sender": {"detect": "none", "pace": "pacing"},
        "tcp": {"dsack": True},
    }
    source = eifel.protocols(eifel.scenario.override(eifel.scenario.load(scenario), changed), ["reno", "sctp"])
    reno, sctp = (source[name].settings["flow"][0] for name in ("reno", "sctp"))
    assert reno["tcp"] == {
        "dsack": False,
        "sack": False,
        "timestamps": False,
        "mss_bytes": 1000,
        "receive_window_segments": 30,
        "delayed_ack_every": 1,
    }
    assert reno["sender"]["congest"] == "cubic"
    assert reno["answering_sender"] == {"pace": "pacing"}
    assert "observers" not in reno["sender"]
    assert sctp["sctp"] == {
        "rules": "rfc2960",
        "timestamp_chunk": "off",
        "message_bytes": 1000,
        "pmtu_bytes": 1064,
        "receive_window_bytes": 30_000,
    }
    assert not {"tcp", "answering_sender"} & {*sctp}


def test_the_command_recommends_and_says_so_to_programs(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["compare", str(scenario), "--protocols", "eifel,reno"]
    assert main([*asked, "--repetitions", "3"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said] == ["flow", "protocol", "eifel", "reno", "use"]
    assert said[-1] == "use eifel, which delivers most"
    assert main([*asked, "--repetitions", "3", "-v"]) == 0
    assert "B - A" in capsys.readouterr().out
    assert main([*asked, "--repetitions", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["scenarios"] == ["eifel", "reno"]
    advice = found["recommendation"]
    assert (advice["protocol"], advice["equal"]) == ("eifel", [])
    assert [one["protocol"] for one in advice["less_percent"]] == ["reno"]
    assert main([*asked, "--repetitions", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["recommendation"] is None


def test_the_page_shows_what_the_command_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "researcher.md").read_text(encoding="utf-8")
    commands, shown = re.findall(r"^```(?:sh)?\n(.*?)^```$", page.partition("## A protocol for a path")[2], re.M | re.S)
    for line in commands.splitlines():
        capsys.readouterr()
        assert main(line.partition("#")[0].split()[1:]) == 0
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--protocols", "renoo"], "no protocol renoo; there is: reno, eifel, sctp"),
        (["--protocols", "all", "--flow", "x"], "no flow x; there is: main"),
        (["{}", "--protocols", "all"], "--protocols: several scenarios; expected one"),
    ],
)
def test_a_wrong_question_is_refused(
    arguments: list[str], said: str, scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(scenario), *(word.format(scenario) for word in arguments)]) == 2
    assert said in capsys.readouterr().err
