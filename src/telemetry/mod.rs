//! Tracing and its export.
