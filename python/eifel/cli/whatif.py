"""`eifel whatif`: predicts other senders over the path that a capture shows."""

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from eifel.captured_path import CapturedPath, way_on
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
            print_json(
                "whatif", {"refused": str(error), "way_on": way_on(str(error), options.file), "prediction": None}
            )
        return _refuse(str(error), options.file)
    try:
        with progress("paths") as advance:
            found = None if refused else path.whatif(asked, draws=options.draws, seed=options.seed, progress=advance)
    except _engine.PathError as error:
        # A change of the path that no drawn path accepts.
        raise BadInputError(str(error)) from None
    if options.json:
        way = way_on(refused, options.file) if refused else None
        print_json("whatif", {**path.found, "refused": refused, "way_on": way, "prediction": found})
    else:
        _print(path, found)
    return _refuse(refused, options.file) if refused else OK


def _refuse(reason: str, file: str) -> int:
    note(f"eifel: no prediction: {reason}")
    note(f"eifel: what you can do: {way_on(reason, file)}; `eifel analyze {file}` judges its retransmissions")
    return FAILED


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
        faster = "" if row is found["senders"][0] else _faster(row, _tied(found, row["name"]))
        ranges.add_row(row["name"], *cells, faster)
    out.print(ranges)
    out.print(_order(found["orders"]), markup=False)


def _tied(found: Mapping[str, Any], name: str) -> float:
    """Returns the share of the paths in which a sender is as fast as the captured one."""
    captured = found["senders"][0]["name"]
    ties = (order for order in found["orders"] if any({captured, name} <= {*group} for group in order["senders"]))
    return sum(float(order["share"]) for order in ties)


def _faster(row: Mapping[str, Any], tied: float) -> str:
    """Formats how often a sender is faster than the captured one. In `faster` a tie counts half."""
    if tied > 0.995:
        return "as fast"
    faster = f"{100 * (row['faster'] - tied / 2):.0f} %"
    return f"{faster}, as fast in {100 * tied:.0f} %" if tied >= 0.005 else faster


def _order(orders: Sequence[Mapping[str, Any]]) -> str:
    """Returns the most frequent order of the senders, or says that none is."""
    said = [" > ".join(" = ".join(group) for group in order["senders"]) for order in orders]
    share = orders[0]["share"]
    first = [text for text, order in zip(said, orders, strict=True) if order["share"] == share]
    if len(first) > 1:
        return f"no order is the most frequent: each of these comes in {100 * share:.0f} %: {'; '.join(first)}"
    if len(orders[0]["senders"]) == 1:
        return f"no sender is faster than the others in {100 * share:.0f} %: {said[0]}"
    return f"most often, in {100 * share:.0f} %: {said[0]}"


def _range(row: Mapping[str, float], scale: float) -> str:
    return f"{number(row['low'] / scale)} to {number(row['high'] / scale)}"
