"""`eifel worlds`: counts every fate of a few segments, and shows the smallest world of each failure."""

import argparse
from pathlib import Path

from eifel.cli import OK
from eifel.cli.output import console, heading, print_json, progress, table
from eifel.worlds import Worlds


def command(options: argparse.Namespace) -> int:
    """Runs the search and shows its findings."""
    from eifel import scenario as scenarios
    from eifel.worlds import small_worlds

    source = scenarios.override(scenarios.load(Path(options.scenario)), scenarios.parse_settings(options.set))
    with progress("worlds") as advance:
        found = small_worlds(
            source,
            segments=options.segments,
            held_until=options.held_until,
            late_ms=options.late_ms,
            threads=options.jobs,
            progress=advance,
        )
    if options.json:
        print_json("worlds", {**found.counts, "failures": {name: _json(found, name) for name in found.failed}})
    else:
        _show(found)
    return OK


def _json(found: Worlds, name: str) -> dict[str, object]:
    smallest = found.failed[name].smallest
    return {"worlds": found.failed[name].worlds, "smallest": smallest and smallest.fates}


def _show(found: Worlds) -> None:
    from rich.text import Text

    out = console()
    counts = found.counts
    out.print(Text(f"{counts['worlds']:,} worlds, {counts['with_loss']:,} of them with loss".replace(",", " ")))
    shown = table(["failure", "worlds", "the smallest"], left=1)
    for name, failed in found.failed.items():
        fates = failed.smallest.fates if failed.smallest else ""
        shown.add_row(Text(name), Text(f"{failed.worlds:,}".replace(",", " ")), Text(fates))
    out.print(shown)
    for name, failed in found.failed.items():
        if failed.smallest is not None:
            out.print(heading(name))
            out.print(Text(failed.smallest.text))
