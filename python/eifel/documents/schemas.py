"""Writes schemas/*.schema.json: a JSON Schema of what each command prints with `--json`."""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from eifel import observed, truth
from eifel.cli.output import VERSIONS
from eifel.documents import REFERENCE
from eifel.registry import seams

FOLDER = REFERENCE / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]
ANY: Schema = {}
BOOL: Schema = {"type": "boolean"}
INT: Schema = {"type": "integer"}
NUM: Schema = {"type": "number"}
STR: Schema = {"type": "string"}
NULL: Schema = {"type": "null"}


def either(*forms: Schema) -> Schema:
    return {"anyOf": [*forms]}


def maybe(form: Schema) -> Schema:
    """Allows null too: the value does not exist, or is no finite number."""
    return {"type": [form["type"], "null"]} if set(form) == {"type"} else either(form, NULL)


def word(*words: str) -> Schema:
    return {"enum": [*words]}


def array(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def pair(of: Schema) -> Schema:
    return {"type": "array", "items": of, "minItems": 2, "maxItems": 2}


def named(of: Schema) -> Schema:
    """Returns the schema of an object with any keys."""
    return {"type": "object", "additionalProperties": of}


def record(keys: Mapping[str, Schema], others: Mapping[str, Schema] | None = None, about: str = "") -> Schema:
    """Returns the schema of an object with all of `keys`, and perhaps some of `others`."""
    described = {"description": about} if about else {}
    return {"type": "object", **described, "properties": {**keys, **(others or {})}, "required": [*keys]}


def counts(kind: type) -> dict[str, Schema]:
    """Returns an integer for each field of a dataclass of counts."""
    return {field.name: INT for field in fields(kind)}


MEANS = named(maybe(NUM))
INTERVALS = named(maybe(pair(NUM)))
VERDICT = word("spurious", "needed", "undecidable")
CONFIDENCE = word("certain", "likely", "weak")
CAUSE = word("rto", "loss", "fast", "tlp", "zero-window-probe", "keep-alive", "syn", "path-mtu", "unknown")


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
    return record({"scenarios": array(STR), "seed": INT, "repetitions": INT, "flow": STR, "numbers": array(number)})


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


def _analyze() -> Schema:
    direction = {
        "vantage": word("sender", "receiver", "between", "unknown"),
        "rtt_ms_min": maybe(NUM),
        "offered": maybe(record({"timestamps": BOOL, "sack": BOOL})),
        "reordered_ms_max": maybe(NUM),
        "reports_duplicates": maybe(BOOL),
        "model": maybe(STR),
        "cost": record(
            {
                "bytes_needless": INT,
                "window_lost_bytes": INT,
                "held_back_ms": NUM,
                "goodput_bps": NUM,
                "goodput_without_bps": NUM,
            }
        ),
        "segments": INT,
        "bytes": INT,
        "retransmissions": INT,
        "bytes_again": INT,
        "reordered": INT,
        "bytes_not_seen": INT,
        "acks": INT,
    }
    connection = {
        "connection": INT,
        "protocol": word("tcp", "sctp"),
        "client": STR,
        "server": STR,
        "other_addresses": pair(array(STR)),
        "tunnel": INT,
        "vlans": array(INT),
        "time_s": NUM,
        "duration_s": NUM,
        "packets": INT,
        "twins": INT,
        "directions": pair(record(direction)),
    }
    told = record({"detector": STR, "frame": INT, "spurious": BOOL, "reason": STR})
    retransmission = {
        "capture": INT,
        "frame": INT,
        "time_s": NUM,
        "connection": INT,
        "sender": word("client", "server"),
        "bytes": INT,
        "copy": INT,
        "cause": CAUSE,
        "other_cause": maybe(CAUSE),
        "verdict": VERDICT,
        "confidence": CONFIDENCE,
        "reason": STR,
        "evidence_frame": maybe(INT),
        "since_first_ms": maybe(NUM),
        "answered_ms": maybe(NUM),
        "answered_as_duplicate": BOOL,
        "stack_noticed": word("undone", "not-undone", "cannot-be-told"),
        "window_lost_bytes": maybe(INT),
        "flight_back_ms": maybe(NUM),
        "first_told": array(told),
    }
    advice = record(dict.fromkeys(("fault", "evidence", "action", "confirm", "source"), STR))
    whole = {
        "captures": array(record({"file": STR, "frames": INT, "error": maybe(STR)})),
        "segments": INT,
        "sctp_packets": INT,
        "others": named(INT),
        "times_clock_went_back": INT,
        "evicted": INT,
        "connections": array(record(connection)),
        "connections_without_data": INT,
        "retransmissions": array(record(retransmission, {"seq": INT, "tsn": INT})),
        "advice": array(advice),
    }
    return record(whole, {"headline": STR, "quic": _quic(), "score": _score(), "tshark": _tshark()})


def _quic() -> Schema:
    trace = {
        "file": STR,
        "vantage": maybe(STR),
        "connection": maybe(STR),
        "other_end": maybe(INT),
        "duration_ms": NUM,
        "sent": INT,
        "lost": INT,
        "unnamed": INT,
        "damaged": INT,
        "notes": array(STR),
    }
    packet = {
        "trace": INT,
        "path_id": maybe(INT),
        "time_ms": NUM,
        "space": STR,
        "packet_number": INT,
        "bytes": INT,
        "trigger": maybe(STR),
        "event": maybe(INT),
        "verdict": word("spurious", "genuine", "undecidable"),
        "confidence": CONFIDENCE,
        "reason": STR,
        "acknowledged_ms": maybe(NUM),
    }
    undo = record({"rule": STR, "stacks": STR, "takes_back": NUM, "time_ms": maybe(NUM)})
    event = {
        "trace": INT,
        "path_id": maybe(INT),
        "event": INT,
        "time_ms": NUM,
        "lost": INT,
        "unnamed": INT,
        "late": INT,
        "cwnd_before": maybe(INT),
        "cwnd_after": maybe(INT),
        "stack_noticed": word("undone", "harmful", "not-undone", "cannot-be-told"),
        "restored_ms": maybe(NUM),
        "rules": array(undo),
    }
    rule = record({"rule": STR, "stacks": STR, "source": STR})
    return record(
        {
            "traces": array(record(trace)),
            "packets": array(record(packet)),
            "events": array(record(event)),
            "rules": array(rule),
        },
        about="Only with logs of QUIC.",
    )


def _score() -> Schema:
    names = (
        *("retransmissions", "found", "cause_right", "cause_undecided", "cause_undecided_right", "verdict_right"),
        *("right", "undecidable", "spurious_called_needed", "needed_called_spurious_certainly"),
        *("needed_called_spurious", "not_in_truth"),
    )
    wrong = record({"frame": INT, "seq": INT, "copy": INT, "truth": STR, "found": STR})
    return record(
        {"matched_by": word("frame", "time", "order"), **dict.fromkeys(names, INT), "wrong": array(wrong)},
        about="Only with --score.",
    )


def _tshark() -> Schema:
    row = {"cause": STR, "verdict": STR, "tshark": STR, "why": STR, "count": INT, "frames": array(INT)}
    return {"description": "Only with --compare-tshark.", **array(record(row))}


def _whatif() -> Schema:
    bounds = record({"low": NUM, "middle": NUM, "high": NUM})
    sender = {"name": STR, "faster": NUM, "goodput_bps": bounds, "time_s": bounds, "retransmissions": bounds}
    prediction = {
        "captured_goodput_bps": NUM,
        "draws": INT,
        "seed": INT,
        "senders": array(record(sender)),
        "orders": array(record({"senders": array(array(STR)), "share": NUM})),
    }
    events = {**dict.fromkeys(("bytes", "retransmissions", "spurious", "timeouts"), INT), "took_s": NUM}
    compared = record({"what": STR, "captured": NUM, "replayed": NUM, "agrees": BOOL})
    replay = {"agrees": BOOL, "compared": array(compared), "sender": named(ANY), "others": array(named(ANY))}
    found = {
        "sender": STR,
        "receiver": STR,
        "model": maybe(STR),
        "events": record({**events, "rtt_ms": NUM, "rtt_ms_p90": NUM}),
        "path": _path(),
        "replay": record(replay),
    }
    return record({"refused": maybe(STR), "way_on": maybe(STR), "prediction": maybe(record(prediction))}, found)


def _path() -> Schema:
    ends = {
        **dict.fromkeys(("bytes", "initial_window", "payload_bytes", "window_bytes"), INT),
        **dict.fromkeys(("dsack", "ipv6", "opens", "sack", "timestamps"), BOOL),
        "took_s": NUM,
    }
    hold = {"start_s": pair(NUM), "end_s": NUM, "kind": word("sending", "arriving", "back", "open")}
    return record(
        {
            "rate_bps": NUM,
            "rate_seen": BOOL,
            "base_rtt_ms": NUM,
            "explained": NUM,
            "queue": record({"largest_packets": INT, "overflowed": BOOL}),
            "holds": array(record(hold)),
            "losses": record(dict.fromkeys(("at_queue", "random", "runs", "of"), INT)),
            "reordering": record({"packets": INT, "length": INT, "longest_s": NUM}),
            "acks": record({"every": INT, "delay_ms": NUM, "delay_seen": BOOL, "heard": INT, "lost": INT}),
            "ends": record(ends),
        }
    )


def _truth_score() -> Schema:
    row = {"place": STR, "by": word("all", "class", "cause"), "name": STR, **counts(truth.Score)}
    return record({"folder": STR, "tool": STR, "rows": array(record(row))})


FORMS: Mapping[str, tuple[str, Callable[[], Schema]]] = {
    "analyze": ("eifel analyze", _analyze),
    "attacks": ("eifel attacks", _attacks),
    "captures": ("eifel captures", lambda: record({"folder": STR, "captures": INT, "restless": array(INT)})),
    "compare": ("eifel compare", _compare),
    "hunt": ("eifel hunt", _hunt),
    "list": ("eifel list", _list),
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
    "truth-score": ("eifel truth score", _truth_score),
    "whatif": ("eifel whatif", _whatif),
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
