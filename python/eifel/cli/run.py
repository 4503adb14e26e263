"""`eifel run`: the engine runs a scenario and says what became of it; this module records, draws and observes."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eifel import scenario as scenarios
from eifel.cli import OK
from eifel.cli.details import show_observed
from eifel.cli.output import console, note, print_json, progress
from eifel.errors import BadInputError
from eifel.flows import Flow
from eifel.observed import Observed, observe
from eifel.recording import capture, record
from eifel.result import TABLES
from eifel.runs import run

ALL = "all"
"""Selects every flow where the name of a flow is expected."""


def command(options: argparse.Namespace) -> int:
    from eifel import _engine

    settings = scenarios.parse_settings(options.set)
    if options.seed is not None:
        settings["seed"] = options.seed
    source = scenarios.override(scenarios.load(options.scenario), settings)
    repetitions = options.repetitions or source.repetitions
    flows = source.flows
    chosen = _chosen(options.flow, flows)
    _check_repetition(options, repetitions)
    if options.csv and not options.record:
        raise BadInputError("--csv: nothing is recorded; expected --record FOLDER")
    _tables(options.tables)

    if options.record or options.plot or options.pcap:
        with progress("running"):
            _recorded(source, flows, chosen, options)
    page = console()
    with progress("running") as advance:
        code, out, err = _engine.run_command(
            _words(options, repetitions), (source.text, source.origin), (page.width, page.is_terminal), advance
        )
    sys.stderr.write(err)
    if code != OK:
        return code
    observed = None
    if options.verbose or _are_watched(source):
        with progress("observing") as advance:
            chosen_runs = range(repetitions) if repetitions > 1 else range(first := options.repetition or 0, first + 1)
            observed = observe(source, repetitions=chosen_runs, threads=options.jobs, progress=advance)
    if options.json:
        print_json("run", {**json.loads(out), **_observed_json(flows, observed)})
        return OK
    sys.stdout.write(out)
    if observed is not None:
        sys.stdout.flush()
        show_observed(page, flows, observed, options.flows)
    return OK


def _words(options: argparse.Namespace, repetitions: int) -> list[str]:
    """Returns the command line for the engine, which gets the scenario with its changed keys."""
    counts = {"--repetitions": options.repetitions, "--jobs": options.jobs}
    if repetitions == 1:
        counts["--repetition"] = options.repetition
    switches = {"--json": options.json, "--flows": options.flows, "--verbose": options.verbose}
    words = [options.scenario, *(flag for flag, given in switches.items() if given)]
    return words + [f"{flag}={count}" for flag, count in counts.items() if count is not None]


def _are_watched(source: scenarios.Source) -> bool:
    """Returns whether the scenario has observers, whose verdicts are then its purpose."""
    settings = source.settings
    senders = [settings.get("sender", {}), *(flow.get("sender", {}) for flow in settings["flow"])]
    return any(sender.get("observers") for sender in senders)


def _chosen(name: str | None, flows: Sequence[Flow]) -> list[int]:
    """Returns the numbers of the captured and drawn flows: the first, unless `name` selects others."""
    if name is None:
        return [0]
    if name == ALL:
        return list(range(len(flows)))
    found = [number for number, flow in enumerate(flows) if flow.name == name]
    if not found:
        raise BadInputError(
            f"--flow {name}: no such flow; there is: {', '.join(flow.name for flow in flows)}, or {ALL}"
        )
    return found


def _check_repetition(options: argparse.Namespace, repetitions: int) -> None:
    if options.repetition is None or repetitions == 1:
        return
    if not (options.record or options.pcap or options.plot):
        raise BadInputError(
            f"--repetition {options.repetition}: of {repetitions} repetitions none is recorded or drawn;"
            " expected --record, --pcap, --plot, or --repetitions 1"
        )
    if options.repetition >= repetitions:
        raise BadInputError(
            f"--repetition {options.repetition}: there are {repetitions}; allowed: 0 to {repetitions - 1}"
        )


def _ends(flows: Sequence[Flow], chosen: Sequence[int]) -> list[str]:
    """Returns the nodes at the ends of these flows, without duplicates."""
    return list(dict.fromkeys(end for number in chosen for end in (flows[number].sender, flows[number].receiver)))


def _recorded(
    source: scenarios.Source, flows: Sequence[Flow], chosen: Sequence[int], options: argparse.Namespace
) -> None:
    """Runs the repetition to be recorded, captured and drawn, as far as each was requested."""
    repetition = options.repetition or 0
    if options.record:
        ends, tables = _ends(flows, chosen), _tables(options.tables)
        record(
            source,
            options.record,
            tables=tables,
            captures=ends,
            payload=options.payload,
            csv=options.csv,
            repetition=repetition,
        )
        note(f"wrote {len(tables)} tables to {options.record}, and captures of {', '.join(ends)}")
    if options.pcap:
        sender = flows[chosen[0]].sender
        capture(source, sender, options.pcap, repetition=repetition, payload=options.payload)
        note(f"wrote {options.pcap}, as captured at {sender}")
    if options.plot:
        from eifel.plots import write

        result = run(source, repetition=repetition)
        for file in write(result, Path(options.plot), chosen):
            note(f"wrote {file}")


def _tables(names: str | None) -> list[str]:
    if names is None:
        return list(TABLES)
    wanted = [] if names == "none" else [name.strip() for name in names.split(",")]
    for name in wanted:
        if name not in TABLES:
            raise BadInputError(f"--tables {name}: no such table; there is: {', '.join(TABLES)}, or none")
    return wanted


def _observed_json(flows: Sequence[Flow], observed: Observed | None) -> dict[str, Any]:
    if observed is None:
        return {"detectors": None, "queueing_ms": None}
    waits = zip(flows, observed.queueing_ms, strict=True)
    return {
        "detectors": [vars(one) for one in observed.detectors],
        "queueing_ms": {flow.name: of and {key: mean.mean for key, mean in of.items()} for flow, of in waits},
    }
