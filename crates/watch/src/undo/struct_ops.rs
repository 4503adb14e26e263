//! A congestion control in BPF: its programs, the structure that names them, and its registration, which
//! lasts as long as a descriptor. The loader library knows no programs of this kind.

#![expect(unsafe_code, reason = "no safe crate makes the calls by which the kernel takes a congestion control")]

use crate::btf::Types;
use crate::error::{Error, in_one_line};
use aya::Btf;
use aya_obj::Object;
use aya_obj::generated::{bpf_attach_type, bpf_attr, bpf_cmd, bpf_insn, bpf_map_type, bpf_prog_type};
use std::collections::BTreeMap;
use std::ffi::c_char;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// The kernel's structure of a congestion control. Its members and our programs have equal names.
const OPERATIONS: &str = "tcp_congestion_ops";
/// The value of a map that holds it.
const VALUE: &str = "bpf_struct_ops_tcp_congestion_ops";
const PROGRAMS: [&str; 7] = ["init", "ssthresh", "undo_cwnd", "cong_avoid", "set_state", "cwnd_event", "pkts_acked"];

/// The kernel's functions that the programs call, in the order of `KERNEL_FUNCTION` in `bpf/undo.bpf.c`.
const FUNCTIONS: [&str; 7] = [
    "cubictcp_init",
    "cubictcp_recalc_ssthresh",
    "cubictcp_cong_avoid",
    "cubictcp_state",
    "cubictcp_cwnd_event",
    "cubictcp_acked",
    "tcp_reno_undo_cwnd",
];
const FIRST_FUNCTION: i32 = 0x7f00_0000;

/// `BPF_JMP | BPF_CALL`, and the source register that stands for a function of the kernel.
const CALL: u8 = 0x85;
const OF_THE_KERNEL: u8 = 2;
/// `BPF_F_LINK`: registered as long as its link, not as long as its map.
const BY_LINK: u32 = 1 << 13;
/// `TCP_CONG_NON_RESTRICTED`.
const NON_RESTRICTED: u32 = 1;
/// Bytes for the verifier's reason.
const REASON: usize = 1 << 20;

/// A registered congestion control.
pub(super) struct CongestionControl {
    _map: OwnedFd,
    _link: OwnedFd,
}

impl CongestionControl {
    /// Loads the programs of `object`, which use these maps, and registers them under `name`.
    pub fn register(
        object: &[u8],
        maps: &BTreeMap<&str, i32>,
        (btf, types): (&Btf, &Types),
        name: [u8; 16],
    ) -> Result<Self, Error> {
        let (programs, own_types) =
            relocated(object, maps, btf).map_err(|cause| Error::new("load the BPF programs", cause))?;
        let functions = FUNCTIONS.iter().map(|name| types.function(name)).collect::<Result<Vec<u32>, _>>()?;
        let (operations, _) = types.structure(OPERATIONS)?;
        let (value_type, size) = types.structure(VALUE)?;
        let data = types.member(VALUE, "data")?.offset;
        let mut value = vec![0; size];
        let mut put = |member: &str, bytes: &[u8]| -> Result<(), Error> {
            let at = data + types.member(OPERATIONS, member)?.offset;
            let room = value.get_mut(at..at + bytes.len());
            room.ok_or_else(|| Error::new(format!("find {OPERATIONS}.{member}"), "it is beyond the end"))?
                .copy_from_slice(bytes);
            Ok(())
        };
        let mut loaded = Vec::new();
        for (name, mut code) in programs {
            call_kernel(&mut code, &functions);
            let index = types.member(OPERATIONS, name)?.index;
            let program = load(name, &code, (operations, index))?;
            put(name, &(program.as_raw_fd() as u64).to_ne_bytes())?;
            loaded.push(program);
        }
        put("name", &name)?;
        put("flags", &NON_RESTRICTED.to_ne_bytes())?;
        let map = create(value_type, size, &load_types(&own_types)?)?;
        update(&map, &value)?;
        let link = link(&map)?;
        Ok(Self { _map: map, _link: link })
    }
}

/// Programs by their names.
type Programs = Vec<(&'static str, Vec<bpf_insn>)>;

/// Returns the programs, with the running kernel's offsets and these maps, and the types of their object.
fn relocated(object: &[u8], maps: &BTreeMap<&str, i32>, btf: &Btf) -> Result<(Programs, Vec<u8>), String> {
    let mut object = Object::parse(object).map_err(|error| in_one_line(&error))?;
    let features = aya::features().btf().ok_or("the kernel takes no types (BTF)")?;
    let types = object.fixup_and_sanitize_btf(features).map_err(|error| in_one_line(&error))?;
    let types = types.map(Btf::to_bytes).ok_or("the object has no types (BTF)")?;
    object.relocate_btf(btf).map_err(|error| in_one_line(&error))?;
    let text = object.functions.keys().map(|(section, _)| *section).collect();
    let own = std::mem::take(&mut object.maps);
    let placed = own.iter().filter_map(|(name, map)| Some((name.as_str(), *maps.get(name.as_str())?, map)));
    object.relocate_maps(placed, &text).map_err(|error| in_one_line(&error))?;
    object.relocate_calls(&text).map_err(|error| in_one_line(&error))?;
    let program = |&name: &&'static str| {
        let function = object.programs.get(name).and_then(|program| object.functions.get(&program.function_key()));
        Ok((name, function.ok_or_else(|| format!("{name}: no such program"))?.instructions.clone()))
    };
    Ok((PROGRAMS.iter().map(program).collect::<Result<_, String>>()?, types))
}

/// Makes calls of [`FUNCTIONS`] calls of the kernel.
fn call_kernel(code: &mut [bpf_insn], functions: &[u32]) {
    for instruction in code {
        let number = instruction.imm.wrapping_sub(FIRST_FUNCTION);
        let function = usize::try_from(number).ok().and_then(|number| functions.get(number));
        if let (CALL, 0, Some(&function)) = (instruction.code, instruction.src_reg(), function) {
            instruction.set_src_reg(OF_THE_KERNEL);
            instruction.imm = function as i32;
        }
    }
}

fn load(name: &str, code: &[bpf_insn], (operations, index): (u32, u32)) -> Result<OwnedFd, Error> {
    const LICENCE: &std::ffi::CStr = c"Dual MIT/GPL";
    let mut reason = vec![0_u8; REASON];
    let tried = |reason: &mut [u8]| {
        // SAFETY: zeros are a valid request, and the fields are those of a program's.
        let mut request: bpf_attr = unsafe { zeroed() };
        // SAFETY: the fields are numbers, whatever the others of the union.
        let of = unsafe { &mut request.__bindgen_anon_3 };
        of.prog_type = bpf_prog_type::BPF_PROG_TYPE_STRUCT_OPS as u32;
        of.insns = code.as_ptr() as u64;
        of.insn_cnt = code.len() as u32;
        of.license = LICENCE.as_ptr() as u64;
        of.attach_btf_id = operations;
        of.expected_attach_type = index;
        if !reason.is_empty() {
            (of.log_level, of.log_size, of.log_buf) = (1, reason.len() as u32, reason.as_mut_ptr() as u64);
        }
        for (to, from) in of.prog_name.iter_mut().zip(name.bytes()) {
            *to = from as c_char;
        }
        call(bpf_cmd::BPF_PROG_LOAD, &mut request)
    };
    tried(&mut []).or_else(|_| tried(&mut reason)).map_err(|error| {
        let text = String::from_utf8_lossy(&reason);
        // The last line but the statistics is the verifier's reason.
        let line = text.trim_end_matches('\0').lines().rev().find(|line| !line.starts_with("processed "));
        let cause = line.filter(|line| !line.is_empty()).map_or(error.to_string(), |line| format!("{error}: {line}"));
        Error { is_denied: is_denied(&error), ..Error::new(format!("load the BPF program {name}"), cause) }
    })
}

fn load_types(types: &[u8]) -> Result<OwnedFd, Error> {
    // SAFETY: zeros are a valid request.
    let mut request: bpf_attr = unsafe { zeroed() };
    // SAFETY: the fields are numbers, whatever the others of the union.
    let of = unsafe { &mut request.__bindgen_anon_7 };
    (of.btf, of.btf_size) = (types.as_ptr() as u64, types.len() as u32);
    call(bpf_cmd::BPF_BTF_LOAD, &mut request).map_err(failed("load the types of the BPF programs"))
}

/// Makes the map that holds the congestion control. The kernel wants the types of the programs with it.
fn create(value_type: u32, size: usize, types: &OwnedFd) -> Result<OwnedFd, Error> {
    // SAFETY: zeros are a valid request.
    let mut request: bpf_attr = unsafe { zeroed() };
    // SAFETY: the fields are numbers, whatever the others of the union.
    let of = unsafe { &mut request.__bindgen_anon_1 };
    of.map_type = bpf_map_type::BPF_MAP_TYPE_STRUCT_OPS as u32;
    of.key_size = size_of::<u32>() as u32;
    of.value_size = size as u32;
    of.max_entries = 1;
    of.map_flags = BY_LINK;
    of.btf_fd = types.as_raw_fd() as u32;
    of.btf_vmlinux_value_type_id = value_type;
    call(bpf_cmd::BPF_MAP_CREATE, &mut request).map_err(failed("make the congestion control"))
}

fn update(map: &OwnedFd, value: &[u8]) -> Result<(), Error> {
    let key = 0_u32;
    // SAFETY: zeros are a valid request.
    let mut request: bpf_attr = unsafe { zeroed() };
    // SAFETY: the fields are numbers, whatever the others of the union.
    let of = unsafe { &mut request.__bindgen_anon_2 };
    of.map_fd = map.as_raw_fd() as u32;
    of.key = (&raw const key) as u64;
    of.__bindgen_anon_1.value = value.as_ptr() as u64;
    request_only(bpf_cmd::BPF_MAP_UPDATE_ELEM, &mut request).map(drop).map_err(failed("fill the congestion control"))
}

fn link(map: &OwnedFd) -> Result<OwnedFd, Error> {
    // SAFETY: zeros are a valid request.
    let mut request: bpf_attr = unsafe { zeroed() };
    // SAFETY: the fields are numbers, whatever the others of the union.
    let of = unsafe { &mut request.link_create };
    of.__bindgen_anon_1.map_fd = map.as_raw_fd() as u32;
    of.attach_type = bpf_attach_type::BPF_STRUCT_OPS as u32;
    call(bpf_cmd::BPF_LINK_CREATE, &mut request).map_err(failed("register the congestion control"))
}

/// Makes a call that returns a descriptor.
fn call(command: bpf_cmd, request: &mut bpf_attr) -> io::Result<OwnedFd> {
    let descriptor = request_only(command, request)?;
    // SAFETY: a new descriptor that nothing else has.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

fn request_only(command: bpf_cmd, request: &mut bpf_attr) -> io::Result<i32> {
    let size = size_of::<bpf_attr>();
    // SAFETY: the request lives through the call, and so does the memory that its callers put into it.
    let done = unsafe { libc::syscall(libc::SYS_bpf, command as libc::c_int, (&raw mut *request), size) };
    i32::try_from(done).ok().filter(|done| *done >= 0).ok_or_else(io::Error::last_os_error)
}

fn failed(tried: &str) -> impl FnOnce(io::Error) -> Error {
    let tried = tried.to_owned();
    move |error| Error { is_denied: is_denied(&error), ..Error::new(tried, error.to_string()) }
}

fn is_denied(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

/// Returns the kernel's number for the network namespace of the calling thread.
pub(super) fn cookie() -> Result<u64, Error> {
    use rustix::net::{AddressFamily, SocketType, socket};
    const TRIED: &str = "ask for the number of the network namespace";
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None).map_err(Error::of(TRIED))?;
    let (mut cookie, mut size) = (0_u64, size_of::<u64>() as libc::socklen_t);
    // SAFETY: the option writes eight bytes to a number that lives through the call.
    let got = unsafe {
        let to = (&raw mut cookie).cast();
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, SO_NETNS_COOKIE, to, &raw mut size)
    };
    if got == 0 { Ok(cookie) } else { Err(failed(TRIED)(io::Error::last_os_error())) }
}

/// Since Linux 5.14.
const SO_NETNS_COOKIE: libc::c_int = 71;
