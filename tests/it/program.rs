//! Tests of `program`.
