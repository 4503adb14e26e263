//! A run of two hosts with the box between them, in virtual time.

use std::fmt::Write;

use eifel_base::time::{Duration, Instant};
use eifel_live::apps::client::{self, Client};
use eifel_live::apps::server::{self, Server};
use eifel_live::apps::{Amount, Notice};
use eifel_live::end_settings::{EndSettings, Role};
use eifel_live::hiccup::counts::{Counts, numbers};
use eifel_live::hiccup::order::Trigger;
use eifel_live::hiccup::run::Report;
use eifel_live::hiccup::truth::{Judged, Truth};
use eifel_live::hiccup::{Direction, Hiccup, Transit};
use eifel_live::host::{Config, Host};
use eifel_live::mirror;
use eifel_live::recording::Recording;
use eifel_live::station::{Application, Next};
use eifel_sim::record::Record;
use eifel_sim::scenario::Scenario;
use eifel_testkit::digest;

pub const MS: Duration = Duration::from_millis(1);

pub fn scenario(link: &str, more: &str) -> Scenario {
    let text = format!(
        "duration_s = 60\n[point_to_point]\nrate_bps = 8_000_000\ndelay_ms = 20\n{link}\n{more}\n\
         [[flow]]\nname = \"main\"\nfrom = \"sender\"\nto = \"receiver\"\n\
         application = {{ kind = \"bulk\", bytes = 100_000 }}\nsender = {{ detect = \"eifel-timestamps\", \
         observers = [\"f-rto\", \"dsack\"] }}\n"
    );
    Scenario::parse(&text, "golden.toml".as_ref()).unwrap()
}

/// The results of a run.
pub struct Run {
    pub text: String,
    pub passages: Vec<Transit>,
    pub packets: Vec<(Instant, usize, Vec<u8>)>,
    pub judged: Vec<Judged>,
}

/// Sends data from one host to the other through the box of a scenario.
pub fn run(scenario: &Scenario, triggers: &[&str], body: Amount, v6: bool) -> Run {
    let host = |number: u8| {
        let (v4, v6) = ([10, 0, 0, number].into(), format!("fd00::{number}").parse().unwrap());
        Host::new(Config { v4: Some(v4), v6: Some(v6), mtu: 1500, secret: [number.into(), 7], most_connections: 9 })
    };
    let mut hosts = [host(1), host(2)];
    let triggers = triggers.iter().map(|text| Trigger::parse(text).unwrap()).collect();
    let mut hiccup = Hiccup::new(scenario, triggers).unwrap();
    let [calls, answers] =
        [Role::Calls, Role::Answers].map(|role| EndSettings::like(scenario, role, [5, 6], None).unwrap());
    let recordings =
        [Recording::new(Record::all(), &calls.sender), Recording::receiving(Record::all(), &answers.sender)];
    recordings.iter().zip(&mut hosts).for_each(|(recording, host)| recording.attach(host));
    let (news, other_news) = (std::cell::RefCell::new(String::new()), std::cell::RefCell::new(String::new()));
    let tells = |to: &std::cell::RefCell<String>, now: Instant, news: &Notice<'_>| {
        writeln!(to.borrow_mut(), "{now:?} {news:?}").unwrap();
    };
    let peer = if v6 { "[fd00::2]:80" } else { "10.0.0.2:80" }.parse().unwrap();
    let every = MS * 100;
    let plan = client::Plan {
        peer,
        settings: calls.settings,
        sender: calls.sender,
        preamble: Vec::new(),
        body,
        end: client::End::Close,
        every,
    };
    let (settings, sender) = (answers.settings, answers.sender);
    let taken = server::Plan { port: 80, settings, sender, calls: Some(1), checked: true, every };
    let watch = Box::new(|now: Instant, one: &Notice<'_>| tells(&other_news, now, one));
    let mut answer = Server::begin(&mut hosts[1], taken, watch).unwrap();
    let watch = Box::new(|now: Instant, one: &Notice<'_>| tells(&news, now, one));
    let mut call = Client::begin(Instant::ZERO, &mut hosts[0], plan, watch).unwrap();
    let (mut now, mut truth, mut counts) = (Instant::ZERO, Truth::default(), [Counts::default(); 2]);
    let (mut passages, mut packets) = (Vec::new(), Vec::new());
    let (mut frames, mut done) = ([0_u64; 2], [false; 2]);
    while done != [true; 2] && now < Instant::ZERO + Duration::from_secs(500) {
        let mut next = hiccup.next_event();
        for (side, direction) in Direction::ALL.into_iter().enumerate() {
            let host = &mut hosts[side];
            host.handle_timeout(now);
            let turn = if side == 0 { call.turn(now, host) } else { answer.turn(now, host) }.unwrap();
            let mut packet = Vec::new();
            while host.poll_packet(now, &mut packet) {
                hiccup.take(now, direction, packet.clone());
                frames[side] += 1;
                truth.enters(hiccup.last().unwrap(), frames[side]);
                packets.push((now, side, packet.clone()));
            }
            match turn {
                Next::Done => done[side] = true,
                Next::Turn(due) => next = next.min(due),
            }
            next = next.min(host.poll_timeout()).min(hiccup.next_event());
        }
        if next == Instant::NEVER {
            break;
        }
        now = now.max(next);
        hiccup.run(now);
        let delivered = hiccup.delivered();
        for (passage, packet) in &delivered {
            let to = 1 - passage.direction as usize;
            hosts[to].handle_packet(now, packet);
            packets.push((now, to, packet.clone()));
        }
        for passage in delivered.into_iter().map(|(passage, _)| passage).chain(hiccup.dropped()) {
            truth.ends(&passage);
            counts[passage.direction as usize].note(&passage);
            passages.push(passage);
        }
    }
    passages.extend(hiccup.left().cloned());
    let judged = truth.finish();
    hosts.iter_mut().for_each(|host| drop(host.take_witness()));
    let mut text = String::new();
    match call.finish() {
        Ok((outcome, meter)) => writeln!(text, "{outcome:?}\n{}", digest(format!("{:?}", meter.intervals()))).unwrap(),
        Err(error) => writeln!(text, "{error}").unwrap(),
    }
    for read in answer.finish() {
        writeln!(text, "{} {:?} {}", read.bytes, read.lasted, digest(format!("{:?}", read.meter.intervals()))).unwrap();
    }
    for news in [news.take(), other_news.take()] {
        let first: Vec<&str> = news.lines().take(3).collect();
        writeln!(text, "{}\n{}", first.join("\n"), digest(news)).unwrap();
    }
    let report =
        Report { origin: Instant::ZERO + MS, passages: passages.clone(), judged: judged.clone(), ..Report::default() };
    for recording in recordings {
        let (mut tables, origin) = recording.finish(now).unwrap();
        mirror::fill(&mut tables, &report, origin, 3);
        let summary = mirror::summarised(&tables);
        let columns = tables.into_columns();
        for (name, table) in &columns {
            writeln!(text, "{name}: {}", digest(format!("{table:?}"))).unwrap();
        }
        writeln!(text, "{origin:?} {summary:?}").unwrap();
    }
    writeln!(text, "{:?}\n{:?}", numbers(&counts), judged.iter().take(4).collect::<Vec<_>>()).unwrap();
    let all = [format!("{passages:?}"), format!("{packets:?}"), format!("{judged:?}")].map(digest);
    writeln!(text, "{} {} {}, {now:?} {done:?}", all[0], all[1], all[2]).unwrap();
    Run { text, passages, packets, judged }
}

pub const LOSSY: &str = "loss = { kind = \"random\", rate = 0.02 }\nduplicate = { rate = 0.02 }\n\
                     reorder = { rate = 0.02, length = 3, longest_wait_s = 0.1 }\nqueue = { kind = \"drop-tail\", packets = 20 }";
pub const SPIKE: &str =
    "[[spike]]\nlinks = [\"bottleneck\"]\nholds = \"arriving\"\nat = [{ start_s = 0.3, end_s = 1.9 }]\n";
