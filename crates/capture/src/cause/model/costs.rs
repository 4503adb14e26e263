//! The costs of what a model leaves unexplained, in powers of e.

/// The cost of a cause without the evidence that it needs.
pub(super) const WITHOUT_EVIDENCE: f64 = 3.0;
/// The cost of a retransmission that no cause explains.
pub(super) const UNEXPLAINED: f64 = 5.0;
/// The cost of a timeout before which the model would have sent a tail-loss probe.
pub(super) const PROBE_LEFT_OUT: f64 = 1.5;
/// The cost of a timeout for a segment that duplicate ACKs or SACK would have repaired earlier.
pub(super) const REPAIR_LEFT_OUT: f64 = 1.0;
/// The cost of an assumed timeout that the capture does not show.
pub(super) const UNSEEN_TIMEOUT: f64 = 1.5;
/// The cost of a timeout although the sender has sent something shortly before.
pub(super) const ACTIVE: f64 = 2.5;
/// The cost of a repair that left at an unknown time.
pub(super) const UNSEEN_REPAIR: f64 = 0.3;
/// Replaces [`WITHOUT_EVIDENCE`] far from the sender, where some ACKs may be unknown.
pub(super) const UNSEEN_EVIDENCE: f64 = 1.5;
/// The cost of repeating data that SACK has reported, far from a sender whose echoes show that it
/// received later ACKs: the report is lost. A path that has lost n reports loses another one for the
/// (n + 1)th part of it.
pub(super) const UNSEEN_REPORT: f64 = 1.0;
/// The cost of a repeated repair, because ACKs show that the earlier one was lost.
pub(super) const LOST_AGAIN: f64 = 0.5;
/// The cost of new data that leave before go-back-N has repaired all: what a timeout declares lost goes first.
pub(super) const NEW_DATA: f64 = 1.0;
/// The cost of fast recovery behind one segment that left alone after a silence as long as a timeout. A sender that
/// goes on with new data has a window of several.
pub(super) const ONE_SEGMENT: f64 = 1.5;
/// The cost of every cause other than go-back-N while go-back-N goes on.
pub(super) const GOES_ON: f64 = 0.5;
/// The cost of a repair by RACK's timer instead of an ACK.
pub(super) const BY_TIMER: f64 = 0.2;
