//! Tests of `agents`.
