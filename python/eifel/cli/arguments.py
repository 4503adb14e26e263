"""The arguments of the command line. This module imports nothing heavy, so that `eifel --help` is fast."""

import argparse
from functools import partial

from eifel.cli.argument import Commands, Parser, command, path


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from eifel import __version__

        print(f"eifel {__version__}")
        parser.exit()


class _Completion(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, _: object, shell: object, *__: object) -> None:
        import shtab

        whole = globals()["parser"]()
        _complete_files(whole, shtab.FILE)
        print(shtab.complete(whole, str(shell)))
        parser.exit()


def _complete_files(parser: argparse.ArgumentParser, file: object) -> None:
    """Enables the completion of file names wherever a path is expected."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                _complete_files(command, file)
        elif action.type is path or action.nargs == argparse.REMAINDER:
            # Words of a command that the engine parses are options, or names of files.
            action.complete = file  # type: ignore[attr-defined]


def parser(only: str | None = None) -> Parser:
    """Returns the parser of all commands, or of the first word `only`: other commands may then lack their options."""
    made = Parser(
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
        partial(_add_run, full=only in (None, "run")),
        _add_compare,
        _add_sweep,
        _add_reproduce,
        _add_report,
        _add_list,
        _add_script,
        _add_worlds,
        _add_hunt,
        _add_attacks,
        partial(_add_analyze, full=only in (None, "analyze")),
        partial(_add_advise, full=only in (None, "advise")),
        _add_whatif,
        _add_captures,
        _add_live,
        _add_truth,
        _add_watch,
        _add_counters,
        _add_wireshark,
        _add_mcp,
    ):
        add(commands)
    return made


def _add_run(commands: Commands, full: bool) -> None:
    parser = _declared(commands, "run", "run a scenario", full)
    parser.path("scenario", "SCENARIO.toml", "the scenario file; - for standard input")


def _add_new(commands: Commands) -> None:
    parser = command(commands, "new", "write a commented scenario to begin with", "eifel new handover")
    parser.word("name", "NAME", "the template; without it, list the templates", nargs="?")
    parser.output("--out", "FILE.toml", "the file to write (default: NAME.toml; - for standard output)", "TOML")


def _add_compare(commands: Commands) -> None:
    parser = command(
        commands,
        "compare",
        "run scenarios with the same seeds and show what differs",
        "eifel compare spike.toml --set flow.main.sender.detect=none --repetitions 50 --plot both.svg",
    )
    parser.path("scenarios", "SCENARIO.toml", "the scenarios to compare, each with the first", nargs="+")
    parser.repeated(
        "--set",
        "KEY.PATH=VALUE",
        "with one scenario: compare it with a copy that has this value; with several: set this value in all",
    )
    parser.word(
        "--protocols",
        "NAMES",
        "with one scenario: compare these over its path, and recommend one; all, or some of "
        "reno,eifel,sctp,rfc6675+eifel,rack+eifel,sctp+eifel",
    )
    parser.positive("--repetitions", "N", "the number of repetitions (default: the scenarios')")
    parser.natural("--seed", "S", "the seed (default: the first scenario's)")
    parser.word("--flow", "NAME", "the flow that is compared (default: the first)")
    parser.output(
        "--plot",
        "FILE",
        "draw all repetitions, and one over time: .png, .svg or .pdf",
        *("PNG", "SVG", "PDF"),
        by_ending=True,
    )
    parser.add_argument(
        "--draw",
        action="append",
        choices=("cdf", "box", "differences", "progress", "time-sequence"),
        help="with --plot: a panel; may be repeated (default: the first four, without repetitions: progress)",
    )
    parser.word("--number", "NAME", "with --plot: the number that is drawn (default: time_s, or goodput_bps)")
    parser.natural("--repetition", "N", "with --plot: the repetition drawn over time (default: the median one)")
    parser.add_argument(
        "--columns", choices=("one", "two"), help="with --plot: the width and letters for columns of a paper"
    )
    parser.verbose("show every number, also those that are zero")
    parser.jobs()


def _add_sweep(commands: Commands) -> None:
    parser = command(
        commands,
        "sweep",
        "run many scenarios that differ in chosen keys; go on where an earlier call stopped",
        "eifel sweep sweep.toml --out results",
    )
    parser.path("sweep", "SWEEP.toml", "the sweep file (docs/reference/sweep.md)")
    parser.folder("--out", "FOLDER", "where the results are kept (default: out/ and the file's name)")
    parser.jobs()
    parser.path("--dask", "ADDRESS", "run on the workers of this Dask scheduler, as tcp://host:8786")
    parser.switch("--fresh", "run everything again, also stored results")
    parser.switch("--check", "print the number of runs, and run nothing")
    parser.word(
        "--show",
        "NAMES",
        "the numbers whose means are printed, with commas between (default: %(default)s)",
        default="time_s,goodput_bps,retransmissions,spurious_retransmissions",
    )
    parser.word("--flow", "NAME", "the flow whose numbers are printed (default: the first)")


def _add_reproduce(commands: Commands) -> None:
    parser = command(
        commands,
        "reproduce",
        "measure tables and figures of the papers, published beside measured",
        "eifel reproduce responding.table1 responding.figure4",
    )
    parser.word("ids", "ID", "an id or how ids begin; without any, all that take less than a minute", nargs="*")
    parser.switch("--all", "without ids: those that take minutes too")
    parser.positive("--repetitions", "N", "the number of repetitions (default: each table's)")
    parser.natural("--seed", "S", "the seed (default: each artefact's)")
    parser.jobs()
    parser.folder("--out", "FOLDER", "where finished artefacts are kept (default: out)", default="out")
    parser.switch("--fresh", "measure stored artefacts again")
    parser.word(
        "--pictures",
        "FORMS",
        "the forms of each figure's picture: svg, pdf, png with commas between, or none (default: svg)",
        default="svg",
    )
    parser.path(
        "--trace", "FILE", "link traces, for cellular.trace, detectors.truth and thesis.timers", nargs="+", default=[]
    )
    parser.switch("--check", "exit with 1 if a value is outside its tolerance or a claim does not hold")


def _add_report(commands: Commands) -> None:
    parser = command(
        commands,
        "report",
        "write the stored artefacts as one HTML file with pictures to zoom into",
        "eifel report --out report.html",
    )
    parser.path("--from", "FOLDER", "the artefacts (default: out)", dest="folder", default="out")
    parser.output("--out", "FILE.html", "the report (default: report.html beside the artefacts)", "HTML")


def _add_list(commands: Commands) -> None:
    parser = command(
        commands, "list", "list algorithms, artefacts, or the schema of scenarios", "eifel list algorithms"
    )
    parser.add_argument(
        "what",
        nargs="?",
        default="all",
        choices=("all", "algorithms", "artefacts", "schema"),
        help="algorithms with their parameters, artefacts of the papers, or the JSON Schema of scenario files",
    )


def _add_script(commands: Commands) -> None:
    _add_of_engine(
        commands, "script", "hold conversations with a connection, in packetdrill's grammar and virtual time"
    )


def _add_worlds(commands: Commands) -> None:
    parser = command(
        commands,
        "worlds",
        "go through every fate of a few segments and of their ACKs",
        "eifel worlds examples/spike.toml --segments 4 --set flow.main.sender.detect=f-rto --late-ms 60",
    )
    parser.path("scenario", "SCENARIO.toml", "settings and algorithms are those of its first flow over TCP")
    parser.positive("--segments", "N", "1 to 8, each with four fates, and its ACK (default: 4)", default=4)
    parser.add_argument(
        "--held-until",
        choices=("timeout", "loss-signal"),
        default="timeout",
        help="what ends a delay (default: timeout)",
    )
    parser.positive(
        "--late-ms",
        "MS",
        "how long after that a delayed packet arrives; what is sent then takes 50 (default: 10)",
        default=10,
    )
    parser.repeated("--set", "KEY.PATH=VALUE", "set a key to another value")
    parser.jobs()


def _add_hunt(commands: Commands) -> None:
    parser = command(
        commands,
        "hunt",
        "search for scenarios that refute a claim",
        "eifel hunt liars examples/lossy.toml --set flow.main.sender.detect=dsack",
    )
    claims = {
        "liars": "no receiver gains by lying to the first flow's sender of a scenario",
        "harm": "no scenario has a sender, or its neighbour, below what they get without it",
        "wrong": "a detector calls no episode spurious in which everything was lost",
        "all": "what the documents claim, for some minutes",
    }
    described = "; ".join(f"{name}: {what}" for name, what in claims.items())
    parser.add_argument("claim", choices=list(claims), help=described)
    parser.word("subject", "WHAT", "liars: a scenario file; wrong: a detector", nargs="?")
    parser.repeated("--set", "KEY=VALUE", "liars: change a key, as in `eifel run`")
    parser.repeated("--sender", "SEAM=NAME", "harm: the sender, as in detect=dsack")
    parser.repeated("--than", "SEAM=NAME", "harm: the other (detect=none)")
    parser.add_argument(
        "--profile",
        choices=["linux"],
        default="",
        help="harm, wrong: the profile of every flow, which decides all but --sender and --than",
    )
    parser.positive("--runs", "N", "liars: runs of the search (2000)", default=2000)
    parser.positive("--scenarios", "N", "scenarios to look at, of a claim (2000)", default=2000)
    parser.natural("--seed", "S", "the search's seed (1)", default=1)
    parser.add_argument(
        "--most", type=float, metavar="VALUE", help="fail above it (liars: a gain of 1.05; harm: 0.02; wrong: 0)"
    )
    parser.add_argument(
        "--minutes", type=float, default=0, metavar="M", help="all: begin again until they are over (0)"
    )
    parser.folder("--out", "FOLDER", "where searches are kept (out/hunt)", default="out/hunt")
    parser.jobs()
    parser.word("--dask", "ADDRESS", "search on a Dask cluster, as tcp://host:8786")


def _add_attacks(commands: Commands) -> None:
    parser = command(commands, "attacks", "attack the connection, and measure the effect", "eifel attacks t01 t11")
    parser.word("names", "NAME", "an attack or how its name begins; all without any", nargs="*")
    parser.switch("--list", "list the attacks, and run none")


def _add_live(commands: Commands) -> None:
    parts = "send, receive, sctp, proxy, record, hiccup, judge, compare, truth, decisions, worlds, undo"
    _add_of_engine(commands, "live", f"put the engine on a real network: {parts}")


def _add_of_engine(commands: Commands, name: str, text: str, module: str | None = None) -> None:
    """Adds a command whose arguments the engine parses, `--help` included: it has it without Python too."""
    parser = commands.add_parser(name, help=text, add_help=False, prefix_chars="\0")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    parser.set_defaults(module=module or name, command=name, resumes=False, json=False)


def _add_truth(commands: Commands) -> None:
    parser = commands.add_parser(
        "truth",
        help="record this kernel's TCP with the truth about each retransmission, and score analysers by it",
    )
    parts = parser.add_subparsers(dest="truth", required=True, metavar="PART")
    record = command(
        parts,
        "record",
        "record drawn connections of this kernel at three places, with the truth (Linux, root)",
        "eifel truth record --count 30 --seed 7 out/truth",
        json=False,
    )
    record.folder("folder", "FOLDER", "where recordings and manifest.json go")
    record.positive("--count", "N", "recordings (default: 30)", default=30)
    record.natural("--first", "N", "the number of the first (default: 0)", default=0)
    record.natural("--seed", "S", "the seed of all draws (default: 1)", default=1)
    record.add_argument("--congestion", choices=("cubic", "reno", "bbr"), help="in every recording, rather than drawn")
    record.switch("--watch", "also keep what eifel watch says of the sender, for score --tool watch")
    score = command(
        parts,
        "score",
        "compare what a tool says of recorded retransmissions with the truth, by place, class, cause and verdict",
        "eifel truth score out/truth --tool tshark",
    )
    score.path("folder", "FOLDER", "a folder of recordings with their truth")
    score.add_argument(
        "--tool", choices=("eifel", "tshark", "watch"), default="eifel", help="the analyser (default: eifel)"
    )
    score.path(
        "--found",
        "FOLDER",
        "any other tool's findings: NAME.PLACE.csv with the columns frame, verdict, confidence, cause",
    )
    record.set_defaults(module="truth", resumes=True)
    score.set_defaults(module="truth")


def _add_analyze(commands: Commands, full: bool) -> None:
    summary = "say of each retransmission in a capture why it was sent, and whether it was needed"
    parser = _declared(commands, "analyze", summary, full)
    parser.path(
        "files",
        "FILE",
        "pcap, pcapng or snoop, perhaps compressed by gzip or zstd; - is standard input; or a folder of them",
        nargs="*",
    )


def _declared(commands: Commands, name: str, summary: str, full: bool) -> Parser:
    """Adds a command whose options the engine declares. Without `full` it has none, and the engine is not loaded."""
    if not full:
        return command(commands, name, summary, "", json=False)
    from eifel import _engine

    example, options = _engine.command_line(name)
    parser = command(commands, name, summary, example, json=False)
    for flag, metavar, meaning, kind, formats in options:
        # argparse fills in what a percent sign begins.
        text = meaning.replace("%", "%%")
        if flag == "--verbose":
            parser.verbose(text)
        elif kind == "switch":
            parser.switch(flag, text)
        elif kind in ("output", "by_ending"):
            parser.output(flag, metavar, text, *formats, by_ending=kind == "by_ending")
        else:
            getattr(parser, kind)(flag, metavar, text)
    return parser


def _add_advise(commands: Commands, full: bool) -> None:
    summary = "say what another setting of the sender would have done to the retransmissions that left"
    parser = _declared(commands, "advise", summary, full)
    parser.path("files", "FILE", "a capture, a qlog, or the lines of eifel watch --json; - is a capture", nargs="*")


def _add_whatif(commands: Commands) -> None:
    _add_of_engine(commands, "whatif", "run other senders over the path that a capture shows")


def _add_captures(commands: Commands) -> None:
    parser = command(
        commands,
        "captures",
        "write small captures with the truth about every retransmission, to judge tools by",
        "eifel captures benchmark --transfers 100",
    )
    parser.folder("folder", "FOLDER", "the folder to write")
    parser.positive("--transfers", "N", "the number of transfers, each captured at three places (20)", default=20)
    parser.natural("--seed", "S", "the seed of the first transfer (1)", default=1)
    parser.switch("--wild", "draw any path and stack, also unlikely ones")


def _add_watch(commands: Commands) -> None:
    _add_of_engine(
        commands,
        "watch",
        "say of each retransmission of this host why it was sent, and whether it was needed (Linux, root)",
    )


def _add_counters(commands: Commands) -> None:
    _add_of_engine(
        commands,
        "counters",
        "say what the kernel's TCP counters mean, and estimate the needless share of retransmissions",
        module="watch",
    )


def _add_wireshark(commands: Commands) -> None:
    parser = commands.add_parser("wireshark", help="show the findings in Wireshark and tshark, by a plugin")
    parts = parser.add_subparsers(dest="wireshark", required=True, metavar="PART")
    install = command(
        parts,
        "install",
        "write the plugin, and a profile with columns and colours, into Wireshark's own folders",
        "eifel wireshark install",
        json=False,
    )
    install.folder("--folder", "FOLDER", "another folder of Lua plugins, and no profile")
    findings = command(
        parts,
        "findings",
        "print what the plugin reads: a line for each retransmission of a capture, with tabs between",
        "eifel wireshark findings capture.pcapng",
        json=False,
    )
    findings.path("file", "FILE", "the capture (default: the one that the calling Wireshark has open)", nargs="?")
    install.set_defaults(module="wireshark")
    findings.set_defaults(module="wireshark")


def _add_mcp(commands: Commands) -> None:
    command(
        commands,
        "mcp",
        "serve these answers to an assistant, by the Model Context Protocol over standard input and output",
        "eifel mcp",
        json=False,
    )
