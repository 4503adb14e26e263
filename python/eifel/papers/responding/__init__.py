"""Gurtov and Ludwig, "Responding to Spurious Timeouts in TCP", INFOCOM 2003."""
