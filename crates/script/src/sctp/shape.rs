//! The chunks, parameters and error causes that scripts name. Fields have the same order in scripts
//! and in bytes.

/// The list that an element belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    Chunk,
    Parameter,
    Cause,
}

/// The form of a field, in the script and in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// The type of a generic element.
    Kind,
    /// The flags of a chunk: a number, or some of these letters.
    Flags(&'static [(char, u8)]),
    /// The element's length field.
    Length,
    U16,
    U32,
    /// A verification tag of the sender.
    Tag,
    /// A TSN of the sender.
    OwnTsn,
    /// A TSN of the other side.
    OtherTsn,
    /// A timestamp of the sender's clock, and one of the other side's.
    OwnStamp,
    OtherStamp,
    /// Two bytes of zeros, which scripts do not write.
    Reserved,
    /// `[0x01, …]`, up to the end of the element.
    Bytes,
    /// User data, which scripts do not write: zeros up to the element's length.
    Payload,
    /// `[start:end, …]`, after the number of gaps and the number of duplicates.
    Gaps,
    /// `[tsn, …]` of the other side.
    Duplicates,
    Ipv4,
    Ipv6,
    /// A text and its terminating zero.
    Text,
    /// `[number, …]` of 16 bits each; IPv4 and IPv6 may be named.
    Types,
    /// Like `Types`, after a count of 32 bits.
    CountedTypes,
    /// `[number, …]` of 8 bits each.
    ChunkTypes,
    /// `[{stream,ssn}, …]`
    Streams,
    /// An unnamed list of elements: the rest of the fields.
    List(Family),
    /// `[ELEMENT, …]`
    Named(Family),
    /// `ELEMENT`
    One(Family),
}

/// A field. Its name is empty if scripts write none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) form: Form,
}

/// An element of a family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) family: Family,
    /// `None` for the generic element.
    pub(crate) kind: Option<u16>,
    pub(crate) fields: &'static [Field],
}

const fn field(name: &'static str, form: Form) -> Field {
    Field { name, form }
}

const fn chunk(name: &'static str, kind: u16, fields: &'static [Field]) -> Shape {
    Shape { name, family: Family::Chunk, kind: Some(kind), fields }
}

const fn parameter(name: &'static str, kind: u16, fields: &'static [Field]) -> Shape {
    Shape { name, family: Family::Parameter, kind: Some(kind), fields }
}

const fn cause(name: &'static str, kind: u16, fields: &'static [Field]) -> Shape {
    Shape { name, family: Family::Cause, kind: Some(kind), fields }
}

const FLAGS: Field = field("flgs", Form::Flags(&[]));
/// `X` is the retransmit bit, on which both ends have to agree.
const DATA_FLAGS: Field = field("flgs", Form::Flags(&[('X', 16), ('I', 8), ('U', 4), ('B', 2), ('E', 1)]));
const SACK_FLAGS: Field = field("flgs", Form::Flags(&[('Y', 1)]));
const REFLECTED: Field = field("flgs", Form::Flags(&[('T', 1)]));
const LENGTH: Field = field("len", Form::Length);
const VALUE: Field = field("val", Form::Bytes);
const INFO: Field = field("info", Form::Bytes);
const CUMULATIVE: Field = field("cum_tsn", Form::OtherTsn);
const A_RWND: Field = field("a_rwnd", Form::U32);
const PARAMETERS: Field = field("", Form::List(Family::Parameter));
const CAUSES: Field = field("", Form::List(Family::Cause));
const INIT: &[Field] = &[
    FLAGS,
    field("tag", Form::Tag),
    A_RWND,
    field("os", Form::U16),
    field("is", Form::U16),
    field("tsn", Form::OwnTsn),
    PARAMETERS,
];

pub(crate) const INIT_KIND: u16 = 1;
pub(crate) const INIT_ACK_KIND: u16 = 2;
pub(crate) const HEARTBEAT_KIND: u16 = 4;
pub(crate) const HEARTBEAT_ACK_KIND: u16 = 5;
pub(crate) const ABORT_KIND: u16 = 6;
pub(crate) const COOKIE_ECHO_KIND: u16 = 10;
pub(crate) const SHUTDOWN_COMPLETE_KIND: u16 = 14;
/// The parameters that scripts may leave open, because each end chooses their contents.
pub(crate) const HEARTBEAT_INFORMATION_KIND: u16 = 1;
pub(crate) const STATE_COOKIE_KIND: u16 = 7;

static CHUNKS: &[Shape] = &[
    chunk(
        "DATA",
        0,
        &[
            DATA_FLAGS,
            LENGTH,
            field("tsn", Form::OwnTsn),
            field("sid", Form::U16),
            field("ssn", Form::U16),
            field("ppid", Form::U32),
            field("", Form::Payload),
        ],
    ),
    chunk("INIT", INIT_KIND, INIT),
    chunk("INIT_ACK", INIT_ACK_KIND, INIT),
    chunk("SACK", 3, &[SACK_FLAGS, CUMULATIVE, A_RWND, field("gaps", Form::Gaps), field("dups", Form::Duplicates)]),
    chunk("HEARTBEAT", HEARTBEAT_KIND, &[FLAGS, PARAMETERS]),
    chunk("HEARTBEAT_ACK", HEARTBEAT_ACK_KIND, &[FLAGS, PARAMETERS]),
    chunk("ABORT", ABORT_KIND, &[REFLECTED, CAUSES]),
    chunk("SHUTDOWN", 7, &[FLAGS, CUMULATIVE]),
    chunk("SHUTDOWN_ACK", 8, &[FLAGS]),
    chunk("ERROR", 9, &[FLAGS, CAUSES]),
    chunk("COOKIE_ECHO", COOKIE_ECHO_KIND, &[FLAGS, LENGTH, VALUE]),
    chunk("COOKIE_ACK", 11, &[FLAGS]),
    chunk("ECNE", 12, &[FLAGS, field("tsn", Form::OtherTsn)]),
    chunk("CWR", 13, &[FLAGS, field("tsn", Form::OwnTsn)]),
    chunk("SHUTDOWN_COMPLETE", SHUTDOWN_COMPLETE_KIND, &[REFLECTED]),
    chunk("PAD", 0x84, &[FLAGS, LENGTH, VALUE]),
    chunk("TIMESTAMP", 0xbe, &[FLAGS, field("val", Form::OwnStamp), field("ecr", Form::OtherStamp)]),
    chunk("FORWARD_TSN", 0xc0, &[field("cum_tsn", Form::OwnTsn), field("ids", Form::Streams)]),
    Shape {
        name: "CHUNK",
        family: Family::Chunk,
        kind: None,
        fields: &[field("type", Form::Kind), FLAGS, LENGTH, VALUE],
    },
];

static PARAMETERS_BY_NAME: &[Shape] = &[
    parameter("HEARTBEAT_INFORMATION", HEARTBEAT_INFORMATION_KIND, &[LENGTH, VALUE]),
    parameter("IPV4_ADDRESS", 5, &[field("addr", Form::Ipv4)]),
    parameter("IPV6_ADDRESS", 6, &[field("addr", Form::Ipv6)]),
    parameter("STATE_COOKIE", STATE_COOKIE_KIND, &[LENGTH, VALUE]),
    parameter("UNRECOGNIZED_PARAMETER", 8, &[field("params", Form::Named(Family::Parameter))]),
    parameter("COOKIE_PRESERVATIVE", 9, &[field("incr", Form::U32)]),
    parameter("HOSTNAME_ADDRESS", 11, &[field("addr", Form::Text)]),
    parameter("SUPPORTED_ADDRESS_TYPES", 12, &[field("types", Form::Types)]),
    parameter("ECN_CAPABLE", 0x8000, &[]),
    parameter("SUPPORTED_EXTENSIONS", 0x8008, &[field("types", Form::ChunkTypes)]),
    parameter("RETRANSMIT_BIT", 0xb1fe, &[]),
    parameter("FORWARD_TSN_SUPPORTED", 0xc000, &[]),
    parameter("ADAPTATION_INDICATION", 0xc006, &[field("adaptation_code_point", Form::U32)]),
    Shape {
        name: "PARAMETER",
        family: Family::Parameter,
        kind: None,
        fields: &[field("type", Form::Kind), LENGTH, VALUE],
    },
];

static CAUSES_BY_NAME: &[Shape] = &[
    cause("INVALID_STREAM_IDENTIFIER", 1, &[field("sid", Form::U16), field("", Form::Reserved)]),
    cause("MISSING_MANDATORY_PARAMETER", 2, &[field("types", Form::CountedTypes)]),
    cause("STALE_COOKIE_ERROR", 3, &[field("staleness", Form::U32)]),
    cause("OUT_OF_RESOURCE", 4, &[]),
    cause("UNRESOLVABLE_ADDRESS", 5, &[field("param", Form::One(Family::Parameter))]),
    cause("UNRECOGNIZED_CHUNK_TYPE", 6, &[field("chk", Form::One(Family::Chunk))]),
    cause("INVALID_MANDATORY_PARAMETER", 7, &[]),
    cause("UNRECOGNIZED_PARAMETERS", 8, &[field("params", Form::Named(Family::Parameter))]),
    cause("NO_USER_DATA", 9, &[field("tsn", Form::OtherTsn)]),
    cause("COOKIE_RECEIVED_WHILE_SHUTDOWN", 10, &[]),
    cause("RESTART_WITH_NEW_ADDRESSES", 11, &[field("params", Form::Named(Family::Parameter))]),
    cause("USER_INITIATED_ABORT", 12, &[INFO]),
    cause("PROTOCOL_VIOLATION", 13, &[INFO]),
    Shape { name: "CAUSE", family: Family::Cause, kind: None, fields: &[field("code", Form::Kind), LENGTH, INFO] },
];

impl Family {
    /// Returns the elements of the family; the last is the generic one.
    pub(crate) fn shapes(self) -> &'static [Shape] {
        match self {
            Self::Chunk => CHUNKS,
            Self::Parameter => PARAMETERS_BY_NAME,
            Self::Cause => CAUSES_BY_NAME,
        }
    }

    /// Returns the element of a name.
    pub(crate) fn named(self, name: &str) -> Option<&'static Shape> {
        self.shapes().iter().find(|shape| shape.name == name)
    }

    /// Returns the element of a type; the generic one if the type has no name.
    pub(crate) fn of_kind(self, kind: u16) -> &'static Shape {
        let shapes = self.shapes();
        shapes.iter().find(|shape| shape.kind == Some(kind)).unwrap_or(&shapes[shapes.len() - 1])
    }

    /// Returns all names, for messages.
    pub(crate) fn names(self) -> String {
        let names: Vec<_> = self.shapes().iter().map(|shape| shape.name).collect();
        format!("one of {}", names.join(", "))
    }
}
