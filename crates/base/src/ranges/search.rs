//! Searches for a position among ranges that are mostly evenly spread, with few accesses to cold
//! memory.

use core::ops::Range;

/// Up to this number of ranges a linear search is fastest.
pub(super) const FEW: usize = 8;
/// Ranges in a cache line.
const LINE: usize = 8;

/// Counts the `items` that start at or below `position`. The items are in ascending order. Guesses
/// that their starts are evenly spread over `span`, which begins at the start of the first. From
/// the guess on, steps double, so that a wrong guess costs O(log n).
#[inline]
pub(super) fn up_to<T: Copy>(items: &[T], start: impl Fn(T) -> u64, position: u64, span: Range<u64>) -> usize {
    if items.is_empty() || position < span.start {
        return 0;
    }
    let share = (position - span.start) as f64 / span.end.saturating_sub(span.start).max(1) as f64;
    let guess = ((share * items.len() as f64) as usize).min(items.len() - 1);
    let (mut low, mut high, mut step) = (guess, guess, LINE);
    if start(items[guess]) <= position {
        while high < items.len() && start(items[high]) <= position {
            low = high + 1;
            high += step;
            step *= 2;
        }
        high = high.min(items.len());
    } else {
        // The first item starts at or below `position`.
        while start(items[low]) > position {
            high = low;
            low = low.saturating_sub(step);
            step *= 2;
        }
    }
    low + items[low..high].partition_point(|&item| start(item) <= position)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_guess_never_changes_the_result_of_a_search(
            steps in prop::collection::vec(1u64..1 << 20, 0..300), uneven in 0u32..20, asked in 0u64..300, off in 0u64..3,
            end in any::<u64>(),
        ) {
            let mut starts: Vec<u64> = steps.iter().scan(0, |at, step| { *at += step >> uneven; Some(*at) }).collect();
            starts.dedup();
            let position = (starts.get(asked as usize).copied().unwrap_or(asked) + off).saturating_sub(1);
            let span = starts.first().copied().unwrap_or(0)..end;
            let found = up_to(&starts, |start| start, position, span);
            prop_assert_eq!(found, starts.partition_point(|&start| start <= position));
        }
    }
}
