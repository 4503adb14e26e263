//! *Alters* every echo: it shows a random number. *Against* the retransmission timer (RFC 7323,
//! section 4) and Eifel detection.

use eifel_packet::segment::Segment;
use eifel_path::stream::Stream;

use super::Lie;

pub(super) struct RandomEcho {
    stream: Stream,
}

impl RandomEcho {
    pub(super) fn new(stream: Stream) -> Self {
        Self { stream }
    }
}

impl Lie for RandomEcho {
    fn observe(&mut self, _: &Segment, _: bool) {}

    fn alter(&mut self, segment: &mut Segment) -> bool {
        if let Some(stamps) = &mut segment.options.timestamps {
            stamps.echo = (self.stream.unit() * 4_294_967_296.0) as u32;
        }
        true
    }
}
