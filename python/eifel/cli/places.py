"""`eifel analyze --sender FILE --receiver FILE`: the truth about retransmissions, from captures at both ends."""

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from eifel.cli import FAILED, OK
from eifel.cli.output import note, print_json
from eifel.errors import BadInputError
from eifel.files import expect_folder, put
from eifel.places import Places

OF_ONE_PLACE = (
    *("facts", "parquet", "annotate", "xpl", "report", "otel", "anonymise", "compare_tshark", "score"),
    *("extract_path", "connection"),
)
"""Options of `eifel analyze` that say something of one place."""


def asked(options: argparse.Namespace) -> bool:
    """Returns whether captures of several places are to be joined. Raises BadInputError if one end is missing."""
    if not (options.sender or options.receiver or options.between or options.truth):
        return False
    if not (options.sender and options.receiver):
        raise BadInputError("expected both --sender FILE and --receiver FILE, the captures at the two ends")
    if options.files:
        raise BadInputError(f"{options.files[0]}: expected no further file beside --sender and --receiver")
    for option in OF_ONE_PLACE:
        if getattr(options, option) not in (None, False):
            name = option.replace("_", "-")
            raise BadInputError(f"--{name}: of one capture; not allowed with --sender and --receiver")
    return True


def command(options: argparse.Namespace) -> int:
    """Joins the captures. Returns 1 if a condition of `--fail-if` holds."""
    from eifel import _engine, places
    from eifel.cli import analyze
    from eifel.cli.output import progress

    analyze.expect_outputs(options, [options.sender, *options.between, options.receiver])
    try:
        _engine.check_conditions(options.fail_if)
        with progress("bytes") as said:
            joined = places.join(options.sender, options.receiver, between=options.between, progress=said)
    except _engine.CaptureError as error:
        raise BadInputError(str(error)) from None
    if options.csv:
        put(Path(options.csv), joined.truth().encode())
    if options.truth:
        folder = Path(options.truth)
        expect_folder(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for written in joined.write_truth(folder):
            note(f"wrote {written}")
    for place in joined.report["places"]:
        if place["error"]:
            note(f"eifel: {place['error']}")
    if options.json:
        print_json("analyze-places", joined.report)
    else:
        sys.stdout.write(str(joined))
        if options.verbose:
            _print_retransmissions(joined)
    if not joined.report["connections"]:
        note("eifel: no connection with data is in the captures of both ends")
        return FAILED
    verdicts = Counter(row["verdict"] for row in joined.report["retransmissions"])
    failures = _engine.failures(
        options.fail_if,
        (verdicts["spurious"], verdicts["needed"], verdicts["undecidable"]),
        sum(way["segments"] for one in joined.report["connections"] for way in one["directions"]),
        any(place["error"] for place in joined.report["places"]),
    )
    for failure in failures:
        note(f"eifel: {failure}")
    return FAILED if failures else OK


def _print_retransmissions(joined: Places) -> None:
    from eifel.cli.output import console, table

    names = [one["place"] for one in joined.report["places"]]
    columns = ["verdict", "confidence", "fate", "lost between", "connection", "seq", "bytes", "copy"]
    shown = table([*columns, *(f"frame at {name}" for name in names)], left=4)
    for row in joined.report["retransmissions"]:
        cells: list[Any] = [row[name] for name in ("verdict", "confidence", "fate")]
        cells.append(" and ".join(row["lost_between"]) if row["lost_between"] else None)
        cells += [row[name] for name in ("connection", "seq", "bytes", "copy")]
        cells += row["frames"]
        shown.add_row(*("-" if cell is None else str(cell) for cell in cells))
    console().print(shown)
