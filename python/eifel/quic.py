"""What `eifel analyze` makes of logs besides the report: tables, metrics, a page, and conditions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eifel.errors import BadInputError

if TYPE_CHECKING:
    import pyarrow as pa

Row = Mapping[str, Any]

COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
"""How files of gzip and of zstd begin."""
MOST_HEADER = 1 << 12
MOST_ROWS = 1000
"""The most packets in a page."""


def losses(report: Row) -> Row:
    """Returns the part of the report about logs; empty if there are none."""
    return report.get("quic") or {"traces": [], "packets": [], "events": [], "rules": []}


def expect_one_kind(report: Row, option: str) -> None:
    """Raises BadInputError if captures and logs were analysed together: their rows differ."""
    if report["captures"] and losses(report)["traces"]:
        raise BadInputError(f"{option}: captures and logs have different rows; expected one kind of file")


def expect_facts(files: Sequence[str]) -> None:
    """Raises BadInputError if a file that can be read does not begin as a table of records does."""
    for name in files:
        if not (path := Path(name)).is_file():
            continue
        with path.open("rb") as file:
            first = file.readline(MOST_HEADER)
        columns = [cell.strip(' \r\n"') for cell in first.decode(errors="replace").removeprefix("\ufeff").split(",")]
        if not first.startswith(COMPRESSED) and not {"time_s", "event"} <= set(columns):
            raise BadInputError(f"--facts: {name}: expected a first line with the columns time_s, event and number")


def table(report: Row) -> pa.Table:
    """Returns a row for each packet that was declared lost."""
    import pyarrow as pa

    words = ("space", "trigger", "verdict", "confidence", "reason")
    times = ("time_ms", "acknowledged_ms")
    order = [
        *("trace", "path_id", "time_ms", "space", "packet_number", "bytes", "trigger", "event", "verdict"),
        *("confidence", "reason", "acknowledged_ms"),
    ]
    kinds = dict.fromkeys(order, pa.int64()) | dict.fromkeys(words, pa.string()) | dict.fromkeys(times, pa.float64())
    schema = pa.schema([(name, kinds[name]) for name in order])
    return pa.Table.from_pylist(losses(report)["packets"], schema=schema)


def counts(report: Row) -> Iterator[tuple[str, str, str, Row, dict[str, str | int], int]]:
    """Yields the name, unit and description of a metric, the trace, and the attributes and value of a point."""
    found = losses(report)
    for number, trace in enumerate(found["traces"]):
        about = {"eifel.file": trace["file"], "eifel.vantage": trace["vantage"] or "unknown"}
        yield "quic.packets", "{packet}", "Packets sent.", trace, about, trace["sent"]
        lost: Counter[tuple[str, str, str, str]] = Counter()
        for packet in found["packets"]:
            if packet["trace"] == number:
                trigger = packet["trigger"] or "unknown"
                lost[packet["space"], trigger, packet["verdict"], packet["confidence"]] += 1
        names = ("eifel.space", "eifel.trigger", "eifel.verdict", "eifel.confidence")
        rows = [(dict(zip(names, words, strict=True)), value) for words, value in sorted(lost.items())]
        if trace["unnamed"]:
            rows.append((dict.fromkeys(names[:2], "unknown") | {"eifel.verdict": "undecidable"}, trace["unnamed"]))
        for words, value in rows:
            described = "Packets declared lost, by verdict."
            yield "quic.packets.lost", "{packet}", described, trace, {**about, **words}, value
        reactions = Counter(event["stack_noticed"] for event in found["events"] if event["trace"] == number)
        for reaction, value in sorted(reactions.items()):
            described = "Congestion events, by whether the stack undid them."
            noticed = {**about, "eifel.stack_noticed": reaction}
            yield "quic.congestion_events", "{event}", described, trace, noticed, value


def times_unix_ns(trace: Row) -> tuple[int, int]:
    """Returns the first and the last time of a trace. A log need not say when it was written; its file does."""
    path = Path(trace["file"])
    end = path.stat().st_mtime_ns if path.exists() else 0
    return max(0, end - round(trace["duration_ms"] * 1e6)), end


def build(report: Row) -> str:
    """Returns a page of the packets declared lost and of the congestion events; it works offline."""
    from eifel.report import how, page

    found = losses(report)
    names = ", ".join(dict.fromkeys(trace["file"] for trace in found["traces"]))
    head = f'<header><h1>{escape(names)}</h1><p class="see">{escape(report["headline"])}</p>{how()}</header>'
    sections = (
        ("Logs", "file, vantage, sent, lost, notes", found["traces"]),
        (
            "Packets declared lost",
            "trace, time_ms, space, packet_number, bytes, trigger, verdict, confidence, reason, acknowledged_ms",
            found["packets"][:MOST_ROWS],
        ),
        (
            "Congestion events",
            "trace, event, time_ms, lost, late, cwnd_before, cwnd_after, stack_noticed, restored_ms",
            found["events"][:MOST_ROWS],
        ),
    )
    body = [_section(title, fields.split(", "), rows) for title, fields, rows in sections]
    more = max(0, len(found["packets"]) - MOST_ROWS)
    body.append(f'<p class="dim">{more} more packets</p>' if more else "")
    return page(f"Losses in {names}", head + "".join(body), False, ())


def _section(title: str, fields: Sequence[str], rows: Sequence[Row]) -> str:
    if not rows:
        return f"<section><h2>{title}</h2><p>None.</p></section>"
    head = "".join(f"<th>{name.replace('_', ' ')}</th>" for name in fields)
    lines = "".join(f"<tr>{''.join(_cell(row[name]) for name in fields)}</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
    return f'<section><h2>{title}</h2><div class="scroll">{table}</div></section>'


def _cell(value: Any) -> str:
    if value is None:
        return "<td>-</td>"
    if isinstance(value, float):
        return f'<td class="n">{value:.3f}</td>'
    if isinstance(value, int):
        return f'<td class="n">{value}</td>'
    return f"<td>{escape('; '.join(value) if isinstance(value, list) else value)}</td>"
