"""`eifel analyze FOLDER`: each capture of a folder by itself, here or on a Dask cluster. Finished ones stay."""

import argparse
import time
from collections import Counter
from pathlib import Path

from eifel import sweeps
from eifel.cli import FAILED, OK
from eifel.cli.output import console, heading, note, print_json, table
from eifel.cli.places import OF_ONE_PLACE
from eifel.errors import BadInputError

OF_FILES = (*OF_ONE_PLACE, "csv", "fail_if", "verbose")
"""Options of `eifel analyze` that say something of files."""
OF_A_FOLDER = ("out", "dask", "fresh")
VERDICTS = ("spurious", "needed", "undecidable")
MOST_ERRORS = 10
"""The most files that could not be read whose reason is printed."""


def asked(options: argparse.Namespace) -> bool:
    """Returns whether a folder is to be analysed. Raises BadInputError for options of the other kind."""
    folders = [name for name in options.files if Path(name).is_dir()]
    for option in OF_FILES if folders else OF_A_FOLDER:
        if getattr(options, option) not in (None, False, []):
            name = option.replace("_", "-")
            which = f"of files; {folders[0]} is a folder" if folders else "of a folder; expected eifel analyze FOLDER"
            raise BadInputError(f"--{name}: {which}")
    if folders and len(options.files) > 1:
        raise BadInputError(f"{folders[0]}: a folder; expected it alone")
    return bool(folders)


def command(options: argparse.Namespace) -> int:
    """Analyses the captures, and prints how many retransmissions have which cause and verdict."""
    from eifel.cli.sweep import counted, dask
    from eifel.sweeps.captures import analyze_folder, captures_in

    options.resumes = True
    (place,) = options.files
    out = Path(options.out) if options.out else Path("out") / Path(place).resolve().name
    captures_in(place, out)
    executor = dask(options.dask) if options.dask else None
    began = time.monotonic()
    try:
        with counted(place, "files") as advance:
            folder = analyze_folder(place, out=out, executor=executor, fresh=options.fresh, progress=advance)
    except sweeps.SweepError as error:
        note(f"eifel: {error}; what is finished is in {out}, and the same command goes on from there")
        return FAILED
    counts: Counter[tuple[str, str]] = Counter()
    files, failed = 0, []
    for rows in folder.tables():
        files += 1
        found = rows.filter(rows["error"].is_null())
        counts.update(zip(found["cause"].to_pylist(), found["verdict"].to_pylist(), strict=True))
        failed += rows.filter(rows["error"].is_valid()).select(["file", "error"]).to_pylist()
    if options.json:
        head = {"folder": str(folder.path), "files": files, "retransmissions": counts.total()}
        each = [
            {"cause": cause, "verdict": verdict, "count": counts[cause, verdict]} for cause, verdict in sorted(counts)
        ]
        print_json("analyze-folder", {**head, "counts": each, "failed": failed})
    else:
        console().print(heading(f"{counts.total()} retransmissions in {files} captures of {place}"))
        shown = table(["cause", "all", *VERDICTS], left=1)
        for cause in sorted({cause for cause, _ in counts}):
            of_cause = [counts[cause, verdict] for verdict in VERDICTS]
            shown.add_row(cause, *map(str, (sum(of_cause), *of_cause)))
        console().print(shown)
        note(f"a row each in {folder.path}, {time.monotonic() - began:.1f} s")
        for row in failed[:MOST_ERRORS]:
            note(f"eifel: {row['error']}")
        if len(failed) > MOST_ERRORS:
            note(f"eifel: {len(failed)} files in all could not be read to their end: column error says why")
    return FAILED if failed else OK
