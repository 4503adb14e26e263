//! The attacks, one per file.

use crate::Attack;

mod e1_forged_echo;
mod e2_forged_dsack;
mod e3_forged_mark;
mod e4_f_rto;
mod e5_round_trips;
mod e6_random_echo;
mod e7_undo_burst;
mod s1_chunk_storm;
mod s2_forged_gaps;
mod s3_init_flood;
mod s4_cookies;
mod s5_blind_abort;
mod s6_spoofed_addresses;
mod s7_duplicate_flood;
mod s8_overgrowth;
mod s9_forged_evidence;
mod t01_blind_rst;
mod t02_blind_syn;
mod t03_blind_data;
mod t04_challenge_side_channel;
mod t05_paws_poisoning;
mod t06_ack_division;
mod t07_dup_ack_spoofing;
mod t08_optimistic_ack;
mod t09_sack_reneging;
mod t10_lying_sack;
pub(crate) mod t11_sack_cost;
mod t12_gap_cost;
mod t13_syn_flood;
mod t14_zero_window;
mod t15_overlap;
mod t16_icmp;
mod t17_wrap;

/// All attacks: those against detection and response, those against an association, and those against TCP.
pub(crate) const ALL: &[Attack] = &[
    e1_forged_echo::ATTACK,
    e2_forged_dsack::ATTACK,
    e3_forged_mark::ATTACK,
    e4_f_rto::ATTACK,
    e5_round_trips::ATTACK,
    e6_random_echo::ATTACK,
    e7_undo_burst::ATTACK,
    s1_chunk_storm::ATTACK,
    s2_forged_gaps::ATTACK,
    s3_init_flood::ATTACK,
    s4_cookies::ATTACK,
    s5_blind_abort::ATTACK,
    s6_spoofed_addresses::ATTACK,
    s7_duplicate_flood::ATTACK,
    s8_overgrowth::ATTACK,
    s9_forged_evidence::ATTACK,
    t01_blind_rst::ATTACK,
    t02_blind_syn::ATTACK,
    t03_blind_data::ATTACK,
    t04_challenge_side_channel::ATTACK,
    t05_paws_poisoning::ATTACK,
    t06_ack_division::ATTACK,
    t07_dup_ack_spoofing::ATTACK,
    t08_optimistic_ack::ATTACK,
    t09_sack_reneging::ATTACK,
    t10_lying_sack::ATTACK,
    t11_sack_cost::ATTACK,
    t12_gap_cost::ATTACK,
    t13_syn_flood::ATTACK,
    t14_zero_window::ATTACK,
    t15_overlap::ATTACK,
    t16_icmp::ATTACK,
    t17_wrap::ATTACK,
];
