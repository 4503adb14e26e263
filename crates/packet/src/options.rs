//! The options of a TCP header as bytes.
//!
//! The writer uses the order and padding of Linux:
//!
//! - MSS
//! - timestamps in twelve bytes, whose first two hold SACK-permitted or two NOPs
//! - SACK-permitted alone after two NOPs
//! - window scale after one NOP
//! - marks after three NOPs
//! - SACK blocks after two NOPs
//!
//! So the numbers in every option are aligned, and sizes on the wire are those of a real sender.

use crate::error::Error;
use crate::segment::{Marks, Options, SackBlocks, Timestamps};
use crate::seq::Seq;

/// Maximum bytes of options in a TCP header (RFC 9293, section 3.1: a data offset of 15 words).
pub const LIMIT: usize = 40;

const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
/// Kind of an experimental option (RFC 6994). The two bytes after its length name the experiment.
const EXPERIMENT: u8 = 253;
/// Identifier of this stack's experiment: marks of retransmissions. It is not registered, so use it
/// only between ends that both run this stack.
const MARKS: [u8; 2] = [0xe1, 0xfe];
const BITS: u8 = 1;
const TIMESTAMPS_WHEN_SENT_AGAIN: u8 = 2;

/// Returns the bytes of the options in a header, padding included: a multiple of 4. A length above
/// [`LIMIT`] cannot be written; see [`sack_room`].
pub const fn len(options: &Options) -> usize {
    let sack = match options.sack.len() {
        0 => 0,
        blocks => 4 + 8 * blocks,
    };
    len_without_sack(options) + sack
}

/// Returns how many SACK blocks fit next to the other options: 4 without timestamps, 3 with them
/// (RFC 2018, section 3).
pub const fn sack_room(options: &Options) -> usize {
    (LIMIT - 4 - len_without_sack(options)) / 8
}

const fn len_without_sack(options: &Options) -> usize {
    let mss = if options.mss.is_some() { 4 } else { 0 };
    let timestamps = if options.timestamps.is_some() { 12 } else { 0 };
    // With timestamps, SACK-permitted takes the place of their two NOPs.
    let sack_permitted = if options.sack_permitted && options.timestamps.is_none() { 4 } else { 0 };
    let window_scale = if options.window_scale.is_some() { 4 } else { 0 };
    let marks = if options.marks.is_some() { 8 } else { 0 };
    mss + timestamps + sack_permitted + window_scale + marks
}

/// Appends the options to `out`: [`len`] bytes.
pub(crate) fn emit(options: &Options, out: &mut Vec<u8>) {
    if let Some(mss) = options.mss {
        let [high, low] = mss.to_be_bytes();
        out.extend_from_slice(&[MSS, 4, high, low]);
    }
    match (options.sack_permitted, options.timestamps) {
        (true, Some(_)) => out.extend_from_slice(&[SACK_PERMITTED, 2]),
        (true, None) => out.extend_from_slice(&[NOP, NOP, SACK_PERMITTED, 2]),
        (false, Some(_)) => out.extend_from_slice(&[NOP, NOP]),
        (false, None) => {}
    }
    if let Some(Timestamps { value, echo }) = options.timestamps {
        let ([a, b, c, d], [e, f, g, h]) = (value.to_be_bytes(), echo.to_be_bytes());
        out.extend_from_slice(&[TIMESTAMPS, 10, a, b, c, d, e, f, g, h]);
    }
    if let Some(shift) = options.window_scale {
        out.extend_from_slice(&[NOP, WINDOW_SCALE, 3, shift]);
    }
    if let Some(marks) = options.marks {
        let how = match marks {
            Marks::Bits => BITS,
            Marks::Timestamps => TIMESTAMPS_WHEN_SENT_AGAIN,
        };
        out.extend_from_slice(&[NOP, NOP, NOP, EXPERIMENT, 5, MARKS[0], MARKS[1], how]);
    }
    if !options.sack.is_empty() {
        out.extend_from_slice(&[NOP, NOP, SACK, 2 + 8 * options.sack.len() as u8]);
        for (left, right) in options.sack.as_slice() {
            out.extend(left.0.to_be_bytes());
            out.extend(right.0.to_be_bytes());
        }
    }
}

/// Reads the options part of a TCP header.
///
/// Unknown kinds are skipped by their length (RFC 9293, section 3.1). If an option occurs twice,
/// the last one counts, as in Linux. Values are not judged. The connection has to ignore SYN
/// options on other segments, an MSS of 0 and a shift above 14. It also has to ignore SACK blocks
/// that are inverted or acknowledge nothing that was sent.
///
/// # Errors
/// [`Error::Truncated`] and [`Error::Invalid`] for a length that is missing, below 2, beyond the
/// end, or wrong for a known kind.
pub fn parse(bytes: &[u8]) -> Result<Options, Error> {
    let mut options = Options::default();
    let mut offset = 0;
    while let Some(left) = bytes.get(offset..) {
        match left {
            [] | [END, ..] => break,
            [NOP, ..] => offset += 1,
            [_] => return Err(Error::Truncated { what: "TCP option", offset, expected: 2, found: 1 }),
            &[kind, length, ..] => {
                let invalid = |expected| Error::Invalid {
                    what: "length of TCP option",
                    offset: offset + 1,
                    expected,
                    found: u32::from(length),
                };
                let length = usize::from(length);
                if length < 2 {
                    return Err(invalid("at least 2"));
                }
                let Some(body) = left.get(2..length) else {
                    return Err(Error::Truncated { what: "TCP option", offset, expected: length, found: left.len() });
                };
                read(kind, body, &mut options).map_err(invalid)?;
                offset += length;
            }
        }
    }
    Ok(options)
}

/// Stores one option's body in `options`.
///
/// # Errors
/// Returns the length that the kind must have.
fn read(kind: u8, body: &[u8], options: &mut Options) -> Result<(), &'static str> {
    match (kind, body) {
        (MSS, &[high, low]) => options.mss = Some(u16::from_be_bytes([high, low])),
        (MSS, _) => return Err("4 for the maximum segment size"),
        (WINDOW_SCALE, &[shift]) => options.window_scale = Some(shift),
        (WINDOW_SCALE, _) => return Err("3 for the window scale"),
        (SACK_PERMITTED, []) => options.sack_permitted = true,
        (SACK_PERMITTED, _) => return Err("2 for SACK permitted"),
        (SACK, edges) => options.sack = read_sack(edges).ok_or("10, 18, 26 or 34 for SACK")?,
        // Other experiments are ignored.
        (EXPERIMENT, &[a, b, BITS]) if [a, b] == MARKS => options.marks = Some(Marks::Bits),
        (EXPERIMENT, &[a, b, TIMESTAMPS_WHEN_SENT_AGAIN]) if [a, b] == MARKS => {
            options.marks = Some(Marks::Timestamps);
        }
        (TIMESTAMPS, body) => options.timestamps = Some(read_timestamps(body).ok_or("10 for timestamps")?),
        _ => {}
    }
    Ok(())
}

fn read_sack(edges: &[u8]) -> Option<SackBlocks> {
    let (blocks, rest) = edges.as_chunks::<8>();
    if blocks.is_empty() || !rest.is_empty() {
        return None;
    }
    let mut sack = SackBlocks::EMPTY;
    for &[a, b, c, d, e, f, g, h] in blocks {
        let fits = sack.push(Seq(u32::from_be_bytes([a, b, c, d])), Seq(u32::from_be_bytes([e, f, g, h])));
        if !fits {
            return None;
        }
    }
    Some(sack)
}

fn read_timestamps(body: &[u8]) -> Option<Timestamps> {
    let &[a, b, c, d, e, f, g, h] = body else { return None };
    Some(Timestamps { value: u32::from_be_bytes([a, b, c, d]), echo: u32::from_be_bytes([e, f, g, h]) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(options: &Options) -> Vec<u8> {
        let mut out = Vec::new();
        emit(options, &mut out);
        assert_eq!(out.len(), len(options));
        out
    }

    fn blocks(edges: &[(u32, u32)]) -> SackBlocks {
        let mut sack = SackBlocks::EMPTY;
        for &(left, right) in edges {
            assert!(sack.push(Seq(left), Seq(right)));
        }
        sack
    }

    #[test]
    fn a_syn_is_laid_out_as_by_linux() {
        let mut options = Options {
            mss: Some(1460),
            window_scale: Some(10),
            sack_permitted: true,
            timestamps: Some(Timestamps { value: 0x15fd_7d05, echo: 0 }),
            sack: SackBlocks::EMPTY,
            marks: None,
        };
        #[rustfmt::skip]
        assert_eq!(written(&options), [2, 4, 5, 0xb4, 4, 2, 8, 10, 0x15, 0xfd, 0x7d, 5, 0, 0, 0, 0, 1, 3, 3, 10]);
        options.timestamps = None;
        assert_eq!(written(&options), [2, 4, 5, 0xb4, 1, 1, 4, 2, 1, 3, 3, 10]);
    }

    #[test]
    fn four_blocks_fill_the_header_alone_and_three_with_timestamps() {
        let mut options = Options { sack: blocks(&[(1, 2), (3, 4), (5, 6), (7, 8)]), ..Options::default() };
        assert_eq!((sack_room(&options), len(&options)), (4, 36));
        assert_eq!(written(&options)[..12], [1, 1, 5, 34, 0, 0, 0, 1, 0, 0, 0, 2]);
        options.timestamps = Some(Timestamps { value: 1, echo: 2 });
        assert_eq!((sack_room(&options), len(&options)), (3, 48));
        options.sack = blocks(&[(1, 2), (3, 4), (5, 6)]);
        assert_eq!(len(&options), LIMIT);
    }

    #[test]
    fn unknown_options_are_skipped_and_nothing_counts_after_the_end() {
        // Fast open (34) and an experiment (253), then a window scale of 7, the end, and garbage.
        let bytes = [34, 4, 0xaa, 0xbb, 253, 3, 9, 1, 3, 3, 7, 0, 2, 99];
        assert_eq!(parse(&bytes), Ok(Options { window_scale: Some(7), ..Options::default() }));
    }

    #[test]
    fn the_marks_option_is_recognised_among_experimental_options() {
        for (marks, how) in [(Marks::Bits, 1), (Marks::Timestamps, 2)] {
            let options = Options { marks: Some(marks), ..Options::default() };
            assert_eq!(written(&options), [1, 1, 1, 253, 5, 0xe1, 0xfe, how]);
            assert_eq!(parse(&written(&options)), Ok(options));
        }
        // Another experiment, and an option too short for an identifier. Then ours with an unknown
        // value, with a byte too many, and with a byte too few.
        let others: [&[u8]; 5] = [
            &[253, 5, 0xe1, 0xff, 1],
            &[253, 3, 0xe1],
            &[253, 5, 0xe1, 0xfe, 3],
            &[253, 6, 0xe1, 0xfe, 1, 1],
            &[253, 4, 0xe1, 0xfe],
        ];
        for bytes in others {
            assert_eq!(parse(bytes), Ok(Options::default()));
        }
    }

    #[test]
    fn of_two_equal_options_the_last_counts() {
        assert_eq!(parse(&[2, 4, 0, 1, 2, 4, 0, 2]), Ok(Options { mss: Some(2), ..Options::default() }));
        let twice = [5, 10, 0, 0, 0, 1, 0, 0, 0, 2, 5, 10, 0, 0, 0, 9, 0, 0, 0, 4];
        assert_eq!(parse(&twice), Ok(Options { sack: blocks(&[(9, 4)]), ..Options::default() }));
    }

    #[test]
    fn impossible_sack_blocks_are_passed_on_unchanged() {
        let lies = blocks(&[(9, 4), (u32::MAX, 3), (7, 7), (0, u32::MAX)]);
        let options = Options { sack: lies, ..Options::default() };
        assert_eq!(parse(&written(&options)), Ok(options));
    }

    #[test]
    fn a_wrong_length_is_refused_with_its_place() {
        let invalid =
            |offset, expected, found| Err(Error::Invalid { what: "length of TCP option", offset, expected, found });
        let truncated = |offset, expected, found| Err(Error::Truncated { what: "TCP option", offset, expected, found });
        assert_eq!(parse(&[1, 1, 2, 3, 0, 0]), invalid(3, "4 for the maximum segment size", 3));
        assert_eq!(parse(&[3, 4, 0, 0]), invalid(1, "3 for the window scale", 4));
        assert_eq!(parse(&[4, 3, 0, 0]), invalid(1, "2 for SACK permitted", 3));
        assert_eq!(parse(&[8, 2, 1, 1]), invalid(1, "10 for timestamps", 2));
        assert_eq!(parse(&[5, 2, 1, 1]), invalid(1, "10, 18, 26 or 34 for SACK", 2));
        assert_eq!(parse(&[5, 6, 0, 0, 0, 1, 1, 1]), invalid(1, "10, 18, 26 or 34 for SACK", 6));
        assert_eq!(
            parse(&[5, 40].iter().chain([0; 38].iter()).copied().collect::<Vec<_>>()),
            invalid(1, "10, 18, 26 or 34 for SACK", 40)
        );
        assert_eq!(
            parse(&[5, 42].iter().chain([0; 40].iter()).copied().collect::<Vec<_>>()),
            invalid(1, "10, 18, 26 or 34 for SACK", 42)
        );
        assert_eq!(parse(&[77, 0]), invalid(1, "at least 2", 0));
        assert_eq!(parse(&[1, 77, 1]), invalid(2, "at least 2", 1));
        assert_eq!(parse(&[1, 1, 1, 77]), truncated(3, 2, 1));
        assert_eq!(parse(&[8, 10, 0, 0]), truncated(0, 10, 4));
    }
}
