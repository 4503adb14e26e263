//! Reads and writes the parameters of INIT and INIT ACK (RFC 9260, sections 3.3.2, 3.3.3 and 5.1).

use core::net::IpAddr;

use eifel_packet::sctp::{Cause, Init, Parameter, Parameters, extension};
use eifel_packet::seq::Seq;

use crate::settings::{Settings, TimestampChunk};

/// The smallest receive buffer that may be advertised, in bytes.
const LEAST_A_RWND: u32 = 1500;

/// Extensions of RFC 9260: those that the peer offers, or those that both ends agreed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Extensions {
    /// FORWARD TSN (RFC 3758).
    pub(crate) forward_tsn: bool,
    /// The timestamp chunk.
    pub(crate) timestamps: bool,
    pub(crate) retransmit_bit: bool,
}

impl Extensions {
    pub(crate) const fn to_byte(self) -> u8 {
        self.forward_tsn as u8 | (self.timestamps as u8) << 1 | (self.retransmit_bit as u8) << 2
    }

    pub(crate) const fn from_byte(byte: u8) -> Self {
        Self { forward_tsn: byte & 1 != 0, timestamps: byte & 2 != 0, retransmit_bit: byte & 4 != 0 }
    }

    /// Returns the extensions that both ends want.
    pub(crate) fn agreed(self, settings: &Settings) -> Self {
        Self {
            forward_tsn: self.forward_tsn && settings.forward_tsn,
            timestamps: self.timestamps && settings.timestamp_chunk != TimestampChunk::Off,
            retransmit_bit: self.retransmit_bit && settings.retransmit_bit,
        }
    }
}

/// The contents of a peer's INIT or INIT ACK.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Offer {
    pub(crate) tag: u32,
    pub(crate) a_rwnd: u32,
    pub(crate) outbound_streams: u16,
    pub(crate) inbound_streams: u16,
    pub(crate) initial_tsn: Seq,
    pub(crate) extensions: Extensions,
    /// The source of the packet, then the listed addresses. Without duplicates.
    pub(crate) addresses: Vec<IpAddr>,
    pub(crate) cookie: Option<Vec<u8>>,
    /// Milliseconds by which the peer wants the cookie's lifetime extended.
    pub(crate) preservative_ms: u32,
    /// Unknown parameters to report, each whole and without padding.
    pub(crate) unrecognized: Vec<Vec<u8>>,
}

/// Why an INIT or INIT ACK is rejected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// No answer, because the tag is 0.
    Silently,
    /// Answered with an ABORT with these causes.
    Abort(Vec<u8>),
}

impl Refusal {
    fn because(cause: Cause<'_>) -> Self {
        let mut out = Vec::new();
        cause.emit(&mut out);
        Self::Abort(out)
    }
}

/// Reads an INIT or INIT ACK that came from `source`.
pub(crate) fn read(init: &Init<'_>, source: IpAddr) -> Result<Offer, Refusal> {
    if init.initiate_tag == 0 {
        return Err(Refusal::Silently);
    }
    if init.a_rwnd < LEAST_A_RWND || init.outbound_streams == 0 || init.inbound_streams == 0 {
        return Err(Refusal::because(Cause::InvalidMandatoryParameter));
    }
    let mut offer = Offer {
        tag: init.initiate_tag,
        a_rwnd: init.a_rwnd,
        outbound_streams: init.outbound_streams,
        inbound_streams: init.inbound_streams,
        initial_tsn: init.initial_tsn,
        extensions: Extensions::default(),
        addresses: vec![source],
        cookie: None,
        preservative_ms: 0,
        unrecognized: Vec::new(),
    };
    for parameter in init.parameters.iter() {
        let Ok(parameter) = parameter else {
            return Err(Refusal::because(Cause::ProtocolViolation(b"malformed parameter")));
        };
        match parameter {
            Parameter::Ipv4(address) => add(&mut offer.addresses, address.into()),
            Parameter::Ipv6(address) => add(&mut offer.addresses, address.into()),
            Parameter::Cookie(cookie) => offer.cookie = Some(cookie.to_vec()),
            Parameter::CookiePreservative(ms) => offer.preservative_ms = ms,
            // [rfc8540:3.41]
            Parameter::HostName(name) => return Err(Refusal::because(Cause::UnresolvableAddress(name))),
            Parameter::ForwardTsnSupported => offer.extensions.forward_tsn = true,
            Parameter::Unknown { bytes, .. } => {
                let unaware = parameter.unaware().expect("it is unknown");
                if unaware.reports() {
                    offer.unrecognized.push(bytes.to_vec());
                }
                if !unaware.goes_on() {
                    break;
                }
            }
            Parameter::SupportedExtensions(types) => {
                offer.extensions.timestamps = types.contains(&extension::TIMESTAMP);
            }
            Parameter::RetransmitBit => offer.extensions.retransmit_bit = true,
            // Supported address types state a preference of the peer, and reject nothing
            // [rfc8540:3.42].
            Parameter::HeartbeatInfo(_)
            | Parameter::Unrecognized(_)
            | Parameter::SupportedAddressTypes(_)
            | Parameter::EcnCapable => {}
        }
    }
    Ok(offer)
}

/// Maximum number of addresses kept of a peer. More would only cost memory and HEARTBEATs.
const MOST_ADDRESSES: usize = 16;

/// Returns whether an address can belong to an end.
pub(crate) fn is_unicast(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !address.is_broadcast() && !address.is_multicast() && !address.is_unspecified(),
        IpAddr::V6(address) => !address.is_multicast() && !address.is_unspecified(),
    }
}

fn add(addresses: &mut Vec<IpAddr>, address: IpAddr) {
    if is_unicast(&address) && !addresses.contains(&address) && addresses.len() < MOST_ADDRESSES {
        addresses.push(address);
    }
}

/// Returns the parameters common to this end's INIT and INIT ACK.
pub(crate) fn parameters(settings: &Settings) -> Vec<u8> {
    let mut out = Vec::new();
    // A single address is the packet's source, which a NAT on the path may change.
    if settings.addresses.len() > 1 {
        for address in &settings.addresses {
            match address {
                IpAddr::V4(address) => Parameter::Ipv4(*address).emit(&mut out),
                IpAddr::V6(address) => Parameter::Ipv6(*address).emit(&mut out),
            }
        }
    }
    if settings.forward_tsn {
        Parameter::ForwardTsnSupported.emit(&mut out);
    }
    if settings.timestamp_chunk != TimestampChunk::Off {
        let all = [extension::TIMESTAMP, extension::FORWARD_TSN];
        Parameter::SupportedExtensions(if settings.forward_tsn { &all } else { &all[..1] }).emit(&mut out);
    }
    if settings.retransmit_bit {
        Parameter::RetransmitBit.emit(&mut out);
    }
    out
}

/// Makes this end's INIT ACK. It asks for no more streams than the peer accepts (section 5.1.1).
pub(crate) fn init_ack<'a>(
    settings: &Settings,
    tag: u32,
    initial_tsn: Seq,
    offer: &Offer,
    parameters: &'a [u8],
) -> Init<'a> {
    let init = init(settings, tag, initial_tsn, parameters);
    Init { outbound_streams: init.outbound_streams.min(offer.inbound_streams), ..init }
}

/// Makes this end's INIT.
pub(crate) fn init<'a>(settings: &Settings, tag: u32, initial_tsn: Seq, parameters: &'a [u8]) -> Init<'a> {
    Init {
        initiate_tag: tag,
        a_rwnd: settings.receive_buffer,
        outbound_streams: settings.outbound_streams,
        inbound_streams: settings.inbound_streams,
        initial_tsn,
        parameters: Parameters(parameters),
    }
}
