"""The interactive chart of a flow over several paths."""

import json
import re
from pathlib import Path

import eifel
from eifel.report.chart import chart


def test_the_paths_of_an_association_have_a_colour_each() -> None:
    example = Path(__file__).resolve().parents[2] / "examples" / "sctp.toml"
    result = eifel.run(example, record=["transmissions", "window"])
    description = re.search(r'<script type="application/json">(.*?)</script>', chart(result, 0, "run"))
    assert description is not None
    sequence, window = json.loads(description[1])["panels"]
    drawn = {layer["name"]: layer["colour"] for layer in sequence["layers"]}
    assert drawn["path 1"] == "sent"
    assert drawn["path 2, again"] == "needed"
    assert drawn["spurious"] == "spurious"
    assert {layer["name"]: layer["colour"] for layer in window["layers"]} == {
        "cwnd, path 1": "sent",
        "cwnd, path 2": "needed",
    }
