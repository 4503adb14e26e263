"""`eifel run`: the engine runs a scenario and says what became of it; this module records, draws and observes."""

import argparse
import json
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from eifel import detectors
from eifel import scenario as scenarios
from eifel.batches import each
from eifel.cli import OK
from eifel.cli.details import show_observed
from eifel.cli.output import console, note, print_json, progress
from eifel.errors import BadInputError
from eifel.files import opened
from eifel.flows import Flow
from eifel.observed import TABLES as OBSERVED
from eifel.observed import Observed, observe
from eifel.recording import Wanted, capture, record_run
from eifel.result import TABLES, Result
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

    runs = range(repetitions) if repetitions > 1 else range(first := options.repetition or 0, first + 1)
    watched = options.verbose or _are_watched(source)
    recorded = _recorded(source, flows, chosen, options, watched=watched)
    page = console()
    with progress("running") as advance:
        observed = None
        if watched:
            observed = observe(source, repetitions=runs, known=recorded, threads=options.jobs, progress=advance)
            ran = observed.flows
        else:
            ran = _ran(source, runs, recorded, options.jobs, advance)
        numbers = [(repetition, list(map(_numbers, summaries))) for repetition, summaries in ran.items()]
        code, out, err = _engine.run_command(
            _words(options, repetitions),
            (source.text, source.origin, numbers),
            (page.width, page.is_terminal),
            advance,
        )
    sys.stderr.write(err)
    if code != OK:
        return code
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


def _ran(
    source: scenarios.Source,
    runs: range,
    recorded: Sequence[Result],
    jobs: int | None,
    advance: Callable[[int, int], object],
) -> dict[int, Sequence[Mapping[str, Any]]]:
    """Returns the flows' summaries of the repetitions that the engine need not run.

    It would run a detector of Python one repetition at a time, so those are run in processes.
    """
    ran: dict[int, Sequence[Mapping[str, Any]]] = {result.repetition: result.flows for result in recorded}
    if detectors.names_in(source.text):
        missing = [repetition for repetition in runs if repetition not in ran]
        known = len(ran)
        done = each(_summary, source, missing, threads=jobs, progress=lambda count: advance(known + count, len(runs)))
        ran.update(zip(missing, done, strict=True))
    return ran


def _summary(source: scenarios.Source, repetition: int) -> list[dict[str, Any]]:
    return run(source, repetition=repetition, record=()).flows


def _numbers(flow: Mapping[str, Any]) -> dict[str, float]:
    """Returns the numbers of a flow's summary. The names of the flow and its ends are none."""
    return {name: float(number) for name, number in flow.items() if isinstance(number, int | float)}


def _recorded(
    source: scenarios.Source,
    flows: Sequence[Flow],
    chosen: Sequence[int],
    options: argparse.Namespace,
    *,
    watched: bool,
) -> list[Result]:
    """Runs the repetition to be recorded, captured and drawn, as far as each was requested, and returns its result."""
    if not (options.record or options.pcap or options.plot):
        return []
    repetition, sender = options.repetition or 0, flows[chosen[0]].sender
    kept = TABLES if options.plot else OBSERVED if watched else ()
    wanted = Wanted(repetition, kept, options.payload)
    with progress("running"):
        if options.record:
            ends, tables = _ends(flows, chosen), _tables(options.tables)
            folder = Path(options.record)
            result = record_run(source, folder, wanted, tables=tables, captures=ends, csv=options.csv)
            note(f"wrote {len(tables)} tables to {options.record}, and captures of {', '.join(ends)}")
            if options.pcap:
                with (folder / f"{sender}.pcapng").open("rb") as same, opened(Path(options.pcap)) as out:
                    shutil.copyfileobj(same, out)
        elif options.pcap:
            result = capture(source, sender, Path(options.pcap), wanted)
        else:
            result = run(source, repetition=repetition, record=kept)
        if options.pcap:
            note(f"wrote {options.pcap}, as captured at {sender}")
        if options.plot:
            from eifel.plots import write

            for file in write(result, Path(options.plot), chosen):
                note(f"wrote {file}")
    return [result]


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
