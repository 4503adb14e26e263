"""Sentences of the pages about detectors and timers over recorded links, measured from the files named.

The project may not ship the recordings (README of the Mahimahi tools, mahimahi.mit.edu). So
`docs/internals/recorded.json` holds the measured values, the files, the date and the version. `make test`
compares the sentences with it.
"""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eifel.documents import DETECTORS, INTERNALS, ROOT, TIMERS, name_missing, quoted, spaced
from eifel.documents.stored import Stored, read, written

STORE = INTERNALS / "recorded.json"
TRUTH = ("found_timeouts", "false_positives")
TIMER_COLUMNS = ("goodput_kbps", "genuine_timeouts", "genuine_timeouts_wait_s")
LOOKED_AT = ("eifel-timestamps (plain)", "f-rto-sack", "dsack", "dual-rtt", "min-rtt")
"""The detectors that the page names."""


def measure(files: Sequence[Path]) -> dict[str, Any]:
    """Measures the judgement over all links, and the timers over those that lead to the mobile end (`.down`)."""
    import eifel

    links = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    how = {"links": links, "on": datetime.now(UTC).date().isoformat(), "version": eifel.__version__}
    return {
        "detectors.truth": {**how, "rows": _truth(files, list(links.values()))},
        "thesis.timers": {**how, "rows": _timers([file for file in files if file.suffix == ".down"])},
    }


def _truth(files: Sequence[Path], digests: Sequence[str]) -> list[dict[str, Any]]:
    """Measures the recorded part of `detectors.truth --trace`, without the mix."""
    from eifel.papers import artefacts
    from eifel.papers.study import Effort
    from eifel.studies import detector_runs, facts, recorded, truth

    links = recorded.situations(files)
    seed, source = artefacts()[truth.TITLE].seed, truth.study(files).source
    effort = Effort(seed, 1, None, ROOT / "out" / "parts", source=source)
    title = f"{truth.TITLE}.recorded"
    episodes = detector_runs.PANEL.episodes(effort, title, links, {"recordings": list(digests)})
    rows = []
    for place, link in enumerate(links):
        for name in LOOKED_AT:
            code = detector_runs.PANEL.detectors.index(name)
            mine = (episodes["situation"] == place) & (episodes["detector"] == code)
            counts = facts.counts({column: values[mine] for column, values in episodes.items()})
            measured = {column: round(counts[column].mean, 4) for column in ("episodes", *TRUTH)}
            rows.append({"keys": {"situation": link.name, "detector": name}, "measured": measured})
    return rows


def _timers(files: Sequence[Path]) -> list[dict[str, Any]]:
    from eifel.papers.cellular.trace import names
    from eifel.reproduction import reproduce

    found = reproduce("thesis.timers", repetitions=1, traces=files)
    return [
        {"keys": dict(row.row.keys), "measured": {name: round(row.means[name].mean, 4) for name in TIMER_COLUMNS}}
        for row in found.rows
        if row.row.keys["path"] in set(names(files))
    ]


def _judged(store: Stored) -> tuple[str, str]:
    rows = store["detectors.truth"]["rows"]

    def of(column: str, detector: str) -> list[float]:
        return [row["measured"][column] for row in rows if row["keys"]["detector"] == detector]

    def found(detector: str) -> str:
        shares = of("found_timeouts", detector)
        return f"{min(shares):.0f} to {max(shares):.0f}"

    plain, f_rto, dsack, dual_rtt, min_rtt = map(found, LOOKED_AT)
    wrong = round(sum(sum(of("false_positives", name)) for name in LOOKED_AT[:-1])) or "none"
    said = (
        f"({spaced(sum(of('episodes', LOOKED_AT[0])))} episodes) Eifel by timestamps, compared plainly, finds {plain} "
        f"% of the spurious timeouts, F-RTO with SACK {f_rto}, DSACK {dsack}, DualRTT {dual_rtt}, the smallest round "
        f"trip {min_rtt}. The last calls {sum(of('false_positives', 'min-rtt')):.0f} needed ones spurious, the others "
        f"{wrong}"
    )
    return DETECTORS, said


def _timed(store: Stored) -> list[tuple[str, str]]:
    with_eifel = [row for row in store["thesis.timers"]["rows"] if row["keys"]["eifel"]]

    def behind(row: Mapping[str, Any]) -> float:
        same = (one for one in with_eifel if one["keys"]["path"] == row["keys"]["path"])
        best = max(float(one["measured"]["goodput_kbps"]) for one in same)
        return 100 - 100 * float(row["measured"]["goodput_kbps"]) / best

    worst = max(with_eifel, key=behind)
    others = max(behind(row) for row in with_eifel if row is not worst)

    def wait_s(timer: str) -> float:
        keys = {**worst["keys"], "timer": timer}
        one = next(row["measured"] for row in with_eifel if row["keys"] == keys)
        return float(one["genuine_timeouts_wait_s"]) / float(one["genuine_timeouts"])

    return [
        *quoted(
            TIMERS,
            f"the goodput is the same within {others:.1f} %",
            f"carries {behind(worst):.0f} % less than the best, since the few timeouts that were needed waited for "
            f"{wait_s('agg, k 0.01'):.0f} s each. The Eifel timer's waited for {wait_s('eifel'):.0f} s there, RFC "
            f"6298's for {wait_s('rfc6298'):.0f}",
        ),
    ]


def quotes(store: Stored) -> list[tuple[str, str]]:
    """Returns the sentences, and the pages that have to contain them."""
    pages = {
        DETECTORS: store["detectors.truth"],
        TIMERS: store["thesis.timers"],
    }
    how = ((page, f"Measured on {one['on']} with version {one['version']}") for page, one in pages.items())
    return [*how, _judged(store), *_timed(store)]


def main(files: Sequence[str]) -> None:
    """Measures over these recordings, and names each sentence that a page lacks."""
    if files:
        STORE.write_text(written(measure([Path(file) for file in files])), encoding="utf-8")
    name_missing(quotes(read(STORE)))
