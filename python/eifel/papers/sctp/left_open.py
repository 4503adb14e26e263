"""A sweep over what figures 11 (b) and 14 leave open: rules for losses, the spike's place, the window, the first spike.

The first half of the repetitions chooses a setting by figure 11 (b) alone. The second half judges
it by all figures.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from eifel.papers.artefact import Artefact, Claim, Column, Measured, Repeated, Row
from eifel.papers.published import numbers
from eifel.papers.sctp import facts, macro, settings
from eifel.runs import Runs
from eifel.statistics import Mean

HOLDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "at the sender": ("arriving", settings.HELD_AT_SENDER),
    "both ways": ("arriving", settings.HELD_BEFORE_QUEUE),
    "at the link": ("sending", ("path", "path-back")),
}
RULES = ("RFC 2960", "ns-2")
FIRST: Mapping[str, Any] = {"drawn": None, "10 s": 10}
FITTED = ("11b, 10-20 s", "11b, 70-80 s")
"""The figures that choose a setting."""
FIGURES = (*FITTED, "14a", "14b")
JUDGED = "judged_"
"""The prefix of a column over the judging half of the repetitions."""


def _scenario(figure: str, setting: Mapping[str, str], protocol: settings.Sctp) -> dict[str, Any]:
    interval = settings.SPIKE_INTERVALS_S[-1 if "70" in figure else 0]
    holds, links = HOLDS[setting["hold"]]
    first = FIRST[setting["first spike"]]
    spike = {**settings.spikes(interval), "holds": holds}
    if first is not None:
        spike["first_s"] = first
    window = 1024 * int(setting["window"].split()[0])
    rules = settings.RULES[setting["rules"]]
    more: dict[str, Any] = {"spike": spike, "held": links, "window_bytes": window, "rules": rules}
    if figure.startswith("11b"):
        return settings.scenario(protocol, macro.ENDLESS, settings.TRANSFER_S, **more)
    paths = 2 if figure == "14b" else 1
    more["rate_bps"] = settings.SATELLITE_BPS
    return settings.scenario(protocol, macro.DOWNLOAD, macro.LATEST_S, paths=paths, **more)


def _published(figure: str) -> Mapping[str, float]:
    """Returns the printed gains of Eifel over plain SCTP and DupTSN: packets (figure 11 (b)) or seconds (14)."""
    if figure.startswith("11b"):
        gain = numbers("sctp", "figure11b")["gain_packets_10_20" if "10" in figure else "gain_packets_70_80"]
        return {"plain": gain, "dup-tsn": gain}
    printed = numbers("sctp", f"figure{figure}")
    return {"plain": printed["against_plain_s"], "dup-tsn": printed["against_dup_tsn_s"]}


SETTINGS = [
    {"rules": rules, "hold": hold, "window": f"{window // 1024} kB", "first spike": first}
    for rules in RULES
    for hold in HOLDS
    for window in settings.WINDOWS_BYTES
    for first in FIRST
]


def missed(measured: Measured, setting: Mapping[str, str], figures: tuple[str, ...], prefix: str = JUDGED) -> int:
    """Returns how many of the printed gains a setting misses by more than a third."""
    count = 0
    for figure in figures:
        column, sign = ("highest_tsn", 1) if figure.startswith("11b") else ("time_s", -1)
        for over, printed in _published(figure).items():
            found = sign * facts.gain(measured, prefix + column, over, figure=figure, **setting)
            count += not facts.near(found, printed)
    return count


def chosen(measured: Measured) -> Mapping[str, str]:
    """Returns the setting that misses fewest gains of figure 11 (b) in the choosing repetitions."""
    return min(SETTINGS, key=lambda setting: missed(measured, setting, FITTED, ""))


def _fewest(measured: Measured, figures: tuple[str, ...]) -> int:
    return min(missed(measured, setting, figures) for setting in SETTINGS)


def _columns(chosen_by: Sequence[Column]) -> tuple[Column, ...]:
    judging = (replace(column, name=JUDGED + column.name, title=f"{column.title}, judged") for column in chosen_by)
    return (*chosen_by, *judging)


def _means(artefact: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    own = [column for column in artefact.columns if not column.name.startswith(JUDGED)]
    plain = replace(artefact, columns=tuple(own))
    last = runs["repetition"] >= (int(runs["repetition"].max()) + 1) // 2
    halves = [
        macro.means(plain, Runs({name: column[rows] for name, column in runs.columns.items()}, runs.scenarios))
        for rows in (~last, last)
    ]
    return [
        {**one, **{JUDGED + name: mean for name, mean in other.items()}} for one, other in zip(*halves, strict=True)
    ]


ARTEFACT = Artefact(
    id="sctp.left_open",
    title="Figures 11 (b) and 14 with each setting that the paper leaves open",
    source=f"{settings.SOURCE}, section 6",
    columns=_columns((macro.HIGHEST, macro.TIME)),
    rows=tuple(
        Row(
            {"figure": figure, **setting, "sender": sender},
            _scenario(figure, setting, settings.PROTOCOLS[sender]),
        )
        for figure in FIGURES
        for setting in SETTINGS
        for sender in settings.PROTOCOLS
    ),
    seed=settings.SEED,
    claims=(
        Claim(
            "the setting that half of the repetitions choose by figure 11 (b) has each of its gains in the other half, "
            f"{facts.WITHIN}",
            lambda m: missed(m, chosen(m), FITTED) == 0,
        ),
        Claim(
            f"it has each gain of figure 14 (a) as well, {facts.WITHIN}", lambda m: missed(m, chosen(m), ("14a",)) == 0
        ),
        Claim(
            f"it has each gain of figure 14 (b) as well, {facts.WITHIN}", lambda m: missed(m, chosen(m), ("14b",)) == 0
        ),
        Claim(
            f"some setting has each gain of figures 11 (b) and 14 (a), {facts.WITHIN}",
            lambda m: _fewest(m, (*FITTED, "14a")) == 0,
        ),
        Claim(
            f"some setting has each gain of figures 11 (b) and 14 (b), {facts.WITHIN}",
            lambda m: _fewest(m, (*FITTED, "14b")) == 0,
        ),
    ),
    fitted=settings.LEFT_OPEN,
    method=Repeated(settings.REPETITIONS, _means, long=True),
)
