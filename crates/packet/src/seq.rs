//! Converts 32-bit sequence numbers to positions that never wrap, and back.

/// A sequence or acknowledgement number of a TCP header, or a TSN of SCTP. It has no order: see
/// [`unwrap`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Seq(pub u32);

/// Returns the position nearest to `near` whose low 32 bits, counted from `initial`, are `seq`.
///
/// Positions count from 0 at the initial sequence number (the SYN) and never wrap. If the nearest
/// position would be negative, the next one ahead is returned.
pub const fn unwrap(near: u64, initial: Seq, seq: Seq) -> u64 {
    let low = seq.0.wrapping_sub(initial.0);
    let distance = low.wrapping_sub(near as u32) as i32 as i64;
    match near.checked_add_signed(distance) {
        Some(position) => position,
        None => near + low.wrapping_sub(near as u32) as u64,
    }
}

/// Returns the header field for `position`.
pub const fn wrap(position: u64, initial: Seq) -> Seq {
    Seq(initial.0.wrapping_add(position as u32))
}

/// Returns the position nearest to `near` whose low 16 bits are `seq`, for SCTP's stream sequence
/// numbers. If the nearest position would be negative, the next one ahead is returned.
pub const fn unwrap_short(near: u64, seq: u16) -> u64 {
    let low = seq.wrapping_sub(near as u16);
    match near.checked_add_signed(low as i16 as i64) {
        Some(position) => position,
        None => near + low as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_position_is_the_nearest_of_those_with_the_number(
            initial: u32,
            near in 0u64..1 << 40,
            seq: u32,
        ) {
            let position = unwrap(near, Seq(initial), Seq(seq));
            prop_assert_eq!(wrap(position, Seq(initial)), Seq(seq));
            let circle = 1 << 32;
            // No candidate one wrap away is nearer, unless it would be negative.
            prop_assert!(position.abs_diff(near) <= near.abs_diff(position + circle));
            if let Some(below) = position.checked_sub(circle) {
                prop_assert!(position.abs_diff(near) <= near.abs_diff(below));
            }
        }
    }

    proptest! {
        #[test]
        fn a_short_number_unwraps_to_the_nearest_position(near in 0u64..1 << 24, seq: u16) {
            let position = unwrap_short(near, seq);
            prop_assert_eq!(position as u16, seq);
            let circle = 1 << 16;
            prop_assert!(position.abs_diff(near) <= near.abs_diff(position + circle));
            if let Some(below) = position.checked_sub(circle) {
                prop_assert!(position.abs_diff(near) <= near.abs_diff(below));
            }
        }
    }

    #[test]
    fn a_number_that_would_lie_before_position_zero_lies_ahead() {
        // The number before the SYN's, seen from position 10.
        assert_eq!(unwrap(10, Seq(1000), Seq(999)), (1 << 32) - 1);
        assert_eq!(unwrap_short(10, u16::MAX), (1 << 16) - 1);
        // Seen from one wrap further, it is the last position of the first wrap.
        assert_eq!(unwrap((1 << 32) + 10, Seq(1000), Seq(999)), (1 << 32) - 1);
    }

    #[test]
    fn a_position_survives_wrapping_and_unwrapping() {
        let initial = Seq(u32::MAX - 5);
        for position in [0u64, 1, 5, 6, 7, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 40) + 17] {
            for near in [position, position + 1000, position.saturating_sub(1000)] {
                assert_eq!(unwrap(near, initial, wrap(position, initial)), position);
            }
        }
    }
}
