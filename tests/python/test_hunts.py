"""Searches for what refutes a claim: what is kept, what is done again, and what counts as refuted."""

import importlib.util
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from eifel import hunts
from eifel.cli import main

DOCS = Path(__file__).parents[2] / "docs"
CLAIM = hunts.wrong("min-rtt")


class Workers:
    """Searches that answer at once, and say which seeds they were asked."""

    def __init__(self, refuting: int = 0, value: float = 0.0, dies_after: int = 1000) -> None:
        self.refuting, self.value, self.left = refuting, value, dies_after
        self.asked: list[int] = []

    def __call__(self, _claim: hunts.Claim, seeds: Iterable[int]) -> Iterator[hunts.Part]:
        for seed in seeds:
            if self.left == 0:
                raise KeyboardInterrupt
            self.left -= 1
            self.asked.append(seed)
            worst = {"value": self.value, "error": 0.01, "scenario": f"seed = {seed}"}
            yield seed, {"drawn": 375, "against": [worst] * self.refuting, "mean": 0.1, "worst": worst}


def test_an_interrupted_search_goes_on_where_it_was(tmp_path: Path) -> None:
    first, second = Workers(dies_after=3), Workers()
    with pytest.raises(KeyboardInterrupt):
        hunts.hunt(CLAIM, 5 * hunts.PART, 1, tmp_path, first)
    found = hunts.hunt(CLAIM, 5 * hunts.PART, 1, tmp_path, second)
    assert (len(first.asked), len(second.asked)) == (3, 2)
    assert not set(first.asked) & set(second.asked)
    assert (found.drawn, found.scenarios, found.mean) == (5 * 375, 5 * hunts.PART, pytest.approx(0.1))
    # Another seed, or another claim, is another search.
    third = Workers()
    hunts.hunt(CLAIM, hunts.PART, 2, tmp_path, third)
    hunts.hunt(hunts.wrong("dual-rtt"), hunts.PART, 1, tmp_path, third)
    assert len(third.asked) == 2


def test_a_part_that_is_not_whole_is_done_again(tmp_path: Path) -> None:
    hunts.hunt(CLAIM, 2 * hunts.PART, 1, tmp_path, Workers())
    (file, *_) = sorted(tmp_path.rglob("*.json"))
    for broken in (b"", b"{", b"null", b'{"drawn": 0}'):
        file.write_bytes(broken)
        again = Workers()
        hunts.hunt(CLAIM, 2 * hunts.PART, 1, tmp_path, again)
        assert again.asked == [int(file.stem)]


def test_one_scenario_refutes_a_claim_unless_a_share_is_published(tmp_path: Path) -> None:
    def refuted(claim: hunts.Claim, workers: Workers) -> bool:
        return hunts.hunt(claim, hunts.PART, 1, tmp_path / str(workers.refuting) / str(workers.value), workers).refuted

    assert not refuted(CLAIM, Workers(0, 0.005))
    assert refuted(CLAIM, Workers(1, 0.005))
    assert refuted(CLAIM, Workers(0, 0.02))
    known = replace(CLAIM, share=0.01)
    assert not refuted(known, Workers(3, 0.5))
    assert refuted(known, Workers(4, 0.4))


def test_the_engine_s_search_catches_a_detector_that_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(hunts, "PART", 120)
    arguments = ["hunt", "wrong", "min-rtt", "--scenarios", "120", "--out", str(tmp_path)]
    assert main(arguments) == 1
    assert "refuted: wrong min-rtt" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["wrong"], "which detector"),
        (["wrong", "eifel"], "eifel"),
        (["liars"], "expected a scenario file"),
        (["harm", "rfc4015"], "--sender KEY=VALUE"),
        (["harm", "--sender", "detect=eifel"], "eifel"),
    ],
)
def test_what_is_no_claim_is_refused_in_a_line(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["hunt", *arguments, "--out", str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert len(told.splitlines()) == 1


def page_of(name: str) -> ModuleType:
    """A script of docs, as a module."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_show_what_was_found_and_the_claims_allow_no_less() -> None:
    hunted = page_of("hunted")
    stored = json.loads(hunted.STORE.read_text(encoding="utf-8"))
    for file in hunted.PAGES:
        page = file.read_text(encoding="utf-8")
        assert "<!-- hunted: " in page
        assert hunted.filled(page, stored) == page
    found = {one["claim"]: one for one in (*stored["harm"], *stored["shares"])}
    for claim in hunts.PUBLISHED:
        if claim.name in found:
            assert found[claim.name]["refuting"] <= claim.share * found[claim.name]["drawn"], claim.name
    assert found.keys() & {claim.name for claim in hunts.PUBLISHED}
    page = hunted.PAGES[0].read_text(encoding="utf-8")
    # The default is no sender that harms nobody, and neither is the careful one: the page says so.
    assert all(one["refuting"] > 0 for one in stored["harm"])
    page = page.replace("\n", " ")
    assert "**No sender of the registry survives the search**" in page
    assert "There the careful sender harmed nobody" in page
    which = (DOCS / "which.md").read_text(encoding="utf-8")
    assert all(f"in {100 * one['refuting'] / one['drawn']:.1f} %" in which.replace("\n", " ") for one in stored["harm"])
    careful = stored["harm"][1]
    assert careful["plain"] == 0
    assert 3 / (hunted.PLAIN * careful["drawn"]) < 0.006


def test_what_is_kept_of_a_search_counts_the_neighbours() -> None:
    flow = 'application = { kind = "bulk" }\nsender = { recover = { name = "rfc6675" } }\n'
    alone, beside = f"[[flow]]\n{flow}", f"[[flow]]\n{flow}[[flow]]\n"
    against = [{"value": 0.3, "error": 0.1, "scenario": text} for text in (alone, beside, beside)]
    worst = {"value": 0.5, "error": 0.1, "scenario": alone}
    found = hunts.Found(CLAIM, 1000, 750, against, -0.0678, worst)
    kept = page_of("hunted").row(found)
    assert (kept["refuting"], kept["beside"], kept["plain"], kept["worst"], kept["drawn"]) == (3, 2, 1, 0.5, 750)


def test_no_liar_is_one_of_the_published_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [claim for claim in hunts.PUBLISHED if claim.claim["kind"] == "liars"]
    assert [claim.claim["scenario"]["point_to_point"]["loss"]["rate"] for claim in asked] == [0.001, 0.01, 0.05]
    monkeypatch.setattr(hunts, "PART", 10)
    short = {**asked[1].claim["scenario"], "duration_s": 5}
    claim = replace(asked[1], claim={"kind": "liars", "scenario": short}, most=5.0)
    found = hunts.hunt(claim, 10, 1, tmp_path, hunts.local(0, lambda _done: None))
    assert not found.refuted
    assert found.worst["value"] > 0
    assert "[[flow]]" in found.worst["scenario"]
