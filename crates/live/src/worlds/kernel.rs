//! This kernel as the stack, in a namespace of its own.

use super::stack::{Counted, PACE, PACED_PORT, PORT, Stack, Standing, State};
use super::world::HIGHEST_MSS;
use crate::decisions::counters::{UNDOS, undos_of};
use crate::system::Error;
use crate::system::namespace::Namespace;
use crate::system::socket::{TcpInfo, listen};
use crate::system::tun::Tun;
use crate::system::wait::until_readable;
use eifel_base::time::Duration;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

/// The kernel's address, and the player's.
pub const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 88, 0, 1), Ipv4Addr::new(10, 88, 0, 2)];
/// `TCP_INFINITE_SSTHRESH` of Linux.
const INFINITE: u32 = 0x7fff_ffff;
/// Lowest congestion states of the kernel (linux/tcp.h).
const RECOVERY: u8 = 3;
const LOSS: u8 = 4;
/// Bytes of data that are written at once.
static CONTENTS: [u8; 1 << 16] = [b'e'; 1 << 16];

/// The usual receive buffers, on which the window scale of a SYN-ACK depends.
pub const RMEM: &str = "4096 131072 6291456";
/// The counters of the beginnings of fast recovery, with and without SACK.
const RECOVERIES: [&str; 2] = ["TCPSackRecovery", "TCPRenoRecovery"];

/// What the settings of the namespace are: no connection learns from another, and a SYN is never
/// answered with a cookie. The rest are the kernel's defaults.
const SETTINGS: [(&str, &str); 4] = [
    ("net/ipv4/tcp_no_metrics_save", "1"),
    ("net/ipv4/tcp_rmem", RMEM),
    ("net/ipv4/tcp_syncookies", "0"),
    ("net/ipv4/tcp_max_syn_backlog", "4096"),
];

/// This kernel's stack behind a TUN device. The device offloads, so that segments that leave together are read
/// together, as packetdrill reads them. The namespace disappears with this value.
#[derive(Debug)]
pub struct Kernel {
    tun: Tun,
    listeners: [TcpListener; 2],
    /// `/proc/net/netstat` of the namespace.
    table: File,
    text: String,
    /// The counters at the last look.
    known: BTreeMap<&'static str, u64>,
}

impl Kernel {
    /// Makes a namespace with a device and listeners of this congestion control.
    ///
    /// # Errors
    /// If rights are missing, or the kernel lacks the congestion control.
    pub fn start(congestion: &str) -> Result<Self, Error> {
        let namespace = Namespace::new()?;
        let tun = namespace.within(|| Tun::create_offloading("worlds0"))?;
        let [own, peer] = ADDRESSES;
        namespace.configure(&format!(
            "link set worlds0 mtu 1500 txqueuelen 5000 addrgenmode none up\naddr add {own} peer {peer} dev worlds0\n"
        ))?;
        namespace.set(&SETTINGS)?;
        let (listeners, table) = namespace.within(|| {
            let listener = |port, pace| listen(SocketAddr::from((own, port)), congestion, pace);
            let path = "/proc/thread-self/net/netstat";
            let table = File::open(path).map_err(Error::of(path))?;
            Ok(([listener(PORT, None)?, listener(PACED_PORT, Some(PACE))?], table))
        })?;
        let mut kernel = Self { tun, listeners, table, text: String::new(), known: BTreeMap::new() };
        kernel.counted()?;
        Ok(kernel)
    }
}

impl Stack for Kernel {
    type Socket = TcpStream;

    fn read(&mut self, room: &mut [u8]) -> Result<Option<usize>, Error> {
        self.tun.read(room)
    }

    fn deliver(&mut self, packet: &[u8]) -> Result<(), Error> {
        match self.tun.write(packet)? {
            true => Ok(()),
            false => Err(Error::new(format!("write to {}", self.tun.name()), &"no room", "")),
        }
    }

    fn accept(&mut self) -> Result<Option<(u16, TcpStream)>, Error> {
        for listener in &self.listeners {
            match listener.accept() {
                Ok((stream, peer)) => {
                    stream.set_nonblocking(true).map_err(Error::of("accept"))?;
                    stream.set_nodelay(true).map_err(Error::of("accept"))?;
                    // Without data to read, it ends by a reset, and nothing stays in TIME-WAIT.
                    rustix::net::sockopt::set_socket_linger(&stream, Some(std::time::Duration::ZERO))
                        .map_err(Error::of("accept"))?;
                    return Ok(Some((peer.port(), stream)));
                }
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(Error::new("accept", &error, "")),
            }
        }
        Ok(None)
    }

    fn write(&mut self, socket: &TcpStream, bytes: u32) -> Result<(), Error> {
        let mut socket = socket;
        let written = socket.write(&CONTENTS[..bytes as usize]).map_err(Error::of("write"))?;
        if written == bytes as usize { Ok(()) } else { Err(Error::new("write", &"the send buffer is full", "")) }
    }

    fn standing(&mut self, socket: &TcpStream) -> Result<Standing, Error> {
        let info = TcpInfo::of(socket)?;
        Ok(Standing {
            state: match info.ca_state {
                LOSS => State::Loss,
                RECOVERY => State::Recovery,
                _ => State::Open,
            },
            cwnd: info.snd_cwnd,
            ssthresh: Some(info.snd_ssthresh).filter(|&ssthresh| ssthresh < INFINITE),
            unacked: info.unacked,
            unsent: info.notsent_bytes,
            rto: Duration::from_micros(u64::from(info.rto_us)),
            timeouts: u32::from(info.total_rto),
            sent: info.data_segs_out,
            received: info.segs_in,
        })
    }

    fn counted(&mut self) -> Result<Counted, Error> {
        let failed = |cause: &dyn std::fmt::Display| Error::new("read /proc/net/netstat", cause, "");
        let mut room = [0; 1 << 14];
        let mut length = 0;
        while let part @ 1.. = self.table.read_at(&mut room[length..], length as u64).map_err(|error| failed(&error))? {
            length += part;
        }
        self.text.clear();
        self.text.push_str(std::str::from_utf8(&room[..length]).map_err(|error| failed(&error))?);
        let mut lines = self.text.lines().filter(|line| line.starts_with("TcpExt:"));
        let (Some(names), Some(values)) = (lines.next(), lines.next()) else {
            return Err(failed(&"the kernel has no counters of TCP"));
        };
        let mut rises: BTreeMap<&'static str, u64> = BTreeMap::new();
        for (name, value) in names.split(' ').zip(values.split(' ')) {
            let counter = UNDOS.iter().chain(&RECOVERIES).find(|counter| **counter == name);
            if let (Some(&counter), Ok(value)) = (counter, value.parse()) {
                let before = self.known.insert(counter, value).unwrap_or(value);
                rises.insert(counter, value - before);
            }
        }
        let recoveries = RECOVERIES.iter().filter_map(|counter| rises.get(counter)).sum();
        Ok(Counted { undos: undos_of(&rises), recoveries })
    }

    fn wait(&mut self, limit: Duration) -> Result<(), Error> {
        until_readable(&[self.tun.as_fd()], limit)
    }
}

/// The highest MSS that a world asks for fits the device.
const _: () = assert!(HIGHEST_MSS + 40 <= 1500);
