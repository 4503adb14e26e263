//! Logs of QUIC.

use eifel_capture::quic;

/// Any text is read as a log, or refused with a line that names it; no packet is judged that was not declared lost.
///
/// # Panics
/// Where that does not hold.
pub fn qlog(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match quic::analyse(&[("log", text)]) {
        Err(message) => assert!(message.starts_with("log: not qlog") && !message.contains('\n'), "{message}"),
        Ok(found) => {
            let lost: u64 = found.traces.iter().map(|trace| trace.lost).sum();
            assert_eq!(found.packets.len() as u64, lost);
            let of_events: usize = found.events.iter().map(|event| event.lost).sum();
            assert_eq!(of_events, found.packets.len());
            assert!(found.events.iter().all(|event| event.late <= event.lost));
        }
    }
}
