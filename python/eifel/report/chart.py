"""A run as the data of an interactive chart: three panels with one time axis."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from eifel.plots.style import last_s
from eifel.plots.time_sequence import segment_size
from eifel.report.columns import Packer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from eifel.result import Result
    from eifel.tables import Frame

Layer = dict[str, Any]

PATHS = ("sent", "needed", "sack", "limit")
"""The colours of an association's paths, the primary first; beyond the last they begin again."""


def chart(result: Result, flow: int, label: str) -> str:
    """The element that the page's script turns into a chart; what is drawn is inside it."""
    packer = Packer()
    panels = [_sequence(packer, result, flow), _window(packer, result, flow), _timer(packer, result, flow)]
    description = {
        "end": last_s(result),
        "bands": _bands(result, flow),
        "panels": [panel for panel in panels if panel["layers"]],
    }
    data = json.dumps(description, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<figure class="chart" aria-label="{escape(label)}">'
        f'<script type="application/json">{data}</script>'
        f'<script type="application/octet-stream">{packer.packed()}</script></figure>'
    )


def _sequence(packer: Packer, result: Result, flow: int) -> dict[str, Any]:
    sent = result.of("transmissions", flow)
    size = segment_size(sent)
    layers: list[Layer] = []

    def positions(values: NDArray[Any], shift: int = 0) -> dict[str, float | int]:
        return packer.add(values + shift, 1 / size, 1 - 1 / size)

    for name, colour, mask, kind in _kinds(sent, _paths(sent)):
        if mask.any():
            x, y = _time(packer, sent["t_ns"][mask]), positions(sent["start"][mask])
            layers.append({"name": name, "colour": colour, "kind": kind, "x": x, "y": y, "height": 1})
    if "acks" in result.tables:
        _acks(packer, layers, result.of("acks", flow), positions, size)
    if "drops" in result.tables:
        _drops(packer, layers, result.of("drops", flow), sent, positions)
    return {"title": "Segment number", "name": "segment", "height": 380, "layers": layers}


def _paths(rows: Frame) -> list[int]:
    """The paths of an association with several; none where there is one."""
    paths = sorted({int(path) for path in rows["path"]}) if "path" in rows else []
    return paths if len(paths) > 1 else []


def _kinds(sent: Frame, paths: list[int]) -> list[tuple[str, str, NDArray[Any], str]]:
    """What is told apart: kinds of transmissions; with several paths these first, one colour a path."""
    again = sent["kind"] == "retransmission"
    spurious = again & (sent["needed"] == "spurious")
    if not paths:
        return [
            ("segment", "sent", sent["kind"] == "new", "ticks"),
            ("needed retransmission", "needed", again & ~spurious, "squares"),
            ("spurious retransmission", "spurious", spurious, "squares"),
            ("probe", "sack", sent["kind"] == "probe", "squares"),
        ]
    kinds = []
    for path in paths:
        colour, on = PATHS[path % len(PATHS)], sent["path"] == path
        kinds.append((f"path {path + 1}", colour, on & ~again, "ticks"))
        kinds.append((f"path {path + 1}, again", colour, on & again, "squares"))
    return [*kinds, ("spurious", "spurious", spurious, "crosses")]


def _acks(packer: Packer, layers: list[Layer], acks: Frame, positions: Any, size: int) -> None:
    if not len(acks):
        return
    x = _time(packer, acks["t_ns"])
    # The line runs along the upper edge of what is acknowledged.
    layers.insert(0, {"name": "ACK", "colour": "ack", "kind": "steps", "x": x, "y": positions(acks["cumulative"])})
    if "sack1_start" not in acks:
        return
    instants, starts, ends = [], [], []
    for block in (1, 2, 3):
        there = acks[f"sack{block}_start"] >= 0
        instants.append(acks["t_ns"][there])
        starts.append(acks[f"sack{block}_start"][there])
        ends.append(acks[f"sack{block}_end"][there])
    t, start, end = (np.concatenate(part) for part in (instants, starts, ends))
    if len(t):
        order = np.argsort(t, kind="stable")
        bars = {"x": _time(packer, t[order]), "y": positions(start[order]), "top": positions(end[order])}
        layers.insert(0, {"name": "SACK", "colour": "sack", "kind": "bars", **bars})


def _drops(packer: Packer, layers: list[Layer], drops: Frame, sent: Frame, positions: Any) -> None:
    starts = dict(zip(sent["tx"].tolist(), sent["start"].tolist(), strict=True))
    # An ACK can be dropped too, but it has no place on this axis.
    known = np.array([tx in starts for tx in drops["tx"].tolist()], bool)
    if known.any():
        y = np.array([starts[tx] for tx in drops["tx"][known].tolist()])
        x = _time(packer, drops["t_ns"][known])
        layers.append({"name": "drop", "colour": "drop", "kind": "crosses", "x": x, "y": positions(y), "height": 1})


def _window(packer: Packer, result: Result, flow: int) -> dict[str, Any]:
    layers: list[Layer] = []
    if "window" in result.tables:
        window = result.of("window", flow)
        paths = _paths(window)
        for path in paths:
            of = window.rows(window["path"] == path)
            x, y = _time(packer, of["t_ns"]), packer.add(of["cwnd"], 1e-3)
            name, colour = f"cwnd, path {path + 1}", PATHS[path % len(PATHS)]
            layers.append({"name": name, "colour": colour, "kind": "steps", "x": x, "y": y})
        if len(window) and not paths:
            roof = 2 * max(int(window["cwnd"].max()), int(window["flight"].max()), 1)
            for name, colour in (("flight", "ack"), ("ssthresh", "spurious"), ("cwnd", "sent")):
                values = window[name]
                # "Arbitrarily high" is not drawn: it would squeeze everything else to the bottom.
                shown = (values >= 0) & (values <= roof)
                if shown.any():
                    x = _time(packer, window["t_ns"][shown])
                    y = packer.add(values[shown], 1e-3)
                    layers.append({"name": name, "colour": colour, "kind": "steps", "x": x, "y": y})
    return {"title": "Window, kB", "name": "kB", "height": 200, "layers": layers}


def _timer(packer: Packer, result: Result, flow: int) -> dict[str, Any]:
    layers: list[Layer] = []
    if "timer" in result.tables:
        timer = result.of("timer", flow)
        samples, expired = timer.where(event="sample"), timer.where(event="expired")
        for name, colour, kind, rows, column in (
            ("RTT sample", "sent", "dots", samples, "rtt_ns"),
            ("SRTT", "limit", "steps", timer.rows(timer["srtt_ns"] >= 0), "srtt_ns"),
            ("RTO", "needed", "steps", timer.rows(timer["rto_ns"] >= 0), "rto_ns"),
            ("timeout", "spurious", "crosses", expired, "rto_ns"),
        ):
            if len(rows):
                x, y = _time(packer, rows["t_ns"]), packer.add(rows[column] // 1000, 1e-6)
                layers.append({"name": name, "colour": colour, "kind": kind, "x": x, "y": y})
    return {"title": "RTT and RTO, s", "name": "s", "height": 200, "layers": layers}


def _bands(result: Result, flow: int) -> list[dict[str, Any]]:
    bands = []
    if "spikes" in result.tables:
        spikes = result.frame("spikes")
        pairs = {(int(a), int(b)) for a, b in zip(spikes["start_ns"], spikes["end_ns"], strict=True)}
        bands = [{"name": "spike", "from": start / 1e9, "to": end / 1e9} for start, end in sorted(pairs)]
    if "episodes" in result.tables:
        episodes = result.of("episodes", flow).where(cause="timeout")
        for opened, closed, truth in zip(episodes["opened_ns"], episodes["closed_ns"], episodes["truth"], strict=True):
            until = closed / 1e9 if closed >= 0 else last_s(result)
            bands.append({"name": "episode", "from": opened / 1e9, "to": until, "truth": str(truth)})
    return bands


def _time(packer: Packer, t_ns: NDArray[Any]) -> dict[str, float | int]:
    return packer.add(t_ns // 1000, 1e-6)
