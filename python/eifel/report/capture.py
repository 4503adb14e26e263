"""Writes the page for captures: all retransmissions, and a time-sequence graph per direction with any."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.captures import Analysis, repairs
from eifel.report import how, page
from eifel.report.chart import coded, figure
from eifel.report.columns import Packer

MOST_GRAPHS = 30
"""The most directions drawn, starting with those that have most retransmissions. Each puts all its
packets into the page.
"""
MOST_EPISODES = 100
"""The most rows in a direction's table."""
APART_S = 1.0
"""A retransmission more than this many seconds after the previous one begins another episode."""
AROUND = 0.4
"""The share of an episode's length that is shown before and after it."""
LEAST_S = 0.05

VERDICTS = ("spurious", "needed", "undecidable")

Row = Mapping[str, Any]


def build_captures(analysis: Analysis) -> str:
    """Returns the page as HTML that works offline."""
    report, words = analysis.report, analysis.words
    names = ", ".join(str(one["file"]) for one in report["captures"])
    body = [
        f'<header><h1>{escape(names)}</h1><p class="dim">{_count(report["connections"], "connection")} with data, '
        f"{_count(repairs(report), 'retransmission')}</p>{_total(report, words)}{how()}</header>",
        _summary(report, words),
        _advice(report["advice"], words["faults"]),
    ]
    if words["without_advice"]:
        body.append(f"<section><p>{escape(words['without_advice'])}</p></section>")
    drawn = sorted(_directions(report), key=lambda one: -len(one[2]))[:MOST_GRAPHS]
    one_file = len(report["captures"]) == 1 and report["captures"][0]["file"] != "-"
    said = {(one["connection"], one["sender"]): one["lines"] for one in words["directions"]}
    for connection, end, rows in drawn:
        lines = said.get((connection["connection"], end), ["keep-alives and probes only"])
        body.append(_section(analysis if one_file else None, connection, end, rows, lines))
    return page(f"Retransmissions in {names}", "".join(body), True, ("capture.js",))


def _count(rows: Sequence[Any], what: str) -> str:
    return f"{len(rows)} {what}{'' if len(rows) == 1 else 's'}"


def _directions(report: Row) -> Iterator[tuple[Row, str, Sequence[Row]]]:
    by_direction: dict[tuple[int, str], list[Row]] = {}
    for row in report["retransmissions"]:
        by_direction.setdefault((row["connection"], row["sender"]), []).append(row)
    for connection in report["connections"]:
        for end in ("client", "server"):
            rows = by_direction.get((connection["connection"], end))
            if rows:
                yield connection, end, rows


def _total(report: Row, words: Row) -> str:
    """Returns the total in words, and what was not analysed, or not until its end."""
    total = f'<p class="see">{escape(report["headline"])}</p>'
    found = [f"{one['file']}: reading stopped: {one['error']}" for one in report["captures"] if one["error"]]
    entries = "".join(f"<li>{escape(one)}</li>" for one in [*found, *words["unread"]])
    return f'{total}<p>Left out:</p><ul class="unread">{entries}</ul>' if entries else total


def _summary(report: Row, words: Row) -> str:
    rows = repairs(report)
    if not rows:
        return ""
    lines = []
    for cause in sorted({row["cause"] for row in rows}):
        mine = [row for row in rows if row["cause"] == cause]
        counts = [len(mine)]
        for verdict in VERDICTS:
            judged = [row for row in mine if row["verdict"] == verdict]
            counts.append(len(judged))
            if verdict != "undecidable":
                counts.append(sum(row["confidence"] == "certain" for row in judged))
        cells = "".join(f'<td class="n">{count}</td>' for count in counts)
        lines.append(f"<tr><th>{escape(cause)}</th>{cells}</tr>")
    titles = "".join(
        f'<th class="n">{title}</th>' for title in ("all", "spurious", "certain", "needed", "certain", "undecidable")
    )
    legend = "".join(f'<p class="dim">{escape(line)}</p>' for line in words["legend"])
    return _table(f"<th>cause</th>{titles}", lines, after=legend, kind="causes")


def _advice(advice: Sequence[Row], faults: Sequence[str]) -> str:
    """Returns a table of what the evidence shows about the path and its ends, and what to set there."""
    titles = {
        "fault": "the path",
        "evidence": "evidence",
        "action": "to do",
        "confirm": "confirm by",
        "source": "source",
    }
    lines = []
    for one, fault in zip(advice, faults, strict=True):
        cells = "".join(
            f'<td data-title="{title}">{escape(one[name])}</td>' for name, title in titles.items() if name != "fault"
        )
        lines.append(f"<tr><th>{escape(fault)}</th>{cells}</tr>")
    if not lines:
        return ""
    head = "".join(f"<th>{title}</th>" for title in titles.values())
    named = '<h2>What the evidence shows</h2><p class="dim">Settings and counters are those of Linux.</p>'
    return _table(head, lines, named, kind="advice")


def _table(head: str, lines: Sequence[str], before: str = "", after: str = "", kind: str = "") -> str:
    table = f'<table class="{kind}"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'
    return f'<section>{before}<div class="scroll" tabindex="0">{table}</div>{after}</section>'


def _section(analysis: Analysis | None, connection: Row, end: str, rows: Sequence[Row], said: Sequence[str]) -> str:
    ends = (connection["client"], connection["server"])
    source, destination = ends if end == "client" else reversed(ends)
    label = f"{source} → {destination}"
    chart, origin = _chart(analysis, connection, end, rows, label) if analysis else ("", connection["time_s"])
    return (
        f'<section><h2><span class="id">connection {connection["connection"]}</span>{escape(label)}</h2>'
        f"<p>{escape('; '.join(said))}.</p>{chart}{_episodes(rows, origin)}</section>"
    )


def _chart(analysis: Analysis, connection: Row, end: str, rows: Sequence[Row], label: str) -> tuple[str, float]:
    """Returns the graph, and the time at which its axis begins."""
    columns = analysis.time_sequence(connection["connection"], from_server=end == "server")
    verdicts = {row["frame"]: row["verdict"] for row in rows}
    codes, words = coded(np.array([verdicts.get(int(frame), "") for frame in columns["frame"]], dtype=np.str_))
    packer = Packer()
    graph = {"verdict": packer.add(codes)}
    for name, values in columns.items():
        # Times are seconds; all other columns are whole numbers.
        graph[name] = packer.add(np.rint(values * 1e6), 1e-6) if name.endswith("_s") else packer.add(values)
    return figure("chart", {"graph": graph, "words": words}, packer, label), _origin(rows, columns)


def _origin(rows: Sequence[Row], columns: Mapping[str, NDArray[Any]]) -> float:
    """Returns the begin of the graph's time in seconds since 1970: the first packet of the connection."""
    places = {int(frame): at for frame, at in zip(columns["frame"], columns["sent_s"], strict=True)}
    for row in rows:
        if row["frame"] in places:
            return float(row["time_s"]) - float(places[row["frame"]])
    return float(rows[0]["time_s"])


def _episodes(rows: Sequence[Row], origin: float) -> str:
    groups: list[list[Row]] = []
    for row in rows:
        if groups and row["time_s"] - groups[-1][-1]["time_s"] <= APART_S:
            groups[-1].append(row)
        else:
            groups.append([row])
    lines = []
    for group in groups[:MOST_EPISODES]:
        first, last = group[0]["time_s"] - origin, group[-1]["time_s"] - origin
        room = max((last - first) * AROUND, LEAST_S)
        counts = [sum(row["verdict"] == verdict for row in group) for verdict in VERDICTS]
        cells = "".join(f'<td class="n">{count}</td>' for count in counts)
        button = (
            f'<button type="button" data-from="{first - room:.6f}" data-to="{last + room:.6f}">{first:.3f} s</button>'
        )
        lines.append(
            f"<tr><th>{button}</th><td>{escape(group[0]['cause'])}</td>{cells}<td>{escape(group[0]['reason'])}</td>"
            f'<td class="n">{group[0]["frame"]}</td></tr>'
        )
    titles = ("begins", "cause", "spurious", "needed", "undecidable", "reason for the first", "frame")
    numbers = {"spurious", "needed", "undecidable", "frame"}
    head = "".join(f'<th class="n">{title}</th>' if title in numbers else f"<th>{title}</th>" for title in titles)
    more = f'<p class="dim">{len(groups) - MOST_EPISODES} more episodes</p>' if len(groups) > MOST_EPISODES else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    return f'<div class="scroll episodes" tabindex="0">{table}</div>{more}'
