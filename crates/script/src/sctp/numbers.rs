//! Translates between a script's verification tags and TSNs and those on the wire.
//!
//! This end draws its tag and its initial TSN, so scripts use other numbers for them. The peer's
//! numbers are the script's own.

use std::collections::BTreeMap;

use super::item::{Item, Value};
use super::shape::{
    ABORT_KIND, COOKIE_ECHO_KIND, Form, HEARTBEAT_ACK_KIND, HEARTBEAT_INFORMATION_KIND, HEARTBEAT_KIND, INIT_ACK_KIND,
    INIT_KIND, SHUTDOWN_COMPLETE_KIND, STATE_COOKIE_KIND,
};

/// Maps the numbers of a script to those on the wire, and keeps those that the peer echoes.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// This end's TSNs on the wire, minus those of the script.
    offset: u32,
    /// This end's timestamps on the wire, minus those of the script; `None` before the first one is
    /// compared.
    stamps: Option<u32>,
    /// Maps this end's tags in the script to those on the wire.
    tags: BTreeMap<u32, u32>,
    /// This end's newest tag on the wire.
    own: u32,
    /// The tags that the peer has announced; the newest last.
    peers: Vec<u32>,
    /// The tag of the newest packet from the peer.
    pub(super) answered: u32,
    /// The newest cookie that this end has handed out.
    cookie: Vec<u8>,
    /// The information of the newest HEARTBEAT.
    heartbeat: Vec<u8>,
}

impl Numbers {
    /// Remembers the tag, cookie and heartbeat information of a packet that leaves. The peer may
    /// have to repeat them.
    pub(super) fn note(&mut self, items: &[Item]) {
        for item in items {
            if let (Some(INIT_KIND | INIT_ACK_KIND), Some(Value::Number(tag))) = (item.kind(), item.value(Form::Tag)) {
                self.own = *tag;
            }
            for parameter in parameters(item) {
                let Some(Value::Bytes(bytes)) = parameter.value(Form::Bytes) else { continue };
                match (item.kind(), parameter.kind()) {
                    (Some(INIT_ACK_KIND), Some(STATE_COOKIE_KIND)) => self.cookie.clone_from(bytes),
                    (Some(HEARTBEAT_KIND), Some(HEARTBEAT_INFORMATION_KIND)) => self.heartbeat.clone_from(bytes),
                    _ => {}
                }
            }
        }
    }

    /// Learns the script's numbers for the tag and the TSN of an INIT or INIT ACK that leaves, and
    /// for the first timestamp.
    pub(super) fn learn(&mut self, expected: &Item, seen: &Item) {
        if let (Some(Value::Number(script)), Some(Value::Number(wire))) =
            (expected.value(Form::OwnStamp), seen.value(Form::OwnStamp))
        {
            self.stamps.get_or_insert(wire.wrapping_sub(*script));
        }
        if !matches!(expected.kind(), Some(INIT_KIND | INIT_ACK_KIND)) {
            return;
        }
        if let (Some(Value::Number(script)), Some(Value::Number(wire))) =
            (expected.value(Form::Tag), seen.value(Form::Tag))
        {
            self.tags.entry(*script).or_insert(*wire);
        }
        if let (Some(Value::Number(script)), Some(Value::Number(wire))) =
            (expected.value(Form::OwnTsn), seen.value(Form::OwnTsn))
        {
            self.offset = wire.wrapping_sub(*script);
        }
    }

    /// Translates the numbers of an element that leaves to those of the script.
    pub(super) fn make_scripts(&self, item: &mut Item) {
        item.change(&mut |form, value| match (form, value) {
            (Form::OwnTsn, Value::Number(tsn)) => *tsn = tsn.wrapping_sub(self.offset),
            (Form::OwnStamp, Value::Number(stamp)) => *stamp = stamp.wrapping_sub(self.stamps.unwrap_or(0)),
            (Form::Tag, Value::Number(tag)) => {
                let known = self.tags.iter().find(|(_, wire)| *wire == tag);
                *tag = known.map_or(*tag, |(script, _)| *script);
            }
            _ => {}
        });
    }

    /// Translates the numbers of an element that arrives to those on the wire. Fills in the values
    /// that the script leaves open.
    pub(super) fn make_wire(&mut self, item: &mut Item) {
        if let (Some(INIT_KIND | INIT_ACK_KIND), Some(Value::Number(tag))) = (item.kind(), item.value(Form::Tag)) {
            self.peers.push(*tag);
        }
        let echoed = match item.kind() {
            Some(COOKIE_ECHO_KIND) => Some(self.cookie.clone()),
            Some(HEARTBEAT_ACK_KIND) => Some(self.heartbeat.clone()),
            _ => None,
        };
        item.change(&mut |form, value| match (form, value) {
            (Form::OtherTsn, Value::Number(tsn)) => *tsn = tsn.wrapping_add(self.offset),
            // 0 echoes nothing.
            (Form::OtherStamp, Value::Number(stamp @ 1..)) => *stamp = stamp.wrapping_add(self.stamps.unwrap_or(0)),
            (Form::Duplicates, Value::Numbers(tsns)) => {
                tsns.iter_mut().for_each(|tsn| *tsn = tsn.wrapping_add(self.offset));
            }
            (Form::Bytes, value @ Value::Any) => {
                if let Some(echoed) = &echoed {
                    *value = Value::Bytes(echoed.clone());
                }
            }
            _ => {}
        });
    }

    /// Returns the tag on the wire of a packet that arrives. `written` is the script's tag, if it
    /// gives one.
    pub(super) fn arriving_tag(&self, written: Option<u32>, first: Option<&Item>) -> u32 {
        if let Some(written) = written {
            return self.tags.get(&written).copied().unwrap_or(written);
        }
        match first.map(|first| (first.kind(), first)) {
            Some((Some(INIT_KIND), _)) => 0,
            Some((Some(ABORT_KIND | SHUTDOWN_COMPLETE_KIND), first)) if is_reflected(first) => {
                self.peers.last().copied().unwrap_or(0)
            }
            _ => self.own,
        }
    }

    /// Describes a wrong tag of a packet that leaves; `None` if the tag is right.
    pub(super) fn wrong_tag(&self, tag: u32, answered: u32, first: Option<&Item>) -> Option<String> {
        let right = match first.map(|first| (first.kind(), first)) {
            Some((Some(INIT_KIND), _)) => tag == 0,
            Some((Some(ABORT_KIND | SHUTDOWN_COMPLETE_KIND), first)) if is_reflected(first) => tag == answered,
            _ => self.peers.contains(&tag),
        };
        (!right).then(|| format!("its verification tag is {tag}"))
    }
}

fn parameters(item: &Item) -> impl Iterator<Item = &Item> {
    let lists = item.values.iter().filter_map(|value| match value {
        Value::Items(items, _) => Some(items),
        _ => None,
    });
    lists.flatten()
}

/// Returns whether an ABORT or SHUTDOWN COMPLETE has the T bit.
fn is_reflected(item: &Item) -> bool {
    item.fields().any(|(field, value)| match (field.form, value) {
        (Form::Flags(_), Value::Number(flags)) => flags & 1 != 0,
        _ => false,
    })
}
