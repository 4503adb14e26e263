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
NUMBER = re.compile(
    r"(?<![\w.-])\d+(?: \d{3}\b)*(?:\.\d+)?(?: %| [a-zA-Z]+)?|"
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|half|halves|thirds?|quarters?|fifths?|tenths?|twice|[a-z]+fold)\b"
)
"""Numbers in digits and in words."""
COMMAND = re.compile(r"eifel reproduce ([\w. ]+)|python (?:-m eifel\.documents|benches/ns2/\w+\.py)")


def paragraphs(text: str = TEXT) -> list[str]:
    """Returns the page's findings, and its other paragraphs, each without what lies behind it."""
    return re.split(r" (?=- \*\*|## |<!-- measured)|(?<=<!-- end -->) ", text)


def held() -> list[str]:
    """Returns the page's sentences whose numbers results hold."""
    sources = (measured.quotes(stored.read()), recorded.quotes(stored.read(recorded.STORE)), calibration.quotes(), RUNS)
    sentences = [sentence for quotes in sources for page, sentence in quotes if page == FINDINGS]
    # test_measured.py computes this one.
    return [*sentences, *re.findall(r"On two seeds that no fit has seen, [^.]*\.", TEXT)]


HELD = held()


def without_command(text: str = TEXT) -> list[str]:
    """Returns the findings that name no command."""
    return [one for one in paragraphs(text) if one.startswith("- **") and not COMMAND.search(one)]


def not_held(text: str = TEXT) -> dict[str, list[str]]:
    """Returns the numbers of each paragraph that no sentence holds, by what it begins with."""
    found = {}
    for paragraph in paragraphs(text):
        rest = paragraph
        for sentence in HELD:
            rest = rest.replace(sentence, "")
        numbers = [number.group().strip() for number in NUMBER.finditer(NOT_MEASURED.sub("", rest))]
        if numbers:
            title = re.match(r"- \*\*(.*?)\*\*|(.{,60})", paragraph)
            assert title
            found[title[1] or title[2]] = numbers
    return found


@pytest.mark.parametrize(("page", "sentence"), RUNS)
def test_findings_hold_the_numbers_of_single_runs(page: str, sentence: str) -> None:
    assert contains(page, sentence)


def test_each_finding_names_the_command_that_measures_it_again() -> None:
    findings = [text for text in paragraphs() if text.startswith("- **")]
    assert len(findings) > 40
    assert without_command() == []
    named = {name for text in findings for call in COMMAND.findall(text) for name in call.split()}
    assert named <= {*artefacts(), *(name.partition(".")[0] for name in artefacts())}


def test_a_finding_without_a_command_is_noticed() -> None:
    for finding in (text for text in paragraphs() if text.startswith("- **")):
        assert without_command(TEXT.replace(finding, COMMAND.sub("", finding))) != [], finding


def test_numbers_that_no_result_holds_are_settings_or_printed_by_the_papers() -> None:
    """A new number is to be held by a sentence of `eifel.documents`, or to be judged in this golden file."""
    golden.check("findings", not_held())


def test_any_other_number_is_noticed() -> None:
    """Changes each number of the page in turn. test_measured.py compares its tables whole."""
    named = [match.span() for match in NOT_MEASURED.finditer(TEXT)]
    kept = not_held()
    unnoticed = []
    for match in NUMBER.finditer(TEXT):
        if any(start <= match.start() < end for start, end in named):
            continue
        other = "9" + match.group() if match.group()[0].isdigit() else "eleven"
        changed = TEXT[: match.start()] + other + TEXT[match.end() :]
        if all(sentence in changed for sentence in HELD) and not_held(changed) == kept:
            unnoticed.append(TEXT[match.start() - 40 : match.end()])
    assert unnoticed == []
