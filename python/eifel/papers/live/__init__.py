"""The engine on the wire, beside the simulator and beside Linux. These artefacts need namespaces and TUN devices."""
