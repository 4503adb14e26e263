//! Tests of scenarios: the examples, the effects of settings, and the refusal of mistakes.

mod examples;
mod meaning;
mod published;
mod refused;

use super::Scenario;
use std::path::Path;

/// A scenario in a short form. Tests modify it.
const PLAIN: &str = r#"duration_s = 100

[point_to_point]
rate_bps = 2_000_000
delay_ms = 150
queue = { kind = "drop-tail", packets = 75 }

[[spike]]
links = ["bottleneck"]
holds = "sending"
at = [{ start_s = 28, end_s = 40 }]

[[flow]]
name = "main"
from = "sender"
to = "receiver"
application = { kind = "bulk", bytes = 100_000 }

[flow.tcp]
payload_bytes = 1000

[flow.sender]
rto = { name = "rfc6298", minimum_ms = 1000 }
recover = "reno-sack"
"#;

/// A scenario that lists its nodes and links. Tests modify it.
const GRAPH: &str = r#"duration_s = 100

[[node]]
name = "a"
[[node]]
name = "b"
[[node]]
name = "c"

[[link]]
from = "a"
to = "b"
both = true
rate_bps = 1_000_000
delay_ms = 10

[[link]]
from = "b"
to = "c"
both = true
rate_bps = 1_000_000
delay_ms = 10

[[flow]]
name = "main"
from = "a"
to = "c"
application = { kind = "bulk", segments = 10 }
"#;

/// Returns `base` with `old` replaced by `new`. `old` must occur once.
fn with(base: &str, old: &str, new: &str) -> String {
    assert_eq!(base.matches(old).count(), 1, "{old:?} is there once");
    base.replace(old, new)
}

fn parse(text: &str) -> Scenario {
    Scenario::parse(text, Path::new("run.toml")).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the error line for a text that must be refused.
fn refusal(text: &str) -> String {
    Scenario::parse(text, Path::new("run.toml")).expect_err("a bad scenario").to_string()
}
