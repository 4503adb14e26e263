"""`eifel analyze`: the cause of each retransmission in a capture, and whether it was needed."""

import argparse
import math
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from eifel import quic
from eifel.captured_path import CapturedPath
from eifel.captures import Analysis
from eifel.cli import FAILED, OK
from eifel.cli.output import note, print_json
from eifel.errors import BadInputError
from eifel.files import opened, put

STANDARD_INPUT = STANDARD_OUTPUT = "-"
PAUSE_S = 1.0
"""The least seconds between two lines about a capture that is still growing."""


def command(options: argparse.Namespace) -> int:
    """Analyses the files. Returns 1 if a condition of `--fail-if` holds."""
    from eifel.cli import folder, places

    if options.lines:
        return _lines(options)
    if places.asked(options):
        return places.command(options)
    if folder.asked(options):
        return folder.command(options)
    if not options.files:
        raise BadInputError("expected FILE, or --sender FILE and --receiver FILE")
    return _of_one_place(options)


def _lines(options: argparse.Namespace) -> int:
    """Prints lines of JSON as soon as they are known: the engine writes them."""
    from eifel import _engine

    sys.stdout.flush()
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        return _engine.analyze_lines(["--lines", *options.files])
    finally:
        signal.signal(signal.SIGINT, before)


def _of_one_place(options: argparse.Namespace) -> int:
    from eifel import _engine

    expect_outputs(options, options.files)
    if options.facts:
        quic.expect_facts(options.files)
    try:
        _engine.check_conditions(options.fail_if)
        analysis = _analysis(options.files)
        score, lines = analysis.scored(options.score) if options.score else (None, "")
        _write(analysis, options)
        differences = _tshark(analysis, options) if options.compare_tshark else None
        extracted = _extract(options) if options.extract_path else None
    except _engine.CaptureError as error:
        raise BadInputError(str(error)) from None
    except _engine.PathError as error:
        raise BadInputError(f"--extract-path: {error}") from None
    if extracted and extracted.refused:
        note(f"eifel: do not predict from this path: {extracted.refused}")
    for capture in analysis.report["captures"]:
        if capture["error"]:
            note(f"eifel: {capture['error']}")
    if options.json:
        more = {name: found for name, found in (("score", score), ("tshark", differences)) if found is not None}
        print_json("analyze", {**analysis.report, **more})
    elif differences is not None:
        _print_differences(differences)
    elif score:
        sys.stdout.write(lines)
    elif options.csv != STANDARD_OUTPUT:
        sys.stdout.write(str(analysis))
        if options.verbose:
            _print_tables(analysis)
    failures = analysis.failures(options.fail_if)
    for failure in failures:
        note(f"eifel: {failure}")
    return FAILED if failures else OK


def expect_outputs(options: argparse.Namespace, files: Sequence[str]) -> None:
    """Raises BadInputError if an output is one of the files to read."""
    for output in options.outputs:
        name = getattr(options, output.dest)
        for file in map(Path, files if name else ()):
            if file.is_file() and Path(name).is_file() and file.samefile(name):
                raise BadInputError(f"{output.flag} {name}: the file that is read; expected another name")


def _analysis(files: list[str]) -> Analysis:
    from eifel import captures

    if files == [STANDARD_INPUT]:
        return captures.follow(STANDARD_INPUT, _says_so_far(time.monotonic))
    with _progress() as progress:
        return captures.analyze(*files, progress=progress)


def _write(analysis: Analysis, options: argparse.Namespace) -> None:
    for option in ("csv", "parquet", "report"):
        if getattr(options, option):
            quic.expect_one_kind(analysis.report, f"--{option}")
    if options.csv == STANDARD_OUTPUT:
        sys.stdout.write(analysis.csv())
    elif options.csv:
        put(Path(options.csv), analysis.csv().encode())
    if options.anonymise:
        analysis.anonymise(options.anonymise)
    if options.otel:
        put(Path(options.otel), analysis.otel().encode())
    if options.report:
        put(Path(options.report), analysis.html().encode())
    if options.annotate:
        analysis.annotate(options.annotate)
    if options.xpl:
        analysis.plot(options.xpl)
    if options.parquet:
        from pyarrow import parquet

        rows = quic.table(analysis.report) if analysis.report.get("quic") else analysis.retransmissions
        with opened(Path(options.parquet)) as out:
            parquet.write_table(rows, out)


def _extract(options: argparse.Namespace) -> CapturedPath:
    from eifel.captured_path import extract_path

    if len(options.files) != 1:
        raise BadInputError("--extract-path: expected one file, because its frames are read once more")
    path = extract_path(options.files[0], connection=options.connection)
    put(Path(options.extract_path), path.toml().encode())
    return path


def _tshark(analysis: Analysis, options: argparse.Namespace) -> list[dict[str, Any]]:
    from eifel import tshark

    if len(options.files) != 1 or options.files[0] == STANDARD_INPUT:
        raise BadInputError("--compare-tshark: expected one file, because tshark reads it too")
    return tshark.compare(analysis.report, tshark.flags(options.files[0]))


def _print_differences(differences: list[dict[str, Any]]) -> None:
    from eifel.cli.output import console, table

    shown = table(["cause", "verdict", "tshark", "why", "count", "first frames"], left=4)
    for row in differences:
        frames = ", ".join(map(str, row["frames"]))
        shown.add_row(row["cause"], row["verdict"], row["tshark"], row["why"], str(row["count"]), frames)
    console().print(shown)


def _print_tables(analysis: Analysis) -> None:
    if analysis.report["captures"]:
        _print_again(analysis)
    if analysis.report.get("quic"):
        _print_lost(analysis)


def _print_again(analysis: Analysis) -> None:
    from eifel.cli.output import console, table

    # A segment has a sequence number, and a chunk of SCTP a TSN.
    columns = ["cause", "verdict", "confidence", "connection", "frame", "seq or TSN", "bytes", "copy", "evidence frame"]
    shown = table(columns, left=3)
    for row in analysis.report["retransmissions"]:
        number = {"seq or TSN": row.get("seq", row.get("tsn"))}
        cells = [number[name] if name in number else row[name.replace(" ", "_")] for name in columns]
        if row["other_cause"]:
            cells[0] = f"{row['cause']} or {row['other_cause']}"
        shown.add_row(*("-" if cell is None else str(cell) for cell in cells))
    console().print(shown)


def _print_lost(analysis: Analysis) -> None:
    """Prints the packets that QUIC stacks declared lost."""
    from eifel.cli.output import console, table

    columns = ["verdict", "confidence", "trigger", "space", "trace", "packet_number", "bytes", "time_ms"]
    shown = table([*(name.replace("_", " ") for name in columns), "acknowledged ms"], left=4)
    for row in analysis.report["quic"]["packets"]:
        cells = [row[name] for name in (*columns, "acknowledged_ms")]
        shown.add_row(*("-" if cell is None else str(cell) for cell in cells))
    console().print(shown)


def _says_so_far(clock: Callable[[], float]) -> Callable[[int, int, int, int], None]:
    """Returns a function that prints a line about a growing capture, at most once in `PAUSE_S`."""
    shown_at = -math.inf

    def show(frames: int, packets: int, connections: int, retransmissions: int) -> None:
        nonlocal shown_at
        if clock() >= shown_at + PAUSE_S:
            shown_at = clock()
            note(f"{frames} frames, {packets} packets of {connections} connections, {retransmissions} retransmissions")

    return show


def _progress() -> Any:
    from eifel.cli.output import progress

    return progress("bytes")
