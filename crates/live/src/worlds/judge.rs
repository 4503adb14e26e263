//! Compares what a stack undid with the detector `linux` over the same packets, and with the truth.

use super::peer::{Course, What};
use crate::decisions::sender::{Sender, counter};
use eifel_base::time::Instant;
use eifel_recovery::detect::Detector;
use eifel_recovery::fact::Cause;

/// From a loss signal to the next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Episode {
    pub begins: Instant,
    pub cause: Cause,
    /// Whether its first retransmission was needed; `None` without one.
    pub needed: Option<bool>,
    /// Whether data that was outstanding when it began was lost, before or after.
    pub has_loss: bool,
    /// The undos of the stack: places among the events, and counters.
    pub stack: Vec<(usize, &'static str)>,
    /// Those of the detector.
    pub model: Vec<(usize, &'static str)>,
}

impl Episode {
    /// Returns whether both undid on the same ACKs by the same evidence.
    pub fn agrees(&self) -> bool {
        self.stack == self.model
    }
}

/// Compares a course with this detector's decisions.
///
/// # Errors
/// Why the course cannot be followed.
pub fn judge(course: &Course, detector: Box<dyn Detector>) -> Result<Vec<Episode>, String> {
    let Some([own, peer]) = &course.syns else { return Err("there is no handshake".to_owned()) };
    let mut sender = Sender::with(own, peer, detector);
    let mut episodes: Vec<Episode> = Vec::new();
    // The first retransmission of the last episode is still to come.
    let mut opening = false;
    for (place, (at, what)) in course.events.iter().enumerate() {
        match what {
            What::Wrote(_) => {}
            What::Sent(segment, transmission) => {
                let nxt = sender.outstanding_positions().end;
                let again = course.position(nxt, segment.seq) < nxt;
                if let (true, Some(transmission), Some(last)) = (opening && again, transmission, episodes.last_mut()) {
                    (last.needed, opening) = (course.needed.get(transmission).copied(), false);
                }
                sender.on_sent(*at, segment);
            }
            What::FastRetransmit | What::Timeout => {
                let cause = if *what == What::Timeout { Cause::Timeout } else { Cause::FastRetransmit };
                if cause == Cause::Timeout && sender.on_timer_again(*at) {
                    continue;
                }
                let outstanding = sender.outstanding_positions();
                sender.on_signal(*at, cause);
                opening = true;
                let has_loss =
                    course.lost.iter().any(|lost| lost.start < outstanding.end && lost.end > outstanding.start);
                episodes.push(Episode {
                    begins: *at,
                    cause,
                    needed: None,
                    has_loss,
                    stack: Vec::new(),
                    model: Vec::new(),
                });
            }
            What::Received(segment, _, undos) => {
                let model = sender.on_ack(*at, segment).and_then(|brought| brought.undo);
                let Some(last) = episodes.last_mut() else {
                    if model.is_some() || !undos.is_empty() {
                        return Err("an undo without a loss signal".to_owned());
                    }
                    continue;
                };
                last.model.extend(model.map(|reason| (place, counter(reason))));
                // Whatever is retransmitted after an undo does not belong to the episode.
                opening &= undos.is_empty();
                last.stack.extend(undos.iter().map(|&counter| (place, counter)));
            }
        }
    }
    Ok(episodes)
}

#[cfg(test)]
mod tests {
    use super::super::peer::tests::{ms, opened, segment, standing};
    use super::super::stack::Counted;
    use super::*;
    use eifel_packet::segment::{SackBlocks, Timestamps};
    use eifel_recovery::registry::{Choice, part};

    /// A delayed segment was retransmitted after a timeout. Its own ACK says nothing; the DSACK that
    /// follows it shows that the retransmission was needless.
    #[test]
    fn undos_are_compared_ack_by_ack() {
        let course = |undos: [&[&'static str]; 2]| {
            let mut peer = opened("sack 1+1+0 timeout+10ms: segment 1 delayed");
            peer.on_sent(ms(200), segment(0), Some(&standing(0, 1)));
            assert_eq!(peer.poll_arrival(ms(250)), None);
            let ack = peer.poll_arrival(ms(300)).unwrap();
            peer.on_delivered(ms(300), ack, &standing(0, 1), Counted::default());
            peer.on_sent(ms(400), segment(1), Some(&standing(0, 2)));
            peer.on_sent(ms(700), segment(1), Some(&standing(1, 3)));
            let mut left = undos.into_iter();
            for at in 700..900 {
                while let Some(ack) = peer.poll_arrival(ms(at)) {
                    let counted = Counted { undos: left.next().unwrap().to_vec(), recoveries: 0 };
                    peer.on_delivered(ms(at), ack, &standing(1, 3), counted);
                }
            }
            assert!(left.next().is_none());
            peer.finish().1
        };
        let linux = || part::detector(&Choice::named("linux")).unwrap();
        let found = |undos| judge(&course(undos), linux()).unwrap();
        let same = found([&[], &["TCPDSACKUndo"]]);
        assert_eq!(same.len(), 1);
        assert_eq!((same[0].cause, same[0].needed, same[0].has_loss), (Cause::Timeout, Some(false), false));
        assert_eq!(same[0].model.iter().map(|undo| undo.1).collect::<Vec<_>>(), ["TCPDSACKUndo"]);
        assert!(same[0].agrees());
        assert!(!found([&["TCPDSACKUndo"], &[]])[0].agrees(), "an ACK too early");
        assert!(!found([&[], &[]])[0].agrees());
        assert!(judge(&Course::default(), linux()).unwrap_err().contains("handshake"));
        // The kernel reads the report of an ACK below SND.UNA too. PAWS refuses it if its timestamp is old.
        for (value, undo) in [(0, &["TCPDSACKUndo"][..]), (1, &[])] {
            let mut old = course([&[], &[]]);
            let Some((at, What::Received(mut ack, standing, _))) = old.events.pop() else {
                panic!("it ends with an ACK")
            };
            (ack.ack, ack.options.sack) = (segment(1).seq, SackBlocks::EMPTY);
            for _ in 0..2 {
                ack.options.sack.push(segment(1).seq, segment(2).seq);
            }
            for (_, what) in &mut old.events {
                if let What::Received(segment, ..) = what {
                    segment.options.timestamps = Some(Timestamps { value, echo: 0 });
                }
            }
            ack.options.timestamps = Some(Timestamps { value: 0, echo: 0 });
            old.events.push((at, What::Received(ack, standing, undo.to_vec())));
            let found = &judge(&old, linux()).unwrap()[0];
            assert!(found.agrees() && found.model.len() == undo.len(), "{value}: {found:?}");
        }
    }
}
