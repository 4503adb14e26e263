"""Figures 11 to 14: goodput and download times with reordering, and with random delay spikes."""

from collections.abc import Callable
from typing import Any

from eifel.papers.artefact import Artefact, Claim, Measured
from eifel.papers.published import numbers
from eifel.papers.sctp import facts, macro, pictures, settings

_PRINTED = numbers("sctp", "figure11b")
_MODERATE = ("0.5 %", "1 %", "2 %", "5 %")
_HIGH = ("10 %", "15 %")
_NONE = "none"
"""The key of a transfer without reordering."""
_REORDERED = {f"{100 * rate:g} %": rate for rate in settings.REORDERING} | {_NONE: 0.0}
_RULES = {name: rules for name, rules in settings.RULES.items() if name != "ns-2"}
"""RFC 2960 and ns-2 differ in further timeouts only, and reordering causes none."""


def _gain(spikes: str, key: str, over: str, title: str) -> tuple[Claim, Claim]:
    """Claims Eifel's gain over another sender in packets, and then as a share."""
    packets, share = _PRINTED[f"gain_packets_{key}"], _PRINTED[f"gain_{key}"]
    return (
        Claim(
            f"Eifel outperforms {title} by about {packets:g} packets with a spike every {spikes}, {facts.WITHIN}",
            lambda m: facts.near(facts.gain(m, "highest_tsn", over, spikes=spikes), packets),
        ),
        Claim(
            f"that is about {share:.0%}, {facts.WITHIN}".replace("%", " %"),
            lambda m: facts.near(facts.share(m, "highest_tsn", over, spikes=spikes), share),
        ),
    )


FIGURE_11A = macro.figure(
    "11a",
    "Goodput in 200 s by the share of packets that are reordered (one path)",
    [
        ({"reordered": share, "sender": name, "setting": rules}, macro.reordered(rate, protocol, rules=_RULES[rules]))
        for rules in _RULES
        for share, rate in _REORDERED.items()
        for name, protocol in settings.SENDERS.items()
    ],
    (macro.HIGHEST, macro.GOODPUT, macro.NEEDLESS),
    Claim(
        "even 1 % of reordering significantly degrades plain SCTP: by a quarter at least of what it sends without",
        lambda m: (
            facts.mean(m, "highest_tsn", reordered="1 %", sender="plain")
            < 0.75 * facts.mean(m, "highest_tsn", reordered=_NONE, sender="plain")
        ),
    ),
    Claim(
        "at 0.5 to 5 % Eifel and DupTSN achieve higher goodput than plain SCTP",
        lambda m: all(
            facts.gain(m, "highest_tsn", "plain", sender, reordered=rate) > 0
            for rate in _MODERATE
            for sender in ("eifel", "dup-tsn")
        ),
    ),
    Claim(
        "at 0.5 to 5 % Eifel and DupTSN perform nearly the same, within a tenth",
        lambda m: all(abs(facts.share(m, "highest_tsn", "dup-tsn", reordered=rate)) < 0.1 for rate in _MODERATE),
    ),
    Claim(
        "above 5 % Eifel achieves higher goodput than both",
        lambda m: all(
            facts.gain(m, "highest_tsn", over, reordered=rate) > 0 for rate in _HIGH for over in ("plain", "dup-tsn")
        ),
    ),
    Claim(
        "the retransmit bit does as well as the timestamp up to 2 %: within 1 %",
        lambda m: all(
            abs(facts.share(m, "highest_tsn", "eifel", "eifel-bit", reordered=rate)) < 0.01 for rate in _MODERATE[:3]
        ),
    ),
    Claim(
        "F-RTO caters solely to spurious timeouts: it sends what plain SCTP sends, within 1 %",
        lambda m: all(
            abs(facts.share(m, "highest_tsn", "plain", "f-rto", reordered=rate)) < 0.01 for rate in (*_MODERATE, *_HIGH)
        ),
    ),
    draw=pictures.lines(
        tuple(100 * rate for rate in settings.REORDERING), "Packets that are reordered", logarithmic=True
    ),
)
FIGURE_11B = macro.figure(
    "11b",
    "Goodput in 200 s with a delay spike of 3 to 10 s now and then (one path)",
    macro.by_interval(1),
    (macro.HIGHEST, macro.GOODPUT, macro.NEEDLESS),
    *_gain("10-20 s", "10_20", "plain", "plain SCTP"),
    *_gain("10-20 s", "10_20", "dup-tsn", "DupTSN"),
    *_gain("70-80 s", "70_80", "plain", "plain SCTP"),
    macro.everywhere(
        "DupTSN performs nearly the same as plain SCTP: within 3 %",
        lambda m, spikes: abs(facts.share(m, "highest_tsn", "plain", "dup-tsn", spikes=spikes)) < 0.03,
    ),
    draw=pictures.BY_INTERVAL,
)


_LATE = {"reorder": {"rate": 0.01, "length": settings.REORDERED_BY}}

FIGURE_12 = macro.figure(
    "12",
    "Time of a download of 4 MB with 1 % of the packets reordered (one path)",
    [
        (
            {"sender": name, "setting": rules},
            settings.scenario(protocol, macro.DOWNLOAD, macro.LATEST_S, forward=_LATE, rules=_RULES[rules]),
        )
        for rules in _RULES
        for name, protocol in settings.SENDERS.items()
    ],
    (macro.TIME, macro.NEEDLESS),
    Claim("even with timestamp chunks Eifel is faster than plain SCTP", lambda m: facts.gain(m, "time_s", "plain") < 0),
    Claim(
        "Eifel and DupTSN take nearly the same time, within 5 %",
        lambda m: abs(facts.share(m, "time_s", "dup-tsn")) < 0.05,
    ),
    Claim(
        "the retransmit bit may be faster yet: it saves the chunk of 12 bytes",
        lambda m: facts.gain(m, "time_s", "eifel", "eifel-bit") < 0,
    ),
)


FIGURE_13A = macro.figure(
    "13a",
    "Goodput in 200 s with a delay spike of 3 to 10 s now and then (two paths)",
    macro.by_interval(2),
    (macro.HIGHEST, macro.GOODPUT, macro.NEEDLESS),
    macro.everywhere(
        "Eifel and DupTSN exhibit similar performance: within 3 %",
        lambda m, spikes: abs(facts.share(m, "highest_tsn", "dup-tsn", spikes=spikes)) < 0.03,
    ),
    macro.everywhere(
        "neither has a noticeable benefit over plain SCTP: within 3 %",
        lambda m, spikes: all(
            abs(facts.share(m, "highest_tsn", "plain", sender, spikes=spikes)) < 0.03 for sender in ("eifel", "dup-tsn")
        ),
    ),
    draw=pictures.BY_INTERVAL,
)
FIGURE_13B = macro.figure(
    "13b",
    "Unnecessary retransmissions in 200 s with a delay spike of 3 to 10 s now and then (one path)",
    macro.by_interval(1),
    (macro.NEEDLESS,),
    macro.everywhere(
        "Eifel reduces the number of unnecessary retransmissions significantly: to a quarter at most",
        lambda m, spikes: facts.share(m, "spurious_retransmissions", "plain", spikes=spikes) < -0.75,
    ),
    macro.everywhere(
        "DupTSN is unable to avoid them: nine in ten at least are sent",
        lambda m, spikes: facts.share(m, "spurious_retransmissions", "plain", "dup-tsn", spikes=spikes) > -0.1,
    ),
    draw=pictures.BY_INTERVAL,
)


def _figure(part: str, paths: int, where: str) -> Artefact:
    printed = numbers("sctp", f"figure14{part}")

    def check(window: str, over: str, published: float) -> Callable[[Measured], bool]:
        return lambda measured: facts.near(-facts.gain(measured, "time_s", over, window=window), published)

    claims = [
        Claim(
            f"with a window of {window}, Eifel is about {printed[f'against_{key}_s']:g} s faster than {title}"
            f" ({printed[f'against_{key}']:.0%}), {facts.WITHIN}",
            check(window, over, printed[f"against_{key}_s"]),
        )
        for window in ("64 kB", "128 kB")
        for over, key, title in (("plain", "plain", "plain SCTP"), ("dup-tsn", "dup_tsn", "DupTSN"))
    ]
    spike = settings.spikes(settings.SPIKE_INTERVALS_S[0])
    link: dict[str, Any] = {"paths": paths, "rate_bps": settings.SATELLITE_BPS, "spike": spike}
    rows = [
        (
            {"window": f"{window // 1024} kB", "sender": name, "setting": variant},
            settings.scenario(
                protocol, macro.DOWNLOAD, macro.LATEST_S, **link, window_bytes=window, **macro.as_in(variant)
            ),
        )
        for variant in settings.VARIANTS
        for window in settings.WINDOWS_BYTES
        for name, protocol in settings.SENDERS.items()
    ]
    title = f"Time of a download of 4 MB over 250 kbit/s with a delay spike every 10 to 20 s ({where})"
    return macro.figure(f"14{part}", title, rows, (macro.TIME, macro.NEEDLESS), *claims)


FIGURE_14A = _figure("a", 1, "one path")
FIGURE_14B = _figure("b", 2, "two paths")
