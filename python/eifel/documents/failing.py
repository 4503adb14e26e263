"""`python -m eifel.documents failing [ID…]` measures artefacts that take minutes: all, or these.

Writes the number of their failing claims to `python/eifel/papers/failing.toml`, which `eifel reproduce`
tells when it leaves them out. Results stored in `out` are not measured again.
"""

from collections.abc import Mapping, Sequence

from eifel.documents import ROOT
from eifel.papers import artefacts, failing
from eifel.papers.artefact import Artefact
from eifel.reproduction import reproduce

FILE = ROOT / "python" / "eifel" / "papers" / "failing.toml"
HEAD = (
    "# How many claims of an artefact that takes minutes failed when it was last measured, by\n"
    "# python -m eifel.documents failing ID…\n"
)


def asked() -> list[Artefact]:
    """Returns the artefacts of the file: those that take minutes, and need no network and no recorded link."""
    return [one for one in artefacts().values() if one.is_long and not one.is_live and not one.needs_traces]


def keep(counts: Mapping[str, int]) -> None:
    """Writes the file, with these counts in place of earlier ones."""
    found = {**failing(), **counts}
    lines = [f'"{one.id}" = {found[one.id]}\n' for one in asked() if one.id in found]
    FILE.write_text(HEAD + "".join(lines), encoding="utf-8")


def main(names: Sequence[str]) -> None:
    """Counts the failing claims of all artefacts, or of the named ones, and writes the file."""
    counts = {}
    for artefact in asked():
        if artefact.id in names or not names:
            claims = reproduce(artefact, out=ROOT / "out").claims()
            counts[artefact.id] = sum(not claim["holds"] for claim in claims)
    keep(counts)
