"""Figure 10: a short and a long spike over two paths, with plain SCTP, Eifel and DupTSN."""

from eifel.papers.artefact import Claim
from eifel.papers.claims import less, of
from eifel.papers.sctp import facts, micro, settings


def _short(**protocols: settings.Sctp) -> dict[str, dict[str, object]]:
    return {name: micro.association(one, settings.SHORT_SPIKE_S, paths=2) for name, one in protocols.items()}


def _long(**protocols: settings.Sctp) -> dict[str, dict[str, object]]:
    return {name: micro.association(one, settings.LONG_SPIKE_S, paths=2) for name, one in protocols.items()}


def _as_many_again_as(run: str, text: str) -> Claim:
    """Claims that the drawn run retransmits as many chunks as another one, or one more or less."""
    return Claim(text, lambda m: abs(m.mean("retransmissions", run="drawn") - m.mean("retransmissions", run=run)) <= 1)


FIGURE_10A = micro.figure(
    "10a",
    "A short spike over two paths: plain SCTP",
    _short(drawn=settings.PLAIN),
    micro.EXPIRES_ONCE,
    Claim(
        "the N chunks outstanding are retransmitted, nine in ten at least, and needlessly",
        of(facts.window_retransmitted),
    ),
)
FIGURE_10B = micro.figure(
    "10b",
    "A long spike over two paths: plain SCTP",
    _long(drawn=settings.PLAIN),
    micro.EXPIRES_ONCE,
    Claim("retransmissions arrive before the originals", of(lambda result: facts.overtaken(result)[0] > 0)),
)
FIGURE_10C = micro.figure(
    "10c",
    "A short spike over two paths: Eifel",
    _short(drawn=settings.EIFEL_OR_DUP_TSN, plain=settings.PLAIN),
    micro.DETECTED,
    micro.BY_ORIGINAL,
    Claim("few chunks are retransmitted: less than half of plain SCTP's", less("retransmissions", "plain", 0.5)),
    Claim(
        "goodput after the spike is more than twice plain SCTP's",
        lambda m: facts.sent_after_spike(m, "drawn") > 2 * facts.sent_after_spike(m, "plain"),
    ),
    Claim(
        "it is more than twice plain SCTP's in the first 4.5 s from the spike on",
        lambda m: facts.sent_after_spike(m, "drawn", 4.5) > 2 * facts.sent_after_spike(m, "plain", 4.5),
    ),
    Claim(
        "the alternate's window does not overgrow",
        lambda m: facts.growth(m.result(run="drawn")) < 0.5 * facts.growth(m.result(run="plain")),
    ),
)
FIGURE_10D = micro.figure(
    "10d",
    "A long spike over two paths: Eifel falls back on DupTSN",
    _long(drawn=settings.EIFEL_OR_DUP_TSN, plain=settings.PLAIN, **{"timestamps alone": settings.EIFEL}),
    micro.DETECTED,
    micro.BY_REPORTS,
    Claim(
        "timestamps alone do not detect the spurious timeout: the retransmission arrives first",
        lambda m: facts.undetected(alone := m.result(run="timestamps alone")) and facts.overtaken(alone)[0] > 0,
    ),
    _as_many_again_as(
        "plain",
        "go-back-N cannot be avoided: as many chunks are retransmitted as by plain SCTP, of 12 bytes less user data "
        "each",
    ),
)
FIGURE_10E = micro.figure(
    "10e",
    "A short spike over two paths: DupTSN",
    _short(drawn=settings.DUP_TSN),
    micro.DETECTED,
    micro.BY_REPORTS,
    Claim(
        "go-back-N is not avoided: nine in ten of the chunks outstanding are retransmitted, needlessly",
        of(facts.window_retransmitted),
    ),
)
FIGURE_10F = micro.figure(
    "10f",
    "A long spike over two paths: DupTSN",
    _long(drawn=settings.DUP_TSN, eifel=settings.EIFEL_OR_DUP_TSN),
    micro.DETECTED,
    micro.BY_REPORTS,
    _as_many_again_as(
        "eifel", "it is identical to figure 10 (d), but for 12 bytes of user data in a chunk: as many are retransmitted"
    ),
)
