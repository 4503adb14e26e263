"""Parts that whole outputs hardly show: the judged column, spikes hidden by an outage, other tools, the wire."""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import eifel
import golden
from eifel import _engine, hunts, live
from eifel.cli import arguments
from eifel.papers import artefacts
from eifel.papers.artefact import Artefact, Column, Measured, MeasuredRow
from eifel.plots import style, time_sequence
from eifel.report import _judged
from eifel.report.headlines import headlines
from eifel.result import Result
from eifel.scenario import Source
from eifel.statistics import Mean
from eifel.studies import captures_tools


@pytest.mark.parametrize(
    ("columns", "judged"),
    [
        (({}, {}), "c0"),
        (({}, {"relative": 0.1}), "c1"),
        (({}, {"absolute": 2.0}, {"relative": 0.1, "absolute": 1.0}), "c1"),
    ],
)
def test_a_picture_shows_the_first_column_with_any_tolerance(columns: Any, judged: str) -> None:
    made = tuple(Column(f"c{number}", "C", **given) for number, given in enumerate(columns))
    assert _judged(Artefact("a.b", "A", "nowhere", made)).name == judged


def test_files_are_completed_wherever_a_path_is_expected() -> None:
    made = arguments.parser()
    arguments._complete_files(made, "FILES")

    def paths(of: argparse.ArgumentParser) -> Iterator[argparse.Action]:
        for action in of._actions:
            if isinstance(action, argparse._SubParsersAction):
                for command in action.choices.values():
                    yield from paths(command)
            elif action.type is arguments.path:
                yield action

    found = list(paths(made))
    assert len(found) > 10
    assert all(action.complete == "FILES" for action in found)  # type: ignore[attr-defined]


def spikes(*bounds: tuple[str, float, float]) -> Result:
    table = pa.table(
        {
            "link": [link for link, _, _ in bounds],
            "start_ns": [int(1e9 * start) for _, start, _ in bounds],
            "end_ns": [int(1e9 * end) for _, _, end in bounds],
        }
    )
    sent = pa.table({"t_ns": [0, 40 * 10**9], "flow": [0, 0]})
    return Result(Source("", "here"), 0, [{"flow": "main"}], {"spikes": table, "transmissions": sent})


@pytest.mark.parametrize(
    ("bounds", "outages"),
    [
        ([("a", 1, 5), ("b", 10, 20)], []),
        ([("a", 1, 9), ("b", 2, 8)], [(1, 9)]),
        # Either end may be equal. If both are, it is one band.
        ([("a", 1, 9), ("b", 1, 8)], [(1, 9)]),
        ([("a", 1, 9), ("b", 2, 9)], [(1, 9)]),
        ([("a", 1, 9), ("b", 1, 9)], []),
        ([("a", 1, 9), ("b", 5, 12)], []),
        # A band that begins at the last time is shown, and a later one is not.
        ([("a", 40, 50), ("b", 41, 50)], []),
    ],
)
def test_an_outage_that_would_hide_spikes_is_a_strip(
    bounds: Any, outages: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(style, "last_s", lambda _: 40.0)
    axes = style.new_figure(1, (4, 3))[1][0]
    style.shade(axes, spikes(*bounds), 0)
    found = [
        (band.get_x(), band.get_x() + band.get_width())
        for band in axes.patches
        if band.get_facecolor() == pytest.approx(matplotlib_colour(style.OUTAGE))
    ]
    assert found == outages
    shown = {(start, min(end, 40)) for _, start, end in bounds if start <= 40}
    assert len(axes.patches) == len(shown)


def matplotlib_colour(name: Any) -> Any:
    from matplotlib.colors import to_rgba

    return to_rgba(name)


def test_arrivals_are_drawn_by_the_data_that_they_brought() -> None:
    arrived = pa.table(
        {
            "t_ns": np.arange(6) * 10**9,
            "start": np.array([0, 1000, 3000, 3000, 2000, 4000]),
            "len": np.full(6, 1000),
            "in_order": [True, True, False, False, False, True],
            "new_bytes": np.array([1000, 1000, 1000, 0, 1000, 1000]),
            "flow": np.zeros(6, int),
        }
    )
    axes = style.new_figure(1, (4, 3))[1][0]
    time_sequence._arrivals(axes, Result(Source("", "here"), 0, [{"flow": "main"}], {"arrivals": arrived}), 0)
    golden.check("pictures/arrivals", golden.picture(axes.figure))  # type: ignore[arg-type]
    assert [one.get_label() for one in axes.collections] == [
        "arrived in order",
        "arrived beyond a gap, or into one",
        "had arrived before",
    ]


def of(name: str, values: Callable[[int, int], float], columns: Any = None) -> Measured:
    artefact = artefacts()[name]
    named = [column.name for column in artefact.columns] if columns is None else columns
    rows = [
        MeasuredRow(row, {column: Mean(values(number, place), None, 1) for place, column in enumerate(named)})
        for number, row in enumerate(artefact.rows)
    ]
    return Measured(artefact, rows, [], 1, 1, 0.0)


def test_the_headlines_of_the_map_count_where_each_sender_carries_most() -> None:
    carried = of("detectors.atlas", lambda row, place: float((row * 7 + place * 5) % 11))
    golden.check("report/headline-map", headlines([carried]).split("><"))
    none = headlines([of("detectors.truth", lambda *_: 0.0, ["nothing"])])
    assert "What detectors find" not in none and "What was found" not in none


@pytest.mark.parametrize(
    ("tools", "installed"),
    [
        ((), ["eifel"]),
        (("tshark",), ["eifel", "tshark"]),
        (("tstat",), ["eifel"]),
        (("editcap", "tstat", "tcptrace"), ["eifel", "tcptrace", "tstat"]),
    ],
)
def test_a_tool_is_there_with_all_that_it_needs(
    tools: tuple[str, ...], installed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(captures_tools.shutil, "which", lambda name: name if name in tools else None)
    assert captures_tools.installed() == installed


def test_each_tool_is_counted_by_its_own_verdicts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    truth = "frame,spurious\n3,1\n5,0\n8,1\n9,1\n"
    ours = [{"frame": 3, "verdict": "spurious"}, {"frame": 5, "verdict": "spurious"}, {"frame": 8, "verdict": "needed"}]
    said = {3: "spurious retransmission", 5: "fast retransmission", 7: "spurious retransmission", 8: "out-of-order"}
    monkeypatch.setattr("eifel.captures.analyze", lambda _: SimpleNamespace(report={"retransmissions": ours}))
    monkeypatch.setattr("eifel.tshark.flags", lambda _, timeout_s: {**said, timeout_s: "previous"})
    monkeypatch.setattr(captures_tools, "installed", lambda: list(captures_tools.TOOLS))
    lines: list[list[str]] = []

    def ran(line: list[str], **how: Any) -> Any:
        lines.append([Path(word).name for word in line])
        assert how["timeout"] == captures_tools.PATIENCE_S == 60 and how["check"] is False
        if line[0] == "tstat":
            out = Path(line[line.index("-s") + 1]) / "2004_07_30"
            out.mkdir(parents=True)
            head = "#c_ip:1 c_pkts_rto:2 c_pkts_unrto:3 s_pkts_rto:4 s_pkts_unrto:5\n"
            (out / "log_tcp_complete").write_text(head + "x 1 2 3 4\n")
            (out / "log_tcp_nocomplete").write_text("#c_ip:1 c_pkts_retx:2 s_pkts_retx:3\ny 5 6\n")
            (out / "log_udp_complete").write_text("never read")
        return subprocess.CompletedProcess(line, 0, "rexmt data pkts:   12   rexmt data pkts:  3\n", "")

    monkeypatch.setattr(captures_tools.subprocess, "run", ran)
    there = {"retransmissions": 4, "spurious": 3}
    kinds = ("eifel", 3, 1, 1), ("tshark", 3, 1, 0), ("tcptrace", 15, 0, 0), ("tstat", 21, 3, 3)
    monkeypatch.setattr(captures_tools, "TSTAT_KINDS", ("rto", "unrto"))
    assert captures_tools.findings(tmp_path / "capture.pcapng", truth) == [
        {"tool": tool, "counted": counted, **there, "found": found, "wrongly": wrongly}
        for tool, counted, found, wrongly in kinds
    ]
    assert lines == [
        ["tcptrace", "-n", "-l", "capture.pcapng"],
        ["editcap", "-F", "pcap", "capture.pcapng", "capture.pcap"],
        ["tstat", "-s", "out", "capture.pcap"],
    ]


def test_a_run_on_the_wire_is_the_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = {**live.SHORT, "flow": [{**live.ENDS, "application": {"kind": "bulk", "bytes": 20_000}}]}
    asked: list[Any] = []

    def ran(text: str, origin: str, tables: list[str]) -> Any:
        asked.append((origin, tables))
        return _engine.run(text, origin, 0, tables), (1.0, 2.0, 3.0)

    monkeypatch.setattr(_engine, "live_run", ran)
    found = live.run_together([scenario, {**scenario, "seed": 9}])
    assert [one.lateness for one in found] == [live.Lateness(1.0, 2.0, 3.0)] * 2
    assert [one.result.source.seed for one in found] == [1, 9]
    assert [one.result.main for one in found] == [eifel.run(one.result.source).main for one in found]
    assert live.run_together([]) == []
    live.missing.cache_clear()
    assert live.missing() == "" and asked[-1][1] == []
    monkeypatch.setattr(_engine, "live_run", lambda *_: (_ for _ in ()).throw(PermissionError("no namespaces")))
    live.missing.cache_clear()
    assert live.missing() == "no namespaces"
    live.missing.cache_clear()


def test_each_part_of_a_search_is_submitted_with_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    import distributed

    asked: list[Any] = []

    class Future:
        def __init__(self, number: int) -> None:
            self.number = number

        def result(self) -> int:
            return self.number

    closed: list[object] = []

    class Client:
        loop = None

        def close(self, *how: object, **more: object) -> None:
            closed.append((how, more))

        def submit(self, function: object, *given: object, **how: object) -> Future:
            asked.append((function, given, how))
            return Future(len(asked))

    monkeypatch.setattr("eifel.sweeps.executor.Dask", lambda _address: SimpleNamespace(client=Client()))
    monkeypatch.setattr(distributed, "as_completed", lambda futures, loop: reversed(futures))
    claim = hunts.PUBLISHED[0]
    assert list(hunts.dask("tcp://nowhere")(claim, [5, 6, 7])) == [(7, 3), (6, 2), (5, 1)]
    assert [given for _, given, _ in asked] == [(claim, hunts.PART, seed, 1) for seed in (5, 6, 7)]
    assert all(how == {"pure": False, "retries": 3} for _, _, how in asked) and len(closed) == 1
