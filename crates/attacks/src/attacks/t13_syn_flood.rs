//! SYNs from unused addresses fill the listener with half-open connections.

use eifel_base::time::{Duration, Instant};
use eifel_packet::segment::{Flags, Segment};
use eifel_packet::seq::Seq;
use eifel_recovery::engine::Config;
use eifel_tcp::settings::SackUse;
use eifel_tcp::{Caller, Connection, Listener, ListenerReply, State};

use crate::Attack;
use crate::clock::cpu_nanos;
use crate::draw::Draw;
use crate::transcript::note;
use crate::trial::Trial;
use crate::victim::{PORTS, data, engine, segment, settings};

pub(super) const ATTACK: Attack = Attack {
    name: "t13-syn-flood",
    summary: "a million SYNs a second from addresses that never answer",
    source: "RFC 4987; CERT CA-1996-21",
    defence: "few and small half-open connections; beyond the backlog SYN cookies, of which nothing is kept",
    run,
};

const BACKLOG: usize = 1024;
const OWN: [u8; 4] = [192, 0, 2, 1];

fn run(trial: &mut Trial) {
    let seconds = trial.times(5, 1);
    let mut listener = Listener::new(&settings(), PORTS.local, BACKLOG, [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210]);
    // Before the flood, a client gets all the options that it offers.
    let calm = call(&mut listener, Instant::ZERO, 1);
    trial.exactly(
        "clients that get in without a flood, with SACK",
        "clients",
        u64::from(calm == Some(SackUse::WithDuplicates)),
        1,
    );
    let mut flood = Flood { draw: Draw::new(1, ATTACK.name), most: 0, longest_answer: 0 };
    let syns = trial.times(1_000_000, 100_000);
    let mut nanos = 0;
    let mut inside = 0;
    for second in 1..=seconds {
        let at = Instant::ZERO + Duration::from_secs(second);
        nanos += cpu_nanos(|| flood.second(&mut listener, at, syns)).0;
        inside += u64::from(call(&mut listener, at + Duration::from_secs(1), 1 + second as u16).is_some());
    }
    trial.exactly("clients that get in amid the flood", "clients", inside, seconds);
    trial.at_most("half-open connections kept", "connections", flood.most, BACKLOG as u64);
    trial.at_most("memory for them", "bytes", flood.most * Listener::half_open_bytes() as u64, 512 * 1024);
    trial.at_most("most answers to one SYN", "segments", flood.longest_answer, 1);
    let forged = trial.times(1 << 24, 1 << 17);
    trial.exactly("connections opened by guessed cookies", "connections", guess(&mut listener, forged, seconds + 1), 0);
    trial.timed("a SYN, on average", "µs", nanos as f64 / 1e3 / (seconds * syns) as f64, 2.0);
}

struct Flood {
    draw: Draw,
    most: u64,
    longest_answer: u64,
}

impl Flood {
    /// Sends `syns` SYNs in the second that begins at `at`.
    fn second(&mut self, listener: &mut Listener, at: Instant, syns: u64) {
        for number in 0..syns {
            let now = at + Duration::from_nanos(number * (1_000_000_000 / syns));
            let source = self.draw.any().to_be_bytes();
            let caller = Caller::v4(source, OWN, self.draw.between(1, 1 << 16) as u16);
            let syn = Segment { seq: Seq(self.draw.any()), ..segment(Flags::SYN, 0, 0) };
            let answers = u64::from(matches!(heard(listener, now, &caller, &syn), ListenerReply::Answer(_)));
            self.longest_answer = self.longest_answer.max(answers);
            self.most = self.most.max(listener.half_open() as u64);
        }
    }
}

fn heard(listener: &mut Listener, now: Instant, caller: &Caller, segment: &Segment) -> ListenerReply {
    let heard = listener.handle_segment(now, caller, segment, &[], || engine(&Config::default()));
    let answer = match &heard {
        ListenerReply::Answer(answer) => Some(answer),
        ListenerReply::Nothing | ListenerReply::Opened(_) => None,
    };
    note((now, caller, segment, matches!(heard, ListenerReply::Opened(_)), answer));
    heard
}

/// Connects as an honest client and sends a segment of data. Returns the agreed use of SACK if the
/// data arrives.
fn call(listener: &mut Listener, now: Instant, port: u16) -> Option<SackUse> {
    let ports = eifel_tcp::Ports { local: port, remote: PORTS.local };
    let caller = Caller::v4([198, 51, 100, 7], OWN, port);
    let mut client = Connection::connect(&settings(), engine(&Config::default()), ports, Seq(77));
    client.write_counted(500);
    let syn = eifel_testkit::connections::next(&mut client, now)?.segment;
    let ListenerReply::Answer(answer) = heard(listener, now, &caller, &syn) else { return None };
    let later = now + Duration::from_millis(100);
    client.handle_segment(later, &answer, &[]);
    let mut server: Option<Box<Connection>> = None;
    while let Some(out) = eifel_testkit::connections::next(&mut client, later) {
        match &mut server {
            Some(server) => server.handle_segment(later, &out.segment, &[]),
            None => match heard(listener, later, &caller, &out.segment) {
                ListenerReply::Opened(opened) => server = Some(opened),
                _ => return None,
            },
        }
    }
    let server = server.filter(|server| server.state() == State::Established && server.received() == 500)?;
    drop(server);
    Some(if answer.options.sack_permitted { SackUse::WithDuplicates } else { SackUse::Off })
}

/// Counts connections that random acknowledgements open.
fn guess(listener: &mut Listener, count: u64, second: u64) -> u64 {
    let mut draw = Draw::new(2, ATTACK.name);
    let now = Instant::ZERO + Duration::from_secs(second);
    let opened = (0..count).filter(|_| {
        let caller = Caller::v4([203, 0, 113, 9], OWN, draw.between(1, 1 << 16) as u16);
        let forged = Segment { ack: Seq(draw.any()), ..data(1, 1, 1) };
        matches!(heard(listener, now, &caller, &forged), ListenerReply::Opened(_))
    });
    opened.count() as u64
}
