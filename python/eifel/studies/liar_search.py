"""Finds the best liar against a sender by a search, and judges it with other runs."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel import toml
from eifel.papers.study import Effort, Progress
from eifel.runs import run_many


def best(honest: Mapping[str, Any], runs: int, effort: Effort, progress: Progress) -> tuple[str, dict[str, Any]]:
    """Returns the best liar of a search with `runs` runs, as tables below `[[flow]]`, and the scenario with it."""
    from eifel import _engine

    text = toml.dumps({**honest, "seed": effort.seed})
    liar: str = json.loads(_engine.hunt_liars(text, "liars", runs, effort.seed, progress))["liar"]
    flow = {**honest["flow"][0], **tomllib.loads("[[flow]]\n" + liar)["flow"][0]}
    return liar, {**honest, "flow": [flow]}


def find(
    effort: Effort, title: str, honest: Sequence[Mapping[str, Any]], runs: int, definition: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Searches for the best liar against the sender of each honest scenario with `runs` runs, and judges it."""

    def one(number: int, progress: Progress) -> dict[str, Any]:
        liar, lying = best(honest[number], runs, effort, progress)
        goodput = judged([honest[number], lying], effort)
        columns = {"row": np.full(goodput.shape[1], number), "liar": np.full(goodput.shape[1], liar)}
        return {**columns, "honest_bps": goodput[0], "lying_bps": goodput[1]}

    return effort.parts(title, {**definition, "runs": runs}, [runs] * len(honest), one)


def judged(asked: Sequence[Mapping[str, Any]], effort: Effort) -> NDArray[np.float64]:
    """Returns goodput in bit/s by scenario and repetition. Uses other seeds than the search, to exclude luck."""
    scenarios = [{**each, "seed": effort.seed + 1} for each in asked]
    runs = run_many(scenarios, repetitions=effort.repetitions, threads=effort.threads)
    return runs["goodput_bps"].reshape(len(asked), -1)
