"""Static pictures of a run, by matplotlib, which is imported when something is drawn."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from eifel.result import Result


def time_sequence_figure(result: Result, flow: int = 0, title: str = "") -> Figure:
    """Segments, retransmissions, ACKs and drops over time."""
    from eifel.plots import time_sequence
    from eifel.plots.style import finish, new_figure

    figure, axes = new_figure(1, (7.2, 4.2))
    time_sequence.draw(axes[0], result, flow)
    return finish(figure, axes, title)


def timer_figure(result: Result, flow: int = 0, title: str = "") -> Figure:
    """The retransmission timeout against the round trips that it was made from."""
    from eifel.plots import timer
    from eifel.plots.style import finish, new_figure

    figure, axes = new_figure(1, (7.2, 3.6))
    timer.draw(axes[0], result, flow)
    return finish(figure, axes, title)


def window_figure(result: Result, flow: int = 0, title: str = "") -> Figure:
    """cwnd, ssthresh and what is in flight over time."""
    from eifel.plots import window
    from eifel.plots.style import finish, new_figure

    figure, axes = new_figure(1, (7.2, 3.6))
    window.draw(axes[0], result, flow)
    return finish(figure, axes, title)


def overview(result: Result, flow: int = 0, title: str = "") -> Figure:
    """All three above each other with one time axis."""
    from eifel.plots import time_sequence, timer, window
    from eifel.plots.style import finish, new_figure

    figure, axes = new_figure(3, (7.2, 8.0))
    for part, place in zip((time_sequence, window, timer), axes, strict=True):
        part.draw(place, result, flow)
    return finish(figure, axes, title)


def write(result: Result, file: Path) -> None:
    """Draws a run into a file: .png, .svg or .pdf, or .html with zoom, which needs no network to be opened."""
    if file.suffix == ".html":
        from eifel.report import build_run

        file.write_text(build_run(result), encoding="utf-8")
        return
    save(overview(result), file, file.suffix.lstrip("."))


def save(figure: Figure, target: Path | IO[bytes], form: str) -> None:
    """Writes a figure so that the same figure gives the same bytes: no date, no random ids."""
    import matplotlib as mpl

    nothing: dict[str, dict[str, Any]] = {
        "svg": {"Date": None, "Creator": None},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
        "png": {"Software": None},
    }
    with mpl.rc_context({"svg.hashsalt": "eifel", "svg.fonttype": "none"}):
        figure.savefig(target, format=form, metadata=nothing.get(form), dpi=150)
