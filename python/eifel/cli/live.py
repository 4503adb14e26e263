"""`eifel live`: the engine on a real network. The engine runs the commands; this module stores their recordings."""

import argparse
import sys
from pathlib import Path


def command(options: argparse.Namespace) -> int:
    from eifel import _engine

    sys.stdout.flush()
    code, recorded = _engine.live([sys.executable, "-m", "eifel", "live"], options.arguments)
    for folder, scenario, origin, run in recorded:
        from eifel import plots
        from eifel.cli.output import note
        from eifel.result import Result
        from eifel.scenario import Source

        result = Result.from_engine(Source(scenario, origin), 0, run)
        result.write(folder)
        page = Path(folder).with_suffix(".html")
        plots.write(result, page)
        note(f"recorded in {folder}; {page} shows it")
    _store_log(options.arguments)
    return code


def _store_log(arguments: list[str]) -> None:
    """Writes the log of an emulated path as Parquet beside its CSV."""
    words = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if words[:1] != ["hiccup"] or "--out" not in words[:-1]:
        return
    folder = Path(words[words.index("--out") + 1])
    if (folder / "path.csv").is_file():
        from pyarrow import parquet

        from eifel.live import fates

        parquet.write_table(fates(folder), folder / "path.parquet")
