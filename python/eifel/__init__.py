"""Detects spurious retransmissions, responds to them, and measures the gain.

```python
import eifel

result = eifel.run("scenario.toml")      # one simulated run, everything recorded
result.summary                           # a dict per flow: time_s, retransmissions, spurious_timeouts, ...
result.tables["transmissions"]           # pyarrow tables, for pandas and polars
result.plot()                            # a time-sequence graph, as in the papers

eifel.record("scenario.toml", "run")     # into files, for a run of any length
runs = eifel.run_many(["scenario.toml"], repetitions=100)  # on all cores
eifel.compare(["a.toml", "b.toml"])      # differences, run by run with the same seed
eifel.compare(eifel.protocols("a.toml"), repetitions=60).recommendation()  # which one for this path?
eifel.sweep("sweep.toml", out="results") # many scenarios; resumes where it stopped
eifel.judge("scenario.toml", Mine)       # a detector of your own against the truth
eifel.analyze("capture.pcapng")          # was each retransmission in a capture needed?
eifel.extract_path("capture.pcapng")     # the captured path, for other senders
eifel.small_worlds("scenario.toml")      # every fate of six segments and their ACKs
eifel.reproduce("responding.table1")     # published and measured values
eifel.algorithms(), eifel.artefacts()    # lists of algorithms and artefacts
```

Heavy imports happen on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eifel.captured_path import extract_path as extract_path
    from eifel.captures import analyze as analyze
    from eifel.comparison import compare as compare
    from eifel.detectors import Detector as Detector
    from eifel.errors import CaptureError as CaptureError
    from eifel.errors import PathError as PathError
    from eifel.errors import RunError as RunError
    from eifel.errors import ScenarioError as ScenarioError
    from eifel.judging import judge as judge
    from eifel.papers import artefacts as artefacts
    from eifel.recommendation import protocols as protocols
    from eifel.recording import record as record
    from eifel.registry import algorithms as algorithms
    from eifel.reproduction import reproduce as reproduce
    from eifel.result import Result as Result
    from eifel.runs import Runs as Runs
    from eifel.runs import run as run
    from eifel.runs import run_many as run_many
    from eifel.senders import Grant as Grant
    from eifel.senders import Response as Response
    from eifel.senders import Timer as Timer
    from eifel.senders import Window as Window
    from eifel.sweeps import load_sweep as load_sweep
    from eifel.sweeps import sweep as sweep
    from eifel.sweeps.captures import analyze_folder as analyze_folder
    from eifel.worlds import small_worlds as small_worlds
    from eifel.worlds import small_worlds_each as small_worlds_each

_MODULES = {
    "captured_path": ("extract_path",),
    "captures": ("analyze",),
    "comparison": ("compare",),
    "detectors": ("Detector",),
    "errors": ("CaptureError", "PathError", "RunError", "ScenarioError"),
    "judging": ("judge",),
    "papers": ("artefacts",),
    "recommendation": ("protocols",),
    "recording": ("record",),
    "registry": ("algorithms",),
    "reproduction": ("reproduce",),
    "result": ("Result",),
    "runs": ("Runs", "run", "run_many"),
    "senders": ("Grant", "Response", "Timer", "Window"),
    "sweeps": ("load_sweep", "sweep"),
    "sweeps.captures": ("analyze_folder",),
    "worlds": ("small_worlds", "small_worlds_each"),
}
_HOME = {name: f"eifel.{module}" for module, names in _MODULES.items() for name in names}
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("eifel")
    if name not in _HOME:
        raise AttributeError(f"module 'eifel' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
