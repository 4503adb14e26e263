//! Commands in namespaces.

use crate::rig::allowed;
use eifel_live::system::kernel::has_listener;
use eifel_live::system::namespace::Namespace;
use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

#[test]
fn a_killed_command_counts_as_exited() {
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

#[test]
fn a_socket_that_listens_is_found_over_either_version_of_ip() {
    if !allowed() {
        return;
    }
    let listens = Namespace::new().unwrap().within(|| {
        let before = has_listener()?;
        let found = ["127.0.0.1:5001", "[::1]:5001"].map(|address| {
            let listener = TcpListener::bind(address).unwrap();
            let connected = std::net::TcpStream::connect(address).unwrap();
            let while_open = has_listener().unwrap();
            drop(listener);
            let with_a_connection_only = has_listener().unwrap();
            drop(connected);
            (while_open, with_a_connection_only)
        });
        Ok((before, found))
    });
    assert_eq!(listens.unwrap(), (false, [(true, false); 2]));
}
