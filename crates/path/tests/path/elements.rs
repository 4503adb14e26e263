//! Elements at the entrance of a link.

use crate::common::{MS, Run, burst, drive, drop_tail, megabit, offer, parcel, run, run_seeded, steady};
use eifel_base::time::{Duration, Instant};
use eifel_path::config::LinkConfig;
use eifel_path::draw::Draw;
use eifel_path::element::ElementConfig;
use eifel_path::element::gilbert_elliott::GilbertElliottConfig;
use eifel_path::element::jitter::JitterConfig;
use eifel_path::element::late::LateConfig;
use eifel_path::element::listed::ListedDrop;
use eifel_path::element::outage::OutageConfig;
use eifel_path::element::reorder::{Choice, ReorderConfig};
use eifel_path::link::Link;
use eifel_path::parcel::{DropCause, Label, Labelled, Outcome, Parcel};
use eifel_path::spike::{Span, SpikeSource};

fn with(elements: Vec<ElementConfig>) -> LinkConfig {
    LinkConfig { elements, ..megabit() }
}

fn reorder(choice: Choice, length: u32) -> ElementConfig {
    ElementConfig::Reorder(ReorderConfig { choice, length, longest_wait: Duration::from_millis(500) })
}

fn drop_of(segment: u64, copies: u32) -> ListedDrop {
    ListedDrop { flow: 0, segment, copies }
}

fn loss(rate: f64) -> ElementConfig {
    ElementConfig::RandomLoss { rate }
}

const BURSTS: ElementConfig = ElementConfig::GilbertElliott(GilbertElliottConfig {
    good_to_bad: 0.02,
    bad_to_good: 0.3,
    loss_in_good: 0.001,
    loss_in_bad: 0.7,
});

fn lost(result: &Run, by: DropCause) -> Vec<u32> {
    result.dropped.iter().filter(|drop| drop.1 == by).map(|drop| drop.0).collect()
}

#[test]
fn listed_drops_drop_the_listed_segments_and_copies() {
    let config = with(vec![ElementConfig::ListedDrops(vec![drop_of(3, 2), drop_of(1, 1), drop_of(3, 1)])]);
    let sent = |handle, flow, segment, copy| {
        (0, Labelled { label: Label { flow, copy, segment, takes_marks: false }, ..parcel(handle) })
    };
    let offers = [
        sent(1, 0, 1, 0),
        sent(2, 0, 2, 0),
        sent(3, 0, 3, 0),
        sent(4, 1, 3, 0),
        sent(5, 0, 1, 1),
        sent(6, 0, 3, 1),
        sent(7, 0, 3, 2),
        sent(8, 0, 0, 0),
    ];
    let result = run(&config, &offers);
    assert_eq!(result.dropped, [1, 3, 6].map(|handle| (handle, DropCause::Listed)));
    // Parcels that are dropped at the entrance take no time of the transmitter.
    assert_eq!(result.arrived, [(108 * MS, 2), (116 * MS, 4), (124 * MS, 5), (132 * MS, 7), (140 * MS, 8)]);
}

#[test]
fn random_loss_is_as_frequent_as_asked() {
    let result = run(&with(vec![loss(0.1)]), &steady(8 * MS, 20_000));
    // Standard deviation 42.
    let drops = lost(&result, DropCause::Random).len();
    assert!((1_850..2_150).contains(&drops), "{drops}");
    // Losses are independent: a loss follows a loss equally often.
    let pairs = result.dropped.windows(2).filter(|pair| pair[0].0 + 1 == pair[1].0).count();
    assert!((140..260).contains(&pairs), "{pairs}");
}

#[test]
fn loss_by_length_drops_what_is_longer_and_meets_other_losses() {
    let sized = |handle, bytes| (0, Labelled { parcel: Parcel { handle, bytes }, ..parcel(handle) });
    let offers = [sized(1, 1399), sized(2, 1400), sized(3, 1401), sized(4, 65_535), sized(5, 0)];
    let result = run(&with(vec![ElementConfig::LargerThan { bytes: 1400 }]), &offers);
    assert_eq!(result.dropped, [3, 4].map(|handle| (handle, DropCause::LargerThan)));
    assert_eq!(result.handles(), [1, 2, 5]);
    // The cause of a drop is the first element that drops.
    let both = run(&with(vec![loss(1.0), ElementConfig::LargerThan { bytes: 1400 }]), &offers);
    assert!(both.dropped.iter().all(|drop| drop.1 == DropCause::Random));
    let refused = Link::new(&with(vec![ElementConfig::LargerThan { bytes: 0 }]), "link", 1).unwrap_err();
    assert_eq!(refused.to_string(), "loss.bytes: 0; allowed: 1 or more");
}

#[test]
fn a_duplicate_follows_its_original_and_may_be_dropped_by_itself() {
    let config = LinkConfig { queue: drop_tail(3), ..with(vec![ElementConfig::Duplicate { rate: 1.0 }]) };
    let result = run(&config, &burst(0, 2));
    assert_eq!(result.doubled, [1, 2]);
    assert_eq!(result.arrived, [(108 * MS, 1), (116 * MS, 1), (124 * MS, 2)]);
    assert_eq!(result.dropped, [(2, DropCause::Queue)]);
}

#[test]
fn duplicates_are_as_frequent_as_asked() {
    let result = run(&with(vec![ElementConfig::Duplicate { rate: 0.05 }]), &steady(20 * MS, 20_000));
    assert!((900..1_100).contains(&result.doubled.len()), "{}", result.doubled.len());
    assert_eq!(result.arrived.len(), 20_000 + result.doubled.len());
}

#[test]
fn a_reordered_parcel_is_overtaken_by_the_configured_number_of_its_flow() {
    let config = with(vec![reorder(Choice::Listed(vec![(0, 2)]), 3)]);
    assert_eq!(run(&config, &burst(0, 7)).handles(), [1, 3, 4, 5, 2, 6, 7]);
    // The parcel goes on at the instant of the third parcel, right behind it.
    let result = run(&config, &steady(10 * MS, 5));
    assert_eq!(result.arrived[3..], [(158 * MS, 5), (166 * MS, 2)]);
    // Parcels of other flows do not count, and a retransmission is not chosen.
    let mut offers = burst(0, 5);
    for (_, parcel) in &mut offers[2..4] {
        parcel.label.flow = 1;
    }
    assert_eq!(run(&config, &offers).handles()[..3], [1, 3, 4]);
    offers[1].1.label.copy = 1;
    assert_eq!(run(&config, &offers).handles(), [1, 2, 3, 4, 5]);
}

#[test]
fn neighbours_that_are_both_reordered_keep_their_length() {
    let config = with(vec![reorder(Choice::Listed(vec![(0, 2), (0, 3)]), 2)]);
    assert_eq!(run(&config, &burst(0, 6)).handles(), [1, 4, 5, 2, 3, 6]);
    let config = with(vec![reorder(Choice::Listed(vec![(0, 2), (0, 4)]), 2)]);
    assert_eq!(run(&config, &burst(0, 8)).handles(), [1, 3, 5, 2, 6, 4, 7, 8]);
}

#[test]
fn a_parcel_that_nothing_overtakes_continues_after_the_longest_wait() {
    let config = with(vec![reorder(Choice::Listed(vec![(0, 1)]), 3)]);
    assert_eq!(run(&config, &[(7 * MS, parcel(1))]).arrived, [(615 * MS, 1)]);
    // At 507 number 1 is released by its deadline, before number 2, which is offered at the same
    // instant.
    assert_eq!(run(&config, &[(7 * MS, parcel(1)), (507 * MS, parcel(2))]).arrived, [(615 * MS, 1), (623 * MS, 2)]);
}

#[test]
fn a_late_parcel_waits_for_its_time_whatever_passes() {
    let late = |late| ElementConfig::Late(LateConfig { choice: Choice::Listed(vec![(0, 1), (0, 2)]), late });
    let constant = |value_s| with(vec![late(Draw::Constant { value_s })]);
    // Numbers 1 and 2, of 10 and 20, enter the queue at 35 and 45. Transmission takes 8 and
    // propagation 100.
    let result = run(&constant(0.025), &steady(10 * MS, 5));
    assert_eq!(result.arrived, [(138, 3), (146, 1), (154, 4), (162, 2), (170, 5)].map(|(at, n)| (at * MS, n)));
    // Nothing passes it: it is late all the same.
    assert_eq!(run(&constant(0.025), &[(0, parcel(1))]).arrived, [(133 * MS, 1)]);
    assert_eq!(run(&constant(0.0), &steady(10 * MS, 3)).handles(), [1, 2, 3]);
    // A parcel whose wait is shorter overtakes one that is held.
    let longer_first = Draw::Uniform { low_s: 0.0, high_s: 0.2 };
    let orders: Vec<_> = (0..20)
        .map(|seed| run_seeded(&with(vec![late(longer_first.clone())]), &steady(10 * MS, 2), seed).handles())
        .collect();
    assert!(orders.contains(&vec![1, 2]) && orders.contains(&vec![2, 1]), "{orders:?}");
    let endless = Link::new(&constant(-1.0), "link", 1).unwrap_err().to_string();
    assert!(endless.starts_with("reorder.late_ms: the length is -1 s"), "{endless}");
}

#[test]
fn a_late_driver_does_not_shift_deadlines() {
    let config = with(vec![reorder(Choice::Listed(vec![(0, 1)]), 3)]);
    let mut link = Link::new(&config, "link", 1).unwrap();
    let mut outcomes = Vec::new();
    offer(&mut link, Instant::ZERO, parcel(1), &mut outcomes);
    assert_eq!(link.next_event(), Instant::from_nanos(500 * MS));
    link.check().unwrap();
    // The driver does not advance the link at 500. The parcel offered at 504 still finds the
    // transmitter busy until 508.
    offer(&mut link, Instant::from_nanos(504 * MS), parcel(2), &mut outcomes);
    let mut result = Run::default();
    drive(&mut link, Instant::from_nanos(u64::MAX - 1), &mut result);
    assert_eq!(result.arrived, [(608 * MS, 1), (616 * MS, 2)]);
}

#[test]
fn reordering_by_rate_keeps_its_rate_and_length() {
    let config = with(vec![reorder(Choice::Rate(0.02), 6)]);
    let count = 20_000;
    let handles = run(&config, &steady(10 * MS, count)).handles();
    assert_eq!(handles.len(), count as usize);
    // A parcel is late if one with a higher number is already there.
    let mut highest = 0;
    let mut late = 0;
    for (place, &handle) in handles.iter().enumerate() {
        if handle < highest {
            late += 1;
            let passed = handles[..place].iter().rev().take(40).filter(|&&other| other > handle).count();
            assert!(passed == 6 || handle + 8 > count, "{passed} passed {handle}");
        }
        highest = highest.max(handle);
    }
    assert!((330..470).contains(&late), "{late}");
}

#[test]
fn elements_apply_in_their_order() {
    let double_first = with(vec![ElementConfig::Duplicate { rate: 1.0 }, loss(1.0)]);
    assert_eq!(run(&double_first, &burst(0, 1)).dropped.len(), 2);
    let loss_first = with(vec![loss(1.0), ElementConfig::Duplicate { rate: 1.0 }]);
    assert_eq!(run(&loss_first, &burst(0, 1)).dropped.len(), 1);
}

#[test]
fn an_idle_element_shifts_no_other_draws() {
    let offers = steady(9 * MS, 5_000);
    let plain = run(&with(vec![loss(0.05), BURSTS]), &offers);
    assert!(lost(&plain, DropCause::GilbertElliott).len() > 100);
    let idle =
        [ElementConfig::Duplicate { rate: 0.0 }, ElementConfig::ListedDrops(vec![]), reorder(Choice::Rate(0.0), 6)];
    for element in idle {
        let mut elements = vec![loss(0.05), BURSTS];
        elements.insert(0, element.clone());
        assert_eq!(run(&with(elements), &offers), plain, "{element:?} in front");
        assert_eq!(run(&with(vec![loss(0.05), element.clone(), BURSTS]), &offers), plain, "{element:?} between");
    }
}

#[test]
fn neither_order_nor_activity_of_elements_shifts_draws() {
    // The draws of the first of two elements do not depend on the second, although the second drops
    // parcels.
    let offers = steady(9 * MS, 5_000);
    let alone = run(&with(vec![loss(0.05)]), &offers);
    let before = run(&with(vec![loss(0.05), BURSTS]), &offers);
    assert_eq!(lost(&before, DropCause::Random), lost(&alone, DropCause::Random));
}

#[test]
fn a_run_is_a_function_of_seed_and_name() {
    let config = with(vec![loss(0.05), BURSTS, ElementConfig::Duplicate { rate: 0.1 }, reorder(Choice::Rate(0.1), 3)]);
    let offers = steady(9 * MS, 2_000);
    assert_eq!(run_seeded(&config, &offers, 5), run_seeded(&config, &offers, 5));
    assert_ne!(run_seeded(&config, &offers, 5), run_seeded(&config, &offers, 6));
    let drops = |name: &str| {
        let mut link = Link::new(&config, name, 5).unwrap();
        let mut outcomes = Vec::new();
        offers.iter().for_each(|&(at, parcel)| offer(&mut link, Instant::from_nanos(at), parcel, &mut outcomes));
        outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Dropped { .. })).copied().collect::<Vec<_>>()
    };
    assert_ne!(drops("there"), drops("back"));
}

#[test]
fn senseless_elements_are_refused_by_name() {
    let message = |element| Link::new(&with(vec![element]), "link", 1).unwrap_err().to_string();
    assert_eq!(message(loss(1.5)), "loss.rate: 1.5; allowed: 0 to 1");
    assert_eq!(message(ElementConfig::Duplicate { rate: f64::NAN }), "duplicate.rate: NaN; allowed: 0 to 1");
    assert_eq!(
        message(ElementConfig::ListedDrops(vec![drop_of(0, 1)])),
        "drops.segments: segment 0; allowed: 1 or more"
    );
    assert_eq!(message(ElementConfig::ListedDrops(vec![drop_of(1, 0)])), "drops.copies: 0; allowed: 1 or more");
    assert_eq!(message(reorder(Choice::Rate(0.1), 0)), "reorder.length: 0; allowed: 1 or more");
    let never = ReorderConfig { choice: Choice::Rate(0.1), length: 1, longest_wait: Duration::ZERO };
    assert_eq!(message(ElementConfig::Reorder(never)), "reorder.longest_wait: 0; allowed: more than 0");
    assert_eq!(message(reorder(Choice::Listed(vec![(0, 0)]), 1)), "reorder.segments: segment 0; allowed: 1 or more");
}

#[test]
fn after_their_end_elements_disturb_nothing_and_release_held_parcels() {
    let until = Instant::ZERO + Duration::from_millis(55);
    let config = LinkConfig { elements_until: until, ..with(vec![loss(0.0), reorder(Choice::Rate(1.0), 3)]) };
    let result = run(&config, &steady(10 * MS, 8));
    // The first five, at 10 to 50 ms, are held for half a second: parcels that pass after 55 ms do
    // not count.
    assert_eq!(result.arrived.iter().map(|&(_, handle)| handle).collect::<Vec<_>>(), [6, 7, 8, 1, 2, 3, 4, 5]);
    let config = LinkConfig { elements_until: until, ..with(vec![loss(1.0)]) };
    let result = run(&config, &steady(10 * MS, 8));
    assert_eq!(lost(&result, DropCause::Random), [1, 2, 3, 4, 5]);
    assert_eq!(result.arrived.iter().map(|&(_, handle)| handle).collect::<Vec<_>>(), [6, 7, 8]);
}

#[test]
fn reordering_counts_parcels_of_the_same_flow_only() {
    let config = with(vec![reorder(Choice::Listed(vec![(0, 1), (1, 1)]), 2)]);
    let of = |flow, handle, segment| {
        (0, Labelled { label: Label { flow, copy: 0, segment, takes_marks: false }, ..parcel(handle) })
    };
    // Numbers 1 and 11 are held; 12 and 13 pass only 11, and 2 and 3 pass only 1.
    let offers = [of(0, 1, 1), of(1, 11, 1), of(1, 12, 2), of(0, 2, 2), of(1, 13, 3), of(1, 14, 4), of(0, 3, 3)];
    assert_eq!(run(&config, &offers).handles(), [12, 2, 13, 11, 14, 3, 1]);
}

fn outage(spans: &[(u64, u64)]) -> ElementConfig {
    let span = |&(start, end)| Span { start: Instant::from_nanos(start), end: Instant::from_nanos(end) };
    let source = SpikeSource::Listed(spans.iter().map(span).collect());
    ElementConfig::Outage(OutageConfig { name: "outage".to_owned(), source })
}

#[test]
fn an_outage_drops_parcels_that_come_in_it_and_no_others() {
    // Parcels come at 10, 20 … 80 ms. The one at 20 ms is still on its way when the first outage begins.
    let config = with(vec![outage(&[(30 * MS, 50 * MS), (60 * MS, 60 * MS + 1)])]);
    let result = run(&config, &steady(10 * MS, 8));
    assert_eq!(lost(&result, DropCause::Outage), [3, 4, 6]);
    assert_eq!(result.handles(), [1, 2, 5, 7, 8]);
}

#[test]
fn links_with_the_same_outage_are_dead_together() {
    let drawn = |name: &str| {
        let draw = |mean_s| Draw::Exponential { mean_s };
        let source = SpikeSource::Drawn(eifel_path::spike::DrawnSpikes {
            first: draw(0.1),
            length: draw(0.05),
            interval: draw(0.1),
            measured: eifel_path::spike::Measured::EndToStart,
        });
        with(vec![loss(0.1), ElementConfig::Outage(OutageConfig { name: name.to_owned(), source })])
    };
    let dropped = |config: &LinkConfig, link: &str| {
        let mut link = Link::new(config, link, 7).unwrap();
        let mut outcomes = Vec::new();
        let offers = steady(10 * MS, 300);
        offers.iter().for_each(|&(at, parcel)| offer(&mut link, Instant::from_nanos(at), parcel, &mut outcomes));
        let outage = |outcome: &&Outcome| matches!(outcome, Outcome::Dropped { cause: DropCause::Outage, .. });
        outcomes.iter().filter(outage).copied().collect::<Vec<_>>()
    };
    let without_loss = |mut config: LinkConfig| {
        config.elements.remove(0);
        config
    };
    let [there, back] = ["there", "back"].map(|link| dropped(&without_loss(drawn("tunnel")), link));
    assert!(there.len() > 50 && there == back);
    assert_ne!(there, dropped(&without_loss(drawn("garage")), "there"));
}

#[test]
fn jitter_holds_each_parcel_and_keeps_the_order_or_not() {
    let jitter = |keeps_order| {
        let delay = Draw::Uniform { low_s: 0.0, high_s: 0.05 };
        with(vec![ElementConfig::Jitter(JitterConfig { delay, keeps_order })])
    };
    let in_order = run(&jitter(true), &steady(10 * MS, 200));
    assert_eq!(in_order.handles(), (1..=200).collect::<Vec<_>>());
    let any_order = run(&jitter(false), &steady(10 * MS, 200));
    assert_ne!(any_order.handles(), in_order.handles());
    for result in [&in_order, &any_order] {
        // A transmission takes 8 ms, the propagation 100; a short queue may form behind a late parcel.
        let waits = result.arrived.iter().map(|&(at, handle)| at - 10 * MS * u64::from(handle) - 108 * MS);
        let waits: Vec<u64> = waits.collect();
        let spread = waits.iter().max().unwrap() - waits.iter().min().unwrap();
        assert!(spread > 20 * MS, "{waits:?}");
        assert!(waits.iter().all(|&wait| wait < 150 * MS), "{waits:?}");
    }
    // The draws do not depend on whether the order is kept: the first parcel waits equally long.
    let first = |result: &Run| result.arrived.iter().find(|arrived| arrived.1 == 1).map(|arrived| arrived.0);
    assert_eq!(first(&in_order), first(&any_order));
}
