"""Stored data is read unchanged, or not at all: flipped bits, copied files, leftovers, full disks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import eifel
from eifel import _engine, files, store
from eifel.cli import BAD_INPUT, main
from eifel.errors import BadInputError
from eifel.papers import artefacts
from eifel.reproduction import reproduce

SCENARIO = {
    "duration_s": 1,
    "point_to_point": {"rate_bps": 1_000_000, "delay_ms": 1},
    "flow": [{"name": "main", "from": "sender", "to": "receiver", "application": {"kind": "bulk", "bytes": 100}}],
}
SWEEP: dict[str, Any] = {
    "title": "small",
    "scenario": SCENARIO,
    "repetitions": 2,
    "shard_runs": 2,
    "product": {"point_to_point.delay_ms": [1, 2]},
}


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.fixture
def swept(tmp_path: Path) -> Path:
    eifel.sweep(SWEEP, out=tmp_path / "out")
    return tmp_path / "out"


def runs_of_engine(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    asked: list[Any] = []
    engine = _engine.run_many

    def counted(*arguments: Any, **options: Any) -> Any:
        asked.append(arguments)
        return engine(*arguments, **options)

    monkeypatch.setattr(_engine, "run_many", counted)
    return asked


def flip(file: Path, place: int) -> None:
    with file.open("r+b") as content:
        content.seek(place)
        byte = content.read(1)[0]
        content.seek(place)
        content.write(bytes([byte ^ 1 << place % 8]))


def test_no_flipped_byte_of_a_sweep_becomes_a_result(swept: Path) -> None:
    whole, runs = contents(swept), eifel.load_sweep(swept)
    assert sorted(whole) == ["runs-000000.parquet", "runs-000001.parquet", "shards.sha256", "sweep.json"]
    flipped = 0
    for name, content in whole.items():
        for place in range(len(content)):
            flip(swept / name, place)
            with pytest.raises(BadInputError, match=r"damaged|not as it was written"):
                eifel.load_sweep(swept)
            flipped += 1
            # Making a file again takes longer than detecting the flip, so only every 1000th is made
            # again.
            if flipped % 1000 == 0:
                eifel.sweep(SWEEP, out=swept)
                assert contents(swept) == whole, (name, place)
            else:
                flip(swept / name, place)
    assert eifel.load_sweep(swept) == runs
    assert flipped > 10_000


@pytest.mark.parametrize("name", ["runs-000000.parquet", "shards.sha256", "sweep.json"])
def test_only_damaged_files_of_a_sweep_are_made_again(name: str, swept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, asked = contents(swept), runs_of_engine(monkeypatch)
    for cut in (0, 1, len(whole[name]) // 2, len(whole[name]) - 1):
        (swept / name).write_bytes(whole[name][:cut])
        eifel.sweep(SWEEP, out=swept)
        assert contents(swept) == whole
    # The shards name their sweep: without its manifest, nothing of a sweep is lost.
    assert len(asked) == {"runs-000000.parquet": 4, "shards.sha256": 2 + 2 + 1 + 0, "sweep.json": 0}[name]


def test_a_shard_in_the_place_of_another_is_made_again(swept: Path) -> None:
    whole = contents(swept)
    shutil.copy(swept / "runs-000000.parquet", swept / "runs-000001.parquet")
    with pytest.raises(BadInputError, match=r"runs-000001.parquet: not as it was written; `eifel sweep` makes it"):
        eifel.load_sweep(swept)
    # Even with the matching checksum.
    sums = swept / "shards.sha256"
    first = sums.read_text().splitlines()[0]
    sums.write_text(f"{first}\n{first.replace('000000', '000001')}\n")
    with pytest.raises(BadInputError, match="of another sweep, or another shard"):
        eifel.load_sweep(swept)
    eifel.sweep(SWEEP, out=swept)
    assert contents(swept) == whole


def test_shards_of_another_sweep_are_made_again(swept: Path, tmp_path: Path) -> None:
    whole = contents(swept)
    eifel.sweep({**SWEEP, "seed": 9}, out=tmp_path / "other")
    for name in ("runs-000000.parquet", "shards.sha256"):
        shutil.copy(tmp_path / "other" / name, swept / name)
    with pytest.raises(BadInputError, match="of another sweep, or another shard"):
        eifel.load_sweep(swept)
    eifel.sweep(SWEEP, out=swept)
    assert contents(swept) == whole


def test_a_surplus_shard_is_no_result(swept: Path) -> None:
    whole = contents(swept)
    shutil.copy(swept / "runs-000001.parquet", swept / "runs-000002.parquet")
    with pytest.raises(BadInputError, match=r"runs-000002\.parquet: not as it was written"):
        eifel.load_sweep(swept)
    eifel.sweep(SWEEP, out=swept)
    assert contents(swept) == whole


@pytest.mark.parametrize("text", ["null", "[]", "3", "{}", '"sweep"', "", "{", '{"identity": 3}'])
def test_a_manifest_that_is_none_is_one_line(text: str, swept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = contents(swept)
    (swept / "sweep.json").write_text(text)
    with pytest.raises(BadInputError, match=r"sweep\.json: damaged: .*") as refused:
        eifel.load_sweep(swept)
    assert "\n" not in str(refused.value)
    # Files of another sweep stay untouched.
    (swept.parent / "sweep.toml").write_text('scenario = "scenario.toml"\n')
    (swept.parent / "scenario.toml").write_text(eifel_toml())
    assert main(["sweep", str(swept.parent / "sweep.toml"), "--out", str(swept)]) == BAD_INPUT
    assert "sweep.json: damaged" in capsys.readouterr().err
    eifel.sweep(SWEEP, out=swept)
    assert contents(swept) == whole


def eifel_toml() -> str:
    from eifel import toml

    return toml.dumps(SCENARIO)


def test_the_checksums_are_those_of_sha256sum(swept: Path) -> None:
    done = subprocess.run(["sha256sum", "--check", "--strict", "shards.sha256"], cwd=swept, check=False)
    assert done.returncode == 0


def test_leftovers_of_the_dead_are_removed(swept: Path) -> None:
    whole = contents(swept)
    with subprocess.Popen(["true"]) as gone:
        pass
    alive = swept / f".runs-000001.parquet.partial-{os.getppid()}"
    for left in (swept / f".runs-000000.parquet.partial-{gone.pid}", alive):
        left.write_bytes(b"half of it")
    eifel.sweep(SWEEP, out=swept)
    assert contents(swept) == {**whole, alive.name: b"half of it"}


def test_a_file_is_on_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    did: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def synced(handle: int) -> None:
        did.append(f"sync {Path(f'/proc/self/fd/{handle}').readlink().name}")
        fsync(handle)

    def renamed(path: Path, target: Path) -> Path:
        did.append(f"rename to {target.name}")
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", renamed)
    files.put(tmp_path / "file", b"content")
    assert did == [f"sync .file.partial-{os.getpid()}", "rename to file", f"sync {tmp_path.name}"]


def test_a_pipe_is_written_to_and_a_link_stays_one(tmp_path: Path) -> None:
    pipe, file, link = (tmp_path / name for name in ("pipe", "file", "link"))
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        files.put(pipe, b"content")
        assert reader.communicate()[0] == b"content"
    assert pipe.is_fifo()
    file.write_bytes(b"before")
    link.symlink_to(file)
    files.put(link, b"after")
    assert link.is_symlink() and file.read_bytes() == b"after"


def test_no_damaged_artefact_is_read(tmp_path: Path) -> None:
    artefact = artefacts()["responding.figure4a"]
    measured = reproduce(artefact, out=tmp_path, pictures=())
    folder = tmp_path / artefact.id
    key = store.key_of(artefact, measured.seed, 1)
    assert store.read(tmp_path, artefact, key) is not None
    kept = [folder / store.MANIFEST, *sorted(folder.glob("run0/*"))]
    assert len(kept) > 5
    for file in kept:
        content = file.read_bytes()
        for place in range(0, len(content), max(1, len(content) // 20)):
            damaged = bytearray(content)
            damaged[place] ^= 1 << place % 8
            file.write_bytes(damaged)
            assert store.read(tmp_path, artefact, key) is None, (file.name, place)
        file.write_bytes(content)
        file.unlink()
        assert store.read(tmp_path, artefact, key) is None, file.name
        file.write_bytes(content)
    assert store.read(tmp_path, artefact, key) is not None
    (folder / store.MANIFEST).write_text("null")
    again = reproduce(artefact, out=tmp_path, pictures=())
    assert json.dumps(again.json()["rows"]) == json.dumps(measured.json()["rows"])
    assert store.read(tmp_path, artefact, key) is not None
    # Another version's key has other fields, with a correct digest.
    manifest = json.loads((folder / store.MANIFEST).read_text())
    del manifest["sha256"]
    manifest["key"]["flavour"] = "plain"
    (folder / store.MANIFEST).write_text(json.dumps({**manifest, "sha256": store._digest(manifest)}))
    assert store.read(tmp_path, artefact, key) is None


def test_half_made_artefacts_of_the_dead_are_removed(tmp_path: Path) -> None:
    with subprocess.Popen(["true"]) as gone:
        pass
    for name in ("partial", "old"):
        left = tmp_path / f".responding.figure4a.{name}-{gone.pid}"
        left.mkdir()
        (left / "runs.parquet").write_bytes(b"half of it")
    reproduce("responding.figure4a", out=tmp_path, pictures=())
    assert [file.name for file in tmp_path.iterdir()] == ["responding.figure4a"]
