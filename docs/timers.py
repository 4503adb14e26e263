"""The thesis's chapter 5 on hiccups and retransmission timers, with its model and with simulated transfers."""

# %% [markdown]
# # Hiccups and retransmission timers: the argument of the thesis's chapter 5
#
# Run this as a script, or cell by cell in an editor that supports `# %%`. Jupytext converts it to a
# notebook. The model covers network-limited bulk transfers in steady state, and drives the engine's
# own timers. Measured values are simulated.

# %%
import numpy as np

import eifel
from eifel.model import SteadyState
from eifel.papers.thesis import figure5_16, transfers
from eifel.plots.prediction import prediction_figure

pictures = {}
claims = []


def figure(number: int) -> None:
    """Measures and draws a figure of the thesis, and stores its claims."""
    measured = eifel.reproduce(f"thesis.figure5_{number}")
    claims.extend(measured.claims())
    for claim in measured.claims():
        print(f"5-{number}: {'yes' if claim['holds'] else 'NO'}: {claim['text']}")
    assert measured.artefact.draw is not None
    pictures[f"5-{number}"] = measured.artefact.draw(measured)


# %% [markdown]
# ## What a hiccup does to TCP (section 5.1)
#
# A hiccup stops the path for a while without a loss, and the timer expires. The sender then takes
# the ACKs of the originals for the retransmission's. Each ACK triggers two retransmissions, until
# the whole window has been retransmitted (5-1). The receiver answers the duplicate segments with
# duplicate ACKs, which cause an equally needless fast retransmit (5-2). Go-back-N sends at twice
# the line's rate, so a short buffer overflows and data is really lost (5-3). Reordering has a
# smaller effect: three duplicate ACKs, one needless retransmission, half the load (5-4).

# %%
figure(1)
figure(2)
figure(3)
figure(4)

# %% [markdown]
# ## Telling the original from the retransmission (section 5.2)
#
# The first ACK shows whether it answers the original or the retransmission. This takes a timestamp
# on every segment or on retransmissions alone, or one bit. The sender restores its window and
# continues with new data (5-5). After a spurious fast retransmit this releases a burst, which a
# pacer spreads (5-6).

# %%
figure(5)
figure(6)

# %% [markdown]
# The cost of halving the load needlessly depends on the load's excess over the pipe's capacity
# (5-7). It is computed by counting squares, by round trips, and in simulated transfers.

# %%
figure(7)

# %% [markdown]
# ## The class of transfers (section 3.4.2)
#
# The load grows by a segment per flight from W/2 to W, and begins again. Once the pipe is full,
# each further segment lengthens the round trip by the bottleneck's time for it. Here W is 10 and a
# segment takes 1.25 s.

# %%
samples = SteadyState(max_load=10, segment_s=1.25).samples(cycles=3)
pictures["round trips"] = samples.plot()

# %% [markdown]
# ## What is wrong with the Lite timer (section 5.3)
#
# **It rises when the round trip falls**, since a fall is a deviation too (5-8).

# %%
figure(8)

# %% [markdown]
# **Its gains and its weight fit one sample per round trip.** With a sample per segment, its memory
# is only a few segments long. After a flight of 40 equal round trips it has forgotten their
# variation, and it collapses to the round trip (5-9; measured: 5-12). With one sample per round
# trip it does not (5-10).

# %%
figure(9)
figure(12)
figure(10)

# %% [markdown]
# **Another fault keeps it from expiring**: each ACK grants the full RTO to outstanding segments,
# which are about a round trip old (5-11). Without that fault, the timer expires repeatedly.

# %%
figure(11)

# %% [markdown]
# How far does the collapse depend on the load? The share of samples with an RTO_L below them, in
# the model:

# %%
for load in (6, 10, 20, 40, 100):
    found = transfers.model(load).samples(6).predict(transfers.lite(500, restart="age"))
    part = found.cycle()
    share = np.mean(found.rto_s[part] < found.samples.rtt_s[part])
    print(f"W = {load:3}: {share:.1%}, least RTO / RTT {found.ratio[part].min():.2f}")

# %% [markdown]
# ## The Eifel timer (section 5.4)
#
# RTTVAR_E is constant while the round trip falls, and the shock absorber lets it fall slowly
# (5-13). With gains that scale with the load, RTO/RTT is almost constant at any load (5-14;
# measured: 5-19), also with one sample per round trip (5-15).

# %%
figure(13)
figure(14)
figure(19)
figure(15)

# %% [markdown]
# RTO_E / RTT by timer granularity and sampling rate:

# %%
print("ticks    every  every second  one a round trip   (least and mean of RTO_E / RTT)")
for granularity_ms in (1, 10, 100, 500):
    shown = []
    for sampling in ("every", "every-second", "one-a-round-trip"):
        found = SteadyState(40, 0.1, sampling=sampling).samples(6).predict(transfers.eifel(granularity_ms))
        ratio = found.ratio[found.cycle()]
        shown.append(f"{ratio.min():.2f} {ratio.mean():.2f}")
    print(f"{granularity_ms:4} ms  ", "      ".join(shown))

# %% [markdown]
# **Restarting precisely** raises throughput where only the timer repairs losses (5-16, 5-17). The
# gain depends on whether the retransmission, which now comes earlier, finds room in a buffer of one
# packet:

# %%
figure(16)
figure(17)
sizes = (168, 232, 296, 360, 488, 576, 1006, 1500)
runs = eifel.run_many([figure5_16.scenario(how, size) for size in sizes for how in ("full", "age")], repetitions=1)
for size, (full, age) in zip(sizes, runs["goodput_bps"].reshape(-1, 2), strict=True):
    print(f"packets of {size:4} bytes: {age / full - 1:+.0%}")

# %% [markdown]
# ## Where the argument ends
#
# The gains assume a load between half a window and a window. The shock absorber assumes the
# variation of load cycles. In slow start the weight grows with the window. RTTVAR_E falls by a part
# in FLIGHT_E^2 per sample, and cannot follow. After a spike it takes about FLIGHT_E round trips to
# fall. The round trip is 100 ms here, except for one flight of 5 s:


# %%
def series(loads: list[int], ssthresh: int, spike: int | None = None) -> dict[str, np.ndarray]:
    """Flights of segments, one of which meets a spike: the columns that drive a timer."""
    load = np.repeat(loads, loads)
    flight = np.repeat(np.arange(len(loads)), loads)
    rtt_ns = np.where(flight == spike, 5_000_000_000, 100_000_000)
    columns = {"t_ns": np.cumsum(100_000_000 // load) + rtt_ns, "rtt_ns": rtt_ns, "cwnd": 1000 * load}
    columns |= {"flight": 1000 * load, "acked": 1000 + 0 * load, "ssthresh": ssthresh + 0 * load}
    return {name: column.astype(np.int64) for name, column in columns.items()}


slow_start = series([10 * 2**flight for flight in range(7)], -1)
after_spike = series([100] * 1000, 50_000, spike=5)
waits, slow_start_s = {}, {}
for timer in ("rfc6298", "linux", "eifel"):
    how = {"mss": 1000, "one_a_round_trip": False, "detected": False}
    slow_start_s[timer] = eifel._engine.timer_series(f'rto = "{timer}"', slow_start, **how)["rto_ns"][-1] / 1e9
    rto_s = eifel._engine.timer_series(f'rto = "{timer}"', after_spike, **how)["rto_ns"] / 1e9
    waits[timer] = int(np.flatnonzero(rto_s > 2)[-1]) // 100 - 5 if (rto_s > 2).any() else 0
    print(f"{timer}: RTO {slow_start_s[timer]:.1f} s in slow start, at 640 segments")
    print(f"{timer}: RTO above 2 s for {waits[timer]} round trips after the spike, at 100 segments")

# %% [markdown]
# ## Training (section 5.4.6)
#
# AGG x RTO_E, where AGG falls a little with each sample and rises half-way to 1 with each spurious
# timeout. It needs a detector, and a response that makes a spurious timeout cheap (5-18).

# %%
figure(18)
trained = SteadyState(26, 0.1).samples(60)
by_k = {k: trained.predict({"name": "self-trained", "k_per_mille": k}, detected=True) for k in (10, 50, 100)}
for k, found in by_k.items():
    print(f"k = {k / 1000}: {found.expired.sum()} spurious timeouts in 60 cycles")
pictures["k"] = prediction_figure(list(by_k.values()), 12, names=[f"k = {k / 1000}" for k in by_k])

# %% [markdown]
# Which timer to use, where, and why: [timers.md](timers.md), from `eifel reproduce thesis.timers`.

# %%
if __name__ == "__main__":
    import sys
    from pathlib import Path

    from eifel.plots import save

    for name, picture in pictures.items() if sys.argv[1:] else ():
        target = Path(sys.argv[1]) / f"{name.replace(' ', '-')}.svg"
        target.parent.mkdir(parents=True, exist_ok=True)
        save(picture, target, "svg")
