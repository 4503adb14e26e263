"""`eifel report`: writes the stored artefacts as one HTML file."""

import argparse
import datetime
from pathlib import Path

from eifel import files, store
from eifel.cli import OK
from eifel.cli.output import note, print_json, progress, size
from eifel.errors import BadInputError
from eifel.papers import artefacts
from eifel.report import build


def command(options: argparse.Namespace) -> int:
    """Reads the stored artefacts and writes the report."""
    folder = Path(options.folder)
    file = Path(options.out) if options.out else folder / "report.html"
    stored = store.stored_ids(folder)
    known = artefacts()
    measured = []
    with progress("reading artefacts") as advance:
        for number, name in enumerate(name for name in known if name in stored):
            found = store.read(folder, known[name])
            if found is None:
                note(f"{name} is left out: it was made from another definition; `eifel reproduce {name}` makes it anew")
            else:
                measured.append(found)
            advance(number + 1, len(stored))
    if not measured:
        raise BadInputError(f"{folder}: no finished artefacts there; `eifel reproduce` makes some")
    file.parent.mkdir(parents=True, exist_ok=True)
    playground = "web/index.html" if (file.parent / "web" / "index.html").is_file() else ""
    files.put(file, build(measured, datetime.date.today().isoformat(), playground).encode())
    if options.json:
        ids = [one.artefact.id for one in measured]
        print_json("report", {"report": str(file), "artefacts": ids, "bytes": file.stat().st_size})
    else:
        note(f"wrote {file}: {len(measured)} artefacts, {size(file.stat().st_size)}")
    return OK
