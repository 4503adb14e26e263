"""DualRTT: detects spurious timeouts without options, by the time from a retransmission to its ACK."""
