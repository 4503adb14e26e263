"""`eifel reproduce`: measures artefacts of the papers one after another. Finished ones stay."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eifel import files, store
from eifel.cli import FAILED, OK
from eifel.cli.output import NARROW, console, heading, note, print_json, progress, table
from eifel.errors import BadInputError
from eifel.exports import parse_forms
from eifel.live import SKIPPED, missing
from eifel.papers import failing, select
from eifel.papers.artefact import Artefact, Column, Measured, MeasuredRow, word
from eifel.reproduction import reproduce

GAP = 2
"""The spaces between columns."""
MOST_ROWS = 400
"""An artefact with more rows is too long for a terminal."""


def command(options: argparse.Namespace) -> int:
    """Measures the selected artefacts, and prints published beside measured values."""
    pictures = parse_forms(options.pictures)
    chosen = _chosen(options)
    out = Path(options.out)
    files.expect_folder(out)
    finished: list[Measured] = []
    for number, artefact in enumerate(chosen, start=1):
        with progress(f"{artefact.id} ({number} of {len(chosen)})") as advance:
            measured = reproduce(
                artefact,
                repetitions=options.repetitions,
                seed=options.seed,
                threads=options.jobs,
                traces=options.trace if artefact.links else (),
                out=out,
                fresh=options.fresh,
                pictures=pictures,
                progress=advance,
            )
        finished.append(measured)
        if not options.json:
            show(console(), measured)
    if options.json:
        print_json("reproduce", {"artefacts": [measured.json() for measured in finished]})
    else:
        console().print(Text(tally(finished, left_out(options))))
        note(f"stored in {out}: {len(store.stored_ids(out))} artefacts; `eifel report` makes a page of them")
    return FAILED if options.check and not all(map(holds, finished)) else OK


def _chosen(options: argparse.Namespace) -> list[Artefact]:
    chosen = select(options.ids)
    if options.trace:
        if not any(artefact.links for artefact in chosen):
            over = ", ".join(artefact.id for artefact in select([]) if artefact.links)
            raise BadInputError(f"--trace: none of the artefacts chosen is measured over traces; allowed: {over}")
        return chosen
    lacking = [artefact.id for artefact in chosen if artefact.needs_traces]
    if lacking and options.ids:
        raise BadInputError(f"{', '.join(lacking)}: needs link traces: --trace FILE…")
    for name in lacking:
        note(f"{name} is left out: it needs link traces (--trace FILE…)")
    chosen = _possible([artefact for artefact in chosen if not artefact.needs_traces], options)
    if options.ids or options.all:
        return chosen
    if long := left_out(options):
        note(f"left out, because they take minutes: {', '.join(one.id for one in long)}; name them, or take --all")
    return sorted((artefact for artefact in chosen if not artefact.is_long), key=_begun)


def left_out(options: argparse.Namespace) -> list[Artefact]:
    """Returns the artefacts that take minutes, and that a call without names and without `--all` does not measure."""
    if options.ids or options.all or options.trace:
        return []
    return [artefact for artefact in select([]) if artefact.is_long and not artefact.needs_traces]


def _begun(artefact: Artefact) -> tuple[bool, int]:
    """Puts published numbers first, then what is soon done: the first comparison is read while others run."""
    return not any(row.published for row in artefact.rows), len(artefact.rows) * artefact.repetitions


def _possible(chosen: list[Artefact], options: argparse.Namespace) -> list[Artefact]:
    """Returns the artefacts that can be measured here. Those on a real network need rights."""
    on_the_wire = [artefact.id for artefact in chosen if artefact.is_live]
    if not on_the_wire or not (options.ids or options.all) or not (reason := missing()):
        return chosen
    note(f"{SKIPPED} {', '.join(on_the_wire)}: {reason} ***")
    return [artefact for artefact in chosen if not artefact.is_live]


def holds(measured: Measured) -> bool:
    """Returns whether every judged value is within its tolerance and every claim holds."""
    return all(_values(measured)) and all(_claims(measured))


def tally(finished: Sequence[Measured], left: Sequence[Artefact] = ()) -> str:
    """Returns in one line how many claims and judged values hold, and which artefacts have those that do not.

    Of artefacts that were left out it has the claims that failed when they were last measured.
    """
    parts = []
    for name, judged_of in (("claims", _claims), ("values", _values)):
        judged = {measured.artefact.id: judged_of(measured) for measured in finished}
        count = sum(map(len, judged.values()))
        wrong = {id: found.count(False) for id, found in judged.items() if False in found}
        where = ", ".join(f"{id} ({number})" for id, number in wrong.items())
        if count:
            parts.append(
                f"{name}: {count - sum(wrong.values())} of {count} hold" + (f"; not in {where}" if where else "")
            )
    known = [artefact for artefact in left if artefact.id in failing()]
    if known:
        claims, failed = sum(len(one.claims) for one in known), sum(failing()[one.id] for one in known)
        other = sum(artefact not in known and not artefact.is_live for artefact in left)
        parts.append(
            f"claims left out (--all): {claims - failed} of {claims} held when last measured"
            + (f"; those of {other} artefacts are not stored" if other else "")
        )
    return ". ".join(parts) or "nothing is judged"


def _claims(measured: Measured) -> list[bool]:
    return [bool(claim["holds"]) for claim in measured.claims()]


def _values(measured: Measured) -> list[bool]:
    judged = (row.agrees(column) for row in measured.rows for column in measured.artefact.columns)
    return [agrees for agrees in judged if agrees is not None]


def show(out: Console, measured: Measured) -> None:
    artefact = measured.artefact
    out.print(heading(f"{artefact.id}  {artefact.title}"))
    rows = len(artefact.rows)
    if rows > MOST_ROWS:
        out.print(Text(f"  {rows} rows: in the report, in its CSV file, and by --json"))
    elif len(artefact.keys) > 2 and out.width < NARROW:
        # The first key would take the room of the numbers. It becomes a line above its rows.
        starts = [number for number in range(rows) if number == 0 or artefact.begins_group(number)]
        for start, end in zip(starts, [*starts[1:], rows], strict=True):
            key, value = next(iter(artefact.rows[start].keys.items()))
            out.print(Text(f"{key.replace('_', ' ')} {word(value)}"))
            _show_rows(out, measured, artefact.keys[1:], range(start, end))
    else:
        _show_rows(out, measured, artefact.keys, range(rows))
    for claim in measured.claims():
        mark = Text("  holds  ", style="green") if claim["holds"] else Text("  FAILS  ", style="bold red")
        reason = f" ({claim['reason']})" if claim.get("reason") else ""
        out.print(mark.append(Text(claim["text"] + reason, style="default not bold")))
    for text in artefact.known:
        out.print(Text(f"  known  {text}", style="dim"))
    times = f"{measured.repetitions} repetitions, " if measured.repetitions > 1 else ""
    out.print(Text(f"  {times}seed {measured.seed}, {measured.elapsed_s:.1f} s\n", style="dim"))


def _show_rows(out: Console, measured: Measured, keys: Sequence[str], numbers: range) -> None:
    """Prints rows with all columns, or with those that fit and the others in further tables."""
    rows = [measured.rows[number] for number in numbers]
    published = any(row.row.published for row in measured.rows)
    beside = sum(max(map(len, [key, *(word(row.row.keys[key]) for row in rows)])) + GAP for key in keys)
    waiting = list(measured.artefact.columns)
    while waiting:
        chosen: list[Column] = []
        room = out.width - beside
        while waiting and (not chosen or room >= _width(waiting[0], rows, published)):
            room -= _width(waiting[0], rows, published)
            chosen.append(waiting.pop(0))
        out.print(_table(measured, keys, numbers, chosen))


def _width(column: Column, rows: Sequence[MeasuredRow], published: bool) -> int:
    """Returns the least width of a column: its longest value, or the longest word of its title, which wraps."""
    words = [len(part) for part in column.title.split()]
    measured = max(8 if published else 0, *(len(_measured(row, column)) for row in rows), *(() if published else words))
    return measured + GAP + (max(7, *words, *(len(_published(row, column)) for row in rows)) + GAP if published else 0)


def _table(measured: Measured, keys: Sequence[str], numbers: range, columns: Sequence[Column]) -> Table:
    artefact = measured.artefact
    published = any(row.row.published for row in measured.rows)
    headings = [*keys]
    for column in columns:
        headings += [f"{column.title} (paper)", "measured"] if published else [column.title]
    made = table(headings, left=len(keys))
    for place, heading_of in enumerate(headings):
        if place >= len(keys):
            made.columns[place].min_width = max(map(len, heading_of.split()))
    for column_of_keys in made.columns[: len(keys)]:
        column_of_keys.no_wrap = True
    for number in numbers:
        row = measured.rows[number]
        if number > numbers.start and artefact.begins_group(number):
            made.add_row()
        cells = [Text(word(row.row.keys[key])) for key in keys]
        for column in columns:
            if published:
                cells.append(Text(_published(row, column), style="dim"))
            cells.append(_measured(row, column))
        made.add_row(*cells)
    return made


def _published(row: MeasuredRow, column: Column) -> str:
    value = row.row.published.get(column.name)
    return "" if value is None else f"{value:.{column.digits}f}"


def _measured(row: MeasuredRow, column: Column) -> Text:
    mean = row.means.get(column.name)
    if mean is None:
        return Text("")
    text = f"{mean.mean:.{column.digits}f} {mean.spread(column.digits)}".rstrip()
    outside = row.agrees(column) is False
    return Text(f"{text} outside" if outside else text, style="yellow" if outside else "")
