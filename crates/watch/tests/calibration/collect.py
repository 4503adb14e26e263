"""Collects the rows of counters.csv: python collect.py FOLDER ..., of `eifel truth record`."""

import csv
import json
import sys
from collections import Counter
from pathlib import Path

SETTINGS = ("sack", "dsack", "timestamps")
COUNTERS = (
    "RetransSegs",
    "TCPSynRetrans",
    "TCPDSACKRecvSegs",
    "TCPDSACKIgnoredDubious",
    "TCPSACKReorder",
    "TCPTSReorder",
    "TCPRenoReorder",
    "TCPSpuriousRTOs",
    "TCPLossUndo",
    "TCPFullUndo",
    "TCPPartialUndo",
    "TCPDSACKUndo",
    "TCPRenoRecovery",
    "TCPSackRecovery",
)


def main(folders: list[str]) -> None:
    rows = csv.writer(sys.stdout, lineterminator="\n")
    rows.writerow(
        ["seed", "recording", *SETTINGS, "retransmissions", "spurious", "spurious_rto", "spurious_fast", *COUNTERS]
    )
    for folder in map(Path, folders):
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        for one in manifest["recordings"]:
            if not one["counters"]["RetransSegs"]:
                continue
            spurious: Counter[str] = Counter()
            with (folder / f"{one['name']}.sender.truth.csv").open(encoding="utf-8") as lines:
                for row in csv.DictReader(lines):
                    spurious[row["cause"]] += int(row["spurious"])
            settings = [one["kernel_settings"][f"net/ipv4/tcp_{name}"] for name in SETTINGS]
            truth = [one["retransmissions"], one["spurious"], spurious["rto"], spurious["fast"]]
            rows.writerow([manifest["seed"], one["name"], *settings, *truth, *map(one["counters"].get, COUNTERS)])


if __name__ == "__main__":
    main(sys.argv[1:])
