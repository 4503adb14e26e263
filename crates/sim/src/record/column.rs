//! Columns of the record tables, and the macro that declares a table as its columns.

#[derive(Clone, PartialEq, Debug)]
pub enum Column {
    /// Times in nanoseconds, positions, bytes; -1 for none.
    Integers(Vec<i64>),
    /// Indices of flows and links, counts; -1 for none.
    Small(Vec<i32>),
    /// Codes of a column's categories (see [`Tables::categories`](super::Tables::categories)).
    Codes(Vec<u8>),
    /// Codes of columns with more than 256 categories.
    WideCodes(Vec<u16>),
    Flags(Vec<bool>),
}

/// The type of a column's values.
pub(super) trait Cell: Sized {
    /// Makes a column of these values.
    fn column(values: Vec<Self>) -> Column;
}

impl Cell for i64 {
    fn column(values: Vec<Self>) -> Column {
        Column::Integers(values)
    }
}

impl Cell for i32 {
    fn column(values: Vec<Self>) -> Column {
        Column::Small(values)
    }
}

impl Cell for u8 {
    fn column(values: Vec<Self>) -> Column {
        Column::Codes(values)
    }
}

impl Cell for u16 {
    fn column(values: Vec<Self>) -> Column {
        Column::WideCodes(values)
    }
}

impl Cell for bool {
    fn column(values: Vec<Self>) -> Column {
        Column::Flags(values)
    }
}

/// Declares a table: a struct of its columns, and a struct of one row.
macro_rules! table {
    ($(#[doc = $doc:literal])* $name:ident, $row:ident { $($(#[doc = $about:literal])+ $column:ident: $kind:ty,)* }) => {
        $(#[doc = $doc])*
        #[derive(Clone, PartialEq, Debug, Default)]
        pub struct $name {
            $($(#[doc = $about])+ pub $column: Vec<$kind>,)*
        }

        /// One row of the table with a similar name.
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub struct $row {
            $($(#[doc = $about])+ pub $column: $kind,)*
        }

        impl $name {
            /// The meaning of a row.
            pub const ABOUT: &str = concat!($($doc),*);

            /// The names of the columns, each with its meaning.
            pub const COLUMNS: &[(&str, &str)] = &[$((stringify!($column), concat!($($about),+)),)*];

            #[inline]
            pub fn push(&mut self, row: $row) {
                $(self.$column.push(row.$column);)*
            }

            /// Returns the number of rows.
            pub fn rows(&self) -> usize {
                [$(self.$column.len()),*][0]
            }

            /// Removes and returns the first rows.
            pub fn take(&mut self, rows: usize) -> Self {
                Self {
                    $($column: {
                        let rest = self.$column.split_off(rows);
                        std::mem::replace(&mut self.$column, rest)
                    },)*
                }
            }

            /// Moves the columns out, by name and in order.
            pub fn into_columns(self) -> Vec<(&'static str, $crate::record::column::Column)> {
                vec![$((stringify!($column), $crate::record::column::Cell::column(self.$column)),)*]
            }
        }
    };
}
pub(super) use table;
