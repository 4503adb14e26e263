//! Detectors that are classes of Python.

use super::fact::{self, Fact, View, cause, settles};
use super::{Object, fail, leaked, locked};
use eifel_recovery::detect::{Detector, Judgement, NeedlessShare, Outcome};
use eifel_recovery::fact::{self as facts, Acked, Cause, Echo, Mark};
use eifel_recovery::registry::{Parameters, Provided};
use eifel_recovery::view::View as Seen;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Different reasons that a detector may give. A reason is a fixed sentence.
const MOST_REASONS: usize = 100;

/// The reasons of verdicts, by detector.
static REASONS: Mutex<BTreeMap<&'static str, Vec<&'static str>>> = Mutex::new(BTreeMap::new());

/// Returns what makes detectors of a class.
pub(super) fn provided(class: Py<PyAny>, name: &'static str, described: &Bound<'_, PyAny>) -> PyResult<Provided> {
    let hears = Hears {
        of: name,
        every_ack: described.get_item("every_ack")?.extract()?,
        idle: described.get_item("idle")?.extract()?,
        signals: described.get_item("signals")?.extract()?,
    };
    let make = move |parameters: &Parameters| Box::new(OfPython::new(&class, parameters, hears)) as _;
    Ok(Provided::Detect(Box::leak(Box::new(make))))
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
    object: Object,
    fact: Py<Fact>,
    view: Py<View>,
    hears: Hears,
    /// Whether it waits for a retransmission.
    idle: bool,
}

impl OfPython {
    fn new(class: &Py<PyAny>, parameters: &Parameters, hears: Hears) -> Self {
        Python::attach(|py| Self::of(py, Object::new(py, class, parameters), hears, !hears.every_ack))
    }

    fn of(py: Python<'_>, object: Object, hears: Hears, idle: bool) -> Self {
        let shown = Py::new(py, Fact::new()).and_then(|fact| Ok((fact, Py::new(py, View::new())?)));
        match shown {
            Ok((fact, view)) => Self { object, fact, view, hears, idle },
            Err(error) => fail(py, &error, (None, "its first fact"), None),
        }
    }

    fn asked(&mut self, py: Python<'_>, fact: &facts::Fact<'_>, seen: &Seen) -> PyResult<Judgement> {
        self.fact.bind(py).borrow_mut().fill(fact);
        self.view.bind(py).borrow_mut().fill(seen);
        let object = self.object.0.bind(py);
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
            if let Err(error) = self.object.0.bind(py).call_method1(intern!(py, "on_loss_signal"), asked) {
                fail(py, &error, (Some(&self.object.0), "a loss signal"), Some(fact::nanos(view.now)));
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
                fail(py, &error, (Some(&self.object.0), &shown), Some(fact::nanos(view.now)))
            })
        })
    }

    fn is_idle(&self) -> bool {
        self.idle
    }
}

impl Clone for OfPython {
    fn clone(&self) -> Self {
        Python::attach(|py| Self::of(py, self.object.clone(), self.hears, self.idle))
    }
}

impl std::fmt::Debug for OfPython {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OfPython({}, {:?})", self.idle, self.object)
    }
}
