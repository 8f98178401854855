//! The transport: connections and their time limits, HTTP routes, WebSockets, and the check of who
//! may use them.

pub(crate) mod connections;
mod guard;
mod log;
pub(crate) mod reply;
pub(crate) mod routes;
pub(crate) mod socket_loop;
