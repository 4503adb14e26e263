from pathlib import Path

import pyarrow as pa
import pytest

import eifel
from eifel.errors import BadInputError
from eifel.plots import style, timer_figure, window_figure, write
from eifel.result import Result

pytestmark = pytest.mark.usefixtures("fake")


def test_summary_and_tables(scenario: Path) -> None:
    result = eifel.run(scenario, seed=5)
    assert result.summary["main"]["completed"] is True
    assert result.main is result.flows[0]
    assert isinstance(result.tables["transmissions"], pa.Table)
    assert result.source.seed == 5
    assert "main: " in repr(result)
    assert [flow["flow"] for flow in result] == ["main"]


def test_only_the_requested_tables_are_recorded(scenario: Path) -> None:
    result = eifel.run(scenario, record=("acks",))
    assert list(result.tables) == ["acks"]
    assert "<table>" in result._repr_html_()
    assert "<svg" not in result._repr_html_()


def test_a_result_is_written_and_read(scenario: Path, tmp_path: Path) -> None:
    result = eifel.run(scenario)
    result.write(tmp_path / "key=value")
    again = Result.read(tmp_path / "key=value")
    assert again.flows == result.flows
    assert again.source == result.source
    assert again.tables.keys() == result.tables.keys()
    for name, recorded in result.tables.items():
        assert again.tables[name].equals(recorded), name


def test_the_files_written_are_named_in_order(scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Path.iterdir
    monkeypatch.setattr(Path, "iterdir", lambda folder: iter(sorted(found(folder), reverse=True)))
    names = [file.name for file in eifel.run(scenario).write(tmp_path / "run")]
    assert names == sorted(names) and "acks.parquet" in names


def test_a_cell_shows_summary_and_plot(scenario: Path) -> None:
    page = eifel.run(scenario)._repr_html_()
    assert "spurious_retransmissions" in page
    assert page.count("<svg") == 1
    assert eifel.run(scenario)._repr_svg_().startswith("<?xml")


def test_a_notebook_gets_every_form_from_one_drawing(scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = eifel.run(scenario)
    drawn = []
    real = Result.svg
    monkeypatch.setattr(Result, "svg", lambda self, flow=0: (drawn.append(flow), real(self, flow))[1])
    bundle = result._repr_mimebundle_(include=None, exclude=None)
    assert drawn == [0]
    assert bundle == {
        "text/plain": repr(result),
        "text/html": result._repr_html_(),
        "image/svg+xml": result._repr_svg_(),
    }


def test_a_notebook_shows_the_summary_if_no_table_was_recorded(scenario: Path) -> None:
    result = eifel.run(scenario, record=("acks",))
    assert result._repr_svg_() is None
    assert result._repr_mimebundle_() == {"text/plain": repr(result), "text/html": result.summary_html()}


def test_an_artefact_in_a_notebook_is_its_table_and_claims() -> None:
    measured = eifel.reproduce("responding.table1", repetitions=3)
    assert repr(measured) == "<Measured responding.table1: 2 rows, 3 repetitions, seed 1>"
    page = measured._repr_html_()
    assert "138.0" in page
    assert ">holds<" in page


def test_the_same_run_is_drawn_with_the_same_bytes(scenario: Path) -> None:
    assert eifel.run(scenario).svg() == eifel.run(scenario).svg()


@pytest.mark.parametrize(
    ("suffix", "begins"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF"), (".html", b"<!doctype")]
)
def test_files_are_drawn_twice_alike(scenario: Path, tmp_path: Path, suffix: str, begins: bytes) -> None:
    result = eifel.run(scenario)
    written = []
    for name in ("a", "b"):
        write(result, tmp_path / f"{name}{suffix}")
        written.append((tmp_path / f"{name}{suffix}").read_bytes())
    assert written[0] == written[1]
    assert written[0].startswith(begins)


def test_axes_have_units_and_each_layer_a_legend_entry(scenario: Path) -> None:
    figure = eifel.run(scenario).plot()
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels == ["Segment number", "Window, kB", "RTO and RTT, s"]
    assert figure.axes[-1].get_xlabel() == "Time, s"
    shown = set(figure.axes[0].get_legend_handles_labels()[1])
    assert shown == {
        "spike",
        "episode",
        "segment",
        "retransmission, needed",
        "retransmission, spurious",
        "ACK",
        "SACK",
        "drop",
    }
    assert "ssthresh" in window_figure(eifel.run(scenario)).axes[0].get_legend_handles_labels()[1]
    assert "timeout" in timer_figure(eifel.run(scenario)).axes[0].get_legend_handles_labels()[1]


def test_many_runs_are_rows(scenario: Path) -> None:
    seen: list[tuple[int, int]] = []
    runs = eifel.run_many([scenario, scenario], repetitions=3, progress=lambda done, total: seen.append((done, total)))
    assert len(runs) == 6
    assert runs["repetition"].tolist() == [0, 1, 2, 0, 1, 2]
    assert seen[-1] == (6, 6)
    assert len(runs.where(scenario=1)) == 3
    assert runs.table().num_rows == 6
    assert "time_s" in runs.numbers
    assert "flow" not in runs.numbers


@pytest.mark.parametrize("asked", [{"repetition": -1}, {"repetition": 2**32}])
def test_a_repetition_that_cannot_be_is_refused(scenario: Path, asked: dict[str, int]) -> None:
    with pytest.raises(BadInputError, match=r"repetition: .* allowed: a whole number, 0 to 4294967295"):
        eifel.run(scenario, **asked)


@pytest.mark.parametrize("asked", [{"repetitions": 0}, {"repetitions": -1}, {"threads": 0}])
def test_no_runs_are_refused(scenario: Path, asked: dict[str, int]) -> None:
    with pytest.raises(BadInputError, match="is not allowed; allowed: a whole number, 1 to"):
        eifel.run_many([scenario], **asked)


def test_a_table_that_was_not_recorded_is_named(scenario: Path) -> None:
    result = eifel.run(scenario, record=["transmissions"])
    with pytest.raises(KeyError, match="window was not recorded; recorded: transmissions"):
        result.frame("window")


def test_no_module_takes_the_place_of_a_function() -> None:
    """`import eifel.x` puts the module into the package under that name, and overwrites an existing attribute."""
    folder = Path(str(eifel.__file__)).parent
    assert not {entry.stem for entry in folder.iterdir()} & set(eifel.__all__)


def test_names_of_the_package() -> None:
    assert set(eifel.__all__) <= set(dir(eifel))
    for name in eifel.__all__:
        assert getattr(eifel, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'runn'"):
        _ = eifel.runn


def test_a_band_ends_with_the_run_and_an_outage_does_not_hide_a_spike(scenario: Path) -> None:
    result = eifel.run(scenario)
    last = style.last_s(result)
    spikes = result.tables["spikes"]
    start, end = (int(1e9 * last * share) for share in (0.4, 0.5))
    rows = {"link": ["bottleneck", "other", "other-back"], "start_ns": [start, start // 2, start // 2]}
    table = pa.table({**rows, "end_ns": [end, int(1e12), int(1e12)]}).cast(spikes.schema)
    result.tables["spikes"] = table
    _, (axes,) = style.new_figure(1, (4, 3))
    style.shade(axes, result, 0)
    bands = {
        band.get_label(): (band.get_x(), band.get_x() + band.get_width(), band.get_y())
        for band in axes.patches
        if str(band.get_label())[0] != "_" and band.get_label() != "episode"
    }
    assert set(bands) == {"spike", "other stands still"}
    assert bands["spike"] == pytest.approx((start / 1e9, end / 1e9, 0))
    assert bands["other stands still"] == pytest.approx((start / 2e9, last, 0.97))


def test_a_long_title_is_broken() -> None:
    figure, axes = style.new_figure(1, (4, 3))
    style.finish(figure, axes, "a title of many words " * 5)
    assert "\n" in figure.get_suptitle()


def test_a_picture_for_a_column_of_a_paper_has_its_width_and_the_chosen_panels(tmp_path: Path) -> None:
    result = eifel.run(Path(__file__).parents[2] / "examples" / "spike.toml")
    one, two = (result.plot(panels=["time_sequence"], columns=columns) for columns in (1, 2))
    assert (one.get_figwidth(), two.get_figwidth()) == (3.4, 7.0)
    assert len(one.axes) == 1
    assert len(result.plot().axes) == 3
    one.savefig(tmp_path / "one.pdf")
    one.savefig(tmp_path / "one.svg")
    assert (tmp_path / "one.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(BadInputError, match="panels rtt; allowed: time_sequence, window, timer"):
        result.plot(panels=["rtt"])
