"""The server of `eifel mcp`: verdicts on captures, predictions and runs as tools of the Model Context Protocol.

Every answer is bounded, because an assistant reads all of it: long lists come in pages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, Literal, ParamSpec

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from eifel import __version__, _engine, captures, quic
from eifel import scenario as scenarios
from eifel.captured_path import extract_path
from eifel.errors import BadInputError
from eifel.runs import means_of_flows, run_many

INSTRUCTIONS = """\
Says of each retransmission in a capture (TCP, SCTP) or QUIC log why it was sent, and whether it was needed. Begin \
with `analyze`; its headline and advice answer most questions. Trust `certain` verdicts, and say so where a verdict is \
only likely or undecidable. `explain` shows one retransmission with what happened around it. `whatif` predicts other \
senders over the path of a capture made at the sender. `run` simulates a scenario."""
MOST_CONNECTIONS = 20
MOST_ROWS = 200
MOST_DRAWS = 1000
MOST_REPETITIONS = 100
AROUND = 5
"""The retransmissions before and behind one that `explain` shows."""

Row = Mapping[str, Any]
Verdict = Literal["spurious", "needed", "genuine", "undecidable"]
Asked = ParamSpec("Asked")


def server() -> MCPServer:
    """Returns the server, which reads and changes nothing but the files that it is asked about."""
    made = MCPServer("eifel", instructions=INSTRUCTIONS, version=__version__, log_level="CRITICAL")
    reads = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
    for tool in (analyze, explain, whatif, run):
        made.add_tool(_in_one_line(tool), name=tool.__name__, annotations=reads)
    return made


def analyze(
    files: list[str], connection: int | None = None, verdict: Verdict | None = None, first: int = 0, count: int = 50
) -> dict[str, Any]:
    """Judges every retransmission in captures (pcap, pcapng, snoop) or QUIC logs (qlog).

    `files` are paths on this machine: one capture, several that follow each other in time, or the logs of
    both ends. The answer has a headline in words, the whole summary as text, advice, and the
    retransmissions (or lost packets) from `first` on, at most `count` of them (at most 200), perhaps only
    those of one connection or with one verdict: spurious, needed (genuine in logs) or undecidable.
    """
    found = captures.analyze(*_some(files))
    report = found.report
    is_log = bool(quic.losses(report)["traces"])
    rows = [row for row in _rows(report, is_log) if verdict is None or row["verdict"] == verdict]
    if connection is not None:
        rows = [row for row in rows if row["trace" if is_log else "connection"] == connection]
    shown = rows[_natural("first", first) :][: min(_natural("count", count), MOST_ROWS)]
    return {
        "headline": report.get("headline", ""),
        "summary": str(found),
        "advice": report.get("advice", []),
        "connections": _largest(report["connections"]),
        "connections_in_all": len(report["connections"]),
        "rows": list(shown),
        "rows_in_all": len(rows),
    }


def explain(file: str, frame: int) -> dict[str, Any]:
    """Explains one retransmission of a capture: the frame's cause, verdict, confidence, reason and evidence.

    `frame` is the number of the retransmission's frame, as Wireshark counts. The answer also has the
    retransmissions around it in its direction, and the connection that it belongs to.
    """
    report = captures.analyze(file).report
    rows = report["retransmissions"]
    place = next((place for place, row in enumerate(rows) if row["frame"] == frame), None)
    if place is None:
        near = sorted((row["frame"] for row in rows), key=lambda other: abs(other - frame))[:AROUND]
        there = f"; the nearest are {', '.join(map(str, sorted(near)))}" if near else ", and no frame is one"
        raise BadInputError(f"{file}: frame {frame} is no retransmission{there}")
    row = rows[place]
    beside = [one for one in rows if (one["connection"], one["sender"]) == (row["connection"], row["sender"])]
    at = next(place for place, one in enumerate(beside) if one["frame"] == frame)
    connection = next(one for one in report["connections"] if one["connection"] == row["connection"])
    return {
        "in_words": _in_words(row, connection),
        "retransmission": row,
        "around": beside[max(0, at - AROUND) : at + AROUND + 1],
        "connection": connection,
        "advice": report["advice"],
    }


def whatif(
    file: str, changes: list[str], connection: int | None = None, draws: int = 100, seed: int = 1
) -> dict[str, Any]:
    """Predicts another sender over the path that a capture shows. The capture has to be made at the sender.

    `changes` make the other sender, each as KEY=VALUE: for instance sender.detect=f-rto,
    sender.respond=rfc4015, sender.rto=linux, tcp.sack=false, point_to_point.queue.packets=50. The answer
    has ranges that nine of ten of `draws` possible paths stay within (at most 1000), or why no
    prediction can be trusted and what to do.
    """
    draws = _between("draws", draws, MOST_DRAWS)
    asked = scenarios.parse_settings(changes)
    if not asked:
        raise BadInputError("changes: expected at least one KEY=VALUE, as sender.detect=none")
    try:
        path = extract_path(file, connection=connection)
        path.check(asked)
    except _engine.PathError as error:
        return {"refused": str(error), "way_on": _engine.way_on(str(error), file)}
    if path.refused:
        return {"path": path.summary(), "refused": path.refused, "way_on": _engine.way_on(path.refused, file)}
    found = path.whatif({" ".join(changes): asked}, draws=draws, seed=seed)
    return {"path": path.summary(), "left_open": path.open_quantities(), "prediction": found}


def run(scenario: str, settings: list[str] | None = None, repetitions: int = 1) -> dict[str, Any]:
    """Runs a scenario in the simulator, which knows the truth about every retransmission.

    `scenario` is the path of a TOML file, or its text. `settings` change keys, each as KEY=VALUE, for instance
    flow.main.sender.detect=none. The answer has the mean of each number over the repetitions (at most
    100) and its 95 % interval, for each flow.
    """
    repetitions = _between("repetitions", repetitions, MOST_REPETITIONS)
    source = scenarios.override(scenarios.load(scenario), scenarios.parse_settings(settings or []))
    means = means_of_flows(run_many([source], repetitions=repetitions))
    flows = [
        {
            "flow": flow.name,
            "mean": {name: mean.mean for name, mean in of.items()},
            "interval95": {name: mean.interval for name, mean in of.items()},
        }
        for flow, of in zip(source.flows, means, strict=True)
    ]
    return {"seed": source.seed, "repetitions": repetitions, "flows": flows}


def _in_one_line(tool: Callable[Asked, dict[str, Any]]) -> Callable[Asked, dict[str, Any]]:
    """Returns the tool with errors of the input as one line, and not as faults of this server."""

    @wraps(tool)
    def answered(*args: Asked.args, **kwargs: Asked.kwargs) -> dict[str, Any]:
        try:
            return tool(*args, **kwargs)
        except (OSError, ValueError, _engine.RunError) as error:
            raise ToolError(str(error)) from None

    return answered


def _some(files: Sequence[str]) -> Sequence[str]:
    if not files:
        raise BadInputError("files: expected one path or more")
    return files


def _natural(name: str, value: int) -> int:
    if value < 0:
        raise BadInputError(f"{name}: {value}; expected 0 or more")
    return value


def _between(name: str, value: int, most: int) -> int:
    if not 1 <= value <= most:
        raise BadInputError(f"{name}: {value}; expected 1 to {most}")
    return value


def _rows(report: Row, is_log: bool) -> Sequence[Row]:
    rows: Sequence[Row] = quic.losses(report)["packets"] if is_log else report["retransmissions"]
    return rows


def _largest(connections: Sequence[Row]) -> list[Row]:
    """Returns the connections with most retransmissions, and then with most packets."""

    def size(one: Row) -> tuple[int, int]:
        return sum(way["retransmissions"] for way in one["directions"]), one["packets"]

    return sorted(connections, key=size, reverse=True)[:MOST_CONNECTIONS]


def _in_words(row: Row, connection: Row) -> str:
    ends = [connection["client"], connection["server"]]
    source, destination = ends if row["sender"] == "client" else ends[::-1]
    what = f"TSN {row['tsn']}" if row.get("tsn") is not None else f"{row['bytes']} bytes from {row['seq']} on"
    shown = f" (frame {row['evidence_frame']} shows it)" if row["evidence_frame"] else ""
    return (
        f"Frame {row['frame']}, from {source} to {destination}, sends {what} again. Cause: {row['cause']}. "
        f"Verdict: {row['verdict']}, {row['confidence']}: {row['reason']}{shown}."
    )
