"""Findings of searches: `python -m eifel.documents hunted` searches again in `out/hunt`, resuming if interrupted.

Writes `docs/internals/hunted.json`, `docs/internals/frontier.svg`, and the tables between `<!-- hunted: NAME -->` and
`<!-- end -->` of docs/internals/harm.md. Names each sentence of docs/internals/harm.md or docs/author.md with another
number. `make test` compares the pages, and the shares that `eifel hunt all` allows, with that file.
Names of `PARTS` as arguments limit the search to those.
"""

import json
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from eifel import documents, hunts
from eifel.documents import AUTHOR, HARM, ROOT, name_missing, pictures
from eifel.runs import run, run_many
from eifel.studies import detector_runs, facts, judged
from eifel.studies.situations import SITUATIONS

STORE = pictures.STORE
COUNTEREXAMPLES = ROOT / "crates" / "hunt" / "counterexamples"
SCENARIOS = 10_000
"""The scenarios of the search for each sender of the table. Every other claim gets `FEWER`."""
FEWER = 4000
SEED = 7010
CUT = ("option-2", "option-3")
"""Responses that stop go-back-N and keep the reduced window."""
FEWEST = 1500
"""The scenarios of the search for the harm of each of these responses."""
BY_TIME = tuple(hunts.wrong(name, hunts.SELDOM) for name in ("min-rtt", "dual-rtt"))
"""Claims about detectors that docs/author.md advises against."""
FEWER_ON_WIRE = 500
"""The scenarios of the search for each sender on Linux's wire, and for each detector there."""
LINUX, SHARED = "linux", "eifel-f-rto-dsack"
WRONG_ON_WIRE = ("f-rto-sack", "dsack", "eifel-timestamps", "eifel-or-f-rto", "min-rtt", "dual-rtt")
"""The other detectors of that search."""
SCENES: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("reordering over a queue of two, window of five", "reordering-tiny-queue", {}),
    ("reordering over a queue of three, window of five", "reordering-small-queue", {}),
    ("reordering over a queue of three, 100 ms", "reordering-100-ms", {}),
    ("two such flows over a queue of two, together", "two-flows", {}),
    ("data both ways, thin way back that reorders", "two-way-thin-return", {}),
    ("spikes, lost ACKs, `newreno-sack`", "newreno-sack-lost-acks", {}),
    ("a queue of one packet, reordered ACKs, window of eight", "queue-of-one", {}),
    ("spikes, paced by SRTT", "paced-spikes", {"pace": "pacing"}),
    ("spikes, paced by the smallest round trip (over `none` so paced)", "paced-spikes", {"pace": "lasting-pacing"}),
)
"""Scenarios in which detection harms: the name in docs/internals/harm.md, the file, and additional settings
of the senders.
"""
RUNS, POINTS = 20, 10
"""The runs of each of these scenarios, and the points of the mix's reordering."""
PLAIN = 0.7 * 0.8 * 0.7 * 2 / 6
"""The share of random scenarios with one unpaced flow, one way, and recovery by RFC 6675 or
RACK-TLP (crates/hunt/src/field.rs).
"""
EACH_RECOVERY, CUBIC, PACED = 1 / 6, 0.5, 0.3
"""The shares with one loss recovery, with CUBIC, and with pacing by SRTT."""


def main_sender(scenario: Mapping[str, Any]) -> Mapping[str, Any]:
    sender: Mapping[str, Any] = scenario["flow"][0].get("sender", {})
    return sender


def is_plain(scenario: Mapping[str, Any]) -> bool:
    """Returns whether there is one flow, one way, with SACK recovery and without pacing."""
    main, *beside = scenario["flow"]
    sender = main_sender(scenario)
    by_sack = sender.get("recover", {}).get("name") in ("rfc6675", "rack-tlp")
    return by_sack and not beside and "pace" not in sender and main["application"]["kind"] == "bulk"


def row(found: hunts.Found) -> dict[str, Any]:
    scenarios = [tomllib.loads(one["scenario"]) for one in found.against]
    senders = [main_sender(scenario) for scenario in scenarios]
    recovery = Counter(sender.get("recover", {}).get("name", "") for sender in senders)
    values = [one["value"] for one in (*found.against, found.worst)]
    return {
        "claim": found.claim.name,
        "scenarios": found.scenarios,
        "drawn": found.drawn,
        "refuting": len(found.against),
        "beside": sum(len(scenario["flow"]) > 1 for scenario in scenarios),
        "plain": sum(is_plain(scenario) for scenario in scenarios),
        "recovery": dict(sorted(recovery.items())),
        "paced": sum("pace" in sender for sender in senders),
        "cubic_unpaced": sum(sender.get("congest") == "cubic" and "pace" not in sender for sender in senders),
        "mean": round(found.mean, 4),
        "worst": round(max(values), 3),
    }


def share(one: Mapping[str, Any]) -> float:
    """Returns the share of the random scenarios that refute a claim, in percent."""
    return 100.0 * float(one["refuting"]) / float(one["drawn"])


def scene(file: str, algorithms: Mapping[str, Any], runs: int = RUNS) -> list[float]:
    """Returns the total goodput of the default and of the careful sender, relative to no detection."""
    text = (COUNTEREXAMPLES / f"{file}.toml").read_text(encoding="utf-8")
    asked = [
        _with(tomllib.loads(text), {**one, **algorithms}) for one in (hunts.BASELINE, hunts.DEFAULT, hunts.CAREFUL)
    ]
    none, *others = (float(run_many([one], repetitions=runs)["goodput_bps"].sum()) for one in asked)
    return [other / none for other in others]


def _with(scenario: dict[str, Any], algorithms: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the scenario with these algorithms in every flow, instead of its detection and response."""
    for flow in scenario["flow"]:
        kept = {key: value for key, value in flow["sender"].items() if key not in ("detect", "respond", "grant")}
        flow["sender"] = {**kept, **algorithms}
    return scenario


def found_in(file: str) -> dict[str, float]:
    """Returns the share of the needless timeouts that each detector finds in a scenario, in percent."""
    scenario = tomllib.loads((COUNTEREXAMPLES / f"{file}.toml").read_text(encoding="utf-8"))
    # One of the detectors needs marks, which do not affect the others.
    for flow in scenario["flow"]:
        flow["tcp"] = {**flow["tcp"], "retransmission_marks": "bits"}
    found: dict[str, float] = {}
    for runs in detector_runs.PANEL.runs:
        asked = _with(deepcopy(scenario), {**runs.sender, "respond": "none"})
        parts = [
            judged.judged(run({**asked, "seed": seed}, record=judged.TABLES), runs.detectors)
            for seed in range(2 * RUNS)
        ]
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        for place, name in enumerate(runs.detectors):
            mine = columns["detector"] == place
            counts = facts.counts({key: values[mine] for key, values in columns.items()})
            found[name] = round(counts["found_timeouts"].mean, 1)
    return found


def reordered() -> list[float]:
    """Returns goodput relative to no detection, as `scene` does, over the first points of the mix's reordering."""
    situation = next(one for one in SITUATIONS if one.name == "reordering")

    def goodput(sender: Mapping[str, Any]) -> float:
        scenarios = [situation.scenario(1, point, dict(sender)) for point in range(POINTS)]
        return sum(float(run_many([one])["goodput_bps"].sum()) for one in scenarios)

    return [round(goodput(sender) / goodput(hunts.BASELINE), 4) for _, sender in pictures.COMPARED.values()]


def harm_table(stored: Mapping[str, Any]) -> str:
    """Returns the table of senders, and how often they harm."""
    head = ("sender", "random scenarios", "harm in", "beside a neighbour", "plain", "worst found", "gain on average")
    rows = []
    for name, (title, sender) in pictures.SENDERS.items():
        one = stored[name]
        named = ", ".join(f"`{part}`" for part in sender.values())
        plain = f"{one['plain']} of {PLAIN * one['drawn']:.0f}"
        harm = [one["drawn"], f"{one['refuting']} ({share(one):.1f} %)", one["beside"], plain]
        rows.append([f"{title}: {named}", *harm, f"{100 * one['worst']:.0f} %", f"{-100 * one['mean']:.1f} %"])
    return documents.table(head, rows)


def wire_table(stored: Mapping[str, Any]) -> str:
    """Returns the table of senders on Linux's wire."""
    head = ("sender", "random scenarios", "harm in", "beside a neighbour", "worst found", "gain on average")
    rows = []
    for name, (title, sender) in pictures.WIRE.items():
        one = stored["wire"][name]
        named = ", ".join(f"`{part}`" for part in sender.values())
        harm = [one["drawn"], f"{one['refuting']} ({share(one):.1f} %)", one["beside"]]
        rows.append([f"{title}: {named}", *harm, f"{100 * one['worst']:.0f} %", f"{-100 * one['mean']:.1f} %"])
    return documents.table(head, rows)


def scenes_table(stored: Mapping[str, Any]) -> str:
    """Returns the table of named scenarios, with each sender's goodput relative to no detection."""
    scenes = zip(SCENES, stored["scenes"], strict=True)
    rows = [[name, *(f"{ratio:.2f}" for ratio in ratios)] for (name, *_), ratios in scenes]
    return documents.table(("scenario", "the default", "careful sender"), rows)


def shares_table(stored: Mapping[str, Any]) -> str:
    """Returns the table of detectors, and the number of scenarios in which each is wrong."""
    rows = []
    own, on_wire = (
        {name: stored[f"wrong-{name}"][place] for name in (LINUX, SHARED)} | stored[part]
        for place, part in enumerate(("wrong", "wrong-wire"))
    )
    by_wire = {f"`{name}`, on Linux's wire": one for name, one in on_wire.items()}
    for name, one in (by_wire | {f"`{name}`": one for name, one in own.items()}).items():
        worst = f"{100 * one['worst']:.0f} %" if one["worst"] > 0 else "none"
        rows.append([name, one["drawn"], f"{one['refuting']} ({share(one):.2f} %)", worst])
    return documents.table(("detector", "random scenarios", "wrong in", "worst found"), rows)


TABLES = {"harm": harm_table, "wire": wire_table, "scenes": scenes_table, "wrong": shares_table}


def quotes(stored: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns sentences with numbers from searches, and the pages that have to contain them."""
    default, careful, wrong, found = stored["default"], stored["careful"], stored["wrong"], stored["found"]
    limited, shares = stored["limited"], [share(stored[name]) for name in pictures.SENDERS]

    def of(count: int, part: float) -> str:
        return f"{100 * count / (part * default['drawn']):.1f} %"

    by_recovery = sorted(default["recovery"].get(name, 0) for name in RECOVERY)
    unpaced, cubic = default["refuting"] - default["paced"], default["cubic_unpaced"]
    f_rto, dsack, min_rtt, dual_rtt = (share(wrong[name]) for name in ("f-rto-sack", "dsack", "min-rtt", "dual-rtt"))
    gained = [100 * ratio - 100 for ratio in stored["reordered"]]
    cut = [stored["cut"][name] for name in CUT]
    harmed, gain = [share(one) for one in cut], [-100 * one["mean"] for one in cut]
    advice = [
        f"harm somebody by more than 2 % in {harmed[0]:.1f} and {harmed[1]:.1f} % of the random scenarios, and "
        f"RFC 4015's in {share(default):.1f} %. They gain {gain[0]:.1f} and {gain[1]:.1f} % on average, and it "
        f"{-100 * default['mean']:.1f} %",
        f"by more than 2 % in {share(default):.1f} % of the random scenarios",
        f"`eifel-or-f-rto` in {share(careful):.1f} %; in {careful['plain']} of {PLAIN * careful['drawn']:.0f} where",
        f"does not pace, and in {limited['plain']} of {PLAIN * limited['drawn']:.0f} with `eifel-timestamps`",
        f"in none of {wrong['eifel-timestamps']['drawn']} random scenarios",
        f"they find {found['eifel-timestamps']:.0f} %, and `eifel-or-f-rto` {found['eifel-or-f-rto']:.0f} %.",
        f"more than 1 % of the losses in {f_rto:.1f} % of the random scenarios, and about",
        f"more than 1 % of the losses in {dsack:.2f} % of the random scenarios ([scenario]",
        f"more than 1 % of the losses in {min_rtt:.1f} % of the random scenarios, `dual-rtt` in {dual_rtt:.1f} %",
        f"in {of(default['paced'], PACED)} of the random scenarios that pace so, "
        f"and in {of(unpaced, 1 - PACED)} of the others",
        f"with each loss recovery ({of(by_recovery[0], EACH_RECOVERY)} to {of(by_recovery[-1], EACH_RECOVERY)} of the "
        "random scenarios with it)",
        f"without pacing the default harms in {of(cubic, CUBIC * (1 - PACED))} of the random scenarios with CUBIC, and "
        f"in {of(unpaced - cubic, CUBIC * (1 - PACED))} of those with Reno's window",
    ]
    harm = [
        f"each harms somebody in {min(shares):.1f} to {max(shares):.1f} % of the random scenarios",
        f"`eifel-timestamps` finds {found['eifel-timestamps']:.0f} % of the spurious timeouts, `f-rto-sack` "
        f"{found['f-rto-sack']:.0f} %, `eifel-or-f-rto` {found['eifel-or-f-rto']:.0f} %, and RFC 3522's plain "
        f"comparison {found['eifel-timestamps (plain)']:.0f} %",
        f"that is {gained[1]:.0f} % over no detection where the default gains {gained[0]:.0f} %",
    ]
    pages = ((AUTHOR, (*advice, *_on_wire(stored))), (HARM, harm))
    return [(page, sentence) for page, sentences in pages for sentence in sentences]


def _on_wire(stored: Mapping[str, Any]) -> list[str]:
    """Returns docs/author.md's sentences about random scenarios on Linux's wire."""
    wrong = {name: share(one) for name, one in stored["wrong-wire"].items()}
    harmed = {name: f"{share(one):.1f}" for name, one in stored["wire"].items()}
    return [
        f"In random scenarios on Linux's wire `eifel-f-rto-dsack` harms somebody in {harmed['shared']} % with Linux's "
        f"undo, in {harmed['shared-limited']} % if `unless-losses-follow` limits it, in {harmed['shared-default']} % "
        f"with RFC 4015's, and in {harmed['shared-careful']} % with `as-carried` and that limit",
        f"it was wrong about more than 1 % of the losses in {wrong['f-rto-sack']:.1f} % of the random scenarios there",
        f"`min-rtt` was wrong about more than 1 % of the losses in {wrong['min-rtt']:.1f} % of the random scenarios "
        f"there, `dual-rtt` in {wrong['dual-rtt']:.1f} %",
    ]


RECOVERY = ("rfc6675", "rack-tlp", "newreno-sack", "fack", "reno-sack", "newreno")


def filled(page: str, stored: Mapping[str, Any]) -> str:
    for name, make in TABLES.items():
        page = documents.filled(page, f"hunted: {name}", make(stored))
    return page


def _searched(claims: Mapping[str, hunts.Claim], scenarios: int) -> dict[str, Any]:
    out, work = ROOT / "out" / "hunt", hunts.local(0, lambda _done: None)
    return {name: row(hunts.hunt(claim, scenarios, SEED, out, work)) for name, claim in claims.items()}


def _wrong() -> dict[str, Any]:
    detectors = [claim for claim in (*hunts.PUBLISHED, *BY_TIME) if "detector" in claim.claim]
    return _searched({str(one.claim["detector"]): one for one in detectors}, FEWER)


def _wrong_by_wire(detector: str) -> list[Any]:
    """Returns how often a detector is wrong in random scenarios, and in those on Linux's wire."""
    return [
        _searched({detector: hunts.wrong(detector, hunts.SELDOM, profile=profile)}, scenarios)[detector]
        for profile, scenarios in (("", FEWER), (LINUX, FEWER_ON_WIRE))
    ]


def _harm(senders: Mapping[str, Mapping[str, Any]], scenarios: int, profile: str = "") -> dict[str, Any]:
    return _searched({n: hunts.harm(s, hunts.BASELINE, profile=profile) for n, s in senders.items()}, scenarios)


_SEARCHED: Mapping[str, Callable[[], Any]] = {
    "found": lambda: found_in("timeouts-with-lost-acks"),
    "reordered": reordered,
    "scenes": lambda: [[round(ratio, 4) for ratio in scene(file, more)] for _, file, more in SCENES],
    "wrong": _wrong,
    f"wrong-{LINUX}": lambda: _wrong_by_wire(LINUX),
    f"wrong-{SHARED}": lambda: _wrong_by_wire(SHARED),
    "cut": lambda: _harm({one: {**hunts.DEFAULT, "respond": one} for one in CUT}, FEWEST),
    "wrong-wire": lambda: {
        name: _searched({name: hunts.wrong(name, hunts.SELDOM, profile=LINUX)}, FEWER_ON_WIRE)[name]
        for name in WRONG_ON_WIRE
    },
    "wire": lambda: _harm({name: sender for name, (_, sender) in pictures.WIRE.items()}, FEWER_ON_WIRE, LINUX),
}


def searched(name: str) -> Any:
    """Returns one stored part, from a new search or from its stored results."""
    if name in _SEARCHED:
        return _SEARCHED[name]()
    return _harm({name: pictures.SENDERS[name][1]}, SCENARIOS)[name]


PARTS = (*_SEARCHED, *pictures.SENDERS)


def main(names: Sequence[str]) -> None:
    """Searches all parts, or the named ones. Stores and shows the findings."""
    before = json.loads(STORE.read_text(encoding="utf-8")) if names else {}
    stored = {name: searched(name) if name in names or not names else before[name] for name in PARTS}
    STORE.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    page = ROOT / HARM
    page.write_text(filled(page.read_text(encoding="utf-8"), stored), encoding="utf-8")
    pictures.draw_frontier()
    name_missing(quotes(stored))
