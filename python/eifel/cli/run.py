"""`eifel run`: runs, summarises, records and draws one scenario."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eifel import scenario as scenarios
from eifel.cli import OK
from eifel.cli.details import show_observed, show_requests
from eifel.cli.flows import show, split_requests, values
from eifel.cli.output import console, heading, note, print_json, progress
from eifel.errors import BadInputError
from eifel.flows import Flow
from eifel.observed import Observed, fairness, observe
from eifel.recording import capture, record
from eifel.result import TABLES, Result
from eifel.runs import means_of_flows, run, run_many
from eifel.statistics import Mean

ALL = "all"
"""Selects every flow where the name of a flow is expected."""


def command(options: argparse.Namespace) -> int:
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

    result = None
    if options.record or options.plot or options.pcap or repetitions == 1:
        with progress("running"):
            result = _recorded(source, flows, chosen, options)
    if repetitions == 1 and result is not None:
        means: Sequence[Mapping[str, Mean]] = [values(flow) for flow in result.flows]
    else:
        with progress("running") as advance:
            runs = run_many([source], repetitions=repetitions, threads=options.jobs, progress=advance)
        means = means_of_flows(runs)
    observed = None
    if options.verbose or _are_watched(source):
        with progress("observing") as advance:
            chosen_runs = range(repetitions) if repetitions > 1 else range(first := options.repetition or 0, first + 1)
            observed = observe(source, repetitions=chosen_runs, threads=options.jobs, progress=advance)
    _show(source, repetitions, options, flows=flows, means=means, observed=observed)
    return OK


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
) -> Result:
    """Runs the repetition to be recorded, captured and drawn, as far as each was requested."""
    repetition, result = options.repetition or 0, None
    if options.record:
        ends, tables = _ends(flows, chosen), _tables(options.tables)
        result = record(
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
        result = capture(source, sender, options.pcap, repetition=repetition, payload=options.payload)
        note(f"wrote {options.pcap}, as captured at {sender}")
    if options.plot:
        from eifel.plots import write

        result = run(source, repetition=repetition)
        for file in write(result, Path(options.plot), chosen):
            note(f"wrote {file}")
    return result or run(source, repetition=repetition, record=())


def _tables(names: str | None) -> list[str]:
    if names is None:
        return list(TABLES)
    wanted = [] if names == "none" else [name.strip() for name in names.split(",")]
    for name in wanted:
        if name not in TABLES:
            raise BadInputError(f"--tables {name}: no such table; there is: {', '.join(TABLES)}, or none")
    return wanted


def _show(
    source: scenarios.Source,
    repetitions: int,
    options: argparse.Namespace,
    *,
    flows: Sequence[Flow],
    means: Sequence[Mapping[str, Mean]],
    observed: Observed | None,
) -> None:
    shared = fairness([of["goodput_bps"].mean for of in means]) if len(flows) > 1 else None
    if options.json:
        shown: list[dict[str, Any]] = [
            {
                "flow": flow.name,
                "from": flow.sender,
                "to": flow.receiver,
                "mean": {name: mean.mean for name, mean in of.items()},
                "interval95": {name: mean.interval for name, mean in of.items()},
            }
            for flow, of in zip(flows, means, strict=True)
        ]
        first = options.repetition or 0 if repetitions == 1 else 0
        head = {"scenario": options.scenario, "seed": source.seed, "repetition": first, "repetitions": repetitions}
        print_json("run", {**head, "flows": shown, "fairness": shared, **_observed_json(flows, observed)})
        return
    times = f", means of {repetitions} repetitions with 95 % intervals" if repetitions > 1 else ""
    out = console()
    out.print(heading(f"{options.scenario}  seed {source.seed}{times}"))
    parts = [split_requests(of) for of in means]
    show(out, flows, [others for others, _ in parts], unfold=options.flows, verbose=options.verbose)
    show_requests(out, [(flow, of) for flow, (_, of) in zip(flows, parts, strict=True) if len(of) > 1], options.flows)
    if shared is not None:
        out.print(f"fairness {shared:.3f} (Jain's index of the flows' goodput; 1 is even)")
    if observed is not None:
        show_observed(out, flows, observed, options.flows)


def _observed_json(flows: Sequence[Flow], observed: Observed | None) -> dict[str, Any]:
    if observed is None:
        return {"detectors": None, "queueing_ms": None}
    waits = zip(flows, observed.queueing_ms, strict=True)
    return {
        "detectors": [vars(one) for one in observed.detectors],
        "queueing_ms": {flow.name: of and {key: mean.mean for key, mean in of.items()} for flow, of in waits},
    }
