//! Circles of imports: files of a crate that reach each other by what they import.
//!
//! An import from a module above does not count: a folder's `mod.rs` holds what its files share. Nor
//! does an export: what imports the name counts as an import of the file that defines it.

use std::collections::{BTreeMap, BTreeSet};

/// A path of names, from the crate's root on.
type Path = Vec<String>;

/// The modules of a crate, each with its code: masked, and without tests.
pub struct Modules {
    code: BTreeMap<Path, String>,
    /// Names that a module exports from another place, with that place.
    exports: BTreeMap<Path, Path>,
}

impl Modules {
    pub fn new(code: BTreeMap<Path, String>) -> Self {
        let mut modules = Self { code, exports: BTreeMap::new() };
        for (module, code) in &modules.code {
            for (exports, tree) in uses(code) {
                for (name, path) in expanded(&tree) {
                    if exports && let Some(path) = modules.absolute(module, &path) {
                        modules.exports.insert(joined(module, &name), path);
                    }
                }
            }
        }
        modules
    }

    /// Makes a path absolute. `None` for one that leads to another crate.
    fn absolute(&self, module: &[String], path: &[String]) -> Option<Path> {
        let above = |steps: usize| module.get(..module.len().checked_sub(steps)?);
        let (base, rest): (&[String], &[String]) = match path.first()?.as_str() {
            "crate" => (&[], &path[1..]),
            "self" => (module, &path[1..]),
            "super" => {
                let steps = path.iter().take_while(|name| *name == "super").count();
                (above(steps)?, &path[steps..])
            }
            name if self.code.contains_key(&joined(module, name)) => (module, path),
            _ => return None,
        };
        Some([base, rest].concat())
    }

    /// Returns the module that holds what an absolute path names.
    fn holder(&self, path: &[String]) -> Path {
        let mut module = Path::new();
        for (at, name) in path.iter().enumerate() {
            let next = joined(&module, name);
            if self.code.contains_key(&next) {
                module = next;
            } else if let Some(exported) = self.exports.get(&next).filter(|exported| exported[..] != path[..=at]) {
                return self.holder(&[exported, &path[at + 1..]].concat());
            } else {
                break;
            }
        }
        module
    }

    fn imports(&self, module: &Path, code: &str) -> BTreeSet<Path> {
        let used = uses(code).into_iter().filter(|(exports, _)| !exports);
        let used = used.flat_map(|(_, tree)| expanded(&tree)).map(|(_, path)| path);
        let named = code.split(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == ':'));
        let named = named.filter(|word| word.contains("::")).map(|word| word.split("::").map(str::to_owned).collect());
        let paths = used.chain(named).filter_map(|path: Path| self.absolute(module, &path));
        paths.map(|path| self.holder(&path)).filter(|other| !module.starts_with(other)).collect()
    }

    /// Returns the files of the largest circle.
    pub fn largest_circle(&self) -> Vec<String> {
        let imports: BTreeMap<&Path, BTreeSet<Path>> =
            self.code.iter().map(|(module, code)| (module, self.imports(module, code))).collect();
        let reached: BTreeMap<&Path, BTreeSet<&Path>> =
            imports.keys().map(|module| (*module, reachable(module, &imports))).collect();
        let circle = |module: &&Path| -> Vec<String> {
            let both = reached[*module].iter().filter(|other| reached[**other].contains(*module));
            both.map(|path| path.join("::")).collect()
        };
        imports.keys().map(circle).max_by_key(Vec::len).unwrap_or_default()
    }
}

fn joined(module: &[String], name: &str) -> Path {
    let mut path = module.to_vec();
    path.push(name.to_owned());
    path
}

fn reachable<'a>(from: &Path, imports: &'a BTreeMap<&'a Path, BTreeSet<Path>>) -> BTreeSet<&'a Path> {
    let mut seen = BTreeSet::new();
    let mut next: Vec<&Path> = imports[from].iter().collect();
    while let Some(module) = next.pop() {
        if seen.insert(module) {
            next.extend(&imports[module]);
        }
    }
    seen
}

/// Returns the tree of each `use`, and whether it exports.
fn uses(code: &str) -> Vec<(bool, String)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("use ") {
        let line = code[..at].rfind('\n').map_or(0, |end| end + 1);
        let before = code[line..at].trim();
        let end = code[at..].find(';').unwrap_or(code.len() - at);
        if before.is_empty() || before.starts_with("pub") {
            let tree = code[at + 4..at + end].split_whitespace().collect();
            found.push((!before.is_empty(), tree));
        }
    }
    found
}

/// Returns the paths of a tree, each with the name that it gets.
fn expanded(tree: &str) -> Vec<(String, Path)> {
    let Some(open) = tree.find('{') else {
        let path: Path = tree.split("::").map(str::to_owned).collect();
        return path.last().cloned().map(|name| vec![(name, path)]).unwrap_or_default();
    };
    let (before, inner) = (&tree[..open], tree[open + 1..].strip_suffix('}').unwrap_or_default());
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, letter) in inner.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[start..]);
    parts.iter().filter(|part| !part.is_empty()).flat_map(|part| expanded(&format!("{before}{part}"))).collect()
}
