"""Figure 11: goodput over one path, (a) by the share of packets that are reordered, (b) with random delay spikes."""

from eifel.papers.artefact import Claim
from eifel.papers.published import numbers
from eifel.papers.sctp import facts, macro, pictures, settings

_PRINTED = numbers("sctp", "figure11b")
_MODERATE = ("0.5 %", "1 %", "2 %", "5 %")
_HIGH = ("10 %", "15 %")


def _gain(spikes: str, key: str, text: str) -> tuple[Claim, Claim]:
    """Claims Eifel's gain over plain SCTP in packets, and then as a share."""
    packets, share = _PRINTED[f"gain_packets_{key}"], _PRINTED[f"gain_{key}"]
    return (
        Claim(text, lambda m: facts.near(facts.gain(m, "highest_tsn", "plain", spikes=spikes), packets)),
        Claim(
            f"that is about {share:.0%}".replace("%", " %"),
            lambda m: facts.near(facts.share(m, "highest_tsn", "plain", spikes=spikes), share),
        ),
    )


FIGURE_11A = macro.figure(
    "11a",
    "Goodput in 200 s by the share of packets that are reordered (one path)",
    [
        ({"reordered": f"{100 * rate:g} %", "sender": name}, macro.reordered(rate, protocol))
        for rate in settings.REORDERING
        for name, protocol in settings.SENDERS.items()
    ],
    (macro.HIGHEST, macro.GOODPUT, macro.NEEDLESS),
    Claim(
        "even 1 % of reordering significantly degrades plain SCTP: by a quarter at least",
        lambda m: m.mean("highest_tsn", reordered="1 %", sender="plain") < 0.75 * 16_591,
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
    *_gain("10-20 s", "10_20", "Eifel outperforms plain SCTP by about 1000 packets, with a spike every 10 to 20 s"),
    *_gain("70-80 s", "70_80", "the gain is about 400 packets with a spike every 70 to 80 s"),
    macro.everywhere(
        "DupTSN performs nearly the same as plain SCTP: within 3 %",
        lambda m, spikes: abs(facts.share(m, "highest_tsn", "plain", "dup-tsn", spikes=spikes)) < 0.03,
    ),
    draw=pictures.BY_INTERVAL,
)
