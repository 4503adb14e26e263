"""Writes the report: artefacts or one run as a single HTML file that works offline."""

import base64
import json
import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from string import Template

from eifel import toml
from eifel.papers.artefact import Artefact, Column, Measured, MeasuredRow, Recorded, Row, Studied, word
from eifel.report.chart import chart
from eifel.report.comparison import claims_html, flows_html, known_html, settings_html, summary_html, verdict_of
from eifel.report.embedded import embedded
from eifel.report.headlines import headlines
from eifel.report.heat import Cell, heat
from eifel.report.svg import Dot, Line, dots, multiples
from eifel.result import Result
from eifel.statistics import Mean

COLUMNS = ("columns.js",)
"""The script that unpacks the numbers of charts and maps."""
SCRIPTS = ("uplot/uPlot.iife.min.js", "touch.js", "paint.js", "chart.js", "layers.js", "captured.js", "figures.js")
"""The scripts that draw the charts, in order of dependency."""
PAGE = ("page.js",)
"""The script for filters, sorting and downloads."""
MOST_ROWS = 20
"""A table with more rows is folded below its picture."""
MOST_LINES = 60
"""A picture of more rows has a line for each group of rows."""
MOST_PICTURED = 90
"""The most lines of a picture. With more, a section would be higher than two screens."""
MOST_BESIDE = 4
"""The most panels of a picture."""
MOST_ACROSS = 12
"""The most columns of a heat map."""
MAPS = ("atlas.js",)
"""The script that draws maps."""


def build(measured: Sequence[Measured], date: str = "", playground: str = "") -> str:
    """Returns the page for these artefacts, in this order. `date` is shown at the top.

    `playground` is the address of the page that `make web` writes; empty without one.
    """
    from eifel import _engine

    sections = "".join(_section(one, playground) for one in measured)
    charts = any(map(_has_chart, measured))
    intro = _part(
        "index.html",
        version=escape(_engine.version()),
        date=f", {escape(date)}" if date else "",
        groups=_contents(measured),
        count=str(len(measured)),
        charts=_part("how.html") if charts else "",
        headlines=headlines(measured),
    )
    maps = MAPS if any(map(_map_of, measured)) else ()
    return page("Published beside measured", intro + sections, charts, maps)


def build_run(result: Result, flows: Sequence[int] | None = None) -> str:
    """Returns the page for one run: the summary of its flows, the charts of all or some, and its scenario."""
    drawn = range(len(result.flows)) if flows is None else flows
    title = str(result.source.settings.get("title", "One run"))
    body = _part(
        "run.html",
        title=escape(title),
        how=_part("how.html"),
        seed=escape(str(result.source.seed)),
        repetition=str(result.repetition),
        summary=flows_html(result.flows),
        charts="".join(_flow(result, number) for number in drawn),
        scenario=escape(result.source.text),
    )
    return page(title, body, True)


def _flow(result: Result, number: int) -> str:
    name = str(result.flows[number]["flow"])
    return f"<h2>{escape(name)}</h2>{chart(result, number, name)}"


def command_of(measured: Measured) -> str:
    """Returns the command line that measures the artefact again with these settings."""
    artefact = measured.artefact
    words = ["eifel", "reproduce", artefact.id, "--seed", str(measured.seed)]
    if not artefact.is_recorded and (artefact.study is None or measured.repetitions > 1):
        words += ["--repetitions", str(measured.repetitions)]
    line = shlex.join(words)
    return f"{line} --trace FILE…" if artefact.inputs else line


def _section(measured: Measured, playground: str) -> str:
    artefact = measured.artefact
    charts = chart(measured.results[0], 0, artefact.title) if _has_chart(measured) else _picture(measured)
    return _part(
        "artefact.html",
        id=escape(artefact.id),
        title=escape(artefact.title),
        source=escape(artefact.source),
        see=_see(measured),
        charts=charts,
        play=_play(measured, playground),
        summary=show(measured) if (show := _map_of(measured)) else _table(measured, drawn=bool(charts)),
        claims=claims_html(measured) + known_html(artefact),
        settings=settings_html(artefact),
        command=escape(command_of(measured)),
        seed=str(measured.seed),
        repetitions=str(measured.repetitions),
        elapsed=f"{measured.elapsed_s:.2f}",
        scenarios=_settings(measured),
    )


def _play(measured: Measured, playground: str) -> str:
    """Returns a link that opens the first row's scenario in the playground. Empty if either is missing."""
    scenario = measured.artefact.rows[0].scenario if measured.artefact.rows else {}
    if not playground or not scenario:
        return ""
    text = json.dumps({"title": measured.artefact.title, **scenario, "seed": measured.seed}, separators=(",", ":"))
    carried = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
    return _part("play.html", page=escape(playground), scenario=carried)


def _see(measured: Measured) -> str:
    """Returns a sentence about the expected finding: the first claim, and whether it holds."""
    judged = measured.claims()[:1]
    if not judged:
        return ""
    text = str(judged[0]["text"])
    end = "" if judged[0]["holds"] else ' <span class="outside">Not so here.</span>'
    return f'<p class="see">One should see: {escape(text)}.{end}</p>'


def _has_chart(measured: Measured) -> bool:
    method = measured.artefact.method
    return isinstance(method, Recorded) and method.chart


def _map_of(measured: Measured) -> Callable[[Measured], str] | None:
    method = measured.artefact.method
    return method.show if isinstance(method, Studied) else None


def _picture(measured: Measured) -> str:
    """Returns the artefact's drawing; empty if it has none."""
    if measured.artefact.draw is None:
        return ""
    return embedded(measured.artefact.draw(measured), measured.artefact.title)


def _settings(measured: Measured) -> str:
    """Returns the settings of the runs: the scenario of each row, or the design of a study."""
    study = measured.artefact.study
    if study is None:
        scenarios = "".join(_scenario(row.row, measured.seed) for row in measured.rows)
        return f"<details><summary>Settings: the scenario of each row</summary>{scenarios}</details>"
    design = escape(json.dumps(study.design, indent=2, ensure_ascii=False))
    return f"<details><summary>Settings: the design of the study</summary><pre>{design}</pre></details>"


def _scenario(row: Row, seed: int) -> str:
    text = toml.dumps({**row.scenario, "seed": seed})
    return f"<details><summary>{escape(row.name)}</summary><pre>{escape(text)}</pre></details>"


def _table(measured: Measured, *, drawn: bool) -> str:
    """Returns the artefact's table. A long one is folded below a picture.

    `drawn` is whether the artefact already has its own picture.
    """
    from eifel.exports import table_csv

    table = summary_html(measured)
    csv = table_csv(measured).replace("<", "&lt;")
    taken = f'<script type="text/csv">\n{csv}</script>'
    if len(measured.rows) <= MOST_ROWS:
        return table + taken
    shown = f"<details><summary>The table of {len(measured.rows)} rows</summary>{table}</details>"
    picture = "" if drawn else f'<div class="scroll">{_heat(measured) or _dots(measured)}</div>'
    return picture + shown + taken


def _judged(artefact: Artefact) -> Column:
    """Returns the column for a picture: the first judged one, or else the first."""
    return next((one for one in artefact.columns if one.relative or one.absolute), artefact.columns[0])


def _heat(measured: Measured) -> str:
    """Returns many rows as a heat map, the last key across. Empty for few rows, or if that key has many values."""
    artefact, across = measured.artefact, [word(row.row.keys[measured.artefact.keys[-1]]) for row in measured.rows]
    columns = list(dict.fromkeys(across))
    if len(measured.rows) <= MOST_LINES or not 2 <= len(columns) <= MOST_ACROSS or len(artefact.keys) < 2:
        return ""
    column, cells = _judged(artefact), {}
    for row, place in zip(measured.rows, across, strict=True):
        mean = row.means.get(column.name)
        if mean is not None:
            text = f"{mean.mean:.{column.digits}f}"
            cells[", ".join(word(value) for value in list(row.row.keys.values())[:-1]), place] = Cell(
                mean.mean, text, f"{row.row.name}: {text}"
            )
    rows = list(dict.fromkeys(name for name, _ in cells))[:MOST_PICTURED]
    first = {
        ", ".join(map(word, list(row.row.keys.values())[:-1])): word(row.row.keys[artefact.keys[0]])
        for row in measured.rows
    }
    *down, last = (key.replace("_", " ") for key in artefact.keys)
    return heat(rows, columns, cells, f"{column.title}: {', '.join(down)}; {last} across", first)


def _dots(measured: Measured) -> str:
    """Draws small multiples: a panel for each judged column (or for each column), and a line per row.

    With many rows there is one column, and a line is a group of rows.
    """
    artefact = measured.artefact
    columns = [one for one in artefact.columns if one.relative or one.absolute] or list(artefact.columns)
    if len(measured.rows) > MOST_LINES:
        return dots(_grouped(measured, columns[0])[:MOST_PICTURED], columns[0].title)
    shown = [(column.title, [_line(row, column) for row in measured.rows]) for column in columns[:MOST_BESIDE]]
    return multiples(shown, ", ".join(key.replace("_", " ") for key in artefact.keys))


def _line(row: MeasuredRow, column: Column) -> Line:
    """Returns a row with its value in a column, and with the band of values that agree with the published one."""
    mean, printed = row.means.get(column.name), row.row.published.get(column.name)
    allowed = max((column.relative or 0) * abs(printed), column.absolute or 0) if printed is not None else 0
    band = (printed - allowed, printed + allowed) if printed is not None and allowed else None
    name = ", ".join(word(value) for value in row.row.keys.values())
    return Line(name, [] if mean is None else [_dot(row, column, mean)], band)


def _grouped(measured: Measured, column: Column) -> list[Line]:
    groups: dict[str, list[Dot]] = {}
    for row in measured.rows:
        mean = row.means.get(column.name)
        if mean is not None:
            name = ", ".join(word(value) for value in list(row.row.keys.values())[: max(len(row.row.keys) - 1, 1)])
            groups.setdefault(name, []).append(_dot(row, column, mean))
    return [Line(name, found) for name, found in groups.items()]


def _dot(row: MeasuredRow, column: Column, mean: Mean) -> Dot:
    low, high = mean.interval or (None, None)
    colour = "spurious" if row.agrees(column) is False else "sent"
    return Dot(mean.mean, low, high, colour, f"{row.row.name}: {mean.mean:.{column.digits}f}")


MOST_OPEN = 12
"""Reports with more artefacts begin with their contents folded. Otherwise the fixed list would hide the page."""


def _contents(measured: Sequence[Measured]) -> str:
    """Returns the list of artefacts by paper, each with its verdict."""
    papers: dict[str, list[str]] = {}
    outside = Counter[str]()
    for one in measured:
        artefact, (verdict, words) = one.artefact, verdict_of(one)
        paper, _, name = artefact.id.partition(".")
        outside[paper] += verdict == "outside"
        papers.setdefault(paper, []).append(
            f'<li><a href="#{escape(artefact.id)}" title="{escape(artefact.title)}">'
            f'<i class="{verdict}" aria-hidden="true"></i>{escape(name)} <span>{escape(artefact.title)}</span></a>'
            f' <small class="{verdict}">{escape(words)}</small></li>'
        )
    begin = "<details open>" if len(measured) <= MOST_OPEN else "<details>"
    return "".join(
        f"{begin}<summary>{escape(paper)} <small>{len(entries)}</small>"
        + (f' <small class="outside">{outside[paper]} not as published</small>' if outside[paper] else "")
        + f"</summary><ul>{''.join(entries)}</ul></details>"
        for paper, entries in papers.items()
    )


def page(title: str, body: str, charts: bool, maps: Sequence[str] = ()) -> str:
    """Returns the whole page around a body. `maps` are additional scripts from this folder."""
    from eifel import _engine

    drawing = (*(SCRIPTS if charts else ()), *maps)
    named = (*(COLUMNS if drawing else ()), *drawing, *PAGE)
    scripts = "".join(f"<script>{_script(name)}</script>\n" for name in named)
    return _part(
        "page.html",
        title=escape(title),
        version=escape(_engine.version()),
        style=_text("uplot/uPlot.min.css") + _text("style.css") if charts else _text("style.css"),
        licence=_text("uplot/LICENSE").replace("--", "- -") if charts else "",
        scripts=scripts,
        body=body,
    )


def _script(name: str) -> str:
    # Only this text could end a script early. Both spellings mean the same in JavaScript.
    return _text(name).replace("</script", "<\\/script")


def _part(name: str, **values: str) -> str:
    return Template(_text(name)).substitute(values)


def how() -> str:
    return _part("how.html")


@cache
def _text(name: str) -> str:
    return (files("eifel.report") / name).read_text(encoding="utf-8")
