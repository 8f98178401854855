//! Tables from grids of texts: `spans` from cells that cover columns of a layout, `plain` from
//! cells with one index for each column.

pub(crate) mod plain;
pub(crate) mod spans;
