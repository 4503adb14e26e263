"""A scenario in the engine's form: text and origin. Made from a file, from text, or from a dict."""

import copy
import json
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eifel import toml
from eifel.errors import BadInputError
from eifel.files import read_text
from eifel.flows import Flow, flows_of
from eifel.registry import algorithms

ScenarioLike = str | Path | Mapping[str, Any]


@dataclass(frozen=True)
class Source:
    """A scenario's TOML text and its origin: the file that errors name, and at which relative paths start."""

    text: str
    origin: str

    @property
    def settings(self) -> dict[str, Any]:
        from eifel import _engine

        # Parsed by the engine, since Python's own parser knows an older TOML and would refuse valid
        # scenarios.
        return dict(json.loads(_engine.document(self.text, self.origin)))

    @property
    def flows(self) -> tuple[Flow, ...]:
        """The flows, with repeated entries expanded."""
        return flows_of(self.settings)

    @property
    def repetitions(self) -> int:
        return int(self.settings.get("repetitions", 1))

    @property
    def seed(self) -> int:
        """The seed. The engine's default is 1."""
        return int(self.settings.get("seed", 1))


def load(scenario: ScenarioLike | Source) -> Source:
    """Loads a scenario: a path (TOML or JSON; `-` is standard input), its text, or an equivalent dict.

    Raises BadInputError if the file cannot be read, and the engine's ScenarioError if the scenario is refused.
    """
    if isinstance(scenario, Source):
        return scenario
    if isinstance(scenario, Mapping):
        return from_values(scenario, Path.cwd(), "scenario")
    if isinstance(scenario, str) and is_text(scenario):
        return _checked(Source(scenario, str(Path.cwd() / "scenario")))
    if scenario == "-":
        return _checked(Source(read_text(Path("/dev/stdin"), "standard input"), "standard input"))
    path = Path(scenario)
    source = Source(read_text(path), str(path))
    _refuse_sweep(source)
    return _checked(source)


def _refuse_sweep(source: Source) -> None:
    """Raises BadInputError for the file of a sweep."""
    with suppress(tomllib.TOMLDecodeError):
        document = tomllib.loads(source.text)
        if "scenario" in document and "flow" not in document:
            raise BadInputError(
                f"{source.origin}: this is a sweep (it has scenario), and no scenario; "
                f"expected flows, or `eifel sweep {source.origin}`"
            )


def from_values(values: Mapping[str, Any], folder: Path, name: str) -> Source:
    """Makes a scenario from plain values. Relative paths start at `folder`, and errors call it `name`."""
    return _checked_as(Source(_written(values, name), str(folder / "scenario")), name)


def override(source: Source, settings: Mapping[str, Any]) -> Source:
    """Returns the scenario with changed values at some keys: `{"flow.0.sender.respond": "option-4", "seed": 7}`.

    A key is a path through tables (by name) and lists (by number, or by the `name` of an entry).
    The last key may be new; the engine then checks it. Raises BadInputError for a path that does
    not exist.
    """
    if not settings:
        return source
    document = copy.deepcopy(source.settings)
    for path, value in settings.items():
        _put(document, path, value)
    for path in settings:
        _expect_algorithm(document, path)
    return _checked_as(Source(_written(document, "scenario"), source.origin), f"{source.origin}, as changed")


def parse_settings(arguments: Sequence[str]) -> dict[str, Any]:
    """Parses `key.path=value` from a command line. The value is TOML, or else a plain string."""
    settings: dict[str, Any] = {}
    for argument in arguments:
        path, equals, written = argument.partition("=")
        path = path.strip()
        if not equals or not path:
            raise BadInputError(
                f"--set {argument}: expected key.path=value, as in seed=7 or flow.main.sender.respond=none"
            )
        try:
            settings[path] = tomllib.loads(f"value = {written}")["value"]
        except tomllib.TOMLDecodeError:
            settings[path] = written.strip()
    return settings


def _written(document: Mapping[str, Any], name: str) -> str:
    try:
        return toml.dumps(document)
    except TypeError as error:
        raise BadInputError(f"{name}: {error}") from None


def is_text(scenario: str) -> bool:
    """Returns whether this is the text of a scenario, and not a path."""
    begins = scenario.lstrip()[:1] == "{" or "\n" in scenario
    return begins or ("=" in scenario and not Path(scenario).is_file())


def _put(document: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = path.split(".")
    place: Any = document
    for depth, key in enumerate(parents):
        where = ".".join(parents[: depth + 1])
        if isinstance(place, dict):
            if isinstance(place.get(key), str) and parents[depth - 1].endswith("sender"):
                # An algorithm's name alone stands for a table with its name.
                place[key] = {"name": place[key]}
            place = place.setdefault(key, {})
        elif isinstance(place, list):
            place = place[_entry(place, key, where)]
        else:
            raise BadInputError(f"{path}: {'.'.join(parents[:depth])} is a plain value and holds nothing")
    if isinstance(place, dict):
        place[last] = value
    elif isinstance(place, list):
        place[_entry(place, last, path)] = value
    else:
        raise BadInputError(f"{path}: {'.'.join(parents)} is a plain value and holds nothing")


def _expect_algorithm(document: dict[str, Any], path: str) -> None:
    """Raises BadInputError if the path sets a parameter where the scenario names no algorithm."""
    *parents, _ = path.split(".")
    known = [one["name"] for one in algorithms(parents[-1])] if parents[-2:-1] == ["sender"] else []
    if not known:
        return
    place: Any = document
    for depth, key in enumerate(parents):
        place = place[_entry(place, key, ".".join(parents[: depth + 1]))] if isinstance(place, list) else place[key]
    if isinstance(place, dict) and "name" not in place:
        algorithm = ".".join([*parents, "name"])
        raise BadInputError(
            f"{path}: the scenario does not say there whose parameter this is; "
            f"set {algorithm} too; allowed: {', '.join(known)}"
        )


def _entry(entries: list[Any], key: str, where: str) -> int:
    if key.isdecimal() and int(key) < len(entries):
        return int(key)
    names = [entry.get("name") for entry in entries if isinstance(entry, dict)]
    if key in names:
        return names.index(key)
    known = ", ".join(str(name) for name in names if name) or (f"0 to {len(entries) - 1}" if entries else "none")
    raise BadInputError(f"{where}: no such entry in the list; there is: {known}")


def _checked_as(source: Source, name: str) -> Source:
    """Checks a scenario with generated text. Errors name its keys instead of its lines."""
    from eifel import _engine

    try:
        return _checked(source)
    except _engine.ScenarioError as error:
        place, _, complaint = str(error).removeprefix(f"{source.origin}:").partition(": ")
        raise _engine.ScenarioError(f"{name}: {complaint}" if place.isdecimal() else str(error)) from None


def _checked(source: Source) -> Source:
    from eifel import _engine

    try:
        _engine.check(source.text, source.origin)
    except UnicodeEncodeError:
        raise BadInputError(f"{source.origin!a}: the scenario, or its place, is not UTF-8") from None
    return source
