//! Loads the BPF programs, and attaches them to tracepoints.
//!
//! Nothing is pinned: programs, maps and links are file descriptors of this process, and vanish with
//! it, however it ends.

use crate::btf::Types;
use crate::error::{Error, in_one_line};
use aya::maps::{Array, MapData, RingBuf};
use aya::programs::BtfTracePoint;
use aya::{Btf, Ebpf, EbpfLoader};

/// The programs, compiled for any kernel.
#[cfg(has_programs)]
static PROGRAMS: &[u8] = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/watch.o"));
#[cfg(not(has_programs))]
static PROGRAMS: &[u8] = &[];

/// A tracepoint, and the programs for it of which the first is taken that the kernel accepts.
struct Point {
    tracepoint: &'static str,
    programs: &'static [&'static str],
    /// What is missing without it. Without a tracepoint that has no such text nothing can be watched.
    lacks: Option<&'static str>,
}

const POINTS: [Point; 5] = [
    Point { tracepoint: "tcp_retransmit_skb", programs: &["retransmitted", "retransmitted_before_6_18"], lacks: None },
    Point { tracepoint: "tcp_probe", programs: &["acknowledged"], lacks: None },
    Point {
        tracepoint: "tcp_cong_state_set",
        programs: &["state_set"],
        lacks: Some("causes are unknown, and observations begin with the first retransmission"),
    },
    Point {
        tracepoint: "inet_sock_set_state",
        programs: &["closing"],
        lacks: Some(
            "ACKs of connections that are being closed are not seen, and observations of those that end, end late",
        ),
    },
    Point {
        tracepoint: "netif_receive_skb",
        programs: &["acknowledged_while_closing"],
        lacks: Some("ACKs of connections that are being closed are not seen"),
    },
];

/// What is watched.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter {
    /// A local or remote port.
    pub port: Option<u16>,
    /// The inode of a network namespace.
    pub namespace: Option<u32>,
    /// The inode of a control group.
    pub cgroup: Option<u64>,
}

/// The programs at work.
pub struct Attached {
    pub ring: RingBuf<MapData>,
    dropped: Array<MapData, u64>,
    /// What is done without, in words.
    pub lacking: Vec<String>,
    programs: Option<Ebpf>,
}

impl Attached {
    /// Loads and attaches the programs, but those of the tracepoints `without`.
    ///
    /// # Errors
    /// If rights are missing, or the kernel refuses them.
    pub fn new(filter: &Filter, without: &[String]) -> Result<Self, Error> {
        let object = compiled(PROGRAMS)?;
        let btf = kernel_types()?;
        if filter.cgroup.is_some() {
            Types::of_this_kernel()?
                .member("sock_cgroup_data", "cgroup")
                .map_err(|error| Error::new("choose a control group", format!("it needs Linux 5.15: {error}")))?;
        }
        let (port, namespace, cgroup) =
            (u32::from(filter.port.unwrap_or(0)), filter.namespace.unwrap_or(0), filter.cgroup.unwrap_or(0));
        let mut loader = EbpfLoader::new();
        loader
            .btf(Some(&btf))
            .override_global("only_port", &port, true)
            .override_global("only_namespace", &namespace, true)
            .override_global("only_cgroup", &cgroup, true);
        let mut programs = loader.load(object).map_err(Error::of("load the BPF programs"))?;
        let mut lacking = Vec::new();
        for point in POINTS {
            let attached = if without.iter().any(|name| name == point.tracepoint) {
                Err("left out".to_owned())
            } else {
                attach(&mut programs, &point, &btf)
            };
            match (attached, point.lacks) {
                (Ok(()), _) => {}
                (Err(error), None) => {
                    return Err(Error::new(format!("attach to the tracepoint {}", point.tracepoint), error));
                }
                (Err(error), Some(lacks)) => lacking.push(format!("{}: {error}: {lacks}", point.tracepoint)),
            }
        }
        let mut map = |name: &str| {
            programs.take_map(name).ok_or_else(|| Error::new(format!("use the map {name}"), "it is missing"))
        };
        let ring = RingBuf::try_from(map("facts")?).map_err(Error::of("use the map facts"))?;
        let dropped = Array::try_from(map("dropped")?).map_err(Error::of("use the map dropped"))?;
        Ok(Self { ring, dropped, lacking, programs: Some(programs) })
    }

    /// Ends the programs. A fact that one of them is writing still comes.
    pub fn detach(&mut self) {
        self.programs = None;
    }

    /// Returns how many facts found no room in the ring, and how many retransmissions were among them.
    pub fn dropped(&self) -> [u64; 2] {
        [0, 1].map(|index| self.dropped.get(&index, 0).unwrap_or(0))
    }
}

/// Returns the programs, if this build has any.
pub(crate) fn compiled(programs: &'static [u8]) -> Result<&'static [u8], Error> {
    if programs.is_empty() {
        let cause = "this build has none, because clang was missing; install clang and build it again";
        return Err(Error::new("load the BPF programs", cause));
    }
    Ok(programs)
}

/// Returns the running kernel's types.
pub(crate) fn kernel_types() -> Result<Btf, Error> {
    Btf::from_sys_fs().map_err(Error::of("read /sys/kernel/btf/vmlinux"))
}

fn attach(programs: &mut Ebpf, point: &Point, btf: &Btf) -> Result<(), String> {
    let mut refused = String::new();
    for name in point.programs {
        let Some(program) = programs.program_mut(name) else { continue };
        let tried = <&mut BtfTracePoint>::try_from(program)
            .and_then(|program| program.load(point.tracepoint, btf).and_then(|()| program.attach().map(drop)));
        match tried {
            Ok(()) => return Ok(()),
            Err(error) => refused = in_one_line(&error),
        }
    }
    Err(refused)
}

#[cfg(all(test, not(has_programs)))]
mod tests {
    use super::*;

    #[test]
    fn a_build_without_programs_says_what_is_missing() {
        let said = Attached::new(&Filter::default(), &[]).err().map(|error| error.to_string());
        let expected =
            "load the BPF programs: this build has none, because clang was missing; install clang and build it again";
        assert_eq!(said.as_deref(), Some(expected));
    }
}

#[cfg(all(test, has_programs))]
mod tests {
    use super::*;
    use aya_obj::Object;
    use std::collections::BTreeSet;

    /// The helpers that the programs call, by their numbers. The newest is that of a socket's storage, which programs
    /// on tracepoints may call since Linux 5.11: it is 107, from 5.2. The others are no newer than 5.9.
    const HELPERS: [i32; 10] = [1, 2, 3, 5, 107, 113, 118, 131, 132, 137];
    const CALL: u8 = 0x85;
    /// Atomic instructions of 32 and 64 bits. An immediate other than 0 returns a value, which came with Linux 5.12.
    const ATOMIC: [u8; 2] = [0xc3, 0xdb];

    #[test]
    fn the_programs_need_nothing_newer_than_linux_5_11() {
        let object = Object::parse(PROGRAMS).unwrap();
        let instructions = || object.functions.values().flat_map(|one| &one.instructions);
        let called: BTreeSet<i32> =
            instructions().filter(|one| one.code == CALL && one.src_reg() == 0).map(|one| one.imm).collect();
        assert_eq!(called.into_iter().collect::<Vec<_>>(), HELPERS);
        let atomics: Vec<i32> = instructions().filter(|one| ATOMIC.contains(&one.code)).map(|one| one.imm).collect();
        assert!(!atomics.is_empty() && atomics.iter().all(|add| *add == 0), "{atomics:?}");
    }
}
