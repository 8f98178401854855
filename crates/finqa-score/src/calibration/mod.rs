//! The probability that an answer is right, and the answers that a stated error allows to be
//! given.
//!
//! A [`Calibration`] is fitted to answers that gold has judged (`convfinqa calibrate`). The
//! built-in one is fitted to published answers of other systems. The model of a calibration gives
//! each answer a probability from what is known without gold. Its curve tells from which
//! probability on at most a given share of answers is wrong, with 95 % confidence (`--max-error`).

mod curve;
mod error;
mod fit;
mod inputs;
mod limit;
mod stored;
mod summary;

pub use curve::{CurvePoint, RiskCurve, ScoredAnswer};
pub use error::CalibrationError;
pub use fit::{Fitted, JudgedAnswer};
pub use inputs::{INPUTS, Inputs, inputs_of};
pub use limit::{ErrorLimit, Judge};
pub use stored::{Calibration, Scope};
pub use summary::{GivenWithin, RiskSummary};
