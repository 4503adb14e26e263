import argparse
import io
from pathlib import Path

import pytest
from rich.console import Console

from eifel import store
from eifel.cli.reproduce import MOST_ROWS, _chosen, show, tally
from eifel.documents import failing as failing_claims
from eifel.documents import stored
from eifel.errors import BadInputError
from eifel.papers import artefacts, failing
from eifel.papers.artefact import Artefact, Column, Measured, MeasuredRow, Row
from eifel.reproduction import reproduce
from eifel.statistics import Mean

TABLE, FIGURE = "responding.table1", "responding.figure1a"


@pytest.fixture
def calls(fake, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Records the calls of the engine."""
    made: list[str] = []
    for name in ("run", "run_many"):
        real = getattr(fake, name)
        monkeypatch.setattr(fake, name, lambda *a, real=real, name=name, **k: (made.append(name), real(*a, **k))[1])
    return made


def test_measured_beside_published(calls: list[str]) -> None:
    measured = reproduce(TABLE, repetitions=20)
    assert calls == ["run_many"]
    row = measured.json()["rows"][0]
    assert row["keys"] == {"recovery": "reno-sack", "eifel": False}
    assert row["published"]["time_s"] == 138.0
    assert 130 < row["measured"]["time_s"] < 150
    low, high = row["interval95"]["time_s"]
    assert low < row["measured"]["time_s"] < high
    assert row["agrees"]["segments_sent"] is True
    assert [claim["holds"] for claim in measured.json()["claims"]] == [True, True, True]
    assert {"id", "title", "source", "columns", "fitted", "settings", "repetitions", "seed", "elapsed_s"} <= set(
        measured.json()
    )


def test_a_value_outside_its_tolerance_is_marked(calls: list[str]) -> None:
    measured = reproduce("responding.table3", repetitions=5)
    assert measured.json()["rows"][2]["agrees"]["time_s"] is False
    assert measured.json()["claims"][0]["holds"] is False


def test_what_does_not_hold_is_counted_in_one_line(calls: list[str]) -> None:
    """Of table 3's claims the first fails here, and one value is outside of its tolerance."""
    holding, wrong = reproduce(TABLE, repetitions=20), reproduce("responding.table3", repetitions=5)
    claims = [claim["holds"] for claim in wrong.claims()]
    values = [agrees for row in wrong.json()["rows"] for agrees in row["agrees"].values() if agrees is not None]
    kept = len([agrees for row in holding.json()["rows"] for agrees in row["agrees"].values() if agrees is not None])
    assert claims.count(False) > 0 and values.count(False) > 0
    said = tally([holding, wrong])
    count = 3 + len(claims)
    assert said.startswith(f"claims: {count - claims.count(False)} of {count} hold; not in responding.table3 (")
    assert f" of {kept + len(values)} hold" in said and "\n" not in said
    assert tally([]) == "nothing is judged"


def test_failing_claims_of_what_is_left_out_are_counted_in_the_same_line(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ("sctp.figure14a", "sctp.figure14b", "live.linux")
    long = [one for name, one in artefacts().items() if name in asked]
    monkeypatch.setattr("eifel.cli.reproduce.failing", lambda: {"sctp.figure14a": 2, "sctp.figure14b": 1})
    count = sum(len(one.claims) for one in long if not one.is_live)
    said = f"claims left out (--all): {count - 3} of {count} held when last measured"
    assert tally([], long) == said
    more = [*long, artefacts()["sctp.figure12"], artefacts()["sctp.figure13a"]]
    assert tally([], more) == f"{said}; those of 2 artefacts are not stored"


def test_the_failing_claims_of_what_takes_minutes_are_those_of_its_stored_rows() -> None:
    asked = {one.id for one in failing_claims.asked()}
    assert failing().keys() <= asked
    store = stored.read()
    kept = {name for name in asked if "failing" in store.get(name, {})}
    assert len(kept) > 10
    assert {name: failing()[name] for name in kept} == {name: store[name]["failing"] for name in kept}


def test_a_claim_that_cannot_be_looked_for_does_not_hold(calls: list[str]) -> None:
    claims = reproduce("responding.figure2").json()["claims"]
    assert all(isinstance(claim["holds"], bool) for claim in claims)
    never = reproduce("responding.figure6a").json()["claims"]
    assert not all(claim["holds"] for claim in never)


@pytest.mark.parametrize("name", [TABLE, FIGURE])
def test_a_stored_artefact_is_not_measured_again(calls: list[str], tmp_path: Path, name: str) -> None:
    first = reproduce(name, repetitions=3, out=tmp_path)
    asked = len(calls)
    second = reproduce(name, repetitions=3, out=tmp_path)
    assert len(calls) == asked
    assert second.json() == first.json()
    reproduce(name, repetitions=3, out=tmp_path, seed=9)
    assert len(calls) > asked
    asked = len(calls)
    reproduce(name, repetitions=3, out=tmp_path, seed=9, fresh=True)
    assert len(calls) > asked


def test_another_number_of_repetitions_is_another_result(calls: list[str], tmp_path: Path) -> None:
    reproduce(TABLE, repetitions=3, out=tmp_path)
    reproduce(TABLE, repetitions=4, out=tmp_path)
    assert calls == ["run_many"] * 2
    assert reproduce(TABLE, repetitions=4, out=tmp_path).repetitions == 4


def test_another_engine_measures_again(calls: list[str], tmp_path: Path, fake, monkeypatch: pytest.MonkeyPatch) -> None:
    reproduce(TABLE, repetitions=3, out=tmp_path)
    monkeypatch.setattr(fake, "version", lambda: "0.0.1")
    store.engine_build.cache_clear()
    reproduce(TABLE, repetitions=3, out=tmp_path)
    assert calls == ["run_many"] * 2


@pytest.mark.parametrize("damage", ["manifest.json", "runs.parquet"])
def test_a_damaged_artefact_is_measured_again(calls: list[str], tmp_path: Path, damage: str) -> None:
    reproduce(TABLE, repetitions=3, out=tmp_path)
    (tmp_path / TABLE / damage).write_bytes(b"half")
    assert store.read(tmp_path, artefacts()[TABLE]) is None
    reproduce(TABLE, repetitions=3, out=tmp_path)
    assert calls == ["run_many"] * 2
    assert store.read(tmp_path, artefacts()[TABLE]) is not None


def test_an_interrupted_measurement_keeps_the_stored_artefact(calls: list[str], tmp_path: Path) -> None:
    reproduce(TABLE, repetitions=3, out=tmp_path)

    def press(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce(TABLE, repetitions=5, out=tmp_path, progress=press)
    assert [entry.name for entry in tmp_path.iterdir()] == [TABLE]
    assert store.read(tmp_path, artefacts()[TABLE]).repetitions == 3


def test_a_failed_write_keeps_the_stored_artefact(
    calls: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reproduce(TABLE, repetitions=3, out=tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store, "_write_json", full)
    with pytest.raises(OSError, match="No space"):
        reproduce(TABLE, repetitions=5, out=tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == [TABLE]
    assert store.read(tmp_path, artefacts()[TABLE]).repetitions == 3


def test_traces_are_needed_and_kept(calls: list[str], tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"cellular\.trace needs link traces"):
        reproduce("cellular.trace")
    with pytest.raises(BadInputError, match=r"none\.down: No such file"):
        reproduce("cellular.trace", traces=[tmp_path / "none.down"])
    trace = tmp_path / "bus.down"
    trace.write_text("5\n")
    out = tmp_path / "out"
    measured = reproduce("cellular.trace", traces=[trace], out=out)
    assert len(measured.rows) == 6
    # A report is written without the trace.
    trace.unlink()
    again = store.read(out, artefacts()["cellular.trace"])
    assert again.json() == measured.json()


def test_bad_requests() -> None:
    with pytest.raises(BadInputError, match=r"no such artefact; there is: .*responding\.table1"):
        reproduce("responding.table9")
    with pytest.raises(BadInputError, match="0 repetitions"):
        reproduce(TABLE, repetitions=0)


@pytest.mark.parametrize(("rows", "printed"), [(MOST_ROWS, True), (MOST_ROWS + 1, False)])
def test_a_terminal_gets_no_more_rows_than_anybody_reads(rows: int, printed: bool) -> None:
    made = tuple(Row({"place": number}, {}) for number in range(rows))
    artefact = Artefact("paper.map", "A map", "nobody", (Column("goodput", "Goodput"),), made)
    measured = Measured(artefact, [MeasuredRow(row, {"goodput": Mean(1, None, 1)}) for row in made], [], 1, 1, 0.5)
    out = io.StringIO()
    show(Console(file=out, width=120), measured)
    assert (f"{rows - 1}  " in out.getvalue()) == printed
    assert (f"{rows} rows: in the report" in out.getvalue()) != printed


def test_traces_may_be_given_where_one_of_the_artefacts_chosen_is_measured_over_them() -> None:
    ids = ["responding.table1", "thesis.timers"]
    options = argparse.Namespace(ids=ids, trace=["a.down"], all=False)
    assert [artefact.id for artefact in _chosen(options)] == ids
    with pytest.raises(BadInputError, match="none of the artefacts chosen is measured over traces"):
        _chosen(argparse.Namespace(ids=ids[:1], trace=["a.down"], all=False))


def test_without_ids_published_numbers_come_first_and_then_what_is_soon_done() -> None:
    chosen = _chosen(argparse.Namespace(ids=[], trace=[], all=False))
    published = [any(row.published for row in artefact.rows) for artefact in chosen]
    runs = [len(artefact.rows) * artefact.repetitions for artefact in chosen]
    first = published.count(True)
    assert 0 < first < len(chosen) and all(published[:first])
    assert runs[:first] == sorted(runs[:first]) and runs[first:] == sorted(runs[first:])
