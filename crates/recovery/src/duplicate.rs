//! Engines implement `Clone` and `Debug`, although they hold their algorithms in boxes. A search
//! continues from one state along several courses. It compares `Debug` output to find out whether
//! two courses have reached the same state. So an algorithm's `Debug` must show all of its state,
//! as the derived one does.

use core::fmt::Debug;

use crate::congest::Congest;
use crate::credit::Credit;
use crate::detect::Detector;
use crate::grant::Grant;
use crate::pace::Pace;
use crate::recover::Recovery;
use crate::respond::Response;
use crate::retransmit::Retransmit;
use crate::rto::Rto;
use crate::rto::after_spurious::AfterSpurious;

macro_rules! duplicate {
    ($($seam:ident by $trait:ident),*) => {$(
        #[doc = concat!("Every [`", stringify!($seam), "`] that is `Clone` and `Debug`.")]
        pub trait $trait: Debug {
            /// Returns the same algorithm in the same state.
            fn duplicate(&self) -> Box<dyn $seam>;
        }

        impl<T: $seam + Clone + Debug + 'static> $trait for T {
            fn duplicate(&self) -> Box<dyn $seam> {
                Box::new(self.clone())
            }
        }

        impl Clone for Box<dyn $seam> {
            fn clone(&self) -> Self {
                (**self).duplicate()
            }
        }
    )*};
}

duplicate! {
    Detector by DuplicateDetector,
    Response by DuplicateResponse,
    Grant by DuplicateGrant,
    Rto by DuplicateRto,
    AfterSpurious by DuplicateAfterSpurious,
    Recovery by DuplicateRecovery,
    Congest by DuplicateCongest,
    Pace by DuplicatePace,
    Retransmit by DuplicateRetransmit,
    Credit by DuplicateCredit
}
