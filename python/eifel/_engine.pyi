"""The compiled engine, as Python sees it. Nothing here decides anything: it hands text in and columns out."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, final

import numpy as np

__all__ = [
    "CaptureError",
    "CapturedPath",
    "Captures",
    "PathError",
    "Run",
    "ScenarioError",
    "ScriptError",
    "analyze",
    "analyze_bytes",
    "attack",
    "attacks",
    "captured",
    "check",
    "converse",
    "described_tables",
    "document",
    "extract_path",
    "follow",
    "hunt_claim",
    "hunt_liars",
    "live",
    "live_run",
    "record",
    "registry",
    "run",
    "run_many",
    "schema",
    "small_worlds",
    "summary_numbers",
    "timer_series",
    "version",
    "whatif_trial",
]

_Column = np.ndarray[tuple[int], np.dtype[Any]]

class ScenarioError(ValueError):
    """A scenario that is refused; the message is one line: file, line, key, what is wrong, what is allowed."""

class ScriptError(ValueError):
    """A script that is refused; the message is one line: file, line, column, what is wrong, what is expected."""

class CaptureError(ValueError):
    """A capture that cannot be read, or a truth file; the message is one line: what, where, what is expected."""

class PathError(ValueError):
    """A capture that shows no path, or a change of it that is refused; the message is one line."""

@final
class CapturedPath:
    """The path of one connection in a capture, with the replay of its sender."""

    def json(self) -> str:
        """Path, events and replay, as a JSON object."""

    def scenario(self) -> str:
        """The path as a scenario, with the sender that was replayed, as a JSON object."""

    def whatif(self, asked: str, draws: int, seed: int, progress: Callable[[int, int], object] | None) -> str:
        """Runs other senders over drawn paths; `asked` is a JSON list of objects with `name` and `changes`."""

@final
class Captures:
    """What was found in captures."""

    def json(self) -> str:
        """Everything, as a JSON object."""

    def csv(self) -> str:
        """The retransmissions, as CSV."""

    def text(self) -> str:
        """What it comes to, for people."""

    def anonymise(self, output: Path | str) -> None:
        """Copies the file with nothing left but what verdicts rest on."""

    def time_sequence(self, connection: int, from_server: bool) -> list[tuple[str, _Column]]:
        """The time-sequence graph of one direction, as columns."""

    def annotate(self, output: Path | str) -> None:
        """Copies the file to a pcapng file, with what was found as comments."""

    def plot(self, folder: Path | str) -> None:
        """Writes plots for xplot into a folder."""

    def score(self, truth: str) -> str:
        """How it agrees with the text of a truth file, as a JSON object."""

@final
class Run:
    """One finished run."""

    def summary_json(self) -> str:
        """The summary of every flow, as a JSON list of objects."""

    def columns(self) -> dict[str, dict[str, _Column]]:
        """The recorded tables. The arrays are moved out: a second call returns nothing."""

    def categories(self) -> dict[str, list[str]]:
        """What the small integers of a category column mean, by "table.column"."""

def analyze(files: Sequence[Path | str], progress: Callable[[int, int], object] | None = None) -> Captures:
    """Analyses captures. `progress` is called with the bytes read so far and all there are, 0 where not known."""

def analyze_bytes(name: str, capture: bytes) -> Captures:
    """Analyses a capture in memory, uncompressed. Raises `CaptureError`."""

def follow(file: Path | str, hear: Callable[[int, int, int, int], object]) -> Captures:
    """Analyses a capture that may still be made.

    `hear` is called after each piece with frames, packets, connections and retransmissions so far.
    """

def captured(seed: int, wild: bool = False) -> tuple[str, list[tuple[str, bytes, str]]]:
    """Captures a random transfer at the sender, on the path and at the receiver.

    Returns the scenario, and for each place its name, the capture and the truth as CSV. A scenario is plain, or `wild`:
    then it may be anything. Raises `CaptureError` where the path never comes to rest.
    """

def version() -> str:
    """The version of the engine."""

def live(called_as: Sequence[str], arguments: Sequence[str]) -> tuple[int, list[tuple[str, str, str, Run]]]:
    """Runs a command of `eifel live`; returns its exit code and what was recorded.

    `called_as` is how this program was called, up to `arguments`: where rights are missing it is started again that way
    in a user namespace. A recording is a folder, the text of its scenario, where that is from, and the run.
    """

def live_run(text: str, origin: str, tables: Sequence[str]) -> tuple[Run, tuple[float, float, float]]:
    """Runs the first flow of a scenario on a real network, in namespaces of its own, and keeps the named tables.

    Returns the run and how late the box was, in microseconds: the median, the 99th percentile and the most. The GIL is
    released. Raises ScenarioError if the scenario is refused, PermissionError where rights are missing, and OSError.
    """

def registry() -> str:
    """Every algorithm of every seam with its parameters, as JSON."""

def attacks() -> str:
    """Every attack with its source and its defence, as JSON."""

def attack(name: str) -> str:
    """Does one attack whole and returns what was found, as a JSON list.

    The GIL is released; Ctrl-C is honoured. Raises ValueError for an attack that there is not.
    """

def hunt_claim(
    claim: str, scenarios: int, most: float, seed: int, threads: int, progress: Callable[[int], object]
) -> str:
    """Scenarios that refute a claim, as JSON.

    `drawn` at random, of which `refuting` refute it at 95 % (a value above `most`); the `mean` of their values;
    and the `worst` that climbing found, with its `value`, `error`, `runs` and `scenario`. `progress` hears how many of
    `scenarios` were looked at. With `threads`, or on all cores where it is 0. The GIL is released; Ctrl-C is honoured.
    """

def hunt_liars(text: str, origin: str, runs: int, seed: int, progress: Callable[[int], object]) -> str:
    """The receiver that gains most by lying to the sender of the scenario's first flow, as JSON.

    `gain`, its goodput over an honest receiver's, in the last `runs`, which were not searched with; `liar`, its tables
    below `[[flow]]`, as TOML. `progress` hears how many of `runs` are done. The GIL is released; Ctrl-C is honoured.
    Raises ScenarioError where no receiver could gain.
    """

def schema() -> str:
    """The JSON Schema of a scenario file, for editors."""

def described_tables() -> str:
    """JSON: for each record table what a row is (`about`), and `columns`, the meaning of each by its name."""

def summary_numbers() -> list[str]:
    """The names of the numbers that a flow's summary has, in their order."""

def check(text: str, origin: str) -> None:
    """Raises ScenarioError if the scenario is refused. `origin` is its file: relative paths start there."""

def document(text: str, origin: str) -> str:
    """A scenario's text, TOML or JSON, as JSON: the keys in their order, nothing added and nothing checked.

    Raises ScenarioError if it is neither.
    """

def converse(text: str, origin: str, profile: str) -> tuple[str, str]:
    """Runs a script: what came of it as JSON (`script`, `passed`, `lasted_s`, `failure`, `notes`, `rows`), and as text.

    Raises ScriptError if the script is refused. `origin` is what messages call it.
    """

def run(text: str, origin: str, repetition: int, tables: Sequence[str]) -> Run:
    """Runs one repetition and keeps the named tables.

    The GIL is released; Ctrl-C is honoured. Raises ValueError for a table that there is not, RuntimeError if the run
    fails.
    """

def record(
    text: str,
    origin: str,
    repetition: int,
    tables: Sequence[str],
    captures: Sequence[tuple[str, str]],
    payload: bool,
    sink: Callable[[str, dict[str, _Column], dict[str, list[str]]], object],
) -> Run:
    """Runs one repetition and hands over the named tables while it goes on; what is returned holds the summary alone.

    `sink(table, columns, words)` is called from the calling thread with some ten thousands of rows at once; `words`
    says what the small integers of category columns mean. At the end every table comes once more, with what is left of
    it. `captures` are nodes, and the files into which what passes there is written as pcapng: headers, or all bytes
    with `payload`.

    The GIL is released; Ctrl-C is honoured. Raises ValueError for a table or a node that there is not, OSError for a
    capture that cannot be written, RuntimeError if the run fails.
    """

def run_many(
    scenarios: Sequence[tuple[str, str]],
    ranges: Sequence[tuple[int, int, int]],
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    keep_going: bool = False,
) -> tuple[dict[str, _Column], list[tuple[int, int, str]]]:
    """Runs repetitions of scenarios on several threads.

    A range is the number of a scenario, its first repetition and how many. Returns columns and failures. Columns are
    `scenario` and `repetition` (both counted from 0), `flow`, and each number of the summary; a row a flow, in the
    order of the ranges however many threads ran. A failure is a scenario, a repetition, and why; after the first one
    nothing more is begun unless `keep_going`. `progress(done, total)` is called now and then from the calling thread.

    The GIL is released; Ctrl-C is honoured. Raises ScenarioError before anything runs, ValueError for a range without a
    scenario.
    """

def small_worlds(
    text: str,
    origin: str,
    *,
    responses: list[str],
    segments: int,
    before: int,
    after: int,
    held_until: str,
    late_ms: int,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> str:
    """Every fate of a few segments of the scenario's first flow over TCP, counted, as JSON: see `eifel.small_worlds`.

    A list with a table for each of `responses`, or, if there are none, for the scenario's own.
    `progress(done, total)` is called now and then from the calling thread. The GIL is released; Ctrl-C is honoured.
    Raises ScenarioError for a scenario that is refused, ValueError for a number out of its bounds.
    """

def timer_series(
    sender: str, series: Mapping[str, _Column], *, mss: int, one_a_round_trip: bool, detected: bool
) -> dict[str, _Column]:
    """Drives the timer of a sender's table (its text, as in a scenario: `rto = "eifel"`) over a series of samples.

    `series` has int64 columns, a value an ACK that gives a sample, in the order of time: `t_ns`, `rtt_ns`; `acked`,
    `cwnd`, `ssthresh` (-1 while unset) and `flight` in bytes. `mss` is in bytes. `one_a_round_trip` says that the
    samples are those of a sender that times one segment a round trip; `detected`, whether spurious timeouts are.

    Returns int64 columns of the same length: `rto_ns` after each sample, `srtt_ns`, `rttvar_ns` (-1 without), and
    `rexmt_ns`, how long after its sending the segment that gave the sample would have been given up; and `expired`,
    whether it was. Raises ScenarioError for a timer that is refused, ValueError for columns that do not fit.
    """

def extract_path(
    file: Path | str, connection: int | None = None, progress: Callable[[int, int], object] | None = None
) -> CapturedPath:
    """Extracts the path of a connection, that with most data if none is named, and replays its sender."""

def whatif_trial(seed: int, cross: str, draws: int) -> str:
    """Judges a prediction on a hidden path of this seed; `cross` is `none`, `transfer` or `bursts`. A JSON object."""
