"""Figures 11 to 14: goodput and download times with reordering, and with random delay spikes."""

from collections.abc import Callable, Iterator
from functools import partial
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


def _by_each(text: str, check: Callable[[Measured, str], bool]) -> tuple[Claim, ...]:
    """Claims a sentence of the rows with each of `_RULES`, which `check` gets as the key of its rows."""

    def claim(rules: str) -> Claim:
        return Claim(f"{text} (by {rules})", lambda measured: check(measured, rules))

    return tuple(map(claim, _RULES))


_TIMEOUT_RULES = ("RFC 2960", "ns-2")
"""The settings that differ in the effect of a further timeout on ssthresh, which decides the gain over spikes."""


def _gain(spikes: str, key: str, over: str, title: str) -> Iterator[Claim]:
    """Yields claims of Eifel's gain over another sender in packets, and then as a share, with each timeout rule."""
    packets, share = _PRINTED[f"gain_packets_{key}"], _PRINTED[f"gain_{key}"]
    for rules in _TIMEOUT_RULES:
        read = partial(facts.gain, column="highest_tsn", over=over, spikes=spikes, setting=rules)
        read_share = partial(facts.share, column="highest_tsn", over=over, spikes=spikes, setting=rules)
        yield Claim(
            f"Eifel outperforms {title} by about {packets:g} packets with a spike every {spikes}, {facts.WITHIN} "
            f"(by {rules})",
            partial(_near, read=read, published=packets),
        )
        yield Claim(
            f"against {title} that is about {share:.0%}, {facts.WITHIN} (by {rules})".replace("%", " %"),
            partial(_near, read=read_share, published=share),
        )


def _near(measured: Measured, read: Callable[[Measured], float], published: float) -> bool:
    return facts.near(read(measured), published)


def _as_plain(measured: Measured, spikes: str, rules: str, share: float) -> bool:
    """Returns whether DupTSN sends as much as plain SCTP, within a share."""
    apart = facts.share(measured, "highest_tsn", "plain", "dup-tsn", spikes=spikes, setting=rules)
    return abs(apart) < share


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
    *_by_each(
        "even 1 % of reordering significantly degrades plain SCTP: by a quarter at least of what it sends without",
        lambda m, rules: (
            m.mean("highest_tsn", reordered="1 %", sender="plain", setting=rules)
            < 0.75 * m.mean("highest_tsn", reordered=_NONE, sender="plain", setting=rules)
        ),
    ),
    *_by_each(
        "at 0.5 to 5 % Eifel and DupTSN achieve higher goodput than plain SCTP",
        lambda m, rules: all(
            facts.gain(m, "highest_tsn", "plain", sender, reordered=rate, setting=rules) > 0
            for rate in _MODERATE
            for sender in ("eifel", "dup-tsn")
        ),
    ),
    *_by_each(
        "at 0.5 to 5 % Eifel and DupTSN perform nearly the same, within a tenth",
        lambda m, rules: all(
            abs(facts.share(m, "highest_tsn", "dup-tsn", reordered=rate, setting=rules)) < 0.1 for rate in _MODERATE
        ),
    ),
    *_by_each(
        "at 0.5 to 2 % they do",
        lambda m, rules: all(
            abs(facts.share(m, "highest_tsn", "dup-tsn", reordered=rate, setting=rules)) < 0.1 for rate in _MODERATE[:3]
        ),
    ),
    *_by_each(
        "above 5 % Eifel achieves higher goodput than both",
        lambda m, rules: all(
            facts.gain(m, "highest_tsn", over, reordered=rate, setting=rules) > 0
            for rate in _HIGH
            for over in ("plain", "dup-tsn")
        ),
    ),
    *_by_each(
        "the retransmit bit does as well as the timestamp up to 2 %: within 1 %",
        lambda m, rules: all(
            abs(facts.share(m, "highest_tsn", "eifel", "eifel-bit", reordered=rate, setting=rules)) < 0.01
            for rate in _MODERATE[:3]
        ),
    ),
    *_by_each(
        "F-RTO caters solely to spurious timeouts: it sends what plain SCTP sends, within 1 %",
        lambda m, rules: all(
            abs(facts.share(m, "highest_tsn", "plain", "f-rto", reordered=rate, setting=rules)) < 0.01
            for rate in (*_MODERATE, *_HIGH)
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
    *(
        macro.everywhere(
            f"DupTSN performs nearly the same as plain SCTP: within {within} % (by {rules})",
            partial(_as_plain, rules=rules, share=within / 100),
        )
        for rules in _TIMEOUT_RULES
        for within in (3, 1)
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
    *_by_each(
        "even with timestamp chunks Eifel is faster than plain SCTP",
        lambda m, rules: facts.gain(m, "time_s", "plain", setting=rules) < 0,
    ),
    *_by_each(
        "Eifel and DupTSN take nearly the same time, within 5 %",
        lambda m, rules: abs(facts.share(m, "time_s", "dup-tsn", setting=rules)) < 0.05,
    ),
    *_by_each(
        "the retransmit bit may be faster yet: it saves the chunk of 12 bytes",
        lambda m, rules: facts.gain(m, "time_s", "eifel", "eifel-bit", setting=rules) < 0,
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
