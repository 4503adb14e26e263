//! Drives a retransmission timer alone over a series of samples.

use crate::ScenarioError;
use eifel_base::time::{Duration, Instant};
use eifel_recovery::congest::Window;
use eifel_recovery::registry::part;
use eifel_recovery::rto::Sample;
use eifel_recovery::rto::series::{Arrival, Settings, drive};
use eifel_recovery::rtt::Sampling;
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;

/// A column of the series.
type Column<'py> = PyReadonlyArray1<'py, i64>;

/// The columns of a series, with a value per sample.
const COLUMNS: [&str; 6] = ["t_ns", "rtt_ns", "acked", "cwnd", "ssthresh", "flight"];

/// Runs the timer of a sender's table over a series of samples.
#[pyfunction]
#[pyo3(signature = (sender, series, *, mss, one_a_round_trip, detected))]
pub(crate) fn timer_series<'py>(
    py: Python<'py>,
    sender: &str,
    series: BTreeMap<String, Column<'py>>,
    mss: u32,
    one_a_round_trip: bool,
    detected: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let choice = eifel_sim::scenario::timer(sender).map_err(|error| ScenarioError::new_err(error.to_string()))?;
    let mut timer = part::rto(&choice).map_err(|error| ScenarioError::new_err(error.to_string()))?;
    let mut columns = Vec::new();
    for name in COLUMNS {
        let Some(column) = series.get(name) else {
            return Err(PyValueError::new_err(format!("{name}: no such column; needed: {}", COLUMNS.join(", "))));
        };
        columns.push((name, column.as_slice()?));
    }
    let count = columns[0].1.len();
    for (name, column) in &columns {
        if column.len() != count {
            return Err(PyValueError::new_err(format!("{name}: {} values, but t_ns has {count}", column.len())));
        }
        // An unset threshold is -1, as in the record tables.
        let least = if *name == "ssthresh" { -1 } else { 0 };
        if let Some(row) = column.iter().position(|value| *value < least) {
            return Err(PyValueError::new_err(format!("{name}[{row}] = {}; allowed: {least} or more", column[row])));
        }
    }
    if mss == 0 {
        return Err(PyValueError::new_err("mss = 0; allowed: 1 or more"));
    }
    let at = |column: usize, row: usize| columns[column].1[row] as u64;
    let arrivals = (0..count).map(|row| Arrival {
        now: Instant::from_nanos(at(0, row)),
        sample: Sample {
            rtt: Duration::from_nanos(at(1, row)),
            acked: at(2, row),
            // As an unsigned number, -1 is the arbitrarily high initial threshold.
            window: Window { cwnd: at(3, row), ssthresh: at(4, row) },
        },
        flight: at(5, row),
    });
    let settings = Settings {
        mss,
        sampling: if one_a_round_trip { Sampling::OneARoundTrip } else { Sampling::EachAck },
        detected,
    };
    let nanos = |duration: Duration| i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
    let [mut rto, mut srtt, mut rttvar, mut rexmt] = [(); 4].map(|()| Vec::with_capacity(count));
    let mut expired = Vec::with_capacity(count);
    for point in drive(&mut *timer, &settings, arrivals) {
        rto.push(nanos(point.rto));
        srtt.push(point.estimate.map_or(-1, |estimate| nanos(estimate.srtt)));
        rttvar.push(point.estimate.map_or(-1, |estimate| nanos(estimate.rttvar)));
        rexmt.push(nanos(point.rexmt));
        expired.push(point.expired);
    }
    let dict = PyDict::new(py);
    for (name, values) in [("rto_ns", rto), ("srtt_ns", srtt), ("rttvar_ns", rttvar), ("rexmt_ns", rexmt)] {
        dict.set_item(name, values.into_pyarray(py))?;
    }
    dict.set_item("expired", expired.into_pyarray(py))?;
    Ok(dict)
}
