//! Tests of `env`.
