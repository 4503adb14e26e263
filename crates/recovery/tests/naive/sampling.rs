//! Which ACKs give a round-trip sample: RFC 6298, section 3 (Karn's rule), and RFC 7323, section 4.1.

/// One transmission of some positions, with its time in nanoseconds.
struct Sending {
    start: u64,
    end: u64,
    at: u64,
    again: bool,
}

/// Every transmission there ever was, and which of them is timed.
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
        // What is timed became ambiguous if it, or anything that is acknowledged before it, was sent again.
        if let (true, Some(timed)) = (again, self.timed)
            && start < self.sendings[timed].end
        {
            self.timed = None;
        }
        if !again && self.timed.is_none() {
            self.timed = Some(self.sendings.len() - 1);
        }
    }

    /// The sample of an ACK that acknowledges something new up to `una`, in nanoseconds; `echoed_at` is when its timestamp
    /// echo was sent.
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
