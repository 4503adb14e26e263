//! Sorted ranges that take no memory while there are none: a connection has several sets, and nearly all of them are empty.

use super::sorted::Sorted;
use core::ops::{Deref, DerefMut};

/// Sorted ranges; `None` holds none.
#[derive(Clone, Debug, Default)]
pub(super) struct Held(Option<Box<Sorted>>);

static NONE: Sorted = Sorted::EMPTY;

impl Deref for Held {
    type Target = Sorted;

    #[inline]
    fn deref(&self) -> &Sorted {
        self.0.as_deref().unwrap_or(&NONE)
    }
}

impl DerefMut for Held {
    #[inline]
    fn deref_mut(&mut self) -> &mut Sorted {
        self.0.get_or_insert_default()
    }
}

impl Held {
    #[inline]
    pub(super) fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// Frees the memory of an empty set.
    pub(super) fn settle(&mut self) {
        self.0.take_if(|sorted| sorted.is_empty());
    }
}
