//! MLflow as a side-car: a run is told to a tracking server, and never waits
//! for one.
//!
//! The run's folder is the truth. All that is sent (parameters, metrics by
//! step, tags, files, traces) is a function of its journal and files, so what a
//! server missed can be sent later and what it has is not sent twice.
//! [`Sidecar`] sends while a run goes on, [`Delivery`] sends whatever is
//! missing, at the end of a run and in `convfinqa track sync`.

mod artifact;
mod content;
mod delivery;
mod error;
mod graph;
mod points;
mod record;
mod server;
mod sidecar;
mod table;
mod target;
mod traces;
mod wire;

pub use artifact::Artifact;
pub use delivery::{Delivered, Delivery, Ending};
pub use error::MlflowError;
pub use graph::Drawings;
pub use points::{Point, Sample, Series};
pub use record::Record;
pub use server::{Patience, Server};
pub use sidecar::{NotifyLine, Sent, Sidecar, finish};
pub use target::{Credentials, Target};
