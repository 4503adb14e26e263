"""Detectors of Python that are the registry's, written again from the same sources."""

import eifel
from eifel.detectors import Fact, Verdict, View


class MinRtt(eifel.Detector):
    """The ACK follows the retransmission sooner than a round trip ("Responding to Spurious Timeouts in TCP", II.C)."""

    def __init__(self, half_srtt: bool = False) -> None:
        self.half_srtt = half_srtt
        self.start, self.before_ns = 0, -1

    def observe(self, fact: Fact, view: View) -> Verdict | None:
        if fact.kind == "retransmitted":
            srtt_ns = view.srtt_ns
            limit_ns = view.min_rtt_ns if not self.half_srtt else None if srtt_ns is None else srtt_ns // 2
            begins = fact.opens and fact.cause == "timeout" and limit_ns is not None
            self.start, self.before_ns = fact.start, view.now_ns + (limit_ns or 0) if begins else -1
        elif fact.kind == "acked" and self.before_ns >= 0 and fact.cumulative > self.start:
            early, self.before_ns = view.now_ns < self.before_ns, -1
            if early:
                return self.spurious("the ACK comes sooner than a round trip")
            return self.genuine("the ACK comes as late as the retransmission's can")
        return None

    def idle(self) -> bool:
        return self.before_ns < 0


class Timestamps(eifel.Detector):
    """The first ACK echoes a timestamp older than the first retransmission's (RFC 3522, section 3.2)."""

    needs = "timestamps"

    def __init__(self) -> None:
        self.suspected: tuple[int, int] | None = None
        self.dsack_seen, self.forged = False, 0

    def observe(self, fact: Fact, view: View) -> Verdict | None:  # noqa: PLR0911
        if fact.kind == "retransmitted":
            if fact.opens:
                trusted = fact.tsval is not None and self.forged < 3
                self.suspected = (fact.tsval or 0, fact.start) if trusted else None
            return None
        if fact.kind != "acked":
            return None
        dsack_seen, self.dsack_seen = self.dsack_seen, self.dsack_seen or bool(fact.dsacks)
        if fact.forged:
            self.forged += 1
            if self.forged >= 3:
                self.suspected = None
                return self.distrusted("echoes of timestamps that were never sent")
        if self.suspected is None or fact.cumulative <= self.suspected[1]:
            return None
        (stamp, _), self.suspected = self.suspected, None
        if fact.tsecr is None:
            return self.genuine("no timestamp echoed")
        if not 0 < (stamp - fact.tsecr) % 2**32 < 2**31:
            return self.genuine("echo of the retransmission")
        if fact.dsacks:
            return self.genuine("the first acceptable ACK carries a DSACK")
        if fact.all and not dsack_seen:
            return self.genuine("all acknowledged at once: ACKs may have been lost")
        return self.spurious("echo older than the first retransmission")

    def idle(self) -> bool:
        return self.suspected is None


class FRto(eifel.Detector):
    """After new data, SACK reports data that was outstanding, and none of the new data (RFC 5682, section 3.1)."""

    needs = "sack"
    probes = True

    def __init__(self) -> None:
        self.step, self.first, self.recovery_point = "idle", 0, 0
        self.point: int | None = None

    def observe(self, fact: Fact, view: View) -> Verdict | None:
        if fact.kind == "retransmitted":
            self.on_retransmission(fact, view)
            return None
        if fact.kind == "not-probed":
            self.step = "idle"
            return self.genuine("there is no new data to send") if fact.refusal == "nothing-new" else None
        if self.step == "first":
            return self.on_first(fact, view)
        return self.on_second(fact) if self.step == "second" else None

    def on_retransmission(self, fact: Fact, view: View) -> None:
        if fact.opens:
            self.first = fact.start
        elif fact.start != self.first:
            return
        if fact.cause != "timeout":
            if fact.opens:
                self.point, self.step = view.nxt, "idle"
        elif self.point is not None and self.point > view.una:
            self.point, self.step = view.nxt, "idle"
        else:
            self.step = "first" if view.sack else "idle"

    def on_first(self, fact: Fact, view: View) -> Verdict | None:
        if fact.acked_bytes == 0:
            return None
        self.point = view.nxt
        if fact.all:
            self.step = "idle"
            return self.genuine("the first ACK covers everything outstanding")
        self.step, self.recovery_point = "second", view.nxt
        return self.probe()

    def on_second(self, fact: Fact) -> Verdict | None:
        news = fact.acked_bytes > 0 or fact.sacked_bytes > 0
        if not news and not fact.duplicate and not fact.dsacks:
            return self.probe()
        self.step = "idle"
        if fact.cumulative > self.recovery_point or fact.sacked_up_to > self.recovery_point:
            return self.genuine("the new data are reported before what was outstanding")
        if not news or (fact.acked_bytes == 0 and fact.dsacks):
            return self.genuine("a duplicate ACK without news answers the new data")
        self.point = None
        return self.spurious("what was outstanding arrives before the new data")

    def idle(self) -> bool:
        return self.step == "idle"


SAME = {
    "own_detectors:MinRtt": "min-rtt",
    "own_detectors:Timestamps": {"name": "eifel-timestamps", "proof": "older"},
    "own_detectors:FRto": "f-rto-sack",
}
"""The registry's algorithm that each class is."""


class Failing(eifel.Detector):
    """Fails at the first retransmission, which acknowledges nothing."""

    def observe(self, fact: Fact, view: View) -> Verdict | None:
        return self.genuine("early") if fact.cumulative > 1 else None


class Broken(eifel.Detector):
    """Takes a number for a verdict."""

    def observe(self, fact: Fact, view: View) -> Verdict | None:
        return 7  # type: ignore[return-value]
