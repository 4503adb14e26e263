"""The condition of section 5: the spikes after which Eifel has to rely on DupTSN reports."""

from eifel.papers.artefact import Artefact, Claim, Column, Measured, Recorded, Row
from eifel.papers.sctp import facts, micro, settings
from eifel.plots import Figure, style
from eifel.result import Result

DELAYS_MS = (50, 100, 200, 300)
"""One-way delays of the alternate path. The primary's is 100 ms."""
LENGTHS_S = (1.1, 1.15, 1.2, 1.25, 1.3, 1.35, 1.4, 1.45, 1.5, 1.6, 1.7, 1.8, 2.0, 2.5)
PACKET_S = 0.012
"""The time that a packet takes at the rate of the paths."""


def _detects(result: Result, detector: str) -> bool:
    return len(result.of("verdicts").where(detector=detector, verdict="spurious")) > 0


def _by_eifel(result: Result) -> bool:
    return _detects(result, "eifel-cover-timestamps")


def _waited_s(result: Result) -> float:
    """Returns the time from the spike's begin to the timeout: RTO(primary), from the first held chunk on."""
    return float(result.of("timer").where(event="expired", path=facts.PRIMARY)["t_ns"][0]) / 1e9 - settings.SPIKE_S


def _keys(measured: Measured, number: int) -> tuple[float, float]:
    keys = measured.artefact.rows[number].keys
    return float(keys["spike_s"]), float(keys["alternate_ms"]) / 1000


def _rule(measured: Measured, ways: int) -> tuple[bool, bool]:
    """Returns whether Eifel finds no spike longer than RTO(primary) + `ways` alternate delays, and all others."""
    beyond, within = True, True
    for number, result in enumerate(measured.results):
        length_s, delay_s = _keys(measured, number)
        longer = length_s > _waited_s(result) + ways * delay_s + PACKET_S
        beyond = beyond and not (longer and _by_eifel(result))
        within = within and (longer or _by_eifel(result))
    return beyond, within


def _draw(measured: Measured) -> Figure:
    figure, (axes,) = style.new_figure(1, (7.2, 4.2))
    marks = {"Eifel": (style.ACK, "o"), "DupTSN alone": (style.NEEDED, "D"), "none": (style.DROP, "x")}
    points: dict[str, list[tuple[float, float]]] = {name: [] for name in marks}
    for number, result in enumerate(measured.results):
        length_s, delay_s = _keys(measured, number)
        found = "Eifel" if _by_eifel(result) else "DupTSN alone" if _detects(result, "dsack") else "none"
        points[found].append((length_s, 2000 * delay_s))
    for name, (colour, marker) in marks.items():
        if points[name]:
            lengths, heights = zip(*points[name], strict=True)
            axes.scatter(lengths, heights, color=colour, marker=marker, s=26, label=name)
    waited_s = _waited_s(measured.results[0])
    ends = (0, 2 * DELAYS_MS[-1] + 50)
    for share, dashes, what in ((1.0, "-", "RTT"), (0.5, "--", "RTT / 2")):
        limits = [waited_s + share * height / 1000 for height in ends]
        axes.plot(limits, ends, dashes, color="0.3", linewidth=1, label=f"RTO (primary) + {what} (alternate)")
    axes.set_ylabel("RTT of the alternate path, ms")
    style.finish(figure, [axes], measured.artefact.title, x="length of the spike on the primary path, s")
    axes.set_xlim(LENGTHS_S[0] - 0.05, LENGTHS_S[-1] + 0.05)
    return figure


ARTEFACT = Artefact(
    id="sctp.condition",
    title="Which signal tells a spurious timeout over two paths",
    source=f"{settings.SOURCE}, section 5",
    columns=(
        *micro.COLUMNS[1:4],
        Column("detected_spurious", "Detected as spurious", digits=0),
    ),
    rows=tuple(
        Row({"alternate_ms": delay, "spike_s": length}, micro.observed(settings.EIFEL, length, delay_ms=delay))
        for delay in DELAYS_MS
        for length in LENGTHS_S
    ),
    seed=settings.SEED,
    claims=(
        Claim(
            "Eifel has to rely on DupTSN reports if Delay-Spike(primary) > RTO(primary) + RTT(alternate)",
            lambda m: _rule(m, ways=2)[0],
        ),
        Claim(
            "DupTSN reports detect each of these spurious timeouts",
            lambda m: all(_by_eifel(result) or _detects(result, "dsack") for result in m.results),
        ),
        Claim("up to RTO(primary) + RTT(alternate) Eifel needs none of them", lambda m: _rule(m, ways=2)[1]),
        Claim(
            "the limit is RTO(primary) + the way there over the alternate, half of its RTT",
            lambda m: all(_rule(m, ways=1)),
        ),
    ),
    fitted=(*settings.LEFT_OPEN, settings.FAR_END),
    method=Recorded(_draw, chart=False),
)
