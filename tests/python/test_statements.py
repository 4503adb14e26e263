"""The statements of a study's source decide its results; its comments do not."""

from __future__ import annotations

import inspect
from types import SimpleNamespace

import pytest

from eifel.papers import statements as module
from eifel.papers.statements import statements
from eifel.papers.study import Study

SOURCE = '''"""A module."""

import os  # for paths

LIMIT = 3
"""The limit of it."""


def told(value: int) -> str:
    """Tells."""
    # It has a number sign in a string.
    text = "# no comment"
    return f"{text} {value}" """more"""   # a string that is joined


class One:
    """Has
    two lines."""

    count: int = 0
    """How many."""
'''
KEPT = '''import os
LIMIT = 3
def told(value: int) -> str:
    text = "# no comment"
    return f"{text} {value}" """more"""
class One:
    count: int = 0'''


def test_comments_docstrings_and_empty_lines_are_left_out() -> None:
    assert statements(SOURCE) == KEPT
    assert statements(KEPT) == KEPT
    assert statements("") == statements("# alone\n") == statements('"""A module."""') == ""


@pytest.mark.parametrize(
    ("before", "after"),
    [("LIMIT = 3", "LIMIT = 4"), ("# no comment", "#no comment"), ("more", "less"), ("    count", "    counts")],
)
def test_every_other_change_shows(before: str, after: str) -> None:
    assert before in SOURCE
    assert statements(SOURCE.replace(before, after)) != KEPT


def test_a_study_is_the_same_after_a_change_of_its_prose(monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study(lambda _effort: {}, {}, (module, statements))
    own = study.source

    def digest(change: tuple[str, str]) -> str:
        get = inspect.getsource
        changed = SimpleNamespace(getsource=lambda source: get(source).replace(*change))
        monkeypatch.setattr("eifel.papers.study.inspect", changed)
        return study.source

    assert digest(("The result is", "The outcome is")) == own
    assert digest(("tokenize.COMMENT", "tokenize.STRING")) != own
