"""The profiles in which Linux and our engine are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SWITCHES = {
    "none": {"tcp_timestamps": 0, "tcp_frto": 0, "tcp_dsack": 0, "tcp_recovery": 0},
    "timestamps": {"tcp_timestamps": 1, "tcp_frto": 0, "tcp_dsack": 0, "tcp_recovery": 0},
    "f-rto": {"tcp_timestamps": 0, "tcp_frto": 2, "tcp_dsack": 0, "tcp_recovery": 0},
    "dsack": {"tcp_timestamps": 0, "tcp_frto": 0, "tcp_dsack": 1, "tcp_recovery": 0},
    "all, with RACK": {"tcp_timestamps": 1, "tcp_frto": 2, "tcp_dsack": 1, "tcp_recovery": 1},
}
"""The profiles as sysctls below net.ipv4 in the sender's namespace."""
MATCHING: Mapping[str, dict[str, Any]] = {
    "none": {"detect": "none", "recover": "rfc6675"},
    "timestamps": {"detect": "eifel-timestamps", "recover": "rfc6675"},
    "f-rto": {"detect": "f-rto-sack", "recover": "rfc6675"},
    "dsack": {"detect": "dsack", "recover": "rfc6675"},
    "all, with RACK": {"detect": "eifel-timestamps", "observers": ["f-rto-sack", "dsack"], "recover": "rack-tlp"},
}
"""The profiles as senders of our engine."""
