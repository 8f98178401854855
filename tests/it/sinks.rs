//! Tests of `sinks`.
