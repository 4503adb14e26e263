//! Faults of an association. Each law is tested directly, and in a run that calls its checkers.

use super::{Account, Ledger, SLACK};
use crate::check::Checkers;
use crate::error::Error;
use crate::network::Observers;
use crate::scenario::Scenario;
use crate::sctp::endpoint::Endpoint;
use crate::world::{Running, World};
use eifel_base::time::Instant;
use eifel_sctp::Association;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Puts a fault into an account.
pub(super) type Plant = fn(&mut Account);

fn sound() -> Account {
    let paths = vec![(3000, 4000, Instant::ZERO), (0, 1000, Instant::NEVER)];
    Account { una: 10, nxt: 13, arrived: [true, false], paths, data: 2900, buffered: (100, 1000) }
}

fn judged(account: &Account) -> Result<(), &'static str> {
    let mut ledger = Ledger::default();
    ledger.accept(&sound()).and_then(|()| ledger.accept(account))
}

#[test]
fn each_law_is_broken_by_one_fault() {
    assert_eq!(judged(&sound()), Ok(()));
    let idle = vec![(1, 4000, Instant::ZERO), (0, 1000, Instant::NEVER)];
    for (broken, says) in [
        (Account { una: 9, ..sound() }, "a position went back"),
        (Account { nxt: 12, ..sound() }, "a position went back"),
        (Account { una: 14, ..sound() }, "more is acknowledged than was sent"),
        (Account { arrived: [false, false], ..sound() }, "more is acknowledged than has arrived"),
        (Account { arrived: [true, true], ..sound() }, "more has arrived than was sent"),
        (
            Account { una: 13, paths: idle, data: 0, ..sound() },
            "something is under way although nothing is outstanding",
        ),
        (Account { data: 3001, ..sound() }, "more user data is under way than chunks hold"),
        (
            Account { paths: vec![(3000, 4000, Instant::NEVER)], ..sound() },
            "something is under way on a path whose timer is off",
        ),
        (
            Account { paths: vec![(3000, 4000, Instant::ZERO), (1, 1000, Instant::NEVER)], ..sound() },
            "something is under way on a path whose timer is off",
        ),
        (Account { paths: vec![(3000, 0, Instant::ZERO)], ..sound() }, "a congestion window is closed"),
        (
            Account { paths: vec![(3000, 4000, Instant::ZERO), (0, 0, Instant::NEVER)], ..sound() },
            "a congestion window is closed",
        ),
        (Account { buffered: (1001 + SLACK, 1000), ..sound() }, "the receive buffer is overfull"),
    ] {
        assert_eq!(judged(&broken), Err(says), "{broken:?}");
    }
}

impl Ledger {
    /// Puts this ledger's fault into an account.
    pub(super) fn planted(&self, mut account: Account) -> Account {
        if let Some(plant) = self.plant {
            plant(&mut account);
        }
        account
    }
}

const TWO_FLOWS: &str = r#"
    duration_s = 60
    [point_to_point]
    rate_bps = 2_000_000
    delay_ms = 50
    queue = { kind = "drop-tail", packets = 30 }
    [sctp]
    message_bytes = 1000
    [[flow]]
    name = "early"
    from = "sender"
    to = "receiver"
    transport = "sctp"
    application = { kind = "bulk", bytes = 2_000_000 }
    [[flow]]
    name = "late"
    start_s = 0.5
    from = "sender"
    to = "receiver"
    transport = "sctp"
    application = { kind = "bulk", bytes = 2_000_000 }
"#;

/// Events after which both flows are under way.
const EVENTS: u64 = 1500;

/// Runs until both flows are under way, calls `plant`, and runs on. Returns the message of the
/// checker that panicked; `None` if no checker did.
fn said_to(plant: impl FnOnce(&mut World<'_, true>)) -> Option<String> {
    let scenario = Scenario::parse(TWO_FLOWS, "test.toml".as_ref()).unwrap();
    let observers = Observers { checkers: Some(Checkers::new(&scenario)), wire: None, recorder: None };
    let mut world = World::<true>::new(&scenario, 1, observers).unwrap();
    run_on(&mut world, EVENTS);
    plant(&mut world);
    let panic = catch_unwind(AssertUnwindSafe(|| world.run(u64::MAX).unwrap())).err()?;
    Some(*panic.downcast::<String>().unwrap())
}

fn run_on(world: &mut World<'_, true>, events: u64) {
    assert!(matches!(world.run(events), Err(Error::TooManyEvents { .. })));
}

fn ledgers<'a>(world: &'a mut World<'_, true>) -> &'a mut Vec<Ledger> {
    &mut world.net.observers.checkers.as_mut().unwrap().ledgers
}

/// Returns the association of the first flow at `end`: 0 is its sender, 1 its receiver.
fn association<'a>(world: &'a mut World<'_, true>, end: usize) -> &'a mut Association {
    let Running::Association(flow) = &mut world.flows[0] else { panic!("no association") };
    let Endpoint { association: Some(association), .. } = &mut flow.ends.as_mut().unwrap()[end] else {
        panic!("not yet open")
    };
    association
}

/// Runs on, then puts an association of the first flow back into its state before that.
fn set_back(world: &mut World<'_, true>, end: usize) {
    let before = association(world, end).clone();
    run_on(world, EVENTS + 200);
    *association(world, end) = before;
}

fn assert_says(said: Option<String>, law: &str) {
    assert!(said.as_ref().is_some_and(|said| said.contains(&format!(" {law}: "))), "{law}: {said:?}");
}

#[test]
fn a_run_without_a_fault_breaks_no_law() {
    assert_eq!(said_to(|_| {}), None);
}

#[test]
fn a_run_finds_a_sender_that_forgets_what_was_acknowledged() {
    assert_says(said_to(|world| set_back(world, 0)), "a position went back");
}

#[test]
fn a_run_finds_a_sender_that_forgets_what_it_sent() {
    let said = said_to(|world| {
        set_back(world, 0);
        // Keeps the law of positions from finding the fault first.
        ledgers(world).fill(Ledger::default());
    });
    assert_says(said, "more has arrived than was sent");
}

#[test]
fn a_run_finds_a_receiver_that_forgets_what_it_received() {
    assert_says(said_to(|world| set_back(world, 1)), "more is acknowledged than has arrived");
}

#[test]
fn a_run_checks_each_law() {
    let faults: [(Plant, &str); 10] = [
        (|account| account.una = 0, "a position went back"),
        (|account| account.nxt = 0, "a position went back"),
        (|account| account.una = account.nxt + 1, "more is acknowledged than was sent"),
        (|account| account.arrived[0] = false, "more is acknowledged than has arrived"),
        (|account| account.arrived[1] = true, "more has arrived than was sent"),
        (|account| account.una = account.nxt, "something is under way although nothing is outstanding"),
        (|account| account.data = account.paths[0].0 + 1, "more user data is under way than chunks hold"),
        (|account| account.paths[0].2 = Instant::NEVER, "something is under way on a path whose timer is off"),
        (|account| account.paths[0].1 = 0, "a congestion window is closed"),
        (|account| account.buffered.0 = account.buffered.1 + SLACK + 1, "the receive buffer is overfull"),
    ];
    for (plant, law) in faults {
        assert_says(said_to(|world| ledgers(world)[0].plant = Some(plant)), law);
    }
}

#[test]
fn a_run_checks_both_ends_of_each_association() {
    for (place, whose) in ["flow 0, From", "flow 0, To", "flow 1, From", "flow 1, To"].into_iter().enumerate() {
        let said = said_to(|world| ledgers(world)[place].plant = Some(|account| account.paths[0].1 = 0));
        assert_says(said, &format!("{whose}: a congestion window is closed"));
    }
}
