//! Command lines as data: one declaration of each option gives its parser, its line in the usage, and what
//! the Python package makes of it.

use crate::{Options, Usage};

/// Characters of a line of the usage.
const COLUMNS: usize = 118;
/// Where the words about an option begin.
const INDENT: usize = 24;
/// The option that has a short form, `-v`.
const VERBOSE: &str = "--verbose";

/// The form of an option's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// It has none.
    Switch,
    Word,
    /// A file that is read.
    Path,
    /// A whole number from 1.
    Positive,
    /// A whole number from 0.
    Natural,
    /// A word; the option may be repeated.
    Repeated,
    /// A folder that is written.
    Folder,
    /// A file that is written in this format.
    File(&'static str),
    /// A file whose name's ending chooses among these formats.
    FileByEnding(&'static [&'static str]),
}

impl Kind {
    /// Returns the kind's name, and the formats of the file that the option writes.
    pub const fn described(&self) -> (&'static str, &[&'static str]) {
        match self {
            Self::Switch => ("switch", &[]),
            Self::Word => ("word", &[]),
            Self::Path => ("path", &[]),
            Self::Positive => ("positive", &[]),
            Self::Natural => ("natural", &[]),
            Self::Repeated => ("repeated", &[]),
            Self::Folder => ("folder", &[]),
            Self::File(format) => ("output", std::slice::from_ref(format)),
            Self::FileByEnding(formats) => ("by_ending", formats),
        }
    }
}

/// An option of a command.
#[derive(Clone, Copy, Debug)]
pub struct Declared {
    pub name: &'static str,
    /// Its value in the usage; empty for a switch.
    pub value: &'static str,
    pub help: &'static str,
    pub kind: Kind,
    /// Whether only the Python package has it.
    pub is_python: bool,
}

impl Declared {
    pub const fn new(name: &'static str, value: &'static str, kind: Kind, help: &'static str) -> Self {
        Self { name, value, help, kind, is_python: false }
    }

    pub const fn switch(name: &'static str, help: &'static str) -> Self {
        Self::new(name, "", Kind::Switch, help)
    }

    /// Makes it an option that only the Python package has.
    pub const fn python(self) -> Self {
        Self { is_python: true, ..self }
    }
}

/// A command line.
#[derive(Clone, Copy, Debug)]
pub struct CommandLine {
    pub name: &'static str,
    /// What the command does.
    pub summary: &'static str,
    /// The words that are no options: their names, and what they are.
    pub words: (&'static str, &'static str),
    pub options: &'static [Declared],
    /// What the options of the Python package add, in words.
    pub python: &'static str,
    pub example: &'static str,
}

impl CommandLine {
    /// Reads `words`. Returns `None` if help is asked for.
    ///
    /// # Errors
    /// Returns which option is unknown, lacks its value, or is only in the Python package.
    pub fn read(&self, words: &[String]) -> Result<Option<Options>, Usage> {
        let here = || self.options.iter().filter(|option| !option.is_python);
        let valued: Vec<&str> = here().filter(|option| option.kind != Kind::Switch).map(|option| option.name).collect();
        let switches: Vec<&str> =
            here().filter(|option| option.kind == Kind::Switch).map(|option| option.name).collect();
        let long =
            |word: &String| if word == "-v" && switches.contains(&VERBOSE) { VERBOSE.to_owned() } else { word.clone() };
        let words: Vec<String> = words.iter().map(long).collect();
        // Words after `--` are no options.
        let given = words.iter().take_while(|word| *word != "--").map(|word| word.split('=').next().unwrap_or(word));
        let mut python =
            given.filter_map(|word| self.options.iter().find(|option| option.is_python && option.name == word));
        if let Some(option) = python.next() {
            return Err(Usage(format!("{}: only the Python package's eifel has it; see --help", option.name)));
        }
        Options::read(&words, &valued, &switches)
    }

    /// Returns the text of `--help`, for the program without Python.
    pub fn usage(&self) -> String {
        let (words, about) = self.words;
        let mut text = format!("{}\n\nusage: eifel {} [OPTIONS] {words}\n\n", self.summary, self.name);
        text += &line(words.split(' ').next().unwrap_or(words), about);
        for option in self.options.iter().filter(|option| !option.is_python) {
            let short = if option.name == VERBOSE { "-v, " } else { "" };
            text += &line(format!("{short}{} {}", option.name, option.value).trim_end(), option.help);
        }
        let python = wrapped(&format!("The Python package adds {}", self.python), COLUMNS).join("\n");
        text + &format!("\n{python}\n\nexample: {}\n", self.example)
    }

    /// Parses a whole number, `least` or more.
    ///
    /// # Errors
    /// Returns the value, and what was expected.
    pub fn count(options: &Options, name: &str, least: u32) -> Result<Option<u32>, Usage> {
        let expected = format!("a whole number from {least}");
        let count = options.value::<u32>(name, &expected)?;
        match count {
            Some(count) if count < least => Err(Usage(format!("{name} {count}: expected {expected}"))),
            count => Ok(count),
        }
    }
}

/// Returns the lines of a word or an option, with what it means.
fn line(name: &str, help: &str) -> String {
    let mut text = format!("  {name}");
    let room = INDENT.saturating_sub(text.len());
    for (index, part) in wrapped(help, COLUMNS - INDENT).iter().enumerate() {
        match index {
            // A long name has a line of its own.
            0 if room < 2 => text += &format!("\n{}{part}\n", " ".repeat(INDENT)),
            0 => text += &format!("{}{part}\n", " ".repeat(room)),
            _ => text += &format!("{}{part}\n", " ".repeat(INDENT)),
        }
    }
    text
}

/// Breaks a text between words.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        let line = &mut lines[last];
        if line.is_empty() {
            *line += word;
        } else if line.len() + 1 + word.len() <= columns {
            *line += &format!(" {word}");
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: CommandLine = CommandLine {
        name: "look",
        summary: "Looks at files.",
        words: ("FILE ...", "what is looked at"),
        options: &[
            Declared::switch("--json", "print JSON to standard output"),
            Declared::new("--most", "N", Kind::Positive, "look at N of them"),
            Declared::new("--a-long-option", "WITH-A-VALUE", Kind::Word, "its words have a line of their own"),
            Declared::switch("--verbose", "say more"),
            Declared::new("--draw", "FILE", Kind::File("PNG"), "draw what is seen").python(),
        ],
        python: "--draw.",
        example: "eifel look file",
    };

    fn read(words: &[&str]) -> Result<Option<Options>, Usage> {
        LINE.read(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_usage_is_of_the_declarations() {
        let expected = "\
Looks at files.

usage: eifel look [OPTIONS] FILE ...

  FILE                  what is looked at
  --json                print JSON to standard output
  --most N              look at N of them
  --a-long-option WITH-A-VALUE
                        its words have a line of their own
  -v, --verbose         say more

The Python package adds --draw.

example: eifel look file
";
        assert_eq!(LINE.usage(), expected);
    }

    #[test]
    fn an_option_of_the_python_package_is_refused_by_name() {
        let refused = |words: &[&str]| read(words).unwrap_err().0;
        assert_eq!(refused(&["--draw", "x"]), "--draw: only the Python package's eifel has it; see --help");
        assert_eq!(refused(&["--draw=x"]), "--draw: only the Python package's eifel has it; see --help");
        assert_eq!(refused(&["--jsn"]), "unknown option --jsn; nearest: --json; see --help");
        assert!(read(&["-v"]).unwrap().unwrap().has("--verbose"));
        assert_eq!(read(&["--json", "a", "--", "--draw"]).unwrap().unwrap().rest, ["a"]);
        assert!(read(&["--help"]).unwrap().is_none());
    }

    #[test]
    fn a_count_is_a_whole_number_from_its_least() {
        let count = |text: &str| CommandLine::count(&read(&["--most", text]).unwrap().unwrap(), "--most", 1);
        assert_eq!(count("3"), Ok(Some(3)));
        for wrong in ["0", "-1", "x", "1.5", "99999999999"] {
            assert_eq!(count(wrong).unwrap_err().0, format!("--most {wrong}: expected a whole number from 1"));
        }
    }
}
