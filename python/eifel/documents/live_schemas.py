"""The schemas of what `eifel live` prints. That of `eifel live send` is iperf3's, with `eifel` beside it."""

from eifel.documents.json_schema import BOOL, INT, NUM, STR, Schema, array, maybe, named, record, word

CAUSE = maybe(word("rto", "loss", "fast", "tlp"))


def compare() -> Schema:
    retransmission = {"segment": INT, "copy": INT, "cause": STR, "t_ms": NUM}
    verdict = {"episode": INT, "detector": STR, "verdict": STR, "reason": STR, "t_ms": NUM}
    late = record({"box": NUM, "ends": NUM})

    def both(one: dict[str, Schema]) -> Schema:
        live = array(record({**one, "late_ms": late}))
        return record({"simulated": array(record(one)), "live": live, "same": BOOL, "largest_difference_ms": NUM})

    return record(
        {
            "retransmissions": both(retransmission),
            "verdicts": both(verdict),
            "last_transmission": record({"simulated_ms": NUM, "live_ms": NUM, "difference_ms": NUM, "late_ms": late}),
            "box": record({"late_us_median": NUM, "late_us_p99": NUM, "late_us_max": NUM}),
            "largest_difference_ms": NUM,
            "unexplained_ms": NUM,
            "first_difference": maybe(record({"t_ms": NUM, "apart_before_ms": NUM, "late_ms": late})),
            "agreement": word("agrees", "late", "other-times", "other-events"),
            "agrees": BOOL,
        }
    )


def hiccup() -> Schema:
    return record({"numbers": named(NUM), "unmet": array(STR)})


def judge() -> Schema:
    episode = {
        "after_s": NUM,
        "lasts_s": maybe(NUM),
        "cause": CAUSE,
        "retransmissions": INT,
        "spurious": INT,
        "first_spurious": BOOL,
        "undo": maybe(STR),
        "undo_after_ms": maybe(NUM),
    }
    undone = ("spurious_undone", "spurious_not_undone", "needed_undone", "needed_not_undone")
    return record(
        {
            **dict.fromkeys(
                ("retransmissions", "spurious", "needed", *undone, "not_at_sender", "not_at_receiver"), INT
            ),
            "causes": array(record({"cause": CAUSE, "retransmissions": INT, "spurious": INT})),
            "episodes": array(record(episode)),
            "counters": maybe(STR),
        }
    )


def proxy() -> Schema:
    numbers = ("bytes_sent", "bytes_received", "segments", "retransmissions", "spurious_episodes")
    return record({"target": STR, "opened": BOOL, "seconds": NUM, **dict.fromkeys(numbers, INT)})


def receive() -> Schema:
    return record({"streams": array(record({"bytes": INT, "seconds": NUM, "bits_per_second": NUM}))})


def sctp() -> Schema:
    numbers = dict.fromkeys(("messages", "bytes", "chunks", "retransmissions"), INT)
    return record({**numbers, "seconds": NUM, "bits_per_second": NUM})


def worlds() -> Schema:
    found = record(
        {
            "kind": word("differs", "false-undo", "loss-undone", "needless-cut"),
            "cause": word("timeout", "fast-retransmit"),
            "sack": BOOL,
            "timestamps": BOOL,
            "kernel": array(STR),
            "model": array(STR),
            "episodes": INT,
            "smallest": maybe(STR),
            "shrunk": maybe(STR),
            "script": maybe(STR),
        }
    )
    counts = ("worlds", "worlds_stuck", "worlds_in_doubt", "worlds_refused")
    episodes = ("episodes", "episodes_undone", "episodes_alike", "retransmissions", "retransmissions_needed")
    numbers = dict.fromkeys(("seed", "first", *counts, *episodes), INT)
    return record({"kernel": STR, "congestion": STR, **numbers, "classes": array(found)})
