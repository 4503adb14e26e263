"""A run's graph for xplot, and notebook views of many runs."""

from pathlib import Path

import eifel
from eifel.cli import main
from eifel.plots import xplot

SPIKE = Path(__file__).parents[2] / "examples" / "spike.toml"


def test_each_segment_is_a_line_and_each_retransmission_has_its_letter() -> None:
    result = eifel.run(SPIKE)
    lines = xplot.text(result).splitlines()
    sent = result.of("transmissions")
    assert lines[0] == "timeval unsigned" and lines[-1] == "go"
    assert sum(line.startswith("uarrow") for line in lines) == int((sent["len"] > 0).sum())
    again = sent.where(kind="retransmission")
    letters = [lines.count(letter) for letter in ("S", "R")]
    assert letters == [int((again["needed"] == "spurious").sum()), int((again["needed"] == "needed").sum())]
    first = int(sent["t_ns"][0])
    at, start = f"{first // 10**9}.{first % 10**9 // 1000:06}", int(sent["start"][0])
    end = start + int(sent["len"][0])
    assert lines[7:11] == ["white", f"darrow {at} {end}", f"uarrow {at} {start}", f"line {at} {start} {at} {end}"]
    assert lines.count("white") == int(((sent["len"] > 0) & (sent["kind"] != "retransmission")).sum())


def test_the_command_line_draws_for_xplot(tmp_path: Path) -> None:
    assert main(["run", str(SPIKE), "--plot", str(tmp_path / "run.xpl")]) == 0
    assert (tmp_path / "run.xpl").read_text(encoding="utf-8").startswith("timeval unsigned\ntitle\n")


def test_a_notebook_shows_the_means_of_many_runs() -> None:
    shown = eifel.run_many([SPIKE], repetitions=2)._repr_html_()
    assert shown.startswith("<table>") and "<th>retransmissions</th>" in shown and "undone_twice" not in shown
    assert shown.count("<tr>") == 2
