"""Beyond the paper: losses found by time (RACK-TLP) beside losses found by counting reports."""

from collections.abc import Mapping
from typing import Any

from eifel.papers.artefact import Artefact, Claim, Measured, Repeated, Row
from eifel.papers.sctp import macro, settings

COUNTING, BY_TIME = "counting", "RACK-TLP"
DETECT: Mapping[str, settings.Sctp] = {"no detection": settings.PLAIN, "eifel": settings.EIFEL_OR_DUP_TSN}
REORDERED = {f"{100 * rate:g} % reordered": rate for rate in settings.REORDERING}
NONE = "nothing reordered"
LOST = "1 % reordered, 1 % lost"
SPIKES = "a spike every 10 to 20 s"
CASES = (NONE, *REORDERED, LOST, SPIKES)


def _case(case: str, protocol: settings.Sctp) -> dict[str, Any]:
    link: dict[str, Any] = {}
    if rate := REORDERED.get(case, 0.01 if case == LOST else 0):
        link["reorder"] = {"rate": rate, "length": settings.REORDERED_BY}
    if case == LOST:
        link["loss"] = {"kind": "random", "rate": 0.01}
    spike = settings.spikes(settings.SPIKE_INTERVALS_S[0]) if case == SPIKES else None
    return settings.scenario(
        protocol, macro.DOWNLOAD, macro.LATEST_S, forward=link, spike=spike, rules=settings.RFC_9260
    )


def _with(recover: str, protocol: settings.Sctp) -> settings.Sctp:
    chosen = {"recover": "rack-tlp"} if recover == BY_TIME else {}
    return {**protocol, "sender": {**protocol["sender"], **chosen}}


def time_s(measured: Measured, case: str, recover: str, detect: str = "no detection") -> float:
    """Returns the mean time of the download."""
    return measured.mean("time_s", case=case, recover=recover, detect=detect)


def _gain(measured: Measured, case: str, recover: str) -> float:
    """Returns the share of the time that Eifel saves."""
    return 1 - time_s(measured, case, recover, "eifel") / time_s(measured, case, recover)


ARTEFACT = Artefact(
    id="sctp.by_time",
    title="Time of a download of 4 MB by how losses are found (one path, RFC 9260's rules)",
    source=f"{settings.SOURCE}, section 6; RFC 8985, section 9.5",
    columns=(macro.TIME, macro.NEEDLESS),
    rows=tuple(
        Row({"case": case, "recover": recover, "detect": detect}, _case(case, _with(recover, protocol)))
        for case in CASES
        for recover in (COUNTING, BY_TIME)
        for detect, protocol in DETECT.items()
    ),
    seed=settings.SEED,
    claims=(
        Claim(
            "without detection RACK-TLP is faster than counting at each share of reordered packets",
            lambda m: all(time_s(m, case, BY_TIME) < time_s(m, case, COUNTING) for case in REORDERED),
        ),
        Claim(
            "up to 5 % reordered, RACK-TLP without detection takes no more than a twentieth longer than without reordering",
            lambda m: all(
                time_s(m, case, BY_TIME) < 1.05 * time_s(m, NONE, BY_TIME) for case in tuple(REORDERED)[:4]
            ),
        ),
        Claim(
            "Eifel saves a smaller share of the time with RACK-TLP than with counting, at each share of reordered packets",
            lambda m: all(_gain(m, case, BY_TIME) < _gain(m, case, COUNTING) for case in REORDERED),
        ),
        Claim(
            "where nothing is reordered, both are equally fast within 1 %",
            lambda m: abs(time_s(m, NONE, BY_TIME) / time_s(m, NONE, COUNTING) - 1) < 0.01,
        ),
        Claim(
            "over delay spikes RACK-TLP gains nothing without detection: within 3 %",
            lambda m: abs(time_s(m, SPIKES, BY_TIME) / time_s(m, SPIKES, COUNTING) - 1) < 0.03,
        ),
    ),
    fitted=(*settings.LEFT_OPEN[2:], settings.AT_SENDER),
    method=Repeated(settings.REPETITIONS, macro.means, long=True),
)
