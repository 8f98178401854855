#[allow(dead_code, reason = "the root package's tests use the rest")]
#[path = "../../../../../tests/it/support/file_server.rs"]
pub mod file_server;
pub mod hub;
pub mod json;
