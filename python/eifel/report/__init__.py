"""The report: artefacts or one run as a single HTML file that asks the network for nothing."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from eifel import toml
from eifel.report.chart import chart
from eifel.report.comparison import claims_html, flows_html, summary_html, verdict_of

if TYPE_CHECKING:
    from eifel.papers.measured import Measured
    from eifel.result import Result


def build(measured: Sequence[Measured]) -> str:
    """The page for these artefacts, in this order."""
    index = "".join(_index_row(one) for one in measured)
    sections = "".join(_section(one) for one in measured)
    intro = _part("index.html", rows=index, count=str(len(measured)))
    return _page("Published beside measured", intro + sections, any(one.results for one in measured))


def build_run(result: Result) -> str:
    """The page for one run: the summary of its flows, its pictures, its scenario."""
    title = str(result.source.settings.get("title", "One run"))
    body = _part(
        "run.html",
        title=escape(title),
        seed=escape(str(result.source.seed)),
        repetition=str(result.repetition),
        summary=flows_html(result.flows),
        charts="".join(chart(result, number, str(flow["flow"])) for number, flow in enumerate(result.flows)),
        scenario=escape(result.source.text),
    )
    return _page(title, body, True)


def command_of(measured: Measured) -> str:
    """The command line that measures the artefact again, as it is here."""
    artefact = measured.artefact
    words = ["eifel", "reproduce", artefact.id, "--seed", str(measured.seed)]
    if not artefact.is_figure:
        words += ["--repetitions", str(measured.repetitions)]
    line = shlex.join(words)
    return f"{line} --trace FILE…" if artefact.rows_of_traces else line


def _section(measured: Measured) -> str:
    artefact = measured.artefact
    charts = ""
    if measured.results:
        charts = chart(measured.results[0], 0, artefact.title)
    fitted = "".join(
        f"<li><b>{escape(s.name)}</b>: {escape(s.value)} <span class=dim>({escape(s.reason)})</span></li>"
        for s in artefact.fitted
    )
    return _part(
        "artefact.html",
        id=escape(artefact.id),
        title=escape(artefact.title),
        source=escape(artefact.source),
        charts=charts,
        summary=summary_html(measured),
        claims=claims_html(measured),
        fitted=f"<h3>Fitted settings</h3><ul class=fitted>{fitted}</ul>" if fitted else "",
        command=escape(command_of(measured)),
        seed=str(measured.seed),
        repetitions=str(measured.repetitions),
        elapsed=f"{measured.elapsed_s:.2f}",
        scenarios="".join(_scenario(row.row.keys, row.row.scenario, measured.seed) for row in measured.rows),
    )


def _scenario(keys: object, scenario: object, seed: int) -> str:
    assert isinstance(keys, dict)
    assert isinstance(scenario, dict)
    name = ", ".join(f"{key} {value}" for key, value in keys.items())
    text = toml.dumps({**scenario, "seed": seed})
    return f"<details><summary>{escape(name)}</summary><pre>{escape(text)}</pre></details>"


def _index_row(measured: Measured) -> str:
    artefact = measured.artefact
    verdict, words = verdict_of(measured)
    return (
        f'<tr><td><a href="#{escape(artefact.id)}">{escape(artefact.id)}</a></td>'
        f'<td>{escape(artefact.title)}</td><td class="{verdict}">{escape(words)}</td></tr>'
    )


def _page(title: str, body: str, charts: bool) -> str:
    from eifel import _engine

    scripts = "".join(f"<script>{_script(name)}</script>\n" for name in ("uplot/uPlot.iife.min.js", "chart.js"))
    return _part(
        "page.html",
        title=escape(title),
        version=escape(_engine.version()),
        style=_text("uplot/uPlot.min.css") + _text("style.css") if charts else _text("style.css"),
        licence=_text("uplot/LICENSE").replace("--", "- -") if charts else "",
        scripts=scripts if charts else "",
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
