"""DualRTT: detecting spurious timeouts without any option, by the time from a retransmission to its ACK."""
