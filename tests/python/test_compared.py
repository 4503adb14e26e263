"""Pictures of a comparison: all repetitions, and one of them over time."""

from pathlib import Path

import numpy as np
import pytest

import eifel
from eifel.cli import main
from eifel.comparison import Comparison, Difference
from eifel.errors import BadInputError
from eifel.plots import compared, style
from eifel.statistics import mean_interval

LOSSY = str(Path(__file__).parents[2] / "examples" / "lossy.toml")
SHORT = ["--set", "flow.main.sender.detect=none", "--repetitions", "5", "--seed", "3"]


def comparison(values: dict[str, list[float]]) -> Comparison:
    columns = [np.asarray(one) for one in values.values()]
    means = [mean_interval(one) for one in columns]
    by = [mean_interval(one - columns[0]) for one in columns[1:]]
    return Comparison("main", [Difference("time_s", means, by, columns)], list(values))


def test_each_panel_shows_the_repetitions() -> None:
    of = comparison({"a": [1.0, 3.0, 2.0], "b": [2.0, 5.0, 3.0]})
    cdf, box, differences = compared.figure(of).axes
    steps = {line.get_label(): line.get_xydata() for line in cdf.get_lines()}
    assert np.asarray(steps["a"]).tolist() == [[1, 0], [1, 1 / 3], [2, 2 / 3], [3, 1]]
    assert [text.get_text() for text in box.get_yticklabels()] == ["a", "b"]
    medians = {float(line.get_xdata()[0]) for line in box.get_lines() if len(set(line.get_xdata())) == 1}
    assert {2.0, 3.0} <= medians
    (mean, _, _) = differences.containers[0]
    assert mean.get_xdata()[0] == pytest.approx(4 / 3)
    low, high = differences.containers[0][2][0].get_segments()[0][:, 0]
    assert (low, high) == pytest.approx(of.numbers[0].differences[0].interval)


def test_curves_that_coincide_stay_visible() -> None:
    looks = [style.look(number, 3) for number in range(3)]
    assert [look["linewidth"] for look in looks] == sorted((look["linewidth"] for look in looks), reverse=True)
    assert len({str(look["linestyle"]) for look in looks}) == 3
    assert looks[0]["linestyle"] == "-"


@pytest.mark.parametrize(("columns", "width"), [(None, 7.2), (1, 3.4), (2, 7.0)])
def test_a_figure_fits_the_columns_of_a_paper(columns: int | None, width: float) -> None:
    figure = compared.figure(comparison({"a": [1.0, 2.0], "b": [2.0, 2.5]}), ["cdf"], columns=columns)
    assert figure.get_figwidth() == width
    assert figure.axes[0].xaxis.label.get_size() == (10 if columns is None else 8)


def test_the_median_repetition_is_nearest_to_the_median_of_the_first() -> None:
    of = comparison({"a": [9.0, 1.0, 4.0, 5.0, 2.0], "b": [0.0] * 5})
    assert of.median_repetition(of["time_s"]) == 2
    assert of.number().name == "time_s"
    with pytest.raises(BadInputError, match="no number speed; there is: time_s"):
        of.number("speed")


def test_a_panel_of_one_repetition_needs_runs() -> None:
    with pytest.raises(BadInputError, match="need recorded runs"):
        compared.figure(comparison({"a": [1.0], "b": [2.0]}), ["progress"])


def test_a_picture_says_which_repetition_it_shows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plot = tmp_path / "all.svg"
    assert main(["compare", LOSSY, *SHORT, "--plot", str(plot), "--columns", "one"]) == 0
    said = capsys.readouterr().err
    # The transfers have no end, so all times are equal.
    rates = [eifel.run(LOSSY, seed=3, repetition=number, record=()).main["goodput_bps"] for number in range(5)]
    median = int(np.argmin(np.abs(np.array(rates) - np.median(rates))))
    assert f"repetition {median} (the median one by goodput_bps of A)" in said
    text = plot.read_text()
    assert "Share of repetitions" in text
    assert "difference from A" in text
    for form, words in (("pdf", b"%PDF"), ("png", b"\x89PNG")):
        file = tmp_path / f"one.{form}"
        assert (
            main(["compare", LOSSY, *SHORT, "--plot", str(file), "--draw", "time-sequence", "--repetition", "1"]) == 0
        )
        assert file.read_bytes().startswith(words)
        assert "over time: repetition 1" in capsys.readouterr().err


def test_what_cannot_be_drawn_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for more, words in ((["--repetition", "9"], "expected one below 5"), (["--number", "speed"], "no number speed")):
        assert main(["compare", LOSSY, *SHORT, "--plot", str(tmp_path / "x.svg"), *more]) == 2
        assert words in capsys.readouterr().err
