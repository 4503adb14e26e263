//! Capture files and their analysis.

use eifel_capture::analysis::Analyzer;
use eifel_capture::frame::read::Reader;

/// Reads any bytes as a capture, up to the first invalid one, and analyses it. Each finding about a
/// retransmission names frames that exist.
///
/// # Panics
/// If an invariant does not hold.
pub fn analysis(data: &[u8]) {
    let (mut reader, mut analyzer) = (Reader::new(), Analyzer::default());
    reader.feed(data);
    while let Ok(Some(frame)) = reader.frame() {
        analyzer.frame(&frame);
    }
    let found = analyzer.finish();
    assert_eq!(found.frames, reader.frames());
    for one in &found.retransmissions {
        assert!((1..=found.frames).contains(&one.frame) && one.copy >= 2);
        assert!(one.evidence_frame.is_none_or(|frame| (1..=found.frames).contains(&frame)));
    }
}
