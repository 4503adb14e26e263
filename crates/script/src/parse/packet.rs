//! Packets: flags, numbers, window and options.

use super::cursor::Cursor;
use super::lexer::Kind;
use crate::error::Fault;
use crate::script::{Packet, TcpOption};
use eifel_packet::ip::Ecn;
use eifel_packet::options::LIMIT;
use eifel_packet::segment::{Flags, Marks};

const LETTERS: [(char, Flags); 9] = [
    ('S', Flags::SYN),
    ('F', Flags::FIN),
    ('R', Flags::RST),
    ('P', Flags::PSH),
    ('U', Flags::URG),
    ('E', Flags::ECE),
    ('W', Flags::CWR),
    // Only if both ends agree on marks.
    ('X', Flags::SENT_AGAIN),
    ('Y', Flags::ANSWERS_SENT_AGAIN),
];

const MARKS: [(&str, Ecn); 4] = [("noecn", Ecn::NotEct), ("ect0", Ecn::Ect0), ("ect1", Ecn::Ect1), ("ce", Ecn::Ce)];

const FLAGS: &str = "flags out of S, F, R, P, U, E, W, X, Y and a dot for ACK, or - for none";

/// Reads a packet of the peer, after `<`.
pub(super) fn arriving(cursor: &mut Cursor<'_>) -> Result<Packet, Fault> {
    let packet = read(cursor)?;
    if packet.window.is_none() {
        return Err(cursor.unfit("win and a number: a packet that arrives has a window"));
    }
    if packet.options.is_none() {
        return Err(cursor.unfit("options: only packets that leave may have <...>"));
    }
    if !packet.compares_seq {
        return Err(cursor.unfit("sequence numbers: only packets that leave may have ...(0)"));
    }
    Ok(packet)
}

/// Reads a packet of the connection, after `>`.
pub(super) fn leaving(cursor: &mut Cursor<'_>) -> Result<Packet, Fault> {
    read(cursor)
}

fn read(cursor: &mut Cursor<'_>) -> Result<Packet, Fault> {
    let ecn = if cursor.take('[') { Some(mark(cursor)?) } else { None };
    let flags = flags(cursor)?;
    let place = cursor.place();
    let compares_seq = cursor.kind() != &Kind::Ellipsis;
    let (seq, end): (u32, Option<u32>) = if compares_seq {
        let seq = cursor.number("the first sequence number", u32::MAX.into())?;
        cursor.need(':')?;
        (seq, Some(cursor.number("the sequence number after the last", u32::MAX.into())?))
    } else {
        cursor.next();
        (0, None)
    };
    cursor.need('(')?;
    let len: u32 = cursor.number("bytes of payload", 1 << 30)?;
    cursor.need(')')?;
    if let Some(end) = end
        && seq.wrapping_add(len) != end
    {
        return Err(Fault::new(place, format!("{seq}:{end}({len}) does not add up"), "FIRST:END(END - FIRST)"));
    }
    let ack = if cursor.take_word("ack") { cursor.number("the acknowledgement", u32::MAX.into())? } else { 0 };
    let window = match cursor.take_word("win") {
        true => Some(cursor.number("the window field", u16::MAX.into())?),
        false => None,
    };
    let options = if cursor.take('<') { options(cursor)? } else { Some(Vec::new()) };
    Ok(Packet { flags, seq, compares_seq, len, ack, window, options, ecn })
}

/// Reads the ECN field, after `[`.
fn mark(cursor: &mut Cursor<'_>) -> Result<Ecn, Fault> {
    let known = match cursor.kind() {
        Kind::Word(word) => MARKS.iter().find(|(name, _)| name == word),
        _ => None,
    };
    let Some((_, ecn)) = known else { return Err(cursor.unfit("noecn, ect0, ect1 or ce")) };
    cursor.next();
    cursor.need(']')?;
    Ok(*ecn)
}

fn flags(cursor: &mut Cursor<'_>) -> Result<Flags, Fault> {
    if cursor.take('-') {
        return Ok(Flags(0));
    }
    let mut flags = Flags(0);
    let word = match cursor.kind() {
        Kind::Word(word) => Some(word.clone()),
        Kind::Mark('.') => None,
        _ => return Err(cursor.unfit(FLAGS)),
    };
    if let Some(word) = word {
        for letter in word.chars() {
            let known = LETTERS.iter().find(|(known, _)| *known == letter);
            flags = flags.with(known.ok_or_else(|| cursor.unfit(FLAGS))?.1);
        }
        cursor.next();
    }
    Ok(if cursor.take('.') { flags.with(Flags::ACK) } else { flags })
}

/// Reads the list of options; `None` for `...`.
fn options(cursor: &mut Cursor<'_>) -> Result<Option<Vec<TcpOption>>, Fault> {
    if cursor.kind() == &Kind::Ellipsis {
        cursor.next();
        cursor.need('>')?;
        return Ok(None);
    }
    let (place, mut list, mut bytes) = (cursor.place(), Vec::new(), 0);
    loop {
        let option = option(cursor)?;
        bytes += length(&option);
        list.push(option);
        if bytes > LIMIT {
            return Err(Fault::new(place, format!("the options take {bytes} bytes"), format!("at most {LIMIT}")));
        }
        if cursor.take('>') {
            return Ok(Some(list));
        }
        if !cursor.take(',') {
            return Err(cursor.unfit("\",\" or \">\""));
        }
    }
}

fn option(cursor: &mut Cursor<'_>) -> Result<TcpOption, Fault> {
    const KNOWN: &str = "an option out of mss, wscale, sackOK, sack, TS, marks, nop, eol";
    let Kind::Word(word) = cursor.kind().clone() else { return Err(cursor.unfit(KNOWN)) };
    if !matches!(word.as_str(), "mss" | "wscale" | "sackOK" | "sack" | "TS" | "marks" | "nop" | "eol") {
        return Err(cursor.unfit(KNOWN));
    }
    cursor.next();
    Ok(match word.as_str() {
        "mss" => TcpOption::Mss(cursor.number("the segment size", u16::MAX.into())?),
        "wscale" => TcpOption::WindowScale(cursor.number("the shift", u8::MAX.into())?),
        "sackOK" => TcpOption::SackPermitted,
        "sack" => TcpOption::Sack(blocks(cursor)?),
        "TS" => {
            let value = number_after(cursor, "val")?;
            TcpOption::Timestamps { value, echo: number_after(cursor, "ecr")? }
        }
        "marks" if cursor.take_word("bits") => TcpOption::Marks(Marks::Bits),
        "marks" if cursor.take_word("timestamps") => TcpOption::Marks(Marks::Timestamps),
        "marks" => return Err(cursor.unfit("bits or timestamps")),
        "nop" => TcpOption::Nop,
        _ => TcpOption::End,
    })
}

fn number_after(cursor: &mut Cursor<'_>, word: &str) -> Result<u32, Fault> {
    if !cursor.take_word(word) {
        return Err(cursor.unfit(&format!("{word} and a number")));
    }
    cursor.number(word, u32::MAX.into())
}

fn blocks(cursor: &mut Cursor<'_>) -> Result<Vec<(u32, u32)>, Fault> {
    let mut blocks = Vec::new();
    while blocks.is_empty() || matches!(cursor.kind(), Kind::Integer(_)) {
        if blocks.len() == 4 {
            return Err(cursor.unfit("at most four SACK blocks"));
        }
        let left = cursor.number("a block's left edge", u32::MAX.into())?;
        cursor.need(':')?;
        blocks.push((left, cursor.number("a block's right edge", u32::MAX.into())?));
    }
    Ok(blocks)
}

/// Returns the bytes of an option in the header.
fn length(option: &TcpOption) -> usize {
    match option {
        TcpOption::Mss(_) => 4,
        TcpOption::WindowScale(_) => 3,
        TcpOption::SackPermitted => 2,
        TcpOption::Sack(blocks) => 2 + 8 * blocks.len(),
        TcpOption::Timestamps { .. } => 10,
        TcpOption::Marks(_) => 5,
        TcpOption::Nop | TcpOption::End => 1,
    }
}
