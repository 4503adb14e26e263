"""Eifel detection as the papers have it: RFC 3522's plain comparison (section 3.2), and timestamps that show a clock.

What nobody says otherwise about is safer today: see docs/liars.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PLAIN: Mapping[str, Any] = {"name": "eifel-timestamps", "proof": "older"}
"""Any echo that is older than the retransmission's timestamp proves the original."""

CLOCK: Mapping[str, Any] = {"timestamps": True, "timestamp_values": "clock"}
"""Settings of a connection: segments that leave within a tick of 1 ms share their timestamp."""

NONE: Mapping[str, Any] = {"timestamps": False}
"""Settings of a connection without timestamps."""

OPTION_BYTES = 12
"""What timestamps add to a segment's headers."""
