//! Records of transports that number their transmissions, as comma-separated values.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use eifel_capture::quic::{LossVerdict, Losses, LostPacket, analyse, is_log};
use eifel_capture::result::Confidence;

fn judged(text: &str) -> Losses {
    analyse(&[("facts.csv", text)]).unwrap()
}

fn only(losses: &Losses) -> &LostPacket {
    assert_eq!(losses.packets.len(), 1, "{losses:?}");
    &losses.packets[0]
}

fn fault(text: &str) -> String {
    analyse(&[("facts.csv", text)]).unwrap_err()
}

/// Five transmissions, 10 ms apart.
const SENT: &str = "time_s,event,number,bytes,trigger,cwnd,ssthresh,srtt_ms,connection
0.00,sent,0,1000,,,,,
0.01,sent,1,1000,,,,,
0.02,sent,2,1000,,,,,
0.03,sent,3,1000,,,,,
0.04,sent,4,1000,,,,,
";

#[test]
fn a_transmission_acknowledged_after_its_declared_loss_was_spurious() {
    let losses = judged(&format!("{SENT}0.10,lost,1,,timeout,,,,\n0.12,acked,0-2,,,,,,\n"));
    let lost = only(&losses);
    assert_eq!((lost.verdict, lost.confidence), (LossVerdict::Spurious, Confidence::Certain));
    assert_eq!((lost.trigger.as_deref(), lost.bytes, lost.acknowledged_ms), (Some("timeout"), 1000, Some(120.0)));
    assert_eq!((losses.traces[0].vantage.as_deref(), losses.traces[0].sent), (Some("sender"), 5));
}

/// An ACK a round trip after the declaration reports what came before and after it.
#[test]
fn a_transmission_that_a_later_report_leaves_out_was_lost() {
    let told = format!("{SENT}0.05,window,,,,10000,,50,\n0.10,lost,1,,,,,,\n0.30,acked,0 2-4,,,,,,\n");
    let lost = only(&judged(&told)).clone();
    assert_eq!((lost.verdict, lost.confidence), (LossVerdict::Genuine, Confidence::Likely));
    let unsettled = told.replace("0.30,acked", "0.11,acked");
    assert_eq!(only(&judged(&unsettled)).verdict, LossVerdict::Undecidable);
}

#[test]
fn an_acknowledgement_of_one_of_two_transmissions_decides_nothing() {
    let one_of = |numbers: &str| {
        let rows = format!("{SENT}0.10,lost,1,,,,,,\n0.15,sent,5,1000,,,,,\n0.2,acked-one-of,{numbers},,,,,,\n");
        let losses = judged(&format!("{rows}1.0,acked,0 2-4,,,,,,\n"));
        (only(&losses).verdict, only(&losses).reason)
    };
    let reason = "an acknowledgement answers it or another transmission of the same data";
    assert_eq!(one_of("1 5"), (LossVerdict::Undecidable, reason));
    assert_eq!(one_of("1").0, LossVerdict::Spurious);
}

#[test]
fn the_receivers_rows_decide_in_one_file_or_in_two_of_one_connection() {
    let lost = "0.10,lost,1,,,,,,a\n0.10,lost,3,,,,,,a\n";
    let sender = format!("{}{lost}0.20,closed,,,,,,,a\n", SENT.replace(",,,,,\n", ",,,,,a\n"));
    let rows = "7.05,received,0,,,,,,a\n7.12,received,1 2,,,,,,a\n7.13,received,4,,,,,,a\n7.20,closed,,,,,,,a\n";
    let receiver = format!("{}\n{rows}", SENT.lines().next().unwrap());
    let both = analyse(&[("sender.csv", &sender), ("receiver.csv", &receiver)]).unwrap();
    let verdicts = |losses: &Losses| -> Vec<_> {
        losses.packets.iter().map(|lost| (lost.packet_number, lost.verdict, lost.confidence)).collect()
    };
    let expected = [(1, LossVerdict::Spurious, Confidence::Certain), (3, LossVerdict::Genuine, Confidence::Certain)];
    assert_eq!(verdicts(&both), expected);
    assert_eq!(both.traces[0].other_end, Some(1));
    assert_eq!(verdicts(&judged(&format!("{sender}{rows}"))), expected);

    // Files that name no connection are of different ones.
    let unnamed = |text: &str| text.replace(",a\n", ",\n");
    let apart = analyse(&[("sender.csv", &unnamed(&sender)), ("receiver.csv", &unnamed(&receiver))]).unwrap();
    assert_eq!(apart.traces[0].other_end, None);
    assert!(apart.packets.iter().all(|lost| lost.verdict == LossVerdict::Undecidable), "{apart:?}");
}

/// Two senders of one name are not each other's receivers.
#[test]
fn the_other_end_of_a_sender_is_a_receiver() {
    let sender = SENT.replace(",,,,,\n", ",,,,,a\n");
    let losses = analyse(&[("one.csv", &format!("{sender}0.1,lost,1,,,,,,a\n")), ("two.csv", &sender)]).unwrap();
    assert!(losses.traces.iter().all(|trace| trace.other_end.is_none()));
    assert_eq!(only(&losses).verdict, LossVerdict::Undecidable);
}

#[test]
fn columns_may_stand_in_any_order_and_most_may_be_left_out() {
    let losses = judged("\u{feff}number,\"event\",time_s\r\n0,sent,0\r\n1,sent,0.1\r\n0,lost,0.2\r\n0-1,acked,0.3\r\n");
    assert_eq!(only(&losses).verdict, LossVerdict::Spurious);
    assert!(is_log(b"number,event,time_s\n") && !is_log(b"number,event\n") && !is_log(b"time_s\n"));
}

#[test]
fn faults_name_the_line_and_what_was_expected() {
    for (rows, expected) in [
        ("", "facts.csv: no row; expected one for each transmission, loss and acknowledgement"),
        ("0,sent,1\n", "facts.csv: line 2: 3 cells; expected 4, as in the header"),
        ("x,sent,1,\n", "facts.csv: line 2: time_s \"x\"; expected seconds"),
        ("inf,sent,1,\n", "facts.csv: line 2: time_s is missing; expected seconds"),
        (
            "0,went,1,\n",
            "facts.csv: line 2: event \"went\"; expected sent, lost, acked, acked-one-of, received, window or closed",
        ),
        ("0,sent,,\n", "facts.csv: line 2: number is missing; expected the number of a transmission"),
        ("0,sent,1-2,\n", "facts.csv: line 2: number \"1-2\"; expected the number of a transmission"),
        (
            "0,sent,1,\n0,sent,1,\n",
            "facts.csv: line 3: 1 was sent before, in line 2; expected a number of its own for each transmission",
        ),
        ("0,sent,1,many\n", "facts.csv: line 2: bytes \"many\"; expected bytes"),
        ("0,acked,3-1,\n", "facts.csv: line 2: number \"3-1\"; expected numbers and ranges, for instance 0-4 7 9-12"),
        ("0,acked-one-of,,\n", "facts.csv: line 2: number is missing; expected one or more"),
    ] {
        assert_eq!(fault(&format!("time_s,event,number,bytes\n{rows}")), expected);
    }
    assert_eq!(
        fault("time_s,event,size\n0,sent,1\n"),
        "facts.csv: line 1: unknown column \"size\"; expected some of time_s, event, number, bytes, trigger, cwnd, ssthresh, srtt_ms, connection"
    );
    assert_eq!(fault("time_s,event,event\n0,sent,1\n"), "facts.csv: line 1: column event stands twice");
}
