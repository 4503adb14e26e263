"""Golden outputs of commands, their options, and the report."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import eifel
import golden
from eifel.cli import main
from eifel.cli.arguments import parser
from eifel.papers import artefacts
from eifel.papers.artefact import Artefact, Claim, Column, Measured, MeasuredRow, Row
from eifel.plots.ladder import ladder_figure
from eifel.report import build
from eifel.report.comparison import flows_html
from eifel.report.heat import Cell, Spot, heat, spots
from eifel.report.svg import Dot, Line, dots, multiples
from eifel.statistics import Mean
from eifel.studies import questions

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "spike.toml"
SCRIPTS = ROOT / "crates" / "script" / "scripts" / "rfc2018"

TWO_FLOWS = """
title = "Two flows and a pause"
duration_s = 20
point_to_point = { rate_bps = 2_000_000, delay_ms = 50, queue = { kind = "drop-tail", packets = 20 } }
[[spike]]
links = ["bottleneck"]
holds = "sending"
first_s = { uniform = [1, 3] }
length_s = { uniform = [1, 2] }
interval_s = { uniform = [4, 8] }
interval = "end-to-start"
[[flow]]
name = "main"
from = "sender"
to = "receiver"
application = { kind = "bulk", bytes = 2_000_000 }
[flow.sender]
detect = "eifel-timestamps"
[[flow]]
name = "plain"
from = "sender"
to = "receiver"
application = { kind = "bulk", bytes = 1_000_000 }
[flow.sender]
detect = "none"
"""
SWEEP = """
title = "Rates"
scenario = "two.toml"
repetitions = 2
[product]
"flow.main.sender.detect" = ["none", "eifel-timestamps"]
"point_to_point.rate_bps" = [1_000_000, 3_000_000]
"""
ASKED = {
    "run": ["run", "two.toml"],
    "run-many": ["run", "two.toml", "--repetitions", "3", "--seed", "7"],
    "run-all": ["run", "two.toml", "-v"],
    "run-flows": ["run", "two.toml", "--repetitions", "2", "--flows"],
    "run-one": ["run", "two.toml", "--flow", "plain", "--set", "duration_s=4"],
    "run-json": ["run", "two.toml", "--repetitions", "2", "--json"],
    "compare": ["compare", "two.toml", "--set", "flow.plain.sender.detect=dsack", "--repetitions", "3"],
    "compare-all": ["compare", "two.toml", str(EXAMPLE), "-v", "--flow", "main"],
    "compare-json": ["compare", "two.toml", "--set", "duration_s=10", "--json"],
    "sweep-check": ["sweep", "sweep.toml", "--check"],
    "sweep": ["sweep", "sweep.toml", "--out", "swept", "--show", "time_s,timeouts"],
    "sweep-json": ["sweep", "sweep.toml", "--out", "swept-json", "--json"],
    "worlds": ["worlds", "two.toml", "--segments", "2"],
    "worlds-json": ["worlds", "two.toml", "--segments", "2", "--late-ms", "300", "--json"],
    "script": ["script", str(SCRIPTS)],
    "script-json": ["script", str(SCRIPTS), "--json"],
    "reproduce": ["reproduce", "responding.table1", "sctp.figure12", "--repetitions", "2", "--pictures", "none"],
    "reproduce-figure": ["reproduce", "responding.figure3a", "--pictures", "none", "--check", "--out", "figure"],
    "reproduce-json": ["reproduce", "dualrtt.table9", "--pictures", "none", "--json", "--out", "json"],
    "analyze": ["analyze", "two.pcapng"],
    "analyze-all": ["analyze", "two.pcapng", "-v"],
    "analyze-csv": ["analyze", "two.pcapng", "--csv", "two.csv", "--connection", "1"],
    "whatif": ["whatif", "two.pcapng", "--connection", "1", "--draws", "5", "--also", "sender.detect=dsack"],
    "whatif-json": ["whatif", "two.pcapng", "--draws", "5", "--set", "sender.detect=none", "--json"],
    "captures": ["captures", "made", "--transfers", "1", "--seed", "5"],
    "hunt": ["hunt", "wrong", "f-rto", "--scenarios", "100", "--seed", "3", "--out", "hunted"],
    "new": ["new", "handover", "--out", "-"],
}

NARROW = ["run", "run-flows", "compare", "sweep", "worlds", "reproduce", "analyze", "whatif"]
"""Commands that are also run on a terminal of 60 columns."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asked")
    (folder / "two.toml").write_text(TWO_FLOWS)
    (folder / "sweep.toml").write_text(SWEEP)
    assert main(["run", str(folder / "two.toml"), "--pcap", str(folder / "two.pcapng")]) == 0
    return folder


def lines(text: str, place: Path) -> list[str]:
    """Returns the printed lines, without times, places and versions."""
    text = text.replace(str(place), "FOLDER").replace(str(ROOT), "ROOT")
    text = re.sub(r"\b\d+(\.\d+)?(?= (m?s|min)( |$|,))(?=.*(seed|runs|took|elapsed|in all))", "TIME", text)
    text = re.sub(r'("elapsed_s": )[\d.]+', r"\1TIME", text)
    text = re.sub(r"\b\d+\.\d s$", "TIME s", text, flags=re.M)
    text = re.sub(r'"[0-9a-f]{40,64}"', '"DIGEST"', text)
    text = text.replace(eifel.__version__, "VERSION")
    return [line.rstrip() for line in text.splitlines()]


@pytest.mark.parametrize("name", ASKED)
def test_the_output_of_a_command_matches_its_golden(
    name: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    code = main(ASKED[name])
    said = capsys.readouterr()
    golden.check(f"printed/{name}", {"code": code, "out": lines(said.out, place), "err": lines(said.err, place)})


@pytest.mark.parametrize("name", NARROW)
def test_the_output_on_a_narrow_terminal_matches_its_golden(
    name: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setattr("eifel.cli.output.WIDTH_WITHOUT_TERMINAL", 60)
    code = main(ASKED[name])
    golden.check(f"printed/{name}-narrow", {"code": code, "out": lines(capsys.readouterr().out, place)})


def options(of: argparse.ArgumentParser) -> dict[str, Any]:
    """Returns everything that a parser accepts."""
    found: dict[str, Any] = {"says": [of.prog, of.description, of.epilog]}
    for action in of._actions:
        if isinstance(action, argparse._SubParsersAction):
            found["commands"] = {
                name: {"help": [c.help for c in action._choices_actions if c.dest == name], **options(one)}
                for name, one in action.choices.items()
            }
            continue
        name = " ".join(action.option_strings) or action.dest
        kind = getattr(action.type, "__name__", str(action.type))
        found[name] = [
            f"{type(action).__name__} {action.dest} {kind} {action.nargs} {action.required}",
            action.metavar,
            repr(action.default),
            repr(action.const),
            None if action.choices is None else sorted(map(str, action.choices)),
            action.help,
        ]
    exclusive = [[one.dest for one in group._group_actions] for group in of._mutually_exclusive_groups]
    return {**found, "exclusive": exclusive} if exclusive else found


def test_the_options_of_a_command_match_their_golden() -> None:
    made = options(parser())
    for name, command in made["commands"].items():
        golden.check(f"options/{name}", command)
    golden.check("options", {**made, "commands": list(made["commands"])})


def of(count: int, columns: int, *, published: bool) -> Measured:
    """Returns an artefact with rows of two keys. Some agree with published values, some do not, and one is missing."""
    shown = tuple(
        Column(f"c{n}", f"Column {n}, s", digits=n, relative=0.1 if n != 1 else None, absolute=0.5 if n == 1 else None)
        for n in range(columns)
    )
    rows = tuple(
        Row(
            {"group": f"g{n % 3}", "on": n % 2 == 0, "row": n},
            # Some rows have no printed values.
            published={one.name: 10.0 * n for one in shown[: 1 + n % columns]} if published and n % 4 != 3 else {},
        )
        for n in range(count)
    )
    claims = (
        Claim("it is <so>", lambda m: m.mean("c0", row=1) > 5),
        Claim("not so", lambda m: m.mean("c0", row=99) > 0),
    )
    artefact = Artefact("test.rows", "Rows & more", "nowhere", shown, rows, claims=claims, known=("It is known.",))
    means = [
        {one.name: Mean(10.0 * n + place + n % 4, 0.5 * n if n % 5 else None, 3) for place, one in enumerate(shown)}
        for n in range(count)
    ]
    if count > 2:
        del means[2]["c0"]
    found = [MeasuredRow(*both) for both in zip(rows, means, strict=True)]
    return Measured(artefact, found, [], 3, 1, 0.5)


SHAPES = [(0, 1, True), (4, 2, True), (18, 4, False), (25, 3, True), (70, 2, False), (96, 1, True)]


@pytest.mark.parametrize(("count", "columns", "published"), SHAPES[1:])
def test_a_section_of_the_report_matches_its_golden(count: int, columns: int, published: bool) -> None:
    page = build([of(count, columns, published=published)], "2004-07-30")
    body = page[page.index("<body") :]
    body = body[: body.index("<script>")].replace(eifel.__version__, "VERSION")
    golden.check(f"report/{count}x{columns}", re.sub(r">\s*<", ">\n<", body).splitlines())


def test_the_pictures_of_the_report_match_their_golden() -> None:
    bands = [Line(f"line {n}", [Dot(n, n - 0.5, n + 1, "sent", f"dot <{n}>")], (n - 1, n + 2)) for n in range(1, 9)]
    empty = [Line("none", []), Line("nan", [Dot(float("nan"))]), *bands[:3]]
    # Few columns, and a last key with many values.
    cells = {
        (f"r{n}", f"c{m}"): Cell((-1) ** m * (n + m / 7), f"{n}.{m}", f"at {n} {m}") for n in range(5) for m in range(4)
    }
    del cells["r2", "c1"]
    grown = {name: replace(cell, value=abs(cell.value) + 1) for name, cell in cells.items()}
    points = [Spot(f"spot {n}", 0.1 * n, 100 - 7 * n) for n in range(7)]
    shown = {
        "dots": dots(bands, "values, s"),
        "logarithmic": dots(bands, "factor", logarithmic=True),
        "empty": dots(empty, "values & more"),
        "multiples": multiples([("first", bands), ("second", bands[::-1])], "rows"),
        "heat": heat(
            [f"r{n}" for n in range(5)],
            [f"c{m}" for m in range(4)],
            cells,
            "signed",
            {f"r{n}": f"g{n // 2}" for n in range(5)},
        ),
        "heat-positive": heat([f"r{n}" for n in range(5)], [f"c{m}" for m in range(4)], grown, "positive", {}),
        "spots": spots(points, "delay, s", "saved, %"),
    }
    golden.check("report/drawn", {name: re.sub(r">\s*<", ">\n<", text).splitlines() for name, text in shown.items()})


def test_the_output_for_several_flows_matches_its_golden() -> None:
    result = eifel.run(TWO_FLOWS)
    golden.check("report/flows", flows_html(result.flows).replace("><", ">\n<").splitlines())


def test_the_ladder_diagrams_match_their_golden() -> None:
    worlds = eifel.small_worlds(questions.scenario("f-rto", "rfc4015"), segments=3, late_ms=60, threads=1)
    ladders = {name: one.smallest for name, one in worlds.failed.items() if one.smallest is not None}
    assert ladders
    golden.check("pictures/ladders", golden.picture(ladder_figure(ladders, title="Worlds")))


def test_the_window_timer_and_path_figures_match_their_golden(tmp_path: Path) -> None:
    from eifel import plots
    from eifel.plots import xplot

    result = eifel.run(TWO_FLOWS)
    golden.check(
        "pictures/run",
        {
            "overview": golden.picture(plots.overview(result, 1, "second")),
            "window": golden.picture(plots.window_figure(result, 0, "first")),
            "timer": golden.picture(plots.timer_figure(result)),
            "time_sequence": golden.picture(plots.time_sequence_figure(result)),
            "xplot": xplot.text(result, 1, "second").splitlines()[:400:3],
        },
    )
    sctp = eifel.run(artefacts()["sctp.figure7a"].rows[0].scenario)
    golden.check("pictures/run-sctp", golden.picture(plots.paths_figure(sctp, 0, "paths")))
