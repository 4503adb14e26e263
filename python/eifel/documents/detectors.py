"""Tables and sentences of the documents measured by the judgement's artefacts; a part of `documents.measured`."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from eifel.documents import DETECTORS, LIARS, spaced, table, worlds
from eifel.documents.stored import Stored, half_width, mean, with_half
from eifel.studies import burst, cheating, liars_fast, liars_repair, proof, wire, wire_liars
from eifel.studies import neighbours as remedies
from eifel.studies.cheating import DEFAULT, LOSSES, PLAIN
from eifel.studies.cheating import LIES as EVERY_LIE
from eifel.studies.crossed_situations import CROSSED
from eifel.studies.settings import BUFFERS, HOLDS, LINUX, LOSES, ON_WIRE, QUEUES, RESPONSES_ON_WIRE

KEPT: Mapping[str, tuple[str, ...]] = {
    "detectors.truth": (
        *("found_timeouts", "found_fast_retransmits", "mixed", "needless_bytes"),
        *("true_positives", "false_negatives", "undecided_needless"),
        *("false_positives", "true_negatives", "undecided_needed", "mixed_undone", "mixed_kept", "undecided_mixed"),
    ),
    "detectors.wire": (
        *("found_timeouts", "found_fast_retransmits", "mixed", "needless_bytes", "delay_rtts"),
        *("true_positives", "false_negatives", "undecided_needless"),
        *("false_positives", "true_negatives", "undecided_needed", "mixed_undone", "mixed_kept", "undecided_mixed"),
    ),
    "detectors.responses": ("saved",),
    "detectors.burst": ("goodput_mbps", "runs_with_drops", "drops"),
    "detectors.neighbours": ("saved", "spurious_fast_retransmits"),
    "detectors.liars": (),
    "detectors.wire_liars": (),
    "detectors.wire_parts": ("saved", "time_s"),
    "detectors.liars_found": ("gain",),
    "detectors.liars_fast": ("gain",),
    "detectors.liars_repair": ("gain",),
    "detectors.liars_sctp": ("forged_echo", "forged_mark", "forged_dsack", "withheld_ack"),
    "detectors.beside": ("beside",),
    "detectors.proof": ("over_none", "over_plain"),
    "detectors.small_worlds": worlds.COLUMNS,
}
"""The artefacts, and the columns kept of each. An empty tuple means all."""
ONLY: Mapping[str, Mapping[str, str]] = {"detectors.liars": {"respond": "rfc4015"}}
"""The common keys of the kept rows, if not all rows are kept."""


TRUTH = {
    "Eifel, timestamps (the default: the original's own)": "eifel-timestamps",
    "the same, RFC 3522's plain comparison": "eifel-timestamps (plain)",
    "Eifel, marks": "eifel-bit",
    "DSACK": "dsack",
    "F-RTO with SACK": "f-rto-sack",
    "Eifel, else F-RTO": "eifel-or-f-rto",
    "DualRTT": "dual-rtt",
    "smallest round trip": "min-rtt",
    "Eifel, timestamps, or DSACK": "eifel-timestamps or dsack",
}
MET = ("eifel-timestamps", "eifel-timestamps (plain)", "eifel-or-f-rto", "eifel-bit", "f-rto-sack", "dsack")
MET_ON_WIRE = (wire.LINUX, wire.SHARED, wire.PLAIN, wire.F_RTO, wire.DSACK, wire.ORIGINAL)
"""The detectors that docs/internals/detectors.md shows for combined troubles."""


def _of(store: Stored, column: str, detector: str, situation: str = "all") -> float:
    return mean(store, "detectors.truth", column, situation=situation, detector=detector)


def episodes(
    store: Stored, detector: str, situation: str = "all", artefact: str = "detectors.truth"
) -> dict[str, float]:
    """Returns the number of episodes of each kind that a detector saw."""
    kinds = {
        "needless": ("true_positives", "false_negatives", "undecided_needless"),
        "mixed": ("mixed_undone", "mixed_kept", "undecided_mixed"),
        "needed": ("false_positives", "true_negatives", "undecided_needed"),
    }

    def of(column: str) -> float:
        return mean(store, artefact, column, situation=situation, detector=detector)

    return {kind: sum(map(of, columns)) for kind, columns in kinds.items()}


WIRE = {
    "**Linux** (`linux`)": wire.LINUX,
    "RFC 3522's plain comparison, F-RTO and DSACK (`eifel-f-rto-dsack`)": wire.SHARED,
    "RFC 3522's plain comparison": wire.PLAIN,
    "F-RTO with SACK": wire.F_RTO,
    "DSACK": wire.DSACK,
    "Eifel, else F-RTO": wire.SECOND_ACK,
    "Eifel, timestamps (the default: the original's own)": wire.ORIGINAL,
    "Eifel, marks": wire.MARKS,
    "DualRTT": "dual-rtt",
    "smallest round trip": "min-rtt",
}
"""The detectors on Linux's wire, Linux's own first."""


def on_wire(store: Stored) -> str:
    """Returns the table of detectors on Linux's wire."""
    rows = []
    for name, detector in WIRE.items():

        def of(column: str, detector: str = detector) -> float:
            return mean(store, wire.TITLE, column, situation=wire.ALL, detector=detector)

        kinds = episodes(store, detector, artefact=wire.TITLE)
        shares = [f"{of(column):.1f}" for column in ("found_timeouts", "found_fast_retransmits", "mixed")]
        wrong = f"{of('false_positives'):.0f} of {spaced(kinds['needed'])}"
        rows.append([name, *shares, wrong, f"{of('delay_rtts'):.2f}", f"{of('needless_bytes'):.0f}"])
    head = (
        "",
        "needless timeouts found %",
        "needless fast retransmits found %",
        "mixed called spurious %",
        "needed called spurious",
        "median delay, RTTs",
        "sent needlessly until the verdict, bytes",
    )
    return table(head, rows)


def truth(store: Stored) -> str:
    """Returns the table of detectors over the whole mix."""
    kinds = episodes(store, "eifel-bit")
    head = (
        "",
        "needless timeouts found %",
        "needless fast retransmits found %",
        f"of {spaced(kinds['mixed'])} mixed called spurious %",
        f"of {spaced(kinds['needed'])} needed called spurious",
        "sent needlessly until the verdict, bytes",
    )
    columns = {
        "found_timeouts": 2,
        "found_fast_retransmits": 2,
        "mixed": 1,
        "false_positives": 0,
        "needless_bytes": 0,
    }
    rows = [[name, *(f"{_of(store, c, one):.{n}f}" for c, n in columns.items())] for name, one in TRUTH.items()]
    return table(head, rows)


def crossed(store: Stored, artefact: str, detectors: Sequence[str]) -> str:
    """Returns the share of needless timeouts that each detector finds where two troubles meet."""

    def cell(detector: str, situation: str) -> str:
        try:
            return f"{mean(store, artefact, 'found_timeouts', situation=situation, detector=detector):.0f}"
        except KeyError:
            return ""

    def row(situation: str) -> list[str]:
        needless = episodes(store, "eifel-bit", situation, artefact)["needless"]
        return [situation, spaced(needless), *(cell(detector, situation) for detector in detectors)]

    rows = [row(name) for name in (wire.MET, *(situation.name for situation in CROSSED))]
    return table(("", "needless episodes", *(f"`{name}`" for name in detectors)), rows)


def bursts(store: Stored) -> str:
    """Returns goodput after a late undo, by queue."""
    parts = {8: "1/8", 15: "1/4", 30: "1/2", 60: "1", 120: "2"}
    ways = (("never", "none", "none"), *((burst.LATE, *w) for w in _WAYS))
    rows = []
    for buffer in BUFFERS:

        def of(column: str, way: Sequence[str], buffer: int = buffer) -> float:
            keys = dict(zip(("verdict", "response", "pace"), way, strict=True))
            return mean(store, "detectors.burst", column, buffer=buffer, **keys)

        goodput = [of("goodput_mbps", way) for way in ways]
        cells = [f"**{one:.2f}**" if one == max(goodput) else f"{one:.2f}" for one in goodput]
        drops = round(of("runs_with_drops", (burst.LATE, "option-1", "none")) * 24 / 100)
        rows.append([parts[buffer], *cells, f"{drops} of 24"])
    head = ("no undo", "flight + initial window", "full restore", "full restore, paced")
    where = "queue, in what the path holds (60 packets)"
    return table((where, *head, "runs with drops right after a full restore"), rows)


def bursts_on_wire(store: Stored) -> str:
    """Returns goodput of Linux's sender after an undo, by queue."""
    parts = {8: "1/8", 15: "1/4", 30: "1/2", 60: "1", 120: "2"}
    rows = []
    for buffer in BUFFERS:
        goodput = []
        for way in burst.ON_WIRE:
            keys = dict(zip(("verdict", "response", "pace"), way, strict=True))
            goodput.append(mean(store, "detectors.burst", "goodput_mbps", buffer=buffer, **keys))
        cells = [f"**{one:.2f}**" if one == max(goodput) else f"{one:.2f}" for one in goodput]
        rows.append([parts[buffer], *cells])
    head = ("no undo", "Linux's undo", "flight + initial window", "Linux's undo, not paced")
    return table(("queue, in what the path holds (60 packets)", *head), rows)


def responses_on_wire(store: Stored) -> str:
    """Returns what each response saves with Linux's sender, by queue and detector."""
    rows = []
    for detect in ON_WIRE:
        for respond in RESPONSES_ON_WIRE:
            keys = {"sender": LINUX, "detector": detect, "response": respond}
            cells = [f"{mean(store, 'detectors.responses', 'saved', queue=q, **keys):.1f}" for q in QUEUES]
            rows.append([f"`{detect}`", f"`{respond}`", *cells])
    return table(("detector", "response", "nothing lost (150 packets)", "the window's tail lost (75)"), rows)


_WAYS = (("rfc4015", "none"), ("option-1", "none"), ("option-1", "pacing"))
_REMEDIES: tuple[tuple[str, Any, bool], ...] = (
    ("nothing", remedies.NOTHING, False),
    ("a proxy", remedies.NOTHING, True),
    ("careful duplicate ACKs", remedies.CAREFUL, False),
    ("DualRTT", "dual-rtt", False),
    ("DualRTT, and a proxy", "dual-rtt", True),
    ("DualRTT, careful after its verdict too", remedies.BLOCKED, False),
    ("Eifel by timestamps", remedies.EIFEL, False),
)


def neighbours(store: Stored) -> str:
    def of(queue: int, remedy: str, proxy: bool) -> tuple[float, float]:
        keys = {"queue": queue, "sender": "reno", "remedy": remedy, "proxy": proxy}
        name = "detectors.neighbours"
        return mean(store, name, "saved", **keys), half_width(store, name, "saved", **keys)

    best = {queue: round(max(of(queue, *way)[0] for _, *way in _REMEDIES)) for queue in (HOLDS, LOSES)}
    rows = []
    for name, remedy, proxy in _REMEDIES:
        cells = []
        for queue in (HOLDS, LOSES):
            saved, half = of(queue, remedy, proxy)
            cell = f"{saved:.0f} ± {half:.0f}" if (remedy, proxy) != (remedies.NOTHING, False) else "0"
            cells.append(f"**{cell}**" if round(saved) == best[queue] else cell)
        keys = {"queue": HOLDS, "sender": "reno", "remedy": remedy, "proxy": proxy}
        again = mean(store, "detectors.neighbours", "spurious_fast_retransmits", **keys)
        rows.append([name, *cells, f"{again:.1f}" if again else "0"])
    return table(
        (
            "Reno, without SACK",
            "nothing lost (150 packets)",
            "the window's tail lost (75)",
            "spurious fast retransmits, nothing lost",
        ),
        rows,
    )


_ON_WIRE: tuple[tuple[str, Any, bool], ...] = (
    ("nothing", remedies.NOTHING, False),
    ("a proxy", remedies.NOTHING, True),
    ("Linux's detector and undo", LINUX, False),
    ("the same, and a proxy", LINUX, True),
    ("`eifel-f-rto-dsack`, Linux's undo", remedies.SHARED, False),
)


def neighbours_on_wire(store: Stored) -> str:
    """Returns what a proxy and detection save with Linux's sender, by queue."""
    name = "detectors.neighbours"
    rows = []
    for shown, remedy, proxy in _ON_WIRE:
        keys = {"sender": LINUX, "remedy": remedy, "proxy": proxy}
        cells = []
        for queue in QUEUES:
            saved, half = (of(store, name, "saved", queue=queue, **keys) for of in (mean, half_width))
            cells.append("0" if shown == "nothing" else f"{saved:.1f} ± {half:.1f}")
        again = mean(store, name, "spurious_fast_retransmits", queue=HOLDS, **keys)
        rows.append([shown, *cells, f"{again:.1f}" if again else "0"])
    head = ("Linux's sender", "nothing lost (150 packets)", "the window's tail lost (75)")
    return table((*head, "spurious fast retransmits, nothing lost"), rows)


LIES = (
    ("**the default**, Eifel by the original's timestamp, `forged-echo`", DEFAULT, "forged_echo"),
    ("the same, `guessed-echo`", DEFAULT, "guessed_echo"),
    ("... or the second ACK (`eifel-or-f-rto`), `forged-echo`", "eifel-or-f-rto", "forged_echo"),
    ("the same, `withheld-ack`", "eifel-or-f-rto", "withheld_ack"),
    ('RFC 3522\'s plain comparison (`proof = "older"`), `forged-echo`', PLAIN, "forged_echo"),
    ("Eifel by a bit, `forged-mark`", "eifel-bit", "forged_mark"),
    ("DSACK, `forged-dsack`", "dsack", "forged_dsack"),
    ("F-RTO, `withheld-ack`", "f-rto", "withheld_ack"),
    ("minimum round trip, `withheld-ack`", "min-rtt", "withheld_ack"),
)
BESIDE = (
    ("**the default**, `forged-echo`", DEFAULT, "forged-echo"),
    ("the same, `guessed-echo`", DEFAULT, "guessed-echo"),
    ("plain comparison, `forged-echo`", PLAIN, "forged-echo"),
    ("DSACK, `forged-dsack`", "dsack", "forged-dsack"),
    ("Eifel by a bit, `forged-mark`", "eifel-bit", "forged-mark"),
)
GRANTS = {"once a round trip": "once-a-round-trip", "always": "always"}


def _gains(store: Stored, artefact: str, column: str, **keys: Any) -> list[str]:
    losses = dict.fromkeys(row["keys"]["loss"] for row in store[artefact]["rows"])
    return [with_half(store, artefact, column, loss=loss, **keys) for loss in losses]


def _by_grant(name: str, gains: Callable[..., list[str]]) -> list[list[str]]:
    """Returns rows for both grants, or one row if they are equal."""
    (once, limited), (always, free) = ((shown, gains(grant=grant)) for shown, grant in GRANTS.items())
    return [[name, "either", *limited]] if limited == free else [[name, once, *limited], ["", always, *free]]


def lies(store: Stored) -> str:
    rows = []
    for name, detect, lie in LIES:
        rows += _by_grant(name, partial(_gains, store, "detectors.liars", lie, detect=detect, respond="rfc4015"))
    return table(("detector, and the lie against it", "grant", "loss 0.1 %", "1 %", "5 %"), rows)


WIRE_LIARS = {
    wire_liars.LINUX: "**Linux** (`linux`, `linux`, `always`)",
    wire_liars.ONCE: "the same, an undo once a round trip",
    wire_liars.CAREFUL: "the same, `unless-losses-follow`",
    wire_liars.SHARED: "`eifel-f-rto-dsack`, `always`",
    wire_liars.SHARED_CAREFUL: "the same, `unless-losses-follow`",
    wire_liars.PLAIN: "RFC 3522's plain comparison, `always`",
    wire_liars.F_RTO: "F-RTO with SACK, `always`",
    wire_liars.DEFAULT: "the original's own timestamp, `always`",
}


def wire_lies(store: Stored) -> str:
    """Returns the largest gain of all lies against each sender on Linux's wire, with the lie's name."""
    rows = []
    for sender, name in WIRE_LIARS.items():
        cells = []
        for loss in LOSSES:
            keys = {"sender": sender, "loss": loss}
            gains = {lie: mean(store, wire_liars.TITLE, lie.replace("-", "_"), **keys) for lie in EVERY_LIE}
            best = max(gains, key=lambda lie: gains[lie])
            named = f" (`{best}`)" if gains[best] > cheating.BOUND else ""
            cells.append(f"{gains[best]:.2f}{named}")
        rows.append([name, *cells])
    return table(("sender on Linux's wire", *(f"loss {100 * loss:g} %" for loss in LOSSES)), rows)


def beside(store: Stored) -> str:
    rows = []
    for name, detect, lie in BESIDE:
        rows += _by_grant(name, partial(_gains, store, "detectors.beside", "beside", detect=detect, lie=lie))
    return table(("detector of both, and the lie", "grant", "loss 0.1 %", "1 %", "5 %"), rows)


FOUND = {
    DEFAULT: "**the default**",
    "eifel-or-f-rto": "... or the second ACK (`eifel-or-f-rto`)",
    PLAIN: "RFC 3522's plain comparison",
    "eifel-bit": "Eifel by a bit",
    "dsack": "DSACK",
    "f-rto": "F-RTO",
    "f-rto-sack": "F-RTO with SACK",
    "dual-rtt": "DualRTT",
    "min-rtt": "minimum round trip",
}


def found(store: Stored) -> str:
    """Returns the gain of the best liar that a search found, by detector."""
    rows = []
    for detect, name in FOUND.items():
        rows += _by_grant(name, partial(_gains, store, "detectors.liars_found", "gain", detect=detect))
    return table(("detector", "grant", "loss 0.1 %", "1 %", "5 %"), rows)


SENDERS = {
    liars_repair.DEFAULT: "the default: Reno, half of FlightSize (RFC 5681)",
    liars_repair.UNDETECTED: "the same without a detector",
    liars_repair.HALF_OF_CWND: 'half of cwnd (`ssthresh_from = "window"`)',
    liars_repair.RACK: "recovery by RACK-TLP",
    "cubic": "CUBIC",
}


def fast(store: Stored) -> str:
    """Returns a receiver's gain from the best lie that a search finds, with large windows."""
    rows = [[name, *_gains(store, "detectors.liars_fast", "gain", sender=sender)] for sender, name in SENDERS.items()]
    return table(("sender", *(f"loss {100 * loss:g} %" for loss in liars_fast.LOSSES)), rows)


def repair(store: Stored) -> str:
    """Returns the gain of a receiver that never ends a repair."""
    gain = partial(with_half, store, "detectors.liars_repair", "gain")
    rows = [
        [name, *(gain(sender=sender, rate_mbps=rate) for rate in liars_repair.PATHS)]
        for sender, name in SENDERS.items()
    ]
    return table(("sender", *(f"{rate} Mbit/s" for rate in liars_repair.PATHS)), rows)


OVER_SCTP = (
    ("**plain SCTP**, the default", "none", "forged_echo"),
    ("**Eifel by each original's own timestamp**", "eifel", "forged_echo"),
    ("Eifel by older timestamps, as the paper", "eifel-older", "forged_echo"),
    ("Eifel by the bit, then DupTSN", "eifel-bit", "forged_mark"),
    ("", "eifel-bit", "forged_dsack"),
    ("DupTSN", "dup-tsn", "forged_dsack"),
    ("F-RTO", "f-rto", "withheld_ack"),
)
"""The detectors of an association, and the listed lies that gain most against each."""


def over_sctp(store: Stored) -> str:
    rows = [
        [name, f"`{lie.replace('_', '-')}`", *_gains(store, "detectors.liars_sctp", lie, detect=detect)]
        for name, detect, lie in OVER_SCTP
    ]
    return table(("detector", "lie", "loss 0.1 %", "1 %", "5 %"), rows)


def proven(store: Stored) -> str:
    """Returns the cost of accepting only the original's own timestamp."""
    cell = partial(with_half, store, "detectors.proof")
    rows = []
    for path in dict.fromkeys(row["keys"]["path"] for row in store["detectors.proof"]["rows"]):
        for recovery in proof.SENDERS:
            keys = {"path": path, "recovery": recovery}
            gains = [cell("over_none", proof=which, **keys) for which in (proof.PLAIN, proof.DEFAULT)]
            sender = "Linux's" if recovery == LINUX else f"the default, `{recovery}`"
            rows.append([path, sender, *gains, cell("over_plain", proof=proof.DEFAULT, **keys)])
    head = ("", "sender", "plain comparison, over none", "the default, over none", "the default, over plain")
    return table(head, rows)


BLOCKS: Mapping[str, tuple[str, Callable[[Stored], str]]] = {
    "wire": (DETECTORS, on_wire),
    "truth": (DETECTORS, truth),
    "crossed on wire": (DETECTORS, partial(crossed, artefact=wire.TITLE, detectors=MET_ON_WIRE)),
    "crossed": (DETECTORS, partial(crossed, artefact="detectors.truth", detectors=MET)),
    "bursts on wire": (DETECTORS, bursts_on_wire),
    "bursts": (DETECTORS, bursts),
    "responses on wire": (DETECTORS, responses_on_wire),
    "neighbours on wire": (DETECTORS, neighbours_on_wire),
    "neighbours": (DETECTORS, neighbours),
    "wire lies": (LIARS, wire_lies),
    "lies": (LIARS, lies),
    "found": (LIARS, found),
    "fast": (LIARS, fast),
    "repair": (LIARS, repair),
    "over sctp": (LIARS, over_sctp),
    "proven": (LIARS, proven),
    "beside": (LIARS, beside),
}
