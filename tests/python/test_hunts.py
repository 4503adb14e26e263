"""Searches for counterexamples: stored results, repeated parts, and the criterion of refutation."""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import eifel
from eifel import hunts
from eifel.cli import main
from eifel.documents import AUTHOR, HARM, ROOT, contains, hunted, pictures
from eifel.scenario import load
from eifel.statistics import share_interval

CLAIM = hunts.wrong("min-rtt")


class Workers:
    """A fake worker that answers at once, and records the requested seeds."""

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


def test_an_interrupted_search_runs_only_the_missing_parts(tmp_path: Path) -> None:
    first, second = Workers(dies_after=3), Workers()
    with pytest.raises(KeyboardInterrupt):
        hunts.hunt(CLAIM, 5 * hunts.PART, 1, tmp_path, first)
    found = hunts.hunt(CLAIM, 5 * hunts.PART, 1, tmp_path, second)
    assert (len(first.asked), len(second.asked)) == (3, 2)
    assert not set(first.asked) & set(second.asked)
    assert (found.drawn, found.scenarios, found.mean) == (5 * 375, 5 * hunts.PART, pytest.approx(0.1))
    # Another seed or another claim makes another search.
    third = Workers()
    hunts.hunt(CLAIM, hunts.PART, 2, tmp_path, third)
    hunts.hunt(hunts.wrong("dual-rtt"), hunts.PART, 1, tmp_path, third)
    assert len(third.asked) == 2


def test_a_damaged_part_of_a_search_is_run_again(tmp_path: Path) -> None:
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
    # 7 of 375 scenarios are 1.9 %, which at 95 % may be 1 %. With 8 it may not.
    known = replace(CLAIM, share=0.01)
    assert not refuted(known, Workers(7, 0.5))
    assert refuted(known, Workers(8, 0.4))


def test_an_interrupted_search_for_a_liar_runs_only_the_missing_parts(tmp_path: Path) -> None:
    source = load(ROOT / "examples" / "lossy.toml")
    asked: list[tuple[int, int]] = []

    def search(runs: range, seed: int) -> hunts.Liar:
        if len(asked) == 2:
            raise KeyboardInterrupt
        asked.append((len(runs), seed))
        return {"gain": 1.0 + len(asked) / 10, "runs": 40, "liar": f"number {len(asked)}"}

    with pytest.raises(KeyboardInterrupt):
        hunts.liar(source, 2 * hunts.RUNS + 300, 7, tmp_path, search)
    assert asked == [(hunts.RUNS, 7), (hunts.RUNS, 7_000_001)]
    asked[:] = [(0, 0)]
    found = hunts.liar(source, 2 * hunts.RUNS + 300, 7, tmp_path, search)
    assert asked == [(0, 0), (300, 7_000_002)]
    assert (found["gain"], found["liar"]) == (1.2, "number 2")
    # A damaged part is searched again, and another seed makes another search.
    for file in tmp_path.rglob("0-*.json"):
        file.write_bytes(b'{"gain": 9}')
    asked.clear()
    assert hunts.liar(source, 300 + hunts.RUNS, 7, tmp_path, search)["gain"] < 9
    asked.clear()
    hunts.liar(source, 300, 8, tmp_path, search)
    assert asked == [(300, 8)]


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
def test_an_invalid_claim_is_refused_in_one_line(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["hunt", *arguments, "--out", str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert len(told.splitlines()) == 1


@pytest.fixture(scope="module")
def stored() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(hunted.STORE.read_text(encoding="utf-8"))
    return found


def test_the_pages_show_the_stored_findings(stored: dict[str, Any]) -> None:
    page = (ROOT / HARM).read_text(encoding="utf-8")
    assert page.count("<!-- hunted: ") == len(hunted.TABLES)
    assert hunted.filled(page, stored) == page
    assert [sentence for page, sentence in hunted.quotes(stored) if not contains(page, sentence)] == []
    # Each sender harms, as the page says.
    assert all(stored[name]["refuting"] > 0 for name in pictures.SENDERS)
    page = " ".join(page.split())
    assert "**None of these six survives the search**" in page
    assert "the default harmed somebody in one of 980, and the careful sender in none" in page
    assert "It harmed in none of the 980 plain scenarios" in page
    assert [stored[name]["plain"] for name in ("default", "careful", "limited")] == [1, 0, 0]
    # Three senders are on the frontier, as the page says.
    points = [(share, gain) for share, _, gain in (pictures.point(stored[name]) for name in pictures.SENDERS)]
    beaten = [any(b[0] <= a[0] and b[1] >= a[1] for b in points if b != a) for a in points]
    assert beaten == [False, False, True, False, True, True]


def test_the_picture_has_each_sender_where_the_search_found_it(stored: dict[str, Any]) -> None:
    row = {"refuting": 131, "drawn": 7500, "mean": -0.1033}
    share, (low, high), gain = pictures.point(row)
    assert (round(share, 2), round(low, 2), round(high, 2), gain) == (1.75, 1.47, 2.07, pytest.approx(10.33))
    place = pictures.frontier(stored).axes[0]
    shown = {text.get_text(): text.xy for text in place.texts}
    assert shown.pop("no detection") == (0, 0)
    triangles = [line.get_xydata()[0] for line in place.lines if line.get_marker() == "^"]
    for (name, (told, _)), triangle in zip(pictures.DRAWN.items(), triangles, strict=True):
        share, (_, high), gain = pictures.point(stored["wire"][name])
        # The name is at the end of the interval.
        assert shown.pop(f"{told}, on Linux's wire") == (high, gain)
        assert triangle == pytest.approx((share, gain))
    expected = {
        told: (pictures.point(stored[name])[0], pictures.point(stored[name])[2])
        for name, (told, _) in pictures.SENDERS.items()
    }
    assert shown == expected


def test_the_published_shares_are_barely_above_the_found_ones(stored: dict[str, Any]) -> None:
    found = {one["claim"]: one for one in (stored["default"], stored["careful"], *stored["wrong"].values())}
    for claim in hunts.PUBLISHED:
        if claim.claim["kind"] != "liars":
            one = found[claim.name]
            share = share_interval(one["refuting"], one["drawn"])
            assert share.interval is not None
            upper = share.interval[1] if claim.share else 0.0
            assert share.mean <= claim.share <= upper + 0.001, claim.name


def test_the_advice_links_a_scenario_against_each_line_that_has_one() -> None:
    text = (ROOT / AUTHOR).read_text(encoding="utf-8")
    linked = re.findall(r"\(\.\./(crates/hunt/counterexamples/[\w-]+\.toml)\)", text)
    assert len(set(linked)) >= 9
    assert all((ROOT / file).is_file() for file in linked)


def test_the_stored_row_of_a_search_counts_scenarios_with_a_neighbour() -> None:
    flow = 'application = { kind = "bulk" }\nsender = { recover = { name = "rfc6675" } }\n'
    alone, beside = f"[[flow]]\n{flow}", f"[[flow]]\n{flow}[[flow]]\n"
    against = [{"value": 0.3, "error": 0.1, "scenario": text} for text in (alone, beside, beside)]
    worst = {"value": 0.5, "error": 0.1, "scenario": alone}
    found = hunts.Found(CLAIM, 1000, 750, against, -0.0678, worst)
    kept = hunted.row(found)
    assert (kept["refuting"], kept["beside"], kept["plain"], kept["worst"], kept["drawn"]) == (3, 2, 1, 0.5, 750)
    assert kept["recovery"] == {"rfc6675": 3}


@pytest.mark.parametrize("number", [0, 6, 7, 8])
def test_a_scenario_of_the_page_does_the_harm_that_it_shows(number: int, stored: dict[str, Any]) -> None:
    _, file, more = hunted.SCENES[number]
    assert hunted.scene(file, more) == pytest.approx(stored["scenes"][number], abs=1e-4)


def counted(file: str, algorithms: dict[str, Any], runs: int = 6) -> dict[str, float]:
    """Returns means over the flows of one of the page's scenarios, with these algorithms."""
    scenario = tomllib.loads((hunted.COUNTEREXAMPLES / f"{file}.toml").read_text(encoding="utf-8"))
    found = eifel.run_many([hunted._with(scenario, algorithms)], repetitions=runs)
    return {name: float(found[name].mean()) for name in ("goodput_bps", "undos", "drops_after_undo", "timeouts")}


def test_over_a_queue_of_two_the_burst_after_an_undo_does_the_harm() -> None:
    """Same detector and grant: `as-carried` sends two segments where RFC 4015 sends up to an initial window."""
    always = {"detect": "eifel-timestamps", "grant": "always"}
    burst, two = (counted("reordering-tiny-queue", {**always, "respond": name}) for name in ("rfc4015", "as-carried"))
    assert burst["drops_after_undo"] / burst["undos"] > 1.25 * two["drops_after_undo"] / two["undos"]
    # Too few duplicate ACKs follow the drops.
    assert burst["timeouts"] > 4 * two["timeouts"]
    assert burst["goodput_bps"] < 0.5 * two["goodput_bps"]


def test_undos_that_losses_follow_are_soon_refused() -> None:
    limited, free = (
        counted("reordering-tiny-queue", {**hunts.DEFAULT, "grant": name})
        for name in ("unless-losses-follow", "once-a-round-trip")
    )
    assert limited["undos"] < 0.5 * free["undos"]
    assert limited["goodput_bps"] > 2 * free["goodput_bps"]


def test_a_tail_loss_probe_helps_an_undo_after_a_spike_that_loses_the_tail() -> None:
    def against_none(recover: str) -> float:
        none, careful = (
            counted("newreno-sack-lost-acks", {**sender, "recover": recover})
            for sender in (hunts.BASELINE, hunts.CAREFUL)
        )
        return careful["goodput_bps"] / none["goodput_bps"]

    assert against_none("rack-tlp") > against_none("newreno-sack") + 0.2


def test_a_search_on_a_cluster_finds_the_same_as_one_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hunts, "PART", 40)
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'eifel[dask]'")
    found = [hunts.hunt(CLAIM, 80, 3, tmp_path / "here", hunts.local(0, lambda _done: None))]
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    ) as cluster:
        found.append(hunts.hunt(CLAIM, 80, 3, tmp_path / "there", hunts.dask(cluster.scheduler_address)))
    assert found[0].json() == found[1].json()


def test_no_liar_is_one_of_the_published_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [claim for claim in hunts.PUBLISHED if claim.claim["kind"] == "liars"]
    paths = [claim.claim["scenario"]["point_to_point"] for claim in asked]
    slow, fast = (10_000_000, 80), (100_000_000, 800)
    expected = [*((*slow, loss) for loss in (0.001, 0.01, 0.05)), *((*fast, loss) for loss in (1e-3, 1e-4, 1e-5))]
    assert [(path["rate_bps"], path["queue"]["packets"], path["loss"]["rate"]) for path in paths] == expected
    assert [path["back"]["rate_bps"] for path in paths] == [path["rate_bps"] for path in paths]
    monkeypatch.setattr(hunts, "PART", 10)
    short = {**asked[1].claim["scenario"], "duration_s": 5}
    claim = replace(asked[1], claim={"kind": "liars", "scenario": short}, most=5.0)
    found = hunts.hunt(claim, 10, 1, tmp_path, hunts.local(0, lambda _done: None))
    assert not found.refuted
    assert found.worst["value"] > 0
    assert "[[flow]]" in found.worst["scenario"]


def test_a_profile_is_a_part_of_the_claim_and_of_its_command() -> None:
    harm, wrong = hunts.harm(hunts.LINUX, hunts.BASELINE, profile="linux"), hunts.wrong("linux", profile="linux")
    assert harm.claim["profile"] == wrong.claim["profile"] == "linux"
    assert harm.name.startswith("harm --profile linux --sender detect=linux")
    assert wrong.name == "wrong linux --profile linux --most 0.0"
    assert "profile" not in hunts.wrong("linux").claim
    found = hunts.part(harm, 4, 1, 1)
    assert found["drawn"] == 3 and 'profile = "linux"' in found["worst"]["scenario"]
