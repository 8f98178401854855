//! Runs logged to MLflow: to a real server from its Python package, and to one
//! that breaks on purpose.

pub mod fake;
mod faults;
mod needs_python;
mod server;
