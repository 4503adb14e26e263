//! The text of a command for people: headings, sentences and tables that fit a terminal.

/// The columns of a page that no terminal shows.
pub const WITHOUT_TERMINAL: usize = 140;
/// Spaces between the columns of a table.
const GAP: usize = 2;
const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const PLAIN: &str = "\x1b[0m";

/// Where a page is shown.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    /// Characters of a line.
    pub columns: usize,
    /// Whether it shows bold and dim letters.
    pub styled: bool,
}

impl Default for Screen {
    fn default() -> Self {
        Self { columns: WITHOUT_TERMINAL, styled: false }
    }
}

/// Lines that fit a screen.
#[derive(Debug, Default)]
pub struct Page {
    screen: Screen,
    text: String,
}

/// A table. The first columns hold words, and the others numbers.
#[derive(Debug)]
pub struct Table {
    words: usize,
    /// The titles first.
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Makes a table of `titles`, whose first `words` columns hold words.
    pub fn new(titles: &[&str], words: usize) -> Self {
        Self { words, rows: vec![titles.iter().map(|title| (*title).to_owned()).collect()] }
    }

    pub fn add(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    fn columns(&self) -> usize {
        self.rows[0].len()
    }
}

impl Page {
    pub fn new(screen: Screen) -> Self {
        Self { screen, text: String::new() }
    }

    pub fn into_text(self) -> String {
        self.text
    }

    /// Adds a line in bold.
    pub fn heading(&mut self, text: &str) {
        self.lines(text, BOLD);
    }

    /// Adds lines, broken between words where they are too long.
    pub fn say(&mut self, text: &str) {
        self.lines(text, "");
    }

    /// Adds a remark, in dim letters.
    pub fn note(&mut self, text: &str) {
        self.lines(text, DIM);
    }

    /// Returns the characters of a line.
    pub fn columns(&self) -> usize {
        self.screen.columns
    }

    /// Returns whether no cell of a table would be broken.
    pub fn fits(&self, table: &Table) -> bool {
        let widest = |column: usize| table.rows.iter().map(|row| length(&row[column])).max().unwrap_or(0) + GAP;
        (0..table.columns()).map(widest).sum::<usize>() <= self.screen.columns + GAP
    }

    fn lines(&mut self, text: &str, style: &str) {
        let columns = self.screen.columns;
        for line in text.split('\n').flat_map(|line| wrapped(line, columns)) {
            self.line(&line, style);
        }
    }

    fn line(&mut self, line: &str, style: &str) {
        match style.is_empty() || !self.screen.styled {
            true => self.text += line.trim_end(),
            false => self.text += &format!("{style}{}{PLAIN}", line.trim_end()),
        }
        self.text.push('\n');
    }

    /// Adds a table. The cells of the widest columns are broken where it is too wide.
    pub fn table(&mut self, table: &Table) {
        let gap = |column: usize| if column + 1 < table.columns() { GAP } else { 0 };
        let widest = |column: usize| table.rows.iter().map(|row| length(&row[column])).max().unwrap_or(0).max(1);
        let widths = (0..table.columns()).map(|column| widest(column) + gap(column)).collect();
        let widths = fitted(widths, self.screen.columns);
        for (index, row) in table.rows.iter().enumerate() {
            let width = |column: usize| widths[column].saturating_sub(gap(column)).max(1);
            let cells: Vec<Vec<String>> =
                row.iter().enumerate().map(|(column, cell)| wrapped(cell, width(column))).collect();
            let height = cells.iter().map(Vec::len).max().unwrap_or(0);
            for line in 0..height {
                let cell = |(column, lines): (usize, &Vec<String>)| {
                    // Titles stand directly above their column.
                    let at = if index == 0 { (line + lines.len()).checked_sub(height) } else { Some(line) };
                    let text = at.and_then(|at| lines.get(at)).map_or("", |text| text.trim_end());
                    let room = " ".repeat(width(column).saturating_sub(length(text)));
                    let after = " ".repeat(gap(column));
                    if column < table.words { format!("{text}{room}{after}") } else { format!("{room}{text}{after}") }
                };
                let text: String = cells.iter().enumerate().map(cell).collect();
                self.line(&text, if index == 0 { DIM } else { "" });
            }
        }
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Narrows the widest columns first, until all have room for `columns` together.
fn fitted(mut widths: Vec<usize>, columns: usize) -> Vec<usize> {
    loop {
        let excess = widths.iter().sum::<usize>().saturating_sub(columns);
        let widest = widths.iter().copied().max().unwrap_or(0);
        if excess == 0 || widest <= 1 {
            return widths;
        }
        let next = widths.iter().copied().filter(|width| *width < widest).max().unwrap_or(1);
        let mut many = widths.iter().filter(|width| **width == widest).count();
        let mut left = excess;
        for width in widths.iter_mut().filter(|width| **width == widest) {
            let less = (left as f64 / many as f64).round_ties_even() as usize;
            let less = less.min(widest - next).min(excess);
            *width -= less;
            left -= less;
            many -= 1;
        }
    }
}

/// Breaks a line between words. A word that is longer than a line is cut.
fn wrapped(line: &str, columns: usize) -> Vec<String> {
    let (mut lines, mut current) = (Vec::new(), String::new());
    for word in line.split_inclusive(' ') {
        let room = columns.saturating_sub(length(&current));
        let word_length = length(word.trim_end());
        if word_length > room && !current.is_empty() {
            lines.push(std::mem::take(&mut current));
        }
        if word_length <= columns {
            current += word;
            continue;
        }
        for letter in word.chars() {
            if length(&current) == columns {
                lines.push(std::mem::take(&mut current));
            }
            current.push(letter);
        }
    }
    lines.push(current);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(columns: usize, styled: bool) -> String {
        let mut page = Page::new(Screen { columns, styled });
        page.heading("A heading");
        page.say("Words of a sentence.");
        let mut table = Table::new(&["sender", "goodput, Mbit/s", "faster"], 1);
        table.add(["as captured", "1 to 2", ""].map(String::from).to_vec());
        table.add(["another", "10 to 20", "25 %"].map(String::from).to_vec());
        page.table(&table);
        page.into_text()
    }

    #[test]
    fn words_are_at_the_left_and_numbers_at_the_right() {
        assert_eq!(
            shown(140, false),
            "A heading\nWords of a sentence.\n\
             sender       goodput, Mbit/s  faster\n\
             as captured           1 to 2\n\
             another             10 to 20    25 %\n"
        );
    }

    #[test]
    fn a_terminal_shows_headings_bold_and_titles_dim() {
        let text = shown(140, true);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "\x1b[1mA heading\x1b[0m");
        assert_eq!(lines[2], "\x1b[2msender       goodput, Mbit/s  faster\x1b[0m");
        assert_eq!(lines[3], "as captured           1 to 2");
    }

    #[test]
    fn a_narrow_screen_breaks_the_widest_columns() {
        assert_eq!(
            shown(24, false),
            "A heading\nWords of a sentence.\n\
             \x20        goodput\n\
             \x20              ,\n\
             sender    Mbit/s  faster\n\
             as        1 to 2\n\
             capture\n\
             d\n\
             another    10 to    25 %\n\
             \x20             20\n"
        );
        assert!(shown(5, false).lines().count() > 20, "a screen without room is no error");
    }

    #[test]
    fn a_line_is_broken_between_words_and_a_long_word_is_cut() {
        assert_eq!(wrapped("one two three", 7), ["one two ", "three"]);
        assert_eq!(wrapped("a sender.detect=none", 8), ["a ", "sender.d", "etect=no", "ne"]);
        assert_eq!(wrapped("", 8), [""]);
    }
}
