//! The curves in words and tables.

use super::{Advised, Curve, Knob, Point};
use eifel_command::number::number;
use eifel_command::page::{Page, Screen, Table};

/// What holds for all curves.
const OPEN_LOOP: &str = "Open loop: each retransmission is judged by itself, by when it would have left and when the ACK of its \
                         original came. What the sender would have sent differently afterwards is not played; eifel whatif \
                         plays it.";
const COMMANDS: &str = "on the sender of the data, if you want it (nothing was run):";

impl Knob {
    /// Returns its name, and the setting of Linux.
    pub fn title(self) -> &'static str {
        match self {
            Self::SmallestRto => "smallest RTO (rto_min of ip route, or net.ipv4.tcp_rto_min_us)",
            Self::DuplicateThreshold => "duplicate threshold (net.ipv4.tcp_reordering)",
            Self::ReorderingWindow => "RACK's reordering window (net.ipv4.tcp_recovery)",
            Self::FRto => "F-RTO (net.ipv4.tcp_frto)",
            Self::TailLossProbes => "tail-loss probes (net.ipv4.tcp_early_retrans)",
        }
    }

    /// Returns the unit of its values.
    pub fn unit(self) -> &'static str {
        match self {
            Self::SmallestRto => "ms",
            Self::DuplicateThreshold => "reports",
            Self::ReorderingWindow => "quarters of the shortest round trip",
            Self::FRto | Self::TailLossProbes => "",
        }
    }

    /// Returns what of its curve is exact, and what is not.
    pub fn exactness(self) -> &'static str {
        match self {
            Self::SmallestRto => {
                "Exact for a timeout by itself: its ACK does not depend on the timer. A smaller value cannot be judged, because \
                 timers that did not expire leave no trace."
            }
            Self::DuplicateThreshold => {
                "Exact for a retransmission by itself as long as the threshold lets it leave; RACK sends it a quarter of the \
                 shortest round trip later in any case, unless --now tcp_recovery=0 says that it was off."
            }
            Self::ReorderingWindow => {
                "Exact for a retransmission by itself. Linux takes no number: 5 makes it wait a quarter before it has seen \
                 reordering, and reports of duplicates widen the window."
            }
            Self::FRto => {
                "A detected timeout still leaves; what go-back-N repeats after it does not. Undecidable where go-back-N repeated \
                 data before the second ACK came. With timestamps their echo tells first."
            }
            Self::TailLossProbes => "0 switches probes off. The timer that a probe came before is computed, not seen.",
        }
    }

    fn needless(self, count: usize) -> &'static str {
        match (self, count) {
            (Self::SmallestRto | Self::FRto, _) => "needless timeouts",
            (Self::TailLossProbes, _) => "needless probes",
            _ => "needless fast retransmissions",
        }
    }
}

impl Curve {
    /// Returns the curve in one sentence.
    pub fn sentence(&self) -> String {
        let Some(point) = self.named.and_then(|named| self.points.get(named)) else {
            return format!("No curve: {}.", self.reason.unwrap_or("the input shows nothing of it"));
        };
        let Point { value, needless_gone: gone, repeats_gone: repeats, needed_later: later, later_ms, .. } = *point;
        let all = gone + point.needless_left;
        let share = number(point.share_gone().map(|share| (share * 100.0).round()), None);
        let needless = self.knob.needless(all);
        let with = match self.knob {
            Knob::SmallestRto => format!("With rto_min {value} ms"),
            Knob::DuplicateThreshold => format!("With a threshold of {value}"),
            Knob::ReorderingWindow => format!("With a window of {value} quarters of the shortest round trip"),
            Knob::FRto => format!("With tcp_frto={value}"),
            Knob::TailLossProbes => "Without probes".to_owned(),
        };
        if all == 0 {
            return format!("{with}, nothing can be told of the {needless}: {} are undecidable.", point.undecidable);
        }
        let does = if self.knob == Knob::FRto { "are detected" } else { "vanish" };
        let along = match repeats {
            0 => String::new(),
            1 => ", and 1 segment that go-back-N repeated after them".to_owned(),
            _ => format!(", and {repeats} segments that go-back-N repeated after them"),
        };
        let waits = match (self.knob, later) {
            (Knob::FRto, _) if point.mistaken > 0 => {
                format!("of the needed ones {} would be taken for needless", point.mistaken)
            }
            (Knob::FRto, _) => "no needed one is".to_owned(),
            (_, 0) => "no needed one waits longer".to_owned(),
            (Knob::TailLossProbes, 1) => format!("1 needed one becomes a timeout, {} later", time(later_ms)),
            (Knob::TailLossProbes, _) => {
                format!("{later} needed ones become timeouts, {} later in all", time(later_ms))
            }
            (_, 1) => format!("1 needed one waits {} longer", time(later_ms)),
            _ => format!("{later} needed ones wait {} longer in all", time(later_ms)),
        };
        format!("{with}, {share} % of the {needless} {does} ({gone} of {all}){along}; {waits}.")
    }
}

/// Returns a time in words.
fn time(ms: f64) -> String {
    match ms >= 1000.0 {
        true => format!("{} s", number(Some((ms / 100.0).round() / 10.0), None)),
        false => format!("{} ms", number(Some((ms * 10.0).round() / 10.0), None)),
    }
}

/// Returns the curves for people.
pub(super) fn text(advised: &Advised, screen: Screen) -> String {
    let mut page = Page::new(screen);
    let counted = match advised.retransmissions {
        1 => "1 retransmission".to_owned(),
        count => format!("{count} retransmissions"),
    };
    page.say(&format!("{counted}. {OPEN_LOOP}"));
    for curve in &advised.curves {
        page.say("");
        let now = curve.now.map_or(String::new(), |now| format!(", now {now} {}", curve.knob.unit()));
        page.heading(&format!("{}{}", curve.knob.title(), now.trim_end()));
        page.say(&curve.sentence());
        if curve.points.is_empty() {
            continue;
        }
        page.table(&table(curve));
        page.note(curve.knob.exactness());
        if !curve.commands.is_empty() {
            page.say(COMMANDS);
            curve.commands.iter().for_each(|command| page.say(&format!("  {command}")));
        }
    }
    page.into_text()
}

fn table(curve: &Curve) -> Table {
    let value = match curve.knob.unit() {
        "" => "value".to_owned(),
        unit => unit.to_owned(),
    };
    let gone = if curve.knob == Knob::FRto { "detected" } else { "needless gone" };
    let mut table =
        Table::new(&[&value, gone, "needless left", "repeats gone", "needed later", "later in all", "undecidable"], 0);
    for point in &curve.points {
        let counts = [point.needless_gone, point.needless_left, point.repeats_gone, point.needed_later];
        let mut row = vec![number(Some(point.value), None)];
        row.extend(counts.map(|count| count.to_string()));
        row.extend([time(point.later_ms), point.undecidable.to_string()]);
        table.add(row);
    }
    table
}

/// Returns the points as comma-separated values.
pub(super) fn csv(advised: &Advised) -> String {
    let mut text =
        "knob,value,needless_gone,needless_left,repeats_gone,needed_later,later_ms,mistaken,undecidable\n".to_owned();
    for curve in &advised.curves {
        let knob = serde_json::to_value(curve.knob).unwrap_or_default();
        for point in &curve.points {
            let &Point {
                value,
                needless_gone,
                needless_left,
                repeats_gone,
                needed_later,
                later_ms,
                mistaken,
                undecidable,
            } = point;
            text += &format!(
                "{},{value},{needless_gone},{needless_left},{repeats_gone},{needed_later},{later_ms:.3},{mistaken},{undecidable}\n",
                knob.as_str().unwrap_or_default()
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(knob: Knob, point: Point) -> Curve {
        let commands = vec!["sysctl -w one=2".to_owned()];
        Curve { knob, now: Some(200.0), points: vec![point], named: Some(0), reason: None, commands }
    }

    const POINT: Point = Point {
        value: 400.0,
        needless_gone: 5,
        needless_left: 1,
        repeats_gone: 0,
        needed_later: 12,
        later_ms: 1890.0,
        mistaken: 0,
        undecidable: 3,
    };

    #[test]
    fn a_curve_is_one_sentence() {
        for (knob, point, expected) in [
            (
                Knob::SmallestRto,
                POINT,
                "With rto_min 400 ms, 83 % of the needless timeouts vanish (5 of 6); 12 needed ones wait 1.9 s longer in all.",
            ),
            (
                Knob::SmallestRto,
                Point { repeats_gone: 7, needed_later: 0, ..POINT },
                "With rto_min 400 ms, 83 % of the needless timeouts vanish (5 of 6), and 7 segments that go-back-N repeated \
                 after them; no needed one waits longer.",
            ),
            (
                Knob::DuplicateThreshold,
                Point { value: 6.0, needed_later: 1, later_ms: 12.34, ..POINT },
                "With a threshold of 6, 83 % of the needless fast retransmissions vanish (5 of 6); 1 needed one waits 12.3 ms \
                 longer.",
            ),
            (
                Knob::FRto,
                Point { value: 2.0, repeats_gone: 1, ..POINT },
                "With tcp_frto=2, 83 % of the needless timeouts are detected (5 of 6), and 1 segment that go-back-N repeated \
                 after them; no needed one is.",
            ),
            (
                Knob::TailLossProbes,
                POINT,
                "Without probes, 83 % of the needless probes vanish (5 of 6); 12 needed ones become timeouts, 1.9 s later in \
                 all.",
            ),
        ] {
            assert_eq!(curve(knob, point).sentence(), expected);
        }
        let open = Point { needless_gone: 0, needless_left: 0, ..POINT };
        let expected = "With tcp_frto=2, nothing can be told of the needless timeouts: 3 are undecidable.";
        assert_eq!(curve(Knob::FRto, Point { value: 2.0, ..open }).sentence(), expected);
        let without = Curve::without(Knob::FRto, None, "the input has no timeout");
        assert_eq!(without.sentence(), "No curve: the input has no timeout.");
    }

    #[test]
    fn the_page_shows_undecidable_ones_by_themselves_and_commands_as_not_run() {
        let curves =
            vec![curve(Knob::SmallestRto, POINT), Curve::without(Knob::FRto, None, "the input has no timeout")];
        let advised = Advised { retransmissions: 21, settings: super::super::Settings::default(), curves };
        let text = text(&advised, Screen::default());
        for part in [
            "21 retransmissions. Open loop",
            ", now 200 ms\n",
            "undecidable\n",
            "(nothing was run):\n  sysctl -w one=2\n",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(csv(&advised).lines().nth(1), Some("smallest-rto,400,5,1,0,12,1890.000,0,3"));
    }
}
