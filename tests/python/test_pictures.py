"""Pictures of means: the place, look and name of each mark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from eifel import exports
from eifel.papers import artefacts
from eifel.papers.artefact import Artefact, Measured, MeasuredRow
from eifel.papers.dualrtt import parking_lot
from eifel.plots import intervals
from eifel.plots.style import new_figure
from eifel.report import build
from eifel.statistics import Mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer

SENDERS = ["plain", "eifel", "dup-tsn", "eifel-bit", "f-rto"]
SPIKES = ["10-20 s", "30-40 s", "50-60 s", "70-80 s"]
REORDERED = ["0.5 %", "1 %", "2 %", "5 %", "10 %", "15 %"]
OVER_REORDERING = ("Packets that are reordered", [0.5, 1, 2, 5, 10, 15], REORDERED)
OVER_SPIKES = ("From the end of a spike to the next", [15, 35, 55, 75], SPIKES)
LINES = {
    "11a": ("Highest TSN, packets", *OVER_REORDERING),
    "11b": ("Highest TSN, packets", *OVER_SPIKES),
    "13a": ("Highest TSN, packets", *OVER_SPIKES),
    "13b": ("Unnecessary retransmissions", *OVER_SPIKES),
}
MARKS = {"12": [""], "14a": ["64 kB", "128 kB"], "14b": ["64 kB", "128 kB"]}


def measured(artefact: Artefact, repetitions: int = 60) -> Measured:
    """Returns the artefact with values that differ by row and column: 1000 c + n ± n / 10 in row n of column c."""
    rows = []
    for number, row in enumerate(artefact.rows):
        means = {
            column.name: Mean(1000.0 * place + number, number / 10 if repetitions > 1 else None, repetitions)
            for place, column in enumerate(artefact.columns)
        }
        rows.append(MeasuredRow(row, means))
    return Measured(artefact, rows, [], repetitions, 1, 0.5)


def drawn(shown: Measured) -> Axes:
    assert shown.artefact.draw is not None
    (axes,) = shown.artefact.draw(shown).axes
    return axes


def points(bars: ErrorbarContainer) -> tuple[list[float], list[float], list[tuple[float, float]]]:
    """Returns the places and heights of a series' means, and the ends of their intervals."""
    line, _, (spread,) = bars
    ends = [(float(low[1]), float(high[1])) for low, high in spread.get_segments()]
    return [float(x) for x in line.get_xdata()], [float(y) for y in line.get_ydata()], ends


def ticks(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_xticklabels()]


@pytest.mark.parametrize("name", LINES)
def test_a_figure_over_a_quantity_has_a_line_a_sender(name: str) -> None:
    height, label, places, names = LINES[name]
    shown = measured(artefacts()[f"sctp.figure{name}"])
    axes = drawn(shown)
    assert axes.get_ylabel() == f"{height}\n(mean of 60, 95 % interval)"
    assert (axes.get_xlabel(), ticks(axes)) == (label, names)
    assert axes.figure.get_suptitle() == shown.artefact.title
    assert axes.get_xscale() == ("log" if name == "11a" else "linear")
    assert [bars.get_label() for bars in axes.containers] == SENDERS
    assert [text.get_text() for text in axes.get_legend().get_texts()] == SENDERS
    for number, bars in enumerate(axes.containers):
        rows = [number + len(SENDERS) * place for place in range(len(places))]
        at, heights, ends = points(bars)
        assert (at, heights) == (pytest.approx(places), rows)
        assert np.array(ends) == pytest.approx(np.array([(0.9 * row, 1.1 * row) for row in rows]))
    # Everything lies inside, with a margin.
    low, high = axes.get_xlim()
    assert 0 < low < places[0] and places[-1] < high < 1.3 * places[-1]


@pytest.mark.parametrize("number", [5, 6, 10, 11])
def test_the_throughput_over_a_spike_has_a_line_a_sender_over_the_bandwidth(number: int) -> None:
    shown = measured(artefacts()[f"spikes.figure{number}"])
    axes = drawn(shown)
    senders = [
        *("reno", "eifel", "sctp", "linux", "rack+eifel", "sctp, ns-2", "sctp, RFC 9260", "sctp+eifel"),
    ]
    kbps = [9.05, 13.4, 15.6, 21.4, 31.2, 42.8, 46.8, 62.4, 78, 130, 360, 1000, 1500]
    assert axes.get_ylabel() == "Segments delivered\n(mean of 60, 95 % interval)"
    assert (axes.get_xlabel(), axes.get_xscale()) == ("Bandwidth, kbit/s", "log")
    assert ticks(axes) == ["10", "20", "50", "100", "200", "500", "1000"]
    assert axes.figure.get_suptitle() == shown.artefact.title
    assert [bars.get_label() for bars in axes.containers] == senders
    assert [text.get_text() for text in axes.get_legend().get_texts()] == senders
    # SCTP with other headers, RFC 6675 and Linux otherwise have rows and no line.
    each = list(dict.fromkeys(row.row.keys["sender"] for row in shown.rows))
    assert len(each) == len(senders) + 6
    for bars in axes.containers:
        rows = [each.index(bars.get_label()) + len(each) * rate for rate in range(len(kbps))]
        assert points(bars)[:2] == (pytest.approx(kbps), rows)


@pytest.mark.parametrize("name", MARKS)
def test_a_figure_of_downloads_has_a_mark_a_sender_and_window(name: str) -> None:
    shown = measured(artefacts()[f"sctp.figure{name}"])
    axes = drawn(shown)
    assert axes.get_ylabel() == "Download time, s\n(mean of 60, 95 % interval)"
    assert (axes.get_xlabel(), ticks(axes)) == ("Sender", SENDERS)
    assert axes.figure.get_suptitle() == shown.artefact.title
    assert axes.get_xlim() == (-0.5, 4.5)
    windows = MARKS[name]
    assert len(axes.containers) == len(windows)
    legend = axes.get_legend()
    assert ([] if legend is None else [text.get_text() for text in legend.get_texts()]) == [w for w in windows if w]
    for number, bars in enumerate(axes.containers):
        beside = [0.0] if len(windows) == 1 else [-0.1, 0.1]
        rows = list(range(len(SENDERS) * number, len(SENDERS) * (number + 1)))
        at, heights, ends = points(bars)
        assert at == pytest.approx([place + beside[number] for place in range(len(SENDERS))])
        assert heights == rows
        assert np.array(ends) == pytest.approx(np.array([(0.9 * row, 1.1 * row) for row in rows]))
        assert bars[0].get_linestyle() == "None"


def test_a_single_run_has_no_interval() -> None:
    shown = measured(artefacts()["sctp.figure12"], repetitions=1)
    assert drawn(shown).get_ylabel() == "Download time, s"
    axes = new_figure(1, (4, 3))[1][0]
    intervals.lines(axes, [1.0, 2.0], {"one": [Mean(5.0, None, 1), Mean(7.0, None, 2, (6.0, 9.0))]})
    assert points(axes.containers[0]) == ([1.0, 2.0], [5.0, 7.0], [(5.0, 5.0), (6.0, 9.0)])


def test_coinciding_series_differ_in_colour_marker_and_line() -> None:
    axes = new_figure(1, (4, 3))[1][0]
    same = [Mean(1.0, 0.1, 3), Mean(2.0, 0.1, 3)]
    intervals.lines(axes, [0.0, 1.0], {str(number): same for number in range(len(intervals.LOOKS))})
    looks = [bars[0] for bars in axes.containers]
    assert len({line.get_color() for line in looks}) == len({line.get_marker() for line in looks}) == 8
    assert [line.get_linestyle() for line in looks] == ["-", "-", "--", ":", "-.", "--", "-", ":"]


def test_the_sessions_of_the_third_paper_are_drawn_over_their_rates() -> None:
    shown = measured(artefacts()["dualrtt.figure13"])
    axes = drawn(shown)
    assert [bars.get_label() for bars in axes.containers] == list(parking_lot.PROTOCOLS)
    rates = [float(rate) for rate in parking_lot.WIRELESS_KBPS]
    assert ticks(axes) == [f"{rate:g}" for rate in rates]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("Wireless link, kbit/s", "Segments delivered in 150 s")
    for number, bars in enumerate(axes.containers):
        rows = [number * len(rates) + place for place in range(len(rates))]
        assert points(bars)[:2] == (rates, rows)
    assert axes.get_xlim() == pytest.approx((rates[0] / 1.2, rates[-1] * 1.2))


def test_the_report_and_the_folder_have_picture_and_table(tmp_path: Path) -> None:
    shown = measured(artefacts()["sctp.figure11a"])
    section = build([shown]).split('<section id="sctp.figure11a"')[1]
    assert section.count('<img class="picture"') == 1 and "<svg" not in section
    assert f"<summary>The table of {len(shown.rows)} rows</summary>" in section
    assert f'alt="{shown.artefact.title}"' in section
    (tmp_path / shown.artefact.id).mkdir()
    written = exports.write(tmp_path, shown, ("svg", "png"))
    assert [file.name for file in written] == [f"sctp.figure11a.{form}" for form in ("csv", "svg", "png")]
    assert all(file.stat().st_size > 1000 for file in written)


def test_a_series_without_a_look_of_its_own_is_refused() -> None:
    series = {str(number): [Mean(1, None, 1)] for number in range(len(intervals.LOOKS) + 1)}
    _, (axes,) = new_figure(1, (4, 3))
    with pytest.raises(ValueError, match="shorter"):
        intervals.lines(axes, [1], series)
    with pytest.raises(ValueError, match="shorter"):
        intervals.marks(axes, ["one place"], series)
