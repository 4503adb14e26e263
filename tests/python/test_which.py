"""The advice of docs/author.md, line by line, checked with fewer runs than its artefacts have."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

import eifel
from eifel.papers import artefacts
from eifel.papers.artefact import Artefact, Measured
from eifel.papers.study import Study
from eifel.reproduction import reproduce
from eifel.studies import burst, detector_runs, neighbours, responses, settings, truth
from eifel.studies.cheating import DEFAULT, PLAIN, scenario
from eifel.studies.situations import SITUATIONS

PAGE = Path(__file__).parents[2] / "docs" / "author.md"
POINTS, LENGTHS = 8, 30
"""The points of each situation. Reordering has one per length, since detection depends on the
length.
"""


@pytest.fixture(scope="module")
def judged() -> Measured:
    few = tuple(replace(one, points=LENGTHS if one.name == "reordering" else POINTS) for one in SITUATIONS)
    study = Study(lambda effort: detector_runs.PANEL.episodes(effort, "test.which", few), {"points": POINTS}, ())
    return reproduce(replace(truth.ARTEFACT, method=replace(truth.ARTEFACT.method, study=study)))


def with_rows(artefact: Artefact, *keys: dict) -> Measured:
    rows = tuple(row for row in artefact.rows if any(wanted.items() <= row.keys.items() for wanted in keys))
    return reproduce(replace(artefact, rows=rows))


@pytest.fixture(scope="module")
def undone() -> Measured:
    late = {"verdict": burst.LATE}
    return with_rows(
        burst.ARTEFACT,
        *({**late, "buffer": buffer, "response": "rfc4015"} for buffer in settings.BUFFERS),
        *({**late, "buffer": buffer, "response": "option-1"} for buffer in settings.BUFFERS),
    )


@pytest.fixture(scope="module")
def responded() -> Measured:
    asked = [
        {"detector": "eifel-timestamps", "response": name} for name in ("option-1", "option-2", "option-3", "rfc4015")
    ]
    return with_rows(responses.ARTEFACT, {"detector": "none"}, *asked)


def test_every_line_names_an_artefact_that_there_is() -> None:
    lines = re.split(r"^\d+\. ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    assert len(lines) <= 10
    for line in lines:
        named = re.findall(r"`(detectors\.\w+)`", line)
        assert named, line
        assert set(named) <= artefacts().keys()


def gain(detect: str, grant: str, liar: str) -> float:
    """Returns the goodput of a cheating receiver over an honest one's, at a loss of 1 %."""
    runs = eifel.run_many([scenario(detect, "rfc4015", grant, 0.01, lie) for lie in ("none", liar)], repetitions=6)
    goodput = runs["goodput_bps"].reshape(2, -1).mean(axis=1)
    return float(goodput[1] / goodput[0])


def of(measured: Measured, column: str, detector: str, situation: str = "all") -> float:
    return measured.mean(column, situation=situation, detector=detector)


def test_line_1_timestamps_find_spikes_and_are_not_wrong(judged: Measured) -> None:
    assert of(judged, "found", "eifel-timestamps", "spike") == 100
    assert of(judged, "false_positives", "eifel-timestamps") == 0
    assert of(judged, "true_negatives", "eifel-timestamps") > 300
    assert 10 < of(judged, "header_per_mille", "eifel-timestamps") < 15


def test_line_2_f_rto_finds_timeouts_as_early(judged: Measured) -> None:
    assert of(judged, "found", "f-rto-sack", "spike") == 100
    assert of(judged, "found_timeouts", "f-rto-sack") > 0.9 * of(judged, "found_timeouts", "eifel-timestamps")
    assert of(judged, "needless_bytes", "f-rto-sack") < 1.5 * of(judged, "needless_bytes", "eifel-timestamps")
    assert of(judged, "found_fast_retransmits", "f-rto-sack") == 0
    assert of(judged, "false_positives", "f-rto-sack") == 0


def test_line_3_dsack_adds_and_is_late(judged: Measured) -> None:
    fast = [of(judged, "found_fast_retransmits", name) for name in ("eifel-timestamps", "eifel-timestamps or dsack")]
    assert fast[1] > 1.1 * fast[0]
    assert of(judged, "false_positives", "eifel-timestamps or dsack") == 0
    assert of(judged, "mixed", "dsack", "spike and loss") == 0
    assert of(judged, "mixed", "eifel-timestamps", "spike and loss") > 50
    early, late = (of(judged, "needless_bytes", name, "spike") for name in ("eifel-timestamps", "dsack"))
    assert late > 5 * early


def test_line_4_time_alone_is_wrong_and_blind(judged: Measured) -> None:
    assert of(judged, "false_positives", "min-rtt") > 0
    assert max(of(judged, "found", name, "rate changes") for name in ("dual-rtt", "min-rtt")) < 40


def test_line_4_without_sack_dual_rtt_needs_fast_retransmits_blocked() -> None:
    asked = [{"sender": "reno", "remedy": remedy, "proxy": False} for remedy in (neighbours.BOTH, neighbours.BLOCKED)]
    measured = with_rows(neighbours.ARTEFACT, {"sender": "reno", "remedy": neighbours.NOTHING, "proxy": False}, *asked)
    for queue in settings.QUEUES:
        without, blocked = (measured.row(queue=queue, **keys).means for keys in asked)
        assert without["spurious_fast_retransmits"].mean > 0.5
        assert blocked["spurious_fast_retransmits"].mean == 0
        assert blocked["saved"].mean > without["saved"].mean


def goodput(measured: Measured, buffer: int, respond: str, pace: str = "none") -> float:
    return measured.mean("goodput_mbps", buffer=buffer, verdict=burst.LATE, response=respond, pace=pace)


def test_line_5_without_pacing_flight_and_initial_window_is_better_where_the_queue_is_short(undone: Measured) -> None:
    for buffer in (8, 15, 30):
        assert goodput(undone, buffer, "rfc4015") > goodput(undone, buffer, "option-1")


def test_line_6_paced_all_of_it_is_best_or_next_to_it(undone: Measured) -> None:
    for buffer in settings.BUFFERS:
        best = max(goodput(undone, buffer, name) for name in ("rfc4015", "option-1"))
        assert goodput(undone, buffer, "option-1", "pacing") > 0.97 * best


def saved(measured: Measured, queue: int, sender: str, respond: str) -> float:
    return measured.mean("saved", queue=queue, sender=sender, detector="eifel-timestamps", response=respond)


def test_line_7_to_detect_and_not_to_restore_is_worse_than_nothing(responded: Measured) -> None:
    for sender in settings.SACK_SENDERS:
        assert saved(responded, settings.LOSES, sender, "option-1") > 0
        assert max(saved(responded, settings.LOSES, sender, name) for name in ("option-2", "option-3")) < -20


def test_line_8_newreno_pays_for_detection_where_a_part_is_lost(responded: Measured) -> None:
    assert saved(responded, settings.LOSES, "newreno", "option-1") < -20
    assert saved(responded, settings.HOLDS, "newreno", "option-1") > 5


def test_line_9_cubic_saves_a_third(responded: Measured) -> None:
    cubic = "rack-tlp, PRR, CUBIC"
    share = saved(responded, settings.HOLDS, cubic, "option-1") / saved(
        responded, settings.HOLDS, "rfc6675", "option-1"
    )
    assert 0.2 < share < 0.45
    for queue, respond in ((settings.HOLDS, "rfc4015"), (settings.LOSES, "rfc4015")):
        interval = (
            responded.row(queue=queue, sender=cubic, detector="eifel-timestamps", response=respond)
            .means["saved"]
            .interval
        )
        assert interval is not None
        assert interval[1] > 0


def test_line_10_nothing_is_gained_by_lying_to_the_default() -> None:
    for lie in ("forged-echo", "guessed-echo"):
        assert gain(DEFAULT, "once-a-round-trip", lie) <= 1.05
    assert gain(PLAIN, "once-a-round-trip", "forged-echo") > 2
    assert gain("dsack", "once-a-round-trip", "forged-dsack") > 2
