//! ICMP errors that quote segments of a connection or other segments.

use arbitrary::{Result, Unstructured};
use eifel_packet::seq::Seq;
use eifel_tcp::{IcmpError, State};

use crate::connection::{Driver, near};

/// No message makes segments smaller than this: a packet of 552 bytes less the IP and TCP headers
/// and the timestamps option.
const LEAST_PAYLOAD: u32 = 552 - 20 - 20 - 12;

/// Gives any messages in any state, between segments, passing time and actions of the application.
/// Nothing panics or overflows. No message ends an established connection, or a connection whose
/// segment it does not quote. No message shrinks segments before the timer has expired, or ever
/// below a floor.
///
/// # Panics
/// If an invariant does not hold.
pub fn icmp(data: &[u8]) {
    // Bytes that yield no valid input are ignored.
    let _ = run(&mut Unstructured::new(data));
}

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let mut driver = Driver::new(u)?;
    while !u.is_empty() {
        let input = u.int_in_range(0..=7)?;
        if input > 4 {
            message(u, &mut driver)?;
            continue;
        }
        let (mss, state) = (driver.connection.mss(), driver.connection.state());
        driver.takes(u, input)?;
        let now = driver.connection.mss();
        let opening = matches!(state, State::Listen | State::SynSent | State::SynReceived(_));
        assert!(opening || now >= mss.min(LEAST_PAYLOAD), "{mss} became {now} in {state:?}");
    }
    Ok(())
}

fn message(u: &mut Unstructured<'_>, driver: &mut Driver) -> Result<()> {
    let usual = *u.choose(&[(3, 3), (3, 4), (3, 1), (2, 0), (1, 4), (1, 0), (4, 1), (11, 0)])?;
    let (kind, code) = if u.arbitrary()? { usual } else { (u.arbitrary()?, u.arbitrary()?) };
    let error = if u.arbitrary()? {
        IcmpError::v4(kind, code, u.arbitrary()?)
    } else {
        IcmpError::v6(kind, code, u.arbitrary()?)
    };
    let una = driver.iss.wrapping_add(driver.connection.engine().una() as u32);
    let connection = &mut driver.connection;
    let outstanding = connection.engine().nxt() - connection.engine().una();
    let seq = match outstanding {
        1.. if u.arbitrary()? => Seq(una.wrapping_add(u.int_in_range(0..=outstanding - 1)? as u32)),
        _ => near(u, una)?,
    };
    let Some(error) = error else { return Ok(()) };
    let (before, mss, ignored) = (connection.state(), connection.mss(), connection.counts().ignored_icmp);
    while connection.poll_event().is_some() {}
    connection.handle_icmp(error, seq);
    let opening = matches!(before, State::SynSent | State::SynReceived(_));
    let quoted = u64::from(seq.0.wrapping_sub(una)) < outstanding;
    if connection.state() != before {
        assert!(opening && quoted && error == IcmpError::Hard, "{error:?} has ended {before:?}");
        assert_eq!(connection.state(), State::Closed);
    }
    if !quoted {
        assert_eq!(connection.counts().ignored_icmp, ignored + 1, "{error:?} about nothing that is in flight");
        assert_eq!(connection.poll_event(), None, "{error:?} is told though nothing that it quotes is in flight");
    }
    assert_eq!(connection.mss(), mss, "{error:?} is believed at once");
    Ok(())
}
