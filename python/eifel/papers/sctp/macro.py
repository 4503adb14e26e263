"""Common parts of figures 11 to 14: means of many runs of three senders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from eifel.papers.artefact import Artefact, Claim, Column, Draw, Key, Repeated, Row
from eifel.papers.measured import Measured
from eifel.papers.published import numbers
from eifel.papers.sctp import facts, pictures, settings
from eifel.statistics import mean_interval

if TYPE_CHECKING:
    from eifel.runs import Runs
    from eifel.statistics import Mean

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
    known: tuple[str, ...] = (),
    draw: Draw = pictures.by_sender,
) -> Artefact:
    """Returns a figure of means. The scenario of each row runs as often as in the paper."""
    part = name[len(name.rstrip("ab")) :]
    return Artefact(
        id=f"sctp.figure{name}",
        title=title,
        source=f"{settings.SOURCE}, figure {name.rstrip('ab')}" + (f" ({part})" if part else ""),
        columns=columns,
        rows=tuple(Row(keys, scenario) for keys, scenario in rows),
        seed=settings.SEED,
        claims=claims,
        fitted=(*settings.CHOSEN, settings.BOX),
        known=known,
        method=Repeated(settings.REPETITIONS, means, long=True, draw=draw),
    )


def means(artefact: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    """Returns the means of the columns by row, with the highest TSN derived from the chunks sent."""
    measured = []
    for number in range(len(artefact.rows)):
        rows = runs.where(scenario=number)
        derived = {HIGHEST.name: rows["segments_sent"] - rows["retransmissions"]}
        values = {c.name: derived[c.name] if c.name in derived else rows[c.number] for c in artefact.columns}
        measured.append({c.name: mean_interval(values[c.name] * c.scale) for c in artefact.columns})
    return measured


def spiky(interval_s: tuple[int, int], protocol: settings.Sctp, paths: int, **more: Any) -> dict[str, Any]:
    """Returns a transfer of 200 s with random spikes."""
    spike = settings.spikes(interval_s)
    return settings.scenario(protocol, ENDLESS, settings.TRANSFER_S, paths=paths, spike=spike, **more)


def by_interval(paths: int) -> list[tuple[Mapping[str, Key], Mapping[str, Any]]]:
    """Returns the rows of figures 11 (b) and 13: each interval with each sender, including those beyond the paper."""
    return [
        ({"spikes": f"{low}-{high} s", "sender": name}, spiky((low, high), protocol, paths))
        for low, high in settings.SPIKE_INTERVALS_S
        for name, protocol in {**settings.PROTOCOLS, **settings.BEYOND}.items()
    ]


def satellite(paths: int) -> list[tuple[Mapping[str, Key], Mapping[str, Any]]]:
    """Returns the rows of figure 14: a download over 250 kbit/s with a spike every 10 to 20 s, for both windows."""
    spike = settings.spikes(settings.SPIKE_INTERVALS_S[0])
    return [
        (
            {"window": f"{window // 1024} kB", "sender": name},
            settings.scenario(
                protocol,
                DOWNLOAD,
                LATEST_S,
                paths=paths,
                rate_bps=settings.SATELLITE_BPS,
                spike=spike,
                window_bytes=window,
            ),
        )
        for window in settings.WINDOWS_BYTES
        for name, protocol in {**settings.PROTOCOLS, **settings.BEYOND}.items()
    ]


def satellite_figure(name: str, where: str, paths: int, known: tuple[str, ...]) -> Artefact:
    """Returns a part of figure 14, with the gains that its text gives."""
    printed = numbers("sctp", f"figure{name}")
    senders = (("plain", "plain", "plain SCTP"), ("dup-tsn", "dup_tsn", "DupTSN"))

    def check(window: str, over: str, published: float) -> Callable[[Measured], bool]:
        return lambda measured: facts.near(-facts.gain(measured, "time_s", over, window=window), published)

    claims = [
        Claim(
            f"with a window of {window}, Eifel is about {printed[f'against_{key}_s']:g} s faster than {title}"
            f" ({printed[f'against_{key}']:.0%})",
            check(window, over, printed[f"against_{key}_s"]),
        )
        for window in ("64 kB", "128 kB")
        for over, key, title in senders
    ]
    title = f"Time of a download of 4 MB over 250 kbit/s with a delay spike every 10 to 20 s ({where})"
    return figure(name, title, satellite(paths), (TIME, NEEDLESS), *claims, known=known)
