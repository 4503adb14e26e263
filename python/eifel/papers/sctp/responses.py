"""Beyond the paper: each response with Eifel for SCTP, which section 7 names as future work."""

from collections.abc import Mapping
from typing import Any

from eifel.papers.artefact import Artefact, Claim, Column, Measured, Repeated, Row
from eifel.papers.sctp import macro, settings
from eifel.studies import settings as judgement

RESPONSES = ("none", *judgement.RESPONSES)
HALVED = ("option-2", "option-3")
SHORT_QUEUE = 30
"""In packets. Smaller than the window, so that a burst overflows it."""
_OFTEN = settings.SPIKE_INTERVALS_S[0]


def _with(respond: str, detect: settings.Sctp = settings.EIFEL_OR_DUP_TSN) -> settings.Sctp:
    return {**detect, "sender": {**detect["sender"], "respond": respond}}


def _short(scenario: dict[str, Any]) -> dict[str, Any]:
    links = [
        {**link, "queue": {"kind": "drop-tail", "packets": SHORT_QUEUE}} if "queue" in link else link
        for link in scenario["link"]
    ]
    return {**scenario, "link": links}


def _cases(protocol: settings.Sctp) -> Mapping[str, dict[str, Any]]:
    return {
        "spikes": macro.spiky(_OFTEN, protocol, 1),
        "spikes, queue of 30": _short(macro.spiky(_OFTEN, protocol, 1)),
        "2 % reordered": macro.reordered(0.02, protocol),
    }


CASES = tuple(_cases(settings.PLAIN))
_ROWS = tuple(
    Row({"case": case, "response": respond}, _cases(_with(respond))[case]) for case in CASES for respond in RESPONSES
)


def _best(measured: Measured, case: str) -> float:
    return max(measured.mean("highest_tsn", case=case, response=respond) for respond in RESPONSES)


def _beaten(measured: Measured, case: str, respond: str) -> float:
    """Returns the share by which a response falls short of the best."""
    return 1 - measured.mean("highest_tsn", case=case, response=respond) / _best(measured, case)


ARTEFACT = Artefact(
    id="sctp.responses",
    title="Highest TSN in 200 s with Eifel for SCTP and each response (one path)",
    source=f"{settings.SOURCE}, section 7: future work",
    columns=(macro.HIGHEST, macro.NEEDLESS, Column("undos", "Undos", digits=1), Column("drops", "Drops", digits=1)),
    rows=_ROWS,
    seed=settings.SEED,
    claims=(
        Claim(
            "each response that restores ssthresh sends more than none in each case",
            lambda m: all(
                m.mean("highest_tsn", case=case, response=respond) > m.mean("highest_tsn", case=case, response="none")
                for case in CASES
                for respond in RESPONSES
                if respond not in ("none", *HALVED)
            ),
        ),
        Claim(
            "options 2 and 3, which leave ssthresh halved, gain nothing where packets are reordered",
            lambda m: all(
                m.mean("highest_tsn", case=CASES[2], response=respond)
                <= m.mean("highest_tsn", case=CASES[2], response="none")
                for respond in HALVED
            ),
        ),
        Claim(
            "RFC 4015's is within 2 % of the best in each case",
            lambda m: all(_beaten(m, case, "rfc4015") < 0.02 for case in CASES),
        ),
    ),
    fitted=(*settings.LEFT_OPEN, settings.AT_SENDER),
    method=Repeated(settings.REPETITIONS, macro.means, long=True),
)
