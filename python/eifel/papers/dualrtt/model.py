"""The log-linear model of tau (equations 3 to 6), refitted, and its errors on the spikes of all 168 settings.

The printed alpha is positive although the best tau falls with B. The model has no intercept, and
log B, which is near 12 everywhere, replaces it. The last two rows are DualRTT with the printed
equation (6). One uses the actual path, and the other the path that the sender estimates, as in
section V.B.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.papers import published
from eifel.papers.artefact import Artefact, Claim, Column, Key, Row, Studied
from eifel.papers.dualrtt import fit, grid, left_open, settings, tables4_and_5
from eifel.papers.study import Effort, Study
from eifel.runs import Runs
from eifel.statistics import Mean, percent_interval

_AS_PAPER: Mapping[str, Key] = {"fitted_to": "all 168", "model": "as in the paper"}
_INTERCEPT: Mapping[str, Key] = {"fitted_to": "all 168", "model": "with an intercept"}
_WITH_TIMEOUTS: Mapping[str, Key] = {"fitted_to": "those with timeouts", "model": "as in the paper"}
_BOTH: Mapping[str, Key] = {"fitted_to": "those with timeouts", "model": "with an intercept"}
_PRINTED: Mapping[str, Key] = {"fitted_to": "as printed", "model": "as in the paper"}
_ESTIMATED: Mapping[str, Key] = {"fitted_to": "as printed", "model": "for the path as the sender estimates it"}
_MODELS = (_AS_PAPER, _INTERCEPT, _WITH_TIMEOUTS, _BOTH, _PRINTED, _ESTIMATED)
_SAYS = published.table("dualrtt", "model")


def _find(effort: Effort) -> Mapping[str, NDArray[Any]]:
    best = fit.best(Runs(tables4_and_5.STUDY.find(effort), []))
    # Without a spurious timeout, equation (2) is zero for each tau, and the smallest is chosen as
    # elsewhere.
    everywhere = {path: best.get(path, grid.TAUS[0]) for path in grid.PATHS}
    fits = [fit.fitted(taus, intercept=intercept) for taus in (everywhere, best) for intercept in (False, True)]
    models = [*fits, fit.PUBLISHED, fit.PUBLISHED]
    # The detector takes thousandths. In the last row it computes tau itself.
    taus = [[None, *(round(m.tau(path), 3) for m in models[:-1]), settings.ESTIMATED] for path in grid.PATHS]
    asked = [(path, tau) for path, row in zip(grid.PATHS, taus, strict=True) for tau in row]
    design = grid.design("dualrtt.model", asked)
    found = grid.named(grid.PATHS, [None] * (1 + len(models))) | grid.counts(effort, design, len(models))
    found["tau"] = np.nan_to_num([tau or 0.0 for row in taus for tau in row])
    found["model"] = np.array([number for _ in grid.PATHS for number in range(1 + len(models))])
    for name in ("alpha", "lambda_", "omega", "intercept"):
        values = [0.0, *(getattr(model, name) for model in models)]
        found[name] = np.array([value for _ in grid.PATHS for value in values])
    return found


def _measure(_artefact: Artefact, found: Runs) -> list[dict[str, Mean]]:
    columns = found.columns
    spurious = int(columns["detected"][columns["model"] == 0].sum())
    rows = []
    for number in range(1, 1 + len(_MODELS)):
        here = {name: values[columns["model"] == number] for name, values in columns.items()}
        row = {
            name.rstrip("_"): Mean(float(here[name][0]), None, 1) for name in ("alpha", "lambda_", "omega", "intercept")
        }
        row["smt"] = percent_interval(int(here["missed"].sum()), spurious)
        row["tms"] = percent_interval(int(here["wrong"].sum()), spurious)
        row["untrue"] = percent_interval(int(here["untrue"].sum()), spurious)
        rows.append(row)
    return rows


_PRINTS = {
    **{name: float(_SAYS[name]) for name in ("alpha", "lambda", "omega")},
    "smt": float(_SAYS["smt_percent"]),
    "tms": float(_SAYS["tms_percent"]),
}

_STUDY = Study(_find, {"grid": tables4_and_5.STUDY.design, "models": list(map(dict, _MODELS))}, (_find, fit, grid))

ARTEFACT = Artefact(
    id="dualrtt.model",
    title="The log-linear model of tau, and how often DualRTT errs by it",
    source=f"{settings.SOURCE}, equations 3 to 6 and section V.C",
    columns=(
        Column("alpha", "alpha", digits=5),
        Column("lambda", "lambda", digits=5),
        Column("omega", "omega", digits=8),
        Column("intercept", "intercept", digits=4),
        Column("smt", "SMT, % of spurious timeouts", digits=2, relative=0.1),
        Column("tms", "TMS, %", digits=2, absolute=0.05),
        Column("untrue", "TMS by the same run, %", digits=2),
    ),
    rows=tuple(
        Row(model, published={} if model in (_INTERCEPT, _WITH_TIMEOUTS, _BOTH) else _PRINTS) for model in _MODELS
    ),
    method=Studied(_STUDY, _measure, grid.SPIKES, long=True),
    fitted=left_open.GRID,
    claims=(
        Claim(
            "without an intercept alpha is above zero, and lambda below",
            lambda m: m.mean("alpha", **_AS_PAPER) > 0 > m.mean("lambda", **_AS_PAPER),
        ),
        Claim(
            "with one, over settings that have spurious timeouts, tau falls with B and with D and rises with M",
            lambda m: m.mean("alpha", **_BOTH) < 0 and m.mean("lambda", **_BOTH) < 0 < m.mean("omega", **_BOTH),
        ),
        Claim("an intercept misses less", lambda m: m.mean("smt", **_INTERCEPT) < m.mean("smt", **_AS_PAPER)),
        Claim("TMS errors are less than one in a hundred", lambda m: all(r.means["tms"].mean < 1 for r in m.rows)),
    ),
)
