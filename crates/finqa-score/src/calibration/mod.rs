//! The probability that an answer is right, and the choice of answers that keep a stated error
//! rate.
//!
//! A [`Calibration`] is fitted to answers that gold has judged (`convfinqa calibrate`). The
//! built-in one is fitted to published answers of other systems. Its model computes the probability
//! of an answer from what is known without gold. Its curve tells the probability above which at
//! most a given share of answers is wrong, with 95 % confidence (`--max-error`).

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
pub use limit::{Calibrator, ErrorLimit};
pub use stored::{Calibration, Scope};
pub use summary::{GivenWithin, RiskSummary};
