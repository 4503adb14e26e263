"""Beyond the paper: losses found by time (RACK-TLP) beside losses found by counting reports."""

from collections.abc import Mapping
from typing import Any

from eifel.papers.artefact import Artefact, Claim, Measured, Repeated, Row
from eifel.papers.sctp import macro, settings

COUNTING, BY_TIME, ALONE = "counting", "RACK-TLP", "RACK-TLP by time alone"
RECOVER: Mapping[str, Mapping[str, Any]] = {
    COUNTING: {},
    BY_TIME: {"recover": "rack-tlp"},
    ALONE: {"recover": {"name": "rack-tlp", "duplicate_threshold": 1000}},
}
"""The last one deems no chunk lost because three packets behind it are reported (RFC 8985, section 6.2, step 4)."""
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
    return {**protocol, "sender": {**protocol["sender"], **RECOVER[recover]}}


def time_s(measured: Measured, case: str, recover: str, detect: str = "no detection") -> float:
    """Returns the mean time of the download."""
    return measured.mean("time_s", case=case, recover=recover, detect=detect)


ARTEFACT = Artefact(
    id="sctp.by_time",
    title="Time of a download of 4 MB by how losses are found (one path, RFC 9260's rules)",
    source=f"{settings.SOURCE}, section 6; RFC 8985, section 9.5",
    columns=(macro.TIME, macro.NEEDLESS),
    rows=tuple(
        Row({"case": case, "recover": recover, "detect": detect}, _case(case, _with(recover, protocol)))
        for case in CASES
        for recover in RECOVER
        for detect, protocol in DETECT.items()
    ),
    seed=settings.SEED,
    claims=(
        Claim(
            "without detection RACK-TLP is faster than counting at each share of reordered packets",
            lambda m: all(time_s(m, case, BY_TIME) < time_s(m, case, COUNTING) for case in REORDERED),
        ),
        Claim(
            "without detection it is slower than counting with Eifel at each share: three reports come before the "
            "packet, so that its reordering is not seen",
            lambda m: all(time_s(m, case, BY_TIME) > time_s(m, case, COUNTING, "eifel") for case in REORDERED),
        ),
        Claim(
            "by time alone, up to 2 % reordered, it takes no more than a tenth longer than without reordering, without "
            "detection",
            lambda m: all(time_s(m, case, ALONE) < 1.1 * time_s(m, NONE, ALONE) for case in tuple(REORDERED)[:3]),
        ),
        Claim(
            "where nothing is reordered, all take the same time within 1 %",
            lambda m: all(abs(time_s(m, NONE, one) / time_s(m, NONE, COUNTING) - 1) < 0.01 for one in RECOVER),
        ),
        Claim(
            "over delay spikes with Eifel, RACK-TLP takes as long as counting within 2 %",
            lambda m: abs(time_s(m, SPIKES, BY_TIME, "eifel") / time_s(m, SPIKES, COUNTING, "eifel") - 1) < 0.02,
        ),
    ),
    fitted=(*settings.LEFT_OPEN[2:], settings.AT_SENDER),
    method=Repeated(settings.REPETITIONS, macro.means, long=True),
)
