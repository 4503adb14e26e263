//! Small worlds against this kernel.

use crate::live;
use crate::rig::allowed;
use eifel_live::worlds::judge::{Episode, judge};
use eifel_live::worlds::kernel::Kernel;
use eifel_live::worlds::player::{Ended, Played, Player};
use eifel_live::worlds::world::World;
use eifel_recovery::detect::Detector;
use eifel_recovery::detect::linux::{Fault, planted};
use eifel_recovery::registry::{Choice, part};
use serde_json::Value;
use std::cell::RefCell;

fn linux() -> Box<dyn Detector> {
    part::detector(&Choice::named("linux")).unwrap()
}

#[test]
fn a_few_worlds_are_played() {
    if !allowed() {
        return;
    }
    let output =
        live().args(["worlds", "--count", "120", "--at-once", "60", "--seed", "5", "--json"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let number = |name: &str| found[name].as_u64().unwrap();
    assert_eq!((number("worlds"), number("worlds_stuck"), number("worlds_refused")), (120, 0, 0), "{found}");
    assert!(number("episodes") >= 30 && number("episodes_undone") >= 5, "{found}");
    // A busy machine may misplace the time of one.
    assert!(number("episodes_alike") * 100 >= number("episodes") * 95, "{found}");
}

/// The original arrives behind the timeout, and its ACK echoes the original's timestamp. The other
/// world is a genuine loss.
#[test]
fn one_world_is_a_script() {
    if !allowed() {
        return;
    }
    let conversation = |world: &str| {
        let output = live().args(["worlds", "--world", world]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let late = "sack timestamps 2+1+0 timeout+10ms: segment 1 delayed";
    let text = conversation(late);
    let begins =
        ["// sack timestamps", "+0 > S. 0:0(0) ack 1 <mss 1460,sackOK,TS val 100 ecr 1000", "write(4, ..., 1000)"];
    assert!(begins.iter().all(|part| text.contains(part)), "{text}");
    assert!(text.contains("TCP_CA_Open"), "{text}");
    let lost = conversation("sack 2+1+0 timeout+10ms: segment 1 lost");
    assert!(lost.contains("2001:3001(1000)") && !lost.contains("Undo"), "{lost}");
}

/// Each fault makes the detector decide otherwise than the kernel in some world in which the sound
/// one decides alike.
#[test]
fn planted_faults_are_found_within_ten_thousand_worlds() {
    const MOST: u64 = 10_000;
    const AT_ONCE: usize = 200;
    if !allowed() {
        return;
    }
    let faults = [Fault::ProbeUncounted, Fault::NothingResentMissed, Fault::UndoneAfterRepair];
    let found: RefCell<[Option<(usize, World)>; 3]> = RefCell::default();
    let (mut number, mut ended) = (0, 0_u64);
    let mut player = Player::new(Kernel::start("cubic").unwrap());
    let mut next = || {
        number += 1;
        (number <= MOST && found.borrow().iter().any(Option::is_none)).then(|| World::draw(1, number))
    };
    let alike = |played: &Played, detector| {
        judge(&played.course, detector).is_ok_and(|episodes| episodes.iter().all(Episode::agrees))
    };
    player
        .play(AT_ONCE, &mut next, &mut |played| {
            ended += u64::from(played.ended == Ended::Over);
            if played.course.is_doubtful || !alike(&played, linux()) {
                return;
            }
            for (fault, found) in faults.iter().zip(found.borrow_mut().iter_mut()) {
                if found.is_none() && !alike(&played, planted(*fault)) {
                    *found = Some((played.number, played.world));
                }
            }
        })
        .unwrap();
    let found = found.into_inner();
    for (fault, found) in faults.iter().zip(&found) {
        let Some((number, world)) = found else { panic!("{fault:?} is not found in {ended} worlds") };
        eprintln!("{fault:?}: {number} {world}");
    }
}
