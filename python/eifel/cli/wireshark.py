"""`eifel wireshark`: shows the findings in Wireshark and tshark, by a plugin."""

import argparse
from pathlib import Path

from eifel.cli import OK


def command(options: argparse.Namespace) -> int:
    """Installs the plugin, or prints what it reads."""
    return _install(options) if options.wireshark == "install" else _findings(options)


def _install(options: argparse.Namespace) -> int:
    from eifel import wireshark

    written = wireshark.install(Path(options.folder) if options.folder else None)
    for path in written:
        print(path)
    if len(written) > 1:
        print("In Wireshark: Edit, Configuration Profiles, eifel. Or: wireshark -C eifel FILE")
    print("""For instance: tshark -r FILE -Y 'eifel.verdict == "spurious"'""")
    return OK


def _findings(options: argparse.Namespace) -> int:
    from eifel import wireshark

    for line in wireshark.findings(Path(options.file) if options.file else wireshark.opened()):
        print(line)
    return OK
