"""The arguments of the commands on networks and captures: live, analyze, whatif, captures."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from eifel.cli.argument import command, natural, path, positive, repeated

if TYPE_CHECKING:
    from eifel.cli.argument import Commands


def add_live(commands: Commands) -> None:
    """Declares `eifel live`."""
    parser = commands.add_parser(
        "live",
        help="put the engine on a real network: send, receive, sctp, proxy, record, hiccup, judge, compare, truth",
        add_help=False,
        # The engine parses the remaining arguments, `--help` included.
        prefix_chars="\0",
    )
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    parser.set_defaults(module="live", resumes=False, json=False)


def add_analyze(commands: Commands) -> None:
    """Declares `eifel analyze`."""
    parser = command(
        commands,
        "analyze",
        "say of each retransmission in a capture why it was sent, and whether it was needed",
        "eifel analyze capture.pcapng --fail-if 'spurious>1%'",
    )
    parser.add_argument(
        "files",
        type=path,
        nargs="+",
        metavar="FILE",
        help="pcap, pcapng or snoop, perhaps compressed by gzip or zstd; - is standard input",
    )
    parser.add_argument("--csv", type=path, metavar="FILE", help="write the retransmissions as CSV")
    parser.add_argument("--parquet", type=path, metavar="FILE", help="write the retransmissions as Parquet")
    parser.add_argument("--annotate", type=path, metavar="FILE", help="copy the capture to a pcapng with comments")
    parser.add_argument("--xpl", type=path, metavar="FOLDER", help="write time-sequence graphs for xplot there")
    parser.add_argument("--report", type=path, metavar="FILE.html", help="write a page with time-sequence graphs")
    parser.add_argument("--otel", type=path, metavar="FILE.json", help="write OpenTelemetry metrics (OTLP in JSON)")
    parser.add_argument(
        "--anonymise",
        type=path,
        metavar="FILE",
        help="copy the capture without payload, with other addresses, and with all that verdicts rest on",
    )
    parser.add_argument("--compare-tshark", action="store_true", help="show where tshark differs, and why")
    parser.add_argument(
        "--score", type=path, metavar="TRUTH.csv", help="compare with the truth (docs/reference/captures.md)"
    )
    repeated(
        parser,
        "--fail-if",
        "CONDITION",
        "exit with 1 if it holds: spurious, needed, undecidable or retransmissions, compared with a number or a "
        "share of all segments with data, as 'spurious>1%%'; may be repeated",
    )
    parser.add_argument(
        "--extract-path", type=path, metavar="FILE.toml", help="write the path that the capture shows as a scenario"
    )
    parser.add_argument(
        "--connection", type=natural, metavar="N", help="with --extract-path: which one (default: that with most data)"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="show every retransmission")


def add_whatif(commands: Commands) -> None:
    """Declares `eifel whatif`."""
    parser = command(
        commands,
        "whatif",
        "run other senders over the path that a capture shows",
        "eifel whatif capture.pcapng --set sender.detect=eifel-timestamps --set sender.respond=rfc4015",
    )
    parser.add_argument("file", type=path, metavar="FILE", help="a capture made at the sender of the data")
    repeated(
        parser,
        "--set",
        "KEY=VALUE",
        "a change, as sender.rto=linux, tcp.sack=false or point_to_point.queue.packets=50; all make one sender",
    )
    repeated(parser, "--also", "KEY=VALUE,…", "another sender to compare; may be repeated")
    parser.add_argument("--connection", type=natural, metavar="N", help="which one (default: that with most data)")
    parser.add_argument(
        "--draws", type=positive, default=100, metavar="N", help="paths drawn from what the capture leaves open (100)"
    )
    parser.add_argument("--seed", type=natural, default=1, metavar="S", help="the seed of these draws (1)")


def add_captures(commands: Commands) -> None:
    """Declares `eifel captures`."""
    parser = command(
        commands,
        "captures",
        "write small captures with the truth about every retransmission, to judge tools by",
        "eifel captures benchmark --transfers 100",
    )
    parser.add_argument("folder", type=path, metavar="FOLDER", help="where to")
    parser.add_argument("--transfers", type=positive, default=20, metavar="N", help="each at three places (20)")
    parser.add_argument("--seed", type=natural, default=1, metavar="S", help="of the first transfer (1)")
    parser.add_argument("--wild", action="store_true", help="any path and stack, and not only such as there are")
