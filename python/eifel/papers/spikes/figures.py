"""Figures 2 to 4 and 7 to 9: one run over the paper's own spike, from 28 to 40 s, without and with losses."""

from collections.abc import Callable, Mapping
from typing import Any

from eifel.papers.artefact import Artefact, Claim, Column, Measured, Recorded, Row, Setting
from eifel.papers.claims import count, of
from eifel.papers.dualrtt import figure as dualrtt
from eifel.papers.responding import facts
from eifel.papers.sctp import facts as sctp
from eifel.papers.spikes import settings
from eifel.plots import Figure, paths_figure, time_sequence_figure
from eifel.result import Result
from eifel.tables import Frame

COLUMNS = (
    *dualrtt.COLUMNS,
    Column("drops", "Drops", digits=0),
    Column("segments", "Segments delivered", summary="bytes", scale=1 / settings.PAYLOAD_BYTES, digits=0),
)
SERIES = 5
"""The least number of duplicate SACKs in a series."""
LOSSLESS_S = 55
LOST = range(257, 267)
"""The ten segments that the queue drops in figures 7 and 8, from the printed 257 on."""
LOSSY_KBPS = 50
STATED_KBPS = 46.8
STATED = f"{STATED_KBPS} kbit/s"
"""The run at the rate of section II."""
LOSSY = Setting(
    "rate of figures 7 to 9",
    f'{LOSSY_KBPS} kbit/s; in the run "{STATED}" that of section II',
    'not stated, but "the same topology"; in steps of 0.5 kbit/s from 46.8 the first with a fast retransmit at 47.8 s',
    rows=("all rows of figure 8, by the instant of the fast retransmit",),
)


def _figure(
    number: int,
    title: str,
    runs: Mapping[str, Mapping[str, Any]],
    *claims: Claim,
) -> Artefact:
    """Returns a figure that draws the first run. A claim may compare it with the others."""
    lossy = number > 4
    return Artefact(
        id=f"spikes.figure{number}",
        title=title,
        source=f"{settings.SOURCE}, figure {number}",
        columns=COLUMNS,
        rows=tuple(Row({"run": run}, made) for run, made in runs.items()),
        seed=settings.SEED,
        claims=claims,
        fitted=(
            *settings.LEFT_OPEN[1:],
            *((LOSSY,) if lossy else ()),
            *((settings.CARRIED,) if settings.NOT_CARRIED in runs else ()),
        ),
        method=Recorded(_draw, chart=False),
    )


def _draw(measured: Measured) -> Figure:
    result = measured.results[0]
    draw = paths_figure if "path" in result.tables["transmissions"].column_names else time_sequence_figure
    return draw(result, title=measured.artefact.title)


def _lossless(sender: str, bugfix: bool | None = None) -> dict[str, Any]:
    """Returns a session of section II.B-D: 46.8 kbit/s, small window."""
    made = settings.scenario(sender, STATED_KBPS, "small", "spike", spike=settings.one_spike(), duration_s=LOSSLESS_S)
    if bugfix is not None:
        recover = made["flow"][0]["sender"]["recover"]
        made["flow"][0]["sender"]["recover"] = {**recover, "bugfix": bugfix}
    return made


def _lossy(sender: str, case: str = "spike+loss", kbps: float = LOSSY_KBPS) -> dict[str, Any]:
    """Returns a session of section III.A: large window, queue of 50 packets."""
    return settings.scenario(sender, kbps, "large", case, spike=settings.one_spike())


ERRORS = "link errors"
"""A run in which the link loses ten segments, and the queue has room for all."""


def _link_errors(sender: str) -> dict[str, Any]:
    made = _lossy(sender, "spike")
    lost = {"flow": "main", "segments": list(LOST), "copies": 1}
    links = [{**link, "drops": lost} if link["name"] == "uplink" else link for link in made["link"]]
    return {**made, "link": links}


def _again(result: Result, **wanted: str) -> Frame:
    return result.of("transmissions").where(kind="retransmission", **wanted)


def _lost_come_again_by_timeout(result: Result) -> bool:
    """Returns whether segments are lost, and go-back-N retransmits each of them."""
    lost = {*result.of("transmissions").where(fate="dropped")["segment"].tolist()}
    return bool(lost) and lost <= {*_again(result, cause="timeout")["segment"].tolist()}


def _held(result: Result) -> int:
    """Returns the number of packets sent during the spike, which its end releases."""
    sent = result.of("transmissions")["t_ns"] / 1e9
    start = settings.SPIKE_S
    return int(((sent >= start) & (sent < start + settings.SPIKE_LENGTH_S)).sum())


def _costs_little(measured: Measured, run: str = "drawn") -> bool:
    """Returns whether the losses cost at most a tenth of the delivery without them."""
    return measured.mean("segments", run=run) >= 0.9 * measured.mean("segments", run="no losses")


def _stall_s(result: Result) -> tuple[float, float]:
    """Returns the longest time without a packet after the spike: its begin and its end, in seconds."""
    sent = result.of("transmissions")["t_ns"] / 1e9
    sent = sent[sent >= settings.SPIKE_S + settings.SPIKE_LENGTH_S]
    longest = int((sent[1:] - sent[:-1]).argmax())
    return float(sent[longest]), float(sent[longest + 1])


def _stalled_s(result: Result) -> float:
    """Returns the length of the longest time without a packet after the spike, in seconds."""
    begin, end = _stall_s(result)
    return end - begin


def _acknowledged_again(result: Result) -> int:
    """Returns the TSN, counted from 1, that the longest series of duplicate SACKs acknowledges."""
    duplicates = result.of("acks").where(duplicate=True)["cumulative"].tolist()
    most = max(set(duplicates), key=duplicates.count)
    if duplicates.count(most) < SERIES:
        raise LookupError("no series of duplicate SACKs")
    return int(most)


def _duplicates_ns(result: Result) -> set[int]:
    """Returns when duplicate ACKs arrive after the spike, in nanoseconds."""
    acks = result.of("acks")
    after = acks["t_ns"] >= (settings.SPIKE_S + settings.SPIKE_LENGTH_S) * 1e9
    return {*acks["t_ns"][after & acks["duplicate"]].tolist()}


def _clocked_out(result: Result) -> int:
    """Returns how many new segments leave with a duplicate ACK after the spike."""
    duplicates = _duplicates_ns(result)
    return sum(at in duplicates for at in result.of("transmissions").where(kind="new")["t_ns"].tolist())


def _rto_s(result: Result, at_s: float) -> float:
    """Returns the RTO that the timer has at a time, in seconds."""
    timer = result.of("timer")
    return float(timer["rto_ns"][timer["t_ns"] <= at_s * 1e9 + 1][-1]) / 1e9


def _as_reno() -> dict[str, Any]:
    """Returns Eifel's session with packets and a timer like Reno's: no bytes of timestamps, one sample a round trip."""
    made = settings.not_carried(_lossy("eifel"))
    end = made["flow"][0]["sender"]
    end["rto"] = {**end["rto"], "timing": "one-a-round-trip"}
    return made


RELEASED, DROPPED, FAST_RETRANSMITTED, STALLS = (
    "60 segments are released",
    "10 are dropped",
    "257 is fast retransmitted",
    "transmission stalls for about 30 s, by 3 s at most another time",
)
_PRINTED: Mapping[str, Callable[[Result], bool]] = {
    RELEASED: lambda result: _held(result) == 60,
    DROPPED: lambda result: result.main["drops"] == 10,
    FAST_RETRANSMITTED: lambda result: _again(result, cause="fast-retransmit")["segment"][0] == 257,
    STALLS: lambda result: abs(_stalled_s(result) - 30.2) <= 3,
}
"""What the paper prints of figure 8 from the spike's end on."""


def _of_run(run: str, setting: str, *printed: str) -> tuple[Claim, ...]:
    """Claims printed values of another run than the drawn one. `setting` says what differs."""

    def claim(text: str) -> Claim:
        return Claim(f"... {setting}: {text}", lambda measured: _PRINTED[text](measured.result(run=run)))

    return tuple(map(claim, printed))


FIGURE_2 = _figure(
    2,
    "Spurious retransmission and spurious fast retransmission in TCP Reno",
    {"drawn": _lossless("reno", bugfix=False), "bugfix": _lossless("reno", bugfix=True)},
    Claim("the delay spike causes two timeouts", lambda m: m.mean("timeouts", run="drawn") == 2),
    Claim(
        "a spurious go-back-N retransmission of segments 132-150",
        lambda m: dualrtt.retransmitted(m.results[0])[1:] == [*range(132, 151)],
    ),
    Claim(
        "a spurious fast retransmission of segment 151",
        lambda m: dualrtt.retransmitted(m.results[0], "fast-retransmit") == [151],
    ),
    Claim(
        'the fast retransmission can be eliminated by the "bug fix" of RFC 2582',
        lambda m: m.mean("fast_retransmits", run="bugfix") == 0,
    ),
)
FIGURE_3 = _figure(
    3,
    "Detecting a spurious timeout with Eifel",
    {"drawn": _lossless("eifel"), settings.NOT_CARRIED: settings.not_carried(_lossless("eifel"))},
    Claim(
        f"at t = 42.9 s it detects the spurious timeout, {dualrtt.WITHIN}",
        lambda m: dualrtt.near(dualrtt.verdicts_s(m.results[0])[0], 42.9),
    ),
    *dualrtt.DECIDES,
    Claim(
        "segments 132-150 are not retransmitted",
        of(lambda result: not {*range(132, 151)} & {*_again(result)["segment"].tolist()}),
    ),
    Claim("no duplicate ACK causes a spurious fast retransmit", lambda m: m.mean("fast_retransmits", run="drawn") == 0),
)
FIGURE_4 = _figure(
    4,
    "Spurious timeout in SCTP due to a delay spike",
    {"drawn": _lossless("sctp"), settings.STATED_HEADERS: _lossless(settings.STATED_HEADERS)},
    Claim("SCTP suffers from a spurious timeout", lambda m: m.mean("timeouts", run="drawn") >= 1),
    Claim(
        "it exhibits a go-back-N behaviour: nine in ten of the chunks outstanding are retransmitted, needlessly",
        of(sctp.window_retransmitted),
    ),
    Claim("a series of duplicate SACKs acknowledges segment 134", lambda m: _acknowledged_again(m.results[0]) == 134),
    Claim(
        "the sender does not do a spurious fast retransmission of the next one",
        lambda m: _acknowledged_again(m.results[0]) > 0 and m.mean("fast_retransmits", run="drawn") == 0,
    ),
)
FIGURE_7 = _figure(
    7,
    "TCP Reno in a delay spike with packet loss (bug fix on)",
    {
        "drawn": _lossy("reno"),
        "no losses": _lossy("reno", "spike"),
        ERRORS: _link_errors("reno"),
        STATED: _lossy("reno", kbps=STATED_KBPS),
    },
    Claim("at the end of the spike 60 segments are released", of(lambda result: _held(result) == 60)),
    Claim("10 segments are dropped by the queue", count("drops", 10)),
    Claim("the spike causes one timeout", count("spurious_timeouts", 1)),
    Claim(
        "it comes during the spike: between 28 and 40 s",
        of(lambda result: 0 < dualrtt.timeouts_s(result)[0] - settings.SPIKE_S < settings.SPIKE_LENGTH_S),
    ),
    Claim("go-back-N recovers the lost segments", of(_lost_come_again_by_timeout)),
    Claim("the loss has not much effect: a tenth of what is delivered at most", _costs_little),
    Claim(
        "footnote 1: link errors behave alike: go-back-N recovers them, and they cost a tenth at most",
        lambda m: _lost_come_again_by_timeout(m.result(run=ERRORS)) and _costs_little(m, ERRORS),
    ),
)
FIGURE_8 = _figure(
    8,
    "Eifel in a delay spike with packet loss (bug fix off)",
    {
        "drawn": _lossy("eifel"),
        "reno": _lossy("reno"),
        settings.NOT_CARRIED: _as_reno(),
        ERRORS: _link_errors("eifel"),
        STATED: _lossy("eifel", kbps=STATED_KBPS),
    },
    Claim("at the end of the spike 60 segments are released", of(lambda result: _held(result) == 60)),
    Claim("10 segments are dropped by the queue", count("drops", 10)),
    *_of_run(
        settings.NOT_CARRIED,
        "with timestamps that the link does not carry, and a sample a round trip",
        *(RELEASED, DROPPED, FAST_RETRANSMITTED),
    ),
    *_of_run(STATED, f"at {STATED}, as in section II", RELEASED, DROPPED, STALLS),
    Claim("Eifel detects the spurious timeout, and resumes transmitting new segments", of(facts.resumes_with_new_data)),
    Claim(
        "the sender fast retransmits segment 257",
        of(lambda result: _again(result, cause="fast-retransmit")["segment"][0] == 257),
    ),
    Claim(
        "the rest of the lost segments cannot be retransmitted until a timeout",
        of(
            lambda result: (
                {*result.of("transmissions").where(fate="dropped")["segment"].tolist()[1:]}
                <= {*_again(result, cause="timeout")["segment"].tolist()}
            )
        ),
    ),
    Claim(
        "the RTO is increased to 30.2 s: by one second at most it is another, where transmission stalls",
        of(lambda result: abs(_rto_s(result, _stall_s(result)[0]) - 30.2) <= 1),
    ),
    Claim(
        "from t = 47.8 s transmission stalls for about 30 s: by 3 s at most another time",
        of(
            lambda result: (
                abs(_stall_s(result)[0] - 47.8) <= 1 and abs(_stall_s(result)[1] - _stall_s(result)[0] - 30.2) <= 3
            )
        ),
    ),
    Claim("Eifel delivers less than Reno", lambda m: m.mean("segments", run="drawn") < m.mean("segments", run="reno")),
    Claim(
        "footnote 1: link errors behave alike: transmission stalls as long, by 3 s at most another time",
        lambda m: abs(_stalled_s(m.result(run=ERRORS)) - _stalled_s(m.result(run="drawn"))) <= 3,
    ),
)
FIGURE_9 = _figure(
    9,
    "SCTP in a delay spike with packet loss",
    {
        "drawn": _lossy("sctp"),
        "no losses": _lossy("sctp", "spike"),
        "reno": _lossy("reno"),
        STATED: _lossy("sctp", kbps=STATED_KBPS),
        settings.STATED_HEADERS: _lossy(settings.STATED_HEADERS),
    },
    Claim("10 segments are dropped by the queue", count("drops", 10)),
    Claim("go-back-N recovers the lost segments", of(_lost_come_again_by_timeout)),
    Claim("the loss has not much effect: a tenth of what is delivered at most", _costs_little),
    Claim(
        "section III.B: duplicate ACKs of spurious retransmissions do not clock out new data for SCTP",
        lambda m: len(_duplicates_ns(m.result(run="drawn"))) > 0 and _clocked_out(m.result(run="drawn")) == 0,
    ),
    Claim("... and they do for Reno", lambda m: _clocked_out(m.result(run="reno")) > 0),
)
