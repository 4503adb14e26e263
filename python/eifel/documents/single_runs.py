"""Sentences of docs/internals/findings.md with numbers that seconds of runs give, and no stored result holds."""

import copy
import math
import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from eifel.documents import FINDINGS, INTERNALS, calibration, quoted
from eifel.documents.calibration import rows
from eifel.model import loss
from eifel.papers.artefact import Measured
from eifel.papers.dualrtt import parking_lot
from eifel.papers.dualrtt import settings as dualrtt
from eifel.papers.responding import facts, figures1_to_6
from eifel.papers.responding import settings as responding
from eifel.papers.sctp import by_time
from eifel.papers.sctp import facts as sctp
from eifel.papers.sctp import settings as associations
from eifel.papers.spikes import figures as spikes
from eifel.papers.thesis import cycles, figure5_7
from eifel.reproduction import reproduce
from eifel.runs import run_many
from eifel.scenario import override
from eifel.statistics import mean_interval
from eifel.sweeps import load
from eifel.tables import Frame

_HEADERS_BYTES = 32
"""Of IPv4 and SCTP, in each packet."""
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def _responding() -> list[str]:
    fit = replace(responding.FIT, cbr_packet_bytes=1040)
    senders = ("reno-sack", "newreno-sack", "fack")
    made = [responding.dumbbell(sender, eifel=True, congested=True, fit=fit) for sender in senders]
    runs = run_many(made, repetitions=responding.REPETITIONS)
    times = [mean_interval(runs.where(scenario=number, flow=0)["time_s"]) for number, _ in enumerate(made)]
    reno, newreno, fack = (f"{time.mean:.1f}" for time in times)
    halves = [round(time.half_width or 0) for time in times]

    wide = figures1_to_6._WIDE
    figure, end_s = reproduce("responding.figure6c"), responding.SLOW_SPIKE_S[1]
    own, plain = (figure.result(run=run) for run in (wide, f"{wide}, without eifel"))
    after = range(1, figures1_to_6._OBSERVED_S + 1)
    rtos = [[facts.rto_at_s(run, end_s + second) for run in (own, plain)] for second in after]
    lower = [second for second, (with_eifel, without) in zip(after, rtos, strict=True) if with_eifel < without]
    return [
        f"a transfer takes {reno} s with Reno-SACK, {newreno} with NewReno-SACK and {fack} with FACK, with intervals "
        f"of {min(halves)} to {max(halves)} s to each side",
        f"From {lower[-1] + 1} s after the spike on the paper's sentence holds with its window, as the queue grows "
        f"again: {after[-1]} s after the spike the RTO is {rtos[-1][0]:.1f} s, and {rtos[-1][1]:.1f} s without Eifel",
    ]


def _back_off() -> str:
    """Returns the times of three rows of tables 2 and 3 if any sample ends a back-off, beside the tables' rule."""
    shown = [max(n for n, row in enumerate(rows()) if row.keys == calibration.SHOWN[one]) for one in (0, 2, 3)]
    made = []
    for name in ("any valid sample ends the back-off", "as in the tables"):
        for number in shown:
            made.append(copy.deepcopy(dict(rows()[number].scenario)))
            calibration.VARIANTS[name](made[-1])
    runs = run_many(made, repetitions=calibration.REPETITIONS)
    reno, second, third, *before = (runs.where(scenario=n, flow=0)["time_s"].mean() for n, _ in enumerate(made))
    return (
        f"Then Reno-SACK with Eifel takes {reno:.0f} s instead of {before[0]:.0f}, and FACK with options 2 and 3, "
        f"which restore only a part of the window, {second:.0f} and {third:.0f} s instead of {before[1]:.0f} and "
        f"{before[2]:.0f} ({calibration.REPETITIONS} transfers each"
    )


def _thesis() -> list[str]:
    lost = {load: f"{100 * loss.in_rounds(load, load, 'timeout'):.0f} %" for load in (24, 40, cycles.WINDOW, 320)}
    by_hiccup = cycles.losses(reproduce("thesis.figure5_7"), figure5_7.HICCUP)["timeout"][1.0]
    return [
        f"{lost[cycles.WINDOW]} is lost with a largest load of {cycles.WINDOW} segments, which `eifel reproduce "
        f"thesis.figure5_7` takes: {lost[24]} with 24, {lost[40]} with 40 and {lost[320]} with 320",
        f"With a real delay spike {100 * by_hiccup:.0f} % is lost with {cycles.WINDOW}",
    ]


def _dualrtt() -> list[str]:
    table = reproduce("dualrtt.table2")
    before, first, within = (f"{table.mean('rto', t_s=t_s):.1f}" for t_s in (17.545, 30.84, 42.905))
    carried, not_carried = (reproduce("dualrtt.figure4").result(run=run) for run in ("drawn", "not carried"))
    expired = not_carried.of("timer").where(event="expired")["t_ns"] / 1e9
    starts = [int(run.of("episodes")["start"][0]) for run in (carried, not_carried)]
    held, printed = (start // dualrtt.PAYLOAD_BYTES + 1 for start in starts)
    return [
        f"before and within the spike: {before}, {first} and {within} s",
        f"With timestamps it is {facts.rto_at_s(not_carried, 30.84):.1f} s",
        f"With their 12 bytes the spike holds segment {held} first, and without them the printed {printed}. "
        f"The timer then expires at {' and '.join(f'{one:.1f}' for one in expired)} s",
    ]


def _short_queue() -> list[str]:
    """Returns what DualRTT delivers more than Reno in figure 13 if the bottleneck's queue is shorter."""
    packets = parking_lot.BOTTLENECK_QUEUE - 2
    design = load({**parking_lot.DESIGN, "seed": 1, "repetitions": 1})
    bottleneck_bps, rates_bps = round(1e6 * parking_lot.BOTTLENECK_MBPS[0]), (500_000, 1_500_000)
    wanted = [(protocol, rate) for protocol in ("reno", "dualrtt") for rate in rates_bps]
    cells = [design.cell(number) for number in range(design.cells)]
    made = [
        override(design.base, {**cell.settings, "seed": 1, "link.bottleneck.queue.packets": packets})
        for protocol, rate in wanted
        for cell in cells
        if cell.case == protocol
        and cell.settings["link.bottleneck.rate_bps"] == bottleneck_bps
        and cell.settings["link.wireless.rate_bps"] == rate
    ]
    runs = run_many(made, repetitions=parking_lot.RUNS)
    reno_slow, reno_fast, slow, fast = (
        runs.where(scenario=number, flow=0)["bytes"].mean() / dualrtt.PAYLOAD_BYTES for number in range(len(wanted))
    )
    return [
        f"With a queue of {packets} packets instead of the fitted {parking_lot.BOTTLENECK_QUEUE} they are "
        f"{slow - reno_slow:.0f} and {fast - reno_fast:.0f}"
    ]


def _sctp() -> list[str]:
    figure = reproduce("sctp.figure3")
    runs = [figure.result(run=run) for run in ("drawn", "eifel", "unambiguous")]
    plain, eifel, unambiguous = (round(sctp.growth(run)) for run in runs)
    assert eifel == unambiguous == 1
    packets = sctp.cwnd(runs[0], sctp.ALTERNATE)["cwnd"][0] / (associations.PMTU_BYTES - _HEADERS_BYTES)
    return [f"grows {_NUMBERS[plain]}fold, from {_NUMBERS[round(packets)]} packets, and with Eifel not at all"]


def _slow_runs() -> str:
    """Returns how downloads of two rows of `sctp.by_time` are spread, and the share of signals without a verdict."""
    keys = [
        {"case": "15 % reordered", "recover": one, "detect": "eifel"} for one in (by_time.BY_TIME, by_time.COUNTING)
    ]
    rows_by_time = by_time.ARTEFACT.rows
    made = [dict(row.scenario) for key in keys for row in rows_by_time if row.keys == key]
    runs = run_many(made, repetitions=by_time.ARTEFACT.repetitions)
    rack, counting = (runs.where(scenario=number) for number, _ in enumerate(made))
    slow = rack["time_s"] > 1.2 * counting["time_s"].max()

    def without_verdict(found: Frame) -> NDArray[np.float64]:
        signals = found["spurious_fast_retransmits"] + found["spurious_timeouts"]
        share: NDArray[np.float64] = 100 - 100 * found["detected_spurious"] / signals
        return share

    times, shares = rack["time_s"][slow], without_verdict(rack)[slow]
    median, by_counting = (f"{np.median(found['time_s']):.1f}" for found in (rack, counting))
    longest, least = math.ceil(counting["time_s"].max()), math.ceil(without_verdict(counting).max())
    return (
        f"The median is {median} s with RACK-TLP and {by_counting} by counting, but {slow.sum()} of {len(slow)} "
        f"downloads take {times.min():.0f} to {times.max():.0f} s with RACK-TLP, and none more than {longest} by "
        f"counting. In these runs {shares.min():.0f} to {shares.max():.0f} % of the loss signals end without a "
        "verdict: the ACK that covers all retransmissions is one that a retransmission has caused, so its echo proves "
        f"nothing. By counting the share is {least} % at most"
    )


def _spikes() -> list[str]:
    reno, eifel = (reproduce(f"spikes.figure{number}") for number in (7, 8))
    begin_s, end_s = spikes._stall_s(reno.result(run=spikes.STATED))

    def segments(measured: Measured) -> list[str]:
        return [f"{measured.mean('segments', run=run):.0f}" for run in (spikes.STATED, "drawn")]

    (stated, drawn), eifels = segments(reno), segments(eifel)
    return [
        f"At the {spikes.STATED} of its section II Reno has no spurious timeout in a run with losses.",
        f"It stalls from {begin_s:.1f} to {end_s:.1f} s and delivers {stated} segments.",
        f"At {spikes.LOSSY_KBPS} kbit/s, which are fitted to figure 8, it has the timeout, and delivers {drawn}.",
        f"Eifel stalls at both, and delivers {' and '.join(eifels)}",
        f"So the losses wait for a timeout: {spikes._stalled_s(eifel.result()):.1f} s in the run of",
    ]


def _ns2() -> list[str]:
    """Returns what docs/internals/ns2.md says of plain SCTP beside ns-2.35's. Its numbers need ns-2."""
    lines = (INTERNALS / "ns2.md").read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    spikes = [row for row in cells if len(row) == 6 and (" to " in row[0] or row[0] == "never") and row[1].isdigit()]
    apart = [abs(int(row[here]) / int(row[there]) - 1) for row in spikes for there, here in ((1, 2), (4, 5))]
    late = [row for row in cells if len(row) == 7 and re.fullmatch(r"[\d.]+ %", row[0])]
    today, then = ([float(row[place].rstrip(" %")) for row in late] for place in (3, 5))
    assert max(today) < 0 < min(then)
    return [
        f"sends as much as that agent over spikes, within {math.ceil(100 * max(apart))} %",
        f"With packets that come 60 ms late it sends {-max(today):.0f} to {-min(today):.0f} % less by RFC 9260's "
        f"rules, and {min(then):.0f} to {max(then):.0f} % more by RFC 2960's",
    ]


def _set() -> str:
    """Returns what the fitted setting decides of tables 1 to 4."""
    segments = math.ceil(responding.BYTES / responding.FIT.payload_bytes)
    return f"of which the paper has {responding.BYTES // 1000} segments and this setting {segments}"


def quotes() -> list[tuple[str, str]]:
    """Returns the sentences, and the page that has to contain them. Takes some seconds."""
    return quoted(
        FINDINGS,
        _set(),
        *_ns2(),
        *_responding(),
        _back_off(),
        *_thesis(),
        *_dualrtt(),
        *_short_queue(),
        *_sctp(),
        _slow_runs(),
        *_spikes(),
    )
