"""Analyses captures: the cause of each retransmission, and whether it was needed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from eifel import _engine


PROBES = frozenset({"keep-alive", "zero-window-probe", "repeated-fin"})
"""The causes of segments that ask something of the receiver and repair nothing. Totals leave these out."""


def repairs(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Returns the retransmissions of a report without probes."""
    return [row for row in report["retransmissions"] if row.get("cause") not in PROBES]


def retransmissions_schema() -> pa.Schema:
    """Returns the columns of a report's retransmissions, which do not depend on the rows."""
    import pyarrow as pa

    answer = pa.struct(
        [("detector", pa.string()), ("frame", pa.int64()), ("spurious", pa.bool_()), ("reason", pa.string())]
    )
    words = ("cause", "other_cause", "verdict", "confidence", "reason", "stack_noticed", "sender")
    counts = ("capture", "frame", "connection", "seq", "tsn", "bytes", "copy", "evidence_frame")
    kinds = dict.fromkeys(words, pa.string()) | dict.fromkeys(counts, pa.int64())
    kinds |= {"time_s": pa.float64(), "first_told": pa.list_(answer)}
    order = [
        *("capture", "frame", "time_s", "connection", "sender", "seq", "tsn", "bytes", "copy", "cause"),
        *("other_cause", "verdict", "confidence", "reason", "evidence_frame", "stack_noticed", "first_told"),
    ]
    return pa.schema([(name, kinds[name]) for name in order])


def retransmissions_table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Returns a report's retransmissions as a table."""
    import pyarrow as pa

    return pa.Table.from_pylist(list(rows), schema=retransmissions_schema())


class Analysis:
    def __init__(self, found: _engine.Captures, files: Sequence[Path | str] = ()) -> None:
        self._found = found
        self.files = list(files)
        """The analysed files."""

    def __str__(self) -> str:
        return self._found.text()

    def __repr__(self) -> str:
        return f"Analysis: {self.report['headline']}"

    def _repr_html_(self) -> str:
        """Returns a notebook's view: the summary as `eifel analyze` prints it."""
        return f"<pre>{escape(str(self))}</pre>"

    @cached_property
    def report(self) -> Mapping[str, Any]:
        """The whole report: `captures`, `connections`, `retransmissions`, and counts."""
        report: Mapping[str, Any] = json.loads(self._found.json())
        return report

    @cached_property
    def words(self) -> Mapping[str, Any]:
        """The words of the summary that the page shows too."""
        words: Mapping[str, Any] = json.loads(self._found.words())
        return words

    def failures(self, conditions: Sequence[str]) -> Sequence[str]:
        """Returns why `eifel analyze` fails with these conditions of `--fail-if`; empty if it does not.

        Raises CaptureError for a condition that is none. Conditions that the captures cannot answer fail.
        """
        return self._found.failures(list(conditions))

    @property
    def connections(self) -> Sequence[Mapping[str, Any]]:
        """Connections that carried data. Each has two `directions`: the client's data, and the server's."""
        connections: Sequence[Mapping[str, Any]] = self.report["connections"]
        return connections

    @cached_property
    def retransmissions(self) -> pa.Table:
        """A row for each segment that retransmitted data."""
        return retransmissions_table(self.report["retransmissions"])

    @cached_property
    def lost_packets(self) -> pa.Table:
        """A row for each packet that a log of QUIC declares lost."""
        from eifel import quic

        return quic.table(self.report)

    def csv(self) -> str:
        """Returns the retransmissions as CSV, without the verdicts of single detectors; of logs, the lost packets."""
        return self._found.csv()

    def annotate(self, output: Path | str) -> None:
        """Copies the only file to a pcapng file, with the findings as comments on its frames."""
        self._found.annotate(output)

    def plot(self, folder: Path | str) -> None:
        """Writes a time-sequence graph for xplot into a folder, for each direction or log with retransmissions."""
        self._found.plot(folder)

    def anonymise(self, output: Path | str) -> None:
        """Copies the only file without payload and with other addresses. Keeps everything that the verdicts rest on."""
        self._found.anonymise(output)

    def html(self) -> str:
        """Returns a page with a zoomable time-sequence graph of each direction with retransmissions.

        Of logs of QUIC, returns a page with their tables.
        """
        from eifel import quic
        from eifel.report.capture import build_captures

        return quic.build(self.report) if self.report.get("quic") else build_captures(self)

    def otel(self) -> str:
        """Returns the counts as OpenTelemetry metrics: one line of OTLP in JSON."""
        from eifel.otel import metrics

        return metrics(self.report)

    def time_sequence(self, connection: int, *, from_server: bool = False) -> dict[str, NDArray[np.float64]]:
        """Returns the time-sequence graph of one direction, as columns.

        Times are seconds since its first packet, and positions are bytes counted from 1.
        Transmissions: `sent_s`, `start`, `end`, `frame`. ACKs: `heard_s`, `cumulative`, `edge` (of
        the receiver's window). SACK blocks: `sack_s`, `sack_start`, `sack_end`.
        """
        return dict(self._found.time_sequence(connection, from_server))

    def score_text(self, truth: str) -> Mapping[str, Any]:
        """Compares the report with the text of a truth file. Raises CaptureError if the text cannot be read."""
        score: Mapping[str, Any] = json.loads(self._found.score(truth)[0])
        return score

    def score(self, truth: Path | str) -> Mapping[str, Any]:
        """Compares the report with a truth file. Raises CaptureError if the file cannot be read."""
        return self.scored(truth)[0]

    def scored(self, truth: Path | str) -> tuple[Mapping[str, Any], str]:
        """Compares the report with a truth file. Returns the score, and its lines for people.

        Raises CaptureError if the file cannot be read.
        """
        from eifel import _engine

        try:
            score, lines = self._found.score(Path(truth).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
            raise _engine.CaptureError(f"{truth}: {reason}") from error
        except _engine.CaptureError as error:
            raise _engine.CaptureError(f"{truth}: {error}") from None
        return json.loads(score), lines


def follow(file: Path | str, progress: Callable[[int, int, int, int], object]) -> Analysis:
    """Analyses a capture that may still be growing. "-" is standard input, as from `tcpdump -w -`.

    Calls `progress` after each piece with the numbers of frames, packets, connections and
    retransmissions so far.

    Raises CaptureError (a ValueError) with one line, as `analyze` does.
    """
    from eifel import _engine

    return Analysis(_engine.follow(file, progress), [file])


def analyze(*files: Path | str, progress: Callable[[int, int], object] | None = None) -> Analysis:
    """Analyses captures: pcap, pcapng or snoop, optionally compressed by gzip or zstd. "-" is standard input.

    Example: `eifel.analyze("capture.pcapng").retransmissions.to_pandas()`.

    Files that follow each other in time count as one capture. `progress` is called with the bytes
    read so far and the total, which is 0 if it is unknown.

    Raises CaptureError (a ValueError) with a message of one line if a file is no capture or cannot
    be opened.
    """
    from eifel import _engine

    return Analysis(_engine.analyze(list(files), progress), files)
