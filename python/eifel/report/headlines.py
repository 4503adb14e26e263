"""Writes the main findings at the top: a few pictures with a sentence each, from the report's own numbers."""

from collections.abc import Callable, Mapping, Sequence
from html import escape

from eifel.papers.artefact import Measured, word
from eifel.report.embedded import embedded
from eifel.report.heat import Cell, Spot, heat, spots
from eifel.report.svg import Dot, Line, dots
from eifel.studies.detector_runs import PANEL
from eifel.studies.settings import LINUX

MOST_LINES = 40


def headlines(measured: Sequence[Measured]) -> str:
    known = {one.artefact.id: one for one in measured}
    made = [(title, build(known)) for title, build in _HEADLINES]
    shown = [f'<section class="found"><h3>{escape(title)}</h3>{body}</section>' for title, body in made if body]
    return f'<div id="found"><h2>What was found</h2>{"".join(shown)}{_missing(known)}</div>' if shown else ""


TAKE_MINUTES = {"detectors.truth": "what detectors find", "detectors.atlas": "the map"}


def _missing(known: Mapping[str, Measured]) -> str:
    """Names headlines whose artefacts take minutes and are not measured."""
    absent = {name: what for name, what in TAKE_MINUTES.items() if name not in known}
    if not absent:
        return ""
    command = escape(f"eifel reproduce {' '.join(absent)}")
    return f'<p class="dim">Not measured here: {escape(" and ".join(absent.values()))} (<code>{command}</code>).</p>'


SPIKES = {"responding.figure1a": "Reno-SACK", "responding.figure2": "Reno-SACK with Eifel"}


def _gains(known: Mapping[str, Measured]) -> str:
    return _spike(known) + _worth(known)


def _spike(known: Mapping[str, Measured]) -> str:
    if not SPIKES.keys() <= known.keys():
        return ""
    from eifel.plots import side_by_side

    runs = {name: known[artefact].results[0] for artefact, name in SPIKES.items()}
    without, eifel = (run.main["spurious_retransmissions"] for run in runs.values())
    sentence = (
        f"The path stands still for some seconds, and nothing is lost. The sender's timer expires, and it sends"
        f" {without} segments again without need (red). With Eifel it recognises the first ACK as the original's, and"
        f" sends {eifel} again."
    )
    return _with(
        sentence, embedded(side_by_side.figure(runs), "one spike without Eifel and with it"), "responding.figure2"
    )


def _worth(known: Mapping[str, Measured]) -> str:
    table = known.get("responding.table1")
    if table is None:
        return ""
    without, eifel = (table.row(eifel=on).means["time_s"].mean for on in (False, True))
    sentence = (
        f"A transfer over a path with delay spikes takes {without:.0f} s without Eifel and {eifel:.0f} s with"
        f" it, {without / eifel:.1f} times less, by a rule of 2003 for ssthresh that RFC 5681 forbids."
    )
    if again := known.get("responding.rfc5681"):
        of = {"window": "rfc5681", "congested": False, "recovery": "reno-sack"}
        without, eifel = (again.mean("time_s", **of, eifel=on) for on in (False, True))
        sentence += f" With RFC 5681's rule it takes {without:.0f} s and {eifel:.0f} s."
    return _with(sentence, "", "responding.table1")


def _published(known: Mapping[str, Measured]) -> str:
    lines, within, judged = [], 0, 0
    for one in known.values():
        for row in one.rows:
            for column in one.artefact.columns:
                printed, found = row.row.published.get(column.name), row.means.get(column.name)
                agrees = row.agrees(column)
                if agrees is None:
                    continue
                judged, within = judged + 1, within + agrees
                if not printed or found is None:
                    continue
                tolerance = max(column.relative or 0, (column.absolute or 0) / abs(printed))
                title = f"{row.row.name}, {column.title}: {found.mean:.{column.digits}f}, published {printed:g}"
                dot = Dot(max(found.mean / printed, 0.05), colour="sent" if agrees else "spurious", title=title)
                lines.append((one.artefact.id, column.title, tolerance, dot))
    if not lines:
        return ""
    rows: dict[tuple[str, str], list[tuple[float, Dot]]] = {}
    for artefact, title, tolerance, dot in lines:
        rows.setdefault((artefact, title), []).append((tolerance, dot))
    shown = [
        Line(f"{artefact}: {title}", [dot for _, dot in found], (max(1 - found[0][0], 0.05), 1 + found[0][0]))
        for (artefact, title), found in rows.items()
    ]
    sentence = (
        f"{within} of {judged} published values come out within their tolerance."
        " Each dot is one of them; those printed as 0 have none."
    )
    return _with(sentence, dots(shown[:MOST_LINES], "measured over published", logarithmic=True), "")


LATE = "a round trip later"
"""A burst that meets a queue filled by the path: the verdict of `detectors.burst` that is shown."""


def _burst(known: Mapping[str, Measured]) -> str:
    table = known.get("detectors.burst")
    if table is None:
        return ""
    cells: dict[tuple[str, str], Cell] = {}
    for row in table.rows:
        keys, mean = row.row.keys, row.means["drops_after_undo"]
        if keys["verdict"] == LATE and keys["pace"] == "none":
            text = f"{mean.mean:.1f}"
            cells[f"{keys['buffer']} packets", str(keys["response"])] = Cell(mean.mean, text, f"{row.row.name}: {text}")
    if not cells:
        return ""
    rows, columns = (list(dict.fromkeys(key[place] for key in cells)) for place in (0, 1))
    sentence = (
        "Restoring the full window at once (option 1) sends a burst, which a shorter queue drops: packets"
        " lost in the round trip after an undo, by the queue's length."
    )
    return _with(sentence, heat(rows, columns, cells, "dropped in the round trip after an undo"), "detectors.burst")


ADVISED = "eifel-timestamps or dsack"
"""The pair that docs/author.md recommends."""


def _detectors(known: Mapping[str, Measured]) -> str:
    table = known.get("detectors.truth")
    if table is None:
        return ""
    # Pairs are in the table; forty names in one picture would be illegible.
    where = table.rows[0].row.keys["situation"]
    shown, wrong = [], []
    for name in (*PANEL.detectors, ADVISED):
        means = table.row(situation=where, detector=name).means
        found, delay, mistakes = (means.get(column) for column in ("found", "delay_rtts", "false_positives"))
        if found is not None and delay is not None:
            shown.append(Spot(name, max(delay.mean, 0.01), found.mean))
        if mistakes is not None and mistakes.mean > 0:
            wrong.append(name)
    best = max(shown, key=lambda spot: spot.up, default=None)
    if best is None:
        return ""
    sentence = (
        f"Of the spurious episodes in which nothing was lost, {best.name} finds most, {best.up:.0f} %. The higher, the"
        " more a detector finds; the further left, the sooner it says so (median)."
    )
    if wrong:
        sentence += f" All but {' and '.join(wrong)} were never wrong where all was lost."
    picture = spots(shown, "delay of the verdict, round trips", "found, %")
    return _with(sentence, picture, "detectors.truth")


LOSSES = ("nothing lost", "tail lost")
"""The effect of a spike on the window, by the length of the queue in `detectors.responses`. The
longer queue loses nothing.
"""


def _verdicts(known: Mapping[str, Measured]) -> str:
    return _responses(known) + _burst(known)


def _responses(known: Mapping[str, Measured]) -> str:
    """Shows the savings of each response with each detector, averaged over the senders, with and without losses."""
    table = known.get("detectors.responses")
    if table is None:
        return ""
    longest = max(int(row.row.keys["queue"]) for row in table.rows)
    found: dict[tuple[str, str], list[float]] = {}
    for row in table.rows:
        keys = row.row.keys
        # Linux's sender has its own detectors and few responses, and would be no part of the other means.
        if keys["detector"] != "none" and keys["sender"] != LINUX and "saved" in row.means:
            name = f"{LOSSES[keys['queue'] != longest]}: {word(keys['detector'])}"
            found.setdefault((name, word(keys["response"])), []).append(row.means["saved"].mean)
    if not found:
        return ""
    means = {key: sum(values) / len(values) for key, values in found.items()}
    cells = {key: Cell(mean, f"{mean:.0f}", f"{key[0]}, {key[1]}: {mean:.1f} %") for key, mean in means.items()}
    rows, columns = (list(dict.fromkeys(key[place] for key in cells)) for place in (0, 1))
    of_response = {name: [mean for key, mean in means.items() if key[1] == name] for name in columns}
    best = max(columns, key=lambda name: sum(of_response[name]))
    both = [[mean for (row, column), mean in means.items() if column == best and row.startswith(of)] for of in LOSSES]
    named = zip(both, ("nothing is lost", "the tail is"), strict=True)
    savings = [f"{_saves(sum(some) / len(some))} where {of}" for some, of in named if some]
    sentence = (
        "How much of a transfer's time is saved by what detects and what responds, on the mean over all senders but "
        f"Linux's. {best} is the best response over all: it {' and '.join(savings)}."
    )
    return _with(sentence, heat(rows, columns, cells, "time saved against no detection, %"), "detectors.responses")


def _saves(saved: float) -> str:
    return f"{'saves' if saved >= 0 else 'costs'} {abs(saved):.0f} %"


def _map(known: Mapping[str, Measured]) -> str:
    table = known.get("detectors.atlas")
    if table is None:
        return ""
    best: dict[str, int] = {column.name: 0 for column in table.artefact.columns}
    for row in table.rows:
        best[max(best, key=lambda name: row.means[name].mean)] += 1
    lines = [Line(name, [Dot(100 * count / len(table.rows), title=f"{name}: {count}")]) for name, count in best.items()]
    first = max(best, key=lambda name: best[name])
    sentence = f"Of {len(table.rows)} paths, {first} carries most on {best[first]}. The map shows each of them."
    return _with(sentence, dots(lines, "carries most, % of the paths"), "detectors.atlas")


def _with(sentence: str, picture: str, artefact: str) -> str:
    more = f' <a href="#{escape(artefact)}">{escape(artefact)}</a>' if artefact else ""
    shown = f'<div class="scroll">{picture}</div>' if picture else ""
    return f"<p>{escape(sentence)}{more}</p>{shown}"


_HEADLINES: tuple[tuple[str, Callable[[Mapping[str, Measured]], str]], ...] = (
    ("What Eifel gains", _gains),
    ("What to do with a verdict", _verdicts),
    ("What detectors find, and when", _detectors),
    ("The map", _map),
    ("Published beside measured", _published),
)
