//! Comments on the frames of captures: the fate of a transmission, and the decisions of its sender.
//!
//! Most of these facts become known only after the frame is written. So comments are kept beside a
//! capture, and inserted into it after the run. The memory for frames without a comment is bounded
//! by the number of transmissions under way.

use crate::end::End;
use crate::oracle::{JudgedRetransmission, Role, SentData};
use std::collections::BTreeMap;

/// The texts for one capture, by the number of the frame, from 1.
pub type Texts = BTreeMap<u64, String>;

/// The comments on one capture, and the name of its node.
pub type Commented = (String, Texts);

/// The comments on all captures of a run.
#[derive(Default)]
pub struct Comments {
    /// In the order in which captures were added.
    captures: Vec<OfCapture>,
    /// Retransmissions that have arrived or been judged, but not both.
    halves: BTreeMap<Key, Half>,
}

#[derive(Clone, Copy)]
enum Half {
    Arrived,
    Judged(&'static str),
}

#[derive(Default)]
struct OfCapture {
    frames: u64,
    /// The frame of each transmission whose fate is open.
    open: BTreeMap<Key, u64>,
    texts: Texts,
}

/// A transmission: flow, sending end, and its number at that end, from 1.
type Key = (u32, usize, u64);

impl Comments {
    /// Adds the next capture.
    pub fn add_capture(&mut self) {
        self.captures.push(OfCapture::default());
    }

    /// Counts a frame of a capture. `transmissions` are those in it that may get a comment later.
    pub fn frame(&mut self, capture: usize, (flow, sender): (u32, End), transmissions: impl Iterator<Item = u64>) {
        let of = &mut self.captures[capture];
        of.frames += 1;
        for transmission in transmissions {
            let key = (flow, sender.index(), transmission);
            of.open.insert(key, of.frames);
            if let Some(Half::Judged(text)) = self.halves.get(&key) {
                add(&mut of.texts, of.frames, text);
            }
        }
    }

    /// Notes a first arrival. An original then gets no further comment.
    pub fn arrived(&mut self, (flow, sender): (u32, End), sent: &SentData) {
        let key = (flow, sender.index(), sent.transmission);
        if sent.role == Role::Original || self.halves.remove(&key).is_some() {
            self.close(key);
        } else {
            self.halves.insert(key, Half::Arrived);
        }
    }

    /// Comments on a transmission that was dropped, with the link and the cause.
    pub fn dropped(&mut self, (flow, sender): (u32, End), transmission: u64, (link, cause): (&str, &str)) {
        self.say((flow, sender.index(), transmission), &format!("dropped at {link}: {cause}"));
    }

    /// Comments on a retransmission that was judged: needed or needless.
    pub fn on_judged(&mut self, judged: &JudgedRetransmission) {
        let key = (judged.flow, judged.sender.index(), judged.transmission);
        let text = if judged.needed { "needed retransmission" } else { "needless retransmission" };
        self.say(key, text);
        if self.halves.remove(&key).is_some() {
            self.close(key);
        } else {
            self.halves.insert(key, Half::Judged(text));
        }
    }

    /// Comments on the last frame of a capture: the packet that has just arrived at its node.
    pub fn last(&mut self, capture: usize, text: &str) {
        let of = &mut self.captures[capture];
        if of.frames > 0 {
            add(&mut of.texts, of.frames, text);
        }
    }

    /// Returns the texts of each capture.
    pub fn into_texts(self) -> Vec<Texts> {
        self.captures.into_iter().map(|of| of.texts).collect()
    }

    fn say(&mut self, key: Key, text: &str) {
        for of in &mut self.captures {
            if let Some(&frame) = of.open.get(&key) {
                add(&mut of.texts, frame, text);
            }
        }
    }

    fn close(&mut self, key: Key) {
        for of in &mut self.captures {
            of.open.remove(&key);
        }
    }
}

fn add(texts: &mut Texts, frame: u64, text: &str) {
    let comment = texts.entry(frame).or_default();
    if !comment.is_empty() {
        comment.push_str("; ");
    }
    comment.push_str(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_on_the_frame_that_it_is_about() {
        let mut comments = Comments::default();
        comments.add_capture();
        comments.add_capture();
        let sender = (0, End::From);
        // The sender's capture has both transmissions. The capture after the link has only the
        // second.
        comments.frame(0, sender, [1].into_iter());
        comments.dropped(sender, 1, ("bottleneck", "queue"));
        comments.frame(0, sender, [2].into_iter());
        comments.frame(1, sender, [2].into_iter());
        comments.arrived(sender, &SentData { transmission: 2, start: 0, end: 9, role: Role::Retransmission });
        comments.on_judged(&JudgedRetransmission { flow: 0, sender: End::From, transmission: 2, needed: true });
        assert!(comments.halves.is_empty(), "both halves are known");
        comments.frame(0, (0, End::To), std::iter::empty());
        comments.last(0, "undo");
        comments.last(0, "twice");
        let texts = comments.into_texts();
        let of = |text: &[(u64, &str)]| text.iter().map(|&(frame, text)| (frame, text.to_owned())).collect::<Texts>();
        assert_eq!(
            texts[0],
            of(&[(1, "dropped at bottleneck: queue"), (2, "needed retransmission"), (3, "undo; twice")])
        );
        assert_eq!(texts[1], of(&[(1, "needed retransmission")]));
    }

    #[test]
    fn a_retransmission_that_is_judged_on_its_way_says_so_where_it_arrives() {
        let mut comments = Comments::default();
        comments.add_capture();
        let judged = JudgedRetransmission { flow: 0, sender: End::From, transmission: 5, needed: false };
        comments.on_judged(&judged);
        comments.frame(0, (0, End::From), [5].into_iter());
        comments.arrived((0, End::From), &SentData { transmission: 5, start: 0, end: 9, role: Role::Retransmission });
        assert!(comments.halves.is_empty() && comments.captures[0].open.is_empty());
        assert_eq!(comments.into_texts()[0], Texts::from([(1, "needless retransmission".to_owned())]));
    }

    #[test]
    fn arrived_data_is_not_stored() {
        let mut comments = Comments::default();
        comments.add_capture();
        for transmission in 1..=1000 {
            comments.frame(0, (0, End::From), [transmission].into_iter());
            comments.arrived((0, End::From), &SentData { transmission, start: 0, end: 9, role: Role::Original });
        }
        assert!(comments.captures[0].open.is_empty() && comments.captures[0].texts.is_empty());
        comments.last(0, "on the thousandth");
        assert_eq!(comments.into_texts()[0].keys().collect::<Vec<_>>(), [&1000]);
    }
}
