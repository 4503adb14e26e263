//! The test against an iperf3 server, which runs in virtual time and logs the messages that it
//! gets.

use crate::pair::{Pair, held};
use eifel_base::time::{Duration, Instant};
use eifel_live::apps::iperf::{Plan, Test};
use eifel_live::apps::{Amount, Notice};
use eifel_live::host::{Handle, Host, HostEvent};
use eifel_live::station::{Application, Next};
use eifel_live::system::Error;
use eifel_recovery::engine;
use eifel_testkit::{digest, golden};
use std::cell::RefCell;
use std::fmt::Write;

const PORT: u16 = 5201;
const MS: Duration = Duration::from_millis(1);

/// How a server differs from a correct one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    None,
    /// It sends this state instead of the first.
    Says(u8),
    /// It resets the control connection instead of sending the first state.
    Resets,
    /// The length in front of its results.
    Length(u32),
    /// Its results are no JSON document.
    Garbage,
    /// It resets the stream.
    Deaf,
}

/// A running server.
struct Server {
    fault: Fault,
    control: Option<Handle>,
    stream: Option<Handle>,
    heard: Vec<u8>,
    streamed: Vec<u8>,
    read: u64,
    step: u32,
    log: String,
}

impl Server {
    fn new(host: &mut Host, fault: Fault) -> Self {
        host.listen(PORT, 16, &held(), &engine::Config::default()).unwrap();
        let (heard, streamed, log) = (Vec::new(), Vec::new(), String::new());
        Self { fault, control: None, stream: None, heard, streamed, read: 0, step: 0, log }
    }

    /// Takes the next document, if it is complete.
    fn document(&mut self) -> Option<String> {
        let length = u32::from_be_bytes(self.heard.get(..4)?.try_into().unwrap()) as usize;
        let document = String::from_utf8(self.heard.get(4..4 + length)?.to_vec()).unwrap();
        self.heard.drain(..4 + length);
        Some(document)
    }

    /// Returns the next message of the server; `None` while it waits.
    fn next(&mut self) -> Option<Vec<u8>> {
        let said = match self.step {
            0 if self.heard.len() >= 37 => {
                let cookie: Vec<u8> = self.heard.drain(..37).collect();
                writeln!(self.log, "cookie {}", String::from_utf8_lossy(&cookie[..36])).unwrap();
                assert_eq!(cookie[36], 0);
                self.streamed = cookie;
                if let Fault::Says(state) = self.fault { vec![state] } else { vec![9] }
            }
            1 => {
                let parameters = self.document()?;
                writeln!(self.log, "parameters {parameters}").unwrap();
                vec![10]
            }
            2 if self.read >= 37 => vec![1, 2],
            3 if self.heard.first() == Some(&4) => {
                self.heard.remove(0);
                writeln!(self.log, "read {} in all", self.read).unwrap();
                vec![13]
            }
            4 => {
                let results = self.document()?;
                writeln!(self.log, "results {results}").unwrap();
                // The length is sent in two pieces.
                vec![0, 0]
            }
            5 => match self.fault {
                Fault::Length(length) => length.to_be_bytes()[2..].to_vec(),
                Fault::Garbage => [&[0, 4], b"oops".as_slice()].concat(),
                _ => [&[0, 13], b"{\"end\": true}".as_slice()].concat(),
            },
            // The state comes later than the results.
            6 if !matches!(self.fault, Fault::Length(_)) => vec![14],
            7 if self.heard.first() == Some(&16) => {
                writeln!(self.log, "heard that it is done").unwrap();
                Vec::new()
            }
            _ => return None,
        };
        self.step += 1;
        Some(said)
    }
}

impl Application for Server {
    fn turn(&mut self, _: Instant, host: &mut Host) -> Result<Next, Error> {
        while let Some((handle, happening)) = host.poll_event() {
            if let HostEvent::Opened { .. } = happening {
                match self.control {
                    None => self.control = Some(handle),
                    Some(_) if self.fault == Fault::Deaf => host.connection(handle).unwrap().abort(),
                    Some(_) => self.stream = Some(handle),
                }
            }
        }
        let mut room = vec![0; 1 << 16];
        if let Some(connection) = self.stream.and_then(|stream| host.connection(stream)) {
            loop {
                let count = connection.read(&mut room);
                if count == 0 {
                    break;
                }
                // The stream has the cookie of the control connection, and then the pattern.
                for (place, byte) in (self.read..).zip(&room[..count]) {
                    let cookie = self.streamed.get(place as usize).copied();
                    let pattern = || eifel_sim::pattern::bytes(place - 37, 1)[0];
                    assert_eq!(*byte, cookie.unwrap_or_else(pattern), "byte {place}");
                }
                self.read += count as u64;
            }
        }
        let Some(control) = self.control else { return Ok(Next::Turn(Instant::NEVER)) };
        let Some(connection) = host.connection(control) else { return Ok(Next::Done) };
        let count = connection.read(&mut room);
        self.heard.extend_from_slice(&room[..count]);
        if self.step == 0 && self.heard.len() >= 37 && self.fault == Fault::Resets {
            connection.abort();
            return Ok(Next::Done);
        }
        if let Some(said) = self.next() {
            connection.write(&said);
        }
        Ok(Next::Turn(Instant::NEVER))
    }

    fn stop(&mut self, _: Instant, _: &mut Host) {}
}

/// Runs a test for at most 10 s, and stops it at `stopped` if it is not over by then. Returns the
/// reports of both ends.
fn tested(body: Amount, fault: Fault, stopped: Option<Duration>) -> String {
    let mut pair = Pair::new();
    let mut server = Server::new(&mut pair.b, fault);
    let plan = Plan {
        server: ([10, 0, 0, 2], PORT).into(),
        settings: held(),
        sender: engine::Config::default(),
        body,
        every: MS * 100,
        secret: 99,
    };
    let news = RefCell::new(String::new());
    let watch = |now: Instant, one: &Notice<'_>| match one {
        Notice::Interval(interval) => {
            let (start, end, bytes) = (interval.start, interval.end, interval.bytes);
            writeln!(news.borrow_mut(), "{now:?} {start:?} to {end:?}: {bytes} bytes").unwrap();
        }
        one => writeln!(news.borrow_mut(), "{now:?} {one:?}").unwrap(),
    };
    let mut test = Test::begin(pair.now, &mut pair.a, plan, Box::new(watch)).unwrap();
    let (mut over, mut dues) = (None, Vec::new());
    for turn in 0..10_000 {
        pair.run_for(MS);
        if stopped == Some(MS * turn) {
            test.stop(pair.now, &mut pair.a);
        }
        if over.is_none() {
            match test.turn(pair.now, &mut pair.a).unwrap() {
                Next::Done => over = Some(pair.now),
                Next::Turn(due) => dues.push(due),
            }
        }
        if server.turn(pair.now, &mut pair.b).unwrap() == Next::Done || (over.is_some() && turn % 100 == 99) {
            break;
        }
    }
    let finished = match test.finish() {
        Ok((outcome, meter, results)) => {
            let intervals = digest(format!("{:?}", meter.intervals()));
            format!("{outcome:?}\n{} intervals {intervals}\nthe server's results {results}", meter.intervals().len())
        }
        Err(error) => error.to_string(),
    };
    dues.dedup();
    format!("{}asks for turns at {dues:?}, over at {over:?}\n{}{finished}\n", server.log, news.take())
}

#[test]
fn the_conversation_with_an_iperf3_server_matches_its_golden() {
    let mut text = String::new();
    for (body, fault, stopped) in [
        (Amount::Bytes(0), Fault::None, None),
        (Amount::Bytes(1), Fault::None, None),
        (Amount::Bytes(1_000_000), Fault::None, None),
        (Amount::Time(MS * 350), Fault::None, None),
        (Amount::Time(MS * 1000), Fault::None, Some(MS * 200)),
        (Amount::Bytes(1_000_000_000), Fault::None, Some(MS * 200)),
        (Amount::Bytes(1000), Fault::None, Some(MS * 3)),
        (Amount::Bytes(1000), Fault::Says(0xff), None),
        (Amount::Bytes(1000), Fault::Says(0xfe), None),
        (Amount::Bytes(1000), Fault::Says(11), None),
        (Amount::Bytes(1000), Fault::Says(42), None),
        (Amount::Bytes(1000), Fault::Resets, None),
        (Amount::Bytes(1000), Fault::Deaf, None),
        (Amount::Bytes(1000), Fault::Length(0xffff), None),
        (Amount::Bytes(1000), Fault::Garbage, None),
    ] {
        writeln!(text, "# {body:?}, {fault:?}, stopped {stopped:?}\n{}", tested(body, fault, stopped)).unwrap();
    }
    golden!("iperf.txt", text);
}

/// A test waits for a document of up to a mebibyte, and fails for a longer one.
#[test]
fn an_iperf3_document_that_is_too_long_is_refused() {
    let mut pair = Pair::new();
    pair.b.listen(PORT, 16, &held(), &engine::Config::default()).unwrap();
    for (length, fails) in [(1_u32 << 20, false), ((1 << 20) + 1, true)] {
        let plan = Plan {
            server: ([10, 0, 0, 2], PORT).into(),
            settings: held(),
            sender: engine::Config::default(),
            body: Amount::Bytes(1),
            every: MS,
            secret: 1,
        };
        let mut test = Test::begin(pair.now, &mut pair.a, plan, Box::new(|_, _| {})).unwrap();
        pair.run_for(MS * 20);
        let opened = std::iter::from_fn(|| pair.b.poll_event());
        let opened: Vec<Handle> =
            opened.filter(|(_, one)| matches!(one, HostEvent::Opened { .. })).map(|(handle, _)| handle).collect();
        let control = pair.b.connection(opened[0]).unwrap();
        control.write(&[&[13], length.to_be_bytes().as_slice(), &[0; 7]].concat());
        pair.run_for(MS * 20);
        let next = test.turn(pair.now, &mut pair.a).unwrap();
        assert_eq!(next == Next::Done, fails, "{length} bytes");
        assert_eq!(test.finish().unwrap_err().to_string().contains("too long"), fails);
    }
}
