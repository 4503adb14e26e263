"""A wheel carries the licences of everything in it."""

from pathlib import Path

from eifel.documents import licences

ROOT = Path(__file__).parents[2]


def test_third_party_has_the_licence_of_each_crate_that_the_wheel_links() -> None:
    assert licences.PAGE.read_text(encoding="utf-8") == licences.page(), "make docs"


def test_the_licences_are_packed() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'license-files = ["LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY.txt"]' in project
    assert "uPlot (MIT)" in (ROOT / "THIRD-PARTY.txt").read_text(encoding="utf-8")
