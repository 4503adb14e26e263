"""What `eifel watch` finds: counts by cause and verdict, connections, and metrics for Prometheus."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

VERDICTS = ("spurious", "needed", "undecidable")
COUNTED = ("facts", "facts_dropped", "retransmissions_dropped", "observations", "connections", "undone")
"""The engine's counts that a summary has."""

METRICS: Mapping[str, str] = {
    "eifel_tcp_retransmissions_total": "Segments that were sent again and judged, by cause and verdict.",
    "eifel_tcp_retransmitted_bytes_total": "Payload bytes in them, by cause and verdict.",
    "eifel_tcp_undone_total": "Reductions of a congestion window that the kernel undid.",
    "eifel_tcp_observations_total": "Times from a loss sign of a connection to its repair.",
    "eifel_watch_facts_total": "Facts that the kernel has told.",
    "eifel_watch_facts_dropped_total": "Facts that the kernel's ring had no room for.",
    "eifel_watch_retransmissions_dropped_total": "Retransmissions among them. No other metric has these.",
}
"""Every metric, and its meaning."""

OF_COUNTS: Mapping[str, str] = {
    "eifel_tcp_undone_total": "undone",
    "eifel_tcp_observations_total": "observations",
    "eifel_watch_facts_total": "facts",
    "eifel_watch_facts_dropped_total": "facts_dropped",
    "eifel_watch_retransmissions_dropped_total": "retransmissions_dropped",
}
"""The engine's count of each metric that has no labels."""


@dataclass
class Connection:
    """What was found on one connection."""

    local: str
    remote: str
    retransmissions: int = 0
    by_verdict: Counter[str] = field(default_factory=Counter)
    by_cause: Counter[str] = field(default_factory=Counter)
    bytes: int = 0
    bytes_spurious: int = 0

    def add(self, row: Mapping[str, Any]) -> None:
        self.retransmissions += 1
        self.by_verdict[row["verdict"]] += 1
        self.by_cause[row["cause"]] += 1
        self.bytes += row["bytes"]
        self.bytes_spurious += row["bytes"] if row["verdict"] == "spurious" else 0

    def document(self) -> dict[str, Any]:
        return {
            "local": self.local,
            "remote": self.remote,
            "retransmissions": self.retransmissions,
            **{verdict: self.by_verdict[verdict] for verdict in VERDICTS},
            "causes": dict(sorted(self.by_cause.items())),
            "bytes": self.bytes,
            "bytes_spurious": self.bytes_spurious,
        }


@dataclass
class Found:
    """Everything that was found so far."""

    most_connections: int = 100_000
    """Of more connections, those with the fewest retransmissions are left out; totals keep them."""
    counts: Mapping[str, int] = field(default_factory=dict)
    retransmissions: Counter[tuple[str, str]] = field(default_factory=Counter)
    bytes: Counter[tuple[str, str]] = field(default_factory=Counter)
    connections: dict[int, Connection] = field(default_factory=dict)

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        for row in rows:
            key = row["cause"], row["verdict"]
            self.retransmissions[key] += 1
            self.bytes[key] += row["bytes"]
            number = row["connection"]
            if number not in self.connections:
                self.connections[number] = Connection(row["local"], row["remote"])
            self.connections[number].add(row)
        if len(self.connections) > self.most_connections:
            kept = sorted(self.connections, key=lambda number: -self.connections[number].retransmissions)
            self.connections = {number: self.connections[number] for number in kept[: self.most_connections // 2]}

    def of_verdict(self, verdict: str) -> int:
        return sum(count for (_, said), count in self.retransmissions.items() if said == verdict)

    def failures(self, conditions: Sequence[str]) -> list[str]:
        """Returns why `eifel watch` fails with these conditions, whose shares are of all retransmissions.

        A host that sent nothing again is no failure.
        """
        from eifel import _engine

        spurious, needed, undecidable = (self.of_verdict(verdict) for verdict in VERDICTS)
        counts = (spurious, needed, undecidable)
        return _engine.failures(conditions, counts, max(sum(counts), 1), False)

    def worst(self, most: int) -> list[dict[str, Any]]:
        """Returns the connections with the most needless retransmissions, and then with the most of all."""
        order = sorted(
            self.connections.values(),
            key=lambda one: (-one.by_verdict["spurious"], -one.retransmissions, one.local, one.remote),
        )
        return [one.document() for one in order[:most]]

    def summary(self, most: int) -> dict[str, Any]:
        """Returns the totals as a document."""
        causes: dict[str, dict[str, int]] = {}
        for (cause, verdict), count in sorted(self.retransmissions.items()):
            causes.setdefault(cause, dict.fromkeys(VERDICTS, 0))[verdict] = count
        return {
            "retransmissions": self.retransmissions.total(),
            **{verdict: self.of_verdict(verdict) for verdict in VERDICTS},
            "bytes": self.bytes.total(),
            "bytes_spurious": sum(count for (_, verdict), count in self.bytes.items() if verdict == "spurious"),
            "causes": causes,
            **{name: self.counts.get(name, 0) for name in COUNTED},
            "worst": self.worst(most),
        }

    def prometheus(self, causes: Iterable[str]) -> str:
        """Returns the metrics in Prometheus' text format. Those with labels have a value for each of `causes`."""
        causes = tuple(causes)
        labelled = zip(METRICS, (self.retransmissions, self.bytes), strict=False)
        return "".join((*self._labelled(labelled, causes), *self._unlabelled()))

    def _labelled(
        self, metrics: Iterable[tuple[str, Counter[tuple[str, str]]]], causes: Iterable[str]
    ) -> Iterator[str]:
        for name, values in metrics:
            yield f"# HELP {name} {METRICS[name]}\n# TYPE {name} counter\n"
            for cause in causes:
                for verdict in VERDICTS:
                    yield f'{name}{{cause="{cause}",verdict="{verdict}"}} {values[cause, verdict]}\n'

    def _unlabelled(self) -> Iterator[str]:
        for name, count in OF_COUNTS.items():
            yield f"# HELP {name} {METRICS[name]}\n# TYPE {name} counter\n{name} {self.counts.get(count, 0)}\n"


def line(row: Mapping[str, Any]) -> str:
    """Returns a retransmission in words."""
    ends = f"{row['local']} > {row['remote']}"
    undone = f"; the kernel undid it after {row['undone_after_ms']:.0f} ms" if row["kernel_undid"] else ""
    at = datetime.fromtimestamp(row["time_s"], UTC).strftime("%H:%M:%S.%f")[:-3]
    verdict = f"{row['cause']}: {row['verdict']} ({row['confidence']}), {row['reason']}"
    return f"{at} {ends} seq {row['seq']} {row['bytes']} bytes, {verdict}{undone}\n"
