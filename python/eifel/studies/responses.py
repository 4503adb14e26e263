"""Each response with each detector and recovery, on the path of "Responding to Spurious Timeouts in TCP"."""

from typing import Any

from eifel.papers.artefact import Artefact, Claim, Column, Measured, Repeated, Row
from eifel.studies import facts, settings

KEYS = ("queue", "sender", "detector", "response")


def _rows() -> tuple[Row, ...]:
    rows = []
    for queue in settings.QUEUES:
        rows.append(_row(queue, settings.LINUX, "none", "none"))
        rows += [
            _row(queue, settings.LINUX, detect, respond)
            for detect in settings.ON_WIRE
            for respond in settings.RESPONSES_ON_WIRE
        ]
        for sender in settings.SENDERS:
            rows.append(_row(queue, sender, "none", "none"))
            rows += [
                _row(queue, sender, detect, respond) for detect in settings.DETECTORS for respond in settings.RESPONSES
            ]
    return tuple(rows)


def _row(*values: Any) -> Row:
    return Row(dict(zip(KEYS, values, strict=True)), settings.spikes(*values))


def saved(measured: Measured, *values: Any) -> tuple[float, float]:
    """Returns the interval of the saved share of a row's transfer time, in percent; negative for a loss."""
    found = measured.row(**dict(zip(KEYS, values, strict=True))).means["saved"]
    return found.interval or (found.mean, found.mean)


CLAIMS = (
    Claim(
        "where nothing is lost, restoring the window saves 5 % and more with Reno's window, whatever detects early",
        lambda m: all(
            saved(m, settings.HOLDS, sender, detect, respond)[0] > 5
            for sender in ("newreno", *settings.SACK_SENDERS)
            for detect in settings.EARLY
            for respond in settings.RESTORING
        ),
    ),
    Claim(
        "it saves with CUBIC too",
        lambda m: all(
            saved(m, settings.HOLDS, "rack-tlp, PRR, CUBIC", "eifel-timestamps", r)[0] > 0 for r in settings.RESTORING
        ),
    ),
    Claim(
        "and Linux's own undo with Linux's sender",
        lambda m: saved(m, settings.HOLDS, settings.LINUX, "linux", "linux")[0] > 0,
    ),
    Claim(
        "DSACK saves there too, but on average less than what detects early",
        lambda m: all(
            saved(m, settings.HOLDS, sender, "dsack", "option-1")[0] > 0
            and sum(saved(m, settings.HOLDS, sender, "dsack", "option-1"))
            < sum(saved(m, settings.HOLDS, sender, early, "option-1"))
            for early in settings.EARLY
            for sender in ("newreno", *settings.SACK_SENDERS)
        ),
    ),
    Claim(
        "where the window's tail is lost, detecting costs NewReno time, whatever is restored",
        lambda m: all(
            saved(m, settings.LOSES, "newreno", detect, respond)[1] < 0
            for detect in settings.EARLY
            for respond in settings.RESPONSES
        ),
    ),
    Claim(
        "with SACK and the window restored it costs nothing there",
        lambda m: all(
            saved(m, settings.LOSES, sender, detect, respond)[1] > 0
            for sender in settings.SACK_SENDERS
            for detect in settings.EARLY
            for respond in settings.RESTORING
        ),
    ),
    Claim(
        "there, to detect and not to restore (options 2 and 3) costs more than not to detect: the loss cuts again",
        lambda m: all(
            saved(m, settings.LOSES, sender, detect, respond)[1] < 0
            for sender in settings.SACK_SENDERS
            for detect in settings.EARLY
            for respond in ("option-2", "option-3")
        ),
    ),
)


ARTEFACT = Artefact(
    id="detectors.responses",
    title="Each response with each detector and each way of recovering",
    source="eifel, docs/internals/detectors.md",
    columns=(
        Column("time_s", "Time, s", digits=1),
        Column("saved", "saved, against no detection, %", summary="time_s", digits=1),
        Column("goodput_kbps", "Goodput, kbit/s", summary="goodput_bps", scale=1e-3, digits=0),
        Column("needless", "Sent needlessly, %", summary="spurious_retransmissions", digits=2),
        Column("undos", "Undos", digits=2),
        Column("drops", "Packets dropped", digits=1),
        Column("drops_after_undo", "of these in the round trip after an undo", digits=1),
        Column("timeouts", "Timeouts", digits=1),
    ),
    rows=_rows(),
    method=Repeated(repetitions=50, measure=facts.against_no_detection),
    fitted=settings.SPIKES_LEFT_OPEN,
    claims=CLAIMS,
)
