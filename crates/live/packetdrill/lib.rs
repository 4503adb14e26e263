//! packetdrill's `--so_filename` plugin: the calls of a script go to an eifel host instead of the
//! kernel.
//!
//! ```sh
//! cargo build --release -p eifel-live --example packetdrill
//! packetdrill --so_filename=target/release/examples/libpacketdrill.so \
//!     --so_flags=local=192.168.0.1,script=SCRIPT.pkt --local_ip=192.168.0.1 SCRIPT.pkt
//! ```
//!
//! packetdrill looks up `packetdrill_interface_init`, which fills a table with socket calls, two
//! calls that carry packets, and two about time. A call that fails returns -1 and sets `errno`, as
//! a system call does. [`calls`] and [`options`] implement the calls, and [`stack`] carries packets.
//! This file has only their C forms.
//!
//! Flags, separated by commas: `local=ADDRESS` is the host's address, at most one each of IPv4 and
//! IPv6. `like=SCENARIO.toml` takes the settings of that scenario's first flow over TCP.
//! `script=FILE.pkt` takes a script's own settings, which are comments to packetdrill, and
//! `profile=NAME` adds those of a stack.
#![deny(unsafe_op_in_unsafe_fn)]

mod addresses;
mod calls;
mod flags;
mod inside;
mod options;
mod stack;

use libc::{
    c_char, c_int, c_long, c_uint, c_ulong, c_void, iovec, msghdr, pollfd, size_t, sockaddr, socklen_t, ssize_t,
};
use libc::{timeval, useconds_t};
use stack::{Errno, Stack};
use std::ffi::CStr;
use std::time::Duration;

/// A descriptor of a stack.
type Fd = c_int;
/// The first argument of every call: the stack.
type User = *mut c_void;

/// packetdrill's table, member by member. C's header fixes its 33 members. Their order is the
/// interface, so they cannot be grouped.
#[repr(C)]
pub struct Interface {
    userdata: User,
    free: extern "C" fn(User),
    socket: extern "C" fn(User, c_int, c_int, c_int) -> c_int,
    bind: extern "C" fn(User, Fd, *const sockaddr, socklen_t) -> c_int,
    listen: extern "C" fn(User, Fd, c_int) -> c_int,
    accept: extern "C" fn(User, Fd, *mut sockaddr, *mut socklen_t) -> c_int,
    connect: extern "C" fn(User, Fd, *const sockaddr, socklen_t) -> c_int,
    read: extern "C" fn(User, Fd, *mut c_void, size_t) -> ssize_t,
    readv: extern "C" fn(User, Fd, *const iovec, c_int) -> ssize_t,
    recv: extern "C" fn(User, Fd, *mut c_void, size_t, c_int) -> ssize_t,
    recvfrom: extern "C" fn(User, Fd, *mut c_void, size_t, c_int, *mut sockaddr, *mut socklen_t) -> ssize_t,
    recvmsg: extern "C" fn(User, Fd, *mut msghdr, c_int) -> ssize_t,
    write: extern "C" fn(User, Fd, *const c_void, size_t) -> ssize_t,
    writev: extern "C" fn(User, Fd, *const iovec, c_int) -> ssize_t,
    send: extern "C" fn(User, Fd, *const c_void, size_t, c_int) -> ssize_t,
    sendto: extern "C" fn(User, Fd, *const c_void, size_t, c_int, *const sockaddr, socklen_t) -> ssize_t,
    sendmsg: extern "C" fn(User, Fd, *const msghdr, c_int) -> ssize_t,
    // In C these two are variadic, and one further argument is read. On Linux, the calling
    // conventions of x86-64 and of AArch64 pass it like a named argument.
    fcntl: extern "C" fn(User, Fd, c_int, c_long) -> c_int,
    ioctl: extern "C" fn(User, Fd, c_ulong, *mut c_int) -> c_int,
    close: extern "C" fn(User, Fd) -> c_int,
    shutdown: extern "C" fn(User, Fd, c_int) -> c_int,
    getsockopt: extern "C" fn(User, Fd, c_int, c_int, *mut c_void, *mut socklen_t) -> c_int,
    setsockopt: extern "C" fn(User, Fd, c_int, c_int, *const c_void, socklen_t) -> c_int,
    poll: extern "C" fn(User, *mut pollfd, c_ulong, c_int) -> c_int,
    netdev_send: extern "C" fn(User, *const c_void, size_t) -> c_int,
    netdev_receive: extern "C" fn(User, *mut c_void, *mut size_t, *mut i64) -> c_int,
    usleep: extern "C" fn(User, useconds_t) -> c_int,
    gettimeofday: extern "C" fn(User, *mut timeval, *mut c_void) -> c_int,
    epoll_create: extern "C" fn(User, c_int) -> c_int,
    epoll_ctl: extern "C" fn(User, c_int, c_int, c_int, *mut c_void) -> c_int,
    epoll_wait: extern "C" fn(User, c_int, *mut c_void, c_int, c_int) -> c_int,
    pipe: extern "C" fn(User, *mut c_int) -> c_int,
    splice: extern "C" fn(User, c_int, *mut i64, c_int, *mut i64, size_t, c_uint) -> ssize_t,
}

/// Makes a stack, and fills the table with its calls.
///
/// # Safety
/// `flags` is null or a C string, and `interface` is a table that may be written, as in packetdrill's `so_instance_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn packetdrill_interface_init(flags: *const c_char, interface: *mut Interface) {
    // SAFETY: the caller promises that `flags` is null or a C string.
    let flags = if flags.is_null() { c"" } else { unsafe { CStr::from_ptr(flags) } };
    let stack = Stack::begin(&flags.to_string_lossy()).unwrap_or_else(|what| {
        eprintln!("--so_flags: {what}");
        std::process::exit(2)
    });
    let table = Interface {
        userdata: Box::into_raw(Box::new(stack)).cast(),
        free,
        socket,
        bind,
        listen,
        accept,
        connect,
        read,
        readv,
        recv,
        recvfrom,
        recvmsg,
        write,
        writev,
        send,
        sendto,
        sendmsg,
        fcntl,
        ioctl,
        close,
        shutdown,
        getsockopt,
        setsockopt,
        poll,
        netdev_send,
        netdev_receive,
        usleep,
        gettimeofday,
        epoll_create,
        epoll_ctl,
        epoll_wait,
        pipe,
        splice,
    };
    // SAFETY: the caller promises that the table may be written.
    unsafe { interface.write(table) };
}

fn stack<'a>(user: User) -> &'a Stack {
    // SAFETY: packetdrill hands back the stack that it was given, which lives until `free`.
    unsafe { &*user.cast::<Stack>() }
}

/// Returns the C result of a call: a number, or -1 with `errno` set.
fn told<T: TryFrom<usize> + From<i8>>(result: Result<usize, Errno>) -> T {
    let failed = |errno: c_int| {
        // SAFETY: `errno` is the calling thread's own.
        unsafe { *libc::__errno_location() = errno };
        T::from(-1)
    };
    match result {
        Ok(number) => T::try_from(number).unwrap_or_else(|_| failed(libc::EOVERFLOW)),
        Err(Errno(errno)) => failed(errno),
    }
}

extern "C" fn free(user: User) {
    // SAFETY: `init` has made the stack, and packetdrill gives it back once.
    drop(unsafe { Box::from_raw(user.cast::<Stack>()) });
}

extern "C" fn socket(user: User, domain: c_int, kind: c_int, _: c_int) -> c_int {
    told(stack(user).socket(domain, kind))
}

extern "C" fn bind(user: User, fd: Fd, address: *const sockaddr, _: socklen_t) -> c_int {
    told(addresses::read(address).and_then(|address| stack(user).bind(fd, address)))
}

extern "C" fn listen(user: User, fd: Fd, backlog: c_int) -> c_int {
    told(stack(user).listen(fd, backlog.max(1) as usize))
}

extern "C" fn accept(user: User, fd: Fd, address: *mut sockaddr, len: *mut socklen_t) -> c_int {
    told(stack(user).accept(fd).map(|(fd, peer, v6)| {
        addresses::write(peer, v6, address, len);
        fd as usize
    }))
}

extern "C" fn connect(user: User, fd: Fd, address: *const sockaddr, _: socklen_t) -> c_int {
    told(addresses::read(address).and_then(|address| stack(user).connect(fd, address)))
}

fn room<'a>(at: *mut c_void, len: size_t) -> &'a mut [u8] {
    // SAFETY: packetdrill's buffers are as long as it says, and nothing else uses them during a
    // call.
    if at.is_null() { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(at.cast(), len) } }
}

fn bytes<'a>(at: *const c_void, len: size_t) -> &'a [u8] {
    // SAFETY: as for `room`.
    if at.is_null() { &[] } else { unsafe { std::slice::from_raw_parts(at.cast(), len) } }
}

fn vectors<'a>(vectors: *const iovec, count: usize) -> &'a [iovec] {
    // SAFETY: as for `room`.
    if vectors.is_null() { &[] } else { unsafe { std::slice::from_raw_parts(vectors, count) } }
}

extern "C" fn read(user: User, fd: Fd, buffer: *mut c_void, len: size_t) -> ssize_t {
    told(stack(user).read(fd, room(buffer, len), 0))
}

extern "C" fn readv(user: User, fd: Fd, pieces: *const iovec, count: c_int) -> ssize_t {
    read_into(user, fd, vectors(pieces, count.max(0) as usize), 0)
}

fn read_into(user: User, fd: Fd, pieces: &[iovec], flags: c_int) -> ssize_t {
    let mut whole = vec![0; pieces.iter().map(|piece| piece.iov_len).sum()];
    let read = stack(user).read(fd, &mut whole, flags);
    let mut rest = &whole[..read.unwrap_or(0)];
    for piece in pieces {
        let (now, later) = rest.split_at(piece.iov_len.min(rest.len()));
        room(piece.iov_base, now.len()).copy_from_slice(now);
        rest = later;
    }
    told(read)
}

extern "C" fn recv(user: User, fd: Fd, buffer: *mut c_void, len: size_t, flags: c_int) -> ssize_t {
    told(stack(user).read(fd, room(buffer, len), flags))
}

extern "C" fn recvfrom(
    user: User,
    fd: Fd,
    buffer: *mut c_void,
    len: size_t,
    flags: c_int,
    _: *mut sockaddr,
    address_len: *mut socklen_t,
) -> ssize_t {
    if !address_len.is_null() {
        // SAFETY: packetdrill's own. TCP gives no address.
        unsafe { address_len.write(0) };
    }
    recv(user, fd, buffer, len, flags)
}

extern "C" fn recvmsg(user: User, fd: Fd, message: *mut msghdr, flags: c_int) -> ssize_t {
    // SAFETY: packetdrill's own header.
    let message = unsafe { &mut *message };
    (message.msg_namelen, message.msg_controllen, message.msg_flags) = (0, 0, 0);
    read_into(user, fd, vectors(message.msg_iov, message.msg_iovlen), flags)
}

extern "C" fn write(user: User, fd: Fd, buffer: *const c_void, len: size_t) -> ssize_t {
    told(stack(user).write(fd, bytes(buffer, len), 0))
}

extern "C" fn writev(user: User, fd: Fd, pieces: *const iovec, count: c_int) -> ssize_t {
    write_from(user, fd, vectors(pieces, count.max(0) as usize), 0)
}

fn write_from(user: User, fd: Fd, pieces: &[iovec], flags: c_int) -> ssize_t {
    let whole: Vec<u8> = pieces.iter().flat_map(|piece| bytes(piece.iov_base, piece.iov_len).iter().copied()).collect();
    told(stack(user).write(fd, &whole, flags))
}

extern "C" fn send(user: User, fd: Fd, buffer: *const c_void, len: size_t, flags: c_int) -> ssize_t {
    told(stack(user).write(fd, bytes(buffer, len), flags))
}

extern "C" fn sendto(
    user: User,
    fd: Fd,
    buffer: *const c_void,
    len: size_t,
    flags: c_int,
    _: *const sockaddr,
    _: socklen_t,
) -> ssize_t {
    send(user, fd, buffer, len, flags)
}

extern "C" fn sendmsg(user: User, fd: Fd, message: *const msghdr, flags: c_int) -> ssize_t {
    // SAFETY: packetdrill's own header.
    let message = unsafe { &*message };
    write_from(user, fd, vectors(message.msg_iov, message.msg_iovlen), flags)
}

extern "C" fn fcntl(user: User, fd: Fd, command: c_int, value: c_long) -> c_int {
    told(stack(user).fcntl(fd, command, value as c_int))
}

extern "C" fn ioctl(user: User, fd: Fd, request: c_ulong, number: *mut c_int) -> c_int {
    told(stack(user).ioctl(fd, request).map(|count| {
        // SAFETY: the requests that are known write an int.
        unsafe { number.write(count) };
        0
    }))
}

extern "C" fn close(user: User, fd: Fd) -> c_int {
    told(stack(user).close(fd))
}

extern "C" fn shutdown(user: User, fd: Fd, how: c_int) -> c_int {
    told(stack(user).shutdown(fd, how))
}

extern "C" fn getsockopt(user: User, fd: Fd, level: c_int, name: c_int, at: *mut c_void, len: *mut socklen_t) -> c_int {
    told(stack(user).option(fd, level, name).map(|value| {
        // SAFETY: the caller's buffer is as long as it says.
        let value = value.to_ne_bytes();
        let count = value.len().min(unsafe { *len } as usize);
        room(at, count).copy_from_slice(&value[..count]);
        // SAFETY: as above.
        unsafe { *len = count as socklen_t };
        0
    }))
}

extern "C" fn setsockopt(user: User, fd: Fd, level: c_int, name: c_int, at: *const c_void, len: socklen_t) -> c_int {
    let (words, _) = bytes(at, len as usize).as_chunks();
    let words: Vec<c_int> = words.iter().map(|word| c_int::from_ne_bytes(*word)).collect();
    told(stack(user).set_option(fd, level, name, &words))
}

extern "C" fn poll(user: User, sets: *mut pollfd, count: c_ulong, timeout_ms: c_int) -> c_int {
    // SAFETY: packetdrill's own array.
    let sets = unsafe { std::slice::from_raw_parts_mut(sets, count as usize) };
    let limit = u64::try_from(timeout_ms).ok().map(Duration::from_millis);
    told(Ok(stack(user).poll(sets, limit)))
}

extern "C" fn netdev_send(user: User, packet: *const c_void, len: size_t) -> c_int {
    told(stack(user).arrives(bytes(packet, len)))
}

extern "C" fn netdev_receive(user: User, buffer: *mut c_void, len: *mut size_t, time_us: *mut i64) -> c_int {
    // packetdrill asks again after a failure, for ever. No bytes end its script.
    let (unix_us, packet) = stack(user).next_packet().unwrap_or_else(|| {
        eprintln!("the packet that the script expects does not leave");
        (stack(user).unix_us(), Vec::new())
    });
    // SAFETY: packetdrill gives the length of its buffer, and room for both numbers.
    unsafe {
        let count = packet.len().min(*len);
        room(buffer, count).copy_from_slice(&packet[..count]);
        *len = count;
        *time_us = unix_us;
    }
    0
}

extern "C" fn usleep(_: User, us: useconds_t) -> c_int {
    std::thread::sleep(Duration::from_micros(us.into()));
    0
}

extern "C" fn gettimeofday(user: User, at: *mut timeval, _: *mut c_void) -> c_int {
    let us = stack(user).unix_us();
    // SAFETY: packetdrill's own.
    unsafe { at.write(timeval { tv_sec: us / 1_000_000, tv_usec: us % 1_000_000 }) };
    0
}

extern "C" fn epoll_create(_: User, _: c_int) -> c_int {
    told(Err(Errno(libc::ENOSYS)))
}

extern "C" fn epoll_ctl(_: User, _: c_int, _: c_int, _: c_int, _: *mut c_void) -> c_int {
    told(Err(Errno(libc::ENOSYS)))
}

extern "C" fn epoll_wait(_: User, _: c_int, _: *mut c_void, _: c_int, _: c_int) -> c_int {
    told(Err(Errno(libc::ENOSYS)))
}

extern "C" fn pipe(_: User, _: *mut c_int) -> c_int {
    told(Err(Errno(libc::ENOSYS)))
}

extern "C" fn splice(_: User, _: c_int, _: *mut i64, _: c_int, _: *mut i64, _: size_t, _: c_uint) -> ssize_t {
    told(Err(Errno(libc::ENOSYS)))
}
