"""What searches found: `python docs/hunted.py` searches anew, in `out/hunt`, and goes on where it was interrupted.

It writes `docs/hunted.json` and the tables between `<!-- hunted: NAME -->` and `<!-- end -->` of docs/harm.md. `make
test` compares the page with that file, and the shares that `eifel hunt all` allows.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eifel import hunts

ROOT = Path(__file__).parents[1]
STORE, PAGE = ROOT / "docs" / "hunted.json", ROOT / "docs" / "harm.md"
SENDERS = (
    ("the default", hunts.DEFAULT),
    ("the careful sender", hunts.CAREFUL),
)
"""Whose harm is looked for."""
SCENARIOS = 10_000
"""Scenarios of each of these searches; a claim of `eifel hunt all` gets a tenth."""
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


def claims_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The claims of `eifel hunt all`, and what random scenarios say against them."""
    lines = ["| claim | random scenarios | against it | worst found |", "|---|---|---|---|"]
    for one in rows:
        lines.append(f"| `{one['claim']}` | {one['drawn']} | {one['refuting']} | {one['worst']:.3f} |")
    return "\n".join(lines)


def filled(page: str, stored: Mapping[str, Any]) -> str:
    """The page with the tables of what is stored."""
    for name, table in (("harm", harm_table(stored["harm"])), ("claims", claims_table(stored["claims"]))):
        pattern = rf"(<!-- hunted: {name} -->\n).*?(\n<!-- end -->)"
        page = re.sub(pattern, lambda found, table=table: found[1] + table + found[2], page, flags=re.DOTALL)
    return page


def main() -> None:
    """Searches, stores and shows."""
    out = ROOT / "out" / "hunt"
    work = hunts.local(0, lambda _done: None)
    harm = [hunts.hunt(hunts.harm(sender, hunts.BASELINE), SCENARIOS, SEED, out, work) for _, sender in SENDERS]
    claims = [hunts.hunt(claim, SCENARIOS // 10, SEED, out, work) for claim in hunts.PUBLISHED]
    stored = {"harm": [row(one) for one in harm], "claims": [row(one) for one in claims]}
    STORE.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), stored), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
