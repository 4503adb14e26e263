"""Writes a run's time-sequence graph for xplot, in tcptrace's style.

Segments are white, ACKs green, SACK blocks purple. A retransmitted segment is red, with an S if it
was spurious and an R otherwise. A cross marks a segment that a link dropped.
"""

from eifel.result import Result


def text(result: Result, flow: int = 0, title: str = "") -> str:
    """Returns the graph as xplot's commands, with time in seconds and positions in bytes of the stream."""
    lines = ["timeval unsigned", "title", title or "time sequence graph", "xlabel", "time", "ylabel", "position"]
    _segments(lines, result, flow)
    if "acks" in result.tables:
        _acks(lines, result, flow)
    return "\n".join([*lines, "go"]) + "\n"


def _segments(lines: list[str], result: Result, flow: int) -> None:
    sent = result.of("transmissions", flow)
    columns = ("t_ns", "start", "len", "kind", "needed", "fate")
    for t_ns, start, length, kind, needed, fate in zip(*(sent[name].tolist() for name in columns), strict=True):
        if length == 0:
            continue
        at, end = _seconds(t_ns), start + length
        if kind == "retransmission":
            lines += ["red", f"atext {at} {end}", "S" if needed == "spurious" else "R"]
        else:
            lines.append("white")
        lines += [f"darrow {at} {end}", f"uarrow {at} {start}", f"line {at} {start} {at} {end}"]
        if fate == "dropped":
            lines.append(f"x {at} {start}")


def _acks(lines: list[str], result: Result, flow: int) -> None:
    acks = result.of("acks", flow)
    before: tuple[str, int] | None = None
    times, cumulative = acks["t_ns"].tolist(), acks["cumulative"].tolist()
    lines.append("green")
    for t_ns, position in zip(times, cumulative, strict=True):
        at = _seconds(t_ns)
        if before is not None:
            lines.append(f"line {before[0]} {before[1]} {at} {before[1]}")
            lines.append(
                f"line {at} {before[1]} {at} {position}" if position != before[1] else f"dtick {at} {position}"
            )
        before = (at, position)
    lines.append("purple")
    for block in (1, 2, 3):
        edges = zip(times, acks[f"sack{block}_start"].tolist(), acks[f"sack{block}_end"].tolist(), strict=True)
        lines += [f"line {_seconds(t_ns)} {start} {_seconds(t_ns)} {end}" for t_ns, start, end in edges if start >= 0]


def _seconds(t_ns: int) -> str:
    return f"{t_ns // 1_000_000_000}.{t_ns % 1_000_000_000 // 1000:06}"
