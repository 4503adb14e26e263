//! RFC 9937, section 6.

use crate::sender::{MSS, Sender};

/// The RFC's variables, in bytes.
#[derive(Default)]
pub struct Prr {
    recover_fs: u64,
    prr_delivered: u64,
    prr_out: u64,
    delivered_data: u64,
    advances: bool,
    begins: bool,
    pub cwnd: u64,
}

impl Prr {
    /// Takes an ACK. DeliveredData is the change of SND.UNA and of the SACKed bytes.
    pub fn heard(&mut self, delivered: u64) {
        (self.delivered_data, self.advances, self.begins) = (delivered, false, false);
    }

    /// Records that SND.UNA advances.
    pub fn advances(&mut self) {
        self.advances = true;
    }

    /// Begins recovery after the last ACK was processed (section 6.1).
    pub fn begin(&mut self, sender: &Sender) {
        (self.prr_delivered, self.prr_out, self.begins) = (0, 0, true);
        // Data SACKed before will not be delivered any more. This ACK's deliveries count.
        let sacked: u64 = sender.segments.iter().filter(|segment| segment.sacked).map(|segment| segment.len()).sum();
        self.recover_fs = sender.outstanding() - sacked + self.delivered_data;
    }

    /// Computes cwnd for each ACK that starts fast recovery or comes during it (section 6.2).
    pub fn update(&mut self, sender: &Sender, inflight: u64, further_loss: bool) {
        if self.delivered_data == 0 {
            if self.begins {
                self.cwnd = inflight;
            }
            return;
        }
        self.prr_delivered += self.delivered_data;
        let safe_ack = self.advances && !further_loss && !self.begins;
        let ssthresh = sender.congest.ssthresh;
        let mut snd_cnt;
        if inflight > ssthresh {
            let out = (u128::from(self.prr_delivered) * u128::from(ssthresh)).div_ceil(self.recover_fs.into()) as u64;
            snd_cnt = out.saturating_sub(self.prr_out);
        } else {
            snd_cnt = self.prr_delivered.saturating_sub(self.prr_out).max(self.delivered_data);
            if safe_ack {
                snd_cnt += MSS;
            }
            snd_cnt = snd_cnt.min(ssthresh - inflight);
        }
        // The sender forces the first retransmission: it is sent regardless of SndCnt.
        self.cwnd = inflight + snd_cnt;
    }

    /// Counts sent bytes (section 6.3).
    pub fn sent(&mut self, bytes: u64) {
        self.prr_out += bytes;
    }
}
