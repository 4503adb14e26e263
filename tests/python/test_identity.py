"""The identity of stored results: anything that decides a sweep's or study's results changes it."""

from __future__ import annotations

import copy
import json
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eifel
from eifel import _engine, store, sweeps
from eifel.cli import OK, main
from eifel.errors import BadInputError
from eifel.papers.study import Effort
from eifel.sweeps.folder import identity_of

SWEEP: dict[str, Any] = {
    "title": "identity",
    "scenario": {
        "duration_s": 5,
        "point_to_point": {"rate_bps": 1_000_000, "delay_ms": 5, "loss": {"kind": "random", "rate": 0.02}},
        "flow": [
            {"name": "main", "from": "sender", "to": "receiver", "application": {"kind": "bulk", "bytes": 100_000}}
        ],
    },
    "repetitions": 8,
    "shard_runs": 5,
    "case": [
        {"name": "plain", "set": {"flow.main.sender.detect": "none"}},
        {"name": "short", "set": {"flow.main.tcp.payload_bytes": 500}},
    ],
    "product": {"point_to_point.delay_ms": [5, 10]},
    "random": {
        "points": 3,
        "point_to_point.rate_bps": {"uniform": [100_000, 1_000_000], "whole": True},
        "duration_s": {"uniform": [5, 6]},
    },
}


def _set(*path: str | int, to: Any) -> Callable[[dict[str, Any]], None]:
    def change(design: dict[str, Any]) -> None:
        place: Any = design
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = to

    return change


CHANGES = {
    "title": _set("title", to="another"),
    "seed": _set("seed", to=2),
    "repetitions": _set("repetitions", to=9),
    "random numbers": _set("random_numbers", to="independent"),
    "runs of a shard": _set("shard_runs", to=6),
    "scenario": _set("scenario", "point_to_point", "loss", "rate", to=0.03),
    "a case's value": _set("case", 0, "set", "flow.main.sender.detect", to="eifel-timestamps"),
    "a case's name": _set("case", 0, "name", to="other"),
    "a value of the product": _set("product", "point_to_point.delay_ms", to=[5, 11]),
    "order of the product": _set("product", "point_to_point.delay_ms", to=[10, 5]),
    "points": _set("random", "points", to=4),
    "ends of a draw": _set("random", "duration_s", "uniform", to=[5, 7]),
    "kind of a draw": _set("random", "duration_s", to={"log_uniform": [5, 6]}),
    "whole numbers": _set("random", "duration_s", "whole", to=True),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_change_of_any_setting_changes_the_identity_of_a_sweep(change: Callable[[dict[str, Any]], None]) -> None:
    other = copy.deepcopy(SWEEP)
    change(other)
    assert identity_of(sweeps.load(other)) != identity_of(sweeps.load(SWEEP))
    assert identity_of(sweeps.load(copy.deepcopy(SWEEP))) == identity_of(sweeps.load(SWEEP))


def test_another_engine_makes_it_another_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    eifel.sweep(SWEEP, out=tmp_path)
    monkeypatch.setattr("eifel.sweeps.folder.engine_build", lambda: "0.0.1+other")
    with pytest.raises(BadInputError, match=r"holds this sweep by another engine \(identity, engine "):
        eifel.sweep(SWEEP, out=tmp_path)


def test_the_engine_is_known_by_its_binary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builds = set()
    for content in (b"one", b"another"):
        (tmp_path / "engine.so").write_bytes(content)
        monkeypatch.setattr(_engine, "__file__", str(tmp_path / "engine.so"))
        store.engine_build.cache_clear()
        builds.add(store.engine_build())
    store.engine_build.cache_clear()
    assert len(builds) == 2
    assert all(build.startswith(f"{_engine.version()}+") for build in builds)


@pytest.mark.parametrize(
    ("effort", "definition"),
    [({"seed": 2}, {}), ({"repetitions": 4}, {}), ({"source": "edited"}, {}), ({}, {"what": "others"})],
)
def test_a_change_of_any_setting_runs_the_parts_of_a_study_again(
    effort: dict[str, Any], definition: dict[str, str], tmp_path: Path
) -> None:
    asked = Effort(1, 3, None, tmp_path, source="text")
    done: list[int] = []

    def part(number: int, _: object) -> dict[str, list[int]]:
        done.append(number)
        return {"number": [number]}

    for _ in range(2):
        asked.parts("title", {"what": "parts"}, [1, 1], part)
    assert done == [0, 1]
    replace(asked, **effort).parts("title", {"what": "parts", **definition}, [1, 1], part)
    assert done == [0, 1, 0, 1]


def test_draws_of_two_keys_and_of_neighbouring_points_are_independent() -> None:
    many = copy.deepcopy(SWEEP)
    many["random"]["points"] = 2000
    design = sweeps.load(many)
    cells = [design.cell(number).settings for number in range(2000)]
    rates = np.array([cell["point_to_point.rate_bps"] for cell in cells])
    durations = np.array([cell["duration_s"] for cell in cells])
    assert len(set(rates)) > 1900
    # 3.3 standard deviations of the correlation of 2000 independent pairs.
    for one, other in ((rates, durations), (rates[1:], rates[:-1]), (durations[1:], durations[:-1])):
        assert abs(np.corrcoef(one, other)[0, 1]) < 0.074
    # Evenly spread over the range: a tenth of the points in each tenth, within four standard
    # deviations.
    counts, _ = np.histogram(rates, bins=10, range=(1e5, 1e6))
    assert np.abs(counts - 200).max() < 4 * np.sqrt(2000 * 0.1 * 0.9)


def test_a_key_that_a_case_does_not_set_is_null(tmp_path: Path) -> None:
    cases = [*SWEEP["case"], {"name": "loss", "set": {"point_to_point.loss.rate": 0.5}}]
    eifel.sweep({**SWEEP, "case": cases, "repetitions": 1}, out=tmp_path)
    rows = eifel.load_sweep(tmp_path).to_pylist()
    for key, case, value in (
        ("flow.main.sender.detect", "plain", "none"),
        ("flow.main.tcp.payload_bytes", "short", 500),
        ("point_to_point.loss.rate", "loss", 0.5),
    ):
        assert {row["case"]: row[key] for row in rows} == {
            name: value if name == case else None for name in ("plain", "short", "loss")
        }


def test_the_command_of_a_failure_does_that_very_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "scenario.toml").write_text(eifel_toml(SWEEP["scenario"]))
    whole = {**SWEEP, "scenario": str(tmp_path / "scenario.toml"), "random_numbers": "independent"}
    eifel.sweep(whole, out=tmp_path / "whole")
    engine = _engine.run_many

    def broken(scenarios: Any, ranges: Any, *rest: Any, **options: Any) -> Any:
        # The third run of each range fails, so the repetition numbers are irregular.
        columns, _ = engine(scenarios, ranges, *rest, **options)
        failed = [(at, first + 2, "it broke") for at, first, count in ranges if count > 2]
        keep = np.array(
            [(s, r) not in [(at, one) for at, one, _ in failed]
             for s, r in zip(columns["scenario"], columns["repetition"], strict=True)]
        )  # fmt: skip
        return {name: values[keep] for name, values in columns.items()}, failed

    monkeypatch.setattr(_engine, "run_many", broken)
    eifel.sweep(whole, out=tmp_path / "broken")
    monkeypatch.undo()
    failed = [row for row in eifel.load_sweep(tmp_path / "broken").to_pylist() if row["error"]]
    assert {row["repetition"] for row in failed} > {2, 7}
    good = {(row["cell"], row["repetition"]): row for row in eifel.load_sweep(tmp_path / "whole").to_pylist()}
    for row in failed[::5]:
        assert main([*shlex.split(row["reproduce"])[1:], "--json"]) == OK
        again = json.loads(capsys.readouterr().out)["flows"][0]["mean"]
        assert again["time_s"] == good[row["cell"], row["repetition"]]["time_s"]
    assert len({row["time_s"] for row in good.values()}) > 20


def eifel_toml(document: dict[str, Any]) -> str:
    from eifel import toml

    return toml.dumps(document)
