from pathlib import Path

import pytest

from eifel.errors import BadInputError
from eifel.scenario import Source, load, override, parse_settings

pytestmark = pytest.mark.usefixtures("fake")


def test_a_scenario_is_a_file_or_text_or_a_dict(scenario: Path) -> None:
    source = load(scenario)
    assert source.origin == str(scenario)
    assert (source.seed, source.repetitions) == (3, 4)
    assert load(str(scenario)) == source
    assert load(source.text).settings == source.settings
    assert load(source.settings).settings == source.settings
    assert load('{"seed": 7}').seed == 7


def test_without_a_seed_it_is_the_engines() -> None:
    assert (load("duration_s = 1").seed, load("duration_s = 1").repetitions) == (1, 1)


def test_an_unreadable_scenario_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"no\.toml: No such file"):
        load(tmp_path / "no.toml")
    (tmp_path / "latin.toml").write_bytes(b"title = '\xe9'")
    with pytest.raises(BadInputError, match=r"latin\.toml: not a text file in UTF-8 \(byte 9\)"):
        load(tmp_path / "latin.toml")
    with pytest.raises(BadInputError, match="seed: a scenario cannot hold NoneType"):
        load({"seed": None})


def test_settings_are_put_by_path(scenario: Path) -> None:
    source = override(load(scenario), {"seed": 9, "flow.main.sender.respond": "option-4", "flow.0.start_s": 2.5})
    settings = source.settings
    assert settings["seed"] == 9
    assert settings["flow"][0]["sender"] == {"detect": "eifel-timestamps", "respond": "option-4"}
    assert settings["flow"][0]["start_s"] == 2.5
    assert source.origin == str(scenario)


def test_a_scenario_without_settings_keeps_its_text(scenario: Path) -> None:
    source = load(scenario)
    assert override(source, {}) is source


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("flow.other.start_s", "flow.other: no such entry in the list; there is: main"),
        ("flow.7.start_s", "flow.7: no such entry"),
        ("seed.a", "seed.a: seed is a plain value"),
        ("seed.a.b", "seed.a.b: seed is a plain value"),
    ],
)
def test_a_path_that_leads_nowhere(scenario: Path, path: str, message: str) -> None:
    with pytest.raises(BadInputError, match=message.replace(".", r"\.")):
        override(load(scenario), {path: 1})


def test_a_value_that_no_scenario_can_hold_is_one_line(scenario: Path) -> None:
    with pytest.raises(BadInputError, match="scenario: seed: a scenario cannot hold NoneType"):
        override(load(scenario), {"seed": None})
    with pytest.raises(BadInputError, match="nowhere: no such entry in the list; there is: none"):
        override(Source("flow = []", "s.toml"), {"flow.nowhere": 1})


def test_an_unknown_key_is_the_engines_to_refuse(fake, scenario: Path) -> None:
    with pytest.raises(fake.ScenarioError, match="sed: unknown key"):
        override(load(scenario), {"sed": 1})


def test_values_on_the_command_line_are_toml_or_words() -> None:
    written = ["a=1", "b.c=option-4", "d=[1, 2]", "e=true", "f = 'x'", "g=a=b"]
    assert parse_settings(written) == {"a": 1, "b.c": "option-4", "d": [1, 2], "e": True, "f": "x", "g": "a=b"}
    for bad in ("a", "=1", " =1"):
        with pytest.raises(BadInputError, match=r"expected key\.path=value"):
            parse_settings([bad])


def test_relative_files_start_from_the_origin() -> None:
    assert Path(load({"seed": 1}).origin).parent == Path.cwd()
    assert Source("seed = 1", "x").settings == {"seed": 1}
