"""Checks of claims about recorded runs."""

from collections.abc import Callable

from eifel.papers.artefact import Measured
from eifel.result import Result

Check = Callable[[Measured], bool]


def of(question: Callable[[Result], bool]) -> Check:
    """Turns a predicate on the first run into a check."""
    return lambda measured: question(measured.result())


def number(name: str, compare: Callable[[float], bool]) -> Check:
    """Turns a predicate on a number of the first run's summary into a check."""
    return lambda measured: compare(float(measured.result().main[name]))


def count(name: str, expected: int) -> Check:
    """Checks that a number of the first run's summary has this value."""
    return number(name, lambda found: found == expected)


def less(column: str, than: str, share: float = 1.0) -> Check:
    """Checks that the drawn run has less than `share` of another run's value in a column."""
    return lambda measured: measured.mean(column, run="drawn") < share * measured.mean(column, run=than)
