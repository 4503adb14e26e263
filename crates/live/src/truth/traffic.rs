//! Connections between the kernels of two namespaces, through ordinary sockets.

use super::draw::{Pattern, Traffic};
use crate::side::Side;
use crate::system::Error;
use crate::system::namespace::Namespace;
use rustix::net::{AddressFamily, SocketType, sockopt};
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long a socket waits for its peer. A path that loses much may stop a connection for longer;
/// then the recording ends with what there is.
const PATIENCE: Duration = Duration::from_secs(12);
const BACKLOG: i32 = 64;
/// How long a listener waits for the next connection.
const COMES: Duration = Duration::from_secs(60);
/// How long a sender that closes last stays open: a report of a duplicate may still come.
const STAYS: Duration = Duration::from_millis(500);

/// When the sender closes its direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Closes {
    /// As soon as everything is written.
    First,
    /// After the receiver has answered that it has everything.
    Last,
}

/// All connections of a recording, at work.
#[derive(Debug)]
pub struct Running {
    threads: Vec<JoinHandle<Result<(), Error>>>,
    failed: Arc<AtomicBool>,
}

impl Running {
    /// Listens at the far side, and connects from the near one.
    ///
    /// # Errors
    /// Those of the listening socket.
    pub fn begin(
        near: &Namespace,
        far: &Namespace,
        traffic: Traffic,
        port: u16,
        closes: Closes,
    ) -> Result<Self, Error> {
        let address: IpAddr = if traffic.v6 { Side::FAR.v6().into() } else { Side::FAR.v4().into() };
        let to = SocketAddr::new(address, port);
        let listener = far.within(|| listen(to, traffic.receive_buffer))?;
        let failed = Arc::new(AtomicBool::new(false));
        let run = |what: Box<dyn FnOnce() -> Result<(), Error> + Send>| {
            let failed = Arc::clone(&failed);
            thread::spawn(move || what().inspect_err(|_| failed.store(true, Ordering::Relaxed)))
        };
        let until = match closes {
            Closes::First => u64::MAX,
            Closes::Last => traffic.pattern.bytes(),
        };
        let mut threads = vec![run(Box::new(move || accept(&listener, traffic.flows, until)))];
        for _ in 0..traffic.flows {
            let near = near.try_clone()?;
            threads.push(run(Box::new(move || {
                near.enter()?;
                send(to, traffic, closes)
            })));
        }
        Ok(Self { threads, failed })
    }

    /// Returns whether all connections have ended, or one has failed.
    pub fn is_over(&self) -> bool {
        self.failed.load(Ordering::Relaxed) || self.threads.iter().all(JoinHandle::is_finished)
    }

    /// Waits for all connections.
    ///
    /// # Errors
    /// That of the first connection that failed.
    pub fn finish(self) -> Result<(), Error> {
        self.threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }
}

/// Listens with a buffer that all accepted connections inherit.
fn listen(at: SocketAddr, buffer: Option<u32>) -> Result<TcpListener, Error> {
    let failed = |error| Error::new(format!("listen at {at}"), &error, "");
    let family = if at.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = rustix::net::socket(family, SocketType::STREAM, None).map_err(failed)?;
    if let Some(bytes) = buffer {
        sockopt::set_socket_recv_buffer_size(&socket, bytes as usize).map_err(failed)?;
    }
    // A caller that fails does not come: nobody waits for it for ever.
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, Some(COMES)).map_err(failed)?;
    rustix::net::bind(&socket, &at).map_err(failed)?;
    rustix::net::listen(&socket, BACKLOG).map_err(failed)?;
    Ok(TcpListener::from(socket))
}

fn accept(listener: &TcpListener, flows: u32, until: u64) -> Result<(), Error> {
    let failed = Error::of("receive");
    let readers: Result<Vec<JoinHandle<std::io::Result<u64>>>, std::io::Error> = (0..flows)
        .map(|_| {
            let (mut stream, _) = listener.accept()?;
            stream.set_read_timeout(Some(PATIENCE))?;
            Ok(thread::spawn(move || read_all(&mut stream, until)))
        })
        .collect();
    for reader in readers.map_err(failed)? {
        let read = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        read.map(drop).or_else(give_up).map_err(Error::of("receive"))?;
    }
    Ok(())
}

/// Reads to the peer's end or `until` bytes have come, and answers with one byte, so that the peer
/// knows.
fn read_all(stream: &mut TcpStream, until: u64) -> std::io::Result<u64> {
    let (mut room, mut read) = (vec![0; 1 << 16], 0);
    while read < until {
        match stream.read(&mut room) {
            Ok(0) => break,
            Ok(count) => read += count as u64,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    stream.write_all(b"k")?;
    Ok(read)
}

fn send(to: SocketAddr, traffic: Traffic, closes: Closes) -> Result<(), Error> {
    let failed = |error: std::io::Error| Error::new(format!("send to {to}"), &error, "");
    let mut stream = TcpStream::connect(to).map_err(failed)?;
    sockopt::set_tcp_congestion(&stream, traffic.congestion)
        .map_err(|error| Error::new(format!("use {}", traffic.congestion), &error, ""))?;
    stream.set_nodelay(true).map_err(failed)?;
    stream.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
    write_all(&mut stream, traffic.pattern, closes).or_else(give_up).map_err(failed)
}

/// Writes what the pattern says, and waits for the peer's answer.
fn write_all(stream: &mut TcpStream, pattern: Pattern, closes: Closes) -> std::io::Result<()> {
    match pattern {
        Pattern::Bulk { bytes } => stream.write_all(&vec![b'e'; bytes as usize])?,
        Pattern::Messages { count, bytes, pause_ms } => {
            for _ in 0..count {
                stream.write_all(&vec![b'e'; bytes as usize])?;
                thread::sleep(Duration::from_millis(pause_ms));
            }
        }
    }
    if closes == Closes::First {
        stream.shutdown(std::net::Shutdown::Write)?;
    }
    stream.read_exact(&mut [0])?;
    if closes == Closes::Last {
        thread::sleep(STAYS);
    }
    Ok(())
}

/// Forgives the errors of a connection that an end gave up.
fn give_up(error: std::io::Error) -> std::io::Result<()> {
    use ErrorKind::{BrokenPipe, ConnectionReset, NotConnected, TimedOut, UnexpectedEof, WouldBlock};
    match error.kind() {
        BrokenPipe | ConnectionReset | NotConnected | TimedOut | UnexpectedEof | WouldBlock => Ok(()),
        _ => Err(error),
    }
}
