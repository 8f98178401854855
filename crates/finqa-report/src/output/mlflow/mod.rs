//! MLflow: delivers a run to a tracking server after the run has ended. A run does this itself at
//! its end; `merge` and `convfinqa track sync` do it too.
//!
//! Everything that is sent is made from the journal and the files in the run's folder
//! ([`RunContent`]), and can be sent again, so nothing is lost if a server cannot be reached.
//! [`deliver`] sends it.
//!
//! Reading order: `delivery` (the steps of a delivery), `content` with `metrics` and `table` (the
//! content that is sent), `server` and `target` (the HTTP client and the address), `record` (the
//! server that has the run).

mod content;
mod delivery;
mod error;
mod metrics;
mod record;
mod server;
mod table;
mod target;

pub use content::RunContent;
pub use delivery::{DeliveredRun, deliver, deliver_at_end};
pub use error::MlflowError;
pub use record::DeliveryRecord;
pub use server::TrackingServer;
pub use target::{Credentials, TrackingTarget};
