//! A program that embeds a connection with its own device. The device is a pair of Unix sockets,
//! and each datagram is an IP packet. One end sends a megabyte, and the other counts it.
//!
//! `cargo run --release -p eifel-tcp --example embed`

use eifel_tcp::eifel_base::time::Instant;
use eifel_tcp::eifel_packet::datagram;
use eifel_tcp::eifel_packet::ip::{Addresses, Header};
use eifel_tcp::eifel_packet::segment::Segment;
use eifel_tcp::eifel_packet::seq::Seq;
use eifel_tcp::eifel_recovery::engine::{Config, Engine};
use eifel_tcp::settings::{ReceiveKind, SendKind, TimestampSettings};
use eifel_tcp::{Connection, Event, Ports, Settings, State};
use std::io;
use std::os::unix::net::UnixDatagram;
use std::time::Duration;

const BYTES: usize = 1_000_000;

/// A connection, its device, and the clock.
struct End {
    connection: Connection,
    device: UnixDatagram,
    addresses: Addresses,
    start: std::time::Instant,
}

impl End {
    #[expect(clippy::disallowed_methods, reason = "a program has a clock; the crate has none")]
    fn new(connection: Connection, device: UnixDatagram, addresses: Addresses) -> Self {
        Self { connection, device, addresses, start: std::time::Instant::now() }
    }

    fn now(&self) -> Instant {
        Instant::from_nanos(self.start.elapsed().as_nanos() as u64)
    }

    /// Sends all segments that may be sent now.
    fn send(&mut self) -> io::Result<()> {
        let mut segment = Segment::EMPTY;
        while let Some(outgoing) = self.connection.poll_transmit(self.now(), &mut segment) {
            let (front, back) = self.connection.payload(outgoing.start, segment.payload_len);
            let mut packet = Vec::new();
            datagram::emit(&Header::new(self.addresses), &segment, &[front, back].concat(), &mut packet)
                .map_err(io::Error::other)?;
            // A full device drops the packet, as a network would.
            let _ = self.device.send(&packet);
        }
        Ok(())
    }

    /// Performs one turn: sends, receives at most one packet, handles the timer if it is due, and
    /// sends again. Returns the events.
    fn turn(&mut self) -> io::Result<Vec<Event>> {
        self.send()?;
        let due = self.connection.poll_timeout().since(self.now()).as_nanos().clamp(1_000, 100_000_000);
        self.device.set_read_timeout(Some(Duration::from_nanos(due)))?;
        let mut room = [0; 2048];
        if let Ok(length) = self.device.recv(&mut room)
            && let Ok((_, segment, payload)) = datagram::parse(&room[..length])
        {
            self.connection.handle_segment(self.now(), &segment, payload);
        }
        if self.connection.poll_timeout() <= self.now() {
            self.connection.handle_timeout(self.now());
        }
        // Includes the last segments of a closed connection, such as the acknowledgement of the
        // peer's FIN.
        self.send()?;
        Ok(std::iter::from_fn(|| self.connection.poll_event()).collect())
    }
}

fn engine() -> io::Result<Engine> {
    Engine::new(&Config::default()).map_err(|error| io::Error::other(error.to_string()))
}

fn send(mut end: End) -> io::Result<()> {
    let mut left = BYTES;
    while !matches!(end.connection.state(), State::Closed | State::TimeWait { .. }) {
        left -= end.connection.write(&vec![b'x'; left]);
        if left == 0 {
            end.connection.shutdown_write();
        }
        for event in end.turn()? {
            println!("sender: {event:?}");
        }
    }
    Ok(())
}

fn receive(mut end: End) -> io::Result<usize> {
    let (mut total, mut room) = (0, vec![0; 1 << 16]);
    while end.connection.state() != State::Closed {
        for event in end.turn()? {
            println!("receiver: {event:?}");
            if event == Event::PeerClosed {
                end.connection.shutdown_write();
            }
        }
        total += end.connection.read(&mut room);
    }
    Ok(total)
}

fn main() -> io::Result<()> {
    // A real program takes it from the system's random numbers.
    let secret = [0x1234, 0x5678];
    let settings = Settings {
        send: SendKind::Held { buffer: 100_000 },
        receive: ReceiveKind::Held,
        timestamps: Some(TimestampSettings::distinct(secret)),
        ..Settings::default()
    };
    let (here, there) = UnixDatagram::pair()?;
    // Without a timeout, two ends with full queues would wait for each other for ever.
    for device in [&here, &there] {
        device.set_write_timeout(Some(Duration::from_millis(1)))?;
    }
    let addresses = Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() };
    let (near, far) = (Ports { local: 49_152, remote: 80 }, Ports { local: 80, remote: 49_152 });
    let caller = Connection::connect(&settings, engine()?, near, Seq(1_000));
    let listener = Connection::listen(&settings, engine()?, far, Seq(2_000));
    let receiver = End::new(listener, there, addresses.reversed());
    let counting = std::thread::spawn(move || receive(receiver));
    send(End::new(caller, here, addresses))?;
    let total = counting.join().map_err(|_| io::Error::other("the receiver panicked"))??;
    println!("{total} bytes");
    assert_eq!(total, BYTES);
    Ok(())
}
