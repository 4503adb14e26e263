"""The report: artefacts or one run as a single HTML file that asks the network for nothing."""

from __future__ import annotations

import base64
import io
import json
import shlex
from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from eifel import toml
from eifel.papers.artefact import Recorded, Studied
from eifel.report.chart import chart
from eifel.report.comparison import claims_html, flows_html, known_html, settings_html, summary_html, verdict_of

COLUMNS = ("columns.js",)
"""What opens the numbers of both."""
SCRIPTS = ("uplot/uPlot.iife.min.js", "touch.js", "chart.js")
"""What draws the charts, in the order in which it is needed."""
MAPS = ("atlas.js",)
"""What draws maps."""

if TYPE_CHECKING:
    from eifel.papers.artefact import Row
    from eifel.papers.measured import Measured
    from eifel.result import Result


def build(measured: Sequence[Measured]) -> str:
    """The page for these artefacts, in this order."""
    index = "".join(_index_row(one) for one in measured)
    sections = "".join(_section(one) for one in measured)
    charts = any(map(_has_chart, measured))
    intro = _part("index.html", rows=index, count=str(len(measured)), charts=_part("how.html") if charts else "")
    maps = MAPS if any(map(_map_of, measured)) else ()
    return _page("Published beside measured", intro + sections, charts, maps)


def build_run(result: Result, flows: Sequence[int] | None = None) -> str:
    """The page for one run: the summary of its flows, the pictures of all of them or of some, its scenario."""
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
    return _page(title, body, True)


def _flow(result: Result, number: int) -> str:
    name = str(result.flows[number]["flow"])
    return f"<h2>{escape(name)}</h2>{chart(result, number, name)}"


def command_of(measured: Measured) -> str:
    """The command line that measures the artefact again, as it is here."""
    artefact = measured.artefact
    words = ["eifel", "reproduce", artefact.id, "--seed", str(measured.seed)]
    if not artefact.is_recorded and (artefact.study is None or measured.repetitions > 1):
        words += ["--repetitions", str(measured.repetitions)]
    line = shlex.join(words)
    return f"{line} --trace FILE…" if artefact.inputs else line


def _section(measured: Measured) -> str:
    artefact = measured.artefact
    charts = chart(measured.results[0], 0, artefact.title) if _has_chart(measured) else _picture(measured)
    return _part(
        "artefact.html",
        id=escape(artefact.id),
        title=escape(artefact.title),
        source=escape(artefact.source),
        charts=charts,
        summary=(_map_of(measured) or summary_html)(measured),
        claims=claims_html(measured) + known_html(artefact),
        settings=settings_html(artefact),
        command=escape(command_of(measured)),
        seed=str(measured.seed),
        repetitions=str(measured.repetitions),
        elapsed=f"{measured.elapsed_s:.2f}",
        scenarios=_settings(measured),
    )


def _has_chart(measured: Measured) -> bool:
    method = measured.artefact.method
    return isinstance(method, Recorded) and method.chart


def _map_of(measured: Measured) -> Callable[[Measured], str] | None:
    method = measured.artefact.method
    return method.show if isinstance(method, Studied) else None


def _picture(measured: Measured) -> str:
    """The drawing as an image: several in one page would share the names inside of them."""
    if measured.artefact.draw is None:
        return ""
    from eifel.plots import save

    out = io.BytesIO()
    save(measured.artefact.draw(measured), out, "svg")
    source = base64.b64encode(out.getvalue()).decode()
    return f'<img class="picture" alt="{escape(measured.artefact.title)}" src="data:image/svg+xml;base64,{source}">\n'


def _settings(measured: Measured) -> str:
    """What was run: the scenario of each row, or the design of a study."""
    study = measured.artefact.study
    if study is None:
        scenarios = "".join(_scenario(row.row, measured.seed) for row in measured.rows)
        return f"<details><summary>Settings: the scenario of each row</summary>{scenarios}</details>"
    design = escape(json.dumps(study.design, indent=2, ensure_ascii=False))
    return f"<details><summary>Settings: the design of the study</summary><pre>{design}</pre></details>"


def _scenario(row: Row, seed: int) -> str:
    text = toml.dumps({**row.scenario, "seed": seed})
    return f"<details><summary>{escape(row.name)}</summary><pre>{escape(text)}</pre></details>"


def _index_row(measured: Measured) -> str:
    artefact = measured.artefact
    verdict, words = verdict_of(measured)
    return (
        f'<tr><td><a href="#{escape(artefact.id)}">{escape(artefact.id)}</a></td>'
        f'<td>{escape(artefact.title)}</td><td class="{verdict}">{escape(words)}</td></tr>'
    )


def _page(title: str, body: str, charts: bool, maps: Sequence[str] = ()) -> str:
    from eifel import _engine

    drawing = (*(SCRIPTS if charts else ()), *maps)
    scripts = "".join(f"<script>{_script(name)}</script>\n" for name in (*(COLUMNS if drawing else ()), *drawing))
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
    # The one thing that could end a script early; in JavaScript the two mean the same.
    return _text(name).replace("</script", "<\\/script")


def _part(name: str, **values: str) -> str:
    return Template(_text(name)).substitute(values)


@cache
def _text(name: str) -> str:
    return (files("eifel.report") / name).read_text(encoding="utf-8")
