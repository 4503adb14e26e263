"""Tests the benchmarks' arithmetic and judgement, not their measurements."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benches"))

import run as bench
import scale
import sweeps


def test_a_cost_that_grows_with_n_log_n_is_within_the_bound() -> None:
    assert bench.growth(lambda _, segments: round(segments * math.log(segments)))


@pytest.mark.parametrize("order", bench.ORDERS)
def test_one_order_that_grows_faster_is_noticed(order: str, capsys: pytest.CaptureFixture[str]) -> None:
    def cost(of: str, segments: int) -> int:
        return round(segments**1.2) if of == order else segments

    assert not bench.growth(cost)
    assert capsys.readouterr().out.count("2.30 times") == 1


def test_a_count_of_instructions_is_read() -> None:
    assert bench.counted("==7== I   refs:      1,234,567\n") == 1_234_567
    assert bench.counted("==7== I refs:        89\n") == 89
    with pytest.raises(RuntimeError, match="did not tell its count"):
        bench.counted("valgrind: failed to start")


def test_the_start_of_a_run_is_that_of_its_first_second() -> None:
    scenario = 'title = "a"\nduration_s = 20_000\n[link]\ndelay_ms = 1\n'
    assert bench.for_one_second(scenario) == 'title = "a"\nduration_s = 1\n[link]\ndelay_ms = 1\n'
    with pytest.raises(ValueError, match="the scenario has 0 durations"):
        bench.for_one_second('title = "a"\n')
    assert bench.without(bench.Cost(0.5, 7.0), bench.Cost(2.0, 9.0)) == bench.Cost(1.5, 9.0)


def test_the_start_is_left_out_on_both_sides(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (case,) = [case for case in bench.CASES if case.start]
    seconds: list[str] = []

    def cost_of(command: list[str | Path]) -> bench.Cost:
        of_peer = command[0] == "ns"
        text = str(command[2]) if of_peer else Path(command[-1]).read_text(encoding="utf-8")
        short = text == "1" or "duration_s = 1\n" in text
        seconds.append("short" if short else "long")
        return bench.Cost({(True, True): 3.0, (True, False): 103.0}.get((of_peer, short), 2.0 if short else 12.0), 1.0)

    monkeypatch.setattr(bench, "cost_of", cost_of)
    ours, theirs = bench.costs_of(case, tmp_path)
    assert (ours.cpu_s, theirs.cpu_s, sorted(seconds)) == (10.0, 100.0, ["long", "long", "short", "short"])


def test_the_engines_profile_is_printed_beside_a_release(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[str, ...]] = []

    def cost_of(command: list[str | Path]) -> bench.Cost:
        program = Path(command[0])
        asked.append((program.parent.name, program.name, *map(str, command[1:])))
        return bench.Cost(3.0 if program.parent.name == bench.PROFILE else 2.0, 1.0)

    monkeypatch.setattr(bench, "cost_of", cost_of)
    bench.soon_built("one flow", "eifel", "run", "one.toml")
    assert capsys.readouterr().out == "profile engine, one flow: 3.000 CPU s, release 2.000: 1.50 times the cost\n"
    both = [(bench.PROFILE, "eifel", "run", "one.toml"), ("release", "eifel", "run", "one.toml")]
    assert asked == both * bench.ROUNDS


def test_the_cost_of_a_point_is_that_of_its_second_part(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def run(scenario: Path, _folder: Path) -> tuple[bench.Cost, int]:
        parts = 2 if scenario.read_text(encoding="utf-8").startswith("duration_s = 6\n") else 1
        return bench.Cost(5.0 + 2 * parts, 7.0 * parts), 1000 * parts

    monkeypatch.setattr(scale, "run", run)
    point = scale.Point("flows", 10, 3, "")
    assert scale.measure(point, tmp_path) == scale.Measured(point, 2e6, 14.0)


@pytest.mark.parametrize(
    ("segment_ns", "mib", "holds"), [(150, 64, True), (151, 64, False), (150, 65, False), (10, 10, True)]
)
def test_flows_keep_their_bounds_of_cost_and_memory(segment_ns: float, mib: float, holds: bool) -> None:
    measured = [
        scale.Measured(scale.Point("flows", flows, 1, ""), ns, mib)
        for flows, ns in ((1000, 100.0), (10_000, float(segment_ns)))
    ]
    assert scale.table(measured) is holds


@pytest.mark.parametrize(("swept_s", "mib", "holds"), [(3.675, 9.0, True), (3.7, 9.0, False), (3.6, 9.1, False)])
def test_a_sweep_keeps_its_bounds_of_cost_and_memory(swept_s: float, mib: float, holds: bool) -> None:
    few = (bench.Cost(1.0, 1.0), bench.Cost(0.5, 1.0))
    many = (bench.Cost(1.0 + swept_s, mib), bench.Cost(0.5 + 3.5, 1.0))
    assert sweeps.judged([(few, many)]) is holds
