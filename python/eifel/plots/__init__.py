"""Static pictures of a run by matplotlib, which is imported on first use."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from eifel.errors import BadInputError
from eifel.files import opened, put

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure

    from eifel.result import Result
else:
    # Annotations need the names only, and importing matplotlib takes a second.
    Axes = Figure = Any


def time_sequence_figure(result: Result, flow: int = 0, title: str = "") -> Figure:
    """Draws segments, retransmissions, ACKs and drops over time."""
    return _panels((SCREEN_IN, 4.2), ("time_sequence",), result, flow, title)


def paths_figure(result: Result, flow: int = 0, title: str = "") -> Figure:
    """Draws the TSNs of an SCTP flow over time, with a colour per path, and the paths' windows."""
    from eifel.plots import paths
    from eifel.plots.style import finish, new_figure

    figure, axes = new_figure(2, (7.2, 6.0))
    paths.draw(axes[0], axes[1], result, flow)
    return finish(figure, axes, title)


def timer_figure(result: Result, flow: int = 0, title: str = "") -> Figure:
    """Draws the retransmission timeout and the round trips that it is computed from."""
    return _panels((SCREEN_IN, 3.6), ("timer",), result, flow, title)


def window_figure(result: Result, flow: int = 0, title: str = "") -> Figure:
    """Draws cwnd, ssthresh and flight size over time."""
    return _panels((SCREEN_IN, 3.6), ("window",), result, flow, title)


SCREEN_IN = 7.2
"""The width of a picture for a screen."""
PANELS = ("time_sequence", "window", "timer")
"""The panels of one run."""


def overview(
    result: Result, flow: int = 0, title: str = "", *, panels: Sequence[str] = PANELS, columns: int | None = None
) -> Figure:
    """Draws time-sequence graph, window and timer, or some of them, above each other, with one time axis.

    `columns` is the width in columns of a paper, None for a screen. Raises BadInputError for an unknown panel.
    """
    if not panels or not set(panels) <= set(PANELS):
        raise BadInputError(f"panels {', '.join(panels) or 'none'}; allowed: {', '.join(PANELS)}")
    if columns is None:
        return _panels((SCREEN_IN, 8.0 * len(panels) / len(PANELS)), panels, result, flow, title)
    import matplotlib as mpl

    from eifel.plots import style

    with mpl.rc_context(rc=style.paper(columns)):
        width = style.width_in(columns)
        drawn = _panels((width, style.PANEL_SHARE * width * len(panels) + 0.3), panels, result, flow, title)
        # The layout is computed with the sizes of this style.
        drawn.canvas.draw()
    return drawn


def _panels(size_in: tuple[float, float], names: Sequence[str], result: Result, flow: int, title: str) -> Figure:
    """Draws panels above each other, each by the module with its name. The size is width and height."""
    from eifel.plots.style import finish, new_figure

    figure, axes = new_figure(len(names), size_in)
    for name, place in zip(names, axes, strict=True):
        import_module(f"eifel.plots.{name}").draw(place, result, flow)
    return finish(figure, axes, title)


def write(result: Result, file: Path, flows: Sequence[int] = (0,)) -> list[Path]:
    """Draws flows of a run into .png, .svg, .pdf, .xpl (xplot), or a zoomable offline .html page.

    A page holds all flows. A picture holds one flow; several flows get a file each, as
    `run.client1.svg`. Returns the files.
    """
    if file.suffix == ".html":
        from eifel.report import build_run

        put(file, build_run(result, flows).encode())
        return [file]
    drawn = []
    for number in flows:
        name = str(result.flows[number]["flow"])
        place = file if len(flows) == 1 else file.with_suffix(f".{name}{file.suffix}")
        if file.suffix == ".xpl":
            from eifel.plots import xplot

            put(place, xplot.text(result, number, titled(result, number)).encode())
            drawn.append(place)
            continue
        with opened(place) as out:
            save(overview(result, number, titled(result, number)), out, file.suffix.lstrip("."))
        drawn.append(place)
    return drawn


def titled(result: Result, flow: int) -> str:
    """Returns the title of a flow's picture: the scenario's title, and the flow's name."""
    title = str(result.source.settings.get("title", ""))
    return ": ".join(filter(None, [title, f"flow {result.flows[flow]['flow']}"]))


def save(figure: Figure, target: Path | IO[bytes], form: str) -> None:
    """Writes a figure without a date or random ids, so that equal figures give equal bytes."""
    import matplotlib as mpl

    nothing: dict[str, dict[str, Any]] = {
        "svg": {"Date": None, "Creator": None},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
        "png": {"Software": None},
    }
    with mpl.rc_context({"svg.hashsalt": "eifel", "svg.fonttype": "none"}):
        figure.savefig(target, format=form, metadata=nothing.get(form), dpi=150)
