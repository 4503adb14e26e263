"""Artefacts measured by a function, in stored parts."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from eifel import store
from eifel.papers import artefacts
from eifel.papers.artefact import Artefact, Claim, Column, Row, Studied
from eifel.papers.study import Effort, Study
from eifel.report import build, command_of
from eifel.reproduction import reproduce
from eifel.statistics import share_interval
from eifel.sweeps import load_sweep

pytestmark = pytest.mark.usefixtures("fake")

SIZES = (10, 20, 30)
done: list[int] = []
"""The parts run so far, in order."""


def find(effort: Effort) -> dict[str, np.ndarray]:
    def part(number: int, tell: object) -> dict[str, list[int]]:
        done.append(number)
        tell(SIZES[number] // 2)
        return {"part": [number], "hits": [SIZES[number] * effort.seed // 10]}

    return effort.parts("test.parts", {"what": "hits"}, SIZES, part)


def measure(artefact: Artefact, runs) -> list[dict]:
    shares = {
        int(part): share_interval(int(hits), SIZES[part]) for part, hits in zip(runs["part"], runs["hits"], strict=True)
    }
    return [{"share": shares[row.keys["part"]]} for row in artefact.rows]


STUDY = Artefact(
    id="test.study",
    title="Hits",
    source="nowhere",
    columns=(Column("share", "Share", digits=3, absolute=0.05), Column("never", "Never")),
    rows=tuple(Row({"part": number}, published={"share": 0.1}) for number in range(3)),
    method=Studied(Study(find, {"what": "hits"}, (find,)), measure=measure),
    claims=(Claim("all are alike", lambda m: m.mean("share", part=0) == m.mean("share", part=2)),),
)


def studied(**changes: object) -> Artefact:
    return replace(STUDY, method=replace(STUDY.method, **changes))


@pytest.fixture(autouse=True)
def _none_done() -> None:
    done.clear()


def test_it_is_measured_and_its_rows_have_intervals_of_their_own() -> None:
    seen: list[tuple[int, int]] = []
    measured = reproduce(STUDY, progress=lambda *at: seen.append(at))
    assert seen == [(0, 60), (5, 60), (10, 60), (20, 60), (30, 60), (45, 60), (60, 60)]
    row = measured.json()["rows"][0]
    assert row["measured"] == {"share": 0.1}
    low, high = row["interval95"]["share"]
    assert 0.01 < low < 0.1 < high < 0.5
    assert measured.claims() == [{"text": "all are alike", "holds": True}]
    page = build([measured])
    assert "(0.018 to 0.404)" in page
    assert "the design of the study" in page
    assert command_of(measured) == "eifel reproduce test.study --seed 1"


def test_an_interrupted_study_runs_only_the_remaining_parts(tmp_path: Path) -> None:
    def press(at: int, _total: int) -> None:
        if at == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce(STUDY, out=tmp_path, progress=press)
    assert done == [0, 1]
    assert store.stored_ids(tmp_path) == []
    seen: list[tuple[int, int]] = []
    measured = reproduce(STUDY, out=tmp_path, progress=lambda *at: seen.append(at))
    assert done == [0, 1, 1, 2]
    assert seen[0] == (10, 60)
    assert store.stored_ids(tmp_path) == ["test.study"]
    assert store.read(tmp_path, STUDY).json()["rows"] == measured.json()["rows"]
    assert (tmp_path / "test.study" / "test.study.csv").read_text().splitlines()[1].startswith("0,0.1,0.01")
    assert load_sweep(tmp_path / "parts" / "test.parts").num_rows == 3


def test_a_finished_study_is_measured_again_only_with_fresh(tmp_path: Path) -> None:
    reproduce(STUDY, out=tmp_path)
    reproduce(STUDY, out=tmp_path)
    assert done == [0, 1, 2]
    # Parts are shared: another artefact with equal parts finds them.
    reproduce(replace(STUDY, id="test.other"), out=tmp_path)
    assert done == [0, 1, 2]
    reproduce(STUDY, out=tmp_path, fresh=True)
    assert len(done) == 6
    reproduce(STUDY, out=tmp_path, seed=2)
    assert len(done) == 9
    assert reproduce(STUDY, out=tmp_path, seed=2).mean("share", part=1) == 0.2


def test_another_design_is_another_study() -> None:
    assert studied(study=Study(find, {"what": "misses"}, (find,))).definition() != STUDY.definition()
    assert studied(study=Study(find, {"what": "hits"}, (find,))).definition() == STUDY.definition()
    assert studied(study=Study(find, {"what": "hits"}, (find, measure))).definition() != STUDY.definition()
    assert replace(STUDY, rows=STUDY.rows[:1]).definition() == STUDY.definition()


def test_a_sweep_is_kept_in_parts(tmp_path: Path) -> None:
    flow = {"name": "main", "from": "a", "to": "b"}
    design = {"title": "test.sweep", "scenario": {"flow": [flow]}, "product": {"duration_s": [1, 2]}}
    seen: list[tuple[int, int]] = []
    effort = Effort(3, 5, None, tmp_path, progress=lambda *at: seen.append(at))
    table = effort.sweep(design)
    assert table.num_rows == 10
    assert seen[0] == (0, 10)
    assert seen[-1] == (10, 10)
    seen.clear()
    effort.sweep(design)
    assert seen == [(10, 10)]


def test_a_picture_may_be_of_means(tmp_path: Path) -> None:
    def draw(measured):
        from eifel.plots import style

        figure, axes = style.new_figure(1, (3, 2))
        axes[0].plot([row.means["share"].mean for row in measured.rows])
        axes[0].set_ylabel("Share")
        return style.finish(figure, axes, measured.artefact.title)

    figure = studied(draw=draw)
    assert figure.draw is not None
    assert not figure.is_recorded
    measured = reproduce(figure, out=tmp_path)
    assert {file.suffix for file in (tmp_path / figure.id).iterdir() if figure.id in file.name} == {".csv", ".svg"}
    assert 'class="picture"' in build([measured])


def test_a_long_artefact_is_measured_only_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from eifel.cli import main

    known = {"test.study": STUDY, "test.slow": replace(studied(long=True), id="test.slow")}
    monkeypatch.setattr("eifel.papers.artefacts", lambda: known)
    assert main(["reproduce", "--out", str(tmp_path)]) == 0
    assert "left out, because they take minutes: test.slow; name them, or take --all" in capsys.readouterr().err
    assert store.stored_ids(tmp_path) == ["test.study"]
    assert main(["reproduce", "test.slow", "--out", str(tmp_path / "named")]) == 0
    assert store.stored_ids(tmp_path / "named") == ["test.slow"]
    assert main(["reproduce", "--all", "--out", str(tmp_path)]) == 0
    assert store.stored_ids(tmp_path) == ["test.slow", "test.study"]
    assert "left out" not in capsys.readouterr().err


def test_the_list_marks_long_artefacts(capsys: pytest.CaptureFixture[str]) -> None:
    from eifel.cli import main

    assert main(["list", "artefacts"]) == 0
    shown = capsys.readouterr().out
    assert ("takes minutes" in shown) == any(artefact.is_long for artefact in artefacts().values())
