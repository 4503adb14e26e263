"""Runs the examples in the documents, and checks that the examples' references exist."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import eifel
from eifel import _engine
from eifel.documents import algorithms, tables

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "docs" / "scenario.schema.json"
TOUR = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
SWEEP = (ROOT / "docs" / "reference" / "sweep.md").read_text(encoding="utf-8")
OPTIONAL = ("pandas", "polars", "duckdb")


def run_blocks(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Runs the Python of a page, block by block, beside the examples. Returns its names."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {}
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)):
        lacking = [name for name in OPTIONAL if f"import {name}" in block and find_spec(name) is None]
        if lacking:
            print(f"left out for want of {', '.join(lacking)}")
        else:
            exec(compile(block, f"block {number}", "exec"), names)
    return names


def test_the_page_of_sweeps_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = run_blocks(SWEEP, tmp_path, monkeypatch)
    assert names["runs"].num_rows == 2 * 90
    if "saved" in names:
        assert names["saved"].mean() > 0
    assert "newreno-sack" in capsys.readouterr().out


def test_the_tour_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    names = run_blocks(TOUR, tmp_path, monkeypatch)
    shown = capsys.readouterr().out
    assert names["result"].summary["main"]["spurious_timeouts"] >= 1
    assert names["detectors"][0] == "none"
    assert "did you mean eifel-timestamps" in shown or "eifel-timestamps" in shown
    assert names["same"].flows == names["result"].flows
    assert names["kept"].flows == names["result"].flows
    assert (tmp_path / "recorded" / "sender.pcapng").read_bytes().startswith(b"\x0a\x0d\x0d\x0a")
    assert len(names["runs"]) == 12
    assert "responding.figure4a.svg" in {file.name for file in tmp_path.glob("out/*/*")}
    assert {"spike.png", "spike.svg", "spike.html"} <= {file.name for file in tmp_path.iterdir()}


def test_the_page_of_a_detector_of_ones_own_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "reference" / "own_detector.md").read_text(encoding="utf-8")
    names = run_blocks(page, tmp_path, monkeypatch)
    shown = capsys.readouterr().out
    assert shown.startswith("1 1\n")
    assert "Early(within_ms=5000)" in shown
    # As the page says: with the limit, both shares grow.
    scores = names["judged"].scores
    assert scores[0].found < scores[5].found and scores[0].false < scores[5].false
    assert (tmp_path / "roc.pdf").read_bytes().startswith(b"%PDF")


README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_scenario_of_the_readme_runs_and_has_its_spike(tmp_path: Path) -> None:
    found = re.search(r"^```toml\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert found and len(found[1].splitlines()) <= 12
    flow = eifel.run(found[1]).main
    assert flow["completed"] and flow["spurious_timeouts"] == flow["undos"] == 1


@pytest.mark.parametrize("page", ["README.md", "docs/reference/captures.md"])
def test_the_shown_output_of_analyze_is_what_it_prints(page: str) -> None:
    """Checks each line; `…` stands for lines that are left out."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.search(r"^```\n\$ eifel analyze (\S+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert found
    capture = ROOT / "crates/capture/tests/advice" / Path(found[1]).name
    shown = found[2].split("…\n")
    printed = str(eifel.analyze(capture)).replace(str(capture), found[1])
    assert len(shown) > 1 or shown[0] == printed
    for part in shown:
        assert part in printed
        printed = printed[printed.index(part) + len(part) :]


def test_what_the_readme_calls_missing_is_no_algorithm() -> None:
    missing = {re.sub(r"\W", "", name).lower() for name, *_ in algorithms.NOT_HERE}
    present = {re.sub(r"\W", "", one["name"]).lower() for one in eifel.algorithms()}
    assert not missing & present
    sources = " ".join(one["source"] for one in eifel.algorithms())
    assert not [source for _, source, _ in algorithms.NOT_HERE if source in sources]
    named = " ".join(README.split())
    assert [name for name, *_ in algorithms.NOT_HERE if name not in named] == []
    assert "every published way" not in named


def anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_links_of_each_page_lead_to_files_and_headings(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\((?!https?://)([^)\s]+)\)", text):
        file, _, part = link.partition("#")
        target = page.parent / file if file else page
        assert target.exists(), link
        if part:
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert part in map(anchor, headings), link


def test_each_page_is_reached_from_the_readme() -> None:
    reached, left = set(), [ROOT / "README.md"]
    while left:
        page = left.pop().resolve()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        links = re.findall(r"\]\((?!https?://)([^)#\s]+)", page.read_text(encoding="utf-8"))
        left += [page.parent / link for link in links]
    assert {page.resolve() for page in PAGES} <= reached


def test_the_paths_and_commands_in_the_readme_exist() -> None:
    named = re.findall(r"(?:^|\s)((?:examples|docs|crates)/[\w./-]*\w)", README)
    assert [path for path in named if not (ROOT / path).exists()] == []
    commands = re.findall(r"^eifel (\w+)", README, re.MULTILINE)
    helped = subprocess.run([sys.executable, "-m", "eifel", "--help"], capture_output=True, text=True, check=True)
    assert len(set(commands)) >= 8 and all(f" {command} " in helped.stdout for command in commands)


def test_columns_are_not_copied_on_their_way() -> None:
    """Checks the tour's statement by addresses, since pandas may not be installed."""
    import eifel

    column = eifel.run(ROOT / "examples" / "spike.toml").tables["transmissions"].column("t_ns").chunk(0)
    assert column.to_numpy(zero_copy_only=True).ctypes.data == column.buffers()[1].address


def test_the_schema_in_the_documents_is_the_engines() -> None:
    assert SCHEMA.read_text(encoding="utf-8") == _engine.schema().rstrip() + "\n", "make docs"
    assert json.loads(_engine.schema())["$schema"].startswith("http://json-schema.org/")


def test_the_schema_is_written_by_the_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "eifel", "list", "schema"]
    assert subprocess.run(command, capture_output=True, check=True).stdout == SCHEMA.read_bytes()


SCENARIOS = [file for file in sorted((ROOT / "examples").glob("*.toml")) if file.name != "sweep.toml"]


@pytest.mark.parametrize("example", SCENARIOS, ids=lambda file: file.name)
def test_an_editor_finds_the_schema_of_an_example(example: Path) -> None:
    first = example.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("#:schema ")
    assert (example.parent / first.removeprefix("#:schema ")).resolve() == SCHEMA


def test_the_page_of_algorithms_is_the_registrys() -> None:
    assert algorithms.PAGE.read_text(encoding="utf-8") == algorithms.page(), "make docs"


def test_the_page_of_tables_is_the_engines() -> None:
    assert tables.PAGE.read_text(encoding="utf-8") == tables.page(), "make docs"


def test_parquet_files_hold_the_meanings_of_their_columns(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    eifel.record(ROOT / "examples" / "spike.toml", tmp_path / "run", tables=["timer"])
    schema = pq.read_schema(tmp_path / "run" / "timer.parquet")
    assert schema.metadata[b"about"] == b"A sender's retransmission timer."
    assert all(field.metadata[b"meaning"].endswith(b".") for field in schema)


def test_the_page_of_mutants_has_the_sums_of_its_data() -> None:
    data = tomllib.loads((ROOT / "docs/internals/mutants.toml").read_text(encoding="utf-8"))
    page = (ROOT / "docs/internals/mutants.md").read_text(encoding="utf-8")
    brain = {key: sum(row[key] for row in data["brain"]) for key in data["brain"][0] if key != "files"}
    counted = brain["changes"] - brain["do_not_compile"] - brain["constants"]
    noticed = brain["caught"] + brain["since"]
    assert f"| {brain['changes']} | {counted} | {noticed} | {noticed / counted:.0%} |".replace("%", " %") in page
    crates = {path.name for path in (ROOT / "crates").iterdir()}
    for seed in (20261228, 20261230):
        rows = [row for row in data["sample"] if row["seed"] == seed and row["what"] in crates]
        changes, counted, noticed = (
            sum(row[key] for row in rows) for key in ("changes", "make_a_difference", "noticed")
        )
        assert f"| {changes} | {counted} | {noticed} | {noticed / counted:.0%} |".replace("%", " %") in page, seed


def test_the_examples_of_the_crates_need_only_the_lines_that_the_page_names() -> None:
    page = (ROOT / "docs" / "author.md").read_text(encoding="utf-8")
    block = next(block for block in re.findall(r"```toml\n(.*?)```", page, re.DOTALL) if "[dependencies]" in block)
    named = {name.replace("-", "_") for name in tomllib.loads(block)["dependencies"]}
    examples = [ROOT / path for path in re.findall(r"\(\.\./(crates/\w+/examples/\w+\.rs)\)", page)]
    assert len(set(examples)) == 3
    for example in examples:
        used = set(re.findall(r"(?<![\w:])(eifel_\w+)::", example.read_text(encoding="utf-8")))
        assert used and used <= named, (example.name, used - named)


def test_crates_that_are_published_need_only_such_crates() -> None:
    manifests = {path.parent.name: tomllib.loads(path.read_text("utf-8")) for path in ROOT.glob("crates/*/Cargo.toml")}
    of_workspace = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))["workspace"]["dependencies"]
    published = {name for name, one in manifests.items() if one["package"].get("publish", True)}
    assert {"recovery", "capture", "live"} <= published
    for name in published:
        needed = {one.removeprefix("eifel-") for one in manifests[name]["dependencies"] if one.startswith("eifel-")}
        assert needed <= published, (name, needed - published)
        assert all("version" in of_workspace[f"eifel-{one}"] for one in needed), name
        assert (ROOT / "crates" / name / "LICENSE-MIT").exists(), name
