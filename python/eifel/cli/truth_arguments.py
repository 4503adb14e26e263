"""The arguments of `eifel truth`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eifel.cli.argument import command, natural, path, positive

if TYPE_CHECKING:
    from eifel.cli.argument import Commands


def add_truth(commands: Commands) -> None:
    """Declares `eifel truth` with its two parts."""
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
    )
    record.add_argument("folder", type=path, metavar="FOLDER", help="where recordings and manifest.json go")
    record.add_argument("--count", type=positive, default=30, metavar="N", help="recordings (default: 30)")
    record.add_argument("--first", type=natural, default=0, metavar="N", help="the number of the first (default: 0)")
    record.add_argument("--seed", type=natural, default=1, metavar="S", help="the seed of all draws (default: 1)")
    score = command(
        parts,
        "score",
        "compare what a tool says of recorded retransmissions with the truth, by place, class and cause",
        "eifel truth score out/truth --tool tshark",
    )
    score.add_argument("folder", type=path, metavar="FOLDER", help="a folder of recordings with their truth")
    score.add_argument("--tool", choices=("eifel", "tshark"), default="eifel", help="the analyser (default: eifel)")
    score.add_argument(
        "--found",
        type=path,
        metavar="FOLDER",
        help="any other tool's findings: NAME.PLACE.csv with the columns frame, verdict, confidence, cause",
    )
    for part in (record, score):
        part.set_defaults(module="truth", resumes=part is record)
