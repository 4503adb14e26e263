//! `worlds`: plays small worlds against this kernel.

use super::setup::namespace;
use super::{Failure, OK, json_of, print};
use crate::system::Error;
use crate::system::signals;
use crate::worlds::kernel::Kernel;
use crate::worlds::pkt;
use crate::worlds::player::{Ended, Player};
use crate::worlds::shrink::{REPEATED, Shrunk, shrink};
use crate::worlds::tally::{Class, Found, Tally};
use crate::worlds::world::World;
use eifel_command::Options;
use eifel_recovery::detect::Detector;
use eifel_recovery::registry::{Choice, part};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const USAGE: &str = "\
Plays small worlds against this kernel: it sends, and a world decides what arrives, when, and which ACKs come back. What the
kernel undoes is compared, ACK by ACK, with detect = \"linux\" over the same packets, and with what is true in the world.
Needs root. Worlds are drawn from a seed; some hundred run at the same time, in a network namespace of their own.

usage: eifel live worlds [OPTIONS] [FOLDER]

  --count N          worlds (default: 1000)
  --first N          the number of the first one (default: 0)
  --seed S           the seed of all draws (default: 1)
  --at-once N        worlds at the same time (default: 200)
  --congestion NAME  congestion control of the kernel (default: cubic)
  --world TEXT       plays this world alone, and prints its conversation as a packetdrill script
  --json             prints one JSON document

A remarkable episode belongs to a class: the kernel undid otherwise than the detector, undid although something was lost, or
did not undo although nothing was. FOLDER gets a packetdrill script for each class that was found, CLASS.pkt: its smallest
world, made as simple as it can be, if that repeats ten times of ten.

A world reads as \"sack timestamps 2+4+0 timeout+10ms: segment 1 delayed, ACK of 3 lost\": the options of the connection; the
segments before, with and after fates; the event that ends a delay, and how late the packet is then; and the fates.

example: eifel live worlds --count 2000 --seed 7 out/worlds
";

/// Worlds between two lines of progress.
const SHOWN: u64 = 1000;

/// What a command line asks for.
struct Asked {
    first: u64,
    count: u64,
    seed: u64,
    at_once: usize,
    congestion: String,
}

pub(super) fn command(words: &[String]) -> Result<u8, Failure> {
    let valued = ["--count", "--first", "--seed", "--at-once", "--congestion", "--world"];
    let Some(options) = Options::read(words, &valued, &["--json"])? else { return print(USAGE).map(|()| OK) };
    let whole = "a whole number";
    let asked = Asked {
        first: options.value("--first", whole)?.unwrap_or(0),
        count: options.value("--count", whole)?.unwrap_or(1000),
        seed: options.value("--seed", whole)?.unwrap_or(1),
        at_once: options.value("--at-once", whole)?.unwrap_or(200),
        congestion: options.text("--congestion").unwrap_or("cubic").to_owned(),
    };
    if asked.count == 0 || asked.at_once == 0 || asked.first.checked_add(asked.count).is_none() {
        return Err(Failure::Usage("--count, --at-once: expected 1 or more".to_owned()));
    }
    let folder = match &options.rest[..] {
        [] => None,
        [folder] => Some(Path::new(folder)),
        _ => return Err(Failure::Usage("at most one FOLDER; see --help".to_owned())),
    };
    let given = options.text("--world").map(str::parse::<World>).transpose();
    let given = given.map_err(|what| Failure::Usage(format!("--world {what}")))?;
    // Missing rights are one line, before anything is written.
    drop(namespace()?);
    let mut player = Player::new(Kernel::start(&asked.congestion)?);
    if let Some(world) = given {
        return print(&conversation(&mut player, world, &asked)?).map(|()| OK);
    }
    let tally = play(&mut player, &asked)?;
    let scripts = match folder {
        Some(folder) => write(&mut player, &tally, folder, &asked)?,
        None => Vec::new(),
    };
    let text = if options.has("--json") {
        json_of("live-worlds", document(&asked, &tally, &scripts))
    } else {
        summary(&tally, &scripts)
    };
    print(&text).map(|()| OK)
}

#[expect(clippy::unwrap_used, reason = "the registry has the detector that the project names")]
fn detector() -> Box<dyn Detector> {
    part::detector(&Choice::named("linux")).unwrap()
}

/// Plays the worlds that were asked for, or those begun until a signal asks to stop.
fn play(player: &mut Player<Kernel>, asked: &Asked) -> Result<Tally, Failure> {
    let (mut tally, mut numbers) = (Tally::default(), asked.first..asked.first + asked.count);
    let signals = signals()?;
    let mut next = || if signals.ask_to_stop() { None } else { Some(World::draw(asked.seed, numbers.next()?)) };
    player.play(asked.at_once, &mut next, &mut |played| {
        tally.add(&played, detector());
        if tally.worlds % SHOWN == 0 {
            eprintln!("{} of {} worlds", tally.worlds, asked.count);
        }
    })?;
    Ok(tally)
}

/// Plays one world, and returns its script.
fn conversation(player: &mut Player<Kernel>, world: World, asked: &Asked) -> Result<String, Error> {
    let (mut once, mut text) = (Some(world), None);
    player.play(1, &mut || once.take(), &mut |played| {
        let mut comments = vec![world.to_string()];
        comments.extend((played.ended == Ended::Stuck).then(|| "It did not end.".to_owned()));
        text = pkt::script(&comments, &world, &played.course, &asked.congestion);
    })?;
    text.ok_or_else(|| Error::new("play a world", &"the kernel did not answer", ""))
}

/// A class, and the simplest world that was found for it; `None` if none repeats.
struct Script<'a> {
    class: &'a Class,
    shrunk: Option<Shrunk>,
}

/// Shrinks a world of each class, and writes those that repeat as scripts.
fn write<'a>(
    player: &mut Player<Kernel>,
    tally: &'a Tally,
    folder: &Path,
    asked: &Asked,
) -> Result<Vec<Script<'a>>, Error> {
    fs::create_dir_all(folder).map_err(Error::of(&folder.display().to_string()))?;
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let version = release.split('-').next().unwrap_or_default();
    let mut scripts = Vec::new();
    for (class, Found { smallest, .. }) in &tally.classes {
        eprintln!("shrinks {class}");
        let shrunk = shrink(player, (class, smallest), asked.at_once, &detector)?;
        if let Some(Shrunk { world, example }) = &shrunk {
            let comments = [
                format!("{class}."),
                format!("That is: {}.", class.kind.meaning()),
                format!("World: {world}"),
                format!("Linux {} did so {REPEATED} times of {REPEATED}.", version.trim()),
            ];
            let text = pkt::script(&comments, world, &example.course, &asked.congestion).unwrap_or_default();
            let path = folder.join(format!("{}.pkt", class.slug()));
            fs::write(&path, text).map_err(Error::of(&path.display().to_string()))?;
        }
        scripts.push(Script { class, shrunk });
    }
    Ok(scripts)
}

fn summary(tally: &Tally, scripts: &[Script<'_>]) -> String {
    let mut text = String::new();
    let [retransmissions, needed] = tally.retransmissions;
    let Tally { worlds, episodes, undone, alike, doubtful, stuck, refused, .. } = tally;
    // Writing to a string does not fail.
    let _ = writeln!(text, "{worlds} worlds: {retransmissions} retransmissions, {needed} of them needed");
    let _ = writeln!(text, "{episodes} episodes, {undone} undone; the detector decided alike in {alike}");
    if doubtful + stuck + refused.0 > 0 {
        let why = refused.1.as_deref().unwrap_or_default();
        let _ = writeln!(text, "{doubtful} worlds in doubt, {stuck} without an end, {} refused {why}", refused.0);
    }
    for (class, found) in &tally.classes {
        let _ = writeln!(text, "{:>7}  {class}", found.episodes);
        let script = scripts.iter().find(|script| script.class == class);
        let shown = match script.map(|script| &script.shrunk) {
            None => found.smallest.first().map(World::to_string).unwrap_or_default(),
            Some(Some(shrunk)) => format!("{REPEATED} times of {REPEATED}: {}", shrunk.world),
            Some(None) => format!("none of {} worlds repeats {REPEATED} times", found.smallest.len()),
        };
        let _ = writeln!(text, "         {shown}");
    }
    text
}

fn document(asked: &Asked, tally: &Tally, scripts: &[Script<'_>]) -> Value {
    let classes: Vec<Value> = tally
        .classes
        .iter()
        .map(|(class, found)| {
            let script = scripts.iter().find(|script| script.class == class);
            let shrunk = script.and_then(|script| script.shrunk.as_ref());
            json!({
                "kind": class.kind.name(),
                "cause": if class.timeout { "timeout" } else { "fast-retransmit" },
                "sack": class.sack,
                "timestamps": class.timestamps,
                "kernel": class.stack,
                "model": class.model,
                "episodes": found.episodes,
                "smallest": found.smallest.first().map(World::to_string),
                "shrunk": shrunk.map(|shrunk| shrunk.world.to_string()),
                "script": shrunk.map(|_| format!("{}.pkt", class.slug())),
            })
        })
        .collect();
    json!({
        "kernel": fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim(),
        "congestion": asked.congestion,
        "seed": asked.seed,
        "first": asked.first,
        "worlds": tally.worlds,
        "worlds_stuck": tally.stuck,
        "worlds_in_doubt": tally.doubtful,
        "worlds_refused": tally.refused.0,
        "episodes": tally.episodes,
        "episodes_undone": tally.undone,
        "episodes_alike": tally.alike,
        "retransmissions": tally.retransmissions[0],
        "retransmissions_needed": tally.retransmissions[1],
        "classes": classes,
    })
}
