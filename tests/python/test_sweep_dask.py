"""The same sweep on a real local Dask cluster gives the same bytes, whichever worker dies."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import eifel
from eifel import sweeps
from eifel.cli import BAD_INPUT, main
from test_sweep import SWEEP, contents, written

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'eifel[dask]'")

pytestmark = pytest.mark.filterwarnings("ignore")
"""The cluster's own warnings are irrelevant here."""

MANY = {**SWEEP, "repetitions": 500, "shard_runs": 50}


@pytest.fixture
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    ) as made:
        yield made


def executor(cluster: Any) -> Any:
    from eifel.sweeps.executor import Dask

    return Dask(cluster.scheduler_address)


def test_a_worker_is_killed_and_the_bytes_are_the_same(cluster: Any, tmp_path: Path) -> None:
    eifel.sweep(MANY, out=tmp_path / "here")
    killed: list[int] = []

    def kill(done: int, total: int) -> None:
        if done > total // 4 and not killed:
            worker = next(iter(cluster.workers.values()))
            killed.append(worker.process.pid)
            os.kill(worker.process.pid, signal.SIGKILL)

    eifel.sweep(MANY, out=tmp_path / "cluster", executor=executor(cluster), progress=kill)
    assert killed
    assert contents(tmp_path / "cluster") == contents(tmp_path / "here")


def test_the_scheduler_stops_and_the_sweep_goes_on_elsewhere(cluster: Any, tmp_path: Path) -> None:
    stopped: list[int] = []

    def stop(done: int, total: int) -> None:
        if done > total // 4 and not stopped:
            stopped.append(done)
            cluster.close(timeout=10)

    with pytest.raises(sweeps.SweepError, match="scheduler is gone"):
        eifel.sweep(MANY, out=tmp_path / "cluster", executor=executor(cluster), progress=stop)
    there = contents(tmp_path / "cluster")
    assert 1 < len(there) < 80
    eifel.sweep(MANY, out=tmp_path / "cluster")
    eifel.sweep(MANY, out=tmp_path / "here")
    assert contents(tmp_path / "cluster") == contents(tmp_path / "here")


def test_a_cluster_with_another_engine_is_refused(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("eifel.sweeps.executor.engine_build", lambda: "0.0.0+other")
    address = cluster.scheduler_address
    assert main(["sweep", str(written(tmp_path)), "--out", str(tmp_path / "out"), "--dask", address]) == BAD_INPUT
    assert "install the same wheel on every machine" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_an_address_without_a_scheduler_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", str(written(tmp_path)), "--dask", "tcp://127.0.0.1:9"]) == BAD_INPUT
    assert "--dask tcp://127.0.0.1:9: no scheduler there" in capsys.readouterr().err


def test_shards_that_fail_on_their_workers_are_counted(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = executor(cluster)
    monkeypatch.setattr("eifel.sweeps.executor.engine_build", lambda: "0.0.0+other")
    failure = r"^6 shards could not be done: shard \d: this worker has engine .*, the sweep is of 0\.0\.0\+other$"
    with pytest.raises(sweeps.SweepError, match=failure):
        eifel.sweep(SWEEP, out=tmp_path / "out", executor=workers)
