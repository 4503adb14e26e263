//! Commands in namespaces.

use crate::rig::allowed;
use eifel_live::system::namespace::Namespace;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

#[test]
fn a_command_that_is_killed_has_ended() {
    if !allowed() {
        return;
    }
    let mut command = Command::new("sleep");
    command.arg("60");
    let mut running = Namespace::new().unwrap().spawn(command).unwrap();
    assert_eq!(running.ended().unwrap(), None);
    running.kill();
    let status = running.ended().unwrap().expect("it has ended when the call returns");
    assert_eq!(status.signal(), Some(9));
}
