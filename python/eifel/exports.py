"""The files for people and other programs: an artefact's picture for print, or its table as CSV, and its JSON.

They are stored beside the measured data and made from it. A missing or outdated picture is drawn
again without another measurement.
"""

import csv
import hashlib
import io
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from eifel import store
from eifel.errors import BadInputError
from eifel.files import put
from eifel.papers.artefact import Measured

FORMS = ("svg", "pdf", "png")
"""The file formats of a picture."""

_DRAWN_BY = ".drawn-by"
"""The file with the digest of the code that drew a folder's pictures."""


def parse_forms(text: str) -> tuple[str, ...]:
    """Parses `svg,png`; `none` means no picture. Raises BadInputError for anything else."""
    if text == "none":
        return ()
    forms = tuple(dict.fromkeys(form.strip() for form in text.split(",")))
    unknown = [form for form in forms if form not in FORMS]
    if unknown:
        raise BadInputError(f"{unknown[0]!r} is no form of a picture; allowed: {', '.join(FORMS)}, or none")
    return forms


def write(out: Path, measured: Measured, forms: Sequence[str] = ("svg",)) -> list[Path]:
    """Writes a table's CSV, or a figure's pictures, into the artefact's folder in `out`. Returns those files.

    Each file appears whole or not at all. Files that are up to date stay untouched.
    """
    folder = out / measured.artefact.id
    # Texts and tolerances may have changed since the measurement.
    _put(folder / store.ARTEFACT, store.json_text(measured.json()).encode())
    made = []
    if not measured.artefact.is_recorded:
        made.append(folder / f"{measured.artefact.id}.csv")
        _put(made[0], table_csv(measured).encode())
    if not measured.artefact.draw is not None:
        return made
    _forget_outdated(folder)
    wanted = [folder / f"{measured.artefact.id}.{form}" for form in forms]
    missing = [file for file in wanted if not file.is_file()]
    if missing and measured.artefact.draw is not None:
        from eifel.plots import save

        for file in missing:
            drawn = io.BytesIO()
            # A new figure for each file, since the layout of a drawn one may shift slightly.
            save(measured.artefact.draw(measured), drawn, file.suffix.lstrip("."))
            _put(file, drawn.getvalue())
    return made + wanted


def table_csv(measured: Measured) -> str:
    """Returns the table as CSV. A row has its keys, and for each column the mean and its 95 % interval.

    Repeated rows have intervals, and columns with published values have those too.

    Numbers are not rounded. A cell without a value is empty.
    """
    artefact = measured.artefact
    published = any(row.row.published for row in measured.rows)
    repeated = any(mean.interval for row in measured.rows for mean in row.means.values())
    head = list(artefact.keys)
    for column in artefact.columns:
        head += [column.name]
        head += [f"{column.name}_low95", f"{column.name}_high95"] if repeated else []
        head += [f"{column.name}_published"] if published else []
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(head)
    for row in measured.rows:
        cells: list[object] = [
            str(value).lower() if isinstance(value, bool) else value for value in row.row.keys.values()
        ]
        for column in artefact.columns:
            mean = row.means.get(column.name)
            cells.append("" if mean is None else mean.mean)
            cells += ((mean and mean.interval) or ("", "")) if repeated else ()
            cells += [row.row.published.get(column.name, "")] if published else []
        lines.writerow(cells)
    return text.getvalue()


def _forget_outdated(folder: Path) -> None:
    """Removes pictures drawn by other code. Writes the digest last, so that an interrupt loses nothing."""
    note = folder / _DRAWN_BY
    if note.is_file() and note.read_text(encoding="utf-8") == _drawing_code():
        return
    for form in FORMS:
        (folder / f"{folder.name}.{form}").unlink(missing_ok=True)
    _put(note, _drawing_code().encode())


@cache
def _drawing_code() -> str:
    """Returns the digest of everything that decides how a stored run is drawn."""
    import matplotlib as mpl

    digest = hashlib.sha256(mpl.__version__.encode())
    for package in ("model", "plots", "papers", "studies"):
        _add(digest, Path(str(files("eifel") / package)))
    return digest.hexdigest()


def _add(digest: "hashlib._Hash", folder: Path) -> None:
    for file in sorted(folder.rglob("*.py")):
        digest.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes())


def _put(file: Path, content: bytes) -> None:
    if file.is_file() and file.read_bytes() == content:
        return
    put(file, content)
