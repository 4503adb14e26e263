//! Measures a source file without parsing it: it relies on the layout that rustfmt gives.

/// A measured part of a file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Measured {
    pub limit: &'static str,
    /// Name of the function, struct or trait. Empty for the whole file.
    pub name: String,
    pub size: usize,
}

/// Replaces the contents of comments by spaces, and those of strings and characters by `s`. Braces,
/// commas and words that remain are code. Line breaks stay.
pub fn masked(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < letters.len() {
        let rest = &letters[at..];
        let (end, fill) = match rest {
            ['/', '/', ..] => (rest.iter().position(|&letter| letter == '\n').unwrap_or(rest.len()), ' '),
            ['/', '*', ..] => (end_of(rest, 2, &['*', '/']), ' '),
            ['r', '"' | '#', ..] if !out.ends_with(|before: char| before.is_alphanumeric() || before == '_') => {
                let hashes = rest[1..].iter().take_while(|&&letter| letter == '#').count();
                match rest.get(1 + hashes) {
                    Some('"') => {
                        let close: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
                        (end_of(rest, 2 + hashes, &close), 's')
                    }
                    _ => (0, ' '),
                }
            }
            ['"', ..] => (end_of_escaped(rest, '"'), 's'),
            ['\'', '\\', ..] => (end_of_escaped(rest, '\''), 's'),
            ['\'', _, '\'', ..] => (3, 's'),
            _ => (0, ' '),
        };
        if end == 0 {
            out.push(rest[0]);
            at += 1;
            continue;
        }
        out.extend(rest[..end].iter().map(|&letter| if letter == '\n' { '\n' } else { fill }));
        at += end;
    }
    out
}

/// Returns the end of a text that `close` ends, searched from `from` on.
fn end_of(text: &[char], from: usize, close: &[char]) -> usize {
    let found = text[from..].windows(close.len()).position(|window| window == close);
    found.map_or(text.len(), |found| from + found + close.len())
}

/// Returns the end of a literal that begins with `quote`, in which a backslash escapes a letter.
fn end_of_escaped(text: &[char], quote: char) -> usize {
    let mut at = 1;
    while at < text.len() && text[at] != quote {
        at += if text[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(text.len())
}

/// Removes the test modules of a masked file.
pub fn without_tests(code: &str) -> String {
    let mut kept = String::with_capacity(code.len());
    let mut lines = code.lines().peekable();
    while let Some(line) = lines.next() {
        let opens = |next: &&str| next.contains("mod ") && next.trim_end().ends_with('{');
        if line.trim() == "#[cfg(test)]" && lines.peek().is_some_and(opens) {
            let indent = line.len() - line.trim_start().len();
            let end = format!("{}}}", " ".repeat(indent));
            lines.find(|line| line.trim_end() == end);
            continue;
        }
        kept.push_str(line);
        kept.push('\n');
    }
    kept
}

fn lines_of(code: &str) -> usize {
    code.lines().filter(|line| !line.trim().is_empty()).count()
}

/// Returns the length of the text up to the bracket that closes the first one.
fn closed(code: &str) -> usize {
    let mut depth = 0;
    for (at, letter) in code.char_indices() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => continue,
        }
        if depth == 0 {
            return at;
        }
    }
    code.len()
}

/// Counts the letters at no depth for which `counts` holds. Generic arguments count as depth.
fn at_top(code: &str, counts: impl Fn(&str) -> bool) -> usize {
    let mut depth = 0;
    let mut found = 0;
    for (at, letter) in code.char_indices() {
        match letter {
            '(' | '[' | '{' | '<' => depth += 1,
            '>' if code[..at].ends_with(['-', '=']) => {}
            ')' | ']' | '}' | '>' => depth -= 1,
            _ if depth == 0 && counts(&code[at..]) => found += 1,
            _ => {}
        }
    }
    found
}

/// Returns the length of the generic parameters at the start of a text.
fn generics(code: &str) -> usize {
    let mut depth = 0;
    for (at, letter) in code.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' if !code[..at].ends_with('-') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    0
}

/// Returns each declaration that begins with `keyword`: its name, and the code behind the name.
fn declared<'a>(code: &'a str, keyword: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    code.match_indices(keyword).filter_map(move |(at, _)| {
        let word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let begins = !code[..at].ends_with(word);
        let rest = code[at + keyword.len()..].strip_prefix(' ')?;
        let end = rest.find(|letter| !word(letter)).filter(|end| *end > 0 && begins)?;
        Some((&rest[..end], &rest[end..]))
    })
}

/// Measures a masked file without its tests.
pub fn measured(code: &str) -> Vec<Measured> {
    let mut found = vec![Measured { limit: "lines", name: String::new(), size: lines_of(code) }];
    let mut add = |limit, name: &str, size| found.push(Measured { limit, name: name.to_owned(), size });
    for (name, rest) in declared(code, "fn") {
        let Some(open) = rest[generics(rest)..].find('(').map(|at| generics(rest) + at) else { continue };
        let close = open + closed(&rest[open..]);
        let arguments = rest[open + 1..close].trim().trim_end_matches(',');
        let takes = |argument: &str| argument.starts_with(',');
        let own = ["self", "&self", "&mut self", "mut self"].iter().any(|own| {
            arguments.strip_prefix(own).is_some_and(|after| after.is_empty() || after.starts_with([',', ':']))
        });
        let count = if arguments.is_empty() { 0 } else { at_top(arguments, takes) + 1 - usize::from(own) };
        add("arguments", name, count);
        let body = rest[close..].find(['{', ';']).map(|at| &rest[close + at..]).filter(|body| body.starts_with('{'));
        if let Some(body) = body {
            add("function", name, lines_of(&body[1..closed(body)]));
        }
    }
    for (name, rest) in declared(code, "struct") {
        let body = rest.find(['{', ';', '(']).map(|at| &rest[at..closed(&rest[at..]) + at]);
        let Some(fields) = body.and_then(|body| body.strip_prefix('{')) else { continue };
        // A field's colon stands behind its name; the other colons stand in pairs.
        add("fields", name, at_top(&fields.replace("::", ""), |rest| rest.starts_with(": ")));
    }
    for (name, rest) in declared(code, "trait") {
        let Some(open) = rest.find('{') else { continue };
        let body = &rest[open + 1..open + closed(&rest[open..])];
        add("methods", name, at_top(body, |rest| rest.starts_with("fn ")));
    }
    found
}
