"""Sentences of the documents with numbers of the judgement; a part of docs/measured.py."""

from __future__ import annotations

import math
from collections.abc import Sequence

from measured_detectors import episodes, spaced
from stored import Stored, mean

from eifel.studies.cheating import LOSSES, PLAIN
from eifel.studies.settings import HOLDS, LOSES, SACK_SENDERS
from eifel.studies.truth_claims import MET, PROVING


def truth(store: Stored) -> list[tuple[str, str]]:
    """What the pages say of detectors."""

    def found(detector: str, situation: str = "all", column: str = "found_timeouts") -> str:
        return f"{mean(store, 'detectors.truth', column, situation=situation, detector=detector):.0f}"

    def never(column: str, detectors: Sequence[str]) -> str:
        of = [mean(store, "detectors.truth", column, situation="all", detector=detector) for detector in detectors]
        return "some" if any(of) else "none"

    kinds = episodes(store, "eifel-bit")
    total, needed, mixed = sum(kinds.values()), spaced(kinds["needed"]), found("eifel-timestamps", column="mixed")
    wrong, kept = never("false_positives", PROVING), never("mixed", ("f-rto", "f-rto-sack", "dsack"))
    early, late = (float(found(name, "spike", "needless_bytes")) for name in ("eifel-timestamps", "dsack"))
    lost, copied, closed = "lost ACKs", "duplicates", "spikes with closing windows"
    detectors, findings, which = (f"docs/{name}.md" for name in ("detectors", "findings", "which"))
    return [
        (
            detectors,
            f"there are {spaced(total)} episodes: {spaced(kinds['needless'])} needless, "
            f"{spaced(kinds['mixed'])} mixed, {needed} needed",
        ),
        (
            detectors,
            f"Eifel by marks finds {found('eifel-bit', lost)} % of the spurious timeouts, "
            f"F-RTO {found('f-rto', lost)}, Eifel by timestamps {found('eifel-timestamps', lost)}, "
            f"DSACK {found('dsack', lost)}",
        ),
        (
            detectors,
            f"Eifel by timestamps then finds {found('eifel-timestamps', copied)} %, since step 5 ignores ACKs that "
            f"carry a DSACK. F-RTO finds {found('f-rto', copied)} %, with SACK {found('f-rto-sack', copied)}",
        ),
        (
            findings,
            f"Of {needed} episodes in which all was lost Eifel, DSACK and F-RTO called {wrong} spurious; the detector "
            f"that compares with the smallest round trip called {found('min-rtt', column='false_positives')} so. "
            f"Of the needless timeouts Eifel found {found('eifel-timestamps')} %, F-RTO {found('f-rto-sack')} %, and "
            f"DSACK {found('dsack')} %",
        ),
        (
            findings,
            f"In {100 * kinds['mixed'] / total:.0f} of 100 episodes the first retransmission was needless and a later "
            f"one was not. Eifel calls {mixed} % of these spurious; F-RTO and DSACK call {kept} so",
        ),
        ("README.md", f"in which all was lost, of {needed}. But Eifel calls {mixed} % of those spurious"),
        (which, f"Of {needed} episodes in which all was lost {wrong} was called spurious"),
        (which, f"after {late / early:.0f} times as many needless bytes"),
        (
            which,
            f"they find {found('eifel-timestamps', MET)} % of the spurious timeouts, and `eifel-or-f-rto` "
            f"{found('eifel-or-f-rto', MET)} %",
        ),
        (which, f"it finds {found('f-rto-sack', MET)} %, and {found('f-rto-sack', closed)} % where windows close"),
    ]


def responses(store: Stored) -> list[tuple[str, str]]:
    """What docs/which.md says of responses and loss recovery."""

    def saved(queue: int, sender: str, response: str) -> float:
        keys = {"queue": queue, "sender": sender, "detector": "eifel-timestamps", "response": response}
        return mean(store, "detectors.responses", "saved", **keys)

    costs = [-saved(LOSES, sender, response) for sender in SACK_SENDERS for response in ("option-2", "option-3")]
    third = saved(HOLDS, "rack-tlp, PRR, CUBIC", "option-1") / saved(HOLDS, "rfc6675", "option-1")
    return [
        ("docs/which.md", f"a transfer takes {min(costs):.0f} to {max(costs):.0f} % longer"),
        ("docs/which.md", f"a part of the window: {-saved(LOSES, 'newreno', 'option-1'):.0f} % more time"),
        ("docs/which.md", f"An undo saves {100 * third:.0f} % of what it saves with Reno's window"),
    ]


def liars(store: Stored) -> list[tuple[str, str]]:
    """What docs/findings.md says of a liar and its neighbour."""

    def least(grant: str) -> float:
        keys = {"detect": PLAIN, "lie": "forged-echo", "grant": grant}
        return 100 * min(mean(store, "detectors.beside", "beside", loss=loss, **keys) for loss in LOSSES)

    most = max(
        mean(store, "detectors.liars", "forged_echo", detect=PLAIN, grant="once-a-round-trip", loss=loss)
        for loss in LOSSES
    )
    return [
        (
            "docs/findings.md",
            f"gets up to {most:.1f} times its goodput. An honest flow beside it keeps as little as "
            f"{least('once-a-round-trip'):.0f} % of its own, and "
            f"{least('always'):.0f} % where undos are not limited",
        )
    ]


def partial_credit(_: Stored) -> list[tuple[str, str]]:
    """The window of an AIMD of decrease b beside Reno's, by sqrt((2 - b) / (2 b p)) for increases of one."""
    ours, reno = (math.sqrt((2 - decrease) / (2 * decrease)) for decrease in (0.3, 0.5))
    return [
        ("docs/partial_credit.md", f"= {ours:.2f} / sqrt(p) segments. Reno's is {reno:.2f} / sqrt(p)"),
        ("docs/partial_credit.md", f"so the factor is {ours / reno:.2f}"),
    ]
