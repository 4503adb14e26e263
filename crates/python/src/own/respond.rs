//! Responses that are classes of Python.

use super::Object;
use super::fact::cause;
use eifel_recovery::congest::Window;
use eifel_recovery::detect::NeedlessShare;
use eifel_recovery::episode::Saved;
use eifel_recovery::registry::{Parameters, Provided};
use eifel_recovery::respond::{Adjust, Response, Verdict};
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// Returns what makes responses of a class.
pub(super) fn provided(class: Py<PyAny>, described: &Bound<'_, PyAny>) -> PyResult<Provided> {
    let restores_growth = described.get_item("restores_growth")?.extract()?;
    let make = move |parameters: &Parameters| {
        let object = Python::attach(|py| Object::new(py, &class, parameters));
        Box::new(OfPython { object, restores_growth }) as _
    };
    Ok(Provided::Respond(Box::leak(Box::new(make))))
}

/// A window: cwnd, and ssthresh once it is set. Python has the same as a class.
type Plain = (u64, Option<u64>);

fn plain(window: &Window) -> Plain {
    (window.cwnd, (window.ssthresh != u64::MAX).then_some(window.ssthresh))
}

fn window((cwnd, ssthresh): Plain) -> Window {
    Window { cwnd, ssthresh: ssthresh.unwrap_or(u64::MAX) }
}

/// An object of a class that responds.
#[derive(Clone, Debug)]
struct OfPython {
    object: Object,
    restores_growth: bool,
}

/// Returns the arguments of a class of Python, by name.
fn verdict<'py>(py: Python<'py>, of: &Verdict) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("cause", cause(of.cause))?;
    fields.set_item("timeouts", of.timeouts)?;
    fields.set_item("fast_retransmitted", of.fast_retransmitted)?;
    fields.set_item("flight", of.flight)?;
    fields.set_item("acked", of.acked)?;
    fields.set_item("ece", of.ece)?;
    fields.set_item("ece_in_episode", of.ece_in_episode)?;
    fields.set_item("loss_seen", of.loss_seen)?;
    fields.set_item("before_repair", plain(&of.before_repair))?;
    fields.set_item("mss", of.mss)?;
    fields.set_item("initial_window", of.initial_window)?;
    Ok(fields)
}

fn saved<'py>(py: Python<'py>, of: &Saved) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("window", plain(&of.window))?;
    fields.set_item("reduced", plain(&of.reduced))?;
    fields.set_item("flight", of.flight)?;
    fields.set_item("peer_window", of.peer_window)?;
    fields.set_item("srtt_ns", of.estimate.map(|estimate| estimate.srtt.as_nanos()))?;
    fields.set_item("rttvar_ns", of.estimate.map(|estimate| estimate.rttvar.as_nanos()))?;
    Ok(fields)
}

impl OfPython {
    /// Makes arguments and calls a method with them. An error ends the run.
    fn ask<'py, T: FromPyObjectOwned<'py>, A: PyCallArgs<'py>>(
        &self,
        py: Python<'py>,
        method: &str,
        arguments: PyResult<A>,
    ) -> T {
        let method = PyString::intern(py, method);
        let arguments =
            arguments.unwrap_or_else(|error| super::fail(py, &error, (Some(&self.object.0), "a verdict"), None));
        self.object.ask(py, &method, arguments, None)
    }
}

impl Response for OfPython {
    fn respond(&mut self, of: &Verdict, before: &Saved, now: &Window) -> Adjust {
        Python::attach(|py| {
            let arguments = verdict(py, of).and_then(|of| Ok((of, saved(py, before)?, plain(now))));
            let (changed, reseeds): (Plain, bool) = self.ask(py, "responded", arguments);
            Adjust { window: window(changed), reseed: before.estimate.filter(|_| reseeds) }
        })
    }

    fn lets_grow(&self, of: &Verdict) -> bool {
        Python::attach(|py| self.ask(py, "let_grow", verdict(py, of).map(|of| (of,))))
    }

    fn restores_growth(&self) -> bool {
        self.restores_growth
    }

    fn respond_partly(&mut self, share: NeedlessShare, before: &Saved, now: &Window) -> Window {
        Python::attach(|py| {
            let arguments = saved(py, before).map(|before| (share.needless, share.resent, before, plain(now)));
            window(self.ask(py, "responded_partly", arguments))
        })
    }
}
