"""The compiled engine. It decides nothing: text goes in, columns come out."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, final

import numpy as np

__all__ = [
    "CaptureError",
    "CapturedPath",
    "Captures",
    "Fact",
    "Joined",
    "PathError",
    "Run",
    "RunError",
    "ScenarioError",
    "View",
    "advise",
    "analyze",
    "analyze_bytes",
    "analyze_each",
    "analyze_lines",
    "attack",
    "attacks",
    "captured",
    "check",
    "check_conditions",
    "command_line",
    "counters",
    "described_tables",
    "document",
    "extract_path",
    "failures",
    "follow",
    "hunt_claim",
    "hunt_liars",
    "join",
    "live",
    "live_run",
    "number",
    "record",
    "registry",
    "run",
    "run_command",
    "run_many",
    "schema",
    "script",
    "small_worlds",
    "summary_numbers",
    "t_quantile",
    "timer_series",
    "version",
    "watch",
    "watch_captures",
    "way_on",
    "whatif",
    "whatif_hidden",
    "whatif_trial",
]

_Column = np.ndarray[tuple[int], np.dtype[Any]]

class RunError(RuntimeError):
    """A run ended before its end, as one that stands still or takes too many events. The message is one line."""

class ScenarioError(ValueError):
    """A scenario was refused. The message is one line: file, line, key, what is wrong, what is allowed."""

class CaptureError(ValueError):
    """A capture or a truth file cannot be read. The message is one line: the file, the place, what is expected."""

class PathError(ValueError):
    """A capture shows no path, or a change of the path was refused. The message is one line."""

@final
class Fact:
    """What happened, as a detector sees it. The object is used again for the next fact."""

    @property
    def kind(self) -> str:
        """Which fact it is: "retransmitted", "acked" or "not-probed"."""

    @property
    def tx(self) -> int:
        """Retransmitted: the number of the transmission, never used twice."""

    @property
    def start(self) -> int:
        """Retransmitted: its first position."""

    @property
    def end(self) -> int:
        """Retransmitted: the first position beyond it."""

    @property
    def cause(self) -> str | None:
        """Retransmitted: the loss signal, "timeout" or "fast-retransmit"."""

    @property
    def copy(self) -> int:
        """Retransmitted: how often its first position was sent before."""

    @property
    def opens(self) -> bool:
        """Retransmitted: whether it is the first of its episode."""

    @property
    def tsval(self) -> int | None:
        """Retransmitted: its TSval; None without timestamps."""

    @property
    def original_tsval(self) -> int | None:
        """Retransmitted: the TSval of its segment's first transmission; None if a neighbour carried it too."""

    @property
    def cumulative(self) -> int:
        """Acked: the first position not acknowledged."""

    @property
    def acked_bytes(self) -> int:
        """Acked: bytes newly acknowledged."""

    @property
    def sacked_bytes(self) -> int:
        """Acked: bytes newly reported by SACK blocks."""

    @property
    def original_bytes(self) -> int | None:
        """Acked, of an association: bytes of chunks sent once that are newly covered; None in a connection."""

    @property
    def duplicate(self) -> bool:
        """Acked: whether it is a duplicate ACK."""

    @property
    def sacks(self) -> list[tuple[int, int]]:
        """Acked: SACK blocks, as (start, end)."""

    @property
    def sacked_up_to(self) -> int:
        """Acked: the first position beyond the highest SACK block; 0 without blocks."""

    @property
    def dsacks(self) -> list[tuple[int, int]]:
        """Acked: reported duplicates, as (start, end)."""

    @property
    def tsecr(self) -> int | None:
        """Acked: the echoed timestamp (TSecr); None without one, and if it was forged."""

    @property
    def echo_age_ns(self) -> int | None:
        """Acked: the time since the echoed timestamp was current, in nanoseconds; None like `tsecr`."""

    @property
    def forged(self) -> bool:
        """Acked: whether it echoes a timestamp that no segment carried."""

    @property
    def mark(self) -> str | None:
        """Acked: the peer's mark, "original" or "retransmission"; None without marks."""

    @property
    def ece(self) -> bool:
        """Acked: whether ECN-Echo is set."""

    @property
    def all(self) -> bool:
        """Acked: whether everything ever sent is now acknowledged."""

    @property
    def highest_end(self) -> int | None:
        """Acked: the first position beyond the highest segment that it covers to its end; None without one."""

    @property
    def highest_copies(self) -> int | None:
        """Acked: how often that segment was retransmitted."""

    @property
    def highest_sent_ns(self) -> int | None:
        """Acked: when that segment was last sent, in nanoseconds."""

    @property
    def refusal(self) -> str:
        """NotProbed: "nothing-new", or "watches" if another detector acts."""

@final
class View:
    """What a detector may read beside the fact. The object is used again for the next fact."""

    @property
    def now_ns(self) -> int:
        """Nanoseconds since the run began."""

    @property
    def una(self) -> int:
        """The first position not acknowledged."""

    @property
    def nxt(self) -> int:
        """The first position never sent."""

    @property
    def mss(self) -> int:
        """Payload bytes of a full segment."""

    @property
    def sack(self) -> bool:
        """Whether SACK was negotiated."""

    @property
    def rtt_ns(self) -> int | None:
        """The newest round-trip sample in nanoseconds; None before the first."""

    @property
    def srtt_ns(self) -> int | None:
        """SRTT in nanoseconds; None before the first sample."""

    @property
    def min_rtt_ns(self) -> int | None:
        """The smallest sample in nanoseconds; None before the first."""

    @property
    def shortest_rtt_ns(self) -> int | None:
        """The shortest time from a segment's only transmission to its ACK, in nanoseconds."""

@final
class CapturedPath:
    """The path of one connection in a capture, with the replay of its sender."""

    def json(self) -> str:
        """Returns path, events and replay, as a JSON object."""

    def scenario(self) -> str:
        """Returns the path as a scenario with the replayed sender, as a JSON object."""

    def refused(self) -> str | None:
        """Returns why no prediction is made. None if the replay agrees with the capture."""

    def summary(self) -> str:
        """Describes the path in lines."""

    def open_quantities(self) -> list[str]:
        """Names what the capture leaves open."""

    def check(self, changes: str) -> None:
        """Raises PathError for keys and values that no sender has. `changes` is a JSON object."""

    def whatif(self, asked: str, draws: int, seed: int, progress: Callable[[int, int], object] | None) -> str:
        """Runs other senders over drawn paths. `asked` is a JSON list of pairs: a name, and an object of changes."""

@final
class Captures:
    """The findings of an analysis of captures."""

    def json(self) -> str:
        """Returns the whole report as a JSON object."""

    def words(self) -> str:
        """Returns the words of the summary that the page shows too, as a JSON object."""

    def csv(self) -> str:
        """Returns the retransmissions as CSV."""

    def text(self) -> str:
        """Returns a summary for people."""

    def anonymise(self, output: Path | str) -> None:
        """Copies the only file, stripped of everything that the verdicts do not rest on."""

    def time_sequence(self, connection: int, from_server: bool) -> list[tuple[str, _Column]]:
        """Returns the time-sequence graph of one direction, as columns."""

    def annotate(self, output: Path | str) -> None:
        """Copies the only file to a pcapng file, with the findings as comments."""

    def plot(self, folder: Path | str) -> None:
        """Writes plots for xplot into a folder."""

    def failures(self, conditions: Sequence[str]) -> list[str]:
        """Returns why `eifel analyze` fails with these conditions of `--fail-if`. Raises `CaptureError`."""

    def score(self, truth: str) -> tuple[str, str]:
        """Compares the report with the text of a truth file. Returns a JSON object, and the score for people."""

@final
class Joined:
    """What captures at several places of a path show together."""

    def json(self) -> str:
        """Returns the whole report as a JSON object."""

    def text(self) -> str:
        """Returns a summary for people."""

    def truth(self, place: int) -> str:
        """Returns the truth about the capture of a place, counted from 0, as CSV."""

@final
class Run:
    """One finished run."""

    def summary_json(self) -> str:
        """Returns the summary of every flow, as a JSON list of objects."""

    def columns(self) -> dict[str, dict[str, _Column]]:
        """Returns the recorded tables. The arrays are moved out: a second call returns nothing."""

    def categories(self) -> dict[str, list[str]]:
        """Returns the words for the integer codes of category columns, by "table.column"."""

def analyze(files: Sequence[Path | str], progress: Callable[[int, int], object] | None = None) -> Captures:
    """Analyses captures. Calls `progress` with the bytes read so far and the total, 0 if unknown."""

def analyze_each(
    file: Path | str,
    take: Callable[[str], object],
    progress: Callable[[int, int], object] | None = None,
) -> str | None:
    """Analyses one capture, and forgets each connection as soon as it is over.

    Calls `take` with the retransmissions of such connections, a thousand at most: a JSON object with the keys
    `connections` and `retransmissions` of a report. Returns why the file could not be read to its end, if so.
    """

def check_conditions(conditions: Sequence[str]) -> None:
    """Raises `CaptureError` if a condition of `--fail-if` is none."""

def failures(conditions: Sequence[str], verdicts: tuple[int, int, int], sent: int, cut: bool) -> list[str]:
    """Returns why a command fails with these conditions of `--fail-if`. Raises `CaptureError` if one is none.

    The numbers are of spurious, needed and undecidable retransmissions, and of segments with data; `cut` if a file
    could not be read to its end.
    """

def analyze_bytes(name: str, capture: bytes) -> Captures:
    """Analyses a capture in memory, uncompressed. Raises `CaptureError`."""

def join(captures: Sequence[tuple[str, Path | str]], progress: Callable[[int, int], object] | None = None) -> Joined:
    """Joins the captures of a path's places, given with their names in the order of the path."""

def follow(file: Path | str, hear: Callable[[int, int, int, int], object]) -> Captures:
    """Analyses a capture that may still be growing.

    Calls `hear` after each piece with the numbers of frames, packets, connections and
    retransmissions so far.
    """

def captured(seed: int, wild: bool = False) -> tuple[str, list[tuple[str, bytes, str]]]:
    """Captures a random transfer at the sender, on the path and at the receiver.

    Returns the scenario, and for each place its name, the capture and the truth as CSV. The
    scenario is realistic, or with `wild` anything that a scenario can set. Raises `CaptureError` if
    the path never comes to rest.
    """

def watch_captures(names: Sequence[str]) -> None:
    """Sets the detectors of Python that watch over captures, by name. Raises ValueError for an unknown one."""

def version() -> str:
    """Returns the version of the engine."""

def number(value: float | None, half_width: float | None = None) -> str:
    """Formats a number for people, with the half-width of its interval if it has one."""

def live(called_as: Sequence[str], arguments: Sequence[str]) -> tuple[int, list[tuple[str, str, str, Run]]]:
    """Runs a command of `eifel live`. Returns its exit code and the recordings.

    `called_as` is the command line of this program up to `arguments`. If rights are missing, the
    program is started again with it in a user namespace. A recording is a folder, the text of its
    scenario, the origin of that text, and the run.
    """

def live_run(text: str, origin: str, tables: Sequence[str]) -> tuple[Run, tuple[float, float, float]]:
    """Runs the first flow of a scenario on a real network, in separate namespaces, and keeps the named tables.

    Returns the run and the lateness of the emulated path in microseconds: the median, the 99th
    percentile and the maximum. Releases the GIL. Raises ScenarioError if the scenario is refused,
    PermissionError if rights are missing, and OSError.
    """

def registry() -> str:
    """Returns every algorithm of every seam with its parameters, as JSON."""

def attacks() -> str:
    """Returns every attack with its source and its defence, as JSON."""

def attack(name: str) -> str:
    """Runs one attack in full. Returns its findings as a JSON list.

    Releases the GIL and handles Ctrl-C. Raises ValueError for an unknown attack.
    """

def hunt_claim(
    claim: str, scenarios: int, most: float, seed: int, threads: int, progress: Callable[[int], object]
) -> str:
    """Searches for scenarios that refute a claim. Returns JSON.

    `drawn` scenarios are random, and `refuting` of them refute the claim at 95 % (their value
    exceeds `most`). `mean` is the mean of the drawn values. `worst` is the worst scenario that hill
    climbing found, with its `value`, `error`, `runs` and `scenario`. Calls `progress` with the
    number of `scenarios` examined. Uses `threads` threads, or all cores if it is 0. Releases the
    GIL and handles Ctrl-C.
    """

def hunt_liars(text: str, origin: str, runs: int, seed: int, progress: Callable[[int], object]) -> str:
    """Searches for the receiver that gains most by lying to the sender of the scenario's first flow. Returns JSON.

    `gain` is its goodput divided by an honest receiver's, in the last `runs`, which the search did
    not use. `liar` has its tables below `[[flow]]`, as TOML. Calls `progress` with the number of
    `runs` done. Releases the GIL and handles Ctrl-C. Raises ScenarioError if no receiver could
    gain.
    """

def schema() -> str:
    """Returns the JSON Schema of a scenario file, for editors."""

def described_tables() -> str:
    """Returns JSON: for each record table the meaning of a row (`about`), and of each column (`columns`)."""

def summary_numbers() -> list[str]:
    """Returns the names of the numbers in a flow's summary, in order."""

def check(text: str, origin: str) -> None:
    """Raises ScenarioError if the scenario is refused. `origin` is its file: relative paths start there."""

def document(text: str, origin: str) -> str:
    """Converts a scenario's text from TOML or JSON to JSON. Keeps the order of keys, adds nothing, checks nothing.

    Raises ScenarioError if the text is neither TOML nor JSON.
    """

def t_quantile(probability: float, freedom: int) -> float:
    """Returns the quantile of Student's t. `probability` is from 0.5 on and below 1, `freedom` at least 1."""

def script(words: Sequence[str]) -> tuple[int, str, str]:
    """Runs `eifel script` with these words.

    Returns the exit code, and what it wrote to standard output and to standard error.
    """

def run(text: str, origin: str, repetition: int, tables: Sequence[str]) -> Run:
    """Runs one repetition and keeps the named tables.

    Releases the GIL and handles Ctrl-C. Raises ValueError for an unknown table, and RunError if
    the run fails.
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
    """Runs one repetition and hands over the named tables while it runs. The returned run holds the summary only.

    The calling thread calls `sink(table, columns, words)` with up to 32768 rows at a time. `words`
    are the words for the codes of category columns. At the end, `sink` gets every table once more
    with its remaining rows. `captures` are nodes with the pcapng files for their packets: headers
    only, or all bytes with `payload`.

    Releases the GIL and handles Ctrl-C. Raises ValueError for an unknown table or node, OSError for
    a capture that cannot be written, and RunError if the run fails.
    """

def run_many(
    scenarios: Sequence[tuple[str, str]],
    ranges: Sequence[tuple[int, int, int]],
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    keep_going: bool = False,
) -> tuple[dict[str, _Column], list[tuple[int, int, str]]]:
    """Runs repetitions of scenarios on several threads.

    A range is the number of a scenario, its first repetition, and the number of repetitions.
    Returns columns and failures. Columns are `scenario` and `repetition` (both counted from 0),
    `flow`, and each number of the summary. There is a row per flow, in the order of the ranges for
    any number of threads. A failure is a scenario, a repetition, and the error. After the first
    failure no further run begins, unless `keep_going`. The calling thread calls
    `progress(done, total)` from time to time.

    Releases the GIL and handles Ctrl-C. Raises ScenarioError before any run, and ValueError for a
    range without a scenario.
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
    """Tries every fate of a few segments of the scenario's first TCP flow. See `eifel.small_worlds`.

    Returns a JSON list with the counts for each of `responses`, or for the scenario's own response
    if there are none. The calling thread calls `progress(done, total)` from time to time. Releases
    the GIL and handles Ctrl-C. Raises ScenarioError for a refused scenario, and ValueError for a
    number out of bounds.
    """

def timer_series(
    sender: str, series: Mapping[str, _Column], *, mss: int, one_a_round_trip: bool, detected: bool
) -> dict[str, _Column]:
    """Drives the timer of a sender's table (its text, as in a scenario: `rto = "eifel"`) over a series of samples.

    `series` has int64 columns in order of time, with a value for each ACK that gives a sample:
    `t_ns`, `rtt_ns`; `acked`, `cwnd`, `ssthresh` (-1 while unset) and `flight` in bytes. `mss` is
    in bytes. `one_a_round_trip` means that the sender times one segment per round trip. `detected`
    means that it detects spurious timeouts.

    Returns int64 columns of the same length. `rto_ns`, `srtt_ns` and `rttvar_ns` (-1 without) hold
    after each sample. `rexmt_ns` is the time from the transmission of the sampled segment to its
    timeout. `expired` is whether that timeout would have come first. Raises ScenarioError for a
    refused timer, and ValueError for columns that do not fit.
    """

def extract_path(
    file: Path | str, connection: int | None = None, progress: Callable[[int, int], object] | None = None
) -> CapturedPath:
    """Extracts the path of a connection (None: the one with most data), and replays its sender."""

def way_on(refusal: str, file: str) -> str:
    """Returns what the user of a refused capture can do."""

def command_line(name: str) -> tuple[str, list[tuple[str, str, str, str, list[str]]]]:
    """Returns the example and the options of a command that the program without Python has too.

    An option is its name, its value's name, what it means, its kind (a method of `eifel.cli.argument.Parser`), and the
    formats of the file that it writes.
    """

def run_command(
    words: Sequence[str],
    source: tuple[str, str, Sequence[tuple[int, Sequence[dict[str, float]]]]],
    screen: tuple[int, bool],
    progress: Callable[[int, int], object],
) -> tuple[int, str, str]:
    """Runs `eifel run` with these words over a scenario that is read already: its text, its origin, and what was run.

    Those are repetitions that are not run again, each with the numbers of its flows by name. The screen is its columns,
    and whether it shows bold and dim letters. Returns the exit code, and what the command wrote to standard output
    and to standard error.
    """

def advise(words: Sequence[str], screen: tuple[int, bool]) -> tuple[int, str, str]:
    """Runs `eifel advise` with these words, for a screen of these columns that shows bold letters or does not.

    Returns the exit code, and what the command wrote to standard output and to standard error.
    """

def analyze_lines(words: Sequence[str]) -> int:
    """Runs `eifel analyze` with these words, and returns the exit code. It writes to the standard streams."""

def whatif(
    words: Sequence[str], columns: int, styled: bool, progress: Callable[[str, int, int], object]
) -> tuple[int, str, str]:
    """Runs `eifel whatif` with these words, for a screen of `columns`.

    Calls `progress` with the kind of work, what of it is done, and how much there is. Returns the exit code, and what
    the command wrote to standard output and to standard error.
    """

def whatif_hidden(seed: int) -> str:
    """Returns a hidden path without other traffic, with the sender that a capture shows, as a scenario in JSON."""

def whatif_trial(seed: int, cross: str, draws: int) -> str:
    """Compares a prediction with the truth on a hidden path drawn from this seed. Returns a JSON object.

    `cross` is `none`, `transfer` or `bursts`.
    """

def counters(words: Sequence[str]) -> int:
    """Runs `eifel counters` with these words, and returns the exit code. It writes to the standard streams."""

def watch(words: Sequence[str]) -> int:
    """Runs `eifel watch` with these words, and returns the exit code. It writes to the standard streams."""
