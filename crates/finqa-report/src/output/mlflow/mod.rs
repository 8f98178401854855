//! MLflow: a run is delivered to a tracking server when it has ended, by the run itself, by
//! `merge` and by `convfinqa track sync`.
//!
//! The run's folder is the truth. All that is sent is made from its journal and files
//! ([`RunContent`]) and can be sent again, so that a server that cannot be reached loses
//! nothing. [`deliver`] sends it.

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
