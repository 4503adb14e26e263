//! New data that leaves in full segments, one after the other: they differ in where they begin, and in TSval where each has
//! its own. What else they say is found once.

use eifel_packet::segment::{Flags, Segment, Timestamps};
use eifel_recovery::engine;
use eifel_recovery::fact::Transmission;
use eifel_recovery::time::Instant;
use eifel_recovery::units::Timestamp;

use crate::connection::Connection;
use crate::output::{Saying, Turn};
use crate::timestamps::Stamps;

/// Full segments that leave in one [`Turn`].
#[derive(Clone, Copy, Debug)]
pub struct Run {
    now: Instant,
    of: engine::Run,
    values: Values,
    saying: Saying,
}

/// Which TSval the segments carry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Values {
    /// All this one, or none.
    Shared(Option<Timestamp>),
    /// Each its own.
    Own,
}

impl Connection {
    /// What [`poll_data`](Self::poll_data) would give as full segments of new data that differ in so little; `None` where there
    /// is no such segment.
    #[inline(always)]
    pub fn run(&mut self, turn: &mut Turn) -> Option<Run> {
        let (now, offer) = (turn.now, turn.offer.as_ref()?);
        if !self.marks.is_off() || self.receiver.has_blocks() {
            return None;
        }
        let (of, stamp) = (self.engine.run(offer), offer.stamp);
        if of.is_all() {
            turn.offer = None;
        }
        let distinct = self.stamps.as_ref().is_some_and(Stamps::are_distinct);
        let values = if distinct { Values::Own } else { Values::Shared(stamp) };
        self.engine.continues(&of).then(|| Run { now, of, values, saying: self.say(stamp) })
    }

    /// The next segment of a run, written as [`poll_data`](Self::poll_data) does. All segments of one run are of one length.
    #[inline(always)]
    pub fn poll_run(&mut self, run: &mut Run, segment: &mut Segment) -> Option<Transmission> {
        let now = run.now;
        let stamp = match run.values {
            Values::Shared(stamp) => stamp,
            Values::Own => self.stamps.as_mut().map(|stamps| stamps.value(now)),
        };
        let transmission = self.engine.poll_run(now, &run.of, stamp)?;
        let Transmission { start, len, .. } = transmission;
        if let (Values::Own, Some(stamps), Some(stamp)) = (run.values, &mut self.stamps, stamp) {
            stamps.sent(now, start, 0, stamp);
            run.saying.timestamps = Some(Timestamps { value: stamp.0, echo: stamps.echo() });
        }
        self.write_header(segment, start, Flags::ACK, len, &run.saying);
        Some(transmission)
    }
}
