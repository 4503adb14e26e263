"""Stores finished artefacts in a folder: one sub-folder each, complete or absent.

A sub-folder holds the results of the runs (`runs.parquet`, or a folder per recorded run) and
`artefact.json` for external readers. Means, tolerances and claims are computed from the runs at
every read, so they are never out of date.
"""

import hashlib
import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from eifel import files
from eifel.papers.artefact import Artefact, Measured, Recorded, Row
from eifel.result import Result
from eifel.runs import Runs

DEFAULT = Path("out")
"""The default folder for artefacts."""
PARTS = "parts"
"""The folder for finished parts of studies, beside the artefacts."""
ARTEFACT = "artefact.json"
"""The file with the measured values in each artefact's folder, for external readers."""
MANIFEST = "manifest.json"
"""The file with an artefact's key and the digest of each result file in its folder."""


@dataclass(frozen=True)
class Key:
    """The inputs of a stored artefact. It is reused only if its key equals the requested one."""

    definition: str
    engine: str
    seed: int
    repetitions: int


@cache
def engine_build() -> str:
    """Returns the engine's version and the digest of its binary, since development builds share a version."""
    from eifel import _engine

    file = getattr(_engine, "__file__", None)
    digest = hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16] if file else "none"
    return f"{_engine.version()}+{digest}"


def key_of(artefact: Artefact, seed: int, repetitions: int) -> Key:
    """Returns the key of an artefact measured by the installed engine."""
    return Key(artefact.definition(), engine_build(), seed, repetitions)


def write(out: Path, key: Key, measured: Measured, runs: Runs | None) -> None:
    """Stores an artefact in one step. An earlier one stays in place until then."""
    with files.replaced(out / measured.artefact.id) as folder:
        _fill(folder, key, measured, runs)


def _fill(folder: Path, key: Key, measured: Measured, runs: Runs | None) -> None:
    if runs is not None:
        import pyarrow.parquet as pq

        pq.write_table(runs.table(), folder / "runs.parquet", compression="zstd")
    for number, result in enumerate(measured.results):
        result.write(folder / f"run{number}")
    _write_json(folder / ARTEFACT, measured.json())
    rows = [{"keys": dict(row.keys), "scenario": dict(row.scenario)} for row in measured.artefact.rows]
    manifest = {
        "key": vars(key),
        "elapsed_s": measured.elapsed_s,
        "inputs": measured.artefact.inputs,
        "rows": rows,
        "files": _digests(folder),
    }
    _write_json(folder / MANIFEST, {**manifest, "sha256": _digest(manifest)})


def read(out: Path, artefact: Artefact, key: Key | None = None) -> Measured | None:
    """Returns the stored artefact. None if there is none, or if its key is not `key`.

    Without a key only the definition has to match. An artefact over link traces is then read with
    its stored traces.
    """
    folder = out / artefact.id
    try:
        manifest = _manifest(folder)
        stored = Key(**manifest["key"])
        if artefact.needs_traces or (artefact.links is not None and manifest["inputs"] and key is None):
            rows = tuple(Row(row["keys"], row["scenario"]) for row in manifest["rows"])
            artefact = replace(artefact, rows=rows, inputs=tuple(manifest["inputs"]))
        if stored != key if key is not None else stored.definition != artefact.definition():
            return None
        if artefact.is_recorded:
            results = [Result.read(folder / f"run{number}") for number in range(len(artefact.rows))]
            return measured_figure(artefact, results, stored.seed, manifest["elapsed_s"])
        return measured_table(artefact, _read_runs(folder), stored.seed, stored.repetitions, manifest["elapsed_s"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        # Damaged, edited, or from another version: treated as missing, and measured again.
        return None


def _manifest(folder: Path) -> dict[str, Any]:
    """Reads the manifest of an artefact's folder. Raises ValueError if any file has changed since it was written."""
    manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    if not isinstance(manifest, dict) or manifest.pop("sha256", None) != _digest(manifest):
        raise ValueError(f"{folder / MANIFEST}: damaged")
    if manifest["files"] != _digests(folder):
        raise ValueError(f"{folder}: a file is not as it was written")
    return manifest


def _digests(folder: Path) -> dict[str, str]:
    """Returns the digest of each file that holds results of the runs."""
    measured = [folder / "runs.parquet", *folder.glob("run*/*")]
    return {file.relative_to(folder).as_posix(): files.digest(file) for file in sorted(measured) if file.is_file()}


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(json.loads(json.dumps(content)), sort_keys=True).encode()).hexdigest()


def stored_ids(out: Path) -> list[str]:
    if not out.is_dir():
        return []
    return sorted(
        folder.name for folder in out.iterdir() if (folder / MANIFEST).is_file() and (folder / ARTEFACT).is_file()
    )


def measured_table(artefact: Artefact, runs: Runs, seed: int, repetitions: int, elapsed_s: float) -> Measured:
    from eifel.papers.artefact import MeasuredRow, means_of

    measure = means_of if isinstance(artefact.method, Recorded) else artefact.method.measure or means_of
    means = measure(artefact, runs)
    rows = [MeasuredRow(row, found) for row, found in zip(artefact.rows, means, strict=True)]
    return Measured(artefact, rows, [], repetitions, seed, elapsed_s)


def measured_figure(artefact: Artefact, results: list[Result], seed: int, elapsed_s: float) -> Measured:
    """Returns the artefact with its recorded runs, and the numbers of their summaries."""
    from eifel.papers.artefact import MeasuredRow
    from eifel.statistics import Mean

    rows = []
    for row, result in zip(artefact.rows, results, strict=True):
        flow = result.summary[artefact.flow]
        means = {c.name: Mean(float(flow[c.number]) * c.scale, None, 1) for c in artefact.columns}
        rows.append(MeasuredRow(row, means))
    return Measured(artefact, rows, results, 1, seed, elapsed_s)


def _read_runs(folder: Path) -> Runs:
    import pyarrow.parquet as pq

    table = pq.ParquetFile(folder / "runs.parquet").read()
    return Runs({name: table.column(name).to_numpy() for name in table.column_names}, [])


def _write_json(file: Path, content: dict[str, Any]) -> None:
    file.write_text(json_text(content), encoding="utf-8")


def json_text(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
