"""Sentences of docs/internals/findings.md: which numbers results hold, and which command measures them again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import golden
from eifel.documents import FINDINGS, calibration, contains, measured, recorded, single_runs, stored
from eifel.papers import artefacts

TEXT = " ".join((Path(__file__).parents[2] / FINDINGS).read_text(encoding="utf-8").split())
RUNS = single_runs.quotes()
NOT_MEASURED = re.compile(
    r"<!-- measured: .*? <!-- end -->|`[^`]*`|\]\([^)]*\)|\bRFCs? \d+|ns-2(\.35)?|\d\.\dBSD|"
    r"(?:[Tt]able|[Ff]igure|[Ss]ection|equation|step|Chapter)s? \(?[\d.]+\)?(?: (?:to|and) \d+|-\d+)?"
)
"""Tables, which other tests compare, and numbers that name something."""
NUMBER = re.compile(r"(?<![\w.-])\d+(?: \d{3}\b)*(?:\.\d+)?(?: %| [a-zA-Z]+)?")


def paragraphs() -> list[str]:
    """Returns the page's findings, and its other paragraphs, each without what lies behind it."""
    return re.split(r" (?=- \*\*|## |<!-- measured)|(?<=<!-- end -->) ", TEXT)


@pytest.mark.parametrize(("page", "sentence"), RUNS)
def test_findings_hold_the_numbers_of_single_runs(page: str, sentence: str) -> None:
    assert contains(page, sentence)


def test_each_finding_names_the_command_that_measures_it_again() -> None:
    findings = [text for text in paragraphs() if text.startswith("- **")]
    assert len(findings) > 40
    commands = r"eifel reproduce ([\w. ]+)|python (?:-m eifel\.documents|benches/ns2/\w+\.py)"
    without = [text for text in findings if not re.search(commands, text)]
    assert without == []
    named = {
        name for text in findings for call in re.findall(r"eifel reproduce ([\w. ]+)", text) for name in call.split()
    }
    assert named <= {*artefacts(), *(name.partition(".")[0] for name in artefacts())}


def test_numbers_that_no_result_holds_are_settings_or_printed_by_the_papers() -> None:
    """A new number is to be held by a sentence of `eifel.documents`, or to be judged in this golden file."""
    held = [
        *measured.quotes(stored.read()),
        *recorded.quotes(stored.read(recorded.STORE)),
        *calibration.quotes(),
        *RUNS,
    ]
    held += [(FINDINGS, found) for found in re.findall(r"On two seeds that no fit has seen, [^.]*\.", TEXT)]
    found = {}
    for text in paragraphs():
        rest = text
        for page, sentence in held:
            if page == FINDINGS:
                rest = rest.replace(sentence, "")
        numbers = [number.group().strip() for number in NUMBER.finditer(NOT_MEASURED.sub("", rest))]
        if numbers:
            title = re.match(r"- \*\*(.*?)\*\*|(.{,60})", text)
            assert title
            found[title[1] or title[2]] = numbers
    golden.check("findings", found)
