//! Helpers for several tests. The tests of the root package also use the servers.

#![allow(dead_code, unused_imports, reason = "each test uses its own part")]

pub mod batch_server;
pub mod fault_server;
#[path = "../../../finqa-env/tests/it/support/schema.rs"]
pub mod schema;
