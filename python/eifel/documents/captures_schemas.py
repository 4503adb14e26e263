"""The schemas of what is printed about captures."""

from eifel import truth
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

VERDICT = word("spurious", "needed", "undecidable")
CONFIDENCE = word("certain", "likely", "weak")
CAUSE = word(
    "rto", "loss", "fast", "tlp", "zero-window-probe", "keep-alive", "repeated-fin", "syn", "path-mtu", "unknown"
)

KERNELS_CAUSE = word("rto", "loss", "fast", "rack-timer", "tlp", "syn", "path-mtu", "unknown")


def analyze() -> Schema:
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
        "directions": pair(_direction()),
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
        "retransmissions": array(_retransmission()),
        "advice": array(advice),
    }
    return record(whole, {"headline": STR, "quic": _quic(), "score": _score(), "tshark": _tshark()})


def _direction() -> Schema:
    return record(
        {
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
    )


def _retransmission() -> Schema:
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
    return record(retransmission, {"seq": INT, "tsn": INT})


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


def advise() -> Schema:
    counts = ("needless_gone", "needless_left", "repeats_gone", "needed_later", "mistaken", "undecidable")
    point = {"value": NUM, "later_ms": NUM, **dict.fromkeys(counts, INT)}
    curve = {
        "knob": word("smallest-rto", "duplicate-threshold", "reordering-window", "f-rto", "tail-loss-probes"),
        "now": maybe(NUM),
        "points": array(record(point)),
        "named": maybe(INT),
        "reason": maybe(STR),
        "commands": array(STR),
        **dict.fromkeys(("title", "unit", "sentence", "exactness"), STR),
    }
    settings = record({"rto_min_ms": NUM, "rack": BOOL})
    return record(
        {"files": array(STR), "retransmissions": INT, "settings": settings, "curves": array(record(curve))},
    )


def whatif() -> Schema:
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


def folder() -> Schema:
    count = {"cause": CAUSE, "verdict": VERDICT, "count": INT}
    failed = record({"file": STR, "error": STR})
    return record(
        {
            "folder": STR,
            "files": INT,
            "retransmissions": INT,
            "counts": array(record(count)),
            "failed": array(failed),
        }
    )


def places() -> Schema:
    clock = {
        "place": STR,
        **dict.fromkeys(("ahead_ms", "off_by_ms", "least_drift_ppm", "most_drift_ppm"), maybe(NUM)),
        "stepped": BOOL,
    }
    direction = {
        **dict.fromkeys(("segments", "bytes", "arrived", "lost", "unknown"), INT),
        "lost_between": array(record({"from": STR, "to": STR, "lost": INT})),
        "copies": INT,
        "reordered": INT,
        "reordered_ms_max": maybe(NUM),
        "delay_ms": maybe(record(dict.fromkeys(("min", "median", "max"), NUM))),
        "captures": record(dict.fromkeys(("not_at_sender", "not_at_receiver"), INT)),
        "retransmissions": record(dict.fromkeys(("spurious", "needed", "undecidable"), INT)),
    }
    connection = {
        "connection": INT,
        "sender": STR,
        "receiver": STR,
        "clocks": array(record(clock)),
        "directions": pair(record(direction)),
    }
    retransmission = {
        "connection": INT,
        "from_sender": BOOL,
        "time_s": NUM,
        "frames": array(maybe(INT)),
        "seq": INT,
        "bytes": INT,
        "copy": INT,
        "fate": word("arrived", "lost", "unknown"),
        "lost_between": maybe(pair(STR)),
        "verdict": VERDICT,
        "confidence": CONFIDENCE,
        "original_known": BOOL,
    }
    return record(
        {
            "places": array(record({"place": STR, "file": STR, "frames": INT, "error": maybe(STR)})),
            "connections": array(record(connection)),
            "connections_alone": INT,
            "retransmissions": array(record(retransmission)),
        }
    )


def truth_score() -> Schema:
    row = {"place": STR, "by": word("all", "class", "cause", "verdict"), "name": STR, **counts(truth.Score)}
    return record({"folder": STR, "tool": STR, "rows": array(record(row))})


def counters() -> Schema:
    """Returns the schema of the counters of a host or of its sockets."""
    group = word("retransmissions", "duplicates", "undone", "reordering", "sockets")
    situation = word(
        "without-sack",
        "copies",
        "duplicates-and-reordering",
        "few-duplicates-and-reordering",
        "duplicates",
        "few-duplicates",
        "no-duplicates-but-signs",
        "no-sign",
    )
    shares = dict.fromkeys(("share", "low", "high"), NUM)
    return record(
        {
            "seconds": maybe(NUM),
            "counters": array(record({"name": STR, "group": group, "value": INT, "means": STR})),
            "retransmissions": maybe(INT),
            "duplicates": maybe(NUM),
            "estimate": maybe(record({"situation": situation, **shares, "recordings": INT, "kernel": STR})),
            "no_estimate": maybe(STR),
        }
    )


def watch() -> Schema:
    """Returns the schema of a retransmission's line."""
    times = ("timer_ms", "probed_ms", "smoothed_ms", "variation_ms", "rtt_min_ms", "overtaken_ms")
    trigger = record(
        {**dict.fromkeys(times, maybe(NUM)), "quiet_ms": NUM, "segments": INT, "reports_ms": maybe(array(NUM))}
    )
    row = {
        **dict.fromkeys(("time_s",), NUM),
        **dict.fromkeys(("connection", "namespace", "seq", "bytes", "cwnd_before", "cwnd"), INT),
        **dict.fromkeys(("local", "remote", "reason"), STR),
        "cause": KERNELS_CAUSE,
        "verdict": VERDICT,
        "confidence": CONFIDENCE,
        "kernel_undid": maybe(BOOL),
        **dict.fromkeys(("undone_after_ms", "since_first_ms", "answered_ms", "flight_back_ms"), maybe(NUM)),
        "window_lost_bytes": maybe(INT),
        "answered_as_duplicate": BOOL,
        "trigger": maybe(trigger),
        "f_rto": maybe(word("detected", "missed", "open")),
    }
    return record(row)


def watch_summary() -> Schema:
    """Returns the schema of the last line."""
    verdicts = {"retransmissions": INT, **dict.fromkeys(VERDICT["enum"], INT)}
    amounts = {"bytes": INT, "bytes_spurious": INT}
    connection = {"local": STR, "remote": STR, **verdicts, "causes": named(INT), **amounts}
    causes = named(record(dict.fromkeys(VERDICT["enum"], INT)))
    counts = ("facts", "facts_dropped", "retransmissions_dropped", "observations", "connections", "undone")
    return record(
        {**verdicts, **amounts, "causes": causes, **dict.fromkeys(counts, INT), "worst": array(record(connection))}
    )
