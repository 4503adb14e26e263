"""The arguments of the command line. This module imports nothing heavy, so that `eifel --help` is fast."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from eifel.cli.argument import command, jobs, natural, path, positive, repeated
from eifel.cli.capture_arguments import add_analyze, add_captures, add_live, add_whatif
from eifel.cli.truth_arguments import add_truth

if TYPE_CHECKING:
    from eifel.cli.argument import Commands


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from eifel import __version__

        print(f"eifel {__version__}")
        parser.exit()


class _Completion(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, _: object, shell: object, *__: object) -> None:
        import shtab

        _complete_files(parser, shtab.FILE)
        print(shtab.complete(parser, str(shell)))
        parser.exit()


def _complete_files(parser: argparse.ArgumentParser, file: object) -> None:
    """Enables the completion of file names wherever a path is expected."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                _complete_files(command, file)
        elif action.type is path:
            action.complete = file  # type: ignore[attr-defined]


def parser() -> argparse.ArgumentParser:
    """Returns the parser with every command and its options."""
    made = argparse.ArgumentParser(
        prog="eifel",
        description="Spurious retransmissions: detect them, respond to them, and measure what that is worth.",
        epilog="example: eifel reproduce responding.table1",
    )
    made.add_argument("--version", action=_Version, nargs=0, help="print the version")
    made.add_argument(
        "--completion",
        action=_Completion,
        choices=("bash", "zsh", "tcsh"),
        help='print a completion script for a shell: eval "$(eifel --completion bash)"',
    )
    commands = made.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for add in (
        _add_new,
        _add_run,
        _add_compare,
        _add_sweep,
        _add_reproduce,
        _add_report,
        _add_list,
        _add_script,
        _add_worlds,
        _add_hunt,
        _add_attacks,
        add_analyze,
        add_whatif,
        add_captures,
        add_live,
        add_truth,
    ):
        add(commands)
    return made


def _add_run(commands: Commands) -> None:
    parser = command(
        commands,
        "run",
        "run a scenario",
        "eifel run scenario.toml --repetitions 20 --set flow.main.sender.respond=option-4 --plot run.svg",
    )
    parser.add_argument("scenario", type=path, metavar="SCENARIO.toml", help="the scenario file; - for standard input")
    parser.add_argument("--repetitions", type=positive, metavar="N", help="in place of the scenario's number")
    parser.add_argument("--seed", type=natural, metavar="S", help="in place of the scenario's seed")
    repeated(
        parser,
        "--set",
        "KEY.PATH=VALUE",
        "put another value at a key; entries of lists by number or name; may be repeated",
    )
    parser.add_argument(
        "--record", type=path, metavar="FOLDER", help="write every table (Parquet), captures and a manifest there"
    )
    parser.add_argument(
        "--tables", metavar="NAMES", help="the tables that --record writes, with commas between, or none (default: all)"
    )
    parser.add_argument("--csv", action="store_true", help="--record writes each table as CSV too")
    parser.add_argument("--payload", action="store_true", help="captures hold all bytes, and not the headers alone")
    parser.add_argument("--pcap", type=path, metavar="FILE", help="write a pcapng as captured at the flow's sender")
    parser.add_argument(
        "--plot", type=path, metavar="FILE", help="draw the run: .png, .svg, .pdf, .xpl for xplot, or .html with zoom"
    )
    parser.add_argument(
        "--repetition", type=natural, metavar="N", help="which one is recorded and drawn, from 0 on (default: 0)"
    )
    parser.add_argument(
        "--flow", metavar="NAME", help="the flow that is captured and drawn, or all (default: the first)"
    )
    parser.add_argument("--flows", action="store_true", help="show each flow of a group that the scenario repeats")
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="show every number, what detectors said, and queueing delays"
    )
    jobs(parser)


def _add_new(commands: Commands) -> None:
    parser = command(commands, "new", "write a commented scenario to begin with", "eifel new handover")
    parser.add_argument("name", nargs="?", metavar="NAME", help="which one; without, says what there is")
    parser.add_argument(
        "--out", type=path, metavar="FILE.toml", help="where to (default: NAME.toml; - for standard output)"
    )


def _add_compare(commands: Commands) -> None:
    parser = command(
        commands,
        "compare",
        "run scenarios with the same seeds and show what differs",
        "eifel compare spike.toml --set flow.main.sender.detect=none --repetitions 50 --plot both.svg",
    )
    parser.add_argument(
        "scenarios", type=path, nargs="+", metavar="SCENARIO.toml", help="what is compared, the first with each other"
    )
    repeated(
        parser,
        "--set",
        "KEY.PATH=VALUE",
        "of one scenario: another to compare it with, one for each --set; of several: put this value into all",
    )
    parser.add_argument("--repetitions", type=positive, metavar="N", help="in place of the scenarios' number")
    parser.add_argument("--seed", type=natural, metavar="S", help="in place of the first scenario's seed")
    parser.add_argument("--flow", metavar="NAME", help="the flow that is compared (default: the first)")
    parser.add_argument("--plot", type=path, metavar="FILE", help="draw both over one time axis: .png, .svg or .pdf")
    parser.add_argument("-v", "--verbose", action="store_true", help="show every number, those too that are zero")
    jobs(parser)


def _add_sweep(commands: Commands) -> None:
    parser = command(
        commands,
        "sweep",
        "run many scenarios that differ in chosen keys; go on where an earlier call stopped",
        "eifel sweep sweep.toml --out results",
    )
    parser.add_argument("sweep", type=path, metavar="SWEEP.toml", help="the sweep file (docs/reference/sweep.md)")
    parser.add_argument(
        "--out", type=path, metavar="FOLDER", help="where the results are kept (default: out/ and the file's name)"
    )
    jobs(parser)
    parser.add_argument(
        "--dask", type=path, metavar="ADDRESS", help="run on the workers of this Dask scheduler, as tcp://host:8786"
    )
    parser.add_argument("--fresh", action="store_true", help="begin anew, whatever is stored")
    parser.add_argument("--check", action="store_true", help="say what would be run, and run nothing")
    parser.add_argument(
        "--show",
        default="time_s,goodput_bps,retransmissions,spurious_retransmissions",
        metavar="NAMES",
        help="the numbers whose means are printed, with commas between (default: %(default)s)",
    )
    parser.add_argument("--flow", metavar="NAME", help="the flow whose numbers are printed (default: the first)")


def _add_reproduce(commands: Commands) -> None:
    parser = command(
        commands,
        "reproduce",
        "measure tables and figures of the papers, published beside measured",
        "eifel reproduce responding.table1 responding.figure4",
    )
    parser.add_argument(
        "ids", nargs="*", metavar="ID", help="an id or how ids begin; without any, all that take less than a minute"
    )
    parser.add_argument("--all", action="store_true", help="without ids: those that take minutes too")
    parser.add_argument("--repetitions", type=positive, metavar="N", help="in place of each table's own number")
    parser.add_argument("--seed", type=natural, metavar="S", help="in place of each artefact's seed")
    jobs(parser)
    parser.add_argument(
        "--out", type=path, default="out", metavar="FOLDER", help="where finished artefacts are kept (default: out)"
    )
    parser.add_argument("--fresh", action="store_true", help="measure again what is stored already")
    parser.add_argument(
        "--pictures",
        default="svg",
        metavar="FORMS",
        help="the forms of each figure's picture: svg, pdf, png with commas between, or none (default: svg)",
    )
    parser.add_argument(
        "--trace",
        type=path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="link traces, for cellular.trace, detectors.truth and thesis.timers",
    )
    parser.add_argument(
        "--check", action="store_true", help="exit with 1 if a value is outside its tolerance or a claim does not hold"
    )


def _add_report(commands: Commands) -> None:
    parser = command(
        commands,
        "report",
        "write the stored artefacts as one HTML file with pictures to zoom into",
        "eifel report --out report.html",
    )
    parser.add_argument(
        "--from", type=path, dest="folder", default="out", metavar="FOLDER", help="the artefacts (default: out)"
    )
    parser.add_argument(
        "--out", type=path, metavar="FILE.html", help="the report (default: report.html beside the artefacts)"
    )


def _add_list(commands: Commands) -> None:
    parser = command(commands, "list", "list what there is to choose from", "eifel list algorithms")
    parser.add_argument(
        "what",
        nargs="?",
        default="all",
        choices=("all", "algorithms", "artefacts", "schema"),
        help="algorithms with their parameters, artefacts of the papers, or the JSON Schema of scenario files",
    )


def _add_script(commands: Commands) -> None:
    parser = command(
        commands,
        "script",
        "hold conversations with a connection, in packetdrill's grammar and virtual time",
        "eifel script crates/script/scripts/rfc3522",
    )
    parser.add_argument(
        "paths", type=path, nargs="+", metavar="FILE|FOLDER", help="scripts, or folders with *.pkt below them"
    )
    parser.add_argument(
        "--profile",
        choices=("standard", "linux", "freebsd"),
        default="standard",
        help="the stack that the scripts were written for, where the RFCs leave it the choice",
    )


def _add_worlds(commands: Commands) -> None:
    parser = command(
        commands,
        "worlds",
        "go through every fate of a few segments and of their ACKs",
        "eifel worlds examples/spike.toml --segments 4 --set flow.main.sender.detect=f-rto --late-ms 60",
    )
    parser.add_argument(
        "scenario",
        type=path,
        metavar="SCENARIO.toml",
        help="settings and algorithms are those of its first flow over TCP",
    )
    parser.add_argument(
        "--segments",
        type=positive,
        default=4,
        metavar="N",
        help="1 to 8, each with four fates, and its ACK (default: 4)",
    )
    parser.add_argument(
        "--held-until",
        choices=("timeout", "loss-signal"),
        default="timeout",
        help="what ends a delay (default: timeout)",
    )
    parser.add_argument(
        "--late-ms",
        type=positive,
        default=10,
        metavar="MS",
        help="how long after that a delayed packet arrives; what is sent then takes 50 (default: 10)",
    )
    repeated(parser, "--set", "KEY.PATH=VALUE", "put another value at a key")
    jobs(parser)


def _add_hunt(commands: Commands) -> None:
    parser = command(
        commands,
        "hunt",
        "search for what refutes a claim",
        "eifel hunt liars examples/lossy.toml --set flow.main.sender.detect=dsack",
    )
    claims = {
        "liars": "no receiver gains by lying to the first flow's sender of a scenario",
        "harm": "no scenario has a sender, or its neighbour, below what they get without it",
        "wrong": "a detector calls no episode spurious in which everything was lost",
        "all": "what the documents claim, for some minutes",
    }
    told = "; ".join(f"{name}: {what}" for name, what in claims.items())
    parser.add_argument("claim", choices=list(claims), help=told)
    parser.add_argument("subject", nargs="?", metavar="WHAT", help="liars: a scenario file; wrong: a detector")
    repeated(parser, "--set", "KEY=VALUE", "liars: change a key, as in `eifel run`")
    repeated(parser, "--sender", "SEAM=NAME", "harm: the sender, as in detect=dsack")
    repeated(parser, "--than", "SEAM=NAME", "harm: the other (detect=none)")
    parser.add_argument("--runs", type=positive, default=2000, metavar="N", help="liars: runs of the search (2000)")
    parser.add_argument(
        "--scenarios", type=positive, default=2000, metavar="N", help="scenarios to look at, of a claim (2000)"
    )
    parser.add_argument("--seed", type=natural, default=1, metavar="S", help="the search's seed (1)")
    parser.add_argument(
        "--most", type=float, metavar="VALUE", help="fail above it (liars: a gain of 1.05; harm: 0.02; wrong: 0)"
    )
    parser.add_argument(
        "--minutes", type=float, default=0, metavar="M", help="all: begin again until they are over (0)"
    )
    parser.add_argument("--out", default="out/hunt", metavar="FOLDER", help="where searches are kept (out/hunt)")
    jobs(parser)
    parser.add_argument("--dask", metavar="ADDRESS", help="search on a Dask cluster, as tcp://host:8786")


def _add_attacks(commands: Commands) -> None:
    parser = command(commands, "attacks", "attack the connection and measure what comes of it", "eifel attacks t01 t11")
    parser.add_argument("names", nargs="*", metavar="NAME", help="an attack or how its name begins; all without any")
    parser.add_argument("--list", action="store_true", help="say what there is, and do nothing")
