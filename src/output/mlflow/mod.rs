//! MLflow: a run is logged to a tracking server and never waits
//! for it.
//!
//! The run's folder is the truth. All that is sent (parameters, metrics by
//! step, tags, files, traces) is a function of its journal and files, so what a
//! server missed can be sent later and what it has is not sent twice.
//! [`MlflowLogger`] sends during a run, [`RunDelivery`] sends whatever is
//! missing, at the end of a run and in `convfinqa track sync`.

mod artifact;
mod content;
mod delivery;
mod error;
mod logger;
mod points;
mod record;
mod server;
mod table;
mod target;
mod traces;
mod wire;

pub(crate) use delivery::{DeliveredRun, FinishedRun, RunDelivery};
pub(crate) use error::MlflowError;
pub(crate) use logger::{DeliveryOutcome, MlflowLogger, finish};
pub(crate) use record::DeliveryRecord;
pub(crate) use server::{TrackingServer, TrackingTimeouts};
pub(crate) use target::{Credentials, TrackingTarget};
