//! Reads a script. Everything unknown is refused with its place.

mod call;
mod command;
mod condition;
mod cursor;
mod header;
mod icmp;
mod lexer;
mod packet;
mod sctp;
mod setting;
mod socket_option;
mod time;
mod transfer;

use crate::error::{Error, Fault};
use crate::expression::statements;
use crate::parse::cursor::Cursor;
use crate::parse::lexer::{Kind, tokens};
use crate::profile::Profile;
use crate::script::{Action, Call, Event, Script, Traffic, When};
use crate::sctp::setup::Setup;
use crate::variables::{self, Variable};
use eifel_base::time::{Duration, Instant};
use eifel_packet::ip::Version;

/// The longest script.
const LONGEST: Duration = Duration::from_secs(400 * 24 * 3600);

/// Reads a script for this stack. `origin` names the script in messages.
///
/// # Errors
///
/// The first place that is not part of the language.
pub fn parse(text: &str, origin: &str) -> Result<Script, Error> {
    parse_for(Profile::Standard, text, origin)
}

/// Reads a script that was written for a stack with this profile.
///
/// # Errors
///
/// The first place that is not part of the language.
pub fn parse_for(profile: Profile, text: &str, origin: &str) -> Result<Script, Error> {
    let read = |symbol| script(profile, symbol, text, origin).map_err(|fault| fault.in_file(origin));
    let script = read(profile.symbol())?;
    if profile != Profile::Standard || script.association.is_none() || !condition::is_in(text) {
        return Ok(script);
    }
    // The systems differ where RFC 9260 leaves a choice.
    Ok(Script { others: vec![read(Profile::FreeBsd.symbol())?], ..read(Profile::Linux.symbol())? })
}

fn script(profile: Profile, symbol: &str, text: &str, origin: &str) -> Result<Script, Fault> {
    let text = &condition::chosen(text, symbol)?;
    let tokens = tokens(text)?;
    let is_sctp = tokens.iter().any(|token| token.kind == Kind::Word("IPPROTO_SCTP".into()));
    let mut cursor = Cursor::new(text, tokens);
    let mut association = is_sctp.then(Setup::default);
    let mut header = header::read(&mut cursor, profile, association.as_mut())?;
    let language = if is_sctp { Language::Sctp } else { Language::Tcp(header.version) };
    // Commands configure a host only before its sockets are in use.
    let mut fresh = true;
    let mut names = Vec::new();
    let mut events = Vec::new();
    let mut begun = Begun { at_least: Instant::ZERO, most: Instant::ZERO };
    while cursor.kind() != &Kind::End {
        if matches!(cursor.kind(), Kind::Command(_)) {
            // A command without a time cleans up, and has no effect here.
            cursor.next();
            continue;
        }
        let event = event(&mut cursor, language, &mut names)?;
        begun.follow(&event)?;
        match &event.action {
            Action::Command(text) if fresh => match &mut association {
                None => command::apply(text, event.place, &mut header)?,
                Some(setup) => setup.command(text),
            },
            // A command that changes how a host treats packets matters at any time.
            Action::Command(text) if association.is_none() => command::apply_late(text, event.place, &mut header)?,
            Action::Calls { call: Call::Listen { .. } | Call::Connect { .. }, .. } => fresh = false,
            _ => {}
        }
        events.push(event);
    }
    if events.is_empty() {
        return Err(cursor.unfit("an event: a time, and what happens then"));
    }
    Ok(Script { origin: origin.into(), header, association, events, others: Vec::new() })
}

/// The protocol of a script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Language {
    Tcp(Version),
    Sctp,
}

impl Language {
    fn variables(self) -> &'static [Variable] {
        match self {
            Self::Tcp(_) => variables::variables(),
            Self::Sctp => variables::of_associations(),
        }
    }
}

fn event(cursor: &mut Cursor<'_>, language: Language, names: &mut Vec<String>) -> Result<Event, Fault> {
    let place = cursor.place();
    let when = time::when(cursor)?;
    let begin = cursor.start();
    let action = action(cursor, language, names)?;
    if !matches!(action, Action::Leaves(_)) && !matches!(when, When::At(_) | When::After(_)) {
        return Err(Fault::new(place, "only packets that leave may have a range of times", "a time, or + and a time"));
    }
    let text = cursor.text_since(begin).split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(Event { place, when, action, text })
}

fn action(cursor: &mut Cursor<'_>, language: Language, names: &mut Vec<String>) -> Result<Action, Fault> {
    match cursor.kind().clone() {
        Kind::Mark('<') => {
            cursor.next();
            match language {
                Language::Tcp(version) if cursor.take_word("icmp") => {
                    icmp::read(cursor, version).map(Traffic::SegmentError)
                }
                Language::Tcp(_) => packet::arriving(cursor).map(Traffic::Segment),
                Language::Sctp => sctp::arriving(cursor),
            }
            .map(Action::Arrives)
        }
        Kind::Mark('>') => {
            cursor.next();
            match language {
                Language::Tcp(_) => packet::leaving(cursor).map(Traffic::Segment),
                Language::Sctp => sctp::leaving(cursor).map(Traffic::Sctp),
            }
            .map(Action::Leaves)
        }
        Kind::Code(text) => {
            let mut place = cursor.place();
            place.column += 2;
            cursor.next();
            statements(&text, place, language.variables(), names).map(Action::Runs)
        }
        Kind::Command(text) => {
            cursor.next();
            Ok(Action::Command(text))
        }
        Kind::Ellipsis | Kind::Word(_) => call::read(cursor, language == Language::Sctp),
        _ => Err(cursor.unfit("<, >, a call, or %{ assert … }%")),
    }
}

/// The earliest and the latest time of the last event, as far as the text tells.
struct Begun {
    at_least: Instant,
    most: Instant,
}

impl Begun {
    fn follow(&mut self, event: &Event) -> Result<(), Fault> {
        let (from, to) = match event.when {
            When::At(at) => (at, at),
            When::Between(from, to) => (from, to),
            When::After(after) => (self.at_least + after, self.most + after),
            When::AfterBetween(from, to) => (self.at_least + from, self.most + to),
            When::Any => (self.at_least, self.most),
        };
        if to < self.at_least {
            return Err(Fault::new(event.place, "the times are not in order", "a time not before the last event's"));
        }
        if to > Instant::ZERO + LONGEST {
            return Err(Fault::new(event.place, "the script is too long", "at most 400 days"));
        }
        *self = Self { at_least: from.max(self.at_least), most: to };
        Ok(())
    }
}
