//! Engines implement `Clone` and `Debug`, although they hold their algorithms in boxes. A search
//! continues from one state along several courses. It compares `Debug` output to find out whether
//! two courses have reached the same state. So an algorithm's `Debug` must show all of its state,
//! as the derived one does.

/// Makes the boxed algorithms of a seam `Clone` and `Debug`.
macro_rules! duplicate {
    ($seam:ident by $trait:ident) => {
        #[doc = concat!("Every [`", stringify!($seam), "`] that is `Clone` and `Debug`.")]
        pub trait $trait: core::fmt::Debug {
            /// Returns the same algorithm in the same state.
            fn duplicate(&self) -> Box<dyn $seam>;
        }

        impl<T: $seam + Clone + core::fmt::Debug + 'static> $trait for T {
            fn duplicate(&self) -> Box<dyn $seam> {
                Box::new(self.clone())
            }
        }

        impl Clone for Box<dyn $seam> {
            fn clone(&self) -> Self {
                (**self).duplicate()
            }
        }
    };
}
pub(crate) use duplicate;
