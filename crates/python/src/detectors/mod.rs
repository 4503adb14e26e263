//! Detectors that are classes of Python. `eifel.detectors` finds and describes a class; here it
//! becomes an algorithm of the registry, and its objects observe.

mod fact;

use eifel_recovery::detect::{Detector, Judgement, NeedlessShare, Outcome};
use eifel_recovery::fact::{self as facts, Acked, Cause, Echo, Mark};
use eifel_recovery::registry::{Entry, MakeDetector, Need, Parameter, Parameters, Provider, Seam, Value, provide};
use eifel_recovery::view::View as Seen;
use fact::{Fact, View, cause, settles};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use std::any::Any;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};

pub(crate) use fact::{Fact as FactClass, View as ViewClass};

/// The module that finds classes.
const MODULE: &str = "eifel.detectors";
/// Different reasons that a detector may give. A reason is a fixed sentence.
const MOST_REASONS: usize = 100;

/// Why a detector of Python ended a run. It unwinds the run's thread without the panic's message.
pub(crate) struct Fault(pub(crate) String);

/// Returns why a detector of Python ended a run, if one did.
pub(crate) fn fault(panic: &(dyn Any + Send)) -> Option<&str> {
    panic.downcast_ref::<Fault>().map(|fault| fault.0.as_str())
}

/// The entries of the classes found so far, by class and name. A class may be defined again under
/// its name, as in a notebook.
static FOUND: Mutex<BTreeMap<(usize, String), &'static Entry>> = Mutex::new(BTreeMap::new());
/// The detectors that watch over captures.
static OVER_CAPTURES: Mutex<Vec<&'static Entry>> = Mutex::new(Vec::new());
/// The reasons of verdicts, by detector.
static REASONS: Mutex<BTreeMap<&'static str, Vec<&'static str>>> = Mutex::new(BTreeMap::new());

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
    if seam != Seam::Detect {
        return Err(format!("{name}: a class of Python can detect, and not {}", seam.name()));
    }
    Python::attach(|py| found(py, name).map_err(|error| said(py, &error)))
}

/// Returns the message of an error, in one line.
fn said(py: Python<'_>, error: &PyErr) -> String {
    error.value(py).to_string().replace('\n', " ")
}

fn found(py: Python<'_>, name: &str) -> PyResult<&'static Entry> {
    let described = py.import(MODULE)?.call_method1("describe", (name,))?;
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
    let hears = Hears {
        of: name,
        every_ack: described.get_item("every_ack")?.extract()?,
        idle: described.get_item("idle")?.extract()?,
        signals: described.get_item("signals")?.extract()?,
    };
    // The class is kept, so that no other one gets its address.
    let class: Py<PyAny> = class.unbind();
    let make: &'static MakeDetector =
        Box::leak(Box::new(move |parameters: &Parameters| Box::new(OfPython::new(&class, parameters, hears)) as _));
    let words = (name, text("summary")?, text("source")?);
    let entry = Entry::provided_detector(words, Vec::leak(parameters), (needs, probes), make);
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

/// A class, and what it wants to hear of.
#[derive(Clone, Copy, Debug)]
struct Hears {
    /// Its name.
    of: &'static str,
    /// Whether every ACK is shown, and not only those of an episode.
    every_ack: bool,
    /// Whether it says itself when it is idle.
    idle: bool,
    /// Whether it follows loss signals.
    signals: bool,
}

/// An object of a class that detects.
struct OfPython {
    object: Py<PyAny>,
    fact: Py<Fact>,
    view: Py<View>,
    hears: Hears,
    /// Whether it waits for a retransmission.
    idle: bool,
}

impl OfPython {
    fn new(class: &Py<PyAny>, parameters: &Parameters, hears: Hears) -> Self {
        Python::attach(|py| {
            Self::made(py, class, parameters, hears)
                .unwrap_or_else(|error| fail(py, &error, (None, "its constructor"), None))
        })
    }

    fn made(py: Python<'_>, class: &Py<PyAny>, parameters: &Parameters, hears: Hears) -> PyResult<Self> {
        let given = PyDict::new(py);
        for (name, value) in parameters.iter() {
            match value {
                Value::Integer(number) => given.set_item(name, number)?,
                Value::Duration(time) => given.set_item(name, time.as_nanos() as f64 / 1e6)?,
                Value::Switch(on) => given.set_item(name, on)?,
                Value::Word(word) => given.set_item(name, word)?,
            }
        }
        let object = class.bind(py).call((), Some(&given))?.unbind();
        Self::of(py, object, hears, !hears.every_ack)
    }

    fn of(py: Python<'_>, object: Py<PyAny>, hears: Hears, idle: bool) -> PyResult<Self> {
        Ok(Self { object, fact: Py::new(py, Fact::new())?, view: Py::new(py, View::new())?, hears, idle })
    }

    fn asked(&mut self, py: Python<'_>, fact: &facts::Fact<'_>, seen: &Seen) -> PyResult<Judgement> {
        self.fact.bind(py).borrow_mut().fill(fact);
        self.view.bind(py).borrow_mut().fill(seen);
        let object = self.object.bind(py);
        let answer = object.call_method1(intern!(py, "observe"), (&self.fact, &self.view))?;
        let judgement = judgement(self.hears.of, &answer)?;
        self.idle = match self.hears {
            Hears { every_ack: true, .. } => false,
            Hears { idle: true, .. } => object.call_method0(intern!(py, "idle"))?.is_truthy()?,
            _ if settles(judgement) => true,
            _ => self.idle && !matches!(fact, facts::Fact::Retransmitted { .. }),
        };
        Ok(judgement)
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

/// Reads what `observe` returned: None, or a tuple that begins with a word.
fn judgement(detector: &'static str, answer: &Bound<'_, PyAny>) -> PyResult<Judgement> {
    if answer.is_none() {
        return Ok(Judgement::Undecided);
    }
    let wrong = || {
        let shown = answer.repr().map_or_else(|_| "something else".to_owned(), |shown| shown.to_string());
        pyo3::exceptions::PyTypeError::new_err(format!(
            "observe returned {shown}; expected None, or what spurious(), genuine(), probe() or another verdict of \
             eifel.Detector returns"
        ))
    };
    let tuple = answer.cast::<PyTuple>().map_err(|_| wrong())?;
    let word: String = tuple.get_item(0).and_then(|word| word.extract()).map_err(|_: PyErr| wrong())?;
    let reason =
        || tuple.get_item(1)?.extract::<String>().map_err(|_| wrong()).and_then(|text| reason(detector, &text));
    Ok(match word.as_str() {
        "probe" => Judgement::Probe,
        "spurious" => Judgement::Settled(Outcome::Spurious, reason()?),
        "genuine" => Judgement::Settled(Outcome::Genuine, reason()?),
        "nothing-resent" => Judgement::NothingResent(reason()?),
        "genuine-loss-within" => Judgement::GenuineLossWithin(reason()?),
        "distrusted" => Judgement::Distrusted(reason()?),
        "mixed" => Judgement::Mixed(NeedlessShare {
            needless: tuple.get_item(1)?.extract()?,
            resent: tuple.get_item(2)?.extract()?,
        }),
        _ => return Err(wrong()),
    })
}

/// Returns the reason as a text that lasts.
fn reason(detector: &'static str, text: &str) -> PyResult<&'static str> {
    let mut all = locked(&REASONS);
    let reasons = all.entry(detector).or_default();
    if let Some(known) = reasons.iter().find(|known| **known == text) {
        return Ok(known);
    }
    if reasons.len() == MOST_REASONS {
        return Err(pyo3::exceptions::PyValueError::new_err(format!(
            "{text:?} is the reason number {}; a reason is a fixed sentence, without numbers of the run",
            MOST_REASONS + 1
        )));
    }
    let text = leaked(text.to_owned());
    reasons.push(text);
    Ok(text)
}

/// Returns whether an ACK only acknowledges new data.
fn is_plain(acked: &Acked<'_>) -> bool {
    let known = matches!(acked.echo, None | Some(Echo::Known { .. })) && acked.mark != Some(Mark::Retransmission);
    known && acked.bytes > 0 && !acked.duplicate && !acked.ece && acked.sacks.is_empty() && acked.dsacks.is_empty()
}

impl Detector for OfPython {
    fn on_loss_signal(&mut self, of: Cause, opens: bool, view: &Seen) {
        if !self.hears.signals {
            return;
        }
        self.idle = false;
        Python::attach(|py| {
            self.view.bind(py).borrow_mut().fill(view);
            let asked = (cause(of), opens, &self.view);
            if let Err(error) = self.object.bind(py).call_method1(intern!(py, "on_loss_signal"), asked) {
                fail(py, &error, (Some(&self.object), "a loss signal"), Some(fact::nanos(view.now)));
            }
        });
    }

    fn observe(&mut self, fact: &facts::Fact<'_>, view: &Seen) -> Judgement {
        if self.idle && matches!(fact, facts::Fact::Acked(acked) if is_plain(acked)) {
            return Judgement::Undecided;
        }
        Python::attach(|py| {
            self.asked(py, fact, view).unwrap_or_else(|error| {
                let shown = self.fact.bind(py).repr().map_or_else(|_| "a fact".to_owned(), |shown| shown.to_string());
                fail(py, &error, (Some(&self.object), &shown), Some(fact::nanos(view.now)))
            })
        })
    }

    fn is_idle(&self) -> bool {
        self.idle
    }
}

impl Clone for OfPython {
    fn clone(&self) -> Self {
        Python::attach(|py| {
            let copied = py.import("copy").and_then(|copy| copy.call_method1("deepcopy", (&self.object,)));
            copied
                .and_then(|object| Self::of(py, object.unbind(), self.hears, self.idle))
                .unwrap_or_else(|error| fail(py, &error, (Some(&self.object), "a copy of it"), None))
        })
    }
}

impl std::fmt::Debug for OfPython {
    /// Shows all of its state: searches compare states by their `Debug`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = Python::attach(|py| {
            let state = py.import(MODULE).and_then(|module| module.call_method1("state", (&self.object,)));
            match state.and_then(|state| Ok(state.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes().to_vec())) {
                Ok(bytes) => bytes,
                Err(error) => fail(py, &error, (Some(&self.object), "its state"), None),
            }
        });
        write!(f, "OfPython({}, {state:?})", self.idle)
    }
}
