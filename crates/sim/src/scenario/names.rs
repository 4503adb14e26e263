//! The names in a scenario, and their indices.

use super::error::Fault;
use super::near;
use super::reader::{Item, Reader};
use std::collections::BTreeMap;

/// The names of all nodes, of all links, or of all flows.
#[derive(Debug)]
pub(super) struct Names {
    /// The word for a named thing, for messages: node, link or flow.
    what: &'static str,
    order: Vec<String>,
    index: BTreeMap<String, usize>,
}

impl Names {
    pub(super) fn new(what: &'static str) -> Self {
        Self { what, order: Vec::new(), index: BTreeMap::new() }
    }

    /// Adds a name and returns its index. Returns an error message if the name is taken.
    pub(super) fn add(&mut self, name: &str) -> Result<usize, String> {
        let index = self.order.len();
        if self.index.insert(name.to_owned(), index).is_some() {
            return Err(format!("a second {} named {name:?}", self.what));
        }
        self.order.push(name.to_owned());
        Ok(index)
    }

    /// Returns the index of the name under `key`.
    pub(super) fn key(&self, table: &Reader<'_>, key: &str) -> Result<usize, Fault> {
        self.find(table.text(key), |what| table.fault(key, what))
    }

    /// Returns the index of a name in a list.
    pub(super) fn item(&self, item: &Item<'_>) -> Result<usize, Fault> {
        self.find(item.text(), |what| item.fault(what))
    }

    /// Returns the index of `name`, or a fault that lists the known names.
    pub(super) fn find(&self, name: &str, fault: impl Fn(String) -> Fault) -> Result<usize, Fault> {
        self.index.get(name).copied().ok_or_else(|| {
            let known = self.order.iter().map(String::as_str);
            fault(near::unknown(self.what, name, known)).allowed(self.list())
        })
    }

    /// Lists all names, or only the first [`SHOWN`] if there are more.
    fn list(&self) -> String {
        match self.order.as_slice() {
            [] => format!("there is no {}", self.what),
            all if all.len() <= SHOWN => all.join(", "),
            all => format!("{}, … ({} in all)", all[..SHOWN].join(", "), all.len()),
        }
    }
}

/// The most names that a message lists.
const SHOWN: usize = 24;
