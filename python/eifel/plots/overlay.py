"""Draws one flow of several runs over one time axis: its progress and its window."""

from collections.abc import Mapping

from eifel.plots import Axes, Figure, style
from eifel.result import Result


def figure(results: Mapping[str, Result], flow: str, *, columns: int | None = None) -> Figure:
    """Draws acknowledged bytes above, and congestion windows below."""
    width = style.width_in(columns)
    drawn, (far, window) = style.new_figure(2, (width, width * 0.83))
    draw(far, window, results, flow)
    return style.finish(drawn, [far, window], f"flow {flow}")


def draw(far: Axes, window: Axes, results: Mapping[str, Result], flow: str) -> None:
    for number, (name, result) in enumerate(results.items()):
        place = [str(of["flow"]) for of in result.flows].index(flow)
        look = style.look(number, len(results))
        acks, windows = result.of("acks", place), result.of("window", place)
        dense = style.dense(len(acks))
        far.step(acks["t_ns"] / 1e9, acks["cumulative"] / 1e6, where="post", label=name, **look, **dense)
        dense = style.dense(len(windows))
        window.step(windows["t_ns"] / 1e9, windows["cwnd"] / 1e3, where="post", label=name, **look, **dense)
    far.set_ylabel("Acknowledged, MB")
    window.set_ylabel("Window, kB")
