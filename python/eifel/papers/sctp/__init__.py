"""Ladha, Baucke, Ludwig and Amer: "On Making SCTP Robust to Spurious Retransmissions"."""
