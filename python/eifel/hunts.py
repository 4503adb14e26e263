"""Searches for scenarios that refute a claim. Each of many small searches has its own seed, and is stored when done."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eifel import files, toml
from eifel.detectors import sources
from eifel.errors import BadInputError
from eifel.scenario import Source
from eifel.statistics import share_interval
from eifel.store import engine_build
from eifel.studies import cheating, liars_fast, liars_repair

PART = 500
"""The scenarios of one search, which takes seconds to a minute on a core."""


@dataclass(frozen=True)
class Claim:
    """A claim about every scenario, and the tolerated number of counterexamples."""

    name: str
    """The arguments of `eifel hunt` that search for it."""
    claim: Mapping[str, Any]
    """The engine's `kind` of claim, with its parameters."""
    most: float
    """The value above which a scenario refutes the claim."""
    share: float = 0.0
    """The share of random scenarios that may refute the claim. It is published where counterexamples are known."""

    def text(self) -> str:
        return toml.dumps(self.claim)

    def digest(self, seed: int) -> str:
        """Returns a digest of everything that the findings depend on."""
        asked = json.dumps([self.claim, self.most, PART, seed, engine_build(), *sources(self.text())], sort_keys=True)
        return hashlib.sha256(asked.encode()).hexdigest()[:16]


CAREFUL = {"detect": "eifel-or-f-rto", "respond": "as-carried", "grant": "unless-losses-follow"}
"""The sender that docs/author.md recommends if detection must do no harm."""
DEFAULT = {"detect": "eifel-timestamps", "respond": "rfc4015", "grant": "once-a-round-trip"}
"""The default sender of a scenario."""
LINUX = {"detect": "linux", "respond": "linux", "grant": "always"}
"""The sender of the profile `linux`."""
SHARED = {"detect": "eifel-f-rto-dsack", "respond": "linux", "grant": "always"}
"""The sender for timestamps that segments share, which differs from Linux's in detection alone."""
BASELINE = {"detect": "none"}


def harm(
    sender: Mapping[str, Any], other: Mapping[str, Any], most: float = 0.02, share: float = 0.0, profile: str = ""
) -> Claim:
    """Claims that a sender costs itself, its neighbour, or both at most `most` of the goodput with `other`.

    With a `profile`, all flows have it, and it decides everything but `sender` and `other`.
    """
    words = [f"--sender {key}={value}" for key, value in sender.items()]
    words += [f"--than {key}={value}" for key, value in other.items() if other != BASELINE]
    claim = {"kind": "harm", **_profile(profile), "sender": dict(sender), "other": dict(other)}
    return Claim(" ".join(["harm", *_words(profile), *words, f"--most {most}"]), claim, most, share)


def wrong(detector: Any, most: float = 0.0, share: float = 0.0, profile: str = "") -> Claim:
    """Claims that a detector never calls an episode spurious in which every retransmission was needed.

    `profile` is as for `harm`.
    """
    name = " ".join(["wrong", str(detector), *_words(profile), f"--most {most}"])
    return Claim(name, {"kind": "wrong", **_profile(profile), "detector": detector}, most, share)


def _profile(profile: str) -> dict[str, str]:
    return {"profile": profile} if profile else {}


def _words(profile: str) -> list[str]:
    return [f"--profile {profile}"] if profile else []


def liars(loss: float, most: float = 1.05) -> Claim:
    """Claims that no receiver gains by lying to the default sender on a path with this loss rate."""
    scenario = cheating.scenario(cheating.DEFAULT, DEFAULT["respond"], DEFAULT["grant"], loss, "none")
    name = f"liars examples/lossy.toml --set point_to_point.loss.rate={loss} --most {most}"
    return Claim(name, {"kind": "liars", "scenario": scenario}, most)


def fast_liars(loss: float, most: float = 1.05) -> Claim:
    """Makes the claim of `liars` for large windows."""
    scenario = liars_fast.scenario(liars_repair.DEFAULT, loss)
    path = {"rate_bps": liars_fast.RATE_BPS, "back.rate_bps": liars_fast.RATE_BPS, "queue.packets": liars_fast.PACKETS}
    words = " ".join(f"--set point_to_point.{key}={value}" for key, value in {**path, "loss.rate": loss}.items())
    return Claim(f"liars examples/lossy.toml {words} --most {most}", {"kind": "liars", "scenario": scenario}, most)


SELDOM = 0.01
"""A detector is wrong in a scenario if it calls more than this share of the needed episodes spurious."""
PUBLISHED = (
    *(liars(loss) for loss in cheating.LOSSES),
    *(fast_liars(loss) for loss in liars_fast.LOSSES),
    harm(DEFAULT, BASELINE, share=0.02),
    harm(CAREFUL, BASELINE, share=0.0151),
    wrong("eifel-timestamps"),
    wrong("eifel-or-f-rto"),
    wrong("eifel-bit", SELDOM, share=0.002),
    wrong("dsack", SELDOM, share=0.002),
    wrong("f-rto", SELDOM, share=0.002),
    wrong("f-rto-sack", SELDOM, share=0.004),
)
"""The claims of the documents. The shares are the upper ends of the 95 % intervals in docs/internals/hunted.json."""


@dataclass(frozen=True)
class Found:
    """The findings of several searches."""

    claim: Claim
    scenarios: int
    drawn: int
    against: Sequence[Mapping[str, Any]]
    """The drawn scenarios that refute the claim, worst first, each in the form of `worst`."""
    mean: float
    """The mean value of the drawn scenarios."""
    worst: Mapping[str, Any]
    """The worst scenario (`scenario`, TOML) with its `value` and `error`."""

    @property
    def refuted(self) -> bool:
        """Whether the claim is refuted: by one scenario, or at 95 % by a larger share than the published one."""
        if self.claim.share:
            interval = share_interval(len(self.against), self.drawn).interval
            return interval is not None and interval[0] > self.claim.share
        return len(self.against) > 0 or self.worst["value"] - self.worst["error"] > self.claim.most

    def json(self) -> dict[str, Any]:
        """Returns all findings for external readers."""
        head = {"claim": self.claim.name, "most": self.claim.most, "share": self.claim.share, "refuted": self.refuted}
        counts = {"scenarios": self.scenarios, "drawn": self.drawn, "refuting": len(self.against), "mean": self.mean}
        return {**head, **counts, "worst": dict(self.worst), "against": [dict(one) for one in self.against]}


def part(
    claim: Claim, scenarios: int, seed: int, threads: int, progress: Callable[[int], object] = lambda _done: None
) -> dict[str, Any]:
    from eifel import _engine

    found = _engine.hunt_claim(claim.text(), scenarios, claim.most, seed, threads, progress)
    answer: dict[str, Any] = json.loads(found)
    return answer


Part = tuple[int, dict[str, Any]]
Worker = Callable[[Claim, Iterable[int]], Iterator[Part]]


def local(threads: int, progress: Callable[[int], object]) -> Worker:
    """Returns a worker that searches on this machine with this many threads (0: one per core)."""

    def work(claim: Claim, seeds: Iterable[int]) -> Iterator[Part]:
        for seed in seeds:
            yield seed, part(claim, PART, seed, threads, progress)

    return work


def dask(address: str) -> Worker:
    """Returns a worker that uses a Dask cluster, with a search per core."""
    from eifel.sweeps.executor import Dask

    client = Dask(address).client

    def work(claim: Claim, seeds: Iterable[int]) -> Iterator[Part]:
        from distributed import CancelledError, KilledWorker, as_completed
        from distributed.comm import CommClosedError

        try:
            asked = {client.submit(part, claim, PART, seed, 1, pure=False, retries=3): seed for seed in seeds}
            for future in as_completed(list(asked), loop=client.loop):
                yield asked.pop(future), future.result()
        except (CancelledError, CommClosedError, KilledWorker) as error:
            raise BadInputError(
                f"--dask {address}: {error}; what is done is kept, and the same command goes on"
            ) from None
        finally:
            client.close()

    return work


def hunt(claim: Claim, scenarios: int, seed: int, out: Path, work: Worker) -> Found:
    """Searches for scenarios that refute the claim, or resumes an identical earlier search."""
    folder = _folder(out, claim.digest(seed))
    seeds = [seed * 1_000_000 + number for number in range(max(1, -(-scenarios // PART)))]
    parts = {one: kept for one in seeds if (kept := _kept(folder / f"{one}.json", _is_part)) is not None}
    for one, answer in work(claim, [one for one in seeds if one not in parts]):
        files.put(folder / f"{one}.json", json.dumps(answer).encode())
        parts[one] = answer
    return _joined(claim, [parts[one] for one in seeds])


RUNS = 2000
"""The runs of one search for a liar, which take some seconds on a core. More runs mean more
searches, each with its own seed.
"""
Liar = dict[str, Any]
"""A receiver (`liar`, TOML), its `gain` over an honest receiver's goodput, and the `runs` that judged it."""
Search = Callable[[range, int], Liar]
"""One search, for this range of the requested runs, and with this seed."""


def liar(source: Source, runs: int, seed: int, out: Path, search: Search) -> Liar:
    """Searches for the receiver that gains most by lying, or resumes an identical earlier search."""
    asked = json.dumps(["liars", source.text, source.origin, RUNS, seed, engine_build()])
    folder = _folder(out, hashlib.sha256(asked.encode()).hexdigest()[:16])
    found: list[Liar] = []
    for number, begun in enumerate(range(0, runs, RUNS)):
        those = range(begun, min(begun + RUNS, runs))
        file = folder / f"{number}-{len(those)}.json"
        one = _kept(file, _is_liar)
        if one is None:
            first = seed if number == 0 else seed * 1_000_000 + number
            one = search(those, first)
            files.put(file, json.dumps(one).encode())
        found.append(one)
    return max(found, key=lambda one: float(one["gain"]))


def _folder(out: Path, digest: str) -> Path:
    """Returns the folder of a search's results, ready to be filled."""
    files.expect_folder(out)
    folder = out / digest
    folder.mkdir(parents=True, exist_ok=True)
    files.remove_leftovers(folder)
    return folder


def _is_liar(kept: Mapping[str, Any]) -> bool:
    return kept["gain"] >= 0 and kept["runs"] > 0 and isinstance(kept["liar"], str)


def _is_part(kept: Mapping[str, Any]) -> bool:
    return kept["drawn"] > 0 and "scenario" in kept["worst"] and kept["against"] is not None


def _kept(file: Path, is_whole: Callable[[Mapping[str, Any]], bool]) -> dict[str, Any] | None:
    """Returns a stored result. None if it is missing or damaged."""
    try:
        kept: dict[str, Any] = json.loads(file.read_bytes())
        return kept if is_whole(kept) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _joined(claim: Claim, parts: Sequence[Mapping[str, Any]]) -> Found:
    drawn = sum(one["drawn"] for one in parts)
    mean = sum(one["mean"] * one["drawn"] for one in parts) / drawn
    against = sorted((each for one in parts for each in one["against"]), key=_least, reverse=True)
    return Found(claim, PART * len(parts), drawn, against, mean, max((one["worst"] for one in parts), key=_least))


def _least(one: Mapping[str, Any]) -> float:
    """Returns the lower end of a scenario's value at 95 %."""
    return float(one["value"] - one["error"])
