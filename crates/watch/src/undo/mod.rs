//! Another undo for this kernel's CUBIC: a congestion control in BPF, and the choice of the connections
//! that come under it.
//!
//! Nothing is pinned, and no setting of the system is changed: programs, maps and links are file
//! descriptors of this process. When it ends, for any reason, new connections are the kernel's again.
//! An open one keeps the congestion control until it is closed.

mod struct_ops;

use crate::attach::{compiled, kernel_types};
use crate::btf::Types;
use crate::error::Error;
use aya::maps::{Array, Map, MapData, MapError, RingBuf, loaded_maps};
use aya::programs::{CgroupAttachMode, SockOps};
use aya::{Ebpf, EbpfLoader};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use rustix::time::{ClockId, clock_gettime};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::str::FromStr;
use struct_ops::CongestionControl;

/// The programs, compiled for any kernel.
#[cfg(has_programs)]
static PROGRAMS: &[u8] = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/undo.o"));
#[cfg(not(has_programs))]
static PROGRAMS: &[u8] = &[];

/// The map that another process finds by its name; see `bpf/undo.bpf.c`.
const SWITCH: &str = "eifel_undo";

/// What is restored when the kernel takes a loss signal back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// cwnd and ssthresh, as Linux does.
    Full,
    /// cwnd = FlightSize + min(acked, IW), and ssthresh = pipe_prev (RFC 4015, section 3.1).
    Rfc4015,
    /// Two segments more than the flight, and slow start up to the flight at the loss signal.
    AsCarried,
    /// Nothing.
    None,
}

impl Rule {
    /// All rules, in the order of `enum rule` in `bpf/undo.bpf.c`.
    pub const ALL: [Self; 4] = [Self::Full, Self::Rfc4015, Self::AsCarried, Self::None];

    /// Returns its name; responses of the registry have the same.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Rfc4015 => "rfc4015",
            Self::AsCarried => "as-carried",
            Self::None => "none",
        }
    }
}

/// An address, and how many of its first bits count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Prefix {
    address: IpAddr,
    length: u8,
}

impl FromStr for Prefix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text}: expected an address or a prefix, as 192.0.2.0/24");
        let (address, length) = text.split_once('/').map_or((text, None), |(one, other)| (one, Some(other)));
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let length = length.map_or(Ok(most), |length| length.parse().map_err(|_| wrong()))?;
        if length > most { Err(wrong()) } else { Ok(Self { address, length }) }
    }
}

impl Prefix {
    /// Returns the family, and the words of the address and of its mask as they are on the wire.
    fn words(self) -> (u32, [u32; 4], [u32; 4]) {
        let (family, bytes) = match self.address {
            IpAddr::V4(v4) => (libc::AF_INET, [&v4.octets()[..], &[0; 12]].concat()),
            IpAddr::V6(v6) => (libc::AF_INET6, v6.octets().to_vec()),
        };
        let mask = u128::MAX.checked_shl(128 - u32::from(self.length)).unwrap_or(0).to_be_bytes();
        let word = |bytes: &[u8], at: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|byte| bytes[4 * at + byte]));
        let mask = [0, 1, 2, 3].map(|at| word(&mask, at));
        (family as u32, [0, 1, 2, 3].map(|at| word(&bytes, at) & mask[at]), mask)
    }
}

/// What comes under which rule.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub rule: Rule,
    /// Whether CUBIC's curve and its epoch are restored too (RFC 9438, section 4.9), which Linux does not.
    pub restores_epoch: bool,
    /// The network namespace; see [`cookie`].
    pub cookie: u64,
    /// The destinations; `None` for all.
    pub to: Option<Prefix>,
}

/// Returns the kernel's number for the network namespace of the calling thread.
///
/// # Errors
/// If the kernel is older than 5.14.
pub fn cookie() -> Result<u64, Error> {
    struct_ops::cookie()
}

/// The columns of an undo. `t` is in seconds since 1970, windows are in segments, `epoch` in jiffies.
/// Those that begin with `lost` are at the loss signal, which cut ssthresh to `reduced`.
pub const COLUMNS: &str = "t,cwnd_before,cwnd,ssthresh_before,ssthresh,flight,acked,srtt_us,lost_cwnd,lost_ssthresh,\
                           lost_flight,reduced,w_max,lost_w_max,epoch,lost_epoch,timeout,port,remote_port";

/// An undo.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Undone {
    /// Nanoseconds since the machine was started.
    pub nanos: u64,
    /// The columns after `t`.
    pub values: Vec<u32>,
}

impl Undone {
    /// Reads `struct undo` of `bpf/undo.bpf.c`.
    fn read(bytes: &[u8]) -> Option<Self> {
        let (nanos, rest) = bytes.split_first_chunk::<8>()?;
        let values = rest.as_chunks::<4>().0.iter().map(|word| u32::from_ne_bytes(*word)).collect();
        Some(Self { nanos: u64::from_ne_bytes(*nanos), values })
    }
}

/// The rule at work.
pub struct Undo {
    undos: RingBuf<MapData>,
    switch: Array<MapData, u64>,
    _congestion_control: CongestionControl,
    _programs: Ebpf,
}

impl Undo {
    /// Registers the congestion control, and puts new connections under it.
    ///
    /// # Errors
    /// If rights are missing, the kernel lacks something, or refuses the programs.
    pub fn new(settings: &Settings) -> Result<Self, Error> {
        let programs = compiled(PROGRAMS)?;
        let btf = kernel_types()?;
        let types = Types::of_this_kernel()?;
        let name = congestion_control_name();
        let rule = settings.rule as u32;
        let epoch = u32::from(settings.restores_epoch);
        let (family, prefix, mask) = settings.to.map_or((0, [0; 4], [0; 4]), Prefix::words);
        let mut loader = EbpfLoader::new();
        loader
            .btf(Some(&btf))
            .override_global("only_cookie", &settings.cookie, true)
            .override_global("rule", &rule, true)
            .override_global("restores_epoch", &epoch, true)
            .override_global("family", &family, true)
            .override_global("prefix", &prefix, true)
            .override_global("mask", &mask, true)
            .override_global("name", &name, true);
        let mut loaded = loader.load(programs).map_err(Error::of("load the BPF programs"))?;
        let maps: BTreeMap<&str, i32> =
            loaded.maps().filter_map(|(name, map)| Some((name, descriptor(map)?))).collect();
        let congestion_control = CongestionControl::register(programs, &maps, (&btf, &types), name)?;
        choose(&mut loaded)?;
        let mut map = |name: &str| {
            loaded.take_map(name).ok_or_else(|| Error::new(format!("use the map {name}"), "it is missing"))
        };
        let undos = RingBuf::try_from(map("undos")?).map_err(Error::of("use the map undos"))?;
        let switch = Array::try_from(map(SWITCH)?).map_err(Error::of("use the map eifel_undo"))?;
        Ok(Self { undos, switch, _congestion_control: congestion_control, _programs: loaded })
    }

    /// Returns the next undo that was not yet returned.
    pub fn poll(&mut self) -> Option<Undone> {
        self.undos.next().and_then(|bytes| Undone::read(&bytes))
    }

    /// Returns how many connections came under the rule.
    pub fn connections(&self) -> u64 {
        self.switch.get(&1, 0).unwrap_or(0)
    }
}

/// Switches the rules of all processes on or off. While they are off, each undo is the kernel's own, and
/// no new connection comes under a rule. Returns how many there are.
///
/// # Errors
/// If rights are missing.
pub fn switch(on: bool) -> Result<usize, Error> {
    let mut found = 0;
    let failed = |error: MapError| Error::of("switch the rule")(error);
    for map in loaded_maps() {
        let map = map.map_err(failed)?;
        if map.name_as_str() == Some(SWITCH) {
            // It may have ended meanwhile.
            let Ok(own) = MapData::from_id(map.id()) else { continue };
            let mut array: Array<MapData, u64> = Map::from_map_data(own).and_then(Array::try_from).map_err(failed)?;
            array.set(0, u64::from(!on), 0).map_err(failed)?;
            found += 1;
        }
    }
    Ok(found)
}

/// Returns a name that no other process has: the kernel has one list for all namespaces, of processes too.
/// So it is the microsecond at which it is made, of those of twelve days.
fn congestion_control_name() -> [u8; 16] {
    let now = clock_gettime(ClockId::Monotonic);
    let micros = now.tv_sec as u64 * 1_000_000 + now.tv_nsec as u64 / 1000;
    let text = format!("eifel{:010x}", micros & ((1 << 40) - 1));
    let mut name = [0; 16];
    name[..text.len()].copy_from_slice(text.as_bytes());
    name
}

fn descriptor(map: &Map) -> Option<i32> {
    match map {
        Map::Array(map) | Map::RingBuf(map) | Map::SkStorage(map) => Some(map.fd().as_fd().as_raw_fd()),
        _ => None,
    }
}

/// Attaches the program that chooses connections to all control groups.
fn choose(programs: &mut Ebpf) -> Result<(), Error> {
    const TRIED: &str = "attach to the control groups";
    let group = root_group().map_err(Error::of("open the root of the control groups (cgroup2)"))?;
    let program = programs.program_mut("chooses").ok_or_else(|| Error::new(TRIED, "the program is missing"))?;
    let program: &mut SockOps = program.try_into().map_err(Error::of(TRIED))?;
    program.load().map_err(Error::of(TRIED))?;
    // A link lets others attach programs beside it, and takes no flag that says so.
    program.attach(group, CgroupAttachMode::Single).map(drop).map_err(Error::of(TRIED))
}

/// Opens the root of the control groups by a mount of its own, which no path shows and which ends with
/// the descriptor: not every system has it at one place.
fn root_group() -> rustix::io::Result<OwnedFd> {
    let system = fsopen("cgroup2", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(system.as_fd())?;
    fsmount(system.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())
}

#[cfg(test)]
mod tests;
