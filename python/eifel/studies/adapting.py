"""What the papers name for a sender that learns, and do not measure: each against the sender without it.

The cases are this project's. Each has what the way is meant for.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from eifel.flows import main_flow
from eifel.papers.artefact import Artefact, Claim, Column, Measured, Repeated, Row, Setting
from eifel.papers.sctp import macro
from eifel.papers.sctp import settings as sctp
from eifel.studies import settings

REORDERED, LOSSES = "reordering", "reordering and losses"
RATE_BPS, DELAY_MS, QUEUE = 10_000_000, 50, 100
REORDER = {"rate": 0.01, "length": 6}
LOSS = 0.002
MINUTE_S = 60

_EIFEL = {"detect": "eifel-timestamps", "respond": "option-1", "grant": "always"}
_RISES = "after_spurious_fast_retransmit"
RECOVERIES: Mapping[str, Any] = {
    "fack": "fack",
    "fack, off when reordered": {"name": "fack", "off_when_reordered": True},
    "newreno-sack": "newreno-sack",
    "rfc6675": "rfc6675",
    "rfc6675, one more": {"name": "rfc6675", _RISES: "one-more"},
    "rfc6675, above length": {"name": "rfc6675", _RISES: "above-length"},
    "rack-tlp": "rack-tlp",
    "tcp-ncr, careful": "tcp-ncr",
    "tcp-ncr, aggressive": {"name": "tcp-ncr", "extended_limited_transmit": "aggressive"},
}
UNDETECTED = ("rfc6675", "rack-tlp", "tcp-ncr, careful", "tcp-ncr, aggressive")
"""Those that are measured without detection too, by which a sender either avoids spurious fast retransmits or pays."""
WITHOUT = ", no detection"

AFTER_FAST = "a spike after a fast retransmit"
LONG_DELAY_MS, WINDOW_BYTES = 150, 400_000
OVERTAKEN_SEGMENT = 1000
SPIKE_AT_S = 3.229
SPIKES_S = {"one timeout": 1.5, "two timeouts": 4.0}

LONG, LONG_SCTP = "spikes of 3 to 15 s", "SCTP, spikes of 3 to 10 s"
"""Some of them cause two timeouts and more."""
DUPLICATES = "spikes and losses"
"""A spike that begins while duplicate ACKs come in lets the timer expire."""


def _reordered(recover: str, *, loss: bool, detects: bool = True) -> dict[str, Any]:
    link: dict[str, Any] = {
        "rate_bps": RATE_BPS,
        "delay_ms": DELAY_MS,
        "queue": {"kind": "drop-tail", "packets": QUEUE},
        "reorder": REORDER,
    }
    if loss:
        link["loss"] = {"kind": "random", "rate": LOSS}
    flow = main_flow(
        application={"kind": "bulk", "endless": True},
        handshake=False,
        sender={**(_EIFEL if detects else {"detect": "none"}), "recover": RECOVERIES[recover]},
    )
    return {"duration_s": MINUTE_S, "point_to_point": link, "flow": [flow]}


def _spike_after_fast_retransmit(respond: str, length_s: float) -> dict[str, Any]:
    """Returns a transfer of 10 MB. A segment is overtaken, and the ACKs are held from its fast retransmit on."""
    link = {
        "rate_bps": RATE_BPS,
        "delay_ms": LONG_DELAY_MS,
        "queue": {"kind": "unlimited"},
        "reorder": {"flow": "main", "segments": [OVERTAKEN_SEGMENT], "length": REORDER["length"]},
    }
    at = [{"start_s": SPIKE_AT_S, "length_s": length_s}]
    flow = main_flow(
        application={"kind": "bulk", "bytes": 10_000_000},
        handshake=False,
        tcp={"payload_bytes": 1000, "receive_window_bytes": WINDOW_BYTES},
        sender={**_EIFEL, "respond": respond, "recover": "rfc6675"},
    )
    spike = {"links": ["bottleneck-back"], "holds": "arriving", "at": at}
    return {"duration_s": MINUTE_S, "point_to_point": link, "spike": [spike], "flow": [flow]}


def _long_spikes(detect: str, decay: bool) -> dict[str, Any]:
    scenario = settings.spikes(settings.HOLDS, "rfc6675", detect, "rfc4015")
    scenario["flow"][0]["sender"]["respond"] = {"name": "rfc4015", "decay": decay}
    return scenario


def _long_spikes_sctp(protocol: sctp.Sctp, decay: bool) -> dict[str, Any]:
    sender = {**protocol["sender"], "respond": {"name": "rfc4015", "decay": decay}}
    return macro.spiky(sctp.SPIKE_INTERVALS_S[0], {**protocol, "sender": sender}, 1)


def _spikes_and_losses(restarted_by: str) -> dict[str, Any]:
    scenario = settings.spikes(settings.HOLDS, "rfc6675", "eifel-timestamps", "rfc4015")
    scenario["point_to_point"]["loss"] = {"kind": "random", "rate": 0.005}
    scenario["spike"][0] |= {"length_s": {"uniform": [0.5, 2]}, "interval_s": {"uniform": [5, 15]}}
    scenario["flow"][0]["sender"]["rto"] = {"name": "rfc6298", "restarted_by": restarted_by}
    return scenario


_DETECTORS = {"Eifel": "eifel-timestamps", "DSACK": "dsack"}
_PROTOCOLS = {"Eifel": sctp.EIFEL_OR_DUP_TSN, "DupTSN": sctp.DUP_TSN}
_RESTARTS = {"rfc6298": "new-data", "rfc6298, restarted by duplicates": "duplicates"}
_NCR = UNDETECTED[2:]
_AFTER = tuple(f"{AFTER_FAST}, {name}" for name in SPIKES_S)
_RESPONSES = ("none", "option-1", "by-retransmissions", "option-3")


def _mean(measured: Measured, column: str, case: str, sender: str) -> float:
    return measured.mean(column, case=case, sender=sender)


def _undetected(measured: Measured, column: str, case: str, sender: str) -> float:
    return _mean(measured, column, case, sender + WITHOUT)


def _apart(measured: Measured, column: str, case: str, senders: Iterable[str]) -> float:
    """Returns the distance of two senders' means, as a share of the second."""
    one, other = (_mean(measured, column, case, sender) for sender in senders)
    return abs(one / other - 1)


_LEFT_OPEN = (
    Setting(
        "reordering",
        f"10 Mbit/s, {2 * DELAY_MS} ms, queue of {QUEUE} packets; 1 % of the packets are overtaken by 6; losses of "
        "0.2 %",
        "more than DupThresh, so that each causes a spurious fast retransmit",
    ),
    Setting("response there", "option 1", "so that what is left is the cost of the spurious fast retransmits alone"),
    Setting(
        "a spike after a fast retransmit",
        f"10 Mbit/s, {2 * LONG_DELAY_MS} ms; segment {OVERTAKEN_SEGMENT} is overtaken by 6, and the ACKs are held from "
        f"{SPIKE_AT_S} s, 1.3 ms after its fast retransmit",
        "the ACK of the original is held, so that the timer expires for the segment",
    ),
    *settings.SPIKES_LEFT_OPEN[:1],
    Setting("spikes and losses", "spikes of 0.5 to 2 s every 5 to 15 s, losses of 0.5 %", "spikes amid duplicates"),
    Setting("factor of the decay", "1/2 at each timeout after the first", "the SCTP paper names the decay, no factor"),
)


def _rows() -> tuple[Row, ...]:
    rows = [
        Row({"case": case, "sender": recover}, _reordered(recover, loss=case == LOSSES))
        for case in (REORDERED, LOSSES)
        for recover in RECOVERIES
    ]
    rows += [
        Row({"case": case, "sender": recover + WITHOUT}, _reordered(recover, loss=case == LOSSES, detects=False))
        for case in (REORDERED, LOSSES)
        for recover in UNDETECTED
    ]
    rows += [
        Row({"case": f"{AFTER_FAST}, {name}", "sender": respond}, _spike_after_fast_retransmit(respond, length_s))
        for name, length_s in SPIKES_S.items()
        for respond in _RESPONSES
    ]
    for decay in (False, True):
        how = ", decay" if decay else ""
        rows += [
            Row({"case": LONG, "sender": f"{name}{how}"}, _long_spikes(detect, decay))
            for name, detect in _DETECTORS.items()
        ]
        rows += [
            Row({"case": LONG_SCTP, "sender": f"{name}{how}"}, _long_spikes_sctp(protocol, decay))
            for name, protocol in _PROTOCOLS.items()
        ]
    rows += [Row({"case": DUPLICATES, "sender": name}, _spikes_and_losses(word)) for name, word in _RESTARTS.items()]
    return tuple(rows)


ARTEFACT = Artefact(
    id="detectors.adapting",
    title="Senders that learn, as the papers name them",
    source=(
        "Gurtov and Ludwig, sections II.C and III; Ludwig, section 5.2.2; Ladha and others, figure 9 and section 7 "
        "(Blanton and Allman); RFC 4653"
    ),
    columns=(
        Column("goodput_mbps", "Goodput, Mbit/s", summary="goodput_bps", scale=1e-6, digits=3),
        Column("time_s", "Time, s", digits=1),
        Column("fast_retransmits", "Fast retransmits", digits=1),
        Column("spurious_fast_retransmits", "Spurious ones", digits=1),
        Column("spurious_timeouts", "Spurious timeouts", digits=2),
        Column("genuine_timeouts", "Needed timeouts", digits=2),
        Column("spurious_retransmissions", "Unnecessary retransmissions", digits=1),
    ),
    rows=_rows(),
    method=Repeated(repetitions=settings.RUNS),
    fitted=_LEFT_OPEN,
    claims=(
        Claim(
            "a DupThresh that rises avoids nine in ten spurious fast retransmits, with losses too",
            lambda m: all(
                _mean(m, "spurious_fast_retransmits", case, f"rfc6675, {word}")
                < 0.1 * _mean(m, "spurious_fast_retransmits", case, "rfc6675")
                for case in (REORDERED, LOSSES)
                for word in ("one more", "above length")
            ),
        ),
        Claim(
            "and costs no more needed timeouts than one in ten transfers",
            lambda m: all(
                _mean(m, "genuine_timeouts", case, f"rfc6675, {word}")
                < _mean(m, "genuine_timeouts", case, "rfc6675") + 0.1
                for case in (REORDERED, LOSSES)
                for word in ("one more", "above length")
            ),
        ),
        Claim(
            "TCP-NCR makes no spurious fast retransmit where nothing is lost, and avoids four in five of RFC 6675's "
            "where packets are, without detection",
            lambda m: all(
                _undetected(m, "spurious_fast_retransmits", REORDERED, ncr) == 0
                and _undetected(m, "spurious_fast_retransmits", LOSSES, ncr)
                < 0.2 * _undetected(m, "spurious_fast_retransmits", LOSSES, "rfc6675")
                for ncr in _NCR
            ),
        ),
        Claim(
            "without detection it delivers more than RFC 6675 and RACK",
            lambda m: all(
                _undetected(m, "goodput_mbps", case, ncr) > _undetected(m, "goodput_mbps", case, other)
                for case in (REORDERED, LOSSES)
                for ncr in _NCR
                for other in ("rfc6675", "rack-tlp")
            ),
        ),
        Claim(
            "and less than RFC 6675 with detection",
            lambda m: all(
                _mean(m, "goodput_mbps", case, ncr) < _mean(m, "goodput_mbps", case, "rfc6675")
                for case in (REORDERED, LOSSES)
                for ncr in _NCR
            ),
        ),
        Claim(
            "FACK that is switched off acts as NewReno-SACK, within 1 %, and avoids less than a twentieth of the "
            "spurious fast retransmits",
            lambda m: all(
                _apart(m, "goodput_mbps", case, ("fack, off when reordered", "newreno-sack")) < 0.01
                and _apart(m, "spurious_fast_retransmits", case, ("fack, off when reordered", "fack")) < 0.05
                for case in (REORDERED, LOSSES)
            ),
        ),
        Claim(
            "after a fast retransmit and one timeout, by-retransmissions restores what option 1 does: the fast "
            "retransmit has halved the window before",
            lambda m: _apart(m, "time_s", _AFTER[0], ("by-retransmissions", "option-1")) < 0.001,
        ),
        Claim(
            "after a fast retransmit and two timeouts, it acts as option 3",
            lambda m: _mean(m, "time_s", _AFTER[1], "by-retransmissions") == _mean(m, "time_s", _AFTER[1], "option-3"),
        ),
        Claim(
            "the decay of pipe_prev changes nothing with Eifel, whose verdict restores the flight at once, within 1 %",
            lambda m: all(
                _apart(m, "goodput_mbps", case, ("Eifel, decay", "Eifel")) < 0.01 for case in (LONG, LONG_SCTP)
            ),
        ),
        Claim(
            "with DSACK, whose verdict comes a window later, a transfer takes more than a tenth longer with the decay",
            lambda m: _mean(m, "time_s", LONG, "DSACK, decay") > 1.1 * _mean(m, "time_s", LONG, "DSACK"),
        ),
        Claim(
            "a timer that duplicates restart changes neither time nor timeouts by more than 5 %",
            lambda m: all(
                _apart(m, column, DUPLICATES, _RESTARTS) < 0.05 for column in ("time_s", "spurious_timeouts")
            ),
        ),
    ),
)
