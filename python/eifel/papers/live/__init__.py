"""The engine on the wire, compared with the simulator and with Linux. These need namespaces and TUN devices."""
