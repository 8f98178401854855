//! The dataset's program language: parse, execute, compare.
