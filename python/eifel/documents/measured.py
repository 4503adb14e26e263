"""Measured numbers of the documents: `python -m eifel.documents measured [ID…]` measures all again, or these.

Writes `docs/internals/measured.json` (the results of the artefacts named here, the number of failing
claims, the digests of definitions and of sample runs), that number in `papers/failing.toml` too, and
the tables between
`<!-- measured: NAME -->` and `<!-- end -->`. `make test`
compares the pages with that file and the digests with the artefacts. It also measures again
whatever takes a second. Results stored in `out` are not measured again.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from eifel.documents import (
    FINDINGS,
    ROOT,
    TIMERS,
    captures,
    detectors,
    failing,
    filled,
    name_missing,
    quoted,
    samples,
    sentences,
    spaced,
    stored,
    table,
    timers,
    undo,
    wire_sentences,
    worlds,
)
from eifel.documents.stored import STORE, Stored, mean, row_of
from eifel.papers import artefacts
from eifel.papers.dualrtt import parking_lot
from eifel.papers.published import numbers
from eifel.papers.sctp import concurrent
from eifel.papers.spikes import settings as spikes
from eifel.reproduction import reproduce
from eifel.studies.settings import LINUX

ARTEFACTS = (
    "responding.table1",
    "responding.table2",
    "responding.table3",
    "responding.table4",
    "responding.rfc5681",
    "responding.adaptation",
    "responding.sharing",
    "detectors.adapting",
    "responding.calibration",
    "responding.front",
    "thesis.figure5_16",
    "thesis.timers",
    "dualrtt.table5",
    "dualrtt.model",
    "sctp.figure11a",
    "sctp.figure11b",
    "sctp.figure12",
    "sctp.figure14a",
    "sctp.figure14b",
    "sctp.policy",
    "sctp.changeover",
    "sctp.concurrent",
    "sctp.responses",
    "sctp.by_time",
    "spikes.table1",
    "spikes.figure6",
    "spikes.figure10",
    "spikes.figure11",
    "dualrtt.figure13",
    "dualrtt.figure15",
    *detectors.KEPT,
    *captures.KEPT,
    *undo.KEPT,
)
_CHANGES = ("every 10 s", "never")
_PRINTED_14A = numbers("sctp", "figure14a")
INTERVALS = (
    "spikes.table1",
    *captures.INTERVALS,
    *undo.INTERVALS,
    *(
        f"detectors.{one}"
        for one in ("neighbours", "liars", "liars_found", "liars_fast", "liars_repair", "liars_sctp", "beside", "proof")
    ),
)
"""The artefacts whose 95 % intervals are kept too."""
SHOWN = (
    ("table1", {"eifel": False}, "Reno-SACK, no other traffic"),
    ("table1", {"eifel": True}, "... with Eifel"),
    ("table2", {"recovery": "reno-sack", "eifel": False}, "Reno-SACK, congested"),
    ("table2", {"recovery": "reno-sack", "eifel": True}, "... with Eifel"),
    ("table2", {"recovery": "newreno-sack", "eifel": False}, "NewReno-SACK, congested"),
    ("table2", {"recovery": "newreno-sack", "eifel": True}, "... with Eifel"),
    ("table2", {"recovery": "fack", "eifel": False}, "FACK, congested"),
    ("table2", {"recovery": "fack", "eifel": True}, "... with Eifel"),
    ("table3", {"restore": "option-2"}, "... option 2"),
    ("table3", {"restore": "option-3"}, "... option 3"),
)
"""The rows of tables 1-3 in docs/internals/findings.md."""
COLUMNS = {"time_s": 1, "retransmissions": 0, "spurious_rtos": 2, "genuine_rtos": 2}
"""The columns that judge the tables, and their digits in docs/internals/findings.md."""


def tables(store: Stored) -> str:
    """Returns rows of tables 1-3, published beside measured. Values outside the tolerance are bold."""
    lines = [
        "| | time, s | | segments sent | | retransmitted | | spurious timeouts | | genuine timeouts | |",
        "|---|" + "---:|" * 10,
        "| |" + " paper | here |" * 5,
    ]
    for number, keys, name in SHOWN:
        row = row_of(store, f"responding.{number}", keys)
        cells = []
        for column, digits in {"time_s": 1, "segments_sent": 0, **COLUMNS}.items():
            here = f"{row['measured'][column]:.{digits}f}"
            cells += [f"{row['published'][column]:g}", here if row["agrees"][column] else f"**{here}**"]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def agreement(store: Stored) -> str:
    """Returns how many values in all rows of tables 1-4 are within their tolerance, as a sentence."""
    rows = [row for number in "1234" for row in store[f"responding.table{number}"]["rows"] if row["published"]]
    counts = {column: sum(row["agrees"][column] for row in rows) for column in COLUMNS}
    words = [f"{counts['time_s']} times", f"{counts['retransmissions']} counts of what is retransmitted"]
    words += [f"{counts['spurious_rtos']} of spurious and {counts['genuine_rtos']} of genuine timeouts"]
    return f"Of the {len(rows)} rows of tables 1-4, " + ", ".join(words) + " are within."


SETTINGS = ("RFC 2960", "RFC 2960, both ways", "ns-2", "ns-2, both ways", "RFC 9260, both ways")
"""The settings of figures 11 to 14 in docs/internals/findings.md. The first is drawn."""


def sctp(store: Stored) -> str:
    """Returns Eifel's printed gains beside the measured ones, with each setting that decides them."""
    often, rarely = {"spikes": "10-20 s"}, {"spikes": "70-80 s"}
    small, large = {"window": "64 kB"}, {"window": "128 kB"}
    rows: list[tuple[str, str, str, str, Mapping[str, str], str]] = [
        ("packets in 200 s, a spike every 10 to 20 s", "11b", "highest_tsn", "plain", often, "+1000"),
        ("... against DupTSN", "11b", "highest_tsn", "dup-tsn", often, "+1000"),
        ("... every 70 to 80 s, against plain", "11b", "highest_tsn", "plain", rarely, "+400"),
        ("s for 4 MB, spikes, one path", "14a", "time_s", "plain", small, "-35"),
        ("... against DupTSN", "14a", "time_s", "dup-tsn", small, "-15"),
        ("... a window of 128 kB, against plain", "14a", "time_s", "plain", large, "-35"),
        ("... against DupTSN", "14a", "time_s", "dup-tsn", large, "-15"),
        ("s for 4 MB, spikes, two paths", "14b", "time_s", "plain", small, "-17"),
        ("... against DupTSN", "14b", "time_s", "dup-tsn", small, "-10"),
    ]
    gains = []
    for title, figure, column, over, keys, printed in rows:
        name, digits = f"sctp.figure{figure}", 0 if column == "highest_tsn" else 1
        line = [title, printed]
        for setting in SETTINGS:
            other, own = (mean(store, name, column, sender=s, setting=setting, **keys) for s in (over, "eifel"))
            line.append(f"{own - other:+.{digits}f}")
        other = mean(store, name, column, sender=over, setting=SETTINGS[0], **keys)
        gains.append([*line, f"{other:.{digits}f}"])
    return table(("Eifel against plain SCTP", "paper", *SETTINGS, "plain SCTP, or DupTSN"), gains, 1)


def ranking(store: Stored) -> str:
    """Returns table I: each cell's printed order, whether it is confirmed, and each sender's delivery."""
    linux = (LINUX, spikes.NOT_UNDONE, spikes.LATER_TIMER)
    beside = ("sctp, ns-2", "sctp, RFC 9260", "rfc6675+eifel", "rack+eifel", "sctp+eifel")
    senders = (*spikes.PAPERS, *linux, *beside)
    lines = []
    cells: dict[tuple[str, ...], dict[str, Mapping[str, Any]]] = {}
    for row in store["spikes.table1"]["rows"]:
        keys = row["keys"]
        cells.setdefault((keys["case"], keys["bandwidth"], keys["window"]), {})[keys["sender"]] = row
    for cell, rows in cells.items():
        order = sorted((s for s in rows if "rank" in rows[s]["published"]), key=lambda s: rows[s]["published"]["rank"])
        low, high = (min(rows[s]["interval95"]["lead"][end] for s in order[:-1]) for end in (0, 1))
        verdict = "contradicted" if high < 0 else "confirmed" if low > 0 else "tied"
        own = sorted(order, key=lambda s: rows[s]["measured"]["own_rank"])
        once = "the same" if own == order else ", ".join(own)
        shares = (f"{rows[s]['measured']['share']:.1f}" for s in senders)
        lines.append([f"{cell[0]}, {cell[1]} rate, {cell[2]} window", ", ".join(order), once, verdict, *shares])
    return table(("case", "printed order", "spike at 28 s", "60 spikes", *senders), lines, 4)


BLOCKS: Mapping[str, tuple[str, Callable[[Stored], str]]] = {
    "tables": (FINDINGS, tables),
    "agreement": (FINDINGS, agreement),
    "sctp": (FINDINGS, sctp),
    "ranking": (FINDINGS, ranking),
    **timers.BLOCKS,
    **detectors.BLOCKS,
    **worlds.BLOCKS,
    **captures.BLOCKS,
    **undo.BLOCKS,
}
"""The blocks between marks: the page, and the function for the content."""


def _gain(store: Stored, window: str) -> float:
    times = [
        mean(store, "responding.rfc5681", "time_s", window=window, congested=False, recovery="reno-sack", eifel=eifel)
        for eifel in (False, True)
    ]
    return times[0] / times[1] - 1


def _retransmitted(store: Stored) -> str:
    """Returns how many segments the paper's senders with Eifel retransmit for each one here, over tables 1 to 4."""
    times = [
        row["published"]["retransmissions"] / row["measured"]["retransmissions"]
        for number in "1234"
        for row in store[f"responding.table{number}"]["rows"]
        if row["published"] and row["keys"].get("eifel", True)
    ]
    return f"With Eifel they send {min(times):.1f} to {max(times):.1f} times as many segments again"


def _dualrtt(store: Stored) -> list[str]:
    """Returns the sentences of docs/internals/findings.md about tables IV and V and the model of tau."""
    rows = store["dualrtt.table5"]["rows"]
    printed = [
        abs(row["measured"][column] - value) <= 5
        for row in rows
        for column, value in row["published"].items()
        if column != "best"
    ]
    best = [(row["published"]["best"], row["measured"].get("best")) for row in rows if "best" in row["published"]]
    assert len(best) == 6 and all(printed == here for printed, here in best)
    spurious = spaced(sum(row["measured"]["eifel"] for row in rows))

    def missed(fitted_to: str, model: str) -> float:
        return mean(store, "dualrtt.model", "smt", fitted_to=fitted_to, model=model)

    fits = [
        f"{missed(fitted_to, 'as in the paper'):.1f} % {without}and {missed(fitted_to, 'with an intercept'):.1f} %"
        for fitted_to, without in (("all 168", "without an intercept "), ("those with timeouts", ""))
    ]
    dsack = [
        mean(store, "dualrtt.figure15", "over_reno", protocol="dsack", bottleneck_mbps=rate)
        / mean(store, "dualrtt.figure15", "over_reno", protocol=other, bottleneck_mbps=rate)
        for rate in parking_lot.BOTTLENECK_MBPS
        for other in ("eifel", "dualrtt")
    ]
    slow, fast = (
        mean(store, "dualrtt.figure13", "over_reno", protocol="dualrtt", wireless_kbps=rate) for rate in (500, 1500)
    )
    return [
        f"DSACK achieves {100 * min(dsack):.0f} to {100 * max(dsack):.0f} % of their gain over Reno",
        f"with a wireless link of 500 kbit/s DualRTT delivers {slow:.0f} segments more than Reno, with 1500 kbit/s "
        f"{fast:.0f}",
        f"{sum(printed)} of {len(printed)} counts come out within 5 of 300, and so do all six best thresholds",
        f"Of the 50 400 spikes of the grid {spurious} cause a spurious timeout",
        f"DualRTT misses {missed('as printed', 'as in the paper'):.1f} % of the spurious timeouts",
        f"Refitted here to all 168 settings, it misses {fits[0]} with one; fitted to those settings alone that have "
        f"spurious timeouts, {fits[1]}",
    ]


def _spikes(store: Stored) -> list[str]:
    """Returns the sentences of docs/internals/findings.md about SCTP over spikes."""

    def sent(setting: str, sender: str) -> float:
        return mean(store, "sctp.figure11b", "highest_tsn", spikes="10-20 s", sender=sender, setting=setting)

    def gains(setting: str) -> tuple[float, float]:
        eifel, dup_tsn = (sent(setting, sender) - sent(setting, "plain") for sender in ("eifel", "dup-tsn"))
        return eifel, dup_tsn

    def seconds(figure: str, sender: str, setting: str = SETTINGS[0], window: str = "64 kB") -> float:
        return mean(store, f"sctp.figure{figure}", "time_s", window=window, sender=sender, setting=setting)

    def faster(setting: str) -> float:
        return seconds("14a", "plain", setting) - seconds("14a", "dup-tsn", setting)

    def by(policy: str, sender: str, case: str = "spikes") -> float:
        return mean(store, "sctp.policy", "highest_tsn", case=case, policy=policy, sender=sender)

    (halved, duplicates), (kept, none) = gains("RFC 2960"), gains("ns-2")
    more = 100 * (by("same-path", "eifel") / by("rfc9260", "eifel") - 1)
    needless = [
        mean(store, "sctp.policy", "spurious_retransmissions", case="spikes", policy="same-path", sender=sender)
        for sender in ("eifel", "plain")
    ]
    fails = "the primary fails"
    lost = 100 * (1 - by("same-path", "eifel", fails) / by("rfc9260", "eifel", fails))

    late, lossy = (
        [by(policy, "eifel", case) for policy in ("all-to-alternate", "same-path")]
        for case in ("2 % reordered", "1 % lost")
    )

    def moved(column: str, sender: str, changeovers: str = "every 10 s", rules: str = "RFC 2960") -> float:
        return mean(store, "sctp.changeover", column, changeovers=changeovers, sender=sender, rules=rules)

    sends = [moved("highest_tsn", "plain", often, rules) for rules in ("RFC 2960", "RFC 9260") for often in _CHANGES]

    def on(data_on: str, sender: str, rules: str = "RFC 9260") -> float:
        return mean(store, "sctp.concurrent", "highest_tsn", data_on=data_on, sender=sender, rules=rules)

    far = [
        on(data_on, sender)
        for data_on, sender in ((concurrent.FAR, "plain"), (concurrent.PRIMARY, "plain"), (concurrent.FAR, "eifel"))
    ]
    near = {f"{on(concurrent.NEAR, one) / on(concurrent.PRIMARY, one):.2f}" for one in ("plain", "eifel")}
    equal = [
        100 * (on(concurrent.EQUAL, "eifel", rules) / on(concurrent.EQUAL, "plain", rules) - 1)
        for rules in ("RFC 9260", "RFC 2960")
    ]
    gained = seconds("14a", "plain") - seconds("14a", "eifel")
    wide = [seconds("14a", sender, window="128 kB") for sender in ("plain", "eifel")]
    return [
        f"each causes a spurious fast retransmit and "
        f"{moved('retransmissions', 'plain') / moved('spurious_fast_retransmits', 'plain'):.0f} needless "
        f"retransmissions. "
        f"Plain SCTP sends {sends[0]:.0f} packets in 200 s instead of {sends[1]:.0f} by RFC 2960's rules, and "
        f"{sends[2]:.0f} instead of {sends[3]:.0f} by RFC 9260's. By RFC 2960's rules Eifel undoes all "
        f"{moved('undos', 'eifel'):.0f} fast retransmits and sends {moved('highest_tsn', 'eifel'):.0f}",
        f"plain SCTP sends {far[0]:.0f} packets in 200 s, hardly more than on one path ({far[1]:.0f}), and with Eifel "
        f"{far[2]:.0f}. If it is 20 ms longer, nothing is overtaken by three, and both send {' or '.join(near)} times "
        f"as much. Over two equal paths Eifel sends {-equal[0]:.0f} % less than plain SCTP by these rules, as an undo "
        f"restores a window that reorders again, and {equal[1]:.0f} % more by RFC 2960's",
        f"Eifel gains {halved:.0f} packets in 200 s and DupTSN {duplicates:.0f}. If ssthresh stays, as in ns-2's code, "
        f"Eifel gains {kept:.0f} and DupTSN {none:.0f}",
        f"takes {seconds('14a', 'plain'):.1f} s with plain SCTP, {seconds('14a', 'dup-tsn'):.1f} with DupTSN and "
        f"{seconds('14a', 'eifel'):.1f} with Eifel: the paper's order, and "
        f"{100 * gained / _PRINTED_14A['against_plain_s']:.0f} % of its gain",
        f"If it holds both directions, DupTSN is {faster('RFC 2960, both ways'):.1f} s faster than plain SCTP instead "
        f"of {faster('RFC 2960'):.1f}",
        f"takes {wide[0]:.1f} s with plain SCTP and {wide[1]:.1f} with Eifel",
        f"Here they take {seconds('14b', 'dup-tsn'):.1f} and {seconds('14b', 'eifel'):.1f} s, and plain SCTP "
        f"{seconds('14b', 'plain'):.1f}",
        f"Eifel sends {by('same-path', 'eifel'):.0f} packets, {more:.0f} % more, and avoids "
        f"{100 * (1 - needless[0] / needless[1]):.0f} % of the unnecessary retransmissions",
        f"the same path costs {lost:.0f} % of all packets",
        f"it sends {late[0]:.0f} packets instead of {late[1]:.0f} with 2 % reordered, and {lossy[0]:.0f} instead of "
        f"{lossy[1]:.0f} with 1 % lost",
    ]


def _reordering(store: Stored) -> list[str]:
    """Returns the sentences of docs/internals/findings.md about SCTP over reordering."""

    def sent(share: str, sender: str, setting: str = SETTINGS[0]) -> float:
        return mean(store, "sctp.figure11a", "highest_tsn", reordered=share, sender=sender, setting=setting)

    def less(share: str, sender: str, setting: str = SETTINGS[0]) -> str:
        return f"{100 * (1 - sent(share, sender, setting) / sent(share, 'eifel', setting)):.0f} %"

    def after(response: str) -> float:
        return mean(store, "sctp.responses", "highest_tsn", case="2 % reordered", response=response)

    today = "RFC 9260"
    bit, stamp = (
        mean(store, "sctp.figure11a", "goodput_bps", reordered="1 %", sender=s, setting=SETTINGS[0])
        for s in ("eifel-bit", "eifel")
    )
    times = [
        mean(store, "sctp.figure12", "time_s", sender=sender, setting=SETTINGS[0])
        for sender in ("plain", "eifel", "dup-tsn")
    ]
    return [
        f"{sent('1 %', 'plain'):.0f} packets in 200 s, and with Eifel {sent('1 %', 'eifel'):.0f}. Without any "
        f"reordering it sends {sent('none', 'plain'):.0f}",
        f"takes {times[0]:.1f} s with plain SCTP, {times[1]:.1f} with Eifel and {times[2]:.1f} with DupTSN",
        f"DupTSN sends {less('1 %', 'dup-tsn')} less than Eifel at 1 %, and {less('2 %', 'dup-tsn')} less at 2 %; by "
        f"RFC 9260's rules {less('1 %', 'dup-tsn', today)} and {less('2 %', 'dup-tsn', today)}, and "
        f"{less('5 %', 'dup-tsn', today)} at 5 %",
        f"At 1 % it gives {100 * (bit / stamp - 1):.1f} % more user data",
        f"With 5 % of the packets reordered it sends {less('5 %', 'eifel-bit')} fewer packets; by RFC 9260's rules "
        f"{less('5 %', 'eifel-bit', today)} fewer, and {less('10 %', 'eifel-bit', today)} at 10 %",
        f"RFC 4015's response sends {after('rfc4015'):.0f} packets in 200 s, RFC 3708's {after('rfc3708'):.0f}",
        f"Option 2 sends {after('option-2'):.0f}, option 3 {after('option-3'):.0f}, and no response at all "
        f"{after('none'):.0f}",
    ]


def _by_time(store: Stored) -> list[tuple[str, str]]:
    """Returns the sentences about losses that are found by time, and the pages that have to contain them."""

    def seconds(case: str, recover: str, detect: str = "no detection") -> float:
        return mean(store, "sctp.by_time", "time_s", case=case, recover=recover, detect=detect)

    def by(case: str) -> list[float]:
        return [seconds(case, one) for one in ("counting", "RACK-TLP", "RACK-TLP by time alone")]

    counting, rack, alone = by("1 % reordered")
    often = by("10 % reordered")
    undone = seconds("1 % reordered", "counting", "eifel")
    by_eifel = [seconds("15 % reordered", one, "eifel") for one in ("counting", "RACK-TLP")]
    spike = "a spike every 10 to 20 s"
    spiky = [seconds(spike, "RACK-TLP"), seconds(spike, "RACK-TLP", "eifel"), seconds(spike, "counting", "eifel")]
    return [
        (
            FINDINGS,
            f"takes {counting:.1f} s by counting, {rack:.1f} with RACK-TLP and {alone:.1f} with RACK-TLP by time alone "
            f"(`duplicate_threshold = 1000`). Eifel over counting takes {undone:.1f}, and without reordering a "
            f"download takes {seconds('nothing reordered', 'counting'):.1f}",
        ),
        (FINDINGS, f"At 10 % it is {often[0]:.1f}, {often[1]:.1f} and {often[2]:.1f} s"),
        (
            FINDINGS,
            f"RACK-TLP with Eifel is slower than counting with Eifel**: {by_eifel[1]:.1f} s against {by_eifel[0]:.1f}",
        ),
        (
            FINDINGS,
            f"Over delay spikes RACK-TLP takes {spiky[0]:.1f} s, with Eifel {spiky[1]:.1f}, and counting with Eifel "
            f"{spiky[2]:.1f}",
        ),
        ("README.md", f"by time alone plain SCTP takes {alone:.1f} s instead of {counting:.1f}"),
    ]


def quotes(store: Stored) -> list[tuple[str, str]]:
    """Returns sentences with measured numbers, and the pages that have to contain them."""
    alone = {"congested": False, "recovery": "reno-sack"}
    held = mean(store, "responding.rfc5681", "time_s", window="rfc5681", eifel=False, **alone)
    halved = mean(store, "responding.rfc5681", "time_s", window="of-its-time", eifel=False, **alone)
    left = _gain(store, "rfc5681")
    goodput = {row["keys"]["run"]: row["measured"]["goodput_bps"] for row in store["thesis.figure5_16"]["rows"]}
    drawn = goodput["age"] / goodput["full"] - 1
    large = 1 - goodput["age, 576 bytes"] / goodput["full, 576 bytes"]
    gains = [goodput[run] / goodput[run.replace("age", "full")] - 1 for run in goodput if run.startswith("age")]
    return [
        ("README.md", f"254 % there, {100 * left:.0f} % with RFC 5681's rule"),
        *quoted(
            FINDINGS,
            _retransmitted(store),
            f"transfer takes {held:.0f} s instead of {halved:.0f}, and Eifel gains {100 * left:.0f} %",
        ),
        *quoted(
            TIMERS,
            f"precise restarts gain {100 * drawn:.0f} % of throughput with packets of 296 bytes",
            f"and cost {100 * large:.0f} % with 576",
        ),
        *((FINDINGS, sentence) for sentence in (*_dualrtt(store), *_spikes(store), *_reordering(store))),
        *_by_time(store),
        *sentences.quotes(store),
        *wire_sentences.quotes(store),
        *timers.quotes(store),
        *worlds.quotes(store),
        *quoted(TIMERS, f"between a gain of {100 * max(gains):.0f} % and a loss of {-100 * min(gains):.0f} %"),
    ]


def written(page: str, store: Stored) -> str:
    text = (ROOT / page).read_text(encoding="utf-8")
    for name, (of, block) in BLOCKS.items():
        if of == page:
            text = filled(text, f"measured: {name}", block(store))
    return text


def measure(name: str) -> dict[str, Any]:
    """Returns an artefact's rows, and the digest of its definition."""
    found = reproduce(name, out=ROOT / "out").json()
    kept_of = {**detectors.KEPT, **captures.KEPT, **undo.KEPT}
    columns = kept_of.get(name, ())
    only = detectors.ONLY.get(name, {})
    rows = []
    for row in (row for row in found["rows"] if only.items() <= row["keys"].items()):
        chosen = [column for column in row["measured"] if not columns or column in columns]
        measured = {column: round(row["measured"][column], 6) for column in chosen}
        one = {"keys": row["keys"], "published": row["published"], "measured": measured, "agrees": row["agrees"]}
        if name in kept_of:
            one = {"keys": row["keys"], "measured": measured}
        if name in INTERVALS:
            between = row.get("interval95", {})
            one["interval95"] = {c: [round(end, 6) for end in between[c]] for c in chosen if c in between}
        rows.append(one)
    how: dict[str, Any] = {"definition": artefacts()[name].definition(), "repetitions": found["repetitions"]}
    how["failing"] = sum(not claim["holds"] for claim in found["claims"])
    if samples.has_sample(name):
        how["sample"] = samples.digest(name)
    if artefacts()[name].is_live:
        how |= {"kernel": os.uname().release, "on": datetime.now(UTC).date().isoformat()}
    return {**how, "rows": rows}


def main(names: Sequence[str]) -> None:
    """Measures everything, or the named artefacts, and writes the results."""
    before = stored.read() if names else {}
    found = {name: measure(name) if name in names or not names else before.get(name) for name in ARTEFACTS}
    store: dict[str, Any] = {name: one for name, one in found.items() if one is not None}
    STORE.write_text(stored.written(store), encoding="utf-8")
    failing.keep({name: one["failing"] for name, one in store.items() if "failing" in one})
    for page in sorted({page for page, _ in BLOCKS.values()}):
        (ROOT / page).write_text(written(page, store), encoding="utf-8")
    name_missing(quotes(store))
