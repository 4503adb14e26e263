//! What an application reads is what the other one wrote: no more, in order, each byte once. (Where bytes are carried,
//! their reader verifies each.)

use crate::endpoint::Endpoint;
use eifel_base::time::Instant;

/// One reader as it was.
#[derive(Clone, Copy, Default)]
pub struct Reading {
    read: u64,
}

impl Reading {
    /// Holds a reader against its writer.
    ///
    /// # Panics
    /// When more is read than was sent, or less than before, or less than the sender knows to have arrived.
    pub fn check(&mut self, now: Instant, reader: &Endpoint, writer: &Endpoint) {
        let sent = writer.connection.engine().nxt();
        let (flow, read, before) = (reader.flow, reader.read, self.read);
        assert!(read >= before, "at {now:?}, flow {flow}: {read} bytes are read, where {before} were");
        assert!(
            read <= sent.saturating_sub(1),
            "at {now:?}, flow {flow}: {read} bytes are read of {sent} positions sent"
        );
        let acknowledged = writer.connection.engine().una().min(writer.connection.end()).saturating_sub(2);
        let received = reader.connection.received();
        assert!(
            received >= acknowledged.max(read),
            "at {now:?}, flow {flow}: {acknowledged} bytes are acknowledged and {read} read of {received} received"
        );
        self.read = read;
    }
}
