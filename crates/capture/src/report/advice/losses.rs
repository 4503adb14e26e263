//! Losses, where most retransmissions repaired one.

use super::super::total::counted;
use super::{Advice, Fault, Way};
use crate::result::{Cause, Verdict};

/// A segment that did not arrive has to be sent again (RFC 5681, section 3.2). No sender's setting avoids
/// a loss, so the rule speaks only where losses are the larger part. A handshake that nobody answers shows
/// no loss.
pub(super) fn losses(ways: &[Way<'_>]) -> Option<Advice> {
    let needed = |way: &Way<'_>| {
        way.rows.iter().filter(|one| one.verdict == Verdict::Needed && one.cause != Cause::Syn).count() as u64
    };
    let all: u64 = ways.iter().map(|way| way.rows.len() as u64).sum();
    let lost: u64 = ways.iter().map(needed).sum();
    let most = ways.iter().max_by_key(|way| (needed(way), std::cmp::Reverse(way.connection.connection)))?;
    if lost == 0 || lost * 2 < all {
        return None;
    }
    Some(Advice {
        fault: Fault::Losses,
        evidence: format!(
            "{} of {} needed: their data had not arrived (most in {}).",
            lost,
            counted(all, "retransmission was", "retransmissions were"),
            most.name(),
        ),
        action: format!(
            "Nothing that a host sets mends that. Look for drops on the way from {} to {}.",
            most.sender, most.receiver
        ),
        confirm: "On each Linux host of the way: tc -s qdisc and ip -s link count drops.".to_owned(),
        source: "RFC 5681, section 3.2; tc(8), ip-link(8): -s",
    })
}
