//! Elements that a parcel meets at the entrance of a link, before the queue.

pub mod duplicate;
pub mod gilbert_elliott;
pub mod jitter;
pub mod larger_than;
pub mod late;
pub mod listed;
pub mod loss;
pub mod outage;
pub mod remark;
pub mod reorder;
mod waiting;

use crate::config::ConfigError;
use crate::parcel::{DropCause, Labelled, Mark, Parcel};
use crate::stream::Stream;
use duplicate::Duplicate;
use eifel_base::time::Instant;
use gilbert_elliott::{GilbertElliott, GilbertElliottConfig};
use jitter::{Jitter, JitterConfig};
use larger_than::LargerThan;
use late::{Late, LateConfig};
use listed::{ListedDrop, ListedDrops};
use loss::RandomLoss;
use outage::{Outage, OutageConfig};
use remark::{Remark, RemarkConfig};
use reorder::{Reorder, ReorderConfig};
use waiting::Waiting;

/// An element and its parameters.
#[derive(Clone, PartialEq, Debug)]
pub enum ElementConfig {
    /// Drops everything for some time.
    Outage(OutageConfig),
    /// Drops chosen segments.
    ListedDrops(Vec<ListedDrop>),
    /// Drops each parcel with this probability, independently.
    RandomLoss { rate: f64 },
    /// Drops in bursts: a chain of a good and a bad state.
    GilbertElliott(GilbertElliottConfig),
    /// Drops each parcel that is longer than this, in bytes: a black hole of path MTU discovery
    /// (RFC 2923, section 2.1).
    LargerThan { bytes: u32 },
    /// Copies each parcel with this probability. The copy follows at once.
    Duplicate { rate: f64 },
    /// Lets later parcels overtake a chosen parcel.
    Reorder(ReorderConfig),
    /// Delays a chosen parcel by a time. Later parcels overtake it.
    Late(LateConfig),
    /// Delays each parcel by a drawn time.
    Jitter(JitterConfig),
    /// Clears or forges the ECN field.
    Remark(RemarkConfig),
}

impl ElementConfig {
    /// Refuses settings that are out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        match self {
            Self::Outage(config) => config.check(),
            Self::ListedDrops(drops) => drops.iter().try_for_each(ListedDrop::check),
            Self::RandomLoss { rate } => ConfigError::unless_probability(*rate, "loss.rate"),
            Self::GilbertElliott(config) => config.check(),
            Self::LargerThan { bytes } => {
                ConfigError::unless(*bytes > 0, "loss.bytes", || "0; allowed: 1 or more".to_owned())
            }
            Self::Duplicate { rate } => ConfigError::unless_probability(*rate, "duplicate.rate"),
            Self::Reorder(config) => config.check(),
            Self::Late(config) => config.check(),
            Self::Jitter(config) => config.check(),
            Self::Remark(config) => config.check(),
        }
    }

    /// Returns the name of the element's random stream within the link.
    fn name(&self) -> &'static str {
        match self {
            Self::Outage(_) => "outage",
            Self::ListedDrops(_) => "drops",
            Self::RandomLoss { .. } => "loss",
            Self::GilbertElliott(_) => "gilbert-elliott",
            Self::LargerThan { .. } => "larger-than",
            Self::Duplicate { .. } => "duplicate",
            Self::Reorder(_) => "reorder",
            Self::Late(_) => "late",
            Self::Jitter(_) => "jitter",
            Self::Remark(_) => "ecn-faults",
        }
    }
}

/// The fate of a parcel at one element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// The parcel goes on.
    Pass,
    /// The parcel goes on, followed by a copy.
    Twice,
    Drop(DropCause),
    /// The parcel goes on with another ECN field.
    Marked(Mark),
    /// The element keeps the parcel and returns it later.
    Held,
}

#[derive(Debug)]
pub(crate) enum Element {
    Outage(Outage),
    ListedDrops(ListedDrops),
    RandomLoss(RandomLoss),
    GilbertElliott(GilbertElliott),
    LargerThan(LargerThan),
    Duplicate(Duplicate),
    Reorder(Reorder),
    Late(Late),
    Jitter(Jitter),
    Remark(Remark),
}

impl Element {
    /// Makes the elements of a link. Each random stream is named after the link, the element's kind
    /// and its index within that kind. So adding an element of another kind shifts no draws. An
    /// outage's stream is named after the outage, because several links may share it.
    pub(crate) fn all(configs: &[ElementConfig], link: &str, seed: u64) -> Vec<Self> {
        let mut elements = Vec::with_capacity(configs.len());
        for (index, config) in configs.iter().enumerate() {
            let earlier = configs.iter().take(index).filter(|other| other.name() == config.name()).count();
            let stream = Stream::new(seed, &["link", link, config.name(), &earlier.to_string()]);
            elements.push(Self::new(config, stream, seed));
        }
        elements
    }

    fn new(config: &ElementConfig, stream: Stream, seed: u64) -> Self {
        match config {
            ElementConfig::Outage(config) => Self::Outage(Outage::new(config, seed)),
            ElementConfig::ListedDrops(drops) => Self::ListedDrops(ListedDrops::new(drops)),
            ElementConfig::RandomLoss { rate } => Self::RandomLoss(RandomLoss::new(*rate, stream)),
            ElementConfig::GilbertElliott(config) => Self::GilbertElliott(GilbertElliott::new(*config, stream)),
            ElementConfig::LargerThan { bytes } => Self::LargerThan(LargerThan::new(*bytes)),
            ElementConfig::Duplicate { rate } => Self::Duplicate(Duplicate::new(*rate, stream)),
            ElementConfig::Reorder(config) => Self::Reorder(Reorder::new(config, stream)),
            ElementConfig::Late(config) => Self::Late(Late::new(config, stream)),
            ElementConfig::Jitter(config) => Self::Jitter(Jitter::new(config.clone(), stream)),
            ElementConfig::Remark(config) => Self::Remark(Remark::new(*config, stream)),
        }
    }

    /// Decides the parcel's fate at this element.
    pub(crate) fn meet(&mut self, now: Instant, one: &Labelled) -> Fate {
        match self {
            Self::Outage(outage) => outage.meet(now),
            Self::ListedDrops(drops) => drops.meet(&one.label),
            Self::RandomLoss(loss) => loss.meet(),
            Self::GilbertElliott(loss) => loss.meet(),
            Self::LargerThan(loss) => loss.meet(&one.parcel),
            Self::Duplicate(duplicate) => duplicate.meet(),
            Self::Reorder(reorder) => reorder.meet(now, one),
            Self::Late(late) => late.meet(now, one),
            Self::Jitter(jitter) => jitter.meet(now, one),
            Self::Remark(remark) => remark.meet(),
        }
    }

    /// Returns a held parcel that may go on, because enough parcels passed it or because its
    /// deadline has come.
    pub(crate) fn release(&mut self, now: Instant) -> Option<Labelled> {
        match self {
            Self::Reorder(reorder) => reorder.release(now),
            Self::Late(late) => late.release(now),
            Self::Jitter(jitter) => jitter.release(now),
            _ => None,
        }
    }

    /// Returns when a held parcel goes on at the latest; [`Instant::NEVER`] if none is held.
    pub(crate) fn deadline(&self) -> Instant {
        match self {
            Self::Reorder(reorder) => reorder.deadline(),
            _ => self.waiting().map_or(Instant::NEVER, Waiting::deadline),
        }
    }

    /// Returns the parcels that wait for deadlines of their own.
    fn waiting(&self) -> Option<&Waiting> {
        match self {
            Self::Late(late) => Some(late.waiting()),
            Self::Jitter(jitter) => Some(jitter.waiting()),
            _ => None,
        }
    }

    /// Iterates over the parcels that the element holds.
    pub(crate) fn held(&self) -> impl Iterator<Item = &Parcel> {
        let reorder = if let Self::Reorder(reorder) = self { Some(reorder) } else { None };
        reorder.into_iter().flat_map(Reorder::held).chain(self.waiting().into_iter().flat_map(Waiting::held))
    }
}
