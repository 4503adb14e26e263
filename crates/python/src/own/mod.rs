//! Algorithms that are classes of Python: detectors, responses, grants and timers. `eifel.detectors`
//! finds and describes a class; here it becomes an algorithm of the registry, and its objects act.

mod detect;
mod fact;
mod grant;
mod respond;
mod timer;

use eifel_recovery::registry::{Entry, Need, Parameter, Parameters, Provider, Seam, Value, provide};
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};
use std::any::Any;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};

pub(crate) use fact::{Fact as FactClass, View as ViewClass};

/// The module that finds classes.
const MODULE: &str = "eifel.detectors";
/// Why an algorithm of Python ended a run. It unwinds the run's thread without the panic's message.
pub(crate) struct Fault(pub(crate) String);

/// Returns why an algorithm of Python ended a run, if one did.
pub(crate) fn fault(panic: &(dyn Any + Send)) -> Option<&str> {
    panic.downcast_ref::<Fault>().map(|fault| fault.0.as_str())
}

/// The entries of the classes found so far, by class and name. A class may be defined again under
/// its name, as in a notebook.
static FOUND: Mutex<BTreeMap<(usize, String), &'static Entry>> = Mutex::new(BTreeMap::new());
/// The detectors that watch over captures.
static OVER_CAPTURES: Mutex<Vec<&'static Entry>> = Mutex::new(Vec::new());

fn locked<T>(held: &'static Mutex<T>) -> std::sync::MutexGuard<'static, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

fn leaked(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

/// Makes classes of Python known to the registry.
pub(crate) fn register() {
    provide(Provider { find, over_captures: || locked(&OVER_CAPTURES).clone() });
}

/// Sets the detectors that watch over captures, by name.
#[pyfunction]
pub(crate) fn watch_captures(names: Vec<String>) -> PyResult<()> {
    let found = names.iter().map(|name| find(Seam::Detect, name)).collect::<Result<_, _>>();
    *locked(&OVER_CAPTURES) = found.map_err(pyo3::exceptions::PyValueError::new_err)?;
    Ok(())
}

fn find(seam: Seam, name: &str) -> Result<&'static Entry, String> {
    if ![Seam::Detect, Seam::Respond, Seam::Grant, Seam::Rto].contains(&seam) {
        return Err(format!(
            "{name}: a class of Python can detect, respond, grant or be a timer, and not {}",
            seam.name()
        ));
    }
    Python::attach(|py| found(py, seam, name).map_err(|error| said(py, &error)))
}

/// Returns the message of an error, in one line.
fn said(py: Python<'_>, error: &PyErr) -> String {
    error.value(py).to_string().replace('\n', " ")
}

fn found(py: Python<'_>, seam: Seam, name: &str) -> PyResult<&'static Entry> {
    let described = py.import(MODULE)?.call_method1("describe", (name, seam.name()))?;
    let class: Bound<'_, PyAny> = described.get_item("class")?;
    let key = (class.as_ptr() as usize, name.to_owned());
    if let Some(entry) = locked(&FOUND).get(&key) {
        return Ok(entry);
    }
    let text = |key: &str| described.get_item(key)?.extract::<String>().map(leaked);
    let needs = match described.get_item("needs")?.extract::<Option<String>>()?.as_deref() {
        Some("timestamps") => Some(Need::Timestamps),
        Some("marks") => Some(Need::Marks),
        Some("sack") => Some(Need::Sack),
        Some("dsack") => Some(Need::Duplicates),
        _ => None,
    };
    let probes: bool = described.get_item("probes")?.extract()?;
    let mut parameters = Vec::new();
    for one in described.get_item("parameters")?.try_iter()? {
        parameters.push(parameter(&one?)?);
    }
    let name = leaked(name.to_owned());
    // The class is kept, so that no other one gets its address.
    let class: Py<PyAny> = class.unbind();
    let make = match seam {
        Seam::Respond => respond::provided(class, &described)?,
        Seam::Grant => grant::provided(class),
        Seam::Rto => timer::provided(class, &described)?,
        _ => detect::provided(class, name, &described)?,
    };
    let words = (name, text("summary")?, text("source")?);
    let entry = Entry::provided(words, Vec::leak(parameters), (needs, probes), make);
    let entry: &'static Entry = Box::leak(Box::new(entry));
    locked(&FOUND).insert(key, entry);
    Ok(entry)
}

/// Reads a parameter of a class's constructor: its name, and its default.
fn parameter(described: &Bound<'_, PyAny>) -> PyResult<Parameter> {
    let (name, kind, default): (String, String, Bound<'_, PyAny>) = described.extract()?;
    let name = leaked(name);
    let summary = "as the class says";
    Ok(match kind.as_str() {
        "switch" => Parameter::switch(name, summary, default.extract()?),
        "milliseconds" => {
            let most = eifel_base::time::Duration::from_secs(1_000_000);
            let default = eifel_base::time::Duration::from_nanos((default.extract::<f64>()? * 1e6).round() as u64);
            let kind = eifel_recovery::registry::Kind::Milliseconds {
                default,
                minimum: eifel_base::time::Duration::ZERO,
                maximum: most,
            };
            Parameter { name, summary, kind }
        }
        _ => Parameter::integer(name, summary, default.extract()?, (0, i64::MAX)),
    })
}

/// An object of a class. It holds all state of its algorithm.
struct Object(Py<PyAny>);

impl Object {
    /// Makes an object with the parameters of a scenario. An error ends the run.
    fn new(py: Python<'_>, class: &Py<PyAny>, parameters: &Parameters) -> Self {
        Self::made(py, class, parameters).unwrap_or_else(|error| fail(py, &error, (None, "its constructor"), None))
    }

    fn made(py: Python<'_>, class: &Py<PyAny>, parameters: &Parameters) -> PyResult<Self> {
        let given = PyDict::new(py);
        for (name, value) in parameters.iter() {
            match value {
                Value::Integer(number) => given.set_item(name, number)?,
                Value::Duration(time) => given.set_item(name, time.as_nanos() as f64 / 1e6)?,
                Value::Switch(on) => given.set_item(name, on)?,
                Value::Word(word) => given.set_item(name, word)?,
            }
        }
        Ok(Self(class.bind(py).call((), Some(&given))?.unbind()))
    }

    /// Calls a method, and reads what it returns. An error ends the run, at nanosecond `at` of it.
    fn ask<'py, T: FromPyObjectOwned<'py>>(
        &self,
        py: Python<'py>,
        method: &Bound<'py, PyString>,
        arguments: impl PyCallArgs<'py>,
        at: Option<u64>,
    ) -> T {
        let answer = self.0.bind(py).call_method1(method, arguments);
        answer
            .and_then(|answer| answer.extract().map_err(Into::into))
            .unwrap_or_else(|error| fail(py, &error, (Some(&self.0), &method.to_string()), at))
    }
}

impl Clone for Object {
    fn clone(&self) -> Self {
        Python::attach(|py| {
            let copied = py.import("copy").and_then(|copy| copy.call_method1("deepcopy", (&self.0,)));
            copied
                .map(|object| Self(object.unbind()))
                .unwrap_or_else(|error| fail(py, &error, (Some(&self.0), "a copy of it"), None))
        })
    }
}

impl std::fmt::Debug for Object {
    /// Shows all of its state: searches compare states by their `Debug`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = Python::attach(|py| {
            let state = py.import(MODULE).and_then(|module| module.call_method1("state", (&self.0,)));
            match state.and_then(|state| Ok(state.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes().to_vec())) {
                Ok(bytes) => bytes,
                Err(error) => fail(py, &error, (Some(&self.0), "its state"), None),
            }
        });
        write!(f, "{state:?}")
    }
}

/// Ends the run.
fn fail(py: Python<'_>, error: &PyErr, (object, during): (Option<&Py<PyAny>>, &str), at: Option<u64>) -> ! {
    // With its traceback, which names the line.
    let raised = error.clone_ref(py).into_value(py);
    let explained =
        |module: Bound<'_, PyModule>| Ok(module.call_method1("explain", (raised, object, during, at))?.to_string());
    let told = py.import(MODULE).and_then(explained);
    resume_unwind(Box::new(Fault(told.unwrap_or_else(|other| said(py, &other)))))
}
