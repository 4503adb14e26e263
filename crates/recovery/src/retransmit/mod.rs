//! The path of a retransmission. One file per policy; only an association has several paths.

crate::registry::algorithms! { ; association: rfc9260, all_to_alternate, same_path, largest_window }
crate::duplicate::duplicate!(Retransmit by DuplicateRetransmit);

use crate::association::PathId;
use crate::congest::Window;
use crate::fact::Cause;

/// A path as a policy sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Candidate {
    pub path: PathId,
    pub window: Window,
}

/// Chooses the path of a retransmission.
pub trait Retransmit: core::fmt::Debug + Send + Sync + DuplicateRetransmit {
    /// Chooses the path for a chunk that was last sent on `last` and marked because of `cause`.
    /// `usable` lists the paths on which data may be sent now, in the order of their ids. It has at
    /// least one.
    fn choose(&self, last: PathId, cause: Cause, usable: &[Candidate]) -> PathId;
}

/// Returns the next usable path after `last`, in the cyclic order of ids. Returns `last` itself if
/// there is no other.
fn alternate(last: PathId, usable: &[Candidate]) -> PathId {
    let after = usable.iter().find(|candidate| candidate.path > last);
    let other = after.or_else(|| usable.iter().find(|candidate| candidate.path != last));
    other.or(usable.first()).map_or(last, |candidate| candidate.path)
}

/// Returns `last` if it is usable, else an alternate path.
fn same(last: PathId, usable: &[Candidate]) -> PathId {
    if usable.iter().any(|candidate| candidate.path == last) { last } else { alternate(last, usable) }
}

#[cfg(test)]
mod tests {
    use super::all_to_alternate::AllToAlternate;
    use super::largest_window::LargestWindow;
    use super::rfc9260::Rfc9260;
    use super::same_path::SamePath;
    use super::*;

    fn candidates(cwnds: &[(usize, u64)]) -> Vec<Candidate> {
        let candidate = |&(path, cwnd)| Candidate { path: PathId(path), window: Window { cwnd, ssthresh: 0 } };
        cwnds.iter().map(candidate).collect()
    }

    #[test]
    fn each_policy_chooses_by_its_own_rule() {
        let usable = candidates(&[(0, 5), (1, 9), (2, 7)]);
        let policies: [(&dyn Retransmit, _, _); 4] =
            [(&Rfc9260, 2, 1), (&AllToAlternate, 2, 2), (&SamePath, 1, 1), (&LargestWindow, 1, 1)];
        for (policy, timed_out, fast) in policies {
            assert_eq!(policy.choose(PathId(1), Cause::Timeout, &usable), PathId(timed_out));
            assert_eq!(policy.choose(PathId(1), Cause::FastRetransmit, &usable), PathId(fast));
        }
        assert_eq!(AllToAlternate.choose(PathId(2), Cause::Timeout, &usable), PathId(0));
        assert_eq!(LargestWindow.choose(PathId(0), Cause::FastRetransmit, &usable), PathId(1));
    }

    #[test]
    fn a_failed_path_is_never_chosen_and_a_single_path_always() {
        let left = candidates(&[(0, 5), (2, 7)]);
        for policy in [&Rfc9260 as &dyn Retransmit, &AllToAlternate, &SamePath, &LargestWindow] {
            assert_eq!(policy.choose(PathId(1), Cause::FastRetransmit, &left), PathId(2));
            assert_eq!(policy.choose(PathId(0), Cause::Timeout, &candidates(&[(0, 1)])), PathId(0));
        }
    }
}
