"""Sentences about Linux's sender in README.md and docs/author.md; a part of `documents.measured`."""

from eifel.documents import AUTHOR, quoted, spaced
from eifel.documents.detectors import episodes
from eifel.documents.stored import Stored, mean
from eifel.studies import burst, wire, wire_liars, wire_parts
from eifel.studies.settings import BUFFERS, HOLDS, LINUX, LOSES

README = "README.md"


def found(store: Stored, detector: str, column: str = "found_timeouts", situation: str = wire.ALL) -> str:
    """Returns the share of the needless timeouts that a detector finds on Linux's wire, in percent."""
    return f"{mean(store, wire.TITLE, column, situation=situation, detector=detector):.0f}"


def wrong(store: Stored, detector: str) -> str:
    """Returns how many needed episodes a detector calls spurious there, and of how many."""
    needed = episodes(store, detector, artefact=wire.TITLE)["needed"]
    return f"{found(store, detector, column='false_positives')} of {spaced(needed)}"


def saved(store: Stored, part: str, queue: int) -> float:
    """Returns the time that an undo saves with this part of the sender exchanged, in percent."""
    return mean(store, wire_parts.TITLE, "saved", queue=queue, part=part, detector=LINUX)


def detectors(store: Stored) -> list[tuple[str, str]]:
    fast = "found_fast_retransmits"
    needless = [float(found(store, name, column="needless_bytes")) for name in (wire.DSACK, wire.PLAIN)]
    met = {name: found(store, name, situation=wire.MET) for name in (wire.LINUX, wire.SHARED, wire.F_RTO)}
    min_rtt, dual_rtt = (found(store, name) for name in wire.BY_TIME)
    return [
        *quoted(
            AUTHOR,
            f"`eifel-f-rto-dsack` finds {found(store, wire.SHARED)} % of the spurious timeouts, and "
            f"`eifel-timestamps` {found(store, wire.ORIGINAL)} %. Where two troubles meet there, it finds "
            f"{met[wire.SHARED]} %, and Linux's detector {met[wire.LINUX]} %",
            f"`f-rto-sack` finds {found(store, wire.F_RTO)} % of the spurious timeouts and "
            f"{found(store, wire.F_RTO, column=fast)} % of the spurious fast retransmits, and {met[wire.F_RTO]} % of "
            "the timeouts where two troubles meet",
            f"`min-rtt` finds {min_rtt} % of the spurious timeouts and `dual-rtt` {dual_rtt} %",
            f"DSACK alone finds {found(store, wire.DSACK)} % of the spurious timeouts and "
            f"{found(store, wire.DSACK, column=fast)} % of the spurious fast retransmits, after "
            f"{needless[0] / needless[1]:.1f} times as many needless bytes",
        ),
        (
            README,
            f"On Linux's wire RFC 3522's plain comparison called {wrong(store, wire.PLAIN)} episodes spurious in which "
            f"all was lost, and {found(store, wire.PLAIN, column='mixed')} % of those in which a part was",
        ),
    ]


def responses(store: Stored) -> list[tuple[str, str]]:
    def goodput(buffer: int, way: tuple[str, str, str]) -> float:
        keys = dict(zip(("verdict", "response", "pace"), way, strict=True))
        return mean(store, "detectors.burst", "goodput_mbps", buffer=buffer, **keys)

    never, paced, unpaced = (
        (burst.NEVER_ON_WIRE, "none", "tso"),
        (burst.LINUX, "linux", "tso"),
        (burst.LINUX, "linux", "none"),
    )
    short, long = BUFFERS[0], BUFFERS[-1]
    undone, cut = saved(store, wire_parts.WHOLE, HOLDS), [saved(store, part, HOLDS) for part in wire_parts.CUT]
    undone_lost, cut_lost = (
        saved(store, wire_parts.WHOLE, LOSES),
        [saved(store, part, LOSES) for part in wire_parts.CUT],
    )
    times = {
        part: mean(store, wire_parts.TITLE, "time_s", queue=HOLDS, part=part, detector=LINUX)
        for part in wire_parts.PARTS
    }
    return [
        *quoted(
            AUTHOR,
            f"If Linux's sender does not pace, its undo brings {goodput(short, unpaced):.2f} Mbit/s over the shortest "
            f"queue, and {goodput(short, paced):.2f} if it does; without an undo there are {goodput(short, never):.2f}",
            f"Its undo brings {goodput(short, paced):.2f} to {goodput(long, paced):.2f} Mbit/s over these queues, and "
            f"no undo {goodput(short, never):.2f} to {goodput(long, never):.2f}",
            f"With Linux's sender they save {cut[0]:.1f} and {cut[1]:.1f} % where nothing of the window is lost, and "
            f"Linux's undo {undone:.1f}; where its tail is lost {cut_lost[0]:.1f} and {cut_lost[1]:.1f} %, and Linux's "
            f"{undone_lost:.1f}",
            f"With `newreno` in place of RACK-TLP, Linux's undo costs {-saved(store, wire_parts.NEWRENO, LOSES):.0f} % "
            f"more time where the window's tail is lost; with RACK-TLP it saves {undone_lost:.1f} %",
            f"Linux's undo saves {undone:.1f} % with its CUBIC, and {saved(store, wire_parts.RENO, HOLDS):.1f} % with "
            f"Reno's window in its place",
        ),
        (
            README,
            f"With Linux's sender an undo saves {undone:.0f} % of a transfer's time over delay spikes, and "
            f"{undone_lost:.1f} % if they lose the window's tail",
        ),
        (
            README,
            f"With Linux's sender and undo ten retransmission timers deliver within {wire_parts.timers(times):.0f} % "
            "of each other over delay spikes",
        ),
        (
            README,
            f"Linux's undo restores the full window, and brings {goodput(short, paced):.2f} Mbit/s over a queue of an "
            f"eighth of the path, or {goodput(short, unpaced):.2f} if it is not paced",
        ),
    ]


def liars(store: Stored) -> list[tuple[str, str]]:
    def most(sender: str) -> str:
        rows = (row for row in store[wire_liars.TITLE]["rows"] if row["keys"]["sender"] == sender)
        return f"{max(gain for row in rows for gain in row['measured'].values()):.1f}"

    return quoted(
        AUTHOR,
        f"On Linux's wire a liar gains up to {most(wire_liars.LINUX)} times its goodput from Linux's detector, "
        f"{most(wire_liars.SHARED)} times from `eifel-f-rto-dsack`, and {most(wire_liars.SHARED_CAREFUL)} times with "
        f"the grant `unless-losses-follow`; from F-RTO alone nothing",
    )


def quotes(store: Stored) -> list[tuple[str, str]]:
    return [*detectors(store), *responses(store), *liars(store)]
