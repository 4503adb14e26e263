//! Law: new data stays within the peer's window. The end's settings say how a closed window is
//! probed, and whether a FIN waits for cwnd.

use super::checked::CheckedConnection;
use eifel_base::time::Instant;
use eifel_packet::segment::{Flags, Segment};
use eifel_packet::seq::unwrap;
use eifel_recovery::engine::{Kind, Transmission};
use eifel_tcp::settings::WindowProbe;
use eifel_tcp::{Settings, State};

/// The settings of an end that the law depends on.
#[derive(Clone, Copy, Debug)]
pub struct SendingSettings {
    window_probe: WindowProbe,
    fin_beyond_cwnd: bool,
}

impl From<&Settings> for SendingSettings {
    fn from(settings: &Settings) -> Self {
        Self { window_probe: settings.window_probe, fin_beyond_cwnd: settings.fin_beyond_cwnd }
    }
}

/// The state of a sender just after it has sent a segment.
#[derive(Clone, Copy, Debug)]
struct Sender {
    una: u64,
    nxt: u64,
    /// The first position after all data and FIN to send.
    end: u64,
    /// The first position beyond the peer's window.
    limit: u64,
    cwnd: u64,
    /// Whether [the engine is quiet](eifel_recovery::engine::Engine::is_quiet). Then only cwnd and
    /// the peer's window limit new data.
    quiet: bool,
    /// Whether the application has closed and the handshake is over.
    closing: bool,
}

/// A segment that left.
#[derive(Clone, Copy, Debug)]
struct SentSegment {
    kind: Option<Kind>,
    /// The first position of the segment.
    start: u64,
    /// The number of positions in the segment.
    len: u64,
    payload_len: u32,
    flags: Flags,
}

impl SendingSettings {
    /// Checks a segment that `endpoint` has just sent.
    ///
    /// # Panics
    /// Panics when the segment breaks a law.
    pub fn check_segment(
        &self,
        now: Instant,
        endpoint: CheckedConnection<'_>,
        transmission: Option<&Transmission>,
        segment: &Segment,
    ) {
        let sender = sender(endpoint);
        let start = match transmission {
            Some(sent) => sent.start,
            None => unwrap(sender.una, endpoint.isn, segment.seq),
        };
        let len = transmission.map_or(0, |sent| u64::from(sent.len));
        let kind = transmission.map(|sent| sent.kind);
        let left = SentSegment { kind, start, len, payload_len: segment.payload_len, flags: segment.flags };
        if let Err(broken) = self.accept(&left, &sender) {
            panic!("at {now:?}, flow {}, {:?}: {broken}: {left:?}, {sender:?}", endpoint.flow, endpoint.end);
        }
    }

    /// Checks an end that has sent everything that it may send.
    ///
    /// # Panics
    /// Panics when the end holds back a FIN that it may send.
    pub fn check_rest(&self, now: Instant, endpoint: CheckedConnection<'_>) {
        let sender = sender(endpoint);
        if let Err(broken) = self.accept_rest(&sender) {
            panic!("at {now:?}, flow {}, {:?}: {broken}: {sender:?}", endpoint.flow, endpoint.end);
        }
    }

    /// Accepts a segment, or returns the first law that it breaks.
    fn accept(&self, left: &SentSegment, sender: &Sender) -> Result<(), &'static str> {
        let &Sender { una, nxt, end, limit, cwnd, quiet, .. } = sender;
        // The SYN leaves before there is a window.
        if left.kind == Some(Kind::New) && left.start > 0 && left.start + left.len > limit {
            return Err("new data leaves beyond the peer's window");
        }
        let probes_with_new = left.kind == Some(Kind::WindowProbe) && left.start == una && left.start + left.len == nxt;
        if probes_with_new && left.start >= limit && self.window_probe == WindowProbe::Empty {
            return Err("a closed window is probed with data");
        }
        if left.kind.is_none() && left.flags.has(Flags::ACK) && !left.flags.has(Flags::RST) && left.start < una {
            let closed = una == nxt && nxt < end && limit <= nxt;
            if self.window_probe != WindowProbe::Empty || !closed || left.payload_len > 0 {
                return Err("an old sequence number leaves that probes no window");
            }
        }
        let bare_fin = left.kind == Some(Kind::New) && left.payload_len == 0 && left.flags.has(Flags::FIN);
        if bare_fin && quiet && !self.fin_beyond_cwnd && left.start > una && nxt - una > cwnd {
            return Err("a FIN leaves though cwnd is full");
        }
        Ok(())
    }

    /// Accepts an end that has sent everything that it may send, or returns the law that it breaks.
    fn accept_rest(&self, sender: &Sender) -> Result<(), &'static str> {
        let &Sender { nxt, end, limit, quiet, closing, .. } = sender;
        if self.fin_beyond_cwnd && quiet && closing && nxt + 1 == end && nxt < limit {
            return Err("a FIN waits that may leave");
        }
        Ok(())
    }
}

fn sender(endpoint: CheckedConnection<'_>) -> Sender {
    let connection = endpoint.connection;
    let engine = connection.engine();
    Sender {
        una: engine.una(),
        nxt: engine.nxt(),
        end: connection.end(),
        limit: engine.una() + connection.peer_window(),
        cwnd: engine.snapshot().cwnd,
        quiet: engine.is_quiet(),
        closing: matches!(connection.state(), State::FinWait1 | State::Closing | State::LastAck),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_recovery::engine::Cause;

    const OURS: SendingSettings = SendingSettings { window_probe: WindowProbe::Data, fin_beyond_cwnd: false };
    const OTHERS: SendingSettings = SendingSettings { window_probe: WindowProbe::Empty, fin_beyond_cwnd: true };
    /// 3000 bytes are outstanding and fill cwnd. The FIN comes after them.
    const FULL: Sender =
        Sender { una: 1001, nxt: 4001, end: 4002, limit: 9001, cwnd: 3000, quiet: true, closing: true };
    /// Nothing is outstanding, and the window is closed.
    const CLOSED: Sender = Sender { nxt: 1001, limit: 1001, ..FULL };
    const ACK: SentSegment = SentSegment { kind: None, start: 1001, len: 0, payload_len: 0, flags: Flags::ACK };
    const DATA: SentSegment =
        SentSegment { kind: Some(Kind::New), start: 3001, len: 1000, payload_len: 1000, flags: Flags::ACK };
    const FIN: SentSegment = SentSegment {
        kind: Some(Kind::New),
        start: 4001,
        len: 1,
        payload_len: 0,
        flags: Flags(Flags::FIN.0 | Flags::ACK.0),
    };
    const PROBE: SentSegment =
        SentSegment { kind: Some(Kind::WindowProbe), start: 1001, len: 1, payload_len: 1, flags: Flags::ACK };
    const OLD: SentSegment = SentSegment { start: 1000, ..ACK };

    #[test]
    fn each_law_is_broken_by_one_fault() {
        let after_fin = Sender { nxt: 4002, ..FULL };
        let probed = Sender { nxt: 1002, ..CLOSED };
        for (settings, left, sender, says) in [
            (OURS, DATA, FULL, Ok(())),
            (OURS, DATA, Sender { limit: 4000, ..FULL }, Err("new data leaves beyond the peer's window")),
            (OURS, SentSegment { start: 0, len: 1, ..DATA }, Sender { limit: 0, ..FULL }, Ok(())),
            (
                OURS,
                SentSegment { kind: Some(Kind::Retransmission(Cause::Timeout)), ..DATA },
                Sender { limit: 4000, ..FULL },
                Ok(()),
            ),
            (OURS, PROBE, probed, Ok(())),
            (OTHERS, PROBE, probed, Err("a closed window is probed with data")),
            // A probe may carry data if data is outstanding, or if the window is open.
            (OTHERS, PROBE, FULL, Ok(())),
            (OTHERS, PROBE, Sender { limit: 1002, ..probed }, Ok(())),
            (OTHERS, OLD, CLOSED, Ok(())),
            (OURS, OLD, CLOSED, Err("an old sequence number leaves that probes no window")),
            (OTHERS, OLD, FULL, Err("an old sequence number leaves that probes no window")),
            (OTHERS, OLD, Sender { limit: 1002, ..CLOSED }, Err("an old sequence number leaves that probes no window")),
            (OTHERS, OLD, Sender { end: 1001, ..CLOSED }, Err("an old sequence number leaves that probes no window")),
            (OURS, ACK, CLOSED, Ok(())),
            (OURS, SentSegment { flags: Flags(Flags::RST.0 | Flags::ACK.0), ..OLD }, FULL, Ok(())),
            (OURS, FIN, after_fin, Err("a FIN leaves though cwnd is full")),
            (OTHERS, FIN, after_fin, Ok(())),
            (OURS, FIN, Sender { cwnd: 3001, ..after_fin }, Ok(())),
            (OURS, FIN, Sender { quiet: false, ..after_fin }, Ok(())),
            (OURS, SentSegment { payload_len: 1, ..FIN }, after_fin, Ok(())),
            (OURS, FIN, Sender { una: 4001, cwnd: 0, ..after_fin }, Ok(())),
        ] {
            assert_eq!(settings.accept(&left, &sender), says, "{settings:?}, {left:?}, {sender:?}");
        }
    }

    #[test]
    fn a_fin_that_waits_breaks_the_law_where_nothing_but_cwnd_holds_it() {
        assert_eq!(OURS.accept_rest(&FULL), Ok(()));
        assert_eq!(OTHERS.accept_rest(&FULL), Err("a FIN waits that may leave"));
        for other in [
            Sender { quiet: false, ..FULL },
            Sender { closing: false, ..FULL },
            Sender { nxt: 4002, ..FULL },
            Sender { nxt: 3001, ..FULL },
            Sender { limit: 4001, ..FULL },
        ] {
            assert_eq!(OTHERS.accept_rest(&other), Ok(()), "{other:?}");
        }
    }
}
