//! Tables as published, read into typed cells, repaired and rendered.
//!
//! A [`Table`] keeps every cell as it was filed, alongside what it is read as: a
//! number (often written twice, `-2913 ( 2913 )`), a dash (often the lost
//! escape `2014`), text, or nothing. [`TableStyle::Published`] renders the page's
//! table unchanged; [`TableStyle::Repaired`] repairs the header, shows dashes as
//! dashes and doubled numbers once, and numbers rows and columns so that a
//! cell can be cited as `r3c2`.
//!
//! It answers no question and knows no gold.

mod caption;
mod cell;
mod header;
mod normalise;
mod page_table;
pub mod period;
mod render;
mod years;

pub use caption::Caption;
pub use cell::{Cell, CellKind};
pub use normalise::normalise_sentence;
pub use page_table::{Column, Table, TableRow, TableStyle, position};
pub use years::{MONTHS, year_of_two_digits, years_in};
