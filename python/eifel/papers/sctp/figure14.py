"""Figure 14: the time of a download over a satellite link with random delay spikes, (a) one path, (b) two paths."""

from collections.abc import Callable
from typing import Any

from eifel.papers.artefact import Artefact, Claim
from eifel.papers.measured import Measured
from eifel.papers.published import numbers
from eifel.papers.sctp import facts, macro, settings


def _figure(part: str, paths: int, where: str) -> Artefact:
    """Returns a part of the figure, with the gains that its text gives."""
    printed = numbers("sctp", f"figure14{part}")

    def check(window: str, over: str, published: float) -> Callable[[Measured], bool]:
        return lambda measured: facts.near(-facts.gain(measured, "time_s", over, window=window), published)

    claims = [
        Claim(
            f"with a window of {window}, Eifel is about {printed[f'against_{key}_s']:g} s faster than {title}"
            f" ({printed[f'against_{key}']:.0%})",
            check(window, over, printed[f"against_{key}_s"]),
        )
        for window in ("64 kB", "128 kB")
        for over, key, title in (("plain", "plain", "plain SCTP"), ("dup-tsn", "dup_tsn", "DupTSN"))
    ]
    spike = settings.spikes(settings.SPIKE_INTERVALS_S[0])
    link: dict[str, Any] = {"paths": paths, "rate_bps": settings.SATELLITE_BPS, "spike": spike}
    rows = [
        (
            {"window": f"{window // 1024} kB", "sender": name},
            settings.scenario(protocol, macro.DOWNLOAD, macro.LATEST_S, **link, window_bytes=window),
        )
        for window in settings.WINDOWS_BYTES
        for name, protocol in settings.SENDERS.items()
    ]
    title = f"Time of a download of 4 MB over 250 kbit/s with a delay spike every 10 to 20 s ({where})"
    return macro.figure(f"14{part}", title, rows, (macro.TIME, macro.NEEDLESS), *claims)


FIGURE_14A = _figure("a", 1, "one path")
FIGURE_14B = _figure("b", 2, "two paths")
