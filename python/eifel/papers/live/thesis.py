"""Figures 5-2 to 5-6 of the thesis on the wire: its settings, in real time, between kernels."""

from collections.abc import Mapping

from eifel.papers.artefact import Artefact, Claim, Measured, Recorded, Row
from eifel.papers.live import wire
from eifel.papers.published import numbers
from eifel.papers.thesis import figures5_1_to_5_3 as go_back_n
from eifel.papers.thesis import figures5_4_to_5_6 as eifel
from eifel.papers.thesis import traces
from eifel.papers.thesis.traced_figure import COLUMNS, OPEN
from eifel.papers.thesis.transfers import SOURCE
from eifel.plots import Figure
from eifel.plots.both_traces import both_traces_figure
from eifel.runs import run

FIGURES: Mapping[str, Artefact] = {
    "5-2": go_back_n.FIGURE_5_2,
    "5-3": go_back_n.FIGURE_5_3,
    "5-4": eifel.FIGURE_5_4,
    "5-5": eifel.FIGURE_5_5,
    "5-6": eifel.FIGURE_5_6,
}
OVERTAKEN = {"5-4": eifel.OVERTAKEN_4, "5-6": eifel.OVERTAKEN_6}
SHOWN_S = (28, 71)
SPIKED = ("5-2", "5-3", "5-5")


def _draw(measured: Measured) -> Figure:
    runs = {f"figure {row.row.keys['figure']}": r for row, r in zip(measured.rows, measured.results, strict=True)}
    return both_traces_figure(runs, SHOWN_S, title=measured.artefact.title)


def _as_simulated(measured: Measured, figure: str) -> bool:
    """Returns whether the simulator retransmits the same segments."""
    live = measured.result(figure=figure)
    scenario = measured.rows[list(FIGURES).index(figure)].row.scenario
    return wire.retransmissions(run(scenario)) == wire.retransmissions(live)


def _near(measured: Measured, figure: str) -> bool:
    """Returns whether the fast retransmit follows the held packet as printed, within two packet times."""
    result, printed = measured.result(figure=figure), numbers("thesis", f"figure{figure.replace('-', '_')}")
    waited = traces.retransmitted_at(result) - eifel.held_s(result, OVERTAKEN[figure])
    return traces.near(waited, printed["fast_retransmit_s"] - printed["held_s"], packets=2)


def _duplicates(measured: Measured, figure: str) -> int:
    result = measured.result(figure=figure)
    return traces.duplicate_acks(result, traces.first_ack_of_retransmission(result))


ARTEFACT = Artefact(
    id="live.thesis",
    title="Figures 5-2 to 5-6 of the thesis on the wire",
    source=f"{SOURCE}, figures 5-2 to 5-6",
    columns=COLUMNS,
    rows=tuple(Row({"figure": name}, artefact.rows[0].scenario) for name, artefact in FIGURES.items()),
    method=Recorded(_draw, chart=False, wire=wire.results),
    fitted=OPEN,
    claims=(
        Claim(
            "each figure's retransmissions are those of its simulated run",
            lambda m: all(_as_simulated(m, f) for f in FIGURES),
        ),
        Claim(
            "in 5-2, 5-3 and 5-5 one retransmission leaves before the hiccup ends",
            lambda m: all(traces.one_retransmission_during(m.result(figure=figure)) for figure in SPIKED),
        ),
        Claim(
            "in 5-2 everything outstanding is retransmitted, and duplicate ACKs trigger a spurious fast retransmit",
            lambda m: (
                traces.goes_back_n(m.result(figure="5-2"))
                and m.mean("spurious_fast_retransmits", figure="5-2") == 1
                and m.mean("drops", figure="5-2") == 0
            ),
        ),
        Claim(
            "in 5-3 the interface buffer overflows four times",
            lambda m: m.mean("drops", figure="5-3") == numbers("thesis", "figure5_3")["drops"],
        ),
        Claim(
            "in 5-4 and 5-6 six packets overtake one, and the receiver sends six duplicate ACKs",
            lambda m: all(_duplicates(m, figure) == 6 for figure in OVERTAKEN),
        ),
        Claim(
            "there the fast retransmit comes as long after the held packet as printed, within two packets on the line",
            lambda m: all(_near(m, figure) for figure in OVERTAKEN),
        ),
        Claim(
            "in 5-5 a retransmission leaves at second 54.7, within a packet on the line, and no other does",
            lambda m: (
                traces.near(
                    traces.retransmitted_at(m.result(figure="5-5")), numbers("thesis", "figure5_5")["retransmission_s"]
                )
                and m.mean("retransmissions", figure="5-5") == 1
            ),
        ),
    ),
)
