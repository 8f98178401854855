#[allow(
    dead_code,
    unused_imports,
    reason = "the other packages' tests use the rest"
)]
#[path = "../../../../finqa-agents/tests/it/support/fault_server/mod.rs"]
pub mod fault_server;
pub mod file_server;
pub mod hub;
pub mod json;
pub mod running;
#[allow(dead_code, reason = "the agents' tests use the rest")]
pub mod schema;
pub mod socket;
