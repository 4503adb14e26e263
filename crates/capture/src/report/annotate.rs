//! Writes the results of an analysis into a copy of the capture, as comments that Wireshark shows.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::frame::read::Frame;
use crate::result::Retransmission;
use eifel_packet::pcapng::{Interface, Packet, Writer};

/// Copies frames into a pcapng file. Adds a comment to each retransmission and to each frame at
/// which a detector judges.
#[derive(Debug)]
pub struct Annotator<W: Write> {
    writer: Writer<W>,
    /// Interfaces of the copy, by interface and link type of the original.
    interfaces: BTreeMap<(u32, u32), Interface>,
    /// The name of the only interface; `None` to name interfaces by their numbers.
    interface: Option<String>,
    comments: BTreeMap<u64, String>,
}

impl<W: Write> Annotator<W> {
    /// Starts a copy in `out`, with the results for one file.
    ///
    /// # Errors
    /// Any error of `out`.
    pub fn new<'a>(out: W, found: impl Iterator<Item = &'a Retransmission>) -> io::Result<Self> {
        let mut comments: BTreeMap<u64, String> = BTreeMap::new();
        let mut add = |frame: u64, text: String| {
            let comment = comments.entry(frame).or_default();
            if !comment.is_empty() {
                comment.push_str("; ");
            }
            comment.push_str(&text);
        };
        for one in found {
            let Retransmission { frame, verdict, cause, other_cause, confidence, reason, evidence_frame, .. } = one;
            let other = other_cause.map(|cause| format!(" or {}", cause.name())).unwrap_or_default();
            let shown = evidence_frame.map(|frame| format!(", see frame {frame}")).unwrap_or_default();
            add(
                *frame,
                format!("{verdict:?} retransmission ({}{other}, {confidence:?}): {reason}{shown}", cause.name()),
            );
            for judged in &one.first_told {
                let said = if judged.spurious { "spurious" } else { "genuine" };
                add(judged.frame, format!("{} calls frame {frame} {said}: {}", judged.detector, judged.reason));
            }
        }
        Self::made(out, "eifel analyze", None, comments)
    }

    /// Starts a copy of a simulated run in `out`, with comments by frame number, from 1.
    ///
    /// # Errors
    /// Any error of `out`.
    pub fn of_run(out: W, interface: &str, comments: BTreeMap<u64, String>) -> io::Result<Self> {
        let application = concat!("eifel-sim ", env!("CARGO_PKG_VERSION"));
        Self::made(out, application, Some(interface.to_owned()), comments)
    }

    fn made(out: W, application: &str, interface: Option<String>, comments: BTreeMap<u64, String>) -> io::Result<Self> {
        Ok(Self { writer: Writer::new(out, application)?, interfaces: BTreeMap::new(), interface, comments })
    }

    /// Copies a frame. Frames must come in the order of the file.
    ///
    /// # Errors
    /// Any error of the output.
    pub fn frame(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let key = (frame.interface, frame.link);
        let interface = match self.interfaces.get(&key) {
            Some(interface) => *interface,
            None => {
                // A block without a packet becomes an empty frame of a private link type.
                const PRIVATE: u16 = 147;
                let link = u16::try_from(frame.link).unwrap_or(PRIVATE);
                let numbered = || format!("interface {}", frame.interface);
                let made = self.writer.interface_of(&self.interface.clone().unwrap_or_else(numbered), link)?;
                self.interfaces.insert(key, made);
                made
            }
        };
        let comment = self.comments.get(&frame.number).map(|text| shortened(text));
        self.writer.packet(interface, frame.nanos, Packet { bytes: frame.bytes, wire_len: frame.wire_len, comment })
    }

    /// Flushes and returns the output.
    ///
    /// # Errors
    /// Any error of the output.
    pub fn finish(self) -> io::Result<W> {
        self.writer.finish()
    }
}

/// Cuts a text to the length that fits into a comment, between two characters.
fn shortened(text: &str) -> &str {
    const MOST: usize = 4000;
    let cut = (0..=MOST).rev().find(|&at| text.is_char_boundary(at));
    if text.len() <= MOST { text } else { &text[..cut.unwrap_or(0)] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_comment_is_cut_between_two_characters() {
        for (letter, kept) in [("a", 4000), ("é", 4000), ("€", 3999), ("😀", 4000)] {
            assert_eq!(shortened(&letter.repeat(4000)).len(), kept, "{letter}");
            assert_eq!(shortened(&letter.repeat(1000)).len(), 1000 * letter.len());
        }
    }

    #[test]
    fn a_copy_has_the_frames_of_the_original_and_their_link_types() {
        let bytes = [1_u8, 2, 3];
        let frame =
            |number, interface, link| Frame { number, nanos: 7 + number, link, interface, wire_len: 9, bytes: &bytes };
        let mut annotator = Annotator::new(Vec::new(), std::iter::empty()).unwrap();
        let frames = [frame(1, 0, 1), frame(2, 3, 276), frame(3, 0, 1)];
        for frame in &frames {
            annotator.frame(frame).unwrap();
        }
        let file = annotator.finish().unwrap();
        let mut reader = crate::frame::read::Reader::new();
        reader.feed(&file);
        for (index, original) in frames.iter().enumerate() {
            let copy = reader.frame().unwrap().unwrap();
            assert_eq!((copy.number, copy.nanos, copy.link), (index as u64 + 1, original.nanos, original.link));
            assert_eq!((copy.wire_len, copy.bytes), (9, &bytes[..]));
        }
        assert_eq!(reader.finish(), Ok(()));
    }
}
