//! Logs whose end is missing, because the process that wrote them was killed.

/// Closes a JSON text behind the last whole element of an array "events", if it ends within one. What
/// follows that element is dropped: an event whose lists are cut would say something else.
pub(super) fn closed(text: &str) -> Option<String> {
    let mut scan = Scan::default();
    let mut end = None;
    for (at, byte) in text.bytes().enumerate() {
        if scan.step(byte, at, text) {
            end = Some((at + 1, scan.open.clone()));
        }
    }
    let (end, open) = end?;
    let closers = open.iter().rev().map(|one| if one.is_list { ']' } else { '}' });
    Some(text[..end].chars().chain(closers).collect())
}

/// A list or an object that is open.
#[derive(Clone, Copy)]
struct Open {
    is_list: bool,
    is_events: bool,
}

#[derive(Default)]
struct Scan {
    open: Vec<Open>,
    /// Where the string that is being read begins, behind its quote.
    string: Option<usize>,
    escaped: bool,
    /// Whether the last string was "events".
    events: bool,
}

impl Scan {
    /// Reads a byte. Returns whether it ends an element of an array "events".
    fn step(&mut self, byte: u8, at: usize, text: &str) -> bool {
        if let Some(begin) = self.string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => (self.string, self.events) = (None, &text[begin..at] == "events"),
                _ => {}
            }
            return false;
        }
        match byte {
            b'"' => self.string = Some(at + 1),
            b'[' | b'{' => self.open.push(Open { is_list: byte == b'[', is_events: byte == b'[' && self.events }),
            b']' | b'}' => drop(self.open.pop()),
            b':' | b' ' | b'\t' | b'\r' | b'\n' => return false,
            _ => {}
        }
        self.events &= byte == b'"';
        matches!(byte, b']' | b'}') && self.open.last().is_some_and(|last| last.is_events)
    }
}
