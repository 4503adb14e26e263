"""Beyond the paper: the path of retransmissions. The paper sends all of them on the alternate; RFC 9260 does not."""

from collections.abc import Mapping
from typing import Any

from eifel.papers.artefact import Artefact, Claim, Measured, Repeated, Row
from eifel.papers.sctp import macro, settings

POLICIES = ("all-to-alternate", "rfc9260", "same-path", "largest-window")


FAILS = "the primary fails"
FAILS_S = 50
"""From here on the primary path loses everything."""


def _with(policy: str, protocol: settings.Sctp) -> settings.Sctp:
    return {**protocol, "sender": {**protocol["sender"], "retransmit": policy}}


def _cases(protocol: settings.Sctp) -> Mapping[str, dict[str, Any]]:
    loss = {"loss": {"kind": "random", "rate": 0.01}}
    return {
        "spikes": macro.spiky(settings.SPIKE_INTERVALS_S[0], protocol, 2),
        "2 % reordered": macro.reordered(0.02, protocol, 2),
        "1 % lost": settings.scenario(protocol, macro.ENDLESS, settings.TRANSFER_S, paths=2, forward=loss),
        FAILS: {
            **settings.scenario(protocol, macro.ENDLESS, settings.TRANSFER_S, paths=2),
            "outage": [{"links": ["path", "path-back"], "at": [{"start_s": FAILS_S, "length_s": settings.TRANSFER_S}]}],
        },
    }


CASES = tuple(_cases(settings.PLAIN))


def _highest(measured: Measured, case: str, policy: str, sender: str) -> float:
    return measured.mean("highest_tsn", case=case, policy=policy, sender=sender)


def _spurious(measured: Measured, policy: str, sender: str) -> float:
    return measured.mean("spurious_retransmissions", case="spikes", policy=policy, sender=sender)


ARTEFACT = Artefact(
    id="sctp.policy",
    title="Highest TSN in 200 s by the path of retransmissions (two paths)",
    source=f"{settings.SOURCE}, section 3; RFC 9260, section 6.4",
    columns=(macro.HIGHEST, macro.NEEDLESS),
    rows=tuple(
        Row({"case": case, "policy": policy, "sender": sender}, _cases(_with(policy, protocol))[case])
        for case in CASES
        for policy in POLICIES
        for sender, protocol in settings.SENDERS.items()
    ),
    seed=settings.SEED,
    claims=(
        Claim(
            "some research says that retransmissions on the primary path are better: with spikes, for Eifel",
            lambda m: _highest(m, "spikes", "same-path", "eifel") > _highest(m, "spikes", "all-to-alternate", "eifel"),
        ),
        Claim(
            "with spikes RFC 9260's policy is the paper's, because timed-out chunks go to the alternate: within 1 %",
            lambda m: all(
                abs(_highest(m, "spikes", "rfc9260", s) / _highest(m, "spikes", "all-to-alternate", s) - 1) < 0.01
                for s in settings.SENDERS
            ),
        ),
        Claim(
            "on the same path Eifel avoids nine in ten of plain SCTP's unnecessary retransmissions, on the alternate "
            "none",
            lambda m: (
                _spurious(m, "same-path", "eifel") < 0.1 * _spurious(m, "same-path", "plain")
                and _spurious(m, "all-to-alternate", "eifel") > 0.9 * _spurious(m, "all-to-alternate", "plain")
            ),
        ),
        Claim(
            "where the primary fails, retransmissions on the same path find the alternate last: every sender sends "
            "less than by any other policy",
            lambda m: all(
                _highest(m, FAILS, "same-path", sender) < _highest(m, FAILS, policy, sender)
                for sender in settings.SENDERS
                for policy in POLICIES
                if policy != "same-path"
            ),
        ),
    ),
    fitted=(*settings.LEFT_OPEN[1:], settings.AT_SENDER),
    method=Repeated(settings.REPETITIONS, macro.means, long=True),
)
