"""Executors of a sweep's shards: this machine, or a Dask cluster. Both return the same bytes."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from threading import Event
from typing import Protocol

from eifel import store
from eifel.errors import BadInputError
from eifel.store import engine_build

_ADDRESS = re.compile(r"([a-z]+://)?[^\s/:]+:\d{1,5}|[a-z]+://\[[0-9a-fA-F:]+\]:\d{1,5}")
Done = tuple[int, bytes]
"""The number of a shard, and the content of its file."""


class Shard(Protocol):
    """Work that is done and stored as a whole: runs of a sweep, or a file of a folder of captures."""

    @property
    def number(self) -> int: ...

    @property
    def runs(self) -> int: ...

    def do(self, threads: int | None = None, progress: Callable[[int, int], object] | None = None) -> bytes:
        """Returns the content of its file. Calls `progress` with the finished runs and all of them."""
        ...


class SweepError(RuntimeError):
    """Something other than the runs ended a sweep early. Finished shards are stored."""


class Executor(Protocol):
    def done(self, shards: Iterable[Shard], progress: Callable[[int], object]) -> Iterator[Done]:
        """Runs all shards. Calls `progress` with the number of additional finished runs."""
        ...


class Local:
    """All cores of this machine, or some threads, one shard after another."""

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads

    def done(self, shards: Iterable[Shard], progress: Callable[[int], object]) -> Iterator[Done]:
        """Runs the shards in order."""
        for shard in shards:
            reported = 0

            def advance(done: int, _total: int) -> None:
                nonlocal reported
                progress(done - reported)
                reported = done

            content = shard.do(self.threads, advance)
            yield shard.number, content


class Cores:
    """All cores of this machine, or some, each with one shard after another."""

    def __init__(self, cores: int | None = None) -> None:
        self.cores = cores or os.cpu_count() or 1

    def done(self, shards: Iterable[Shard], progress: Callable[[int], object]) -> Iterator[Done]:
        """Does the shards as cores become free."""
        stopped = Event()

        def advance(_done: int, _total: int) -> None:
            if stopped.is_set():
                raise SweepError("stopped")

        waiting = iter(shards)
        running: dict[Future[bytes], Shard] = {}
        with ThreadPoolExecutor(self.cores) as pool:
            try:
                while True:
                    for shard in islice(waiting, self.cores - len(running)):
                        running[pool.submit(shard.do, 1, advance)] = shard
                    if not running:
                        return
                    finished, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in finished:
                        shard = running.pop(future)
                        content = future.result()
                        progress(shard.runs)
                        yield shard.number, content
            finally:
                # After an error or an interrupt, no shard goes on.
                stopped.set()


class Dask:
    """The workers of a Dask cluster. A task is a shard, not a run. A worker that dies loses its current shard only."""

    AHEAD = 4
    """Shards queued per thread of the cluster: workers never wait, and the scheduler holds few shards."""

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise BadInputError("--dask needs Dask's distributed: pip install 'eifel[dask]'") from None
        if not _ADDRESS.fullmatch(address):
            # Closing a client that was never connected takes 20 s.
            raise BadInputError(f"--dask {address}: expected the address of a scheduler, as tcp://host:8786")
        try:
            self.client = Client(address, timeout="10s", set_as_default=False)
        except (OSError, ValueError) as error:
            raise BadInputError(f"--dask {address}: no scheduler there: {error}") from None
        engines = self.client.run(_build_of_worker, on_error="return")
        if not engines:
            self.client.close()
            raise BadInputError(f"--dask {address}: the cluster has no workers")
        for worker, engine in engines.items():
            if engine != engine_build():
                self.client.close()
                raise BadInputError(
                    f"--dask {address}: worker {worker} has {engine}, here it is {engine_build()};"
                    " install the same wheel on every machine"
                )

    def done(self, shards: Iterable[Shard], progress: Callable[[int], object]) -> Iterator[Done]:
        """Runs the shards as workers become free."""
        from distributed import CancelledError, KilledWorker, as_completed
        from distributed.comm import CommClosedError

        waiting = iter(shards)
        runs: dict[str, Shard] = {}
        handed = as_completed([], loop=self.client.loop)
        failed: list[str] = []

        def hand_out(count: int) -> None:
            for _ in range(count):
                shard = next(waiting, None)
                if shard is None:
                    return
                future = self.client.submit(_do, shard, engine_build(), pure=False, retries=3)
                runs[future.key] = shard
                handed.add(future)

        try:
            hand_out(self.AHEAD * max(1, sum(self.client.nthreads().values())))
            while runs:
                future = next(handed)
                shard = runs.pop(future.key)
                hand_out(1)
                try:
                    content = future.result()
                except (KilledWorker, RuntimeError) as error:
                    failed.append(f"shard {shard.number}: {error}")
                    continue
                future.release()
                progress(shard.runs)
                yield shard.number, content
            if failed:
                raise SweepError(f"{len(failed)} shards could not be done: {failed[0]}")
        except (CommClosedError, CancelledError, TimeoutError, StopIteration) as error:
            raise SweepError(f"the Dask scheduler is gone ({type(error).__name__})") from error
        finally:
            self.client.close()


def _build_of_worker() -> str:
    return store.engine_build()


def _do(shard: Shard, engine: str) -> bytes:
    """Runs a shard on a worker, which may have joined later than the others."""
    if _build_of_worker() != engine:
        raise RuntimeError(f"this worker has engine {_build_of_worker()}, the sweep is of {engine}")
    return shard.do(threads=1)
