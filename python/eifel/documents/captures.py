"""Tables of docs/reference/captures.md; a part of `documents.measured`."""

from collections.abc import Callable, Mapping

from eifel.documents import CAPTURES, RESEARCHER, WHATIF, spaced, table
from eifel.documents.stored import Stored, mean, row_of
from eifel.studies.captures_protocols import ADVISED, NEAR, PATHS
from eifel.studies.captures_tools import TOOLS

KEPT = {
    "captures.truth": (
        *("captures", "retransmissions", "found", "cause", "cause_decided", "cause_undecided", "decided"),
        *("undecidable", "wrongly", "wrongly_certain"),
    ),
    "captures.kernel": (
        *("true", "missed", "invented", "invented_certain", "right", "wrong_certain", "undecided", "cause"),
    ),
    "captures.tools": ("installed", "retransmissions", "counted", "found", "wrongly"),
    "captures.whatif": ("paths", "refused", "held", "width", "stated", "order"),
    "captures.protocols": ("near", "less", "worst", "refused"),
}
"""The artefacts, and the columns kept of each."""
INTERVALS = ("captures.whatif", "captures.protocols")
"""The artefacts whose 95 % intervals are kept too."""
CROSS = {"none": "none", "transfer": "another transfer", "bursts": "bursts of datagrams"}
PLACES = {"sender": "at the sender", "between": "between", "receiver": "at the receiver"}
HEAD = (
    *("captured", "retransmissions", "seen as such", "of these, cause right", "of the decided", "cause undecided"),
    *("verdict right, of the decided", "undecidable", "needed called spurious, unsure", "with certainty"),
)


def _truth(store: Stored, weather: str) -> str:
    def of(place: str, column: str) -> float:
        return mean(store, "captures.truth", column, weather=weather, place=place)

    rows = []
    for place, name in PLACES.items():
        columns = ("found", "cause", "cause_decided", "cause_undecided", "decided", "undecidable")
        shares = [f"{of(place, column):.1f} %" for column in columns]
        counts = [spaced(of(place, column)) for column in ("wrongly", "wrongly_certain")]
        rows.append([name, spaced(of(place, "retransmissions")), *shares, *counts])
    return table(HEAD, rows)


def plain(store: Stored) -> str:
    """Returns the table for realistic stacks and paths."""
    return _truth(store, "plain")


def wild(store: Stored) -> str:
    """Returns the table for anything that a scenario can set."""
    return _truth(store, "wild")


def kernel(store: Stored) -> str:
    """Returns the table for recordings of a real kernel, below the kernel's name and the date."""
    one = store["captures.kernel"]
    rows = []
    for row in one["rows"]:
        found = row["measured"]
        shares = [f"{found[name]:.2f} %" if name in found else "" for name in ("missed", "invented", "right", "cause")]
        certain = [spaced(found[name]) for name in ("invented_certain", "wrong_certain")]
        place = PLACES[row["keys"]["place"]]
        undecided = f"{found['undecided']:.1f} %"
        cells = [spaced(found["true"]), shares[0], shares[1], certain[0], shares[2], certain[1], undecided, shares[3]]
        rows.append([row["keys"]["tool"], place, *cells])
    head = (
        *("tool", "captured", "retransmissions", "missed", "invented", "with certainty"),
        *("verdict right, of the decided", "wrong with certainty", "undecided", "cause right, of the decided"),
    )
    return f"Linux {one['kernel']}, {one['on']}:\n\n{table(head, rows)}"


def tools(store: Stored) -> str:
    def of(tool: str, place: str, column: str) -> float:
        return mean(store, "captures.tools", column, tool=tool, place=place)

    rows = []
    for tool in TOOLS:
        for place in ("sender", "receiver"):
            if not of(tool, place, "installed"):
                rows.append([tool, PLACES[place], "not installed", "", "", ""])
                continue
            counts = [spaced(of(tool, place, column)) for column in ("retransmissions", "counted")]
            share, wrongly = f"{of(tool, place, 'found'):.1f} %", spaced(of(tool, place, "wrongly"))
            rows.append([tool, PLACES[place], *counts, share, wrongly])
    head = ("tool", "captured", "retransmissions", "counted", "spurious ones called so", "needed called spurious")
    return table(head, rows)


FEW = 10
"""With fewer predictions than this, the page has the count of correct ones, since a share would mean little."""


def whatif(store: Stored) -> str:
    """Returns the table of predictions on hidden paths."""
    head = (
        "other traffic",
        "paths",
        "refused",
        "90 % ranges that hold the truth",
        "median width",
        "orders stated, and right",
    )
    rows = []
    for cross, name in CROSS.items():
        row = row_of(store, "captures.whatif", {"cross": cross})
        found = row["measured"]
        paths, stated = found["paths"], found["stated"]
        made = round(paths * (100 - found["refused"]) / 100)
        held, width = "none was made", ""
        if made >= FEW:
            low, high = row["interval95"]["held"]
            held = f"{found['held']:.1f} % of {made} ({low:.0f} to {high:.0f})"
        elif made:
            held = f"{found['held'] * made / 100:.0f} of {made}"
        if made > 1:
            width = f"{found['width']:.0f} %"
        right = f", {found['order'] * stated / 100:.0f} right" if stated else ""
        rows.append([name, spaced(paths), f"{found['refused']:.0f} %", held, width, f"{stated:.0f}{right}"])
    return table(head, rows)


def protocols(store: Stored) -> str:
    """Returns the table of protocols on hidden paths, below how many paths were judged and how many had no advice."""
    rows = store["captures.protocols"]["rows"]
    cells = []
    for row in rows:
        found, (low, high) = row["measured"], row["interval95"]["near"]
        name = row["keys"]["protocol"]
        near = f"{found['near']:.0f} % ({low:.0f} to {high:.0f})"
        cells.append(
            [name if name == ADVISED else f"always {name}", near, f"{found['less']:.1f}", f"{found['worst']:.0f}"]
        )
    refused = rows[0]["measured"]["refused"]
    judged = f"Of {PATHS} hidden paths {refused:.0f} % are refused. On the others:"
    head = ("protocol", f"within {NEAR:g} % of the best", "less than the best, %", "at most")
    return f"{judged}\n\n{table(head, cells, 1)}"


BLOCKS: Mapping[str, tuple[str, Callable[[Stored], str]]] = {
    "captures, plain": (CAPTURES, plain),
    "captures, wild": (CAPTURES, wild),
    "captures, kernel": (CAPTURES, kernel),
    "captures, tools": (CAPTURES, tools),
    "whatif": (WHATIF, whatif),
    "protocols": (RESEARCHER, protocols),
}
