//! Grants that are classes of Python.

use super::Object;
use super::fact::nanos;
use eifel_base::time::{Duration, Instant};
use eifel_recovery::grant::Grant;
use eifel_recovery::registry::{Parameters, Provided};
use pyo3::intern;
use pyo3::prelude::*;

/// Returns what makes grants of a class.
pub(super) fn provided(class: Py<PyAny>) -> Provided {
    let make = move |parameters: &Parameters| {
        let object = Python::attach(|py| Object::new(py, &class, parameters));
        Box::new(OfPython(object)) as _
    };
    Provided::Grant(Box::leak(Box::new(make)))
}

/// An object of a class that grants.
#[derive(Clone, Debug)]
struct OfPython(Object);

impl Grant for OfPython {
    fn grants(&mut self, opened_at: Instant, now: Instant, srtt: Option<Duration>) -> bool {
        let asked = (nanos(opened_at), nanos(now), srtt.map(Duration::as_nanos));
        Python::attach(|py| self.0.ask(py, intern!(py, "grants"), asked, Some(nanos(now))))
    }

    fn lost(&mut self, sent_at: Instant) {
        Python::attach(|py| self.0.ask::<Py<PyAny>>(py, intern!(py, "lost"), (nanos(sent_at),), None));
    }
}
