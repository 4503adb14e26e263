//! Reads the calls that exist only for associations: socket options and `sctp_sendmsg`.

use crate::error::{Fault, shown};
use crate::parse::call::{Argument, Written};
use crate::script;
use crate::sctp::call::Call;
use eifel_base::time::Duration;

/// Socket options that matter only to an operating system, or change no packet here.
const IGNORED: [&str; 8] = [
    "SCTP_EVENTS",
    "SCTP_EVENT",
    "SCTP_RECVRCVINFO",
    "SCTP_AUTOCLOSE",
    "SCTP_FRAGMENT_INTERLEAVE",
    "SCTP_EXPLICIT_EOR",
    "SCTP_DISABLE_FRAGMENTS",
    "SCTP_MAX_BURST",
];

const OPTIONS: &str = "SCTP_RTOINFO, SCTP_INITMSG, SCTP_ASSOCINFO, SCTP_PEER_ADDR_PARAMS, SCTP_DELAYED_SACK, \
                       SCTP_NODELAY, SCTP_STATUS, or one of TCP's";

/// Reads a call that exists only for associations; `None` for other calls.
pub(crate) fn call(written: &Written<'_>) -> Result<Option<script::Call>, Fault> {
    let socket = || written.socket();
    let call = match (written.name, written.option()) {
        ("sctp_sendmsg", _) => send(written)?,
        ("setsockopt" | "getsockopt", "SCTP_STATUS") => status(&Fields::of(written)?)?,
        ("setsockopt", option) if IGNORED.contains(&option) => {
            return Ok(Some(script::Call::Ignored { socket: socket()? }));
        }
        ("setsockopt", "SCTP_RTOINFO") => {
            let fields = Fields::of(written)?;
            Call::RtoInfo {
                initial: fields.milliseconds("srto_initial")?,
                minimum: fields.milliseconds("srto_min")?,
                maximum: fields.milliseconds("srto_max")?,
            }
        }
        ("setsockopt", "SCTP_INITMSG") => {
            let fields = Fields::of(written)?;
            Call::InitMessage {
                outbound_streams: fields.number("sinit_num_ostreams", u16::MAX.into())?.map(|number| number as u16),
                inbound_streams: fields.number("sinit_max_instreams", u16::MAX.into())?.map(|number| number as u16),
                attempts: fields.number("sinit_max_attempts", 100)?.map(|number| number as u32),
                longest_wait: fields.milliseconds("sinit_max_init_timeo")?,
            }
        }
        ("setsockopt", "SCTP_ASSOCINFO") => {
            let fields = Fields::of(written)?;
            Call::AssociationInfo {
                most_retransmits: fields.number("sasoc_asocmaxrxt", 100)?.map(|number| number as u32),
                cookie_life: fields.milliseconds("sasoc_cookie_life")?,
            }
        }
        ("setsockopt", "SCTP_PEER_ADDR_PARAMS") => peer_parameters(&Fields::of(written)?)?,
        ("setsockopt", "SCTP_DELAYED_SACK" | "SCTP_DELAYED_ACK_TIME") => {
            let fields = Fields::of(written)?;
            Call::DelayedSack {
                delay: fields.milliseconds("sack_delay")?,
                every: fields.number("sack_freq", 1000)?.map(|number| number as u32),
            }
        }
        ("setsockopt", "SCTP_NODELAY") => match written.arguments.get(3) {
            Some(Argument::List(list)) => match list.as_slice() {
                [Argument::Integer(number @ 0..=1)] => Call::NoDelay(*number == 1),
                _ => return Err(written.fault("[0] or [1] for SCTP_NODELAY")),
            },
            _ => return Err(written.fault("[0] or [1] for SCTP_NODELAY")),
        },
        ("setsockopt" | "getsockopt", option) if option.starts_with("SCTP_") => {
            let what = format!("unknown socket option \"{}\"", shown(option));
            return Err(Fault::new(written.place, what, OPTIONS));
        }
        _ => return Ok(None),
    };
    Ok(Some(script::Call::Sctp { socket: socket()?, call }))
}

/// The fields of an option's structure.
struct Fields<'a> {
    written: &'a Written<'a>,
    list: &'a [Argument],
}

impl<'a> Fields<'a> {
    fn of(written: &'a Written<'a>) -> Result<Self, Fault> {
        match written.arguments.get(3) {
            Some(Argument::List(list)) => Ok(Self { written, list }),
            _ => Err(written.fault("{field=value, …} as the fourth argument")),
        }
    }

    fn field(&self, name: &str) -> Option<&'a Argument> {
        self.list.iter().find_map(|argument| match argument {
            Argument::Named(found, value) if found == name => Some(&**value),
            _ => None,
        })
    }

    /// Returns a number; `None` if it is 0, `...` or absent.
    fn number(&self, name: &str, most: u64) -> Result<Option<u64>, Fault> {
        match self.field(name) {
            None | Some(Argument::Open | Argument::Integer(0)) => Ok(None),
            Some(Argument::Integer(number)) => match u64::try_from(*number) {
                Ok(number) if number <= most => Ok(Some(number)),
                _ => Err(self.written.fault(&format!("{name} = 0 to {most}"))),
            },
            Some(_) => Err(self.written.fault(&format!("{name} = 0 to {most}"))),
        }
    }

    /// Returns a time in milliseconds.
    fn milliseconds(&self, name: &str) -> Result<Option<Duration>, Fault> {
        Ok(self.number(name, 3_600_000)?.map(Duration::from_millis))
    }

    /// Returns whether a field of flags contains `flag`.
    fn has(&self, name: &str, flag: &str) -> bool {
        let is = |argument: &Argument| matches!(argument, Argument::Word(word) if word == flag);
        match self.field(name) {
            Some(Argument::List(list)) => list.iter().any(is),
            Some(argument) => is(argument),
            None => false,
        }
    }
}

fn peer_parameters(fields: &Fields<'_>) -> Result<Call, Fault> {
    let heartbeats = if fields.has("spp_flags", "SPP_HB_DISABLE") {
        Some(None)
    } else if fields.has("spp_flags", "SPP_HB_ENABLE") {
        fields.milliseconds("spp_hbinterval")?.map(Some)
    } else {
        None
    };
    Ok(Call::PeerParameters {
        heartbeats,
        demand: fields.has("spp_flags", "SPP_HB_DEMAND"),
        most_retransmits: fields.number("spp_pathmaxrxt", 100)?.map(|number| number as u32),
    })
}

fn status(fields: &Fields<'_>) -> Result<Call, Fault> {
    let streams = |name: &str| Ok(fields.number(name, u16::MAX.into())?.map(|number| number as u16));
    Ok(Call::Status {
        state: match fields.field("sstat_state") {
            Some(Argument::Word(state)) => Some(state.clone()),
            _ => None,
        },
        inbound_streams: streams("sstat_instrms")?,
        outbound_streams: streams("sstat_outstrms")?,
    })
}

/// Reads `sctp_sendmsg(socket, data, count, to, length, ppid, flags, stream, life, context)`.
fn send(written: &Written<'_>) -> Result<Call, Fault> {
    const EXPECTED: &str = "sctp_sendmsg(socket, ..., count, ..., ..., ppid, flags, stream, ..., ...)";
    let number = |index: usize| match written.arguments.get(index) {
        Some(Argument::Integer(number)) => u32::try_from(*number).ok(),
        Some(Argument::List(list)) => match list.as_slice() {
            [Argument::Integer(number)] => u32::try_from(*number).ok(),
            _ => None,
        },
        Some(Argument::Open) => Some(0),
        _ => None,
    };
    let flags = match written.arguments.get(6) {
        Some(Argument::List(list)) => list.as_slice(),
        Some(flag) => core::slice::from_ref(flag),
        None => &[],
    };
    let words =
        || flags.iter().filter_map(|flag| if let Argument::Word(word) = flag { Some(word.as_str()) } else { None });
    let has = |flag: &str| words().any(|word| word == flag);
    let known = ["SCTP_PR_SCTP_NONE", "SCTP_PR_SCTP_TTL"];
    if let Some(policy) = words().find(|word| word.starts_with("SCTP_PR_SCTP_") && !known.contains(word)) {
        let what = format!("{} asks for partial reliability by another rule than a lifetime", shown(policy));
        return Err(Fault::new(
            written.place,
            what,
            "SCTP_PR_SCTP_TTL, SCTP_UNORDERED, SCTP_SACK_IMMEDIATELY, or no flag",
        ));
    }
    let lifetime = match (has("SCTP_PR_SCTP_TTL"), number(8)) {
        (true, None) => return Err(written.fault("with SCTP_PR_SCTP_TTL a lifetime in milliseconds")),
        (true, Some(life)) => Some(Duration::from_millis(life.into())),
        (false, _) => None,
    };
    let stream = number(7).and_then(|stream| u16::try_from(stream).ok());
    match (number(5), stream) {
        (Some(ppid), Some(stream)) => Ok(Call::Send {
            count: written.count()?,
            stream,
            ppid,
            unordered: has("SCTP_UNORDERED"),
            immediate: has("SCTP_SACK_IMMEDIATELY"),
            lifetime,
        }),
        _ => Err(written.fault(EXPECTED)),
    }
}
