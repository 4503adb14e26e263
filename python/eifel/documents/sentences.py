"""Sentences of the documents with the judgement's numbers; a part of `documents.measured`."""

import math
from collections.abc import Sequence

from eifel.documents import AUTHOR, DETECTORS, FINDINGS, LIARS, PARTIAL_CREDIT, quoted, spaced
from eifel.documents.detectors import episodes
from eifel.documents.stored import Stored, mean
from eifel.papers.responding.adaptation import GENUINE, OSCILLATES, SPIKES
from eifel.papers.spikes import settings as spikes
from eifel.studies import adapting as adapting_study
from eifel.studies import proof as proof_study
from eifel.studies import wire, wire_liars
from eifel.studies.cheating import DEFAULT, LOSSES, PLAIN
from eifel.studies.proof import RECOVERIES
from eifel.studies.settings import HOLDS, LINUX, LOSES, SACK_SENDERS
from eifel.studies.truth import MET, PROVING


def truth(store: Stored) -> list[tuple[str, str]]:
    def found(detector: str, situation: str = "all", column: str = "found_timeouts") -> str:
        return f"{mean(store, 'detectors.truth', column, situation=situation, detector=detector):.0f}"

    def never(column: str, detectors: Sequence[str]) -> str:
        of = [mean(store, "detectors.truth", column, situation="all", detector=detector) for detector in detectors]
        return "some" if any(of) else "none"

    kinds = episodes(store, "eifel-bit")
    total, needed, mixed = sum(kinds.values()), spaced(kinds["needed"]), found("eifel-timestamps", column="mixed")
    wrong, kept = never("false_positives", PROVING), never("mixed", ("f-rto", "f-rto-sack", "dsack"))
    early, late = (float(found(name, "spike", "needless_bytes")) for name in ("eifel-timestamps", "dsack"))
    lost, copied, closed = "lost ACKs", "duplicates", "spikes with closing windows"
    return [
        *quoted(
            DETECTORS,
            f"there are {spaced(total)} episodes: {spaced(kinds['needless'])} needless, "
            f"{spaced(kinds['mixed'])} mixed, {needed} needed",
            f"Eifel by marks finds {found('eifel-bit', lost)} % of the spurious timeouts, "
            f"F-RTO {found('f-rto', lost)}, Eifel by timestamps {found('eifel-timestamps', lost)}, "
            f"DSACK {found('dsack', lost)}",
            f"Eifel by timestamps then finds {found('eifel-timestamps', copied)} %, since step 5 ignores ACKs that "
            f"carry a DSACK. F-RTO finds {found('f-rto', copied)} %, with SACK {found('f-rto-sack', copied)}",
        ),
        *quoted(
            FINDINGS,
            f"Of {needed} episodes in which all was lost Eifel, DSACK and F-RTO called {wrong} spurious; the detector "
            f"that compares with the smallest round trip called {found('min-rtt', column='false_positives')} so. "
            f"Of the needless timeouts Eifel found {found('eifel-timestamps')} %, F-RTO {found('f-rto-sack')} %, and "
            f"DSACK {found('dsack')} %",
            f"In {100 * kinds['mixed'] / total:.0f} of 100 episodes the first retransmission was needless and a later "
            f"one was not. Eifel calls {mixed} % of these spurious; F-RTO and DSACK call {kept} so",
        ),
        ("README.md", f"in which all was lost, of {needed}. But Eifel calls {mixed} % of those spurious"),
        *quoted(
            AUTHOR,
            f"Of {needed} episodes in which all was lost {wrong} was called spurious",
            f"after {late / early:.0f} times as many needless bytes",
            f"they find {found('eifel-timestamps', MET)} % of the spurious timeouts, and `eifel-or-f-rto` "
            f"{found('eifel-or-f-rto', MET)} %",
            f"it finds {found('f-rto-sack', MET)} %, and {found('f-rto-sack', closed)} % where windows close",
        ),
    ]


def on_wire(store: Stored) -> list[tuple[str, str]]:
    """Returns the sentences about Linux's wire."""

    def of(column: str, detector: str) -> float:
        return mean(store, wire.TITLE, column, situation=wire.ALL, detector=detector)

    found = {name: f"{of('found_timeouts', name):.0f}" for name in wire.DETECTORS}
    needed, seen = (episodes(store, name, artefact=wire.TITLE)["needed"] for name in (wire.LINUX, wire.SHARED))

    def met(detector: str) -> str:
        return f"{mean(store, wire.TITLE, 'found_timeouts', situation=wire.MET, detector=detector):.0f}"

    def wrong(detector: str) -> str:
        calls = mean(store, wire.TITLE, "false_positives", situation=wire.MET, detector=detector)
        return f"{calls:.0f} of {spaced(episodes(store, detector, wire.MET, wire.TITLE)['needed'])}"

    gains = (row["measured"] for row in store[wire_liars.TITLE]["rows"] if row["keys"]["sender"] == wire_liars.LINUX)
    most = max(gain for measured in gains for gain in measured.values())
    return [
        (
            "README.md",
            f"it finds {found[wire.LINUX]} % of the needless timeouts and "
            f"{of('found_fast_retransmits', wire.LINUX):.0f} % of the needless fast retransmits, and was wrong about "
            f"{of('false_positives', wire.LINUX):.0f} of {spaced(needed)} needed ones.",
        ),
        ("README.md", f"A receiver that lies gains up to {most:.1f} times its goodput from it"),
        ("README.md", f"this project's default detector finds {found[wire.ORIGINAL]} %."),
        *quoted(
            DETECTORS,
            f"It finds {found[wire.SHARED]} % of the needless timeouts and "
            f"{of('found_fast_retransmits', wire.SHARED):.1f} % of the needless fast retransmits, and called "
            f"{of('false_positives', wire.SHARED):.0f} of {spaced(seen)} needed episodes spurious",
        ),
        *quoted(
            DETECTORS,
            f"`linux` finds {met(wire.LINUX)} % where two troubles meet, and `eifel-f-rto-dsack` {met(wire.SHARED)}.** "
            f"It was wrong about {wrong(wire.LINUX)} needed episodes, and `eifel-f-rto-dsack` about "
            f"{wrong(wire.SHARED)}",
        ),
        *quoted(
            AUTHOR,
            f"`eifel-timestamps` then finds {found[wire.ORIGINAL]} % of the needless timeouts, RFC 3522's plain "
            f"comparison {found[wire.PLAIN]} %, `eifel-f-rto-dsack` {found[wire.SHARED]} %, and Linux's own detector "
            f"{found[wire.LINUX]} %",
        ),
        *quoted(LIARS, f"Against Linux a liar gains up to {most:.1f} times its goodput"),
    ]


def responses(store: Stored) -> list[tuple[str, str]]:
    """Returns docs/author.md's sentences about responses and loss recovery."""

    def saved(queue: int, sender: str, response: str) -> float:
        keys = {"queue": queue, "sender": sender, "detector": "eifel-timestamps", "response": response}
        return mean(store, "detectors.responses", "saved", **keys)

    costs = [-saved(LOSES, sender, response) for sender in SACK_SENDERS for response in ("option-2", "option-3")]
    kept = {response: saved(HOLDS, "rfc6675", response) for response in ("option-1", "option-2", "option-3")}
    cubic = "rack-tlp, PRR, CUBIC"
    full = ("option-1", "option-4", "option-4-ssthresh", "by-retransmissions", "partial-credit")
    lost = [-saved(LOSES, cubic, response) for response in full]
    third = saved(HOLDS, cubic, "option-1") / saved(HOLDS, "rfc6675", "option-1")
    return [
        *quoted(
            AUTHOR,
            f"a transfer takes {min(costs):.0f} to {max(costs):.0f} % longer",
            f"they save {kept['option-2']:.0f} and {kept['option-3']:.0f} %, where a full restore saves "
            f"{kept['option-1']:.0f}",
            f"a part of the window: {-saved(LOSES, 'newreno', 'option-1'):.0f} % more time",
            f"RFC 4015's response costs {-saved(LOSES, cubic, 'rfc4015'):.1f} % where a part of the window is lost, "
            f"within chance, and `as-carried` {-saved(LOSES, cubic, 'as-carried'):.1f} %; the others that restore the "
            f"window at once cost {min(lost):.0f} to {max(lost):.0f} %",
            f"an undo saves {100 * third:.0f} % of what it saves with Reno's window",
        ),
    ]


def liars(store: Stored) -> list[tuple[str, str]]:
    """Returns docs/internals/findings.md's sentences about a liar and its neighbour."""

    def least(grant: str) -> float:
        keys = {"detect": PLAIN, "lie": "forged-echo", "grant": grant}
        return 100 * min(mean(store, "detectors.beside", "beside", loss=loss, **keys) for loss in LOSSES)

    most = max(
        mean(store, "detectors.liars", "forged_echo", detect=PLAIN, grant="once-a-round-trip", loss=loss)
        for loss in LOSSES
    )
    return [
        (
            FINDINGS,
            f"gets up to {most:.1f} times its goodput. An honest flow beside it keeps as little as "
            f"{least('once-a-round-trip'):.0f} % of its own, and "
            f"{least('always'):.0f} % where undos are not limited",
        )
    ]


def partial_credit() -> list[tuple[str, str]]:
    """Returns AIMD windows for decreases b beside Reno's: sqrt((2 - b) / (2 b p)) for increases of one."""
    ours, reno = (math.sqrt((2 - decrease) / (2 * decrease)) for decrease in (0.3, 0.5))
    return [
        *quoted(
            PARTIAL_CREDIT,
            f"= {ours:.2f} / sqrt(p) segments. Reno's is {reno:.2f} / sqrt(p)",
            f"so the factor is {ours / reno:.2f}",
        ),
    ]


def found(store: Stored) -> list[tuple[str, str]]:
    """Returns the pages' sentences about the best liar that a search finds."""

    def most(detect: str, *grants: str) -> float:
        rows = store["detectors.liars_found"]["rows"]
        mine = (row for row in rows if row["keys"]["detect"] == detect)
        return max(float(row["measured"]["gain"]) for row in mine if not grants or row["keys"]["grant"] in grants)

    listed = max(
        mean(store, "detectors.liars", "forged_mark", detect="eifel-bit", grant="once-a-round-trip", loss=loss)
        for loss in LOSSES
    )
    return [
        *quoted(
            AUTHOR,
            f"at most {most(DEFAULT):.2f} against the default, {most('eifel-or-f-rto'):.2f} against `eifel-or-f-rto`",
        ),
        *quoted(
            LIARS,
            f"gains up to {most('eifel-bit', 'once-a-round-trip'):.1f} times its goodput with it",
            f"The listed `forged-mark` is caught, and gains {listed:.2f} at most under that grant",
        ),
    ]


def proof(store: Stored) -> list[tuple[str, str]]:
    """Returns docs/internals/liars.md's sentences about the cost of the proof."""

    def cost(*paths: str) -> str:
        keys = [{"path": path, "recovery": recovery} for path in paths for recovery in RECOVERIES]
        over = [mean(store, "detectors.proof", "over_plain", proof=proof_study.DEFAULT, **one) for one in keys]
        least, most = (f"{100 - 100 * one:.1f}" for one in (max(over), min(over)))
        if most == "0.0":
            return "Nothing"
        return f"{most} %" if least == most else f"{least} to {most} %"

    paths = (proof_study.SPIKES, proof_study.SPIKES_AND_LOSS, proof_study.LOST_ACKS, proof_study.MUCH)
    with_linux = [
        100 - 100 * mean(store, "detectors.proof", "over_plain", proof=proof_study.DEFAULT, path=path, recovery=LINUX)
        for path in paths
    ]
    return [
        *quoted(
            LIARS,
            "**With Linux's sender and distinct timestamps: {:.1f} % over delay spikes, {:.1f} % with 0.5 % loss "
            "besides, {:.1f} % with 10 % of the ACKs lost, and "
            "{:.1f} % where 5 % of the packets are overtaken by ten others.**"
            "".format(*with_linux),
            f"**{cost(proof_study.SPIKES, proof_study.SPIKES_AND_LOSS)} over delay spikes**",
            f"**{cost(proof_study.LOST_ACKS)} where 10 % of the ACKs are lost besides**",
            f"**{cost(proof_study.LITTLE)} where 1 % of the packets are overtaken by five others.**",
            f"**{cost(proof_study.MUCH)} where 5 % are overtaken by ten others**",
        ),
    ]


def adaptation(store: Stored) -> list[tuple[str, str]]:
    """Returns docs/internals/findings.md's sentences about the further adaptations of the timer."""

    def spurious(path: str, name: str) -> str:
        return f"{mean(store, 'responding.adaptation', 'spurious_rtos', path=path, adaptation=name):.2f}"

    delay, back_off, std, average = (spurious(SPIKES, name) for name in ("delay", "back-off", "std", "average"))
    return quoted(
        FINDINGS,
        f"it leaves {delay} spurious timeouts a transfer, back-off {back_off}, and no adaptation {std}",
        f"An average of the delays leaves {average}",
        f"With Reno-SACK, which has many, halving leaves {spurious(GENUINE, 'delay, halved')} spurious timeouts, and "
        f"resetting {spurious(GENUINE, 'delay')}",
        f"there is one such timeout a transfer with any of them, and {spurious(OSCILLATES, 'std')} without",
    )


def sharing(store: Stored) -> list[tuple[str, str]]:
    """Returns docs/internals/findings.md's sentences about transfers that share what they learn."""

    def of(path: str, transfers: str, adaptation: str, column: str = "spurious_rtos") -> float:
        keys = {"path": path, "transfers": transfers, "adaptation": adaptation}
        return mean(store, "responding.sharing", column, **keys)

    times = (of(SPIKES, transfers, "delay", "time_s") for transfers in ("alone", "shared"))
    alone, shared = (f"{of(SPIKES, transfers, 'delay'):.3f}" for transfers in ("alone", "shared"))
    first, lasting, estimate = (
        f"{of(OSCILLATES, *one):.3f}" for one in (("alone", "min++"), ("shared", "min++"), ("shared", "std"))
    )
    return quoted(
        FINDINGS,
        f"a raised minimum leaves {lasting} spurious timeouts a transfer if it is shared, and {first} if not",
        f"SRTT and RTTVAR alone, shared without an adaptation, raise them to {estimate}",
        f"the minimum by the last delay leaves {shared} instead of {alone}, and a transfer takes "
        f"{' s instead of '.join(f'{time:.1f}' for time in reversed([*times]))}",
    )


def bandwidths(store: Stored) -> list[tuple[str, str]]:
    """Returns the sentences of docs/internals/findings.md about single bandwidths, over delay spikes and losses."""

    def of(figure: int, sender: str, kbps: float, spike: str = spikes.DRAWN, column: str = "segments") -> float:
        return mean(store, f"spikes.figure{figure}", column, kbps=kbps, sender=sender, spike=spike)

    def percent(figure: int, sender: str, over: str, kbps: float) -> str:
        return f"{100 * (of(figure, sender, kbps) / of(figure, over, kbps) - 1):.0f}"

    ahead = [kbps for kbps in spikes.HIGH_KBPS if of(10, "reno", kbps) > of(10, "rfc6675+eifel", kbps)]
    more = [percent(10, "reno", "rfc6675+eifel", kbps) for kbps in ahead]
    leads = [kbps for kbps in (*spikes.LOW_KBPS, *spikes.HIGH_KBPS) if of(11, "sctp", kbps) > of(11, "reno", kbps)]
    own = [of(11, sender, kbps, spikes.OWN, "spurious_timeouts") for sender in ("reno", "sctp") for kbps in leads]
    expire = "no timer expires" if not any(own) else "a timer expires"
    drawn = [f"{of(11, 'reno', kbps, column='spurious_timeouts'):.2f}" for kbps in leads]
    nothing_lost = [
        row["measured"]["share"]
        for row in store["spikes.table1"]["rows"]
        if row["keys"]["case"] == "spike" and row["keys"]["sender"] in ("rfc6675+eifel", "rack+eifel")
    ]
    return quoted(
        FINDINGS,
        f"At {' and '.join(f'{kbps:g}' for kbps in ahead)} kbit/s with a large window Reno delivers "
        f"{' to '.join(more)} % more",
        f"Where nothing is lost, it is within {math.ceil(100 - min(nothing_lost))} % of the best",
        f"At {' and '.join(f'{kbps:g}' for kbps in leads)} kbit/s with a small window SCTP delivers "
        f"{' and '.join(percent(11, 'sctp', 'reno', kbps) for kbps in leads)} % more. Where the spike begins at "
        f"{spikes.SPIKE_S:g} s {expire}",
        f"Over the 60 spikes Reno has {' and '.join(drawn)} spurious timeouts a run",
    )


def linux(store: Stored) -> list[tuple[str, str]]:
    """Returns the sentences about Linux's sender over the spikes of table I."""

    def shares(sender: str, case: str) -> list[float]:
        asked = {"sender": sender, "case": case}
        rows = store["spikes.table1"]["rows"]
        return [float(row["measured"]["share"]) for row in rows if asked.items() <= row["keys"].items()]

    def between(sender: str, case: str) -> str:
        found = shares(sender, case)
        return f"{min(found):.0f} to {max(found):.0f} %"

    lossy, lossless = spikes.CASES[1], spikes.CASES[0]
    without = shares(spikes.NOT_UNDONE, lossless)
    worth = max(own - other for own, other in zip(shares(LINUX, lossless), without, strict=True))
    own, later = between(LINUX, lossy), between(spikes.LATER_TIMER, lossy)
    return [
        (
            "README.md",
            f"Linux's sender delivers {own} of the best of the paper's three there, and {later} if its timer begins "
            "with 3 s, as theirs does",
        ),
        *quoted(
            FINDINGS,
            f"it delivers {own} of the best of the paper's three, and {between(LINUX, lossless)} where nothing "
            f"is lost. Its undo is worth up to {worth:.0f} points",
            f"it delivers {later}, and {between(spikes.LATER_TIMER, lossless)} where nothing is lost",
        ),
    ]


def headers(store: Stored) -> list[tuple[str, str]]:
    """Returns the sentences of docs/internals/findings.md about SCTP's headers and SACKs, over the paper's spike."""
    rates = (*spikes.LOW_KBPS, *spikes.HIGH_KBPS)

    def less(sender: str) -> list[float]:
        """Returns by how many percent a sender delivers less than Reno, at each rate."""
        found = (
            [mean(store, "spikes.figure6", "segments", kbps=one, sender=of, spike=spikes.OWN) for one in rates]
            for of in (sender, "reno")
        )
        return [100 - 100 * own / reno for own, reno in zip(*found, strict=True)]

    stated, tcp, each = (less(one) for one in (spikes.STATED_HEADERS, spikes.TCP_HEADERS, spikes.SACKED_EACH))
    first = next(place for place in range(len(each)) if max(each[place:]) < 0)
    more = [-one for one in each[first:]]
    return quoted(
        FINDINGS,
        f"delivers {min(stated):.1f} to {max(stated):.1f} % less than Reno with these, and {min(tcp):.1f} to "
        f"{max(tcp):.1f} % less with TCP's 40 bytes",
        f"delivers {min(more):.1f} to {max(more):.1f} % more than Reno at {rates[first]:g} kbit/s and above",
    )


def adapting(store: Stored) -> list[tuple[str, str]]:
    """Returns docs/internals/findings.md's sentences about senders that learn."""

    def of(column: str, case: str, sender: str) -> float:
        return mean(store, "detectors.adapting", column, case=case, sender=sender)

    kept, one, above = (
        f"{of('spurious_fast_retransmits', adapting_study.LOSSES, sender):.1f}"
        for sender in ("rfc6675", "rfc6675, one more", "rfc6675, above length")
    )
    reordered, long = adapting_study.REORDERED, adapting_study.LONG
    fack, off = (of("spurious_fast_retransmits", reordered, sender) for sender in ("fack", "fack, off when reordered"))
    ncr = [
        f"{of('goodput_mbps', reordered, sender + adapting_study.WITHOUT):.1f}" for sender in adapting_study.UNDETECTED
    ]
    lost = [
        f"{of('spurious_fast_retransmits', adapting_study.LOSSES, sender + adapting_study.WITHOUT):.1f}"
        for sender in adapting_study.UNDETECTED
    ]
    detected = f"{of('goodput_mbps', reordered, 'rfc6675'):.1f}"
    late = [f"{of('time_s', long, sender):.1f}" for sender in ("DSACK, decay", "DSACK", "Eifel", "Eifel, decay")]
    return quoted(
        FINDINGS,
        f"RFC 6675's sender makes {kept} spurious fast retransmits a minute, {one} if each raises DupThresh by one, "
        f"and {above} if DupThresh rises above the duplicates",
        f"it delivers {ncr[2]} (careful) or {ncr[3]} Mbit/s (aggressive), RFC 6675's sender {ncr[0]} and RACK "
        f"{ncr[1]}. With Eifel RFC 6675's sender delivers {detected}",
        f"Where 0.2 % are lost too, it makes {lost[2]} or {lost[3]} spurious fast retransmits a minute, RFC 6675's "
        f"sender {lost[0]} and RACK {lost[1]}",
        f"leaves {off:.0f} of {fack:.0f} spurious fast retransmits a minute",
        f"With DSACK a transfer takes {late[0]} s instead of {late[1]}. With Eifel it takes {late[2]} s, and "
        f"{late[3]} with the decay",
    )


def quotes(store: Stored) -> list[tuple[str, str]]:
    return [
        *truth(store),
        *on_wire(store),
        *responses(store),
        *liars(store),
        *partial_credit(),
        *found(store),
        *proof(store),
        *adaptation(store),
        *sharing(store),
        *bandwidths(store),
        *linux(store),
        *headers(store),
        *adapting(store),
    ]
