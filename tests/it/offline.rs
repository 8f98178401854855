//! Tests of `offline`.
