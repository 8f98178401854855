#[allow(dead_code, reason = "the root package's tests use the rest")]
pub mod file_server;
pub mod hub;
pub mod json;
pub mod running;
#[allow(dead_code, reason = "the agents' tests use the rest")]
pub mod schema;
