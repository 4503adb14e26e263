"""`eifel whatif`: predicts other senders over the path that a capture shows."""

import argparse
from collections.abc import Mapping
from typing import Any

from eifel.captured_path import CapturedPath
from eifel.cli import FAILED, OK
from eifel.cli.output import console, heading, note, number, print_json, progress, table
from eifel.errors import BadInputError


def command(options: argparse.Namespace) -> int:
    """Predicts. Returns 1 if the replay of the captured sender does not agree with the capture."""
    from eifel import _engine
    from eifel.captured_path import extract_path

    asked = senders(options)
    try:
        with progress("bytes") as advance:
            path = extract_path(options.file, connection=options.connection, progress=advance)
        for changes in asked.values():
            path.check(changes)
        refused = path.refused
    except _engine.CaptureError as error:
        raise BadInputError(str(error)) from None
    except _engine.PathError as error:
        if options.json:
            print_json({"refused": str(error), "prediction": None})
        note(f"eifel: no prediction: {error}")
        return FAILED
    try:
        with progress("paths") as advance:
            found = None if refused else path.whatif(asked, draws=options.draws, seed=options.seed, progress=advance)
    except _engine.PathError as error:
        # A change of the path that no drawn path accepts.
        raise BadInputError(str(error)) from None
    if options.json:
        print_json({**path.found, "refused": refused, "prediction": found})
    else:
        _print(path, found)
    if refused:
        note(f"eifel: no prediction: {refused}")
        return FAILED
    return OK


def senders(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Returns the requested senders by their changes: all `--set` together, and each `--also`."""
    from eifel.scenario import parse_settings

    lists = [options.set, *(also.split(",") for also in options.also)]
    asked = {" ".join(one): parse_settings(one) for one in lists if one}
    if not asked:
        raise BadInputError("expected a change to ask about, as --set sender.detect=none")
    return asked


def _print(path: CapturedPath, found: Mapping[str, Any] | None) -> None:
    out = console()
    out.print(path.summary(), markup=False)
    out.print(heading("The captured sender, replayed over that path"))
    replayed = table(["", "captured", "replayed", ""])
    for row in path.found["replay"]["compared"]:
        replayed.add_row(
            row["what"], number(row["captured"]), number(row["replayed"]), "" if row["agrees"] else "differs"
        )
    out.print(replayed)
    if found is None:
        return
    out.print(heading(f"Nine of ten of {found['draws']} paths that the capture allows for"))
    ranges = table(["sender", "goodput, Mbit/s", "time, s", "retransmissions", "faster than captured"])
    for row in found["senders"]:
        cells = [_range(row["goodput_bps"], 1e6), _range(row["time_s"], 1), _range(row["retransmissions"], 1)]
        faster = "" if row is found["senders"][0] else f"{100 * row['faster']:.0f} %"
        ranges.add_row(row["name"], *cells, faster)
    out.print(ranges)
    first = found["orders"][0]
    order = " > ".join(" = ".join(group) for group in first["senders"])
    out.print(f"most often, in {100 * first['share']:.0f} %: {order}", markup=False)


def _range(row: Mapping[str, float], scale: float) -> str:
    return f"{number(row['low'] / scale)} to {number(row['high'] / scale)}"
