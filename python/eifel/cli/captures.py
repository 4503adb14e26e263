"""`eifel captures`: writes small captures with the truth about every retransmission, to judge tools."""

import argparse
from pathlib import Path

from eifel.cli import OK
from eifel.cli.output import note, print_json, progress
from eifel.errors import BadInputError


def command(options: argparse.Namespace) -> int:
    from eifel import _engine

    folder = Path(options.folder)
    written, restless = 0, []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with progress("transfers") as advance:
            for seed in range(options.seed, options.seed + options.transfers):
                try:
                    scenario, places = _engine.captured(seed, options.wild)
                except _engine.CaptureError:
                    # A wild path may never come to rest.
                    restless.append(seed)
                    continue
                (folder / f"{seed}.toml").write_text(scenario, encoding="utf-8")
                for place, pcapng, truth in places:
                    (folder / f"{seed}.{place}.pcapng").write_bytes(pcapng)
                    (folder / f"{seed}.{place}.truth.csv").write_text(truth, encoding="utf-8")
                    written += 1
                advance(seed - options.seed + 1, options.transfers)
    except OSError as error:
        raise BadInputError(f"{error.filename or folder}: {error.strerror}") from None
    if options.json:
        print_json("captures", {"folder": str(folder), "captures": written, "restless": restless})
    else:
        note(f"wrote {written} captures with their truth to {folder}")
    return OK
