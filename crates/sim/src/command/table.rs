//! The numbers of a run's flows as a table that fits the screen.
//!
//! Flows that one entry of the scenario repeats are folded to their mean and range. A number that is zero for
//! all flows is left out. If the flows do not fit side by side, each has a row, with the most important
//! numbers first.

use super::means::Mean;
use super::runs::Means;
use crate::summary::Requests;
use eifel_command::number::number;
use eifel_command::page::{Page, Table};

/// The numbers that come first if there is no room for all.
const FIRST: [&str; 7] =
    ["time_s", "goodput_bps", "retransmissions", "spurious_retransmissions", "timeouts", "spurious_timeouts", "drops"];
/// The titles of requests' numbers, in the order of [`Requests::NAMES`].
const REQUESTS: [&str; 6] = ["count", "mean", "50 % within", "90 % within", "99 % within", "longest"];
/// Spaces between columns.
const GAP: usize = 2;

/// One flow: its name, the nodes at its ends, and the group if the scenario repeats it.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub name: String,
    pub from: String,
    pub to: String,
    pub group: Option<String>,
}

/// A flow, or all flows of a group, with their means.
struct Entry<'a> {
    title: String,
    means: Vec<&'a Means>,
}

impl Entry<'_> {
    fn of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = Mean> + 'a {
        self.means.iter().filter_map(move |means| means.iter().find(|(one, _)| *one == name).map(|(_, mean)| *mean))
    }

    /// Formats a number: mean and interval for a flow, mean and range for a group.
    fn text(&self, name: &str) -> String {
        let means: Vec<Mean> = self.of(name).collect();
        if let [mean] = means[..] {
            return number(Some(mean.mean), mean.half_width);
        }
        let each = || means.iter().map(|mean| mean.mean);
        let plain = |value: f64| number(Some(value), None);
        let (low, high) =
            (plain(each().fold(f64::INFINITY, f64::min)), plain(each().fold(f64::NEG_INFINITY, f64::max)));
        let middle = plain(each().sum::<f64>() / means.len() as f64);
        if low == high { middle } else { format!("{middle} ({low} to {high})") }
    }

    /// Returns whether a number is zero in every run of every flow.
    fn is_zero(&self, name: &str) -> bool {
        self.of(name).all(|mean| mean.mean == 0.0 && mean.half_width.is_none_or(|width| width == 0.0))
    }
}

/// Adds the numbers of all flows to a page. `unfold` separates grouped flows, and `verbose` adds zeros.
pub(super) fn show(page: &mut Page, flows: &[Flow], means: &[Means], (unfold, verbose): (bool, bool)) {
    let is_of_requests = |name: &str| Requests::NAMES.contains(&name);
    let part = |requests: bool| -> Vec<Means> {
        let of = |means: &Means| means.iter().filter(|(name, _)| is_of_requests(name) == requests).copied().collect();
        means.iter().map(of).collect()
    };
    let others = part(false);
    let entries = folded(flows.iter().zip(&others), unfold);
    let all: Vec<&str> = others.first().map(|of| of.iter().map(|(name, _)| *name).collect()).unwrap_or_default();
    let is_shown = |name: &&str| verbose || !entries.iter().all(|entry| entry.is_zero(name));
    let names: Vec<&str> = all.iter().copied().filter(is_shown).collect();
    let titled: Vec<(&str, &str)> = names.iter().map(|name| (*name, *name)).collect();
    let left = fitted(page, "", &entries, &titled, verbose);
    let zero = all.len() - names.len();
    let mut notes = Vec::new();
    notes.extend((left > 0).then(|| format!("{left} numbers have no room")));
    notes.extend((zero > 0).then(|| format!("{zero} are zero for every flow")));
    notes.extend((!verbose && !notes.is_empty()).then(|| "-v shows them".to_owned()));
    notes.extend(
        entries.iter().any(|entry| entry.means.len() > 1).then(|| "--flows shows each flow of a group".to_owned()),
    );
    if !notes.is_empty() {
        page.note(&notes.join("; "));
    }
    // The times from a request's first byte to its response's last byte.
    let requests = part(true);
    let clients: Vec<(&Flow, &Means)> = flows.iter().zip(&requests).filter(|(_, of)| of.len() > 1).collect();
    if !clients.is_empty() {
        page.say("");
        let titled: Vec<(&str, &str)> = Requests::NAMES.into_iter().zip(REQUESTS).collect();
        fitted(page, "requests, s", &folded(clients.into_iter(), unfold), &titled, true);
    }
}

/// Merges the flows of each group. With `unfold` each flow stays separate.
fn folded<'a>(flows: impl Iterator<Item = (&'a Flow, &'a Means)>, unfold: bool) -> Vec<Entry<'a>> {
    let mut entries: Vec<Entry<'a>> = Vec::new();
    for (flow, means) in flows {
        let title = flow.group.as_ref().filter(|_| !unfold).unwrap_or(&flow.name);
        match entries.iter_mut().find(|entry| entry.title == *title) {
            Some(entry) => entry.means.push(means),
            None => entries.push(Entry { title: title.clone(), means: vec![means] }),
        }
    }
    for entry in entries.iter_mut().filter(|entry| entry.means.len() > 1) {
        entry.title = format!("{} ({} flows)", entry.title, entry.means.len());
    }
    entries
}

/// Adds the numbers as a fitting table with a column or a row per flow. Returns the count of omitted numbers.
fn fitted(page: &mut Page, title: &str, entries: &[Entry<'_>], names: &[(&str, &str)], verbose: bool) -> usize {
    let mut titles = vec![title];
    titles.extend(entries.iter().map(|entry| entry.title.as_str()));
    let mut across = Table::new(&titles, 1);
    for (name, shown) in names {
        across.add(std::iter::once((*shown).to_owned()).chain(entries.iter().map(|entry| entry.text(name))).collect());
    }
    if page.fits(&across) {
        page.table(&across);
        return 0;
    }
    down(page, title, entries, names, verbose)
}

/// Adds a row per flow: the numbers that fit, or all in several tables. Returns the count of omitted numbers.
fn down(page: &mut Page, title: &str, entries: &[Entry<'_>], names: &[(&str, &str)], verbose: bool) -> usize {
    let length = |text: &str| text.chars().count();
    let widest = entries.iter().map(|entry| length(&entry.title)).chain([length(title)]).max().unwrap_or(0);
    let room = page.columns().saturating_sub(widest + GAP);
    let width = |(name, shown): (&str, &str)| {
        entries.iter().map(|entry| length(&entry.text(name))).chain([length(shown)]).max().unwrap_or(0) + GAP
    };
    let first = FIRST.iter().filter_map(|first| names.iter().find(|(name, _)| name == first));
    let rest = names.iter().filter(|(name, _)| !FIRST.contains(name));
    let mut waiting: Vec<(&str, &str)> = first.chain(rest).copied().collect();
    while let Some(&one) = waiting.first() {
        let (mut chosen, mut left) = (vec![one], room.saturating_sub(width(one)));
        for &name in &waiting[1..] {
            if width(name) <= left {
                left -= width(name);
                chosen.push(name);
            }
        }
        let titles: Vec<&str> = std::iter::once(title).chain(chosen.iter().map(|(_, shown)| *shown)).collect();
        let mut shown = Table::new(&titles, 1);
        for entry in entries {
            shown.add(
                std::iter::once(entry.title.clone()).chain(chosen.iter().map(|(name, _)| entry.text(name))).collect(),
            );
        }
        page.table(&shown);
        waiting.retain(|name| !chosen.contains(name));
        if !verbose {
            break;
        }
    }
    waiting.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_command::page::Screen;

    fn flow(name: &str, group: Option<&str>) -> Flow {
        let [from, to] = ["a", "b"].map(str::to_owned);
        Flow { name: name.to_owned(), from, to, group: group.map(str::to_owned) }
    }

    fn plain(mean: f64) -> Mean {
        Mean { mean, half_width: None }
    }

    fn shown(flows: &[Flow], means: &[Means], columns: usize, options: (bool, bool)) -> Vec<String> {
        let mut page = Page::new(Screen { columns, styled: false });
        show(&mut page, flows, means, options);
        page.into_text().lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_group_is_folded_to_its_mean_and_range_and_zeros_are_left_out() {
        let group = Some("c#");
        let flows = [flow("c1", group), flow("c2", group), flow("c3", group), flow("x", None)];
        let of = |time_s: Mean| vec![("time_s", time_s), ("timeouts", plain(0.0)), ("drops", plain(7.0))];
        let mut means: Vec<Means> = [1.0, 2.0, 6.0].map(|time_s| of(plain(time_s))).to_vec();
        means.push(of(Mean { mean: 11.0, half_width: Some(12.7) }));
        let expected = [
            "        c# (3 flows)        x",
            "time_s    3 (1 to 6)  11 ± 13",
            "drops              7        7",
            "1 are zero for every flow; -v shows them; --flows shows each flow of a group",
        ];
        assert_eq!(shown(&flows, &means, 80, (false, false)), expected);
        let lines = shown(&flows, &means, 80, (true, true));
        assert_eq!(lines[0].split_whitespace().collect::<Vec<_>>(), ["c1", "c2", "c3", "x"]);
        let names: Vec<&str> = lines[1..].iter().filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(names, ["time_s", "timeouts", "drops"]);
    }

    #[test]
    fn many_flows_fit_any_screen() {
        const NAMES: [&str; 5] = ["bytes", "segments_sent", "undos", "goodput_bps", "time_s"];
        for count in [2, 11, 100] {
            let flows: Vec<Flow> = (0..count).map(|number| flow(&format!("flow{number}"), None)).collect();
            let of = |name| (name, plain(if name == "time_s" { 12.25 } else { 1.5e6 }));
            let means: Vec<Means> = flows.iter().map(|_| NAMES.map(of).to_vec()).collect();
            for columns in [40, 80, 140] {
                let lines = shown(&flows, &means, columns, (false, false));
                assert!(lines.iter().all(|line| line.chars().count() <= columns), "{lines:?}");
                assert!(
                    flows.iter().all(|flow| lines.iter().any(|line| line.split(' ').any(|word| word == flow.name)))
                );
                if count > 20 {
                    let first: Vec<&str> = lines[1].split_whitespace().take(2).collect();
                    assert_eq!(first, ["flow0", "12.25"], "the most important number comes first");
                }
                let whole = shown(&flows, &means, columns, (false, true)).join("\n");
                assert!(NAMES.iter().all(|name| whole.contains(name)));
            }
        }
    }

    #[test]
    fn requests_have_a_table_of_their_own() {
        let flows = [flow("main", None)];
        let of = Requests::NAMES.map(|name| (name, plain(2.0)));
        let means: [Means; 1] = [std::iter::once(("time_s", plain(3.0))).chain(of).collect()];
        let expected = [
            "        main",
            "time_s     3",
            "",
            "requests, s  main",
            "count           2",
            "mean            2",
            "50 % within     2",
            "90 % within     2",
            "99 % within     2",
            "longest         2",
        ];
        assert_eq!(shown(&flows, &means, 80, (false, false)), expected);
    }
}
