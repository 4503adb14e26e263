//! Stacks as they are deployed: what `profile` in a flow sets in one word.
//!
//! A profile is a scenario's tables `tcp` and `sender`, checked like any other. It lies below the
//! tables of flow and scenario, so each of their keys wins.

use super::format;
use super::reader::Reader;
use super::tree::{self, Node};
use std::sync::LazyLock;

/// The names of the profiles.
pub(super) const NAMES: &[&str] = &["linux"];

/// Linux 6.18 with its defaults, below the queue discipline `fq`, which paces. As far as the
/// simulator has them: one clock of 1 ms stamps all segments, bursts are sized for TSO, 16 quick
/// ACKs and then delayed ones, and Nagle's algorithm. The receiver's card collects segments for 50
/// us, as many cards do; the kernel has no such default. The receive window does not grow by itself.
static LINUX: LazyLock<Node> = LazyLock::new(|| {
    let text = r#"
        [tcp]
        timestamp_values = "clock"
        timestamp_granularity_ms = 1
        delayed_ack_ms = 40
        quick_acks = 16
        gro_wait_ms = 0.05
        out_of_order_ack = "with-data"
        nagle = true
        window_probe = "empty"
        fin_beyond_cwnd = true
        ecn = "answer"

        [sender]
        detect = "linux"
        respond = "linux"
        grant = "always"
        rto = "linux"
        after_spurious = "none"
        recover = { name = "rack-tlp", reduction = "prr", after_echo = "prr" }
        pace = { name = "tso", slow_start_percent = 200, avoidance_percent = 120 }

        [sender.congest]
        name = "cubic"
        curve = "linux"
        counting = "linux"
        grow = "when-limiting-window"
        slow_start = "hystart"
        ssthresh_from = "window"
    "#;
    tree::read(text).expect("a profile is TOML")
});

/// Returns the table `key` (`tcp` or `sender`) of the profile that a flow names.
pub(super) fn table(flow: &Reader<'_>, key: &str) -> Option<Reader<'static>> {
    flow.maybe_text("profile")?;
    Reader::new(&LINUX, &format::PROFILE, "").table(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::check;

    #[test]
    fn a_profile_is_what_a_scenario_may_say() {
        assert_eq!(NAMES, ["linux"]);
        check::table(&LINUX, &format::PROFILE, None, "").map_err(|fault| fault.in_file("linux")).unwrap();
    }
}
