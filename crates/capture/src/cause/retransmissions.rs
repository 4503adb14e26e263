//! The retransmissions of one direction, from the first to the report.

use super::model::Explained;
use super::reaction::{FlightWatch, InFlight};
use crate::evidence::Evidence;
use crate::result::{
    Cause, Cost, DetectorVerdict, Effect, End, Number, Retransmission, Timing, Trigger, Vantage, Verdict,
};
use crate::verdict::{Circumstances, Judged, Row, withdraw};

/// The retransmissions of one direction, with the evidence about them and their effect on the
/// sender's flight size.
#[derive(Debug, Default)]
pub(crate) struct Retransmissions {
    pub(crate) evidence: Evidence,
    rows: Vec<Row>,
    pub(crate) flight: FlightWatch,
}

/// The names of a direction and of its positions in a report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DirectionId<N> {
    pub(crate) connection: u64,
    pub(crate) sender: End,
    /// Returns the number of a position on the wire.
    pub(crate) number: N,
}

impl Retransmissions {
    /// Adds a retransmission that left at `left`, in nanoseconds.
    pub(crate) fn add(&mut self, row: Row, left: u64, flight: InFlight) {
        self.flight.on_retransmission(left, self.rows.len(), row.block.end, flight);
        self.rows.push(row);
    }

    /// Returns why all retransmissions left. `named` are the causes and triggers of the ones whose cause is
    /// not known without a model, in order.
    pub(crate) fn explained<'a>(
        &self,
        named: impl IntoIterator<Item = (Explained, &'a Trigger)>,
    ) -> Vec<(Explained, Option<&'a Trigger>)> {
        let mut named = named.into_iter();
        let explain = |row: &Row| {
            let named = || named.next().map(|(explained, trigger)| (explained, Some(trigger)));
            let known = row.known.map(|cause| (Explained::only(cause), None));
            known.or_else(named).unwrap_or((Explained::only(Cause::Unknown), None))
        };
        self.rows.iter().map(explain).collect()
    }

    /// Returns whether a reported duplicate may be a copy that the network made. `sent` is the data sent, in
    /// positions.
    pub(crate) fn may_report_copies(&self, sent: u64) -> bool {
        let again = self.rows.iter().map(|row| row.block.end - row.block.start).sum();
        self.evidence.may_report_copies(sent, again)
    }

    /// Adds the retransmissions with their verdicts to a report, and their cost to `cost`.
    pub(crate) fn finish(
        &mut self,
        explained: &[(Explained, Option<&Trigger>)],
        (circumstances, vantage): (&Circumstances, Vantage),
        id: &DirectionId<impl Fn(u64) -> Number>,
        detector_verdicts: impl Fn(u32) -> Vec<DetectorVerdict>,
        (into, cost): (&mut Vec<Retransmission>, &mut Cost),
    ) {
        let reported = self.evidence.reported_duplicates();
        let judge = |row: &Row| row.judge(&self.evidence, circumstances, &reported);
        let mut verdicts: Vec<_> = self.rows.iter().map(judge).collect();
        let causes: Vec<_> = explained.iter().map(|(one, _)| one.cause).collect();
        withdraw(&mut verdicts, &causes, circumstances);
        let needless: Vec<_> = verdicts.iter().map(|judged| judged.verdict == Verdict::Spurious).collect();
        let reactions = self.flight.reactions(&needless, vantage, cost);
        let judged = verdicts.iter().zip(explained).zip(reactions);
        for (row, ((judged, (explained, trigger)), reaction)) in self.rows.iter().zip(judged) {
            let &Judged { verdict, confidence, reason, evidence: evidence_frame } = judged;
            cost.bytes_needless += if verdict == Verdict::Spurious { u64::from(row.payload) } else { 0 };
            let trigger = trigger.map(|trigger| Box::new(Trigger { segments: row.parts.len(), ..trigger.clone() }));
            into.push(Retransmission {
                capture: 0,
                frame: row.when.frame,
                time_s: row.when.nanos as f64 / 1e9,
                connection: id.connection,
                sender: id.sender,
                number: (id.number)(row.block.start),
                bytes: row.payload,
                copy: row.copy(),
                cause: explained.cause,
                other_cause: explained.other,
                verdict,
                confidence,
                reason,
                evidence_frame,
                timing: Timing { trigger, ..row.timing(&self.evidence) },
                stack_noticed: reaction.to(explained.cause),
                effect: Effect { window_lost_bytes: reaction.window_lost, flight_back_ms: reaction.back_ms },
                first_told: row.episode.map(&detector_verdicts).unwrap_or_default(),
            });
        }
    }
}
