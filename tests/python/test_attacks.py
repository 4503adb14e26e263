import json

import pytest

from eifel.cli import main


@pytest.mark.usefixtures("fake")
def test_a_broken_bound_is_shown_and_exits_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["attacks"]) == 1
    shown = capsys.readouterr().out
    assert "t01-kept: withstood" in shown
    assert "t02-broken: NOT withstood" in shown
    assert "30 000" in shown
    assert "≤ 20 000" in shown
    assert "it [b]attacks" in shown
    assert "1 of 2 attacks withstood" in shown


@pytest.mark.usefixtures("fake")
def test_attacks_are_chosen_by_how_their_names_begin(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["attacks", "t01", "--json"]) == 0
    (attack,) = json.loads(capsys.readouterr().out)["attacks"]
    assert attack["holds"]
    assert [finding["measured"] for finding in attack["findings"]] == [5, 1.25]
    assert main(["attacks", "t99"]) == 2
    assert "t99: no attack begins with this, there are: t01-kept, t02-broken" in capsys.readouterr().err


@pytest.mark.usefixtures("fake")
def test_the_list_attacks_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["attacks", "--list"]) == 0
    assert "it is answered" in capsys.readouterr().out
    assert main(["attacks", "--list", "--json"]) == 0
    assert all("findings" not in attack for attack in json.loads(capsys.readouterr().out)["attacks"])


def test_the_engine_lists_its_attacks_and_withstands_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["attacks", "t05", "t16", "--json"]) == 0
    attacks = json.loads(capsys.readouterr().out)["attacks"]
    assert [attack["name"] for attack in attacks] == ["t05-paws-poisoning", "t16-icmp"]
    assert all(finding["holds"] for attack in attacks for finding in attack["findings"])
