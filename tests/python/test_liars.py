"""The gain from cheating, in a few short runs. The artefact itself takes minutes."""

import re
from pathlib import Path

import pytest

import eifel
from eifel.papers import artefacts
from eifel.studies import liars, liars_sctp, proof
from eifel.studies.cheating import DEFAULT, LIES, PLAIN, scenario
from eifel.studies.liars_neighbour import shared

REPETITIONS = 6


def gain(detect: str, grant: str, liar: str) -> float:
    runs = eifel.run_many(
        [scenario(detect, "rfc4015", grant, 0.01, lie) for lie in ("none", liar)], repetitions=REPETITIONS
    )
    goodput = runs["goodput_bps"].reshape(2, -1).mean(axis=1)
    return float(goodput[1] / goodput[0])


def test_forged_echoes_gain_against_the_plain_variant_alone() -> None:
    always = gain(PLAIN, "always", "forged-echo")
    once = gain(PLAIN, "once-a-round-trip", "forged-echo")
    assert always > 1.5 * once > 2


ALL_LIES = sorted({*LIES, *liars_sctp.LIES})


@pytest.mark.parametrize("lie", ALL_LIES)
def test_no_lie_gains_against_the_default(lie: str) -> None:
    assert gain(DEFAULT, "always", lie) <= 1.05


def test_forged_duplicates_and_marks_gain_where_they_are_looked_at() -> None:
    assert gain("dsack", "once-a-round-trip", "forged-dsack") > 1.5
    # After three failures, the bit is not believed any more.
    assert 1.05 < gain("eifel-bit", "once-a-round-trip", "forged-mark") < 1.5


def test_an_honest_neighbour_loses_beside_a_forger_and_not_beside_one_who_meets_the_default() -> None:
    def share(detect: str) -> float:
        runs = eifel.run_many(
            [shared(detect, "always", 0.001, lie) for lie in ("none", "forged-echo")], repetitions=REPETITIONS
        )
        goodput = runs["goodput_bps"].reshape(2, REPETITIONS, 2).mean(axis=1)
        return float(goodput[1, 1] / goodput[0, 1])

    assert share(PLAIN) < 0.5
    assert share(DEFAULT) >= 0.95


def test_the_proof_costs_nothing_over_spikes_and_something_where_much_is_reordered() -> None:
    def over_plain(path: str) -> float:
        asked = [proof.scenario(path, "rfc6675", which) for which in (proof.PLAIN, proof.DEFAULT)]
        goodput = eifel.run_many(asked, repetitions=REPETITIONS)["goodput_bps"].reshape(2, -1).mean(axis=1)
        return float(goodput[1] / goodput[0])

    assert over_plain(proof.SPIKES) > 0.99 > over_plain(proof.MUCH)


def test_every_sender_meets_every_lie() -> None:
    artefact = artefacts()["detectors.liars"]
    assert len(artefact.rows) == 3 * len(liars.SENDERS) == 297
    assert [column.name for column in artefact.columns] == [lie.replace("-", "_") for lie in LIES]


def test_the_page_names_every_lie() -> None:
    page = (Path(__file__).parents[2] / "docs" / "internals" / "liars.md").read_text()
    assert set(re.findall(r"^\| `([a-z-]+)` \|", page, re.M)) == set(ALL_LIES)
