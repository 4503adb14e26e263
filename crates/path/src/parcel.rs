//! Parcels, their fates, and the counts of both.

use core::fmt;
use core::ops::AddAssign;

/// The part of a packet that a link needs to queue and transmit it. The driver keeps the packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Parcel {
    /// The driver's identifier of the packet. The link only returns it. A duplicate has the same
    /// handle.
    pub handle: u32,
    /// Length on the link, headers included, in bytes.
    pub bytes: u32,
}

/// The properties by which elements choose a parcel. A link without elements asks for none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Label {
    pub flow: u32,
    /// Number of this transmission of the segment: 0 is the first transmission, 1 the first
    /// retransmission.
    pub copy: u32,
    /// Number of its segment within the flow, from 1; 0 for a parcel without data.
    pub segment: u64,
    /// Whether a queue may mark it in place of an early drop: the packet's transport uses ECN.
    pub takes_marks: bool,
}

/// A parcel with its label, as elements meet it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Labelled {
    pub parcel: Parcel,
    pub label: Label,
}

/// Why a parcel was dropped, at a link or in front of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum DropCause {
    /// The queue was full.
    Queue,
    /// RED or Adaptive RED dropped it because of the average queue length.
    Red,
    /// A list of drops named it.
    Listed,
    /// Independent random loss.
    Random,
    /// Random loss in bursts.
    GilbertElliott,
    /// A performance-enhancing proxy in front of the link withheld it as needless.
    Proxy,
    /// The link had no coverage.
    Outage,
    /// CoDel dropped it because of its waiting time.
    Codel,
    /// It was longer than the link carries, and the link reported nothing.
    LargerThan,
}

impl DropCause {
    /// All causes, in the order of their codes.
    pub const ALL: [Self; 9] = [
        Self::Queue,
        Self::Red,
        Self::Listed,
        Self::Random,
        Self::GilbertElliott,
        Self::Proxy,
        Self::Outage,
        Self::Codel,
        Self::LargerThan,
    ];

    /// Returns the name of the cause in tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Red => "red",
            Self::Listed => "listed",
            Self::Random => "random",
            Self::GilbertElliott => "gilbert-elliott",
            Self::Proxy => "proxy",
            Self::Outage => "outage",
            Self::Codel => "codel",
            Self::LargerThan => "larger-than",
        }
    }
}

impl fmt::Display for DropCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A change of a packet's ECN field (RFC 3168, section 5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// Congestion was experienced.
    Congestion,
    /// The field is cleared, as by a router that treats it as part of the type of service.
    Cleared,
}

/// The fates of a parcel other than its arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The parcel will not arrive.
    Dropped { parcel: Parcel, cause: DropCause },
    /// The packet's ECN field changes.
    Marked { parcel: Parcel, mark: Mark },
    /// There is one more parcel with this handle. It may be delivered or dropped, too.
    Duplicated { parcel: Parcel },
}

/// A number of parcels and their bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    pub parcels: u64,
    /// Their bytes, headers included.
    pub bytes: u64,
}

impl AddAssign<&Parcel> for Tally {
    fn add_assign(&mut self, parcel: &Parcel) {
        self.parcels += 1;
        self.bytes += u64::from(parcel.bytes);
    }
}

/// A link's counters. Offered plus duplicated equals delivered plus dropped plus inside.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Arrived at the entrance.
    pub offered: Tally,
    /// Copies that the link made.
    pub duplicated: Tally,
    /// Handed out at the far end.
    pub delivered: Tally,
    /// Dropped, for any cause.
    pub dropped: Tally,
}

/// Counts of parcels and of bytes, stored separately. If they were side by side, compilers would
/// add both as one vector, which takes longer.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    parcels: Fates,
    bytes: Fates,
}

/// Amounts by fate.
#[derive(Debug, Default)]
struct Fates {
    offered: u64,
    duplicated: u64,
    delivered: u64,
    dropped: u64,
}

impl Ledger {
    /// Counts a parcel at the entrance.
    #[inline]
    pub(crate) fn offer(&mut self, parcel: &Parcel) {
        self.parcels.offered += 1;
        self.bytes.offered += u64::from(parcel.bytes);
    }

    /// Counts a copy that the link makes.
    pub(crate) fn duplicate(&mut self, parcel: &Parcel) {
        self.parcels.duplicated += 1;
        self.bytes.duplicated += u64::from(parcel.bytes);
    }

    /// Counts a parcel handed out.
    #[inline]
    pub(crate) fn deliver(&mut self, parcel: &Parcel) {
        self.parcels.delivered += 1;
        self.bytes.delivered += u64::from(parcel.bytes);
    }

    /// Counts a dropped parcel.
    pub(crate) fn drop(&mut self, parcel: &Parcel) {
        self.parcels.dropped += 1;
        self.bytes.dropped += u64::from(parcel.bytes);
    }

    pub(crate) fn counts(&self) -> Counts {
        let Self { parcels, bytes } = self;
        let tally = |parcels: u64, bytes: u64| Tally { parcels, bytes };
        Counts {
            offered: tally(parcels.offered, bytes.offered),
            duplicated: tally(parcels.duplicated, bytes.duplicated),
            delivered: tally(parcels.delivered, bytes.delivered),
            dropped: tally(parcels.dropped, bytes.dropped),
        }
    }
}

impl Counts {
    /// Returns the parcels that must be inside: held by an element, queued, in transmission or
    /// propagating. Returns `None` if more came out than went in.
    pub fn inside(&self) -> Option<Tally> {
        let left = |came: u64, made: u64, out: u64, lost: u64| (came + made).checked_sub(out + lost);
        let Self { offered, duplicated, delivered, dropped } = self;
        Some(Tally {
            parcels: left(offered.parcels, duplicated.parcels, delivered.parcels, dropped.parcels)?,
            bytes: left(offered.bytes, duplicated.bytes, delivered.bytes, dropped.bytes)?,
        })
    }
}
