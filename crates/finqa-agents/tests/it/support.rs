//! What several tests need. The tests of the root package include the servers too.

#![allow(dead_code, unused_imports, reason = "each test uses its own part")]

pub mod batch_server;
pub mod fault_server;
#[path = "../../../finqa-env/tests/it/support/schema.rs"]
pub mod schema;
