"""Writes the generated parts of the documents, from a checkout: `python -m eifel.documents [NAME [ARGUMENT…]]`."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
INTERNALS, REFERENCE = DOCS / "internals", DOCS / "reference"
AUTHOR, RESEARCHER = "docs/author.md", "docs/researcher.md"
CAPTURES, WHATIF = (f"docs/reference/{name}.md" for name in ("captures", "whatif"))
DETECTORS, FINDINGS, HARM, LIARS, PARTIAL_CREDIT, TIMERS, UNDO, WORLDS = (
    f"docs/internals/{name}.md"
    for name in ("detectors", "findings", "harm", "liars", "partial_credit", "timers", "undo", "worlds")
)
"""Pages with quoted numbers, by their paths in the checkout."""


def spaced(number: float) -> str:
    """Formats a whole number with a space between thousands."""
    return f"{number:,.0f}".replace(",", " ")


def table(head: Sequence[str], rows: Iterable[Sequence[object]], words: int | None = None) -> str:
    """Returns a table in Markdown. The columns after the first `words` are aligned right, like numbers."""
    lines = ("|" + "|".join(f" {cell} " if str(cell) else " " for cell in cells) + "|" for cells in (head, *rows))
    first, *others = lines
    left = len(head) if words is None else words
    return "\n".join((first, "|" + "---|" * left + "---:|" * (len(head) - left), *others))


def filled(text: str, mark: str, block: str) -> str:
    """Returns the page with this block between the comment `mark` and the next `end`."""
    before, head, rest = text.partition(f"<!-- {mark} -->\n")
    _, end, after = rest.partition("<!-- end -->")
    if not end:
        raise LookupError(f"no block {mark}")
    return f"{before}{head}{block}\n{end}{after}"


def contains(page: str, sentence: str) -> bool:
    """Returns whether a page, by its path in the checkout, has this sentence, however its lines are broken."""
    return sentence in " ".join((ROOT / page).read_text(encoding="utf-8").split())


def quoted(page: str, *sentences: str) -> list[tuple[str, str]]:
    return [(page, sentence) for sentence in sentences]


def name_missing(quotes: Iterable[tuple[str, str]]) -> None:
    """Prints each sentence that its page lacks."""
    for page, sentence in quotes:
        if not contains(page, sentence):
            print(f"{page}: does not say: {sentence}", file=sys.stderr)
