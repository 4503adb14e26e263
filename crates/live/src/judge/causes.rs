//! Why a kernel retransmitted, read from its counters.
//!
//! The counters of a network namespace rise with each retransmission. Retransmissions and rises are
//! matched in order, look by look, so only one connection may send in the namespace.

use super::path::instant;
use eifel_base::time::Instant;
use std::collections::BTreeMap;

/// Why a segment was retransmitted, as named in a truth file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// The timer expired.
    Rto,
    /// Go-back-N after the timer expired, in the kernel's state Loss.
    Loss,
    /// A retransmission in the kernel's state Recovery.
    Fast,
    /// A tail-loss probe.
    Probe,
}

impl Cause {
    /// Returns its name in a truth file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rto => "rto",
            Self::Loss => "loss",
            Self::Fast => "fast",
            Self::Probe => "tlp",
        }
    }
}

/// The counters that rise when the kernel undoes its reaction to a loss.
const UNDOS: [&str; 4] = ["TCPLossUndo", "TCPFullUndo", "TCPDSACKUndo", "TCPPartialUndo"];

/// A look at the counters in which some had risen, and by how much.
#[derive(Clone, Debug)]
struct Sample {
    at: Instant,
    rises: BTreeMap<String, u64>,
}

impl Sample {
    fn of(&self, name: &str) -> usize {
        self.rises.get(name).map_or(0, |&rise| rise as usize)
    }
}

/// The counters of a kernel's TCP over time.
#[derive(Clone, Debug)]
pub struct Counters {
    looks: Vec<Sample>,
}

impl Counters {
    /// Parses lines of `time,name,value`, in which values never fall.
    ///
    /// # Errors
    /// The line that is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut looks: Vec<Sample> = Vec::new();
        let mut known: BTreeMap<String, u64> = BTreeMap::new();
        for (number, line) in text.lines().enumerate().skip(1) {
            let read = || {
                let mut fields = line.split(',');
                let (time, name, value) = (fields.next()?, fields.next()?, fields.next()?);
                Some((instant(time)?, name.to_owned(), value.parse::<u64>().ok()?))
            };
            let (at, name, value) =
                read().ok_or_else(|| format!("counters, line {}: expected time,name,value", number + 1))?;
            let rise = value.saturating_sub(known.insert(name.clone(), value).unwrap_or_default());
            if looks.last().is_none_or(|look| look.at != at) {
                looks.push(Sample { at, rises: BTreeMap::new() });
            }
            if let Some(look) = looks.last_mut() {
                look.rises.insert(name, rise);
            }
        }
        Ok(Self { looks })
    }

    /// Returns the causes of `retransmissions` retransmissions of data, in order. A cause is `None`
    /// if a look mixes causes whose order is unknown.
    ///
    /// # Errors
    /// If the kernel counted another number of retransmissions.
    pub fn causes(&self, retransmissions: usize) -> Result<Vec<Option<Cause>>, String> {
        let mut causes = Vec::new();
        for look in &self.looks {
            let syn = look.of("TCPSynRetrans");
            let again = look.of("RetransSegs").saturating_sub(syn);
            let timer = look.of("TCPTimeouts").saturating_sub(syn);
            let counted = [
                (Cause::Rto, timer),
                (Cause::Loss, look.of("TCPSlowStartRetrans")),
                (Cause::Fast, look.of("TCPFastRetrans")),
            ];
            let others: usize = counted.iter().map(|&(_, count)| count).sum();
            // A probe may carry new data, which is no retransmission.
            let probes = again.saturating_sub(others).min(look.of("TCPLossProbes"));
            // A timeout comes before its retransmissions. The order of a probe and other causes is
            // unknown, and so is that of slow start and recovery.
            let mixed =
                others + probes != again || (probes > 0 && others > 0) || (counted[1].1 > 0 && counted[2].1 > 0);
            let named = counted.into_iter().chain([(Cause::Probe, probes)]);
            let named = named.flat_map(|(cause, count)| std::iter::repeat_n(Some(cause), count));
            if mixed { causes.extend(std::iter::repeat_n(None, again)) } else { causes.extend(named) }
        }
        if causes.len() == retransmissions {
            return Ok(causes);
        }
        let counted = causes.len();
        Err(format!("the kernel counted {counted} retransmissions of data, the box saw {retransmissions}"))
    }

    /// Returns the undos from `from` on and before `until`: when the counter was seen to have
    /// risen, and the counter's name.
    pub fn undos(&self, from: Instant, until: Instant) -> Vec<(Instant, &'static str)> {
        let within = self.looks.iter().filter(|look| (from..until).contains(&look.at));
        within.flat_map(|look| UNDOS.into_iter().filter(|name| look.of(name) > 0).map(|name| (look.at, name))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the kernel counted in a spike: a probe, two timeouts, then an undo; at the end a probe of new data.
    const SPIKE: &str = "time,name,value\n1.0,ActiveOpens,1\n2.0,TCPLossProbes,1\n2.0,RetransSegs,1\n\
                         2.4,TCPTimeouts,1\n2.4,RetransSegs,2\n3.2,TCPTimeouts,2\n3.2,RetransSegs,3\n\
                         3.6,TCPLossUndo,1\n9.0,TCPLossProbes,2\n";

    #[test]
    fn causes_follow_from_the_kernels_counters() {
        let counters = Counters::parse(SPIKE).unwrap();
        assert_eq!(counters.causes(3), Ok(vec![Some(Cause::Probe), Some(Cause::Rto), Some(Cause::Rto)]));
        assert!(counters.causes(4).unwrap_err().contains("counted 3"));
        let at = |seconds: f64| Instant::from_nanos((seconds * 1e9) as u64);
        assert_eq!(counters.undos(at(2.4), at(5.0)), [(at(3.6), "TCPLossUndo")]);
        assert!(counters.undos(at(3.7), at(5.0)).is_empty());
    }

    #[test]
    fn a_tail_loss_probe_of_new_data_is_not_a_retransmission() {
        let (rto, loss, fast, probe) = (Some(Cause::Rto), Some(Cause::Loss), Some(Cause::Fast), Some(Cause::Probe));
        for (again, [timeouts, slow_start, fast_ones, probes], causes) in [
            (0, [0, 0, 0, 1], vec![]),
            (1, [0, 0, 0, 1], vec![probe]),
            (1, [0, 0, 0, 2], vec![probe]),
            (1, [1, 0, 0, 1], vec![rto]),
            (1, [0, 0, 1, 2], vec![fast]),
            (3, [1, 2, 0, 0], vec![rto, loss, loss]),
            (2, [1, 0, 0, 1], vec![None, None]),
            (2, [0, 1, 1, 0], vec![None, None]),
            (2, [1, 0, 0, 0], vec![None, None]),
            (1, [0, 0, 0, 0], vec![None]),
            (2, [0, 0, 0, 1], vec![None, None]),
        ] {
            let text = format!(
                "time,name,value\n1.0,RetransSegs,{again}\n1.0,TCPTimeouts,{timeouts}\n\
                 1.0,TCPSlowStartRetrans,{slow_start}\n1.0,TCPFastRetrans,{fast_ones}\n1.0,TCPLossProbes,{probes}\n"
            );
            assert_eq!(Counters::parse(&text).unwrap().causes(again), Ok(causes), "{text}");
        }
    }

    #[test]
    fn a_sample_with_ambiguous_counters_has_no_cause() {
        let text = "time,name,value\n1.0,TCPTimeouts,1\n1.0,RetransSegs,3\n1.0,TCPSlowStartRetrans,2\n\
                    2.0,TCPFastRetrans,1\n2.0,TCPLossProbes,1\n2.0,RetransSegs,5\n3.0,TCPSynRetrans,1\n\
                    3.0,TCPTimeouts,2\n3.0,RetransSegs,6\n";
        let counters = Counters::parse(text).unwrap();
        let loss = Some(Cause::Loss);
        assert_eq!(counters.causes(5), Ok(vec![Some(Cause::Rto), loss, loss, None, None]));
        assert!(Counters::parse("time,name,value\nx,y,1\n").unwrap_err().contains("line 2"));
    }

    /// An action of the kernel between two looks: the counters that rise, and the cause of the data
    /// that it retransmits.
    type Action = (&'static [&'static str], Option<Cause>);
    const ACTIONS: [Action; 6] = [
        (&["TCPSynRetrans", "TCPTimeouts", "RetransSegs"], None),
        (&["TCPTimeouts", "RetransSegs"], Some(Cause::Rto)),
        (&["TCPSlowStartRetrans", "RetransSegs"], Some(Cause::Loss)),
        (&["TCPFastRetrans", "RetransSegs"], Some(Cause::Fast)),
        (&["TCPLossProbes", "RetransSegs"], Some(Cause::Probe)),
        // A probe of new data.
        (&["TCPLossProbes"], None),
    ];

    /// One long run, in which every mixture of up to two deeds of each kind falls between two looks.
    #[test]
    fn every_combination_of_counter_increments_has_causes_or_none() {
        let (mut counted, mut text) = (BTreeMap::<&str, u64>::new(), "time,name,value\n".to_owned());
        let mut expected = Vec::new();
        for mixture in 0..3_usize.pow(ACTIONS.len() as u32) {
            let counts: Vec<usize> = (0..ACTIONS.len()).map(|kind| mixture / 3_usize.pow(kind as u32) % 3).collect();
            let mut again = Vec::new();
            for ((counters, cause), &count) in ACTIONS.iter().zip(&counts) {
                counters.iter().for_each(|counter| *counted.entry(counter).or_default() += count as u64);
                again.extend(cause.iter().flat_map(|&cause| vec![Some(cause); count]));
            }
            counted.iter().for_each(|(name, value)| text += &format!("{mixture}.5,{name},{value}\n"));
            let has = |cause| again.contains(&Some(cause));
            let [rto, loss, fast, probe] = [Cause::Rto, Cause::Loss, Cause::Fast, Cause::Probe].map(has);
            // The order of a probe and other causes is unknown, and so is that of slow start and
            // recovery.
            let untold = (probe && (rto || loss || fast)) || (loss && fast);
            expected.extend(again.iter().map(|&cause| if untold { None } else { cause }));
        }
        let counters = Counters::parse(&text).unwrap();
        assert_eq!(counters.causes(expected.len()), Ok(expected));
    }

    #[test]
    fn an_undo_is_searched_within_a_time_span() {
        let counters =
            Counters::parse("time,name,value\n1.0,TCPLossUndo,1\n2.0,TCPDSACKUndo,1\n2.0,TCPFullUndo,1\n").unwrap();
        let at = |seconds: u64, nanos: u64| Instant::from_nanos(seconds * 1_000_000_000 + nanos);
        let (one, two) = ((at(1, 0), "TCPLossUndo"), [(at(2, 0), "TCPFullUndo"), (at(2, 0), "TCPDSACKUndo")]);
        assert_eq!(counters.undos(at(1, 0), at(2, 0)), [one]);
        assert_eq!(counters.undos(at(1, 0), at(2, 1)), [one, two[0], two[1]]);
        assert_eq!(counters.undos(at(1, 1), at(2, 1)), two);
        assert_eq!(counters.undos(at(0, 0), at(1, 0)), []);
    }
}
