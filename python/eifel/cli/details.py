"""Prints details of a run: the verdicts of detectors, and queueing delays."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rich.console import Console
from rich.text import Text

from eifel.cli.flows import fitted, folded
from eifel.cli.output import number, table
from eifel.flows import Flow
from eifel.model.spurious_timeout import UNDETECTED
from eifel.observed import Detector, Observed
from eifel.statistics import Mean

SHOWN = ("rfc4015", "option-2", UNDETECTED)
"""The responses whose cost by the model is shown."""
WAITS = {"mean": "mean", "p95": "95 % below", "p99": "99 % below"}


def show_observed(out: Console, flows: Sequence[Flow], observed: Observed, unfold: bool) -> None:
    """Prints each detector's verdicts and the queueing delays."""
    if observed.detectors:
        out.print()
        shown = table(["detector", "flow", "right", "wrong", "missed", "silent", "delay, ms"], left=2)
        for name, where, of in _detectors(flows, observed.detectors, unfold):
            counts = (sum(getattr(one, count) for one in of) for count in ("right", "wrong", "missed", "silent"))
            shown.add_row(name, where, *map(str, counts), _delay(of))
        out.print(shown)
        out.print(Text("missed: spurious, and nothing said; silent: genuine, and nothing said", style="dim"))
    if any(observed.timeouts):
        out.print()
    for flow, met in zip(flows, observed.timeouts, strict=True):
        if met is not None:
            costs = (f"{replace(met, response=one).time_ms:.0f} ms with {one}" for one in SHOWN)
            path = f"window {met.window_segments} segments, round trip {met.rtt_ms:.0f} ms"
            out.print(f"model: a spurious timeout delays {flow.name} by {', '.join(costs)} ({path})")
    waits = [(flow, of) for flow, of in zip(flows, observed.queueing_ms, strict=True) if of is not None]
    _show(out, "queueing delay, ms", waits, WAITS, unfold)


def _show(
    out: Console,
    title: str,
    flows: Sequence[tuple[Flow, Mapping[str, Mean]]],
    names: Mapping[str, str],
    unfold: bool,
) -> None:
    if flows:
        out.print()
        means = [{shown: of[name] for name, shown in names.items()} for _, of in flows]
        entries = folded([flow for flow, _ in flows], means, unfold=unfold)
        fitted(out, title, entries, list(names.values()), verbose=True)


def _detectors(
    flows: Sequence[Flow], detectors: Sequence[Detector], unfold: bool
) -> list[tuple[str, str, list[Detector]]]:
    """Groups the verdicts of a detector on all flows of a group: detector, flow or group, and each flow's verdicts."""
    groups = {flow.name: flow.group for flow in flows if flow.group and not unfold}
    found: dict[tuple[str, str], list[Detector]] = {}
    for one in detectors:
        found.setdefault((one.name, groups.get(one.flow, one.flow)), []).append(one)
    return [(name, where, of) for (name, where), of in found.items()]


def _delay(of: Sequence[Detector]) -> str:
    """Returns the median delay of a flow, or for a group the mean and the range of its flows' medians."""
    delays = [one.delay_ms for one in of if one.delay_ms is not None]
    if len(delays) < 2 or number(min(delays)) == number(max(delays)):
        return number(delays[0] if delays else None)
    return f"{number(sum(delays) / len(delays))} ({number(min(delays))} to {number(max(delays))})"
