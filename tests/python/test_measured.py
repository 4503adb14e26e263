"""The numbers of the documents are those that the artefacts gave."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from eifel.papers import artefacts
from eifel.reproduction import reproduce

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import measured  # noqa: E402

STORE = measured.stored()


@pytest.mark.parametrize("name", measured.ARTEFACTS)
def test_what_is_stored_is_of_the_artefact_as_it_is(name: str) -> None:
    assert STORE[name]["definition"] == artefacts()[name].definition(), "run docs/measured.py"


@pytest.mark.parametrize("page", sorted({page for page, _ in measured.BLOCKS.values()}))
def test_a_pages_tables_are_what_is_stored(page: str) -> None:
    assert (ROOT / page).read_text(encoding="utf-8") == measured.written(page, STORE)


@pytest.mark.parametrize(("page", "sentence"), measured.quotes(STORE))
def test_a_page_says_what_is_stored(page: str, sentence: str) -> None:
    assert sentence in " ".join((ROOT / page).read_text(encoding="utf-8").split())


@pytest.mark.parametrize("name", ["responding.table1", "thesis.figure5_16"])
def test_measured_again_it_is_the_same(name: str) -> None:
    for row, kept in zip(reproduce(name).json()["rows"], STORE[name]["rows"], strict=True):
        assert row["keys"] == kept["keys"]
        assert row["measured"] == pytest.approx(kept["measured"], abs=1e-6)


def test_a_page_with_another_number_is_noticed() -> None:
    page, sentence = measured.quotes(STORE)[1]
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    assert sentence not in text.replace(" s instead of ", " s instead of 1")
