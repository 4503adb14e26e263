//! Retransmission timers that are classes of Python: a class estimates, and limits, back-off and the
//! changes that verdicts request are the engine's.

use super::Object;
use super::fact::nanos;
use eifel_base::time::Duration;
use eifel_recovery::detect::Outcome;
use eifel_recovery::episode::Estimate;
use eifel_recovery::registry::{Parameters, Provided};
use eifel_recovery::rto::back_off::{BackOff, Seed};
use eifel_recovery::rto::timer::{Estimator, Timer};
use eifel_recovery::rto::{Limits, Sample};
use eifel_recovery::view::View;
use pyo3::intern;
use pyo3::prelude::*;

/// Returns what makes timers of a class.
pub(super) fn provided(class: Py<PyAny>, described: &Bound<'_, PyAny>) -> PyResult<Provided> {
    let time = |name: &str| Ok::<_, PyErr>(Duration::from_nanos(described.get_item(name)?.extract()?));
    let limits = Limits { initial: time("initial_ns")?, minimum: time("minimum_ns")?, maximum: time("maximum_ns")? };
    let granularity = time("granularity_ns")?;
    let make = move |parameters: &Parameters| {
        let object = Python::attach(|py| Object::new(py, &class, parameters));
        let estimator = OfPython { object, granularity, rto: None, estimate: None };
        Box::new(Timer::new(estimator, limits)) as _
    };
    Ok(Provided::Rto(Box::leak(Box::new(make))))
}

/// RTO, SRTT and RTTVAR in nanoseconds, once there is a sample.
type Plain = Option<(u64, u64, u64)>;

/// An object of a class that estimates, and what it said last.
#[derive(Clone, Debug)]
struct OfPython {
    object: Object,
    granularity: Duration,
    rto: Option<Duration>,
    estimate: Option<Estimate>,
}

impl OfPython {
    fn take(&mut self, said: Plain) {
        let time = Duration::from_nanos;
        self.rto = said.map(|(rto, ..)| time(rto));
        self.estimate = said.map(|(_, srtt, rttvar)| Estimate { srtt: time(srtt), rttvar: time(rttvar) });
    }
}

impl Estimator for OfPython {
    fn sample(&mut self, sample: &Sample, view: &View) -> bool {
        let ssthresh = (sample.window.ssthresh != u64::MAX).then_some(sample.window.ssthresh);
        let asked = (sample.rtt.as_nanos(), sample.acked, (sample.window.cwnd, ssthresh), nanos(view.now));
        let (said, ends): (Plain, bool) =
            Python::attach(|py| self.object.ask(py, intern!(py, "sampled"), asked, Some(nanos(view.now))));
        self.take(said);
        ends
    }

    fn seed(&mut self, seed: Seed) {
        let Estimate { srtt, rttvar } = seed.estimate(self.granularity);
        let asked = (srtt.as_nanos(), rttvar.as_nanos());
        let said = Python::attach(|py| self.object.ask(py, intern!(py, "seeded"), asked, None));
        self.take(said);
    }

    fn rto(&self, back_off: &BackOff) -> Duration {
        back_off.rto(self.rto)
    }

    fn estimate(&self) -> Option<Estimate> {
        self.estimate
    }

    fn on_verdict(&mut self, outcome: Outcome) {
        let spurious = outcome == Outcome::Spurious;
        let said = Python::attach(|py| self.object.ask(py, intern!(py, "judged"), (spurious,), None));
        self.take(said);
    }
}
