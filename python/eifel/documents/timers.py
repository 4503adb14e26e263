"""Tables and sentences of docs/internals/timers.md; a part of `documents.measured`."""

from collections.abc import Callable, Mapping

from eifel.documents import FINDINGS, TIMERS, spaced, table
from eifel.documents.stored import Stored, mean
from eifel.papers.thesis import paths
from eifel.papers.thesis.timers import AGG

COLUMNS = ("goodput_kbps", "spurious_timeouts", "genuine_timeouts", "genuine_timeouts_wait_s")
NAMES = {
    "rfc6298": "`rfc6298`",
    "rfc6298, 200 ms": "`rfc6298`, 200 ms",
    "lite": "`lite`",
    "eifel": "`eifel`",
    "eifel, 1 ms ticks": "`eifel`, ticks of 1 ms",
    "agg, k 0.01": "`self-trained`, k = 0.01",
    "agg, k 0.05": "`self-trained`, k = 0.05",
    "agg, k 0.1": "`self-trained`, k = 0.1",
    "linux": "`linux`",
    "fixed, 1 s": "`fixed`, 1 s",
}
RUNS_H = 5 * 0.5
"""The total time of the repetitions over spikes, in hours."""


def _of(store: Stored, column: str, path: str, timer: str, eifel: bool = True) -> float:
    return mean(store, "thesis.timers", column, path=path, timer=timer, eifel=eifel)


def _wait_ms(store: Stored, path: str, timer: str) -> float:
    """Returns the wait for a needed timeout with Eifel, in milliseconds."""
    waited = _of(store, "genuine_timeouts_wait_s", path, timer)
    return 1000 * waited / _of(store, "genuine_timeouts", path, timer)


def spikes(store: Stored) -> str:
    """Returns the table for the path with delay spikes: bulk data, and requests."""
    rows = []
    for timer, name in NAMES.items():
        bulk = [
            _of(store, column, paths.BULK, timer, eifel)
            for eifel in (False, True)
            for column in ("goodput_kbps", "spurious_timeouts")
        ]
        rows.append([name, *map(spaced, bulk), spaced(_wait_ms(store, paths.REQUESTS, timer))])
    where = "2 Mbit/s, 80 ms, 0.5 % loss, spikes of about 1 s"
    plain, eifel = ("goodput, bulk", "spurious an hour"), ("goodput with Eifel", "spurious an hour")
    return table((where, *plain, *eifel, "wait, requests with Eifel"), rows)


def floors(store: Stored) -> str:
    """Returns the table for the short path, and for the path whose round trip is just below a minimum RTO."""
    rows = []
    for timer, name in NAMES.items():
        spurious = (spaced(_of(store, "spurious_timeouts", paths.FLOOR, timer, eifel)) for eifel in (False, True))
        goodput = spaced(_of(store, "goodput_kbps", paths.SHORT, timer))
        rows.append([name, goodput, spaced(_wait_ms(store, paths.SHORT, timer)), ", ".join(spurious)])
    far = "180 ms, one segment at a time: spurious an hour, without and with Eifel"
    return table(("", "50 us, requests: goodput", "wait", far), rows)


def quotes(store: Stored) -> list[tuple[str, str]]:
    """Returns docs/internals/timers.md's sentences about the tables."""
    waits = {timer: _wait_ms(store, paths.REQUESTS, timer) / 1000 for timer in NAMES}
    count = [RUNS_H * _of(store, "genuine_timeouts", paths.REQUESTS, timer) for timer in NAMES]
    bulk = {timer: _of(store, "goodput_kbps", paths.BULK, timer) for timer in NAMES}
    lost = {
        timer: 100 - 100 * _of(store, "goodput_kbps", paths.BULK, timer, False) / bulk["rfc6298"]
        for timer in ("eifel", *AGG)
    }
    short = 100 - 100 * _of(store, "goodput_kbps", paths.SHORT, "rfc6298") / max(
        _of(store, "goodput_kbps", paths.SHORT, timer) for timer in NAMES
    )
    floor = {timer: _of(store, "spurious_timeouts", paths.FLOOR, timer) for timer in ("linux", "rfc6298, 200 ms")}
    trained = [waits[timer] for timer in AGG]
    apart = 100 - 100 * min(bulk.values()) / max(bulk.values())
    said = [
        f"needed timeouts wait {100 * waits['linux'] / waits['rfc6298']:.0f} % as long as with a floor of 1 s",
        f"about {waits['linux']:.1f} s instead of {waits['rfc6298']:.1f} s for a needed timeout",
        f"it costs {short:.0f} % of the goodput",
        f"means of {min(count):.0f} to {max(count):.0f} timeouts",
        f"deliver within {apart:.0f} % of each other over spikes",
        f"`eifel` {lost['eifel']:.0f} %, `self-trained` {min(lost[one] for one in AGG):.0f} to "
        f"{max(lost[one] for one in AGG):.0f} %",
        f"has {floor['linux']:.0f} spurious timeouts an hour. An RTO of at least 200 ms has "
        f"{spaced(floor['rfc6298, 200 ms'])}",
        f"needed timeouts wait for {' to '.join(dict.fromkeys(f'{one(trained):.1f}' for one in (min, max)))} s",
    ]
    most = max(lost.values())
    assert 75 < most < 85
    return [
        *((TIMERS, sentence) for sentence in said),
        (
            FINDINGS,
            f"With Eifel, {len(NAMES)} timers deliver within {apart:.0f} % of each other over delay spikes. Without "
            "detection, timers that follow the round trip closely lose up to four fifths",
        ),
    ]


BLOCKS: Mapping[str, tuple[str, Callable[[Stored], str]]] = {
    "timers over spikes": (TIMERS, spikes),
    "timers and floors": (TIMERS, floors),
}
