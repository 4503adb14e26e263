"""Draws a recorded timer and the round trips over a few load cycles, also beside the model."""

from eifel.papers.thesis.timing import Agreement, Timed
from eifel.plots import Axes, Figure, style
from eifel.plots.prediction import SIZE_IN


def timed_figure(
    run: Timed,
    name: str,
    *,
    title: str = "",
    cycles: int = 3,
    rexmt: bool = False,
    dots: bool = False,
    near: bool = False,
    beside: Agreement | None = None,
) -> Figure:
    """Draws RTT and RTO over the last load cycles, in seconds. `near` cuts off values far above RTT.

    `beside` adds RTO / RTT over the load cycle below: the model's, and the measured one.
    """
    figure, axes = style.new_figure(2 if beside else 1, (SIZE_IN[0], 5.2 if beside else SIZE_IN[1]), share=False)
    part = slice(run.cycles[-cycles].start, run.cycles[-1].stop)
    t_s, place = run.t_s[part], axes[0]
    place.plot(t_s, run.rtt_s[part], ".", markersize=2.5, color=style.SENT, label="RTT")
    # The RTO before each sample. With `dots` instead of lines, gaps after each cycle are visible.
    how = {"linestyle": "none", "marker": ".", "markersize": 2.5} if dots else {"linewidth": 1.3}
    place.plot(t_s, run.rto_s[part], color=style.NEEDED, label=name, **how)
    if rexmt:
        place.plot(t_s, run.rexmt_s[part], color=style.SPURIOUS, linewidth=1.0, label="REXMT")
    place.set_ylabel("RTT and RTO, s")
    place.set_ylim(0, 1.35 * float(run.rtt_s[part].max()) if near else None)
    style.finish(figure, axes, title)
    place.set_xlim(float(t_s[0]), float(t_s[-1]))
    place.set_xlabel("Time, s")
    place.legend(loc="lower left", fontsize=8, framealpha=0.9, ncols=3)
    if beside is not None:
        _beside(axes[1], beside)
    return figure


def _beside(place: Axes, beside: Agreement) -> None:
    from eifel.papers.thesis.timing import PLACES

    place.plot(PLACES, beside.model, color=style.LIMIT, linewidth=1.3, label="model")
    place.plot(PLACES, beside.measured, color=style.NEEDED, linewidth=1.3, linestyle="--", label="measured")
    place.axhline(1, color=style.SENT, linewidth=0.8)
    place.set_ylabel("RTO / RTT")
    place.set_xlabel("Part of the load cycle")
    place.set_xlim(0, 1)
    place.set_ylim(bottom=0)
    place.set_title(str(beside), fontsize=8)
    place.legend(loc="upper right", fontsize=8, framealpha=0.9)
