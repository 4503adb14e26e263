use super::*;

/// Returns a transmission of segment `number`, which is 1000 bytes long.
fn sent(transmission: u64, number: u64, role: Role) -> SentData {
    SentData { transmission, start: 1 + 1000 * number, end: 1001 + 1000 * number, role }
}

/// Returns the role of a transmission of a [`Case`]: the first four are originals.
fn role(transmission: u64) -> Role {
    if transmission > 4 { Role::Retransmission } else { Role::Original }
}

struct Case(Oracle);

impl Case {
    /// Creates a case: segments 0 to 3 have left as transmissions 1 to 4.
    fn new() -> Self {
        let mut oracle = Oracle::new(1);
        oracle.arrived(0, End::From, SentData { transmission: 0, start: 0, end: 1, role: Role::Original }, u64::MAX);
        for number in 0..4 {
            oracle.on_sent(0, End::From, sent(number + 1, number, Role::Original));
        }
        Self(oracle)
    }

    fn left(&mut self, transmission: u64, number: u64) {
        self.0.on_sent(0, End::From, sent(transmission, number, Role::Retransmission));
    }

    fn arrived(&mut self, transmission: u64, number: u64) -> (u32, bool) {
        self.0.arrived(0, End::From, sent(transmission, number, role(transmission)), u64::MAX)
    }

    fn lost(&mut self, transmission: u64, number: u64) {
        self.0.lost(0, End::From, sent(transmission, number, role(transmission)));
    }

    fn judged(&mut self) -> Vec<(u64, bool)> {
        self.0.take_judged().into_iter().map(|settled| (settled.transmission, settled.needed)).collect()
    }
}

#[test]
fn a_retransmission_of_lost_data_is_needed_at_once() {
    let mut case = Case::new();
    case.lost(1, 0);
    assert_eq!(case.arrived(2, 1), (1000, false));
    case.left(5, 0);
    assert_eq!(case.judged(), [(5, true)]);
    assert_eq!(case.arrived(5, 0), (1000, true));
    assert!(case.0.directions[0].retransmitted.is_empty());
    assert!(case.0.directions[0].lost.is_empty());
    assert_eq!(case.0.directions[0].arrived, 2001);
}

#[test]
fn a_retransmission_of_arrived_data_is_spurious_at_once() {
    let mut case = Case::new();
    case.arrived(1, 0);
    case.left(5, 0);
    assert_eq!(case.judged(), [(5, false)]);
    assert_eq!(case.arrived(5, 0), (0, false));
}

#[test]
fn an_earlier_copy_under_way_settles_the_judgement_when_it_arrives() {
    let mut case = Case::new();
    case.left(5, 0);
    assert_eq!(case.judged(), []);
    case.arrived(1, 0);
    assert_eq!(case.judged(), [(5, false)]);
}

#[test]
fn an_earlier_copy_under_way_settles_the_judgement_when_it_is_lost() {
    let mut case = Case::new();
    case.left(5, 0);
    case.lost(1, 0);
    assert_eq!(case.judged(), [(5, true)]);
}

#[test]
fn a_retransmission_that_overtakes_waits_for_the_first_copy() {
    let mut case = Case::new();
    case.left(5, 0);
    case.arrived(5, 0);
    assert_eq!(case.judged(), []);
    case.lost(1, 0);
    assert_eq!(case.judged(), [(5, true)]);
}

#[test]
fn a_second_retransmission_is_spurious_if_the_first_arrives() {
    let mut case = Case::new();
    case.lost(1, 0);
    case.left(5, 0);
    case.left(6, 0);
    assert_eq!(case.judged(), [(5, true)]);
    case.arrived(5, 0);
    assert_eq!(case.judged(), [(6, false)]);

    let mut case = Case::new();
    case.left(5, 0);
    case.left(6, 0);
    case.lost(1, 0);
    case.lost(5, 0);
    assert_eq!(case.judged(), [(5, true), (6, true)]);
}

#[test]
fn a_longer_retransmission_is_needed_when_one_byte_of_it_is() {
    let mut case = Case::new();
    case.lost(2, 1);
    case.arrived(1, 0);
    case.0.on_sent(0, End::From, SentData { transmission: 5, start: 1, end: 2001, role: Role::Retransmission });
    assert_eq!(case.judged(), [(5, true)]);
}

#[test]
fn data_that_the_receiver_refuses_counts_as_lost() {
    let mut case = Case::new();
    case.0.arrived(0, End::From, sent(1, 0, Role::Original), 501);
    case.left(5, 0);
    assert_eq!(case.judged(), [(5, true)]);
}

#[test]
fn the_accepted_part_of_a_segment_counts_as_arrived() {
    for accepted in [2, 3, 1000] {
        let mut case = Case::new();
        case.0.arrived(0, End::From, sent(1, 0, Role::Original), accepted);
        let arrived = [accepted, accepted + 1].map(|position| case.0.has_all_below(0, End::From, position));
        assert_eq!(arrived, [true, false], "{accepted}");
    }
}

/// Data that the receiver refused may be sent again as new data. Then it is on its way again.
#[test]
fn an_original_sent_as_new_again_is_under_way() {
    let mut case = Case::new();
    case.0.arrived(0, End::From, sent(1, 0, Role::Original), 1);
    case.0.on_sent(0, End::From, sent(5, 0, Role::Original));
    case.left(6, 0);
    assert_eq!(case.judged(), []);
    case.0.arrived(0, End::From, sent(5, 0, Role::Original), u64::MAX);
    assert_eq!(case.judged(), [(6, false)]);
}

#[test]
fn a_long_retransmission_is_found_after_a_short_one() {
    let mut case = Case::new();
    case.0.on_sent(0, End::From, SentData { transmission: 5, start: 1, end: 3001, role: Role::Retransmission });
    case.left(6, 3);
    case.lost(3, 2);
    assert_eq!(case.judged(), [(5, true)]);
}

#[test]
fn refused_data_may_arrive_in_a_network_copy() {
    let mut case = Case::new();
    case.0.arrived(0, End::From, sent(1, 0, Role::Original), 1);
    assert!(!case.0.has_all_below(0, End::From, 1001));
    // The window has opened between the two arrivals.
    case.0.arrived_again(0, End::From, sent(1, 0, Role::Original), u64::MAX);
    assert!(case.0.has_all_below(0, End::From, 1001) && !case.0.knows_losses(0, End::From));
    case.left(5, 0);
    assert_eq!(case.judged(), [(5, false)]);
}

#[test]
fn a_network_copy_that_the_receiver_also_refuses_changes_nothing() {
    let mut case = Case::new();
    for _ in 0..2 {
        case.0.arrived_again(0, End::From, sent(1, 0, Role::Original), 1000);
        assert!(!case.0.has_all_below(0, End::From, 2));
    }
    case.0.arrived_again(0, End::From, sent(1, 0, Role::Original), 1001);
    assert!(case.0.has_all_below(0, End::From, 1001), "there is just enough room");
}

#[test]
fn a_network_copy_of_a_later_segment_also_replaces_its_lost_original() {
    let mut case = Case::new();
    case.0.arrived(0, End::From, sent(2, 1, Role::Original), 1);
    assert!(case.0.knows_losses(0, End::From));
    case.0.arrived_again(0, End::From, sent(2, 1, Role::Original), u64::MAX);
    assert!(!case.0.knows_losses(0, End::From) && !case.0.has_all_below(0, End::From, 2));
}

#[test]
fn a_network_copy_settles_retransmissions_sent_in_between() {
    let mut case = Case::new();
    case.0.arrived(0, End::From, sent(1, 0, Role::Original), 1);
    case.left(5, 0);
    assert_eq!(case.judged(), [(5, true)]);
    // The other retransmission is on its way.
    case.left(6, 0);
    assert_eq!(case.judged(), []);
    case.0.arrived_again(0, End::From, sent(1, 0, Role::Original), u64::MAX);
    assert_eq!(case.judged(), [(6, false)]);
}

#[test]
fn a_lost_window_probe_loses_nothing_that_is_on_its_way() {
    let mut case = Case::new();
    let probe = SentData { transmission: 5, start: 1, end: 2, role: Role::Probe };
    case.0.on_sent(0, End::From, probe);
    case.0.lost(0, End::From, probe);
    case.left(6, 0);
    assert_eq!(case.judged(), []);
    case.arrived(1, 0);
    assert_eq!(case.judged(), [(6, false)]);
}

#[test]
fn a_window_probe_on_its_way_is_a_copy_that_may_arrive() {
    let mut case = Case::new();
    case.lost(1, 0);
    let probe = SentData { transmission: 5, start: 1, end: 1001, role: Role::Probe };
    case.0.on_sent(0, End::From, probe);
    case.left(6, 0);
    assert_eq!(case.judged(), []);
    case.0.arrived(0, End::From, probe, u64::MAX);
    assert_eq!(case.judged(), [(6, false)]);
}

#[test]
fn at_the_end_of_the_run_what_is_under_way_counts_as_arriving() {
    let mut case = Case::new();
    case.left(5, 0);
    case.left(6, 2);
    case.lost(3, 2);
    case.0.finish();
    assert_eq!(case.judged(), [(6, true), (5, false)]);
}

mod model {
    //! The definition of a needed retransmission, byte by byte, with the whole future known.
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    struct Trip {
        sent: SentData,
        leaves: u64,
        /// The time at which it arrives or is lost.
        ends: u64,
        arrives: bool,
    }

    fn trips() -> impl Strategy<Value = Vec<Trip>> {
        prop::collection::vec((0u64..5, 1u64..4, 1u64..40, any::<bool>(), any::<bool>()), 1..25).prop_map(|again| {
            let mut trips: Vec<Trip> = Vec::new();
            for number in 0..8 {
                let sent = SentData { transmission: number + 1, start: number, end: number + 1, role: Role::Original };
                let (_, _, length, arrives, _) = again[number as usize % again.len()];
                trips.push(Trip { sent, leaves: 10 * number, ends: 10 * number + 10 * length, arrives });
            }
            for (index, (start, length, time, arrives, probe)) in again.into_iter().enumerate() {
                let leaves = 100 + 10 * index as u64;
                let sent = SentData {
                    transmission: 9 + index as u64,
                    start,
                    end: start + length,
                    role: if probe { Role::Probe } else { Role::Retransmission },
                };
                trips.push(Trip { sent, leaves, ends: leaves + 10 * time + 3, arrives });
            }
            trips
        })
    }

    fn needed(trips: &[Trip], which: usize) -> bool {
        let own = &trips[which];
        (own.sent.start..own.sent.end).any(|byte| {
            !trips[..which].iter().any(|trip| trip.sent.start <= byte && byte < trip.sent.end && trip.arrives)
                && !trips[which + 1..].iter().any(|trip| {
                    trip.sent.start <= byte && byte < trip.sent.end && trip.arrives && trip.ends < own.leaves
                })
        })
    }

    proptest! {
        #[test]
        fn it_judges_by_the_definition(trips in trips()) {
            let mut oracle = Oracle::new(1);
            let mut times: Vec<(u64, usize, bool)> = Vec::new();
            for (index, trip) in trips.iter().enumerate() {
                times.push((trip.leaves, index, true));
                times.push((trip.ends, index, false));
            }
            times.sort();
            for (_, index, leaves) in times {
                let trip = &trips[index];
                match (leaves, trip.arrives) {
                    (true, _) => oracle.on_sent(0, End::From, trip.sent),
                    (false, true) => {
                        oracle.arrived(0, End::From, trip.sent, u64::MAX);
                    }
                    (false, false) => oracle.lost(0, End::From, trip.sent),
                }
            }
            oracle.finish();
            let mut judged: Vec<(u64, bool)> =
                oracle.take_judged().into_iter().map(|settled| (settled.transmission, settled.needed)).collect();
            judged.sort();
            let expected: Vec<(u64, bool)> =
                (8..trips.len())
                    .filter(|&index| trips[index].sent.role == Role::Retransmission)
                    .map(|index| (trips[index].sent.transmission, needed(&trips, index)))
                    .collect();
            prop_assert_eq!(judged, expected);
            prop_assert!(oracle.directions[0].retransmitted.is_empty());
        }
    }
}

#[test]
fn a_syn_that_came_in_an_answer_has_arrived() {
    let mut oracle = Oracle::new(1);
    oracle.on_sent(0, End::From, SentData { transmission: 1, start: 0, end: 1, role: Role::Original });
    oracle.lost(0, End::From, SentData { transmission: 1, start: 0, end: 1, role: Role::Original });
    oracle.syn_arrived(0, End::From);
    oracle.on_sent(0, End::From, sent(2, 0, Role::Original));
    assert_eq!(oracle.arrived(0, End::From, sent(2, 0, Role::Original), u64::MAX), (1000, true));
    assert!(oracle.has_all_below(0, End::From, 1001));
}
