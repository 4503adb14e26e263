"""The result of one run: the summary of each flow, the recorded tables, and its pictures."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eifel.errors import BadInputError
from eifel.files import expect_folder, replaced
from eifel.scenario import Source
from eifel.tables import Frame, html_table, recorded, writer

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

    from eifel._engine import Run

TABLES = (
    "transmissions",
    "arrivals",
    "acks",
    "drops",
    "window",
    "timer",
    "episodes",
    "verdicts",
    "queues",
    "spikes",
)
"""The tables that a run can record."""
MANIFEST = "manifest.json"


class Result:
    """One run: `summary`, `tables`, `plot()`. A Jupyter cell shows the summary and the plot.

    Example: `eifel.Result.read("recorded").tables["transmissions"].to_pandas()`.
    """

    def __init__(
        self,
        source: Source,
        repetition: int,
        flows: list[dict[str, Any]],
        tables: Mapping[str, pa.Table],
    ) -> None:
        self.source = source
        self.repetition = repetition
        self.flows = flows
        self.tables: dict[str, pa.Table] = dict(tables)
        self._frames: dict[str, Frame] = {}

    @classmethod
    def from_engine(cls, source: Source, repetition: int, engine_run: Run) -> Result:
        """Takes the engine's recorded columns without a copy."""
        words = engine_run.categories()
        tables = {
            name: recorded(name, columns, {c: words[f"{name}.{c}"] for c in columns if f"{name}.{c}" in words})
            for name, columns in engine_run.columns().items()
        }
        return cls(source, repetition, json.loads(engine_run.summary_json()), tables)

    @classmethod
    def read(cls, folder: str | Path) -> Result:
        """Reads a folder written by `write`. Raises BadInputError if it holds no recorded run."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        folder = Path(folder)
        try:
            manifest = _manifest(folder)
            source = Source(manifest["scenario"], manifest["origin"])
            # Read as a file: a folder named like key=value would be taken for a partition of a data
            # set.
            tables = {name: pq.ParquetFile(folder / f"{name}.parquet").read() for name in manifest["tables"]}
            return cls(source, manifest["repetition"], manifest["flows"], tables)
        except OSError as error:
            raise BadInputError(
                f"{error.filename or folder}: {error.strerror or error}; no recorded run here"
            ) from None
        except (KeyError, TypeError, ValueError, pa.ArrowException) as error:
            raise BadInputError(f"{folder}: damaged, or no recorded run: {error}") from None

    def write(self, folder: str | Path) -> list[Path]:
        """Writes every table as Parquet, and a manifest.json that describes the run. Returns the files.

        Replaces an earlier recording in the folder. Raises BadInputError if the folder holds
        anything else. `eifel.record` writes the same files during a run of any length.
        """
        folder = Path(folder)
        refuse_anything_else(folder)
        with replaced(folder) as made:
            for name, rows in self.tables.items():
                with writer(made / f"{name}.parquet", rows.schema) as out:
                    out.write_table(rows)
            text = manifest_text(self.source, self.repetition, self.flows, list(self.tables))
            (made / MANIFEST).write_text(text, encoding="utf-8")
        return sorted(folder.iterdir())

    @property
    def summary(self) -> dict[str, dict[str, Any]]:
        """The summary of each flow by name: `result.summary["main"]["time_s"]`."""
        return {str(flow["flow"]): flow for flow in self.flows}

    @property
    def main(self) -> dict[str, Any]:
        """The summary of the first flow."""
        return self.flows[0]

    def frame(self, name: str) -> Frame:
        """Returns a recorded table as NumPy columns. Raises KeyError if it was not recorded."""
        if name not in self.tables:
            raise KeyError(f"{name} was not recorded; recorded: {', '.join(self.tables) or 'nothing'}")
        if name not in self._frames:
            self._frames[name] = Frame(self.tables[name])
        return self._frames[name]

    def of(self, name: str, flow: int = 0, end: str = "from") -> Frame:
        """Returns the rows of a recorded table for one flow, and for one of its ends as the data sender."""
        rows = self.frame(name).where(flow=flow)
        return rows.where(end=end) if "end" in rows else rows

    def plot(self, flow: int = 0, *, panels: Sequence[str] | None = None, columns: int | None = None) -> Figure:
        """Draws time-sequence graph, window and timer of one flow above each other, with one time axis.

        Example: `result.plot(panels=["time_sequence"], columns=1).savefig("spike.pdf")`.

        `panels` are some of `time_sequence`, `window` and `timer`. `columns` is the width in columns of a
        paper, None for a screen.
        """
        from eifel.plots import PANELS, overview

        return overview(self, flow, panels=PANELS if panels is None else panels, columns=columns)

    def svg(self, flow: int = 0) -> str:
        """Returns the plot as SVG. Equal runs give equal bytes."""
        from eifel.plots import save

        out = io.BytesIO()
        save(self.plot(flow), out, "svg")
        return out.getvalue().decode()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.flows)

    def __repr__(self) -> str:
        flows = ", ".join(
            f"{flow['flow']}: {flow['time_s']:.3f} s, {flow['retransmissions']} retransmissions"
            f" ({flow['spurious_retransmissions']} spurious)"
            for flow in self.flows
        )
        return f"<Result {flows}>"

    def summary_html(self) -> str:
        names = list(dict.fromkeys(name for flow in self.flows for name in flow))
        return html_table(names, [[shown(flow.get(name)) for name in names] for flow in self.flows])

    @property
    def _can_be_drawn(self) -> bool:
        return {"transmissions", "window", "timer"} <= self.tables.keys()

    def _repr_svg_(self) -> str | None:
        return self.svg() if self._can_be_drawn else None

    def _repr_html_(self) -> str:
        return self._html(self._repr_svg_())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        # Jupyter asks for every form; one drawing serves all of them.
        picture = self._repr_svg_()
        bundle = {"text/plain": repr(self), "text/html": self._html(picture)}
        return bundle if picture is None else {**bundle, "image/svg+xml": picture}

    def _html(self, picture: str | None) -> str:
        return self.summary_html() + (picture[picture.index("<svg") :] if picture else "")


def _manifest(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / MANIFEST).read_text(encoding="utf-8")))


def manifest_text(source: Source, repetition: int, flows: Sequence[Mapping[str, Any]], tables: Sequence[str]) -> str:
    """Returns the manifest of a recording's folder as JSON."""
    from eifel import _engine

    manifest = {
        "engine": _engine.version(),
        "scenario": source.text,
        "origin": source.origin,
        "seed": source.seed,
        "repetition": repetition,
        "flows": flows,
        "tables": tables,
    }
    return json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"


def refuse_anything_else(folder: Path) -> None:
    """Raises BadInputError if `folder` exists and is neither empty nor a recording."""
    expect_folder(folder)
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    try:
        if "tables" in _manifest(folder):
            return
    except (OSError, ValueError, TypeError):
        pass
    raise BadInputError(f"{folder}: holds something else than a recording; expected a new or an empty folder")


def shown(value: Any) -> str:
    """Formats a number of a summary for people."""
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
