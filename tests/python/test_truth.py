"""Scores of tools by recordings with a known truth."""

import json
import time
from pathlib import Path
from statistics import fmean

import pytest

from eifel import truth
from eifel.cli import main
from eifel.errors import BadInputError
from eifel.studies import captures_kernel
from eifel.truth import Finding, Score

ROWS = {
    10: {"spurious": "1", "cause": "rto"},
    11: {"spurious": "0", "cause": "fast"},
    12: {"spurious": "0", "cause": ""},
}


BOUNDS = {"between": (0.97, 0.78, 0.1), "receiver": (0.97, 0.78, 0.1), "sender": (0.8, 0.88, 0.01)}
"""The least share of right verdicts and of right causes, and the most that is missed or invented."""


def test_a_finding_counts_only_at_the_frame_of_the_truth() -> None:
    right = {10: Finding("spurious", "certain", "rto"), 11: Finding("needed", "likely", "fast"), 12: Finding("needed")}
    assert truth.judge(ROWS, right) == Score(true=3, decided=3, right=3, cause_decided=2, cause_right=2)
    # The original and the retransmission swapped: one is missed, another one invented.
    swapped = {9: right[10], 11: right[11], 12: right[12]}
    assert truth.judge(ROWS, swapped) == Score(
        true=3, missed=1, invented=1, invented_certain=1, decided=2, right=2, cause_decided=1, cause_right=1
    )


def test_wrong_answers_are_told_from_missing_ones() -> None:
    found = {10: Finding("needed", "certain", "fast"), 11: Finding("undecidable", "", "unknown"), 12: Finding()}
    assert truth.judge(ROWS, found) == Score(true=3, decided=1, wrong_certain=1, cause_decided=1)


def test_a_retransmission_without_a_trace_counts_neither_way() -> None:
    hidden = ROWS | {13: {"spurious": "0", "cause": "fast", "traced": "0"}}
    named = dict.fromkeys(hidden, Finding("undecidable"))
    for found in (named, {frame: named[frame] for frame in ROWS}):
        assert truth.judge(hidden, found) == Score(true=3, hidden=1)


def recorded(folder: Path) -> Path:
    """Writes two places of a recording whose captures nobody reads."""
    for place, frame in (("sender", 7), ("receiver", 5)):
        (folder / f"a.{place}.pcapng").write_bytes(b"")
        (folder / f"a.{place}.truth.csv").write_text(f"frame,spurious,cause\n{frame},1,rto\n")
    (folder / "manifest.json").write_text(json.dumps({"recordings": [{"name": "a", "class": "spike"}]}))
    return folder


def test_any_tool_is_scored_by_its_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, found = recorded(tmp_path), tmp_path / "found"
    found.mkdir()
    (found / "a.sender.csv").write_text("frame,verdict,cause\n7,spurious,loss\n")
    (found / "a.receiver.csv").write_text("frame\n4\n")
    assert main(["truth", "score", str(folder), "--found", str(found), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    counts = {
        (row["place"], row["by"], row["name"]): (row["true"], row["missed"], row["invented"], row["right"])
        for row in rows
    }
    assert counts == {
        ("receiver", "all", ""): (1, 1, 1, 0),
        ("receiver", "cause", "rto"): (1, 1, 0, 0),
        ("receiver", "class", "spike"): (1, 1, 1, 0),
        ("receiver", "verdict", "spurious"): (1, 1, 0, 0),
        ("sender", "all", ""): (1, 0, 0, 1),
        ("sender", "cause", "rto"): (1, 0, 0, 1),
        ("sender", "class", "spike"): (1, 0, 0, 1),
        ("sender", "verdict", "spurious"): (1, 0, 0, 1),
    }
    assert main(["truth", "score", str(folder), "--found", str(found)]) == 0
    assert "spike" in capsys.readouterr().out


def watched(folder: Path, *lines: dict[str, object]) -> Path:
    """Writes what a watch said beside a recording, of whose retransmissions the truth knows two."""
    (folder / "a.sender.pcapng").write_bytes(b"")
    (folder / "a.sender.truth.csv").write_text(
        "frame,time,seq,len,spurious,cause\n7,100.0,4294967000,2000,1,rto\n9,100.5,1704,1000,0,fast\n"
    )
    one = {"bytes": 1000, "verdict": "spurious", "confidence": "likely", "cause": "rto"}
    (folder / "a.watch.json").write_text("".join(json.dumps(one | line) + "\n" for line in lines))
    return folder / "a.sender.pcapng"


def test_lines_of_a_watch_belong_to_the_frame_of_their_transmission(tmp_path: Path) -> None:
    capture = watched(
        tmp_path,
        # Two segments of one frame, of which the second begins behind the wrap of sequence numbers.
        {"time_s": 100.001, "seq": 4294967000},
        {"time_s": 100.001, "seq": 704},
        # A later retransmission of the first.
        {"time_s": 100.09, "seq": 4294967000, "verdict": "needed"},
        # RACK's timer is the kernel's fast retransmission.
        {"time_s": 100.499, "seq": 1704, "verdict": "needed", "cause": "rack-timer"},
        # Neither data, nor data that the truth knows of.
        {"time_s": 100.5, "seq": 1, "cause": "syn"},
        {"time_s": 100.5, "seq": 2704, "bytes": 0},
        {"time_s": 103.0, "seq": 1704},
    )
    assert truth.watch(capture) == {
        7: Finding("spurious", "likely", "rto"),
        9: Finding("needed", "likely", "fast"),
        -3: Finding("needed", "likely", "rto"),
        -5: Finding("spurious", "likely", "rto"),
    }
    # It says nothing of captures elsewhere.
    assert truth.watch(tmp_path / "a.receiver.pcapng") is None


def test_a_frame_is_spurious_to_a_watch_if_all_of_its_segments_are(tmp_path: Path) -> None:
    second: dict[str, object] = {"time_s": 100.0, "seq": 704, "verdict": "undecidable"}
    found = truth.watch(watched(tmp_path, {"time_s": 100.0, "seq": 4294967000}, second))
    assert found and found[7].verdict == "undecidable"


def test_a_watch_is_scored_at_the_sender_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded(tmp_path)
    watched(tmp_path, {"time_s": 100.0, "seq": 4294967000})
    assert main(["truth", "score", str(tmp_path), "--tool", "watch", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    counts = {(row["place"], row["by"], row["name"]): (row["true"], row["missed"], row["right"]) for row in rows}
    assert counts == {
        ("sender", "all", ""): (2, 1, 1),
        ("sender", "cause", "fast"): (1, 1, 0),
        ("sender", "cause", "rto"): (1, 0, 1),
        ("sender", "class", "spike"): (2, 1, 1),
        ("sender", "verdict", "needed"): (1, 1, 0),
        ("sender", "verdict", "spurious"): (1, 0, 1),
    }


@pytest.mark.parametrize(("lines", "expected"), [(None, "made with --watch"), ("{}\n", "damaged"), ("x", "damaged")])
def test_recordings_without_a_watch_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: str | None, expected: str
) -> None:
    recorded(tmp_path)
    if lines is not None:
        (tmp_path / "a.watch.json").write_text(lines)
    assert main(["truth", "score", str(tmp_path), "--tool", "watch"]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert "a.watch.json: " in said and expected in said


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("a.sender.truth.csv", "seq\n7\n", "frame numbers"),
        ("manifest.json", "{}", "damaged"),
        ("b.sender.truth.csv", "frame,spurious\n", "no capture beside it"),
    ],
)
def test_a_damaged_folder_is_named(tmp_path: Path, file: str, text: str, expected: str) -> None:
    (recorded(tmp_path) / file).write_text(text)
    with pytest.raises(BadInputError, match=expected):
        truth.score(tmp_path, lambda _: {}, lambda _done, _total: None)


def test_a_folder_without_recordings_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["truth", "score", str(tmp_path)]) == 2
    assert "no recordings" in capsys.readouterr().err


@pytest.mark.alone
def test_the_analysis_is_right_about_this_kernel_in_fresh_recordings(tmp_path: Path) -> None:
    """The seed is new in each run: no draw is known to the one who changes the analysis.

    Each recording with ten retransmissions counts alike, for one may have more than all others. Thirty recordings
    differ much from thirty others: less than one in ten thousand resamples of 180 recordings lay beyond BOUNDS.
    Nothing may be wrong with certainty. `captures.kernel` measures the shares.
    """
    seed = int(time.time())
    try:
        captures_kernel.record(tmp_path, 0, 30, seed)
    except BadInputError as missing:
        pytest.skip(f"this kernel cannot be recorded here: {missing}")
    judged: dict[str, list[truth.Score]] = {"between": [], "receiver": [], "sender": []}
    for place, _, capture, true in truth.recordings(tmp_path):
        judged[place].append(truth.judge(true, truth.eifel(capture)))
    for place, scores in judged.items():
        assert sum(one.invented_certain + one.wrong_certain for one in scores) == 0, f"seed {seed}: {place}"
        many = [one for one in scores if one.true >= 10]
        assert len(many) >= 8, f"seed {seed}: {place}"
        right = fmean(one.right / one.decided for one in many if one.decided)
        cause = fmean(one.cause_right / one.cause_decided for one in many if one.cause_decided)
        false = fmean(min((one.missed + one.invented) / one.true, 1) for one in many)
        said = f"seed {seed}: {place}: {right:.3f} {cause:.3f} {false:.3f}"
        least_right, least_cause, most_false = BOUNDS[place]
        assert right >= least_right, said
        assert cause >= least_cause, said
        assert false <= most_false, said
