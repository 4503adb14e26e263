"""Eifel detection as in the papers: RFC 3522's plain comparison (section 3.2), with clock timestamps.

The engine's default is safer; see docs/internals/liars.md.
"""

from collections.abc import Mapping
from typing import Any

PLAIN: Mapping[str, Any] = {"name": "eifel-timestamps", "proof": "older"}
"""Any echo older than the retransmission's timestamp proves that the original arrived."""

CLOCK: Mapping[str, Any] = {"timestamps": True, "timestamp_values": "clock"}
"""Settings of a connection in which segments sent within a tick of 1 ms share their timestamp."""

NONE: Mapping[str, Any] = {"timestamps": False}
"""Settings of a connection without timestamps."""

OPTION_BYTES = 12
"""The bytes that timestamps add to a segment's headers."""
