"""Tables 1 and 2 again with the window of RFC 5681: separates Eifel's gain from the simulator's.

RFC 5681, section 3.1, holds ssthresh when the timer expires again for the same segment. The
simulators of the paper's time halved it each time. A spike of several timeouts then left a
threshold of two segments and a very slow connection.
"""

from eifel.papers.artefact import Artefact, Claim, Repeated, Row
from eifel.papers.measured import Measured
from eifel.papers.responding import settings

_CASES = ((False, "reno-sack"), (True, "reno-sack"), (True, "newreno-sack"), (True, "fack"))


def _gain(measured: Measured, window: str) -> float:
    off, on = (
        measured.mean("time_s", window=window, congested=False, recovery="reno-sack", eifel=eifel)
        for eifel in (False, True)
    )
    return off / on - 1


ARTEFACT = Artefact(
    id="responding.rfc5681",
    title="Tables 1 and 2 with ssthresh as the simulator kept it, and as RFC 5681 asks",
    source=f"{settings.SOURCE}, tables 1 and 2; RFC 5681, section 3.1",
    columns=settings.COLUMNS,
    rows=tuple(
        Row(
            {"window": window, "congested": congested, "recovery": recovery, "eifel": eifel},
            settings.dumbbell(recovery, eifel=eifel, congested=congested, window=window),
        )
        for window in settings.WINDOWS
        for congested, recovery in _CASES
        for eifel in (False, True)
    ),
    method=Repeated(repetitions=settings.REPETITIONS),
    seed=settings.SEED,
    fitted=settings.FITTED,
    claims=(
        Claim(
            "with the simulator's rule Eifel raises the throughput of table 1 by more than 200 % (the paper: 254 %)",
            lambda m: _gain(m, "of-its-time") > 2,
        ),
        Claim(
            "with RFC 5681's rule less than a tenth of that gain is left",
            lambda m: _gain(m, "rfc5681") < 0.1 * _gain(m, "of-its-time"),
        ),
    ),
)
