"""Detectors of your own, as classes of Python: they watch, or act, wherever the registry's detectors do.

```python
class Early(eifel.Detector):
    \"\"\"The ACK follows a timeout's retransmission within a fixed time.\"\"\"

    def __init__(self, within_ms: float = 20):
        self.within_ns, self.sent_ns, self.start = round(within_ms * 1e6), None, 0

    def observe(self, fact, view):
        if fact.kind == "retransmitted" and fact.opens:
            self.sent_ns, self.start = view.now_ns, fact.start
        elif fact.kind == "acked" and self.sent_ns is not None and fact.cumulative > self.start:
            early = view.now_ns - self.sent_ns < self.within_ns
            self.sent_ns = None
            return self.spurious("early") if early else self.genuine("late")
        return None

eifel.run("examples/spike.toml", settings={"flow.main.sender.detect": Early})
```

A scenario's text names it as `module:Class`.
"""

from __future__ import annotations

import inspect
import pickle
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from eifel.errors import BadInputError

if TYPE_CHECKING:
    from eifel._engine import Fact, View

Verdict = tuple[Any, ...]
"""What a detector says: made by `spurious`, `genuine`, `probe` and the other methods of `Detector`."""

_NAME = re.compile(r'"([A-Za-z_][\w.]*:[A-Za-z_][^"]*)"')
_NOT_IMPORTABLE: dict[str, type[Own]] = {}
"""Classes that were given as objects, and that an import of their name does not find, as those of a function."""


class _Given:
    """Returns what stands for a class or an object in a scenario's text."""

    def __get__(self, own: Own | None, of: type[Own]) -> Callable[[], str | dict[str, Any]]:
        return lambda: given(of if own is None else own)


class Own:
    """An algorithm of your own. Subclasses are `Detector`, and those of `eifel.senders`.

    The engine makes one object for each connection. Parameters of the constructor are parameters in
    a scenario. Each needs a default: a whole number from 0 on, a bool, or a time whose name ends in `_ms`.

    Everything that it remembers has to be in its attributes, since a search copies it
    (`copy.deepcopy`) and compares states (`pickle`). Without chance and clock, runs are repeatable to the byte.
    """

    seam: ClassVar[str]
    """The key of a scenario under which it stands."""
    defines: ClassVar[str]
    """The method that a subclass has to define."""
    needs: ClassVar[Literal["timestamps", "marks", "sack", "dsack"] | None] = None
    """The protocol feature without which it is blind."""

    given_parameters: Mapping[str, Any] = {}
    __eifel__ = _Given()

    def __new__(cls, *args: Any, **parameters: Any) -> Self:
        made = super().__new__(cls)
        if args or parameters:
            bound = inspect.signature(cls.__init__).bind(made, *args, **parameters)
            made.given_parameters = dict(list(bound.arguments.items())[1:])
        return made

    @classmethod
    def described(cls, _defines: Callable[[str], bool]) -> dict[str, Any]:
        """Returns what the engine has to know of its seam alone."""
        return {}


class Detector(Own):
    """Was that retransmission spurious? A subclass defines `observe`, and says why in its docstring's first line.

    Example: `eifel.run("examples/spike.toml", settings={"flow.main.sender.detect": Mine})`.
    """

    seam = "detect"
    defines = "observe(self, fact, view)"
    probes: ClassVar[bool] = False
    """Whether it ever returns `probe()`."""
    every_ack: ClassVar[bool] = False
    """Whether it is shown every ACK. Otherwise, from its verdict to the next retransmission, it is not shown ACKs that
    only acknowledge new data: those cost nothing then.
    """

    def observe(self, fact: Fact, view: View) -> Verdict | None:
        """Observes a fact, and returns a verdict on the open or last episode, or None.

        `fact` and `view` are used again for the next call: keep their values, and not them.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define observe(self, fact, view)")

    def on_loss_signal(self, cause: str, opens: bool, view: View) -> None:
        """Learns of a loss signal before its first retransmission leaves.

        `cause` is "timeout" or "fast-retransmit". `opens` is False for a further timeout of the same segment.
        """

    def idle(self) -> bool:
        """Returns whether it waits for the next retransmission.

        A subclass needs it only if it goes on observing after a verdict.
        """
        raise NotImplementedError

    @classmethod
    def described(cls, defines: Callable[[str], bool]) -> dict[str, Any]:
        """Returns what the engine has to know of detectors alone."""
        return {"every_ack": bool(cls.every_ack), "idle": defines("idle"), "signals": defines("on_loss_signal")}

    @staticmethod
    def spurious(reason: str) -> Verdict:
        """The original was not lost. A reason is a fixed sentence."""
        return ("spurious", reason)

    @staticmethod
    def genuine(reason: str) -> Verdict:
        """The original was lost, or nothing shows that it was not."""
        return ("genuine", reason)

    @staticmethod
    def probe() -> Verdict:
        """Asks for new data before further retransmissions, for as long as it says so. Needs `probes = True`."""
        return ("probe",)

    @staticmethod
    def mixed(needless: int, resent: int) -> Verdict:
        """Something was lost, but `needless` of the `resent` retransmissions were not needed."""
        return ("mixed", needless, resent)

    @staticmethod
    def nothing_resent(reason: str) -> Verdict:
        """The loss signal was false, before its first retransmission left."""
        return ("nothing-resent", reason)

    @staticmethod
    def genuine_loss_within(reason: str) -> Verdict:
        """An episode that was judged spurious has also repaired a genuine loss."""
        return ("genuine-loss-within", reason)

    @staticmethod
    def distrusted(reason: str) -> Verdict:
        """The peer has contradicted itself: the detector is dropped for the rest of the connection."""
        return ("distrusted", reason)


def given(own: type[Own] | Own) -> str | dict[str, Any]:
    """Returns what stands for a class or an object in a scenario: its name, with its parameters if there are any."""
    if isinstance(own, Own):
        name = name_of(type(own))
        return {"name": name, **own.given_parameters} if own.given_parameters else name
    return name_of(own)


def name_of(own: type[Own]) -> str:
    """Returns the name of a class in scenarios, `module:Class`."""
    name = f"{own.__module__}:{own.__qualname__}"
    try:
        known = _imported(name)
    except BadInputError:
        known = None
    if known is own:
        _NOT_IMPORTABLE.pop(name, None)
    else:
        _NOT_IMPORTABLE[name] = own
    return name


def variant(detector: Detector) -> type[Detector]:
    """Returns a class that makes objects like this one, without parameters: `Early(within_ms=5)`."""
    of = type(detector)
    if not detector.given_parameters:
        return of
    title = f"{of.__qualname__}({', '.join(f'{name}={value}' for name, value in detector.given_parameters.items())})"
    known = _NOT_IMPORTABLE.get(f"{of.__module__}:{title}")
    if known is not None and issubclass(known, Detector) and known.__base__ is of:
        return known
    given = dict(detector.given_parameters)

    def begin(self: Detector) -> None:
        of.__init__(self, **given)

    own = {"__init__": begin, "__module__": of.__module__, "__qualname__": title, "__doc__": of.__doc__}
    return type(title, (of,), own)


def found(name: str) -> type[Own]:
    """Returns the class of this name. Raises BadInputError if there is none."""
    return _NOT_IMPORTABLE.get(name) or _imported(name)


def _imported(name: str) -> type[Own]:
    module_name, _, path = name.partition(":")
    folder = str(Path.cwd())
    if folder not in sys.path:
        # As with `python -m`: a program's own folder is not that of its user.
        sys.path.append(folder)
    try:
        place: Any = import_module(module_name)
    except ImportError as error:
        raise BadInputError(f"{name}: cannot import {module_name}: {error}") from None
    except Exception as error:
        # Anything may go wrong in somebody's module.
        raise BadInputError(f"{name}: {_where(error)}{type(error).__name__}: {error}") from None
    for part in path.split("."):
        if not hasattr(place, part):
            raise BadInputError(f"{name}: {module_name} has no {path}")
        place = getattr(place, part)
    if not (isinstance(place, type) and issubclass(place, Own)):
        raise BadInputError(f"{name}: not a subclass of eifel.Detector, Response, Grant or Timer")
    return place


def describe(name: str, seam: str) -> dict[str, Any]:
    """Describes the class of this name to the engine. `seam` is the key under which it stands."""
    of = found(name)
    kind = next(base for base in of.__mro__ if issubclass(base, Own) and "seam" in vars(base))
    if kind.seam != seam:
        raise BadInputError(f"{name}: a class for {kind.seam}, and not for {seam}")
    own = [base for base in of.__mro__ if base is not kind and issubclass(base, kind)]

    def defines(method: str) -> bool:
        return any(method in vars(base) for base in own)

    if not defines(kind.defines.partition("(")[0]):
        raise BadInputError(f"{name}: does not define {kind.defines}")
    needs = ("timestamps", "marks", "sack", "dsack", None)
    if of.needs not in needs:
        raise BadInputError(f"{name}: needs = {of.needs!r}; allowed: {', '.join(map(repr, needs))}")
    return {
        "class": of,
        "summary": (inspect.getdoc(of) or of.__name__).partition("\n")[0] if of.__doc__ else of.__name__,
        "source": f"Python: {Path(_file(of) or '?').name}",
        "needs": of.needs,
        "probes": bool(getattr(of, "probes", False)),
        "parameters": [_parameter(name, one) for one in list(inspect.signature(of.__init__).parameters.values())[1:]]
        if defines("__init__")
        else [],
        **of.described(defines),
    }


def _parameter(name: str, one: inspect.Parameter) -> tuple[str, str, Any]:
    default = one.default
    if isinstance(default, bool):
        return one.name, "switch", default
    if one.name.endswith("_ms") and isinstance(default, int | float) and default >= 0:
        return one.name, "milliseconds", float(default)
    if isinstance(default, int) and default >= 0:
        return one.name, "integer", default
    raise BadInputError(
        f"{name}: parameter {one.name} needs a default: a whole number from 0 on, a bool, "
        "or a time of 0 or more if its name ends in _ms"
    )


def _file(of: type) -> str | None:
    try:
        return inspect.getsourcefile(of)
    except (TypeError, OSError):
        return None


def explain(error: BaseException, of: Own | None, during: str, at_ns: int | None) -> str:
    """Returns one line: the place in the source, the error, and the fact that it was about."""
    place = _where(error)
    if not place and of is not None:
        code = getattr(type(of), of.defines.partition("(")[0]).__code__
        place = f"{_short(code.co_filename)}:{code.co_firstlineno}: "
    at = "" if at_ns is None else f", at {at_ns / 1e9:.9f} s"
    what = str(error).replace("\n", " ")
    return f"{place}{type(error).__name__}: {what} (during {during}{at})"


def _where(error: BaseException) -> str:
    """Returns the place of an error: the deepest line that is not of a library."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "site-packages" not in frame.filename and "<frozen" not in frame.filename]
    outside = [frame for frame in own if Path(frame.filename).parent != Path(__file__).parent]
    return f"{_short(outside[-1].filename)}:{outside[-1].lineno}: " if outside else ""


def _short(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


def state(own: Own) -> bytes:
    """Returns the whole state of an object. Objects with equal bytes are in the same state."""
    return pickle.dumps(own.__reduce_ex__(4)[1:3])


def names_in(text: str) -> list[str]:
    """Returns the names of classes in a scenario's text, or in anything else that quotes them."""
    return sorted({*_NAME.findall(text)})


def sources(text: str) -> list[str]:
    """Returns the source of the module of each class that a text names: results depend on it."""
    kept = []
    for name in names_in(text):
        try:
            kept.append(f"{name}\n{inspect.getsource(sys.modules[found(name).__module__])}")
        except (BadInputError, OSError, TypeError):
            # A class of a notebook or of a prompt: at least its own code.
            kept.append(f"{name}\n{_own_code(name)}")
    return kept


def _own_code(name: str) -> str:
    try:
        of = found(name)
    except BadInputError:
        return ""
    codes = [method.__code__ for method in vars(of).values() if inspect.isfunction(method)]
    return repr([(code.co_name, code.co_code, code.co_consts, code.co_names) for code in codes])


def __getattr__(name: str) -> Any:
    # For annotations. Importing them needs the engine, which `eifel --help` does without.
    if name in ("Fact", "View"):
        from eifel import _engine

        return getattr(_engine, name)
    raise AttributeError(f"module 'eifel.detectors' has no attribute {name!r}")
