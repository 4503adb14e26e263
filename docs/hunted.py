"""What searches found: `python docs/hunted.py` searches anew, in `out/hunt`, and goes on where it was interrupted.

It writes `docs/hunted.json` and the tables between `<!-- hunted: NAME -->` and `<!-- end -->` of docs/harm.md and
docs/detectors.md. `make test` compares the pages with that file, and the shares that `eifel hunt all` allows.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eifel import hunts
from eifel.studies import detector_runs, facts
from eifel.studies.crossed_situations import CROSSED as CROSSED_SITUATIONS

ROOT = Path(__file__).parents[1]
STORE, PAGES = ROOT / "docs" / "hunted.json", [ROOT / "docs" / name for name in ("harm.md", "detectors.md")]
SENDERS = (
    ("the default", hunts.DEFAULT),
    ("the careful sender", hunts.CAREFUL),
)
"""Whose harm is looked for."""
SCENARIOS = 10_000
"""Scenarios of each of these searches; a claim with a share gets a tenth."""
CROSSED = ("eifel-timestamps", "eifel-timestamps (plain)", "eifel-or-f-rto", "eifel-bit", "f-rto-sack", "dsack")
"""Detectors that docs/detectors.md shows where two troubles meet."""
CROSSED_POINTS = 3
"""Points of each pair there: minutes."""
SEED = 7010


PLAIN = 0.7 * 0.8 * 0.7 * 2 / 6
"""The share of random scenarios with one flow, one way, unpaced, by RFC 6675 or RACK-TLP (crates/hunt/src/field.rs)."""


def is_plain(scenario: Mapping[str, Any]) -> bool:
    """Whether it is one of these."""
    main, *beside = scenario["flow"]
    sender = main.get("sender", {})
    by_sack = sender.get("recover", {}).get("name") in ("rfc6675", "rack-tlp")
    return by_sack and not beside and "pace" not in sender and main["application"]["kind"] == "bulk"


def row(found: hunts.Found) -> dict[str, Any]:
    """What is kept of a search."""
    scenarios = [tomllib.loads(one["scenario"]) for one in found.against]
    beside = sum(len(scenario["flow"]) > 1 for scenario in scenarios)
    values = [one["value"] for one in (*found.against, found.worst)]
    return {
        "claim": found.claim.name,
        "scenarios": found.scenarios,
        "drawn": found.drawn,
        "refuting": len(found.against),
        "beside": beside,
        "plain": sum(is_plain(scenario) for scenario in scenarios),
        "mean": round(found.mean, 4),
        "worst": round(max(values), 3),
    }


def harm_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The senders, and how often they harm."""
    columns = ("sender", "random scenarios", "harm in", "beside a neighbour", "plain", "worst found", "gain on average")
    lines = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    for (name, sender), one in zip(SENDERS, rows, strict=True):
        named = ", ".join(f"`{part}`" for part in sender.values())
        share = 100 * one["refuting"] / one["drawn"]
        plain = f"{one['plain']} of {PLAIN * one['drawn']:.0f}"
        lines.append(
            f"| {name}: {named} | {one['drawn']} | {one['refuting']} ({share:.1f} %) | {one['beside']} | {plain} "
            f"| {100 * one['worst']:.0f} % | {-100 * one['mean']:.1f} % |"
        )
    return "\n".join(lines)


def crossed_table(rows: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    """The share of needless timeouts that each detector finds where two troubles meet."""
    lines = [f"| spikes, with | needless timeouts | {' | '.join(f'`{name}`' for name in CROSSED)} |"]
    lines.append("|" + "---|" * (2 + len(CROSSED)))
    for name, found in rows.items():
        shares = [f"{found[one][0]:.0f}" if one in found else "" for one in CROSSED]
        lines.append(f"| {name} | {max(count for _, count in found.values())} | {' | '.join(shares)} |")
    return "\n".join(lines)


def crossed() -> dict[str, dict[str, list[float]]]:
    """What each detector finds in the first points of each pair: percent, and of how many."""
    found: dict[str, dict[str, list[float]]] = {}
    for situation in CROSSED_SITUATIONS:
        parts = [detector_runs.point_columns(situation, 1, point) for point in range(CROSSED_POINTS)]
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        for code, name in enumerate(detector_runs.DETECTORS):
            mine = columns["detector"] == code
            share = facts.counts({key: values[mine] for key, values in columns.items()}).get("found_timeouts")
            if share and name in CROSSED:
                found.setdefault(situation.name, {})[name] = [round(share.mean, 1), share.count]
    return found


def filled(page: str, stored: Mapping[str, Any]) -> str:
    """The page with the tables of what is stored."""
    made = {"harm": harm_table, "crossed": crossed_table}
    for name, table in ((name, make(stored[name])) for name, make in made.items()):
        pattern = rf"(<!-- hunted: {name} -->\n).*?(\n<!-- end -->)"
        page = re.sub(pattern, lambda found, table=table: found[1] + table + found[2], page, flags=re.DOTALL)
    return page


def main() -> None:
    """Searches, stores and shows."""
    out = ROOT / "out" / "hunt"
    work = hunts.local(0, lambda _done: None)
    harm = [hunts.hunt(hunts.harm(sender, hunts.BASELINE), SCENARIOS, SEED, out, work) for _, sender in SENDERS]
    wrong = [hunts.hunt(claim, SCENARIOS // 10, SEED, out, work) for claim in hunts.PUBLISHED if claim.share]
    stored = {"harm": [row(one) for one in harm], "shares": [row(one) for one in wrong], "crossed": crossed()}
    STORE.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8"), stored), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
