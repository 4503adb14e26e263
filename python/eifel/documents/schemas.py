"""Writes schemas/*.schema.json: a JSON Schema of what each command prints with `--json`."""

import json
from collections.abc import Callable, Mapping

from eifel import observed
from eifel.cli.output import VERSIONS
from eifel.documents import REFERENCE, captures_schemas, live_schemas
from eifel.documents.json_schema import (
    ANY,
    BOOL,
    INT,
    NUM,
    STR,
    Schema,
    array,
    counts,
    maybe,
    named,
    pair,
    record,
    word,
)
from eifel.registry import seams

FOLDER = REFERENCE / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"

MEANS = named(maybe(NUM))
INTERVALS = named(maybe(pair(NUM)))


def _run() -> Schema:
    words = {"flow": STR, "name": STR, "delay_ms": maybe(NUM)}
    detector = record({**counts(observed.Detector), **words})
    waits = record({"mean": maybe(NUM), "p95": maybe(NUM), "p99": maybe(NUM)})
    flow = {"flow": STR, "from": STR, "to": STR, "mean": MEANS, "interval95": INTERVALS}
    return record(
        {
            "scenario": STR,
            "seed": INT,
            "repetition": INT,
            "repetitions": INT,
            "flows": array(record(flow)),
            "fairness": maybe(NUM),
            "detectors": maybe(array(detector)),
            "queueing_ms": maybe(named(maybe(waits))),
        }
    )


def _compare() -> Schema:
    values = array(maybe(NUM))
    number = record({"name": STR, "mean": values, "difference": values, "interval95": array(maybe(pair(NUM)))})
    less = record({"protocol": STR, "mean": NUM, "interval95": pair(NUM)})
    advice = record({"protocol": STR, "equal": array(STR), "less_percent": array(less)})
    head = {"scenarios": array(STR), "seed": INT, "repetitions": INT, "flow": STR, "numbers": array(number)}
    return record(head, {"recommendation": maybe(advice)})


def _sweep() -> Schema:
    cell = record({"cell": INT, "case": maybe(STR), "set": named(ANY), "mean": MEANS, "interval95": INTERVALS})
    failed = record({"cell": INT, "repetition": INT, "error": STR, "reproduce": STR})
    return record(
        {"title": STR, "folder": STR, "runs": INT, "flow": STR, "cells": array(cell), "failed": array(failed)}
    )


def _reproduce() -> Schema:
    row = record(
        {"keys": named(ANY), "published": named(NUM), "measured": MEANS, "agrees": named(BOOL)},
        {"interval95": named(pair(NUM))},
    )
    setting = {"name": STR, "value": STR, "reason": STR, "kind": word("fitted", "chosen"), "rows": array(STR)}
    artefact = {
        "id": STR,
        "title": STR,
        "source": STR,
        "columns": array(STR),
        "rows": array(row),
        "claims": array(record({"text": STR, "holds": BOOL}, {"reason": STR})),
        "fitted": array(record(setting)),
        "known": array(STR),
        "settings": array(named(ANY)),
        "repetitions": INT,
        "seed": INT,
        "elapsed_s": NUM,
    }
    return record({"artefacts": array(record(artefact))})


def _list() -> Schema:
    parameter = {
        "name": STR,
        "kind": STR,
        "default": ANY,
        "minimum": maybe(NUM),
        "maximum": maybe(NUM),
        "allowed": maybe(array(STR)),
        "summary": STR,
    }
    algorithm = {
        "seam": word(*seams()),
        "name": STR,
        "summary": STR,
        "source": STR,
        "needs": maybe(STR),
        "association": BOOL,
        "parameters": array(record(parameter)),
    }
    artefact = {
        "id": STR,
        "title": STR,
        "source": STR,
        "kind": word("figure", "table"),
        "repetitions": INT,
        "needs_traces": BOOL,
        "long": BOOL,
    }
    return record({}, {"algorithms": array(record(algorithm)), "artefacts": array(record(artefact))})


def _script() -> Schema:
    note = record({"line": INT, "what": STR})
    row = {
        "line": INT,
        "side": word("application", "arrives", "leaves"),
        "expected": STR,
        "due_s": maybe(pair(NUM)),
        "seen": array(record({"at_s": NUM, "text": STR})),
        "failed": BOOL,
    }
    script = {
        "script": STR,
        "passed": BOOL,
        "lasted_s": NUM,
        "failure": maybe(note),
        "notes": array(note),
        "rows": array(record(row)),
    }
    return record({"scripts": array(record(script))})


def _worlds() -> Schema:
    verdicts = record({"spurious": INT, "genuine": INT, "undecided": INT})
    episodes = record({"needless": verdicts, "needed": verdicts})
    failure = record({"worlds": INT, "smallest": maybe(STR)})
    numbers = dict.fromkeys(("worlds", "run", "with_loss", "with_episode", "undone"), INT)
    return record(
        {**numbers, "after_timeout": episodes, "after_duplicates": episodes, "failures": named(failure)},
    )


def _hunt() -> Schema:
    found = record({"value": NUM, "error": NUM, "scenario": STR})
    claim = {
        "claim": STR,
        "most": NUM,
        "share": NUM,
        "refuted": BOOL,
        "scenarios": INT,
        "drawn": INT,
        "refuting": INT,
        "mean": NUM,
        "worst": found,
        "against": array(found),
    }
    liar = record({"gain": NUM, "runs": INT, "liar": STR, "most": NUM, "refuted": BOOL})
    return record({"claims": array(record(claim)), "liars": maybe(liar)})


def _attacks() -> Schema:
    finding = {
        "what": STR,
        "unit": STR,
        "measured": NUM,
        "limit": word("at most", "at least", "exactly", "reported"),
        "bound": maybe(NUM),
        "timed": BOOL,
        "holds": BOOL,
    }
    attack = {"name": STR, "summary": STR, "source": STR, "defence": STR}
    measured = {"findings": array(record(finding)), "holds": BOOL}
    return record({"attacks": array(record(attack, measured, about="With --list, nothing is measured."))})


FORMS: Mapping[str, tuple[str, Callable[[], Schema]]] = {
    "advise": ("eifel advise", captures_schemas.advise),
    "analyze": ("eifel analyze", captures_schemas.analyze),
    "analyze-folder": ("eifel analyze FOLDER", captures_schemas.folder),
    "analyze-places": ("eifel analyze --sender --receiver", captures_schemas.places),
    "attacks": ("eifel attacks", _attacks),
    "captures": ("eifel captures", lambda: record({"folder": STR, "captures": INT, "restless": array(INT)})),
    "compare": ("eifel compare", _compare),
    "hunt": ("eifel hunt", _hunt),
    "list": ("eifel list", _list),
    "counters": ("eifel counters", captures_schemas.counters),
    "live-compare": ("eifel live compare", live_schemas.compare),
    "live-hiccup": ("eifel live hiccup", live_schemas.hiccup),
    "live-judge": ("eifel live judge", live_schemas.judge),
    "live-proxy": ("eifel live proxy", live_schemas.proxy),
    "live-receive": ("eifel live receive", live_schemas.receive),
    "live-sctp": ("eifel live sctp", live_schemas.sctp),
    "live-worlds": ("eifel live worlds", live_schemas.worlds),
    "new": ("eifel new NAME", lambda: record({"template": STR, "file": STR})),
    "report": ("eifel report", lambda: record({"report": STR, "artefacts": array(STR), "bytes": INT})),
    "reproduce": ("eifel reproduce", _reproduce),
    "run": ("eifel run", _run),
    "script": ("eifel script", _script),
    "sweep": ("eifel sweep", _sweep),
    "sweep-check": (
        "eifel sweep --check",
        lambda: record(dict.fromkeys(("cells", "repetitions", "runs", "shards"), INT)),
    ),
    "templates": ("eifel new", lambda: record({"templates": named(STR)})),
    "truth-score": ("eifel truth score", captures_schemas.truth_score),
    "watch": ("eifel watch", captures_schemas.watch),
    "watch-summary": ("eifel watch", captures_schemas.watch_summary),
    "whatif": ("eifel whatif", captures_schemas.whatif),
    "worlds": ("eifel worlds", _worlds),
}
"""The command that prints each form, and the schema of its keys after `schema` and `version`."""


def schema(name: str) -> Schema:
    """Returns the whole schema of an output."""
    command, form = FORMS[name]
    made = form()
    marks = {"schema": {"const": name}, "version": {"const": VERSIONS[name]}}
    head = {"$schema": DIALECT, "$id": f"{name}.schema.json", "title": f"{command} --json"}
    properties, required = {**marks, **made["properties"]}, [*marks, *made["required"]]
    return {**head, **made, "properties": properties, "required": required}


def text(name: str) -> str:
    return json.dumps(schema(name), indent=2) + "\n"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in FORMS:
        (FOLDER / f"{name}.schema.json").write_text(text(name), encoding="utf-8")
