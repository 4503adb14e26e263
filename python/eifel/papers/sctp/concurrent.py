"""Beyond the paper: new data on two paths at a time. Section 2 names this as another cause of reordering.

The sender is plain in all but that: new data leaves on each path whose window has room, in turn, and all chunks share
one space of TSNs and its miss indications. Proposals for Concurrent Multipath Transfer also change how windows grow
and which reports count.
"""

from collections.abc import Mapping
from typing import Any

from eifel.papers.artefact import Artefact, Claim, Measured, Repeated, Row, Setting
from eifel.papers.sctp import macro, settings
from eifel.papers.sctp.changeover import COLUMNS, RULES

PRIMARY = "the primary path"
DELAYS_MS: Mapping[str, int] = {"two equal paths": 100, "the second 20 ms longer": 120, "the second 100 ms longer": 200}
EQUAL, NEAR, FAR = DELAYS_MS


def _scenario(data_on: str, protocol: settings.Sctp, rules: str) -> dict[str, Any]:
    scenario = settings.scenario(
        protocol,
        macro.ENDLESS,
        settings.TRANSFER_S,
        paths=2,
        alternate={"delay_ms": DELAYS_MS.get(data_on, settings.DELAY_MS)},
        rules=RULES[rules],
    )
    flow = scenario["flow"][0]
    flow["start_s"] = {"uniform": [0, 1]}
    flow["sctp"]["concurrent_paths"] = data_on != PRIMARY
    return scenario


def _mean(measured: Measured, data_on: str, sender: str, rules: str, column: str = "highest_tsn") -> float:
    return measured.mean(column, data_on=data_on, sender=sender, rules=rules)


def _gain(measured: Measured, data_on: str, sender: str, rules: str) -> float:
    """Returns the highest TSN as a multiple of what the sender reaches on the primary path alone."""
    return _mean(measured, data_on, sender, rules) / _mean(measured, PRIMARY, sender, rules)


def _by_eifel(measured: Measured, data_on: str, rules: str) -> float:
    """Returns the highest TSN with Eifel as a multiple of that of plain SCTP."""
    return _mean(measured, data_on, "eifel", rules) / _mean(measured, data_on, "plain", rules)


ARTEFACT = Artefact(
    id="sctp.concurrent",
    title="Highest TSN in 200 s if new data leaves on two paths in turn",
    source=f"{settings.SOURCE}, section 2",
    columns=COLUMNS,
    rows=tuple(
        Row({"data_on": data_on, "sender": sender, "rules": rules}, _scenario(data_on, protocol, rules))
        for rules in RULES
        for data_on in (PRIMARY, *DELAYS_MS)
        for sender, protocol in settings.SENDERS.items()
    ),
    seed=settings.SEED,
    claims=(
        Claim(
            "nothing is lost: all retransmissions are unnecessary",
            lambda m: all(
                _mean(m, data_on, sender, rules, "retransmissions")
                == _mean(m, data_on, sender, rules, "spurious_retransmissions")
                for rules in RULES
                for data_on in (PRIMARY, *DELAYS_MS)
                for sender in settings.SENDERS
            ),
        ),
        Claim(
            "if the second path is 20 ms longer, no chunk is overtaken by three, and twice as much is sent as on one "
            "path, within 1 %",
            lambda m: all(
                _mean(m, NEAR, sender, rules, "retransmissions") == 0 and abs(_gain(m, NEAR, sender, rules) - 2) < 0.02
                for rules in RULES
                for sender in settings.SENDERS
            ),
        ),
        Claim(
            "if it is 100 ms longer, plain SCTP sends at most a fifth more than on one path by RFC 9260's rules, and "
            "less than on one path by RFC 2960's",
            lambda m: _gain(m, FAR, "plain", "RFC 9260") < 1.2 and _gain(m, FAR, "plain", "RFC 2960") < 1,
        ),
        Claim(
            "... and with Eifel it sends a tenth more than without by RFC 9260's rules, and two fifths more by RFC "
            "2960's",
            lambda m: _by_eifel(m, FAR, "RFC 9260") > 1.1 and _by_eifel(m, FAR, "RFC 2960") > 1.4,
        ),
        Claim(
            "... where DupTSN changes less than 2 %",
            lambda m: all(
                abs(_mean(m, FAR, "dup-tsn", rules) / _mean(m, FAR, "plain", rules) - 1) < 0.02 for rules in RULES
            ),
        ),
        Claim(
            "over two equal paths, by RFC 9260's rules, Eifel sends 2 to 10 % less than plain SCTP: an undo restores a "
            "window that reorders again",
            lambda m: 0.9 < _by_eifel(m, EQUAL, "RFC 9260") < 0.98,
        ),
    ),
    fitted=(
        *settings.LEFT_OPEN[2:],
        Setting(
            "paths",
            "two of 1 Mbit/s, with a queue of 100 packets each; the first takes 100 ms one way",
            "the paper's first path; it measures no transfer on two at a time",
        ),
    ),
    method=Repeated(settings.REPETITIONS, macro.means, long=True),
)
