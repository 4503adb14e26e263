//! Which ACKs give a round-trip sample: RFC 6298, section 3 (Karn's rule), and RFC 7323, section 4.1.

/// One transmission of some positions, with its time in nanoseconds.
struct Sending {
    start: u64,
    end: u64,
    at: u64,
    again: bool,
}

/// All transmissions so far, and the one that is timed.
pub struct Naive {
    timestamps: bool,
    sendings: Vec<Sending>,
    timed: Option<usize>,
}

impl Naive {
    pub fn new(timestamps: bool) -> Self {
        Self { timestamps, sendings: Vec::new(), timed: None }
    }

    pub fn sent(&mut self, start: u64, end: u64, at: u64, again: bool) {
        self.sendings.push(Sending { start, end, at, again });
        // The timed segment is ambiguous if it, or a segment that is acknowledged before it, was
        // retransmitted.
        if let (true, Some(timed)) = (again, self.timed)
            && start < self.sendings[timed].end
        {
            self.timed = None;
        }
        if !again && self.timed.is_none() {
            self.timed = Some(self.sendings.len() - 1);
        }
    }

    /// Returns the sample of an ACK that acknowledges new data up to `una`, in nanoseconds.
    /// `echoed_at` is when the echoed timestamp was sent.
    pub fn acked(&mut self, una: u64, at: u64, echoed_at: Option<u64>) -> Option<u64> {
        if self.timestamps {
            return Some(at - echoed_at?);
        }
        let timed = &self.sendings[self.timed?];
        if una < timed.end {
            return None;
        }
        let ambiguous =
            self.sendings.iter().any(|sending| sending.again && sending.start == timed.start && sending.at > timed.at);
        assert!(!ambiguous, "Karn's rule");
        let sample = at - timed.at;
        self.timed = None;
        Some(sample)
    }
}
