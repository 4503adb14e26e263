"""`eifel hunt`: searches for counterexamples to a claim."""

import argparse
import json
import time
from pathlib import Path

from eifel import hunts
from eifel.cli import FAILED, OK
from eifel.cli.output import console, note, print_json, progress
from eifel.errors import BadInputError


def command(options: argparse.Namespace) -> int:
    """Searches, and shows the worst finding. Returns 1 if the claim is refuted."""
    if options.claim == "all":
        return _all(options)
    if options.claim == "liars":
        return _liars(options)
    return _show([_hunt(options, _claim(options), options.scenarios)], options)


def _claim(options: argparse.Namespace) -> hunts.Claim:
    from eifel.scenario import parse_settings

    if options.claim == "wrong":
        if not options.subject:
            raise BadInputError("hunt wrong: which detector? expected its name, as in: eifel hunt wrong f-rto")
        most = 0.0 if options.most is None else options.most
        return hunts.wrong(options.subject, most, profile=options.profile)
    if options.subject:
        raise BadInputError(
            f"hunt harm {options.subject}: expected --sender KEY=VALUE, as in --sender respond=option-1"
        )
    sender, other = (parse_settings(given) for given in (options.sender, options.than))
    most = 0.02 if options.most is None else options.most
    return hunts.harm(sender or hunts.CAREFUL, other or hunts.BASELINE, most, profile=options.profile)


def _hunt(options: argparse.Namespace, claim: hunts.Claim, scenarios: int) -> hunts.Found:
    with progress(claim.name) as bar:
        done = before = 0

        def advance(so_far: int) -> None:
            nonlocal done, before
            done, before = done + max(0, so_far - before), so_far
            bar(done, scenarios)

        work = hunts.dask(options.dask) if options.dask else hunts.local(options.jobs or 0, advance)
        return hunts.hunt(claim, scenarios, options.seed, Path(options.out), work)


def _all(options: argparse.Namespace) -> int:
    """Checks all published claims repeatedly, each time with a new seed, until the time is over."""
    began, seed = time.monotonic(), options.seed
    found: list[hunts.Found] = []
    while True:
        found = [_hunt(options, claim, options.scenarios) for claim in hunts.PUBLISHED]
        code = _show(found, options)
        if code != OK or time.monotonic() - began > 60 * options.minutes:
            return code
        seed += 1
        options.seed = seed


def _show(found: list[hunts.Found], options: argparse.Namespace) -> int:
    from rich.text import Text

    if options.json:
        print_json("hunt", {"claims": [one.json() for one in found], "liars": None})
    for one in [] if options.json else found:
        verdict = "refuted" if one.refuted else "not refuted"
        worst = f"the worst found is {one.worst['value']:.4f} ± {one.worst['error']:.4f}"
        share = f"{len(one.against)} of {one.drawn} random scenarios are against it"
        console().print(Text(f"{verdict}: {one.claim.name}; {share}, their mean is {one.mean:.4f}; {worst}"))
        if one.refuted:
            note(f"# eifel hunt {one.claim.name} --seed {options.seed}")
            console().print(Text(one.worst["scenario"].rstrip()))
    return FAILED if any(one.refuted for one in found) else OK


def _liars(options: argparse.Namespace) -> int:
    from rich.text import Text

    from eifel import _engine
    from eifel import scenario as scenarios

    if not options.subject:
        raise BadInputError("hunt liars: over which path? expected a scenario file")
    most = 1.05 if options.most is None else options.most
    source = scenarios.override(scenarios.load(Path(options.subject)), scenarios.parse_settings(options.set))

    with progress("runs") as advance:

        def search(runs: range, seed: int) -> hunts.Liar:
            def report(done: int) -> None:
                advance(runs.start + done, options.runs)

            found: hunts.Liar = json.loads(_engine.hunt_liars(source.text, source.origin, len(runs), seed, report))
            return found

        found = hunts.liar(source, options.runs, options.seed, Path(options.out), search)
    refuted = found["gain"] > most
    if options.json:
        print_json("hunt", {"claims": [], "liars": {**found, "most": most, "refuted": refuted}})
    else:
        out = console()
        verdict = "refuted" if refuted else "not refuted"
        out.print(
            Text(
                f"{verdict}: the worst of {options.runs} runs has {found['gain']:.3f} of an honest receiver's goodput, "
                f"in {found['runs']} runs that were not searched with"
            )
        )
        if found["liar"]:
            out.print(Text(found["liar"].rstrip()))
    return FAILED if refuted else OK
