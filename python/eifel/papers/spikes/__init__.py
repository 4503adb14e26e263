"""Fu, Atiquzzaman and Ivancic: "Effect of Delay Spike on SCTP, TCP Reno, and Eifel"."""
