//! A kernel's undo decisions beside those of the detector and the response `linux`.
//!
//! One connection sends over a drawn path between two kernels. The sender's packets, and the loss
//! signals that its tracepoints tell, go to the detector: so both decide about the same fates. The
//! kernel's counters tell which undo it did, and its tracepoints the windows around it.

pub mod compare;
pub mod counters;
mod events;
pub mod sender;
mod windows;

use crate::system::Error;
use crate::truth::draw::{Class, Draw, Path as DrawnPath};
use crate::truth::record::{self, Beside};
use compare::Decision;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// The columns of a recording's file; a row is an episode. `begins_s` counts from the
/// connection's first. `when` says whether each undo is at an ACK that came between the two looks at the counters
/// between which the kernel's rose. The windows are those before the next ACK, in segments.
pub const COLUMNS: &str = "recording,class,congestion,begins_s,signal,kernel,model,when,kernel_cwnd,model_cwnd";

/// Draws the recording of this number: as for [`truth`](crate::truth), but with one connection, since
/// the counters are those of a namespace. `None` if the path is a LAN, which has no box.
pub fn draw(seed: u64, number: u32) -> Option<Draw> {
    let mut draw = Draw::new(seed, number);
    draw.traffic.flows = 1;
    (draw.class != Class::Lan).then_some(draw)
}

/// Makes a recording below `folder`, and returns its episodes. Its files stay in `NAME.box` if the
/// model decides otherwise than the kernel in one of them.
///
/// # Errors
/// Those of the system and of the connection, and a recording that misses packets or events.
pub fn record(draw: &Draw, folder: &Path, port: u16) -> Result<Vec<Decision>, Error> {
    let own = folder.join(format!("{}.box", draw.name));
    let DrawnPath::Box { scenario, .. } = &draw.path else {
        return Err(Error::new(&draw.name, &"expected a path through the box", ""));
    };
    let decided = record::run(draw, scenario, &own, port, Beside::Acks)
        .and_then(|()| compare::decisions(&own, port, draw.traffic.congestion));
    let agree = decided.as_ref().is_ok_and(|decisions| decisions.iter().all(Decision::agrees));
    if agree && own.exists() {
        fs::remove_dir_all(&own).map_err(|error| Error::new(own.display().to_string(), &error, ""))?;
    }
    decided
}

/// Returns the rows of a recording, without a header.
pub fn rows(draw: &Draw, decisions: &[Decision]) -> String {
    let mut text = String::new();
    for one in decisions {
        let signal = if one.timeout { "timeout" } else { "fast retransmit" };
        let names = |undos: &[&str]| if undos.is_empty() { "none".to_owned() } else { undos.join(" ") };
        let (kernel, model) = (names(&one.kernel), names(&one.model));
        let when = if one.is_timely { "same" } else { "other" };
        let [kernel_cwnd, model_cwnd]: [String; 2] =
            one.cwnd.map_or_else(Default::default, |pair| pair.map(|cwnd| cwnd.to_string()));
        let (name, class, congestion) = (&draw.name, draw.class.name(), draw.traffic.congestion);
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{name},{class},{congestion},{:.6},{signal},{kernel},{model},{when},{kernel_cwnd},{model_cwnd}",
            one.begins.as_secs_f64()
        );
    }
    text
}
