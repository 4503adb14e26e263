//! SYN cookies: the peer stores the half-open connection in the sequence number (RFC 4987, section
//! 3.6).
//!
//! From the top, the initial sequence number has five bits of a counter, three bits for an MSS, and
//! 24 bits of a keyed hash. The counter advances every 64 seconds. The peer's other options are
//! lost.

use eifel_base::time::{Duration, Instant};
use eifel_packet::seq::Seq;

use crate::listener::Caller;
use eifel_base::siphash::{Secret, siphash};

/// Period of the counter. A cookie is valid in its own period and the next.
pub(crate) const PERIOD: Duration = Duration::from_secs(64);

/// MSS values that a cookie can hold, in bytes. A peer's MSS is rounded down to one of them.
const SIZES: [u16; 8] = [88, 216, 536, 966, 1220, 1440, 1460, 8960];

fn counter(now: Instant) -> u64 {
    now.as_nanos() / PERIOD.as_nanos()
}

fn proof(secret: &Secret, caller: &Caller, seq: Seq, counter: u64) -> u32 {
    let [a, b, c, d, ports] = caller.words();
    (siphash(secret, &[a, b, c, d, ports, u64::from(seq.0), counter]) & 0xff_ffff) as u32
}

/// Makes the cookie for a SYN with sequence number `seq` from a peer that accepts segments of `mss`
/// bytes.
pub(crate) fn make(secret: &Secret, now: Instant, caller: &Caller, seq: Seq, mss: u16) -> Seq {
    let counter = counter(now);
    let size = SIZES.iter().rposition(|&size| size <= mss).unwrap_or(0) as u32;
    Seq(((counter & 31) as u32) << 27 | size << 24 | proof(secret, caller, seq, counter))
}

/// Returns the MSS in a cookie. `None` unless the cookie was made recently for this caller's SYN.
pub(crate) fn check(secret: &Secret, now: Instant, caller: &Caller, seq: Seq, cookie: Seq) -> Option<u16> {
    let current = counter(now);
    let lately = [Some(current), current.checked_sub(1)];
    let made = lately.into_iter().flatten().find(|counter| (counter & 31) as u32 == cookie.0 >> 27)?;
    let proven = proof(secret, caller, seq, made) == cookie.0 & 0xff_ffff;
    proven.then(|| SIZES[(cookie.0 >> 24 & 7) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: Secret = [1, 2];

    fn caller(port: u16) -> Caller {
        Caller::v4([10, 0, 0, 1], [10, 0, 0, 2], port)
    }

    fn at(secs: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(secs)
    }

    #[test]
    fn a_cookie_is_valid_for_its_caller_its_syn_and_two_periods() {
        for (mss, kept) in [(0, 88), (536, 536), (1400, 1220), (1460, 1460), (u16::MAX, 8960)] {
            let cookie = make(&SECRET, at(100), &caller(7), Seq(9), mss);
            assert_eq!(check(&SECRET, at(127), &caller(7), Seq(9), cookie), Some(kept));
            assert_eq!(check(&SECRET, at(191), &caller(7), Seq(9), cookie), Some(kept));
            assert_eq!(check(&SECRET, at(192), &caller(7), Seq(9), cookie), None);
            assert_eq!(check(&SECRET, at(100), &caller(8), Seq(9), cookie), None);
            assert_eq!(check(&SECRET, at(100), &caller(7), Seq(10), cookie), None);
            assert_eq!(check(&[1, 3], at(100), &caller(7), Seq(9), cookie), None);
        }
    }
}
