//! Tests of `models`.
