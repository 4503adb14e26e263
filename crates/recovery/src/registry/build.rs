//! From parameters to algorithms.

use super::Parameters;
use crate::recover::Resume;
use crate::recover::course::{Course, Rules};
use crate::recover::on_course::OnCourse;
use crate::{congest, detect, grant, pace, recover, respond, rto};

pub(super) fn detect_none(_: &Parameters) -> Box<dyn detect::Detector> {
    Box::new(detect::none::None)
}

pub(super) fn eifel_bit(_: &Parameters) -> Box<dyn detect::Detector> {
    Box::new(detect::eifel_bit::EifelBit::default())
}

pub(super) fn eifel_timestamps(parameters: &Parameters) -> Box<dyn detect::Detector> {
    use detect::eifel_timestamps::{EifelTimestamps, Proof};
    let proof = parameters.word("proof", &[("older", Proof::Older), ("original", Proof::Original)]);
    Box::new(EifelTimestamps::new(proof))
}

pub(super) fn f_rto(_: &Parameters) -> Box<dyn detect::Detector> {
    Box::new(detect::f_rto::FRto::default())
}

pub(super) fn f_rto_sack(_: &Parameters) -> Box<dyn detect::Detector> {
    Box::new(detect::f_rto_sack::FRtoSack::default())
}

pub(super) fn dsack(_: &Parameters) -> Box<dyn detect::Detector> {
    Box::new(detect::dsack::Dsack::default())
}

pub(super) fn dual_rtt(parameters: &Parameters) -> Box<dyn detect::Detector> {
    use detect::dual_rtt::{DualRtt, Tau, Threshold};
    let fixed = Threshold::Fixed(Tau::thousandths(parameters.integer("tau_thousandths") as u32));
    Box::new(DualRtt::new(parameters.word("tau", &[("model", Threshold::Model), ("fixed", fixed)])))
}

pub(super) fn min_rtt(parameters: &Parameters) -> Box<dyn detect::Detector> {
    use detect::min_rtt::{Limit, MinRtt};
    Box::new(MinRtt::new(parameters.word("limit", &[("minimum", Limit::Minimum), ("half-srtt", Limit::HalfSrtt)])))
}

pub(super) fn respond_none(_: &Parameters) -> Box<dyn respond::Response> {
    Box::new(respond::none::None)
}

pub(super) fn option_1(_: &Parameters) -> Box<dyn respond::Response> {
    Box::new(respond::option_1::Option1)
}

pub(super) fn option_2(_: &Parameters) -> Box<dyn respond::Response> {
    Box::new(respond::option_2::Option2)
}

pub(super) fn option_3(_: &Parameters) -> Box<dyn respond::Response> {
    Box::new(respond::option_3::Option3)
}

pub(super) fn option_4(_: &Parameters) -> Box<dyn respond::Response> {
    Box::new(respond::option_4::Option4)
}

pub(super) fn option_4_ssthresh(_: &Parameters) -> Box<dyn respond::Response> {
    Box::new(respond::option_4_ssthresh::Option4Ssthresh)
}

pub(super) fn by_retransmissions(_: &Parameters) -> Box<dyn respond::Response> {
    Box::new(respond::by_retransmissions::ByRetransmissions)
}

pub(super) fn rfc4015(_: &Parameters) -> Box<dyn respond::Response> {
    Box::new(respond::rfc4015::Rfc4015)
}

pub(super) fn rfc3708(_: &Parameters) -> Box<dyn respond::Response> {
    Box::new(respond::rfc3708::Rfc3708)
}

pub(super) fn partial_credit(_: &Parameters) -> Box<dyn respond::Response> {
    Box::new(respond::partial_credit::PartialCredit)
}

pub(super) fn always(_: &Parameters) -> Box<dyn grant::Grant> {
    Box::new(grant::always::Always)
}

pub(super) fn once_a_round_trip(_: &Parameters) -> Box<dyn grant::Grant> {
    Box::new(grant::once_a_round_trip::OnceARoundTrip::default())
}

pub(super) fn rfc6298(parameters: &Parameters) -> Box<dyn rto::Rto> {
    use rto::rfc6298::{Bounds, Ends, Rfc6298};
    let timer = Rfc6298::new(Bounds {
        initial: parameters.duration("initial_ms"),
        minimum: parameters.duration("minimum_ms"),
        maximum: parameters.duration("maximum_ms"),
        granularity: parameters.duration("granularity_ms"),
    });
    Box::new(timer.ending(parameters.word("back_off_ends", &[("sample", Ends::Sample), ("new-data", Ends::NewData)])))
}

pub(super) fn lite(parameters: &Parameters) -> Box<dyn rto::Rto> {
    use rto::lite::{Clock, Lite, Settings};
    Box::new(Lite::new(Settings {
        initial: parameters.duration("initial_ms"),
        maximum: parameters.duration("maximum_ms"),
        granularity: parameters.duration("granularity_ms"),
        clock: parameters
            .word("clock", &[("heartbeat", Clock::Heartbeat), ("exact", Clock::Exact), ("scaled", Clock::Scaled)]),
        timing: timing(parameters),
        restart: restart(parameters),
    }))
}

pub(super) fn eifel(parameters: &Parameters) -> Box<dyn rto::Rto> {
    Box::new(rto::eifel::Eifel::new(eifel_settings(parameters)))
}

pub(super) fn self_trained(parameters: &Parameters) -> Box<dyn rto::Rto> {
    let k = parameters.integer("k_per_mille");
    Box::new(rto::self_trained::SelfTrained::new(eifel_settings(parameters), k))
}

pub(super) fn linux(parameters: &Parameters) -> Box<dyn rto::Rto> {
    Box::new(rto::linux::Linux::new(rto::Limits {
        initial: parameters.duration("initial_ms"),
        minimum: parameters.duration("minimum_ms"),
        maximum: parameters.duration("maximum_ms"),
    }))
}

pub(super) fn fixed(parameters: &Parameters) -> Box<dyn rto::Rto> {
    Box::new(rto::fixed::Fixed::new(parameters.duration("rto_ms"), parameters.duration("maximum_ms")))
}

fn eifel_settings(parameters: &Parameters) -> rto::eifel::Settings {
    rto::eifel::Settings {
        initial: parameters.duration("initial_ms"),
        maximum: parameters.duration("maximum_ms"),
        granularity: parameters.duration("granularity_ms"),
        m: parameters.integer("m"),
        timing: timing(parameters),
        restart: restart(parameters),
    }
}

fn timing(parameters: &Parameters) -> rto::Timing {
    use rto::Timing::{Every, EverySecond, OneARoundTrip};
    let words = [("every", Every), ("every-second", EverySecond), ("one-a-round-trip", OneARoundTrip)];
    parameters.word("timing", &words)
}

fn restart(parameters: &Parameters) -> rto::Restart {
    parameters.word("restart", &[("full", rto::Restart::Full), ("age", rto::Restart::Age)])
}

pub(super) fn after_none(_: &Parameters) -> Box<dyn rto::after_spurious::AfterSpurious> {
    Box::new(rto::after_spurious::none::None)
}

pub(super) fn reseed(_: &Parameters) -> Box<dyn rto::after_spurious::AfterSpurious> {
    Box::new(rto::after_spurious::reseed::Reseed)
}

pub(super) fn back_off(_: &Parameters) -> Box<dyn rto::after_spurious::AfterSpurious> {
    Box::new(rto::after_spurious::back_off::BackOff)
}

pub(super) fn min_plus_plus(parameters: &Parameters) -> Box<dyn rto::after_spurious::AfterSpurious> {
    use rto::after_spurious::min_plus_plus::{MinPlusPlus, Per};
    let per = parameters.word("per", &[("verdict", Per::Verdict), ("expiry", Per::Expiry)]);
    Box::new(MinPlusPlus::new(parameters.duration("step_ms"), per))
}

pub(super) fn reno(parameters: &Parameters) -> Box<dyn recover::Recovery> {
    late(parameters, Box::new(OnCourse::new(Course::new(rules(parameters)), recover::reno::Reno)))
}

pub(super) fn newreno(parameters: &Parameters) -> Box<dyn recover::Recovery> {
    late(parameters, Box::new(OnCourse::new(Course::new(rules(parameters)), recover::newreno::NewReno::default())))
}

pub(super) fn reno_sack(parameters: &Parameters) -> Box<dyn recover::Recovery> {
    Box::new(OnCourse::new(Course::new(rules(parameters)), recover::reno_sack::RenoSack::default()))
}

pub(super) fn newreno_sack(parameters: &Parameters) -> Box<dyn recover::Recovery> {
    use recover::newreno_sack::{NewRenoSack, Restarts, When};
    let when = parameters.word("when", &[("always", When::Always), ("after-spurious", When::AfterSpurious)]);
    let restarts =
        parameters.word("timer_restarts_on_partial", &[("every", Restarts::Every), ("first", Restarts::First)]);
    Box::new(OnCourse::new(Course::new(rules(parameters)), NewRenoSack::new(when, restarts)))
}

pub(super) fn fack(parameters: &Parameters) -> Box<dyn recover::Recovery> {
    Box::new(OnCourse::new(Course::new(rules(parameters)), recover::fack::Fack))
}

pub(super) fn rfc6675(parameters: &Parameters) -> Box<dyn recover::Recovery> {
    let course = Course::by_sack(rules(parameters));
    Box::new(OnCourse::new(course, recover::rfc6675::Rfc6675::new(reduction(parameters))))
}

pub(super) fn congest_reno(parameters: &Parameters) -> Box<dyn congest::Congest> {
    use congest::reno::{HalfOf, Reno, Repeated, Settings};
    Box::new(Reno::new(Settings {
        initial_window: parameters.integer("initial_window_segments"),
        initial_ssthresh: initial_ssthresh(parameters),
        half_of: parameters.word("ssthresh_from", &[("flight", HalfOf::Flight), ("window", HalfOf::Window)]),
        repeated: parameters.word("repeated_timeout", &[("hold", Repeated::Hold), ("reduce", Repeated::Reduce)]),
        grow: grow(parameters),
        restart: after_idle(parameters),
    }))
}

pub(super) fn cubic(parameters: &Parameters) -> Box<dyn congest::Congest> {
    use congest::cubic::{Cubic, FastConvergence, Settings};
    Box::new(Cubic::new(Settings {
        initial_window: parameters.integer("initial_window_segments"),
        initial_ssthresh: initial_ssthresh(parameters),
        fast_convergence: parameters.switch("fast_convergence", FastConvergence::On, FastConvergence::Off),
        grow: grow(parameters),
        restart: after_idle(parameters),
    }))
}

fn initial_ssthresh(parameters: &Parameters) -> Option<u64> {
    let ssthresh = parameters.integer("initial_ssthresh_bytes");
    (ssthresh > 0).then_some(ssthresh)
}

fn grow(parameters: &Parameters) -> congest::Grow {
    use congest::Grow;
    parameters.word("grow", &[("when-limiting", Grow::WhenLimiting), ("always", Grow::Always)])
}

fn after_idle(parameters: &Parameters) -> congest::Restart {
    use congest::Restart;
    parameters.switch("restart_after_idle", Restart::RestartWindow, Restart::Unchanged)
}

pub(super) fn pace_none(_: &Parameters) -> Box<dyn pace::Pace> {
    Box::new(pace::none::None)
}

pub(super) fn burst_limit(parameters: &Parameters) -> Box<dyn pace::Pace> {
    Box::new(pace::burst_limit::BurstLimit::new(parameters.integer("segments") as u32))
}

pub(super) fn pacing(parameters: &Parameters) -> Box<dyn pace::Pace> {
    Box::new(pace::pacing::Pacing::new(gains(parameters)))
}

pub(super) fn burst_pacer(parameters: &Parameters) -> Box<dyn pace::Pace> {
    Box::new(pace::burst_pacer::BurstPacer::new(parameters.integer("segments"), gains(parameters)))
}

fn gains(parameters: &Parameters) -> pace::Gains {
    pace::Gains {
        slow_start_percent: parameters.integer("slow_start_percent"),
        avoidance_percent: parameters.integer("avoidance_percent"),
    }
}

/// What recoveries that only count duplicate ACKs have beside the rules.
fn late(parameters: &Parameters, inner: Box<dyn recover::Recovery>) -> Box<dyn recover::Recovery> {
    if !parameters.switch("suppress_late_fast_retransmit", true, false) {
        return inner;
    }
    let threshold = parameters.integer("duplicate_threshold") as u32;
    Box::new(recover::late_fast_retransmit::LateFastRetransmit::new(inner, threshold))
}

pub(super) fn rack_tlp(parameters: &Parameters) -> Box<dyn recover::Recovery> {
    Box::new(recover::rack_tlp::RackTlp::new(
        rules(parameters),
        reduction(parameters),
        parameters.duration("max_ack_delay_ms"),
    ))
}

fn reduction(parameters: &Parameters) -> recover::prr::Reduction {
    use recover::prr::Reduction;
    parameters.word("reduction", &[("at-once", Reduction::AtOnce), ("prr", Reduction::Proportional)])
}

/// What all recovery algorithms share.
fn rules(parameters: &Parameters) -> Rules {
    Rules {
        duplicate_threshold: parameters.integer("duplicate_threshold") as u32,
        limited_transmit: parameters.switch("limited_transmit", true, false),
        bugfix: parameters.switch("bugfix", true, false),
        below_spurious_point: parameters
            .word("fast_retransmit_below_recovery_point", &[("allowed", true), ("blocked", false)]),
        resume: parameters
            .word("after_spurious_timeout", &[("next-unsent", Resume::NextUnsent), ("go-back-n", Resume::GoBackN)]),
    }
}
