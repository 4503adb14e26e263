//! Tests against the kernel of this machine, in network namespaces of their own. If these may not
//! be made, the tests say so and are skipped.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

mod advised;
mod behind_the_box;
mod commands;
mod decisions;
mod devices;
mod namespaces;
mod orders;
mod path_mtu;
mod proxy;
mod proxy_load;
mod record;
mod recorded;
mod rig;
mod rough;
mod sctp;
mod station;
mod strangers;
mod streams;
mod tap;
mod time_wait;
mod truth;
mod undo;
mod worlds;

use std::process::Command;

const PROGRAM: &str = env!("CARGO_BIN_EXE_eifel");

fn live() -> Command {
    let mut command = Command::new(PROGRAM);
    command.arg("live");
    command
}
