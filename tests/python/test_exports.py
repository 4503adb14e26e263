"""The files beside the stored data of an artefact: pictures, CSV, JSON."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from eifel import exports, store
from eifel.cli import main
from eifel.errors import BadInputError
from eifel.papers import artefacts
from eifel.papers.artefact import Setting
from eifel.plots import save
from eifel.reproduction import reproduce

pytestmark = pytest.mark.usefixtures("fake")

TABLE, FIGURE = "responding.table1", "responding.figure1a"
BEGINS = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}


def picture(out: Path, form: str) -> Path:
    return out / FIGURE / f"{FIGURE}.{form}"


def test_a_figure_stands_beside_its_data_in_every_form_and_twice_alike(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        reproduce(FIGURE, out=tmp_path / folder, pictures=exports.FORMS)
    for form, begins in BEGINS.items():
        first, second = (picture(tmp_path / folder, form).read_bytes() for folder in ("a", "b"))
        assert first == second
        assert first.startswith(begins)
    # A format gives equal bytes, whatever else is drawn.
    reproduce(FIGURE, out=tmp_path / "c", pictures=("png", "svg"))
    assert picture(tmp_path / "c", "svg").read_bytes() == picture(tmp_path / "a", "svg").read_bytes()
    assert not picture(tmp_path / "c", "pdf").exists()


def test_a_picture_that_is_there_is_left_alone_and_one_that_is_missing_is_drawn(tmp_path: Path) -> None:
    reproduce(FIGURE, out=tmp_path)
    svg, png = picture(tmp_path, "svg"), picture(tmp_path, "png")
    before = svg.stat().st_mtime_ns
    reproduce(FIGURE, out=tmp_path, pictures=("svg", "png"))
    assert svg.stat().st_mtime_ns == before
    assert png.is_file()
    png.unlink()
    reproduce(FIGURE, out=tmp_path, pictures=())
    assert not png.exists()
    assert svg.is_file()


def test_other_drawing_code_draws_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reproduce(FIGURE, out=tmp_path, pictures=("svg", "png"))
    right = picture(tmp_path, "svg").read_bytes()
    picture(tmp_path, "svg").write_bytes(b"older")
    monkeypatch.setattr(exports, "_drawing_code", lambda: "newer")
    reproduce(FIGURE, out=tmp_path)
    assert picture(tmp_path, "svg").read_bytes() == right
    assert not picture(tmp_path, "png").exists(), "an outdated picture that nobody asked for must not stay"


def test_an_interrupt_while_drawing_keeps_the_measurement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake
) -> None:
    def press(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("eifel.plots.save", press)
        with pytest.raises(KeyboardInterrupt):
            reproduce(FIGURE, out=tmp_path)
    assert not [file for file in (tmp_path / FIGURE).iterdir() if "partial" in file.name or file.suffix == ".svg"]

    def asked_again(*_: object) -> None:
        raise AssertionError("measured a second time")

    monkeypatch.setattr(fake, "run", asked_again)
    reproduce(FIGURE, out=tmp_path)
    assert picture(tmp_path, "svg").read_bytes().startswith(BEGINS["svg"])


def test_a_picture_half_written_is_no_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut_off(figure: object, target: io.BytesIO, form: str) -> None:
        target.write(b"half")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("eifel.plots.save", cut_off)
        with pytest.raises(OSError, match="No space"):
            reproduce(FIGURE, out=tmp_path)
    assert not picture(tmp_path, "svg").exists()


def test_measuring_anew_draws_anew(tmp_path: Path) -> None:
    reproduce(FIGURE, out=tmp_path, pictures=("svg", "png"))
    reproduce(FIGURE, out=tmp_path, seed=5)
    assert picture(tmp_path, "svg").is_file()
    assert not picture(tmp_path, "png").exists(), "it showed another run"


def test_a_table_is_a_csv(tmp_path: Path) -> None:
    measured = reproduce(TABLE, repetitions=5, out=tmp_path)
    lines = list(csv.DictReader((tmp_path / TABLE / f"{TABLE}.csv").read_text().splitlines()))
    assert [(line["recovery"], line["eifel"]) for line in lines] == [("reno-sack", "false"), ("reno-sack", "true")]
    mean = measured.rows[0].means["time_s"]
    assert float(lines[0]["time_s"]) == mean.mean
    assert (float(lines[0]["time_s_low95"]), float(lines[0]["time_s_high95"])) == mean.interval
    assert float(lines[1]["spurious_rtos_published"]) == 1.37


def test_an_unpublished_table_has_no_column_of_published_values(tmp_path: Path) -> None:
    reproduce("responding.best_case", out=tmp_path)
    head, *rows = (tmp_path / "responding.best_case/responding.best_case.csv").read_text().splitlines()
    assert head == "eifel,time_s,goodput_kbps,spurious_rtos,drops"
    assert [row.split(",")[0] for row in rows] == ["false", "true"]


def test_the_stored_json_is_renewed_when_only_a_reason_is_worded_anew(tmp_path: Path) -> None:
    reproduce(TABLE, repetitions=3, out=tmp_path)
    worded_anew = replace(artefacts()[TABLE], fitted=(Setting("delay", "1 s", "why", rows=(f"{TABLE}: eifel off",)),))
    reproduce(worded_anew, repetitions=3, out=tmp_path)
    found = json.loads((tmp_path / TABLE / store.ARTEFACT).read_text())
    expected = {"name": "delay", "value": "1 s", "reason": "why", "kind": "fitted", "rows": [f"{TABLE}: eifel off"]}
    assert found["fitted"] == [expected]


def test_forms_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exports.parse_forms("svg, png,svg") == ("svg", "png")
    assert exports.parse_forms("none") == ()
    with pytest.raises(BadInputError, match="'gif' is no form of a picture; allowed: svg, pdf, png, or none"):
        exports.parse_forms("gif")
    assert main(["reproduce", FIGURE, "--out", str(tmp_path), "--pictures", "svg,gif"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not list(tmp_path.iterdir())
    assert main(["reproduce", FIGURE, "--out", str(tmp_path), "--pictures", "pdf"]) == 0
    assert picture(tmp_path, "pdf").is_file()
    assert not picture(tmp_path, "svg").exists()


def test_every_figure_is_drawn_by_a_module_that_its_digest_covers() -> None:
    for artefact in artefacts().values():
        if artefact.draw is not None:
            assert artefact.draw.__module__.startswith(("eifel.papers.", "eifel.studies."))
    assert save.__module__ == "eifel.plots"
