//! New data that leaves in full segments, one after the other: they differ in where they begin, and in TSval where each has
//! its own. What else they say is found once.

use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;
use eifel_packet::segment::{Flags, Segment, Timestamps};
use eifel_recovery::engine;
use eifel_recovery::fact::Transmission;

use crate::connection::Connection;
use crate::delayed_ack::Owed;
use crate::output::Saying;
use crate::timestamps::Stamps;

/// Full segments that leave between two inputs.
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

impl Run {
    /// Whether nothing else leaves with it: neither more data nor an acknowledgement, which its segments have taken along.
    #[inline]
    pub fn is_all(&self) -> bool {
        self.of.is_all()
    }
}

impl Connection {
    /// Full segments of new data that differ in so little, where they are what leaves now before all else; `None` where there
    /// is no such segment. [`poll_transmit`](Self::poll_transmit) gives the same, one by one.
    #[inline(always)]
    pub fn run(&mut self, now: Instant) -> Option<Run> {
        if self.reply.is_some()
            || self.receiver.due.owed() == Owed::Alone
            || self.receiver.has_blocks()
            || !self.marks.is_off()
        {
            return None;
        }
        let stamp = self.stamps.as_mut().and_then(|stamps| stamps.shared(now));
        let of = self.engine.run(&self.offer(stamp)?);
        if !self.engine.continues(&of) {
            return None;
        }
        debug_assert!(
            self.give_up_at != Instant::NEVER || self.user_timeout == Duration::MAX,
            "something is outstanding"
        );
        let distinct = self.stamps.as_ref().is_some_and(Stamps::are_distinct);
        let values = if distinct { Values::Own } else { Values::Shared(stamp) };
        Some(Run { now, of, values, saying: self.say(stamp) })
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
