//! The live image of a simulated run. The scenario's first flow runs between two eifel hosts. Each
//! is behind the kernel of a namespace of its own, with the box between the two kernels.

use crate::apps::client::{self, Client};
use crate::apps::server::{self, Server};
use crate::apps::{Amount, Notice};
use crate::end_settings::{EndSettings, Role};
use crate::hiccup::run::{Control, Relay, Report};
use crate::hiccup::{Direction, Fate, Hiccup, Transit};
use crate::host::Host;
use crate::recording::{Recording, note_arrival};
use crate::side::Side;
use crate::station::{Application, Next, Station, Waits};
use crate::system::Error;
use crate::system::clock::Clock;
use crate::system::namespace::Namespace;
use eifel_base::time::{Duration, Instant};
use eifel_recovery::engine::Event;
use eifel_sim::record::tables::{ArrivalRow, DropRow};
use eifel_sim::record::{Record, Tables, codes};
use eifel_sim::scenario::{Scenario, StreamApplication, Traffic};
use eifel_sim::summary::FlowSummary;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// The result of a live run.
pub struct Mirrored {
    /// The tables that the simulator would have recorded.
    pub tables: Tables,
    /// The summary of the flow.
    pub summary: FlowSummary,
    /// The box's report.
    pub report: Report,
    /// When the box's time began, in the time of the tables, in nanoseconds.
    pub box_began_ns: i64,
}

/// Returns the amount that the first flow sends; `None` if it cannot run live. It has to be a bulk
/// transfer behind a handshake, of a fixed size or endless.
pub fn amount(scenario: &Scenario) -> Option<Amount> {
    match &scenario.flows.first()?.traffic {
        Traffic::Stream { application: StreamApplication::Bulk { bytes }, connection }
            if connection.opening.by_segments() =>
        {
            match bytes {
                None => Some(Amount::Time(scenario.duration)),
                Some(bytes) => bytes.if_fixed().map(Amount::Bytes),
            }
        }
        _ => None,
    }
}

/// The port at which the receiving host listens.
const PORT: u16 = 5001;

/// Runs the first flow live, and keeps the tables `kept`. `places` are two new namespaces.
///
/// # Errors
/// A flow that cannot be run live, settings of links that make no sense, and those of the system.
pub fn run(scenario: &Scenario, kept: Record, places: [Namespace; 2], random: [u64; 2]) -> Result<Mirrored, Error> {
    let wrong = |what: &str| Error::new("the scenario's first flow", &what, "");
    let amount =
        amount(scenario).ok_or_else(|| wrong("expected a bulk transfer that begins with a handshake of segments"))?;
    let hiccup = Hiccup::new(scenario, Vec::new()).map_err(Error::of("the scenario's links"))?;
    let [near, far] = places;
    let tuns = [Side::NEAR.device(&near, 1500, true)?, Side::FAR.device(&far, 1500, true)?];
    let terms = |role, random| EndSettings::like(scenario, role, random, None).ok_or_else(|| wrong("expected TCP"));
    let (calls, answers) = (terms(Role::Calls, random)?, terms(Role::Answers, [random[1], random[0]])?);
    let (near_tun, near_config) = Side::NEAR.behind(&near, random)?;
    let (far_tun, far_config) = Side::FAR.behind(&far, [random[1], random[0]])?;
    let clock = Clock::start();
    let every = Duration::from_secs(1);
    let until = clock.now() + scenario.duration;
    let receiver = thread::spawn(move || -> Result<(), Error> {
        let mut station = Station::new(far_config, far_tun, clock);
        station.urgent();
        let EndSettings { settings, sender } = answers;
        let plan = server::Plan { port: PORT, settings, sender, calls: Some(1), checked: true, every };
        let begun = Server::begin(&mut station.host, plan, Box::new(|_, _| {}));
        let mut answer = begun.map_err(Error::of("listen"))?;
        station.run(&mut Limited { application: &mut answer, until })
    });
    let undos = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&undos);
    let sender = thread::spawn(move || -> Result<_, Error> {
        let mut station = Station::new(near_config, near_tun, clock);
        station.urgent();
        let EndSettings { settings, sender } = calls;
        let recording = Recording::new(Record::all(), &sender);
        recording.attach(&mut station.host);
        let peer = (Side::FAR.host(), PORT).into();
        let (preamble, end) = (Vec::new(), client::End::Close);
        let plan = client::Plan { peer, settings, sender, preamble, body: amount, end, every };
        let watch = move |_: Instant, news: &Notice<'_>| {
            counted.fetch_add(u64::from(matches!(news, Notice::Recovery(Event::Adjusted { .. }))), Ordering::Relaxed);
        };
        let begun = Client::begin(clock.now(), &mut station.host, plan, Box::new(watch));
        let mut call = begun.map_err(Error::of("connect"))?;
        station.run(&mut Limited { application: &mut call, until })?;
        let (outcome, _) = call.finish()?;
        drop(station);
        let recorded = recording.finish(clock.now());
        let (tables, origin) = recorded.ok_or_else(|| Error::new("the recording", &"it is still in use", ""))?;
        Ok((tables, origin, outcome))
    });
    let relay = Relay::new(hiccup, tuns, clock, Control::default(), None).keeping();
    let report = relay.run(|| Ok(sender.is_finished()))?;
    let (mut tables, origin, outcome) = joined(sender)?;
    // Without the box, the receiver has no peer. Its thread ends with its station or with the
    // process.
    if receiver.is_finished() {
        joined(receiver)?;
    }
    let link = scenario.flows[0].there.last().copied().unwrap_or_default();
    fill(&mut tables, &report, origin, link as u16);
    tables.dictionaries.links = scenario.links.iter().map(|link| link.name.clone()).collect();
    tables.spikes = spikes(scenario)?;
    let mut summary = summarised(&tables);
    summary.flow.clone_from(&scenario.flows[0].name);
    summary.completed = matches!(amount, Amount::Bytes(bytes) if outcome.acknowledged == bytes);
    summary.time_s = tables.arrivals.t_ns.last().map_or(0.0, |&at| at as f64 / 1e9);
    summary.bytes = outcome.acknowledged;
    summary.undos = undos.load(Ordering::Relaxed);
    summary.goodput_bps = outcome.acknowledged as f64 * 8.0 / summary.time_s.max(1e-9);
    tables.kept = kept;
    let box_began_ns = since(report.origin, origin);
    Ok(Mirrored { tables, summary, report, box_began_ns })
}

fn joined<T>(thread: thread::JoinHandle<Result<T, Error>>) -> Result<T, Error> {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// An application that is stopped at an instant.
struct Limited<'a> {
    application: &'a mut dyn Application,
    until: Instant,
}

impl Application for Limited<'_> {
    fn turn(&mut self, now: Instant, host: &mut Host) -> Result<Next, Error> {
        if now >= self.until {
            self.until = Instant::NEVER;
            self.application.stop(now, host);
        }
        Ok(match self.application.turn(now, host)? {
            Next::Turn(due) => Next::Turn(due.min(self.until)),
            Next::Done => Next::Done,
        })
    }

    fn stop(&mut self, now: Instant, host: &mut Host) {
        self.application.stop(now, host);
    }

    fn waits(&self) -> Vec<Waits<'_>> {
        self.application.waits()
    }
}

/// Returns the spikes of the simulated run. They hold for the live run too: both count time from
/// the first packet.
fn spikes(scenario: &Scenario) -> Result<eifel_sim::record::tables::Spikes, Error> {
    let kept = Record::named(["spikes"]).map_err(Error::of("the record"))?;
    Ok(eifel_sim::run(scenario, 0, kept).map_err(Error::of("the simulated run"))?.tables.spikes)
}

/// Returns the nanoseconds from `origin` to `at`.
fn since(at: Instant, origin: Instant) -> i64 {
    at.as_nanos() as i64 - origin.as_nanos() as i64
}

/// Fills in the facts that only the box knows: fates, arrivals, drops, and whether retransmissions
/// were needed. `origin` is when the recording's time began. `link` is the index of the box's link
/// in the dictionary.
pub fn fill(tables: &mut Tables, report: &Report, origin: Instant, link: u16) {
    let sent = &mut tables.transmissions;
    let rows: BTreeMap<(i64, i32), usize> =
        (0..sent.t_ns.len()).map(|row| ((sent.segment[row], sent.copy[row]), row)).collect();
    let offset = since(report.origin, origin);
    let time = |at: Instant| at.as_nanos() as i64 + offset;
    let mut passages: Vec<&Transit> = report.passages.iter().filter(|one| is_data(one)).collect();
    passages.sort_by_key(|passage| passage.due);
    let mut arrived = eifel_base::ranges::Ranges::default();
    for passage in passages {
        let label = passage.seen.label;
        let (Some(&row), Some(data)) = (rows.get(&(label.segment as i64, label.copy as i32)), passage.seen.data) else {
            continue;
        };
        let (tx, t_ns) = (sent.tx[row], time(passage.due));
        match passage.fate {
            Fate::Delivered | Fate::Copied => {
                let (new_bytes, in_order) = note_arrival(&mut arrived, data);
                if passage.fate == Fate::Delivered {
                    (sent.fate[row], sent.arrived_ns[row]) = (codes::DELIVERED, t_ns);
                }
                let (start, len) = (data.start as i64, (data.end - data.start) as i64);
                let new_bytes = new_bytes as i64;
                tables.arrivals.push(ArrivalRow { t_ns, flow: 0, end: 0, tx, start, len, new_bytes, in_order });
            }
            Fate::Dropped(cause) => {
                sent.fate[row] = codes::DROPPED;
                let cause = codes::drop_cause(cause);
                tables.drops.push(DropRow { t_ns, link, flow: 0, end: 0, tx, cause });
            }
            Fate::Ordered | Fate::Inside => {}
        }
    }
    let came = |passage: &&Transit| passage.direction == Direction::There && passage.seen.label.flow == 0;
    let labels: BTreeMap<u64, (i64, i32)> = report
        .passages
        .iter()
        .filter(came)
        .map(|one| (one.seen.number, (one.seen.label.segment as i64, one.seen.label.copy as i32)))
        .collect();
    for one in report.judged.iter().filter(|one| one.direction == Direction::There && one.flow == 0) {
        if let Some(&row) = labels.get(&one.number).and_then(|label| rows.get(label)) {
            sent.needed[row] = codes::need(!one.spurious);
        }
    }
    let episodes = &mut tables.episodes;
    for row in 0..episodes.opened_ns.len() {
        let opened = sent.t_ns.partition_point(|&at| at < episodes.opened_ns[row]);
        let first = (opened..sent.t_ns.len()).find(|&at| sent.kind[at] == 1);
        if let Some(need) = first.map(|at| sent.needed[at]).filter(|&need| need != 0) {
            episodes.truth[row] = codes::truth(need == codes::need(true));
        }
    }
}

/// Returns whether a packet is data of the first flow on the way there.
fn is_data(passage: &Transit) -> bool {
    passage.direction == Direction::There && passage.seen.label.flow == 0 && passage.seen.data.is_some()
}

/// Returns the summary that a sender's tables give.
pub fn summarised(tables: &Tables) -> FlowSummary {
    let (sent, episodes, timer) = (&tables.transmissions, &tables.episodes, &tables.timer);
    let count = |rows: usize, which: &dyn Fn(usize) -> bool| (0..rows).filter(|&row| which(row)).count() as u64;
    let all = sent.t_ns.len();
    let spurious = codes::truth(false);
    let of_cause = |cause: u8| count(episodes.cause.len(), &|row| episodes.cause[row] == cause);
    let wrong =
        |cause: u8| count(episodes.cause.len(), &|row| episodes.cause[row] == cause && episodes.truth[row] == spurious);
    let timeout_episodes = of_cause(1);
    FlowSummary {
        segments_sent: count(all, &|row| sent.segment[row] > 0),
        retransmissions: count(all, &|row| sent.kind[row] == 1),
        spurious_retransmissions: count(all, &|row| sent.needed[row] == codes::need(false)),
        timeouts: count(timer.event.len(), &|row| timer.event[row] == codes::EXPIRED),
        timeout_episodes,
        spurious_timeouts: wrong(1),
        genuine_timeouts: timeout_episodes - wrong(1),
        fast_retransmits: of_cause(2),
        spurious_fast_retransmits: wrong(2),
        detected_spurious: count(episodes.verdict.len(), &|row| episodes.verdict[row] == 1),
        drops: tables.drops.t_ns.len() as u64,
        ..FlowSummary::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hiccup::label::ParsedPacket;
    use crate::hiccup::truth::Judged;
    use crate::host::Config;
    use eifel_base::ranges::Block;
    use eifel_path::parcel::Label;

    /// An application that asks for a turn at an instant, and is done once it was asked to stop.
    struct Asks {
        turn: Instant,
        stops: u32,
    }

    impl Application for Asks {
        fn turn(&mut self, _: Instant, _: &mut Host) -> Result<Next, Error> {
            Ok(if self.stops == 0 { Next::Turn(self.turn) } else { Next::Done })
        }

        fn stop(&mut self, _: Instant, _: &mut Host) {
            self.stops += 1;
        }
    }

    #[test]
    fn the_first_flow_is_run_if_its_size_is_fixed() {
        let flow = |name: &str, application: &str| {
            format!(
                "[[flow]]\nname = {name:?}\nfrom = \"sender\"\nto = \"receiver\"\napplication = {{ {application} }}\n"
            )
        };
        let amount = |flows: &[String]| {
            let head = "duration_s = 9\n[point_to_point]\nrate_bps = 1000000\ndelay_ms = 1\n";
            amount(&Scenario::parse(&(head.to_owned() + &flows.concat()), "mirror.toml".as_ref()).unwrap())
        };
        let [five, endless] = [flow("a", "kind = \"bulk\", bytes = 5"), flow("b", "kind = \"bulk\", endless = true")];
        let drawn = flow("c", "kind = \"bulk\", bytes = { uniform = [1, 9] }");
        let datagrams = flow("d", "kind = \"cbr\", rate_bps = 1000, packet_bytes = 100");
        assert!(matches!(amount(&[five.clone(), endless.clone()]), Some(Amount::Bytes(5))));
        assert!(matches!(amount(&[endless, five]), Some(Amount::Time(time)) if time == Duration::from_secs(9)));
        assert!(amount(&[drawn]).is_none() && amount(&[datagrams]).is_none());
    }

    #[test]
    fn the_box_draws_the_spikes_of_the_first_simulated_run() {
        let text = "duration_s = 60\nseed = 3\n[point_to_point]\nrate_bps = 1000000\ndelay_ms = 1\n[[flow]]\nname = \"a\"\n\
                    from = \"sender\"\nto = \"receiver\"\napplication = { kind = \"bulk\", bytes = 500000 }\n[[spike]]\n\
                    links = [\"bottleneck\"]\nholds = \"arriving\"\nfirst_s = { uniform = [0, 3] }\n\
                    length_s = { uniform = [0.2, 1] }\ninterval_s = { uniform = [1, 3] }\ninterval = \"end-to-start\"\n";
        let scenario = Scenario::parse(text, "spikes.toml".as_ref()).unwrap();
        let of_run = |run| eifel_sim::run(&scenario, run, Record::all()).unwrap().tables.spikes;
        assert_eq!(spikes(&scenario).unwrap(), of_run(0));
        assert_ne!(of_run(0), of_run(1), "each run has its own");
    }

    #[test]
    fn an_application_runs_at_its_deadline_or_the_limit_and_is_stopped_once() {
        let at = Instant::from_nanos;
        let mut host = Host::new(Config { v4: None, v6: None, mtu: 1500, secret: [1, 2], most_connections: 1 });
        let mut asks = Asks { turn: at(30), stops: 0 };
        let mut limited = Limited { application: &mut asks, until: at(50) };
        assert_eq!(limited.turn(at(10), &mut host).unwrap(), Next::Turn(at(30)));
        let mut later = Asks { turn: at(70), stops: 0 };
        let mut limited = Limited { application: &mut later, until: at(50) };
        assert_eq!(limited.turn(at(49), &mut host).unwrap(), Next::Turn(at(50)));
        assert_eq!(limited.turn(at(50), &mut host).unwrap(), Next::Done);
        assert_eq!(limited.turn(at(51), &mut host).unwrap(), Next::Done);
        assert_eq!((asks.stops, later.stops), (0, 1));
    }

    #[test]
    fn only_forward_data_of_the_first_flow_counts() {
        let passage = |direction, flow, data| Transit {
            direction,
            seen: ParsedPacket {
                label: Label { flow, ..Label::default() },
                number: 1,
                protocol: 6,
                identification: 0,
                tcp: None,
                data,
            },
            bytes: 1500,
            entered: Instant::ZERO,
            due: Instant::ZERO,
            left: Instant::ZERO,
            fate: Fate::Delivered,
        };
        let data = Some(Block { start: 1, end: 1461 });
        assert!(is_data(&passage(Direction::There, 0, data)));
        assert!(!is_data(&passage(Direction::There, 1, data)));
        assert!(!is_data(&passage(Direction::Back, 0, data)));
        assert!(!is_data(&passage(Direction::There, 0, None)));
    }

    #[test]
    fn a_summary_counts_timeouts_apart_from_fast_retransmits() {
        let mut tables = Tables::default();
        let (spurious, genuine) = (codes::truth(false), codes::truth(true));
        let (timeout, fast) = (1, 2);
        let episodes = &mut tables.episodes;
        episodes.cause = vec![timeout, timeout, timeout, timeout, fast, fast, fast];
        episodes.truth = vec![spurious, spurious, spurious, genuine, spurious, genuine, genuine];
        episodes.verdict = vec![1, 1, 2, 2, 1, 1, 1];
        tables.timer.event = vec![codes::EXPIRED, 1, codes::EXPIRED];
        let summary = summarised(&tables);
        assert_eq!((summary.timeouts, summary.timeout_episodes), (2, 4));
        assert_eq!((summary.spurious_timeouts, summary.genuine_timeouts), (3, 1));
        assert_eq!((summary.fast_retransmits, summary.spurious_fast_retransmits), (3, 1));
        assert_eq!(summary.detected_spurious, 5);
    }

    /// The second segment overtakes the first and has a copy. The last two segments are dropped.
    /// The tables are the same for any order of the box's reports.
    #[test]
    fn arrivals_are_in_the_order_of_their_times_whatever_the_reports() {
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        let passage = |segment, due, fate| Transit {
            direction: Direction::There,
            seen: ParsedPacket {
                label: Label { segment, ..Label::default() },
                number: segment,
                protocol: 6,
                identification: 0,
                tcp: None,
                data: Some(Block { start: 1 + 100 * (segment - 1), end: 1 + 100 * segment }),
            },
            bytes: 140,
            entered: at(1),
            due: at(due),
            left: at(due),
            fate,
        };
        let lost = Fate::Dropped(eifel_path::parcel::DropCause::Random);
        let passages = [
            passage(1, 40, Fate::Delivered),
            passage(2, 30, Fate::Delivered),
            passage(2, 35, Fate::Copied),
            passage(3, 20, lost),
            passage(4, 10, lost),
        ];
        let filled = |passages: Vec<Transit>| {
            let mut tables = Tables::default();
            let sent = &mut tables.transmissions;
            (sent.t_ns, sent.segment, sent.copy) = (vec![0; 4], vec![1, 2, 3, 4], vec![0; 4]);
            (sent.tx, sent.fate, sent.arrived_ns) = (vec![5, 6, 7, 8], vec![0; 4], vec![-1; 4]);
            sent.needed = vec![0; 4];
            // The recording began at 7 ms on the clock, 2 ms before the box's first packet.
            fill(&mut tables, &Report { origin: at(9), passages, ..Report::default() }, at(7), 3);
            let (sent, came, drops) = (tables.transmissions, tables.arrivals, tables.drops);
            let ms = |times: Vec<i64>| times.into_iter().map(|at| at / 1_000_000).collect::<Vec<_>>();
            assert_eq!(sent.fate, [codes::DELIVERED, codes::DELIVERED, codes::DROPPED, codes::DROPPED]);
            assert_eq!((ms(sent.arrived_ns), drops.link), (vec![42, 32, 0, 0], vec![3, 3]));
            ((ms(came.t_ns), came.tx, came.new_bytes, came.in_order), (ms(drops.t_ns), drops.tx))
        };
        let found = filled(passages.to_vec());
        assert_eq!(found.0, (vec![32, 37, 42], vec![6, 6, 5], vec![100, 0, 100], vec![false, false, true]));
        assert_eq!(found.1, (vec![12, 22], vec![8, 7]));
        assert_eq!(filled(passages.into_iter().rev().collect()), found);
    }

    /// Packets and verdicts of another flow and of the other direction have the numbers of the first flow's packets.
    #[test]
    fn truth_covers_the_first_flows_packets_in_the_forward_direction() {
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        let passage = |direction, flow, number, segment| Transit {
            direction,
            seen: ParsedPacket {
                label: Label { flow, segment, ..Label::default() },
                number,
                protocol: 6,
                identification: 0,
                tcp: None,
                data: None,
            },
            bytes: 140,
            entered: at(1),
            due: at(1),
            left: at(1),
            fate: Fate::Delivered,
        };
        let judged = |direction, flow, number, spurious| Judged {
            at: at(1),
            frame: 1,
            flow,
            direction,
            number,
            seq: 1,
            len: 100,
            nth: 2,
            fate: Fate::Delivered,
            spurious,
            original_known: true,
        };
        let (there, back) = (Direction::There, Direction::Back);
        let mut passages: Vec<Transit> = (1..4).map(|number| passage(there, 0, number, number)).collect();
        passages.extend([passage(there, 1, 3, 1), passage(back, 0, 3, 2)]);
        let verdicts = vec![judged(there, 0, 3, true), judged(there, 1, 1, false), judged(back, 0, 2, false)];
        let mut tables = Tables::default();
        let sent = &mut tables.transmissions;
        (sent.t_ns, sent.kind) = (vec![10, 20, 30], vec![0, 0, 1]);
        (sent.segment, sent.copy, sent.needed) = (vec![1, 2, 3], vec![0; 3], vec![0; 3]);
        // The second episode has no retransmission.
        (tables.episodes.opened_ns, tables.episodes.truth) = (vec![15, 31], vec![0; 2]);
        fill(&mut tables, &Report { passages, judged: verdicts, ..Report::default() }, Instant::ZERO, 3);
        assert_eq!(tables.transmissions.needed, [0, 0, codes::need(false)]);
        assert_eq!(tables.episodes.truth, [codes::truth(false), 0]);
    }
}
