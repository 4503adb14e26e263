//! Columns of the record tables, and the macro that declares a table as its columns.

/// The values of one column.
#[derive(Clone, PartialEq, Debug)]
pub enum Column {
    /// Times in nanoseconds, positions, bytes; -1 for none.
    Integers(Vec<i64>),
    /// Numbers of flows and links, counts; -1 for none.
    Small(Vec<i32>),
    /// Codes of a column's categories (see [`Tables::categories`](super::Tables::categories)).
    Codes(Vec<u8>),
    /// The same for columns of more than 256 categories.
    WideCodes(Vec<u16>),
    /// Yes or no.
    Flags(Vec<bool>),
}

/// A type that a column can have.
pub(super) trait Cell: Sized {
    /// The column of these values.
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

/// Declares a table: the struct of its columns, a row, and how one becomes the other.
macro_rules! table {
    ($(#[$doc:meta])* $name:ident, $row:ident { $($(#[$about:meta])* $column:ident: $kind:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Debug, Default)]
        pub struct $name {
            $($(#[$about])* pub $column: Vec<$kind>,)*
        }

        /// One row of the table of the same name.
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub struct $row {
            $($(#[$about])* pub $column: $kind,)*
        }

        impl $name {
            /// Appends a row.
            #[inline]
            pub fn push(&mut self, row: $row) {
                $(self.$column.push(row.$column);)*
            }

            /// Takes its first rows out of it.
            pub fn take(&mut self, rows: usize) -> Self {
                Self {
                    $($column: {
                        let rest = self.$column.split_off(rows);
                        std::mem::replace(&mut self.$column, rest)
                    },)*
                }
            }

            /// Its columns by name, in order; the values are moved out.
            pub fn into_columns(self) -> Vec<(&'static str, $crate::record::column::Column)> {
                vec![$((stringify!($column), $crate::record::column::Cell::column(self.$column)),)*]
            }
        }
    };
}
pub(super) use table;
