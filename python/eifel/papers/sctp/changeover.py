"""Beyond the paper: the application changes the primary path. Section 2 names this as another cause of reordering."""

from collections.abc import Mapping
from typing import Any

from eifel.papers.artefact import Artefact, Claim, Column, Measured, Repeated, Row, Setting
from eifel.papers.sctp import macro, settings

NEVER, OFTEN = "never", "every 10 s"
INTERVAL_S = 10
CHANGES = settings.TRANSFER_S // INTERVAL_S - 1
RULES: Mapping[str, settings.Sctp] = {name: settings.RULES[name] for name in ("RFC 2960", "RFC 9260")}
COLUMNS = (
    macro.HIGHEST,
    Column("retransmissions", "Retransmissions", digits=1),
    macro.NEEDLESS,
    Column("spurious_fast_retransmits", "Spurious fast retransmits", digits=1),
    Column("undos", "Undos", digits=1),
)
"""What reordering between two paths costs."""


def _scenario(changes: str, protocol: settings.Sctp, rules: str) -> dict[str, Any]:
    scenario = settings.scenario(protocol, macro.ENDLESS, settings.TRANSFER_S, paths=2, rules=RULES[rules])
    flow = scenario["flow"][0]
    flow["start_s"] = {"uniform": [0, 1]}
    if changes == OFTEN:
        times = range(INTERVAL_S, settings.TRANSFER_S, INTERVAL_S)
        flow["changeovers"] = [{"at_s": at_s, "path": number % 2} for number, at_s in enumerate(times, start=1)]
    return scenario


def _mean(measured: Measured, column: str, sender: str, rules: str, changes: str = OFTEN) -> float:
    return measured.mean(column, changeovers=changes, sender=sender, rules=rules)


ARTEFACT = Artefact(
    id="sctp.changeover",
    title="Highest TSN in 200 s if the application changes the primary path (two equal paths)",
    source=f"{settings.SOURCE}, section 2; RFC 9260, section 11.1.6",
    columns=COLUMNS,
    rows=tuple(
        Row({"changeovers": changes, "sender": sender, "rules": rules}, _scenario(changes, protocol, rules))
        for rules in RULES
        for changes in (NEVER, OFTEN)
        for sender, protocol in settings.SENDERS.items()
    ),
    seed=settings.SEED,
    claims=(
        Claim(
            "each changeover causes a spurious fast retransmit, whatever the sender detects",
            lambda m: all(
                _mean(m, "spurious_fast_retransmits", sender, rules) == CHANGES
                for sender in settings.SENDERS
                for rules in RULES
            ),
        ),
        Claim(
            "nothing is lost: all retransmissions are unnecessary",
            lambda m: all(
                _mean(m, "retransmissions", sender, rules) == _mean(m, "spurious_retransmissions", sender, rules) > 0
                for sender in settings.SENDERS
                for rules in RULES
            ),
        ),
        Claim(
            "they cost plain SCTP 1 to 4 % of what it sends without changeovers",
            lambda m: all(
                0.01
                < 1 - _mean(m, "highest_tsn", "plain", rules) / _mean(m, "highest_tsn", "plain", rules, NEVER)
                < 0.04
                for rules in RULES
            ),
        ),
        Claim(
            "by RFC 2960's rules Eifel undoes each, and gains nothing: within 0.1 % it sends what plain SCTP sends, as "
            "the restored window is the old path's",
            lambda m: (
                _mean(m, "undos", "eifel", "RFC 2960") == CHANGES
                and abs(_mean(m, "highest_tsn", "eifel", "RFC 2960") / _mean(m, "highest_tsn", "plain", "RFC 2960") - 1)
                < 0.001
            ),
        ),
    ),
    fitted=(
        *settings.LEFT_OPEN[2:],
        Setting(
            "paths", "two of 1 Mbit/s and 100 ms, with a queue of 100 packets each", "the paper's; it measures none"
        ),
        Setting(
            "changeovers",
            f"every {INTERVAL_S} s, to the other path; the association begins at 0 to 1 s",
            "the paper names them and gives no numbers",
        ),
    ),
    method=Repeated(settings.REPETITIONS, macro.means, long=True),
)
