//! Peers that call again while their last connection is in TIME-WAIT (RFC 1122, section 4.2.2.13).

use super::table::Key;
use super::{Handle, Host};
use eifel_base::time::Instant;
use eifel_packet::segment::Segment;
use eifel_recovery::engine::Engine;
use eifel_tcp::{ListenerReply, State, isn};

impl Host {
    /// Gives a segment for a connection in TIME-WAIT to the listener at its port, if it belongs to
    /// the peer's next call. Returns whether the listener took it. The connection stays in
    /// TIME-WAIT until the handshake of that call is complete, so an old duplicate of a SYN does
    /// not end it.
    pub(super) fn reopens_time_wait(
        &mut self,
        now: Instant,
        handle: Handle,
        key: &Key,
        (segment, payload): (&Segment, &[u8]),
    ) -> bool {
        let Some(last) = self.table.connection(handle) else { return false };
        if !matches!(last.state(), State::TimeWait { .. }) {
            return false;
        }
        let (caller, addresses) = (&key.caller, key.caller.addresses);
        let Some(open) = self.listeners.get_mut(&(key.port, addresses.version())) else { return false };
        if let Some(isn) = last.makes_way(segment, isn(&self.config.secret, now, caller, key.port)) {
            let Some(answer) = open.listener.answer_again(now, caller, segment, isn) else { return false };
            self.reply(addresses.reversed(), answer);
            return true;
        }
        if !open.listener.is_reaction(caller, segment) {
            return false;
        }
        let engine = || Engine::new(&open.sender).expect("listen has checked the algorithms");
        match open.listener.handle_segment(now, caller, segment, payload, engine) {
            ListenerReply::Nothing => {}
            ListenerReply::Answer(answer) => self.reply(addresses.reversed(), answer),
            ListenerReply::Opened(next) => {
                last.abort();
                self.settle(now, handle);
                self.open(now, *key, *next);
            }
        }
        true
    }
}
