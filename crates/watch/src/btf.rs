//! The numbers of the running kernel's types and functions, and where the members of a structure are.
//! (The loader's own reader of BTF keeps the members to itself.)

use crate::error::Error;

const PATH: &str = "/sys/kernel/btf/vmlinux";
const HEADER: usize = 24;
const MAGIC: u32 = 0xeb9f;

const STRUCT: u32 = 4;
const FUNCTION: u32 = 12;

/// The kernel's types.
pub(super) struct Types {
    bytes: Vec<u8>,
    /// Where the strings begin.
    strings: usize,
    types: Vec<Type>,
}

#[derive(Clone, Copy)]
struct Type {
    name: usize,
    kind: u32,
    size: u32,
    /// Where its members are, and how many.
    members: (usize, usize),
    /// Whether the members' offsets share a word with the size of a bit field.
    has_bit_fields: bool,
}

/// A member of a structure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Member {
    /// Its number.
    pub index: u32,
    /// In bytes.
    pub offset: usize,
}

impl Types {
    /// Reads those of the running kernel.
    pub fn of_this_kernel() -> Result<Self, Error> {
        let tried = format!("read {PATH}");
        let bytes = std::fs::read(PATH).map_err(Error::of(tried.clone()))?;
        Self::parse(bytes).ok_or_else(|| Error::new(tried, "expected BTF, version 1"))
    }

    /// `None` if the bytes are cut short, or of another form.
    pub fn parse(bytes: Vec<u8>) -> Option<Self> {
        let word = |at: usize| Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?));
        if word(0)? & 0xffff != MAGIC {
            return None;
        }
        let after_header = word(4)? as usize;
        let (begin, length) = (after_header + word(8)? as usize, word(12)? as usize);
        let strings = after_header + word(16)? as usize;
        let (mut at, end) = (begin, begin.checked_add(length)?);
        if after_header < HEADER || end > bytes.len() {
            return None;
        }
        // The type 0 is `void`.
        let mut types = vec![Type { name: 0, kind: 0, size: 0, members: (0, 0), has_bit_fields: false }];
        while at < end {
            let (name, about, size) = (word(at)? as usize, word(at + 4)?, word(at + 8)?);
            let (kind, count) = (about >> 24 & 31, (about & 0xffff) as usize);
            at += 12;
            types.push(Type { name, kind, size, members: (at, count), has_bit_fields: about >> 31 == 1 });
            at += match kind {
                1 | 14 | 17 => 4,
                3 => 12,
                4 | 5 | 15 | 19 => 12 * count,
                6 | 13 => 8 * count,
                2 | 7..=12 | 16 | 18 => 0,
                _ => return None,
            };
        }
        Some(Self { bytes, strings, types })
    }

    fn is_named(&self, name: usize, wanted: &str) -> bool {
        let text = self.strings.checked_add(name).and_then(|at| self.bytes.get(at..));
        text.is_some_and(|text| text.strip_prefix(wanted.as_bytes()).is_some_and(|rest| rest.first() == Some(&0)))
    }

    fn find(&self, kind: u32, name: &str) -> Result<(u32, &Type), Error> {
        let found = self.types.iter().zip(0..).find(|(one, _)| one.kind == kind && self.is_named(one.name, name));
        found.map(|(one, id)| (id, one)).ok_or_else(|| {
            let needs = "the kernel lacks it; needed are Linux 6.4 or newer, and its CUBIC built in, not as a module";
            Error::new(format!("find {name} in {PATH}"), needs)
        })
    }

    /// Returns the number of a function.
    pub fn function(&self, name: &str) -> Result<u32, Error> {
        self.find(FUNCTION, name).map(|(id, _)| id)
    }

    /// Returns the number of a structure, and its size in bytes.
    pub fn structure(&self, name: &str) -> Result<(u32, usize), Error> {
        self.find(STRUCT, name).map(|(id, one)| (id, one.size as usize))
    }

    /// Returns a member of a structure.
    pub fn member(&self, structure: &str, name: &str) -> Result<Member, Error> {
        let (_, one) = self.find(STRUCT, structure)?;
        let (at, count) = one.members;
        let word = |at: usize| Some(u32::from_ne_bytes(*self.bytes.get(at..)?.first_chunk()?));
        let found = (0..count).find_map(|index| {
            let at = at + 12 * index;
            let bits = word(at + 8)? & if one.has_bit_fields { 0xff_ffff } else { u32::MAX };
            let is_it = self.is_named(word(at)? as usize, name);
            is_it.then_some(Member { index: index as u32, offset: bits as usize / 8 })
        });
        found.ok_or_else(|| Error::new(format!("find {structure}.{name} in {PATH}"), "the kernel lacks it"))
    }
}
