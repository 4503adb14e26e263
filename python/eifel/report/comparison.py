"""Shows published beside measured values as HTML, and the paper's claims with their verdicts."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from eifel.papers.artefact import Artefact, Column, Measured, MeasuredRow, Setting, word
from eifel.result import shown

MOSTLY = 0.8
"""The least share of values within tolerance for the verdict `mostly`."""


def verdict_of(measured: Measured) -> tuple[str, str]:
    """Returns a class and words for the whole artefact: how many values and claims are as published.

    The class is `good` if all are, `mostly` if every claim holds and most values are, and `outside` otherwise.
    """
    judged = [row.agrees(column) for row in measured.rows for column in measured.artefact.columns]
    judged = [verdict for verdict in judged if verdict is not None]
    claims = [claim["holds"] for claim in measured.claims()]
    words = []
    if judged:
        words.append(f"{sum(map(bool, judged))} of {len(judged)} values within tolerance")
    if claims:
        words.append(f"{sum(claims)} of {len(claims)} claims hold")
    verdict = "good" if all(judged) and all(claims) else "outside"
    if verdict == "outside" and all(claims) and sum(map(bool, judged)) >= MOSTLY * len(judged):
        verdict = "mostly"
    return verdict, ", ".join(words) or "nothing to judge"


def summary_html(measured: Measured) -> str:
    """Returns the table of the artefact, with marks on values outside their tolerance."""
    artefact = measured.artefact
    published = any(row.row.published for row in measured.rows)
    span = ' colspan="2"' if published else ""
    first = "".join(f"<th{' rowspan=2' if published else ''}>{escape(_key(key))}</th>" for key in artefact.keys)
    first += "".join(f'<th class="n"{span}>{escape(column.title)}</th>' for column in artefact.columns)
    second = ""
    if published:
        pair = '<th class="n dim">published</th><th class="n dim">measured</th>'
        second = f"<tr>{pair * len(artefact.columns)}</tr>"
    rows = "".join(_row(measured, number, published) for number in range(len(measured.rows)))
    name = "pairs" if published else "alone"
    head = f"<thead><tr>{first}</tr>{second}</thead>"
    return f'<div class="scroll"><table class="rows {name}">{head}<tbody>{rows}</tbody></table></div>'


def _row(measured: Measured, number: int, published: bool) -> str:
    artefact, row = measured.artefact, measured.rows[number]
    calibration = artefact.is_calibration(row.row)
    tag = ' <span class="tag" title="a setting was fitted to this row">calibration</span>' if calibration else ""
    keys = list(row.row.keys.values())
    cells = "".join(f'<th class="key">{escape(word(key))}</th>' for key in keys[:-1])
    cells += "".join(f'<th class="key">{escape(word(key))}{tag}</th>' for key in keys[-1:])
    # On a phone a row is a card, and its keys are the card's title.
    cells += f'<th class="name">{escape(row.row.name)}{tag}</th>'
    for column in artefact.columns:
        title = f'data-title="{escape(column.title)}"'  # in a card each value needs its name
        if published:
            value = row.row.published.get(column.name)
            printed = "" if value is None else f"{value:.{column.digits}f}"
            cells += f'<td class="n" {title}><span>{printed}</span></td>{_measured(column, row)}'
        else:
            cells += f'<td class="n" {title}><span>{_number(column, row)}</span></td>'
    return f'<tr class="group">{cells}</tr>' if artefact.begins_group(number) else f"<tr>{cells}</tr>"


def _measured(column: Column, row: MeasuredRow) -> str:
    if row.agrees(column) is not False:
        return f'<td class="n">{_number(column, row)}</td>'
    if column.name not in row.means:
        return '<td class="n outside"><span class="away">not found</span></td>'
    published, found = row.row.published[column.name], row.means[column.name].mean
    share = (found / published - 1) * 100 if published else 0.0
    away = f"{share:+.{0 if abs(share) >= 10 else 1}f} %" if published else f"{found - published:+.2f}"
    return f'<td class="n outside">{_number(column, row)} <span class="away">outside: {away}</span></td>'


def _number(column: Column, row: MeasuredRow) -> str:
    mean = row.means.get(column.name)
    if mean is None:
        return ""
    spread = mean.spread(column.digits)
    return f"{mean.mean:.{column.digits}f}" + (f' <span class="dim">{spread}</span>' if spread else "")


def claims_html(measured: Measured) -> str:
    """Returns the list of claims, each with a word that says whether it holds."""
    items = []
    for claim in measured.claims():
        reason = f' <span class="dim">({escape(claim["reason"])})</span>' if claim.get("reason") else ""
        state, word = ("good", "holds") if claim["holds"] else ("outside", "fails")
        items.append(f'<li><span class="mark {state}">{word}</span> {escape(claim["text"])}{reason}</li>')
    return f'<ul class="claims">{"".join(items)}</ul>' if items else ""


def known_html(artefact: Artefact) -> str:
    """Returns the known reasons why values or claims differ from the published ones."""
    items = "".join(f"<li>{escape(text)}</li>" for text in artefact.known)
    return f'<h3>What is known of what does not agree</h3><ul class="open">{items}</ul>' if items else ""


def settings_html(artefact: Artefact) -> str:
    """Returns the settings that the paper leaves open: fitted ones with their rows, and chosen ones."""
    parts = ""
    for kind, title in (("fitted", "Fitted settings"), ("chosen", "Chosen settings: the paper gives nothing")):
        items = "".join(_setting(setting) for setting in artefact.fitted if setting.kind == kind)
        parts += f'<h3>{title}</h3><ul class="open">{items}</ul>' if items else ""
    return parts


def _setting(setting: Setting) -> str:
    to = f"; fitted to {'; '.join(setting.rows)}" if setting.rows else ""
    reason = f'<span class="dim">({escape(setting.reason + to)})</span>'
    return f"<li><b>{escape(setting.name)}</b>: {escape(setting.value)} {reason}</li>"


def flows_html(flows: Sequence[Mapping[str, Any]]) -> str:
    """Returns the summary of a run, with a row per flow and a column per number that is not always zero."""
    names = [name for name in flows[0] if name != "flow" and any(flow.get(name) for flow in flows)]
    head = "".join(f'<th class="n">{escape(_key(name))}</th>' for name in names)
    rows = "".join(
        f"<tr><th>{escape(str(flow['flow']))}</th>"
        + "".join(f'<td class="n">{escape(shown(flow.get(name)))}</td>' for name in names)
        + "</tr>"
        for flow in flows
    )
    return f"<table><thead><tr><th>flow</th>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _key(name: str) -> str:
    return name.replace("_", " ")
