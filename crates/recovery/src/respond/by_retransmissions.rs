//! *Looks at* how often the oldest segment was retransmitted. A fast retransmit counts too.
//! *Decides* for option 1 after one retransmission, option 2 after two, option 3 after three or more.
//! *Blind to* the path itself: the length of a delay says little about how much it has changed.
//! *From* Ludwig, chapter 5, section 5.2.2, with its footnote 1 (`t_rxtshift++`); quoted in "Responding to Spurious
//! Timeouts in TCP", section III.B.

use super::option_1::Option1;
use super::option_2::Option2;
use super::option_3::Option3;
use super::{Adjust, Response, Verdict};
use crate::congest::Window;
use crate::episode::Saved;
use crate::registry::Entry;

pub(super) const ENTRY: Entry = Entry {
    name: "by-retransmissions",
    summary: "option 1, 2 or 3 after one, two or more retransmissions",
    source: "Ludwig and Katz, The Eifel Algorithm, section 3.3",
    ..Entry::response(|_| Box::new(ByRetransmissions))
};

/// Restores less after more retransmissions.
#[derive(Clone, Debug)]
pub struct ByRetransmissions;

impl Response for ByRetransmissions {
    fn respond(&mut self, verdict: &Verdict, saved: &Saved, now: &Window) -> Adjust {
        match verdict.timeouts.saturating_add(u32::from(verdict.fast_retransmitted)) {
            0 | 1 => Option1.respond(verdict, saved, now),
            2 => Option2.respond(verdict, saved, now),
            _ => Option3.respond(verdict, saved, now),
        }
    }
}
