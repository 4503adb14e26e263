//! A prediction for people.

use crate::found::Found;
use crate::replay::Compared;
use crate::whatif::{Order, Predicted, Range, WhatIf};
use eifel_command::number::number;
use eifel_command::page::{Page, Screen, Table};

/// A share of the draws from which on it is all of them, as shown: in whole percents.
const ALL: f64 = 0.995;
/// The least share of the draws that is shown.
const SOME: f64 = 0.005;

/// Describes the path, the replay and, if there is one, the prediction.
pub(super) fn text(found: &Found, predicted: Option<&WhatIf>, screen: Screen) -> String {
    let mut page = Page::new(screen);
    page.say(&found.summary());
    replay(&found.replay.compared, &mut page);
    if let Some(predicted) = predicted {
        prediction(predicted, &mut page);
    }
    page.into_text()
}

fn replay(compared: &[Compared], page: &mut Page) {
    page.heading("The captured sender, replayed over that path");
    let mut table = Table::new(&["", "captured", "replayed", ""], 1);
    for one in compared {
        let [captured, replayed] = [one.captured, one.replayed].map(|value| number(Some(value), None));
        let differs = if one.agrees { "" } else { "differs" };
        table.add(vec![one.what.to_owned(), captured, replayed, differs.to_owned()]);
    }
    page.table(&table);
}

fn prediction(found: &WhatIf, page: &mut Page) {
    page.heading(&format!("Nine of ten of {} paths that the capture allows for", found.draws));
    let mut table = Table::new(&["sender", "goodput, Mbit/s", "time, s", "retransmissions", "faster than captured"], 1);
    for (index, one) in found.senders.iter().enumerate() {
        let compared = if index == 0 { String::new() } else { faster(one, tied(found, &one.name)) };
        table.add(vec![
            one.name.clone(),
            range(one.goodput_bps, 1e6),
            range(one.time_s, 1.0),
            range(one.retransmissions, 1.0),
            compared,
        ]);
    }
    page.table(&table);
    page.say(&order(&found.orders));
}

fn range(of: Range, scale: f64) -> String {
    let [low, high] = [of.low, of.high].map(|value| number(Some(value / scale), None));
    format!("{low} to {high}")
}

/// Returns the share of the paths in which a sender is as fast as the captured one.
fn tied(found: &WhatIf, name: &str) -> f64 {
    let captured = &found.senders[0].name;
    let together = |group: &Vec<String>| group.contains(captured) && group.iter().any(|one| one == name);
    found.orders.iter().filter(|order| order.senders.iter().any(together)).map(|order| order.share).sum()
}

/// Formats how often a sender is faster than the captured one. In `faster` a tie counts half.
fn faster(one: &Predicted, tied: f64) -> String {
    if tied > ALL {
        return "as fast".to_owned();
    }
    let faster = format!("{:.0} %", 100.0 * (one.faster - tied / 2.0));
    if tied < SOME { faster } else { format!("{faster}, as fast in {:.0} %", 100.0 * tied) }
}

/// Returns the most frequent order of the senders, or says that none is.
fn order(orders: &[Order]) -> String {
    let words = |order: &Order| order.senders.iter().map(|group| group.join(" = ")).collect::<Vec<_>>().join(" > ");
    let Some(most) = orders.first() else { return String::new() };
    let (first, share) = (words(most), 100.0 * most.share);
    let same: Vec<_> = orders.iter().filter(|order| order.share == most.share).map(words).collect();
    if same.len() > 1 {
        return format!("no order is the most frequent: each of these comes in {share:.0} %: {}", same.join("; "));
    }
    if most.senders.len() == 1 {
        return format!("no sender is faster than the others in {share:.0} %: {first}");
    }
    format!("most often, in {share:.0} %: {first}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(share: f64, senders: &[&[&str]]) -> Order {
        let group = |group: &&[&str]| group.iter().map(|name| (*name).to_owned()).collect();
        Order { senders: senders.iter().map(group).collect(), share }
    }

    fn sender(name: &str, number: f64) -> Predicted {
        let range = |low: f64, high: f64| Range { low: low + number, middle: low, high: high * (1.0 + number) };
        Predicted {
            name: name.to_owned(),
            goodput_bps: range(1e6, 2e6),
            time_s: range(3.25, 4.5),
            retransmissions: range(2.0, 7.0),
            faster: 0.125 * (1.0 + number),
        }
    }

    fn found(senders: Vec<Predicted>, orders: Vec<Order>) -> WhatIf {
        WhatIf { captured_goodput_bps: 1e6, draws: 17, seed: 1, senders, orders }
    }

    #[test]
    fn a_prediction_is_a_table_of_ranges() {
        let senders = vec![sender("captured", 0.0), sender("with none", 1.0), sender("with DSACK", 2.0)];
        let orders = vec![ranked(0.625, &[&["with none"], &["as captured", "twin"]]), ranked(0.1, &[&["captured"]])];
        let mut page = Page::new(Screen::default());
        prediction(&found(senders, orders), &mut page);
        assert_eq!(
            page.into_text(),
            "Nine of ten of 17 paths that the capture allows for\n\
             sender      goodput, Mbit/s       time, s  retransmissions  faster than captured\n\
             captured             1 to 2   3.25 to 4.5           2 to 7\n\
             with none            1 to 4     4.25 to 9          3 to 14                  25 %\n\
             with DSACK           1 to 6  5.25 to 13.5          4 to 21                  38 %\n\
             most often, in 62 %: with none > as captured = twin\n"
        );
    }

    #[test]
    fn a_number_that_differs_from_the_capture_is_marked() {
        let compared = |what, captured, replayed, agrees| Compared { what, captured, replayed, agrees };
        let mut page = Page::new(Screen::default());
        replay(&[compared("timeouts", 3.0, 3.0, true), compared("retransmissions", 5.0, 8.0, false)], &mut page);
        assert_eq!(
            page.into_text(),
            "The captured sender, replayed over that path\n\
             \x20                captured  replayed\n\
             timeouts                3         3\n\
             retransmissions         5         8  differs\n"
        );
    }

    #[test]
    fn a_tie_is_not_printed_as_an_order() {
        for (orders, said) in [
            (vec![ranked(1.0, &[&["a"], &["b"]])], "most often, in 100 %: a > b"),
            (
                vec![ranked(0.6, &[&["a"], &["b", "c"]]), ranked(0.4, &[&["b"], &["a"], &["c"]])],
                "most often, in 60 %: a > b = c",
            ),
            (vec![ranked(1.0, &[&["a", "b"]])], "no sender is faster than the others in 100 %: a = b"),
            (
                vec![ranked(0.5, &[&["a"], &["b"]]), ranked(0.5, &[&["b"], &["a"]])],
                "no order is the most frequent: each of these comes in 50 %: a > b; b > a",
            ),
        ] {
            assert_eq!(order(&orders), said);
        }
    }

    #[test]
    fn a_tie_with_the_captured_sender_is_no_half_of_being_faster() {
        let said = |orders| {
            let found = found(vec![sender("a", 0.0), Predicted { faster: 0.5, ..sender("b", 0.0) }], orders);
            faster(&found.senders[1], tied(&found, "b"))
        };
        assert_eq!(said(vec![ranked(1.0, &[&["a", "b"]])]), "as fast");
        assert_eq!(said(vec![ranked(0.5, &[&["b"], &["a"]]), ranked(0.5, &[&["a"], &["b"]])]), "50 %");
        let orders = vec![ranked(0.2, &[&["a", "b"]]), ranked(0.4, &[&["b"], &["a"]]), ranked(0.4, &[&["a"], &["b"]])];
        assert_eq!(said(orders), "40 %, as fast in 20 %");
    }
}
