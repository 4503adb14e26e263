//! A played world as a packetdrill script: the sender's conversation, and its state after each undo and
//! at the end.

use super::kernel::RMEM;
use super::peer::{Course, What};
use super::stack::{PACE, Standing, State};
use super::world::World;
use eifel_base::time::{Duration, Instant};
use eifel_packet::segment::{Flags, Options, Segment};
use std::fmt::Write;

/// A segment that leaves so soon after an event is due to it.
const AT_ONCE: Duration = Duration::from_millis(3);
/// By how much a timer's segment may be early or late.
const TOLERANCE: f64 = 0.03;
/// The script's value of the sender's first timestamp.
const FIRST_STAMP: u32 = 100;

/// Returns the script of a course, with these comments in front. `None` if the course has no handshake.
pub fn script(comments: &[String], world: &World, course: &Course, congestion: &str) -> Option<String> {
    let [own, peer] = course.syns?;
    let first = own.options.timestamps.map_or(0, |stamps| stamps.value);
    let mut script = Writer { text: String::new(), course, first, last: Instant::ZERO, state: None, nxt: 1 };
    for comment in comments {
        script.line(&format!("// {comment}"));
    }
    script.line(&format!("`sysctl -q -w net.ipv4.tcp_no_metrics_save=1 net.ipv4.tcp_rmem=\"{RMEM}\"`\n"));
    script.line("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3");
    script.line("+0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0");
    let len = congestion.len();
    script.line(&format!("+0 setsockopt(3, SOL_TCP, TCP_CONGESTION, \"{congestion}\", {len}) = 0"));
    if world.paced {
        script.line(&format!("+0 setsockopt(3, SOL_SOCKET, SO_MAX_PACING_RATE, [{PACE}], 4) = 0"));
    }
    script.line("+0 bind(3, ..., ...) = 0");
    script.line("+0 listen(3, 1) = 0");
    script.line(&format!("+0 < S 0:0(0) win {}{}", peer.window, script.options(&peer.options, false)));
    script.line(&format!("+0 > S. 0:0(0) ack 1{}", script.options(&own.options, true)));
    if let Some(opening) = &course.opening {
        script.received("+.1", opening);
    }
    script.line("+0 accept(3, ..., ...) = 4");
    script.line("+0 setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4) = 0");
    for (at, what) in &course.events {
        script.event(*at, what);
    }
    let last = course.events.iter().rev().find_map(|(_, what)| match what {
        What::Received(_, standing, _) => Some(*standing),
        _ => None,
    });
    script.state = last;
    script.assert();
    Some(script.text)
}

struct Writer<'a> {
    text: String,
    course: &'a Course,
    /// The sender's first timestamp.
    first: u32,
    /// When the last event was.
    last: Instant,
    /// A state to assert once the segments have left that answer the last one.
    state: Option<Standing>,
    /// First position not sent.
    nxt: u64,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Returns the time since the last event, as a script writes it.
    fn gap(&mut self, at: Instant) -> String {
        // The first is written at once.
        let gap = if self.last == Instant::ZERO { Duration::ZERO } else { at.since(self.last) };
        self.last = at;
        seconds(gap.as_secs_f64())
    }

    fn event(&mut self, at: Instant, what: &What) {
        match what {
            What::Sent(segment, _) if !segment.flags.has(Flags::SYN) => self.sent(at, segment),
            What::Received(segment, standing, undos) => {
                self.assert();
                let gap = self.gap(at);
                self.received(&gap, segment);
                if !undos.is_empty() {
                    self.line(&format!("// {}", undos.join(", ")));
                }
                self.state = Some(*standing).filter(|_| !undos.is_empty());
            }
            What::Wrote(bytes) => {
                self.assert();
                let gap = self.gap(at);
                self.line(&format!("{gap} write(4, ..., {bytes}) = {bytes}"));
            }
            What::FastRetransmit => self.line("// Fast recovery begins."),
            What::Timeout => {
                self.assert();
                self.line("// The timer expires.");
            }
            What::Sent(..) => {}
        }
    }

    fn sent(&mut self, at: Instant, segment: &Segment) {
        let gap = at.since(self.last);
        let time = if gap <= AT_ONCE || self.last == Instant::ZERO {
            "+0".to_owned()
        } else {
            self.assert();
            let gap = gap.as_secs_f64();
            let least = (gap - TOLERANCE).max(0.0);
            format!("{}~{}", seconds(least), seconds(gap + TOLERANCE))
        };
        self.last = at;
        let start = self.course.position(self.nxt, segment.seq);
        let (len, end) = (segment.payload_len, start + u64::from(segment.payload_len));
        self.nxt = self.nxt.max(end);
        let push = if segment.flags.has(Flags::PSH) { "P." } else { "." };
        let options = self.options(&segment.options, true);
        self.line(&format!("{time} > {push} {start}:{end}({len}) ack 1{options}"));
    }

    fn received(&mut self, time: &str, segment: &Segment) {
        let ack = self.course.position(self.nxt, segment.ack);
        let options = self.options(&segment.options, false);
        self.line(&format!("{time} < . 1:1(0) ack {ack} win {}{options}", segment.window));
    }

    /// Asserts the state that an undo has left.
    fn assert(&mut self) {
        let Some(standing) = self.state.take() else { return };
        let state = match standing.state {
            State::Open => "in (TCP_CA_Open, TCP_CA_Disorder)",
            State::Recovery => "== TCP_CA_Recovery",
            State::Loss => "== TCP_CA_Loss",
        };
        let ssthresh = standing.ssthresh.unwrap_or(0x7fff_ffff);
        self.line(&format!("+0 %{{ assert tcpi_ca_state {state}, tcpi_ca_state }}%"));
        self.line(&format!("+0 %{{ assert tcpi_snd_cwnd == {}, tcpi_snd_cwnd }}%", standing.cwnd));
        self.line(&format!("+0 %{{ assert tcpi_snd_ssthresh == {ssthresh}, tcpi_snd_ssthresh }}%"));
    }

    /// Returns the options of a segment, with a space in front; an empty text without options.
    /// `is_own` says whether the sender wrote them.
    fn options(&self, options: &Options, is_own: bool) -> String {
        let mut words = Vec::new();
        words.extend(options.mss.map(|mss| format!("mss {mss}")));
        if let Some(stamps) = options.timestamps {
            let own = |value: u32| value.wrapping_sub(self.first).wrapping_add(FIRST_STAMP);
            let echo = |value| if value == 0 { 0 } else { own(value) };
            let (value, echo) =
                if is_own { (own(stamps.value), stamps.echo) } else { (stamps.value, echo(stamps.echo)) };
            let pad = if options.sack_permitted { "sackOK" } else { "nop,nop" };
            words.push(format!("{pad},TS val {value} ecr {echo}"));
        } else if options.sack_permitted {
            words.push("nop,nop,sackOK".to_owned());
        }
        words.extend(options.window_scale.map(|shift| format!("nop,wscale {shift}")));
        let position = |seq| self.course.position(self.nxt, seq);
        let mut blocks = String::new();
        for (left, right) in options.sack.as_slice() {
            // Writing to a string does not fail.
            let _ = write!(blocks, " {}:{}", position(*left), position(*right));
        }
        if !blocks.is_empty() {
            words.push(format!("nop,nop,sack{blocks}"));
        }
        if words.is_empty() { String::new() } else { format!(" <{}>", words.join(",")) }
    }
}

/// Writes a time as scripts do: `+.05` or `+0`.
fn seconds(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("+{}", text.strip_prefix("0.").map_or_else(|| text.to_owned(), |rest| format!(".{rest}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_as_short_as_in_scripts() {
        assert_eq!([0.0, 0.05, 1.0, 1.25, 0.0004, 10.0].map(seconds), ["+0", "+.05", "+1", "+1.25", "+0", "+10"]);
    }
}
