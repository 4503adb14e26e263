"""The path that a capture shows, and predictions of other senders over it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eifel import toml
from eifel.scenario import from_values, override

if TYPE_CHECKING:
    from eifel import _engine

HEADER = """\
# The path that {sender} had to {receiver}, as a capture of it shows.
# `eifel run` runs the replayed sender over it: {agreement}.
{opens}"""

WAYS_ON = (
    ("expected a shorter capture", "cut it, as by `editcap -r {file} part.pcapng 1-500000`"),
    ("are not in the capture", "capture again with a larger buffer and cut packets, as by `tcpdump -B 65536 -s 128`"),
    ("other traffic", "capture again while nothing else uses the path, or take another connection by --connection N"),
    ("closed its window", "capture one long transfer whose receiver reads at once, or take --connection N"),
    ("application paused", "capture one long transfer, or take another connection by --connection N"),
    ("too few ACKs", "capture a longer transfer, or take another connection by --connection N"),
    (
        "the replayed sender differs",
        "take another connection by --connection N, or run senders over the path that was found, without a promise: "
        "`eifel analyze {file} --extract-path path.toml`, `eifel run path.toml`",
    ),
)
"""Words of refusals, and what the user can do."""
ANY_WAY_ON = "take another connection by --connection N"


def way_on(refusal: str, file: str) -> str:
    """Returns what the user of a refused capture can do."""
    found = (way for words, way in WAYS_ON if words in refusal)
    return next(found, ANY_WAY_ON).format(file=file)


class CapturedPath:
    """The path of one connection, and the captured sender replayed over it."""

    def __init__(self, found: _engine.CapturedPath) -> None:
        self._found = found
        self.found: Mapping[str, Any] = json.loads(found.json())
        """`path`, `events` of the capture, and `replay`: the sender that comes nearest, and how near it comes."""

    @property
    def refused(self) -> str | None:
        """Why no prediction is made: the differences between the replay and the captured sender. None if they agree."""
        differ = [
            f"{row['what']}: {row['captured']:.4g} captured, {row['replayed']:.4g} replayed"
            for row in self.found["replay"]["compared"]
            if not row["agrees"]
        ]
        return "the replayed sender differs from the captured one in " + "; ".join(differ) if differ else None

    @property
    def scenario(self) -> dict[str, Any]:
        """The path with the replayed sender, in the form for `eifel.run`. Losses hit the captured segments."""
        return dict(json.loads(self._found.scenario()))

    def open_quantities(self) -> list[str]:
        path, opens = self.found["path"], []
        if not path["rate_seen"]:
            opens.append("the rate: packets never waited for each other, so it is at least this")
        if not path["queue"]["overflowed"]:
            opens.append(f"the queue's limit: it held {path['queue']['largest_packets']} packets and never overflowed")
        if path["losses"]["random"]:
            losses = path["losses"]
            opens.append(f"which packets are lost: {losses['random']} of {losses['of']} were at random")
        if path["acks"]["lost"]:
            opens.append(f"which ACKs are lost: about {path['acks']['lost']} were")
        if path["reordering"]["packets"]:
            opens.append(f"which packets are overtaken: {path['reordering']['packets']} were")
        if not path["acks"]["delay_seen"]:
            opens.append("how long the receiver delays an ACK")
        for hold in path["holds"]:
            start, end = hold["start_s"]
            where = "; and where it held packets" if hold["kind"] == "open" else ""
            opens.append(f"when the hold until {hold['end_s']:.3f} s began: from {start:.3f} to {end:.3f} s{where}")
        return opens

    def toml(self) -> str:
        """Returns the scenario as a file for `eifel run`. Comments list what the capture leaves open."""
        opens = "".join(f"# Open: {one}.\n" for one in self.open_quantities())
        agreement = f"not trustworthy, for {self.refused}" if self.refused else "its events agree with the capture's"
        words = {"sender": self.found["sender"], "receiver": self.found["receiver"]}
        return HEADER.format(**words, agreement=agreement, opens=opens) + toml.dumps(self.scenario)

    def summary(self) -> str:
        path = self.found["path"]
        queue, losses, reordering = path["queue"], path["losses"], path["reordering"]
        limit = "" if queue["overflowed"] else " or more"
        seen = "" if path["rate_seen"] else "at least "
        lines = [
            f"{self.found['sender']} -> {self.found['receiver']}: {seen}{path['rate_bps'] / 1e6:.4g} Mbit/s, round "
            f"trip {path['base_rtt_ms']:.4g} ms, a queue of {queue['largest_packets']}{limit} packets",
            f"lost {losses['at_queue']} packets at the full queue and {losses['random']} others of {losses['of']}, "
            f"about {path['acks']['lost']} ACKs; {reordering['packets']} packets overtaken by {reordering['length']}",
        ]
        for hold in path["holds"]:
            length = hold["end_s"] - sum(hold["start_s"]) / 2
            lines.append(f"held for {length:.3f} s until {hold['end_s']:.3f} s ({hold['kind']})")
        return "\n".join(lines)

    def check(self, changes: Mapping[str, Any]) -> None:
        """Raises ScenarioError for keys and values that no sender has. Keys of the path are not checked here."""
        own = (item for item in _completed(changes).items() if item[0].split(".")[0] in ("sender", "tcp"))
        settings = {f"flow.0.{key}": one for key, one in own}
        override(from_values(self.scenario, Path(), "the extracted path"), settings)

    def whatif(
        self,
        senders: Mapping[str, Mapping[str, Any]],
        *,
        draws: int = 100,
        seed: int = 1,
        progress: Callable[[int, int], object] | None = None,
    ) -> Mapping[str, Any]:
        """Runs each of `senders`, given as changed keys of the scenario, over `draws` possible paths.

        Keys begin with `sender.` or `tcp.`, or belong to the whole scenario. The captured sender
        comes first. Raises PathError (a ValueError) for a refused change. Does not check `refused`;
        the caller should do so first.
        """
        asked = [{"name": name, "changes": _completed(changes)} for name, changes in senders.items()]
        found: Mapping[str, Any] = json.loads(self._found.whatif(json.dumps(asked), draws, seed, progress))
        return found


def _completed(changes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the changes with those that follow from them: without SACK there is no DSACK (RFC 2883)."""
    return {"tcp.dsack": False, **changes} if changes.get("tcp.sack") is False else changes


def extract_path(
    file: Path | str, *, connection: int | None = None, progress: Callable[[int, int], object] | None = None
) -> CapturedPath:
    """Extracts the path of a connection from a capture at the data's sender.

    `connection` is its number; None selects the one with most data.

    Example: `eifel.run(eifel.extract_path("capture.pcapng").scenario)`.

    Raises CaptureError if the file is no capture or was not made at the sender, and PathError if it
    shows no path. Both are ValueErrors with a message of one line.
    """
    from eifel import _engine

    return CapturedPath(_engine.extract_path(file, connection, progress))
