"""Common parts of figures 11 to 14: means of many runs of several senders."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from eifel.papers.artefact import Artefact, Claim, Column, Draw, Key, Measured, Repeated, Row, cited
from eifel.papers.sctp import pictures, settings
from eifel.runs import Runs
from eifel.statistics import Mean, mean_interval

ENDLESS: Mapping[str, Any] = {"kind": "bulk", "endless": True}
DOWNLOAD: Mapping[str, Any] = {"kind": "bulk", "bytes": settings.DOWNLOAD_BYTES}
LATEST_S = 3000

HIGHEST = Column("highest_tsn", "Highest TSN, packets", digits=0)
"""The paper calls this goodput: chunks sent for the first time."""
TIME = Column("time_s", "Download time, s", digits=1)
NEEDLESS = Column("spurious_retransmissions", "Unnecessary retransmissions", digits=1)
GOODPUT = Column("goodput_bps", "User data, kbit/s", scale=1e-3, digits=1)


def figure(
    name: str,
    title: str,
    rows: Iterable[tuple[Mapping[str, Key], Mapping[str, Any]]],
    columns: tuple[Column, ...],
    *claims: Claim,
    draw: Draw = pictures.by_sender,
) -> Artefact:
    """Returns a figure of means. The scenario of each row runs as often as in the paper."""
    return Artefact(
        id=f"sctp.figure{name}",
        title=title,
        source=f"{settings.SOURCE}, {cited(name)}",
        columns=columns,
        rows=tuple(Row(keys, scenario) for keys, scenario in rows),
        seed=settings.SEED,
        claims=claims,
        fitted=(*settings.LEFT_OPEN, settings.AT_SENDER),
        method=Repeated(settings.REPETITIONS, means, long=True, draw=draw),
    )


def everywhere(text: str, check: Callable[[Measured, str], bool]) -> Claim:
    """Makes a claim about every interval between spikes, which `check` gets as the key of its rows."""
    intervals = [f"{low}-{high} s" for low, high in settings.SPIKE_INTERVALS_S]
    return Claim(text, lambda measured: all(check(measured, spikes) for spikes in intervals))


def means(artefact: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    """Returns the means of the columns by row, with the highest TSN derived from the chunks sent."""
    measured = []
    for number in range(len(artefact.rows)):
        rows = runs.where(scenario=number)
        derived = {HIGHEST.name: rows["segments_sent"] - rows["retransmissions"]}
        values = {c.name: derived[c.name] if c.name in derived else rows[c.number] for c in artefact.columns}
        measured.append({c.name: mean_interval(values[c.name] * c.scale) for c in artefact.columns})
    return measured


def as_in(variant: str) -> dict[str, Any]:
    """Returns the rules and the place of the spikes in one of `settings.VARIANTS`."""
    chosen = settings.VARIANTS[variant]
    return {"rules": settings.RULES[chosen.rules], "held": chosen.held}


def spiky(interval_s: tuple[int, int], protocol: settings.Sctp, paths: int, **more: Any) -> dict[str, Any]:
    spike = settings.spikes(interval_s)
    return settings.scenario(protocol, ENDLESS, settings.TRANSFER_S, paths=paths, spike=spike, **more)


def reordered(rate: float, protocol: settings.Sctp, paths: int = 1, **more: Any) -> dict[str, Any]:
    """Returns a transfer of 200 s in which this share of the packets is reordered."""
    late = {"reorder": {"rate": rate, "length": settings.REORDERED_BY}}
    return settings.scenario(protocol, ENDLESS, settings.TRANSFER_S, paths=paths, forward=late, **more)


def by_interval(paths: int) -> list[tuple[Mapping[str, Key], Mapping[str, Any]]]:
    """Returns the rows of figures 11 (b) and 13: each interval with each sender, including those beyond the paper."""
    return [
        (
            {"spikes": f"{low}-{high} s", "sender": name, "setting": variant},
            spiky((low, high), protocol, paths, **as_in(variant)),
        )
        for variant in settings.VARIANTS
        for low, high in settings.SPIKE_INTERVALS_S
        for name, protocol in settings.SENDERS.items()
    ]
