//! Law: an application reads exactly the bytes that the other application wrote, in order, each
//! once. In a run that carries bytes, the reader also verifies each byte.

use super::checked::CheckedConnection;
use eifel_base::time::Instant;

/// The bytes that a reader had read at the last check.
#[derive(Clone, Copy, Default)]
pub struct Reading {
    read: u64,
}

/// Bytes of one direction, as counted by both ends.
#[derive(Clone, Copy, Debug)]
struct Progress {
    read: u64,
    /// Received in order by the reader's connection.
    received: u64,
    /// Cumulatively acknowledged, as far as the sender knows.
    acknowledged: u64,
    /// Sent, without the SYN.
    sent: u64,
}

impl Reading {
    /// Checks a reader against its writer.
    ///
    /// # Panics
    /// Panics when a law is broken.
    pub fn check(&mut self, now: Instant, reader: CheckedConnection<'_>, writer: CheckedConnection<'_>) {
        let engine = writer.connection.engine();
        let progress = Progress {
            read: reader.read,
            received: reader.connection.received(),
            acknowledged: engine.una().min(writer.connection.end()).saturating_sub(2),
            sent: engine.nxt().saturating_sub(1),
        };
        if let Err(broken) = self.accept(progress) {
            panic!("at {now:?}, flow {}: {broken}: {progress:?}", reader.flow);
        }
    }

    /// Accepts the counts of both ends, or returns the first law that they break.
    fn accept(&mut self, progress: Progress) -> Result<(), &'static str> {
        let Progress { read, received, acknowledged, sent } = progress;
        if read < self.read {
            return Err("less is read than before");
        }
        if read > sent {
            return Err("more is read than was sent");
        }
        if received < read {
            return Err("more is read than was received");
        }
        if received < acknowledged {
            return Err("more is acknowledged than was received");
        }
        self.read = read;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: Progress = Progress { read: 100, received: 100, acknowledged: 100, sent: 100 };

    fn judged(progress: Progress) -> Result<(), &'static str> {
        let mut reading = Reading::default();
        reading.accept(SOUND).and_then(|()| reading.accept(progress))
    }

    #[test]
    fn each_law_is_broken_by_one_more() {
        assert_eq!(judged(SOUND), Ok(()));
        for (broken, says) in [
            (Progress { read: 99, ..SOUND }, "less is read than before"),
            (Progress { read: 101, received: 101, ..SOUND }, "more is read than was sent"),
            (Progress { read: 101, sent: 101, ..SOUND }, "more is read than was received"),
            (Progress { acknowledged: 101, sent: 101, ..SOUND }, "more is acknowledged than was received"),
        ] {
            assert_eq!(judged(broken), Err(says), "{broken:?}");
        }
    }
}
