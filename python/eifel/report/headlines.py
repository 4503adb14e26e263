"""What was found, before everything else: a few pictures with a sentence each, made of what the report holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from eifel.report.embedded import embedded
from eifel.report.svg import Dot, Line, dots

if TYPE_CHECKING:
    from eifel.papers.measured import Measured

MOST_LINES = 40


def headlines(measured: Sequence[Measured]) -> str:
    """Makes the headlines for which the report has the numbers."""
    known = {one.artefact.id: one for one in measured}
    made = [(title, build(known)) for title, build in _HEADLINES]
    shown = [f"<article><h3>{escape(title)}</h3>{body}</article>" for title, body in made if body]
    return f'<section id="found" class="found"><h2>What was found</h2>{"".join(shown)}</section>' if shown else ""


SPIKES = {"responding.figure1a": "Reno-SACK", "responding.figure2": "Reno-SACK with Eifel"}


def _spike(known: Mapping[str, Measured]) -> str:
    if not SPIKES.keys() <= known.keys():
        return ""
    from eifel.plots import side_by_side

    runs = {name: known[artefact].results[0] for artefact, name in SPIKES.items()}
    without, eifel = (run.main["spurious_retransmissions"] for run in runs.values())
    sentence = (
        f"The path stands still for some seconds, and nothing is lost. The sender's timer expires, and it sends"
        f" {without} segments again without need (red). With Eifel it recognises the first ACK as the original's, and"
        f" sends {eifel} again."
    )
    return _with(
        sentence, embedded(side_by_side.figure(runs), "one spike without Eifel and with it"), "responding.figure2"
    )


def _worth(known: Mapping[str, Measured]) -> str:
    table = known.get("responding.table1")
    if table is None:
        return ""
    without, eifel = (table.row(eifel=on).means["time_s"] for on in (False, True))
    lines = []
    for name, mean, colour in (("without Eifel", without, "spurious"), ("with Eifel", eifel, "sent")):
        low, high = mean.interval or (None, None)
        lines.append(Line(name, [Dot(mean.mean, low, high, colour, f"{mean.mean:.1f} s")]))
    sentence = (
        f"A transfer over a path with delay spikes takes {without.mean:.0f} s without Eifel and {eifel.mean:.0f} s with"
        f" it, {without.mean / eifel.mean:.1f} times less."
    )
    return _with(sentence, dots(lines, "time of the transfer, s"), "responding.table1")


def _published(known: Mapping[str, Measured]) -> str:
    lines, within, judged = [], 0, 0
    for one in known.values():
        for row in one.rows:
            for column in one.artefact.columns:
                printed, found = row.row.published.get(column.name), row.means.get(column.name)
                agrees = row.agrees(column)
                if agrees is None:
                    continue
                judged, within = judged + 1, within + agrees
                if not printed or found is None:
                    continue
                tolerance = max(column.relative or 0, (column.absolute or 0) / abs(printed))
                title = f"{row.row.name}, {column.title}: {found.mean:.{column.digits}f}, published {printed:g}"
                dot = Dot(max(found.mean / printed, 0.05), colour="sent" if agrees else "spurious", title=title)
                lines.append((one.artefact.id, column.title, tolerance, dot))
    if not lines:
        return ""
    rows: dict[tuple[str, str], list[tuple[float, Dot]]] = {}
    for artefact, title, tolerance, dot in lines:
        rows.setdefault((artefact, title), []).append((tolerance, dot))
    shown = [
        Line(f"{artefact}: {title}", [dot for _, dot in found], (max(1 - found[0][0], 0.05), 1 + found[0][0]))
        for (artefact, title), found in rows.items()
    ]
    sentence = (
        f"{within} of {judged} published values come out within their tolerance."
        " Each dot is one of them; those printed as 0 have none."
    )
    return _with(sentence, dots(shown[:MOST_LINES], "measured over published", logarithmic=True), "")


def _burst(known: Mapping[str, Measured]) -> str:
    table = known.get("detectors.burst")
    if table is None:
        return ""
    groups: dict[str, list[Dot]] = {}
    for row in table.rows:
        keys, mean = row.row.keys, row.means["goodput_mbps"]
        if "buffer" not in keys or keys.get("pace", "none") != "none":
            continue
        low, high = mean.interval or (None, None)
        restores = keys["response"] == "option-1"
        name = f"{keys['buffer']} packets"
        title = f"{row.row.name}: {mean.mean:.3f} Mbit/s"
        groups.setdefault(name, []).append(Dot(mean.mean, low, high, "spurious" if restores else "sent", title))
    lines = [Line(name, found) for name, found in groups.items()]
    sentence = (
        "Restoring the full window at once sends a burst. The flow loses by it when the queue is shorter than that"
        " burst (red: the window restored at once; blue: other responses)."
    )
    return _with(sentence, dots(lines, "goodput by length of the queue, Mbit/s"), "detectors.burst") if lines else ""


def _detectors(known: Mapping[str, Measured]) -> str:
    table = known.get("detectors.truth")
    if table is None:
        return ""
    rows = [row for row in table.rows if row.row.keys["situation"] == table.rows[0].row.keys["situation"]]
    lines = []
    for row in rows[:12]:
        found, delay = row.means.get("found"), row.means.get("delay_rtts")
        if found is None:
            continue
        low, high = found.interval or (None, None)
        waits = "" if delay is None else f", {delay.mean:.1f} RTTs"
        name = f"{row.row.keys['detector']}{waits}"
        lines.append(Line(name, [Dot(found.mean, low, high, "sent", f"{name}: {found.mean:.2f} %")]))
    sentence = "How many spurious episodes each detector finds where nothing was lost, and how long it takes (median)."
    return _with(sentence, dots(lines, "found, %"), "detectors.truth") if lines else ""


def _with(sentence: str, picture: str, artefact: str) -> str:
    more = f' <a href="#{escape(artefact)}">{escape(artefact)}</a>' if artefact else ""
    return f'<p>{escape(sentence)}{more}</p><div class="scroll">{picture}</div>'


_HEADLINES: tuple[tuple[str, Callable[[Mapping[str, Measured]], str]], ...] = (
    ("One delay spike", _spike),
    ("What Eifel gains", _worth),
    ("Published beside measured", _published),
    ("The burst after an undo", _burst),
    ("What detectors find, and when", _detectors),
)
