//! QUIC logs, and records of other transports.

use eifel_capture::quic;

/// Reads any text as a log, or refuses it in one line that names the log. Judges only packets that
/// were declared lost.
///
/// # Panics
/// If an invariant does not hold.
pub fn qlog(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match quic::analyse(&[("log", text)]) {
        Err(message) => assert!(message.starts_with("log: ") && !message.contains('\n'), "{message}"),
        Ok(found) => {
            let named: u64 = found.traces.iter().map(|trace| trace.lost - trace.unnamed).sum();
            assert_eq!(found.packets.len() as u64, named);
            let in_events = found.packets.iter().filter(|packet| packet.event.is_some()).count() as u64;
            let of_events: u64 = found.events.iter().map(|event| event.lost as u64 - event.unnamed).sum();
            assert_eq!(of_events, in_events);
            assert!(found.events.iter().all(|event| event.late <= event.lost));
        }
    }
}
