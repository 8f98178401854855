//! Builds tables from grids of texts: `spans` from cells that cover columns of a layout, as in
//! HTML; `plain` from rows of cells, as in CSV.

pub(crate) mod plain;
pub(crate) mod spans;
