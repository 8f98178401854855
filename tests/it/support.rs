//! What several tests need: servers, files, scripted models.

#![allow(dead_code, unused_imports, reason = "each module uses its own part")]

pub mod agents;
#[path = "../../crates/finqa-agents/tests/it/support/batch_server.rs"]
pub mod batch_server;
pub mod book;
pub mod browser;
pub mod cli;
#[path = "../../crates/finqa-agents/tests/it/support/fault_server/mod.rs"]
pub mod fault_server;
#[path = "../../crates/finqa-env/tests/it/support/file_server.rs"]
pub mod file_server;
#[path = "../../crates/finqa-env/tests/it/support/hub.rs"]
pub mod hub;
pub mod in_process;
#[path = "../../crates/finqa-env/tests/it/support/json.rs"]
pub mod json;
pub mod published;
pub mod python;
#[path = "../../crates/finqa-env/tests/it/support/running.rs"]
pub mod running;
#[path = "../../crates/finqa-env/tests/it/support/schema.rs"]
pub mod schema;
#[cfg(unix)]
pub mod screen;
#[path = "../../crates/finqa-env/tests/it/support/socket.rs"]
pub mod socket;
pub mod traces;
