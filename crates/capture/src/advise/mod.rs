//! What another setting of the sender would have done to the retransmissions that left: the trade-off of
//! each knob, one a file.
//!
//! Open loop: each retransmission is judged by itself, by when the setting would have let it leave and when
//! the ACK of its original came. What the sender would have sent differently afterwards is not played.

#[cfg(feature = "files")]
pub mod command;
mod curve;
mod forward;
mod input;
mod probe;
#[cfg(feature = "files")]
mod text;
mod threshold;
mod timer;
mod window;

pub use curve::{Curve, Knob, Point};
pub use input::{ByFRto, Resent, of_report, of_watch};

use serde::Serialize;
use std::collections::BTreeMap;

/// The settings that the sender had, which no packet shows.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Settings {
    /// The smallest timeout in milliseconds (`rto_min`).
    pub rto_min_ms: f64,
    /// Whether it uses RACK (`net.ipv4.tcp_recovery`).
    pub rack: bool,
}

impl Default for Settings {
    /// Returns those of Linux.
    fn default() -> Self {
        Self { rto_min_ms: 200.0, rack: true }
    }
}

/// What would have become of some retransmissions.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Advised {
    pub retransmissions: usize,
    /// The settings that the sender is taken to have had.
    pub settings: Settings,
    /// One for each knob.
    pub curves: Vec<Curve>,
}

/// Values to judge in place of those that the retransmissions suggest: one for some of the knobs.
pub type Asked = BTreeMap<Knob, u64>;

/// Returns the curve of each knob.
pub fn advise(resent: &[Resent], settings: Settings, asked: &Asked) -> Advised {
    let mut ordered: Vec<&Resent> = resent.iter().collect();
    ordered.sort_by(|one, other| {
        (one.sender.cmp(&other.sender)).then(one.left_ms.total_cmp(&other.left_ms)).then(one.place.cmp(&other.place))
    });
    let curves = vec![
        timer::curve(&ordered, &settings, asked),
        threshold::curve(&ordered, &settings, asked),
        window::curve(&ordered, asked),
        forward::curve(&ordered),
        probe::curve(&ordered, &settings),
    ];
    Advised { retransmissions: resent.len(), settings, curves }
}
