"""Writes what takes seconds, or with a name one document: `measured ID…`, `hunted PART…`, `recorded FILE…`, etc."""

import sys
from importlib import import_module

from eifel import _engine
from eifel.documents import DOCS, algorithms, licences, pictures, schemas, tables

NAMED = ("calibration", "failing", "hunted", "measured", "pictures", "recorded", "samples")

if len(sys.argv) > 1 and sys.argv[1] not in NAMED:
    sys.exit(f"eifel.documents: {sys.argv[1]}: unknown; expected one of {', '.join(NAMED)}, or nothing")
if len(sys.argv) > 1:
    import_module(f"eifel.documents.{sys.argv[1]}").main(sys.argv[2:])
else:
    (DOCS / "scenario.schema.json").write_text(_engine.schema().rstrip() + "\n", encoding="utf-8")
    algorithms.PAGE.write_text(algorithms.page(), encoding="utf-8")
    tables.PAGE.write_text(tables.page(), encoding="utf-8")
    schemas.main()
    licences.PAGE.write_text(licences.page(), encoding="utf-8")
    pictures.main()
