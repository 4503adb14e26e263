"""`eifel run`: one scenario, summarised, recorded, drawn."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from eifel import scenario as scenarios
from eifel.cli import OK
from eifel.cli.output import console, heading, note, print_json, progress, table
from eifel.errors import BadInputError
from eifel.result import TABLES, Result
from eifel.runs import Runs, run, run_many
from eifel.statistics import mean_interval

PICTURES = (".png", ".svg", ".pdf", ".html")


def command(options: argparse.Namespace) -> int:
    """Runs the scenario and does what the options ask."""
    if options.plot and Path(options.plot).suffix not in PICTURES:
        raise BadInputError(f"--plot {options.plot}: expected a name that ends in {', '.join(PICTURES)}")
    settings = scenarios.parse_settings(options.set)
    if options.seed is not None:
        settings["seed"] = options.seed
    source = scenarios.override(scenarios.load(options.scenario), settings)
    repetitions = options.repetitions or source.repetitions

    ends = _ends(source)
    captured = ends if options.record else ends[:1] if options.pcap else []
    wanted = [*(TABLES if options.record or options.plot else ()), *(f"capture:{node}" for node in captured)]
    result = None
    if wanted or repetitions == 1:
        with progress("running"):
            result = run(source, repetition=options.repetition, record=wanted)
        _write(result, ends, options)
    if repetitions == 1 and result is not None:
        _show_one(result, options)
    else:
        with progress("running") as advance:
            runs = run_many([source], repetitions=repetitions, threads=options.jobs, progress=advance)
        _show_many(runs, source, repetitions, options)
    return OK


def _write(result: Result, ends: list[str], options: argparse.Namespace) -> None:
    if options.record:
        folder = Path(options.record)
        files = result.write(folder)
        for node in ends:
            files.append(folder / f"{node}.pcapng")
            files[-1].write_bytes(result.pcapng(node))
        note(f"wrote {len(files)} files to {folder}")
    if options.pcap:
        Path(options.pcap).write_bytes(result.pcapng(ends[0]))
        note(f"wrote {options.pcap}")
    if options.plot:
        from eifel.plots import write

        write(result, Path(options.plot))
        note(f"wrote {options.plot}")


def _ends(source: scenarios.Source) -> list[str]:
    """The two nodes of the first flow, the sender first."""
    flow = source.settings["flow"][0]
    return [str(flow["from"]), str(flow["to"])]


def _show_one(result: Result, options: argparse.Namespace) -> None:
    if options.json:
        print_json({"seed": result.source.seed, "repetition": result.repetition, "flows": result.flows})
        return
    numbers = [name for name in result.main if name not in ("flow", "from", "to")]
    out = console()
    out.print(heading(f"{options.scenario}  seed {result.source.seed}"))
    shown = table(["", *(str(flow["flow"]) for flow in result.flows)])
    for name in numbers:
        shown.add_row(name, *(_number(flow.get(name)) for flow in result.flows))
    out.print(shown)


def _show_many(runs: Runs, source: scenarios.Source, repetitions: int, options: argparse.Namespace) -> None:
    names = [flow.get("name", str(number)) for number, flow in enumerate(source.settings.get("flow", []))]
    flows = []
    for number, name in enumerate(names):
        rows = runs.where(flow=number)
        flows.append((name, {column: mean_interval(rows[column]) for column in runs.numbers}))
    if options.json:
        shown_flows: list[dict[str, Any]] = [
            {
                "flow": name,
                "mean": {column: mean.mean for column, mean in means.items()},
                "interval95": {column: mean.interval for column, mean in means.items()},
            }
            for name, means in flows
        ]
        print_json({"seed": source.seed, "repetitions": repetitions, "flows": shown_flows})
        return
    out = console()
    out.print(
        heading(f"{options.scenario}  seed {source.seed}, means of {repetitions} repetitions with 95 % intervals")
    )
    shown = table(["", *names])
    for column in runs.numbers:
        shown.add_row(column, *(f"{_number(m[column].mean)} ± {_number(m[column].half_width)}" for _, m in flows))
    out.print(shown)


def _number(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:.4g}" if isinstance(value, float) and abs(value) < 1e4 else f"{value:,.0f}".replace(",", " ")
