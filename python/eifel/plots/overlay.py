"""Draws one flow of several runs over one time axis: its progress and its window."""

from collections.abc import Mapping
from pathlib import Path

from eifel.files import opened
from eifel.plots import Figure, save, style
from eifel.result import Result

COLOURS = (style.SENT, style.SPURIOUS, style.LIMIT, style.NEEDED, style.PROBE, style.ACK)


def write(results: Mapping[str, Result], flow: str, file: Path) -> None:
    with opened(file) as out:
        save(draw(results, flow), out, file.suffix.lstrip("."))


def draw(results: Mapping[str, Result], flow: str) -> Figure:
    """Draws acknowledged bytes above, and congestion windows below."""
    figure, (far, window) = style.new_figure(2, (7.2, 6.0))
    for number, (name, result) in enumerate(results.items()):
        place = [str(of["flow"]) for of in result.flows].index(flow)
        colour = COLOURS[number % len(COLOURS)]
        acks, windows = result.of("acks", place), result.of("window", place)
        dense = style.dense(len(acks))
        far.step(acks["t_ns"] / 1e9, acks["cumulative"] / 1e6, where="post", color=colour, label=name, **dense)
        dense = style.dense(len(windows))
        window.step(windows["t_ns"] / 1e9, windows["cwnd"] / 1e3, where="post", color=colour, label=name, **dense)
    far.set_ylabel("Acknowledged, MB")
    window.set_ylabel("Window, kB")
    return style.finish(figure, [far, window], f"flow {flow}")
