"""The steady-state model, and timers driven by it."""

import time
from typing import Any

import numpy as np
import pytest

import eifel
from eifel import _engine
from eifel.errors import BadInputError
from eifel.model import SpuriousTimeout, SteadyState
from eifel.model.spurious_timeout import RESPONSES, UNDETECTED
from eifel.model.steady_state import SAMPLINGS
from eifel.plots.prediction import prediction_figure
from eifel.statistics import mean_interval

LITE = {"name": "lite", "clock": "exact", "granularity_ms": 1, "initial_ms": 60_000}


def test_a_load_cycle_has_the_thesis_segments_and_a_quarter_of_w_more() -> None:
    for max_load in (2, 10, 26, 40):
        model = SteadyState(max_load, 0.01)
        assert model.cycle_segments == 3 * max_load**2 / 8 + max_load / 4
        assert len(model.samples(3)) == 3 * model.cycle_segments


def test_the_round_trip_is_the_load_and_at_least_the_pipe() -> None:
    samples = SteadyState(10, 0.5, pipe=8).samples(2)
    np.testing.assert_array_equal(samples.rtt_s, np.maximum(samples.load, 8) * 0.5)
    assert sorted(set(samples.load.tolist())) == [6, 7, 8, 9, 10]
    assert (np.diff(samples.t_ns) > 0).all()
    # The bottleneck never exceeds its rate, and is idle only while the pipe is not full: 2 + 1
    # segments a cycle.
    gaps = np.diff(samples.t_ns) / 0.5e9
    assert gaps.min() == 1
    assert sorted(gaps[gaps > 1].tolist()) == [2, 2, 3, 3]


def test_every_segment_is_sent_when_an_ack_lets_it_go() -> None:
    samples = SteadyState(10, 0.5).samples(3)
    sent = samples.t_ns - samples.rtt_ns
    begins = np.flatnonzero(np.diff(samples.load) < 0)
    assert (sent >= 0).all()
    order = np.delete(np.diff(sent), begins)
    assert (order >= 0).all(), "in order, within a cycle"


def test_every_second_segment_is_timed_until_the_next_one_comes() -> None:
    every, second = (SteadyState(10, 0.5, sampling=sampling).samples() for sampling in ("every", "every-second"))
    np.testing.assert_array_equal(second.t_ns, every.t_ns[1::2])
    np.testing.assert_array_equal(second.rtt_s, every.rtt_s[1::2] + 0.5)


def test_one_segment_a_round_trip_is_timed_after_the_other() -> None:
    samples = SteadyState(10, 0.5, sampling="one-a-round-trip").samples(5)
    sent = samples.t_ns - samples.rtt_ns
    assert (sent[1:] >= samples.t_ns[:-1]).all()
    assert 4 * 5 <= len(samples) <= 5 * 5


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"max_load": 9}, "max_load = 9; allowed: an even number"),
        ({"max_load": 0}, "max_load = 0; allowed"),
        ({"segment_s": 0}, "segment_s = 0; allowed"),
        ({"segment_s": float("nan")}, "segment_s = nan; allowed"),
        ({"pipe": 0}, "pipe = 0; allowed"),
        ({"sampling": "sometimes"}, "sampling = 'sometimes'; allowed: every, every-second"),
    ],
)
def test_a_model_that_cannot_be_is_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        SteadyState(**{"max_load": 10, "segment_s": 1.0} | settings)
    with pytest.raises(BadInputError, match="cycles = 0"):
        SteadyState(10, 1.0).samples(0)


def test_every_timer_of_the_registry_can_be_driven() -> None:
    for entry in (entry for entry in eifel.algorithms("rto") if not entry["association"]):
        for sampling in SAMPLINGS:
            prediction = SteadyState(10, 0.01, sampling=sampling).samples().predict(entry["name"])
            assert prediction.timer == entry["name"]
            assert (prediction.rto_ns > 0).all()
            assert (prediction.rexmt_ns > 0).all()


def test_it_is_the_engines_timer_that_is_driven() -> None:
    """The round trips of a simulated transfer, passed through the model, give the simulated RTO."""
    scenario = {
        "duration_s": 30,
        "point_to_point": {"rate_bps": 400_000, "delay_ms": 20, "queue": {"kind": "drop-tail", "packets": 40}},
        "flow": [
            {
                "name": "main",
                "from": "sender",
                "to": "receiver",
                "application": {"kind": "bulk", "endless": True},
                "handshake": False,
                "tcp": {"payload_bytes": 1000, "delayed_ack_every": 1},
                "sender": {"rto": "rfc6298", "detect": "none"},
            }
        ],
    }
    timer = eifel.run(scenario, record=["timer"]).of("timer").where(event="sample")
    ones = np.ones(len(timer), dtype=np.int64)
    series = {"t_ns": timer["t_ns"], "rtt_ns": timer["rtt_ns"], **dict.fromkeys(("acked", "cwnd", "flight"), ones)}
    series["ssthresh"] = -ones
    driven = _engine.timer_series('rto = "rfc6298"', series, mss=1000, one_a_round_trip=False, detected=False)
    np.testing.assert_array_equal(driven["rto_ns"], timer["rto_ns"])
    np.testing.assert_array_equal(driven["srtt_ns"], timer["srtt_ns"])


def test_a_timer_that_is_refused_is_one_line() -> None:
    samples = SteadyState(10, 0.01).samples()
    for timer, said in (
        ("eiffel", "nearest: eifel"),
        ({"name": "lite", "tick_ms": 1}, "unknown parameter of lite"),
        ({"name": "lite", "granularity_ms": -1}, "-1 is not allowed"),
    ):
        with pytest.raises(eifel.ScenarioError, match=said) as raised:
            samples.predict(timer)
        assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rtt_ns": np.array([1, 2])}, "rtt_ns: 2 values, but t_ns has 1"),
        ({"rtt_ns": np.array([-5])}, r"rtt_ns\[0\] = -5; allowed: 0 or more"),
        ({"ssthresh": np.array([-2])}, r"ssthresh\[0\] = -2; allowed: -1 or more"),
    ],
)
def test_columns_that_do_not_fit_are_refused(change: dict[str, Any], said: str) -> None:
    series = {name: np.array([1]) for name in ("t_ns", "rtt_ns", "acked", "cwnd", "ssthresh", "flight")} | change
    with pytest.raises(ValueError, match=said):
        _engine.timer_series('rto = "lite"', series, mss=1, one_a_round_trip=False, detected=False)
    del series["cwnd"]
    with pytest.raises(ValueError, match="cwnd: no such column; needed: t_ns"):
        _engine.timer_series('rto = "lite"', series, mss=1, one_a_round_trip=False, detected=False)


def test_a_million_samples_a_second() -> None:
    model = SteadyState(40, 1.25)

    def rate() -> float:
        begun = time.process_time()
        prediction = model.samples(1000).predict("eifel")
        return len(prediction.samples) / (time.process_time() - begun)

    assert max(rate() for _ in range(3)) >= 1e6


def test_arrays_plot_themselves() -> None:
    samples = SteadyState(26, 0.01).samples(3)
    assert samples.plot().axes[0].get_ylabel() == "RTT, s"
    figure = samples.predict(LITE).plot(2, rexmt=True)
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert labels == ["RTT(i)", "RTO(i - 1), lite", "REXMT"]
    zoomed = prediction_figure([samples.predict(LITE)], zoom=True)
    assert [axes.get_ylabel() for axes in zoomed.axes] == ["RTT and RTO, s"] * 2


def spurious(rtt_ms: float, window: int, rate_bps: int, response: str) -> dict[str, Any]:
    """Returns a transfer of random length, limited by the peer's window, with one spike at a random instant."""
    sender: dict[str, Any] = {"detect": "eifel-timestamps", "recover": "newreno", "respond": response}
    sender["rto"] = {"name": "rfc6298", "initial_ms": 1000, "minimum_ms": 1000}
    if response == "no timeout":
        sender |= {"detect": "none", "respond": "none", "rto": {"name": "fixed", "rto_ms": 60_000}}
    elif response == UNDETECTED:
        sender |= {"detect": "none", "respond": "none"}
    segments = round(14 * min(window / rtt_ms * 1e3, rate_bps / 8 / 1052))
    spike = {"first_s": {"uniform": [4, 5]}, "length_s": 1.6, "interval_s": 1000, "interval": "end-to-start"}
    return {
        "duration_s": 300,
        "header_bytes": 40,
        "point_to_point": {"rate_bps": rate_bps, "delay_ms": rtt_ms / 2, "queue": {"kind": "unlimited"}},
        "spike": [{"links": ["bottleneck"], "holds": "arriving", **spike}],
        "flow": [
            {
                "name": "main",
                "from": "sender",
                "to": "receiver",
                "handshake": False,
                "application": {
                    "kind": "bulk",
                    "bytes": {"uniform": [segments * 1000, (segments + window) * 1000]},
                },
                "tcp": {
                    "payload_bytes": 1000,
                    "receive_window_segments": window,
                    "delayed_ack_every": 1,
                    "delayed_ack_ms": 0,
                },
                "sender": sender,
            }
        ],
    }


@pytest.mark.parametrize(
    ("rtt_ms", "window", "rate_bps"),
    [(100, 20, 100_000_000), (200, 40, 100_000_000), (100, 40, 4_160_000), (100, 40, 1_664_000)],
)
def test_the_cost_of_a_spurious_timeout_is_that_of_simulated_transfers(
    rtt_ms: float, window: int, rate_bps: int
) -> None:
    responses = ("rfc4015", "option-2", "option-3", UNDETECTED)
    runs = eifel.run_many(
        {one: spurious(rtt_ms, window, rate_bps, one) for one in ("no timeout", *responses)}, repetitions=300
    )
    segment_ms = 1052 * 8 / rate_bps * 1e3
    ideal = runs.where("no timeout")
    assert not ideal["timeouts"].any()
    for response in responses:
        of = runs.where(response)
        assert (of["spurious_timeouts"] == 1).all()
        model = SpuriousTimeout(rtt_ms + segment_ms, window, response, segment_ms)
        assert (of["retransmissions"] == model.needless).all()
        measured = mean_interval(1e3 * (of["time_s"] - ideal["time_s"]))
        room = (measured.half_width or 0) + 0.02 * measured.mean + segment_ms
        assert abs(measured.mean - model.time_ms) <= room, (response, measured, model.time_ms)


def test_the_windows_after_a_spurious_timeout_by_hand() -> None:
    """Eight ACKs raise half of 8, which is 4, to 5.7: five segments leave."""
    model = SpuriousTimeout(100, 8, "option-2")
    assert model.windows == [5, 6, 7]
    assert model.missing == 3 + 2 + 1
    assert model.time_ms == pytest.approx(6 * 100 / 8)
    # Slow start from 1: the third ACK makes 4, and five more add 1.1.
    assert SpuriousTimeout(100, 8, "option-3").windows == [5, 6, 6, 7]
    assert SpuriousTimeout(100, 8, "option-1").time_ms == 0
    # Without detection seven more segments pass the bottleneck first.
    assert SpuriousTimeout(100, 8, UNDETECTED, 1).time_ms == pytest.approx(
        SpuriousTimeout(100, 8, "option-3", 1).time_ms + 7
    )


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"response": "option-9"}, "response = 'option-9'; allowed: option-1"),
        ({"window_segments": 3}, "window_segments = 3; allowed: 4 or more"),
        ({"rtt_ms": 0}, "rtt_ms has to be above 0"),
        ({"segment_ms": -1}, "segment_ms 0 or more"),
    ],
)
def test_a_spurious_timeout_that_cannot_be_is_refused(values: dict[str, Any], complaint: str) -> None:
    with pytest.raises(BadInputError, match=complaint):
        SpuriousTimeout(**{"rtt_ms": 100, "window_segments": 20, **values})


def test_the_models_responses_are_those_of_the_registry() -> None:
    assert set(RESPONSES) - {UNDETECTED} <= {one["name"] for one in eifel.algorithms("respond")}
