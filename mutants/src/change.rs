//! The changes of a source file: each place, and its replacement text.

use std::ops::Range;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Block, Expr, Item, Lit, ReturnType, Stmt, Type};

/// The kind of a change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// Another comparison or operator.
    Operator,
    /// A negated condition or boolean.
    Negated,
    /// A constant that is one larger or smaller.
    Constant,
    /// A method replaced by its opposite.
    Opposite,
    /// A left-out statement.
    LeftOut,
    /// A function that returns at once.
    Returns,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Negated => "negated",
            Self::Constant => "constant",
            Self::Opposite => "opposite",
            Self::LeftOut => "left out",
            Self::Returns => "returns at once",
        }
    }
}

/// A possible change.
#[derive(Clone, Debug)]
pub struct Change {
    pub kind: Kind,
    pub line: usize,
    /// The bytes of the file that the change replaces. Empty for text inserted before a function's
    /// first statement.
    pub at: Range<usize>,
    /// The replacement text. [`Change::planted`] describes its use for left-out statements and
    /// early returns.
    pub instead: String,
}

impl Change {
    /// Returns the text that replaces `original`, with the change behind switch `id`.
    pub fn planted(&self, original: &str, id: u32) -> String {
        let on = format!("crate::switch::on({id})");
        match self.kind {
            Kind::LeftOut => format!("if !{on} {{ {original} }}"),
            Kind::Returns => format!("if {on} {{ return {}; }}", self.instead),
            _ => format!("(if {on} {{ {} }} else {{ {original} }})", self.instead),
        }
    }
}

const OPPOSITES: [(&str, &str); 20] = [
    ("min", "max"),
    ("is_some", "is_none"),
    ("is_ok", "is_err"),
    ("any", "all"),
    ("saturating_add", "saturating_sub"),
    ("wrapping_add", "wrapping_sub"),
    ("checked_add", "checked_sub"),
    ("first", "last"),
    ("front", "back"),
    ("push_front", "push_back"),
    ("pop_front", "pop_back"),
    ("skip", "take"),
    ("skip_while", "take_while"),
    ("floor", "ceil"),
    ("min_by_key", "max_by_key"),
    ("is_some_and", "is_none_or"),
    ("next", "next_back"),
    ("find", "rfind"),
    ("position", "rposition"),
    ("starts_with", "ends_with"),
];

fn opposite(method: &str) -> Option<&'static str> {
    OPPOSITES.iter().find_map(|&(one, other)| match method {
        _ if method == one => Some(other),
        _ if method == other => Some(one),
        _ => None,
    })
}

/// Returns every change of a file, in the order of its text. `None` if the file does not parse.
pub fn changes(text: &str) -> Option<Vec<Change>> {
    let file = syn::parse_file(text).ok()?;
    let mut finder = Finder { text, found: Vec::new() };
    finder.visit_file(&file);
    Some(finder.found)
}

struct Finder<'t> {
    text: &'t str,
    found: Vec<Change>,
}

impl Finder<'_> {
    fn add(&mut self, kind: Kind, spanned: &impl Spanned, instead: String) {
        let span = spanned.span();
        self.found.push(Change { kind, line: span.start().line, at: span.byte_range(), instead });
    }

    fn text(&self, spanned: &impl Spanned) -> &str {
        &self.text[spanned.span().byte_range()]
    }

    fn operator(&mut self, whole: &Expr, operator: &BinOp, [left, right]: [&Expr; 2]) {
        let Some(other) = other(operator) else { return };
        // `let` is allowed only in chains of &&, and not in parentheses.
        if !has_let(whole) {
            let changed = format!("{} {other} {}", self.text(left), self.text(right));
            self.add(Kind::Operator, whole, changed);
        }
    }

    fn condition(&mut self, condition: &Expr) {
        if !has_let(condition) {
            let changed = format!("!({})", self.text(condition));
            self.add(Kind::Negated, condition, changed);
        }
    }
}

fn other(operator: &BinOp) -> Option<&'static str> {
    Some(match operator {
        BinOp::Lt(_) => "<=",
        BinOp::Le(_) => "<",
        BinOp::Gt(_) => ">=",
        BinOp::Ge(_) => ">",
        BinOp::Eq(_) => "!=",
        BinOp::Ne(_) => "==",
        BinOp::And(_) => "||",
        BinOp::Or(_) => "&&",
        BinOp::Add(_) => "-",
        BinOp::Sub(_) => "+",
        BinOp::Mul(_) => "+",
        BinOp::Div(_) => "*",
        BinOp::Rem(_) => "/",
        BinOp::Shl(_) => ">>",
        BinOp::Shr(_) => "<<",
        BinOp::BitAnd(_) => "|",
        BinOp::BitOr(_) => "&",
        BinOp::AddAssign(_) => "-=",
        BinOp::SubAssign(_) => "+=",
        BinOp::BitOrAssign(_) => "&=",
        BinOp::BitAndAssign(_) => "|=",
        _ => return None,
    })
}

fn has_let(expression: &Expr) -> bool {
    struct Lets(bool);
    impl Visit<'_> for Lets {
        fn visit_expr_let(&mut self, _: &syn::ExprLet) {
            self.0 = true;
        }
        // A block has its own conditions.
        fn visit_block(&mut self, _: &Block) {}
    }
    let mut lets = Lets(false);
    lets.visit_expr(expression);
    lets.0
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let path = attribute.path();
        path.is_ident("test")
            || path.is_ident("cfg")
                && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string().contains("test"))
    })
}

fn is_debug(implemented: &syn::ItemImpl) -> bool {
    let named = implemented.trait_.as_ref().and_then(|(path, _)| path.segments.last());
    named.is_some_and(|segment| segment.ident == "Debug")
}

/// Returns the value that a function of this type can return at once. `None` if no value is known.
fn returned(output: &ReturnType) -> Option<&'static str> {
    let ReturnType::Type(_, returned) = output else { return Some("") };
    let Type::Path(path) = &**returned else { return None };
    let name = path.path.segments.last()?.ident.to_string();
    Some(match name.as_str() {
        "bool" => "false",
        "Option" => "None",
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i32" | "i64" | "i128" => "0",
        "f64" => "0.0",
        "Vec" | "String" | "Duration" => "Default::default()",
        _ => return None,
    })
}

impl<'s> Visit<'s> for Finder<'_> {
    fn visit_item(&mut self, item: &'s Item) {
        let attributes = match item {
            Item::Mod(one) => &one.attrs,
            Item::Fn(one) => &one.attrs,
            Item::Impl(one) => &one.attrs,
            // Constants are evaluated at compile time, and macros are opaque here.
            Item::Const(_) | Item::Static(_) | Item::Macro(_) => return,
            _ => return visit::visit_item(self, item),
        };
        if !is_for_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_impl(&mut self, implemented: &'s syn::ItemImpl) {
        // Debug output is for people; nothing depends on it.
        if !is_debug(implemented) {
            visit::visit_item_impl(self, implemented);
        }
    }

    fn visit_impl_item_const(&mut self, _: &'s syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'s syn::TraitItemConst) {}
    fn visit_pat(&mut self, _: &'s syn::Pat) {}
    fn visit_type(&mut self, _: &'s Type) {}
    fn visit_attribute(&mut self, _: &'s syn::Attribute) {}
    fn visit_macro(&mut self, _: &'s syn::Macro) {}
    fn visit_expr_const(&mut self, _: &'s syn::ExprConst) {}
    fn visit_expr_repeat(&mut self, repeat: &'s syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }

    fn visit_item_fn(&mut self, function: &'s syn::ItemFn) {
        if function.sig.constness.is_none() {
            self.function(&function.sig, &function.block);
            visit::visit_block(self, &function.block);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'s syn::ImplItemFn) {
        if function.sig.constness.is_none() && !is_for_tests(&function.attrs) {
            self.function(&function.sig, &function.block);
            visit::visit_block(self, &function.block);
        }
    }

    fn visit_stmt(&mut self, statement: &'s Stmt) {
        if let Stmt::Expr(expression, Some(_)) = statement {
            let acts = match expression {
                Expr::Call(_) | Expr::MethodCall(_) | Expr::Assign(_) => true,
                Expr::Binary(binary) => other(&binary.op).is_some_and(|other| other.ends_with('=')),
                _ => false,
            };
            if acts {
                self.add(Kind::LeftOut, statement, String::new());
            }
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'s Expr) {
        match expression {
            Expr::Binary(binary) => self.operator(expression, &binary.op, [&binary.left, &binary.right]),
            Expr::If(conditional) => self.condition(&conditional.cond),
            Expr::While(lasting) => self.condition(&lasting.cond),
            Expr::Lit(literal) => match &literal.lit {
                Lit::Bool(value) => self.add(Kind::Negated, expression, (!value.value).to_string()),
                Lit::Int(value) => {
                    if let Ok(number) = value.base10_parse::<u64>() {
                        let suffix = value.suffix();
                        self.add(Kind::Constant, expression, format!("{}{suffix}", number.saturating_add(1)));
                        if number > 0 {
                            self.add(Kind::Constant, expression, format!("{}{suffix}", number - 1));
                        }
                    }
                }
                _ => {}
            },
            Expr::MethodCall(call) => {
                if let Some(other) = opposite(&call.method.to_string()) {
                    let (whole, name) = (expression.span().byte_range(), call.method.span().byte_range());
                    let changed =
                        format!("{}{other}{}", &self.text[whole.start..name.start], &self.text[name.end..whole.end]);
                    self.add(Kind::Opposite, expression, changed);
                }
            }
            _ => {}
        }
        visit::visit_expr(self, expression);
    }
}

impl Finder<'_> {
    fn function(&mut self, signature: &syn::Signature, block: &Block) {
        let Some(instead) = returned(&signature.output).filter(|_| !block.stmts.is_empty()) else { return };
        let start = block.brace_token.span.open().byte_range().end;
        let line = signature.span().start().line;
        let change = Change { kind: Kind::Returns, line, at: start..start, instead: instead.to_owned() };
        self.found.push(change);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the changes of a text: kind, replaced text, and replacement.
    fn found(text: &str) -> Vec<(&'static str, &str, String)> {
        let all = changes(text).unwrap().into_iter();
        all.map(|change| (change.kind.name(), &text[change.at.clone()], change.planted(&text[change.at.clone()], 7)))
            .collect()
    }

    fn switched(instead: &str, original: &str) -> String {
        format!("(if crate::switch::on(7) {{ {instead} }} else {{ {original} }})")
    }

    #[test]
    fn each_kind_is_found_and_planted() {
        let text = "fn f(a: u32) -> bool { if a < 2 { g(a); } a.is_some() || true }";
        let whole = "a.is_some() || true";
        let expected = vec![
            ("returns at once", "", "if crate::switch::on(7) { return false; }".to_owned()),
            ("negated", "a < 2", switched("!(a < 2)", "a < 2")),
            ("operator", "a < 2", switched("a <= 2", "a < 2")),
            ("constant", "2", switched("3", "2")),
            ("constant", "2", switched("1", "2")),
            ("left out", "g(a);", "if !crate::switch::on(7) { g(a); }".to_owned()),
            ("operator", whole, switched("a.is_some() && true", whole)),
            ("opposite", "a.is_some()", switched("a.is_none()", "a.is_some()")),
            ("negated", "true", switched("false", "true")),
        ];
        assert_eq!(found(text), expected);
    }

    #[test]
    fn what_is_worked_out_at_compile_time_tests_and_chains_with_let_are_left_alone() {
        for text in [
            "const A: u32 = 1 + 2;",
            "static A: [u8; 3] = [0; 3];",
            "const fn f() -> u32 { 1 + 2 }",
            "#[cfg(test)] mod tests { fn f() { g(1); } }",
            "#[test] fn f() { g(1); }",
            "impl fmt::Debug for A { fn fmt(&self) -> bool { 1 < 2 } }",
            "fn f(x: A) -> A { if let Some(y) = x && a { y } else { x } }",
            "fn f(x: A) -> A { match x { 1 | 2 => x, _ => h!(1 + 2) } }",
        ] {
            assert_eq!(found(text), vec![], "{text}");
        }
    }
}
