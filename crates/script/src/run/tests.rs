use super::end::Taken;
use super::*;

/// An end whose timer stays due until `answers`.
struct Stubborn {
    due: Instant,
    answers: Instant,
    woken: std::rc::Rc<std::cell::RefCell<Vec<u64>>>,
}

impl End for Stubborn {
    fn due(&self) -> Instant {
        self.due
    }

    fn wake(&mut self, now: Instant) {
        self.woken.borrow_mut().push(now.as_nanos());
        if now >= self.answers {
            self.due = Instant::NEVER;
        }
    }

    fn is_exhausted(&self) -> bool {
        self.woken.borrow().len() > 20
    }

    fn arrive(&mut self, _: Instant, _: &Traffic) -> Result<(), String> {
        Ok(())
    }

    fn call(&mut self, _: Instant, _: &Call, _: i64) -> Returned {
        Returned::Value(0)
    }

    fn read(&self, _: Instant, _: &Variable) -> Option<i128> {
        None
    }

    fn has_departed(&self) -> bool {
        false
    }

    fn take(&mut self, _: &Traffic) -> Taken {
        Taken { at: Instant::ZERO, seen: Vec::new(), differences: Vec::new() }
    }

    fn rest(&mut self) -> Vec<Seen> {
        Vec::new()
    }
}

/// Returns the times, in nanoseconds, at which an end is woken. Its timer is due at 100 ns and
/// stays due until `answers`.
fn woken(answers: u64) -> Vec<u64> {
    let script = crate::parse("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n", "x.pkt").unwrap();
    let woken = std::rc::Rc::default();
    let [due, answers] = [100, answers].map(Instant::from_nanos);
    let mut run = Run {
        script: &script,
        end: Box::new(Stubborn { due, answers, woken: std::rc::Rc::clone(&woken) }),
        now: Instant::ZERO,
        last: Instant::ZERO,
        rows: Vec::new(),
        waiting: Vec::new(),
        names: Vec::new(),
    };
    run.reach(&script.events[0], Instant::from_nanos(1000)).unwrap();
    assert_eq!(run.now, Instant::from_nanos(1000));
    woken.take()
}

/// The end is woken once more at the same instant, because one timer may start another.
#[test]
fn a_timer_that_stays_due_moves_the_clock_by_a_nanosecond() {
    assert_eq!(woken(100), [100]);
    assert_eq!(woken(101), [100, 100, 101]);
    assert_eq!(woken(103), [100, 100, 101, 102, 103]);
}
