"""R. Ludwig, "Eliminating Inefficient Cross-Layer Interactions in Wireless Networking", chapter 5, "TCP-Eifel"."""
