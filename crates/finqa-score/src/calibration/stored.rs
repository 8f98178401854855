//! Reads and describes a calibration, which is a JSON file.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use finqa_core::files;
use finqa_core::stats::Logistic;

use super::curve::RiskCurve;
use super::error::CalibrationError;
use super::fit::Fitted;
use super::inputs::INPUTS;

/// The version of the file format. In version 1, a scope's `data` was a name instead of a hash.
const FORMAT: u32 = 2;

/// Fitted by `cargo run --release --example stated_error`.
const BUILT_IN: &str = include_str!("built_in.json");

/// The kind of answers that a calibration was fitted on. Its bounds are not valid for other kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// `offline`, or provider, address and model; a model on this machine has no address.
    pub model: String,
    /// The critic's model, or the kind of critic without a model.
    pub critic: String,
    /// blake3 of the templates.
    pub prompts: String,
    /// The values of those [`Scope::SETTINGS`] that are set.
    pub settings: BTreeMap<String, String>,
    /// blake3 of the data file; empty for a user's own document.
    pub data: String,
    /// The kind of questions, in words; empty for questions about a user's own document.
    pub questions: String,
}

impl Scope {
    /// The settings besides the models that affect how good the answers are.
    pub const SETTINGS: [&str; 6] = [
        "max_rounds", "max_tokens", "min_confidence", "samples", "second_opinion", "temperature",
    ];

    /// Describes the first difference between this scope and `now`; `None` if there is none. An
    /// empty field of `now` is not a difference, but a setting that is not set is.
    pub fn difference(&self, now: &Self) -> Option<String> {
        let of_setting = |key: &str| {
            let values = [self, now].map(|scope| scope.settings.get(key));
            let [was, now] = values.map(|value| value.map_or("not set", String::as_str));
            (format!("--{} is", key.replace('_', "-")), was, now)
        };
        let differences = [
            ("model is", &self.model, &now.model),
            ("critic is", &self.critic, &now.critic),
            ("questions are", &self.questions, &now.questions),
        ];
        let differences = differences
            .map(|(what, was, now)| (what.to_owned(), was.as_str(), now.as_str()))
            .into_iter()
            .chain(Self::SETTINGS.map(of_setting));
        let mut differences = differences.filter(|(_, was, now)| was != now && !now.is_empty());
        let words = differences.next();
        let words = words.map(|(what, was, now)| format!("its {what} {was}, not {now}"));
        let hashes = [
            ("data", &self.data, &now.data),
            ("prompts", &self.prompts, &now.prompts),
        ];
        let mut hashes = hashes.into_iter();
        let other = hashes.find(|(_, was, now)| was != now && !now.is_empty());
        // A hash only tells that something differs, so it comes last.
        words.or_else(|| other.map(|(what, ..)| format!("its {what} differ")))
    }
}

/// A model of the probability that an answer is right, the answers that it was fitted on, and the
/// errors among the most probable of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// The version of this file.
    pub format: u32,
    /// blake3 of this file; empty for the built-in calibration.
    #[serde(skip)]
    pub hash: String,
    /// The answers that it was fitted on, in words.
    pub fitted_on: String,
    /// The day on which it was fitted.
    pub date: String,
    /// The scoring rule that decided which answers are right.
    pub rule: String,
    /// The kind of answers for which its bounds are valid; absent for the built-in calibration,
    /// which has no bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// The runs that it was fitted on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<String>,
    /// The number of answers that it was fitted on.
    pub n: usize,
    /// The number of pages that they are on.
    pub pages: usize,
    /// The number of answers that are wrong.
    pub errors: usize,
    /// Five-bin calibration error, cross-validated by page: the mean difference between the
    /// expected and the actual share of right answers, from 0 to 1.
    pub calibration_error: f64,
    /// The names of the model's inputs.
    pub inputs: Vec<String>,
    pub model: Logistic,
    /// The risk–coverage curve, cross-validated by page.
    pub curve: RiskCurve,
}

impl Calibration {
    /// Makes a calibration from a fitted model. The caller fills in where the answers come from.
    pub fn of(fitted: Fitted, n: usize, pages: usize, errors: usize) -> Self {
        Self {
            format: FORMAT,
            rule: "financial_equivalence".to_owned(),
            n,
            pages,
            errors,
            calibration_error: fitted.calibration_error,
            inputs: INPUTS.map(str::to_owned).to_vec(),
            model: fitted.model,
            curve: fitted.curve,
            ..Self::default()
        }
    }

    /// The calibration that applies if the user names none.
    pub fn built_in() -> &'static Self {
        // A test reads the built-in file, so the default is never used.
        static CALIBRATION: LazyLock<Calibration> =
            LazyLock::new(|| serde_json::from_str(BUILT_IN).unwrap_or_default());
        &CALIBRATION
    }

    /// Reads a file that `convfinqa calibrate` wrote.
    ///
    /// # Errors
    /// [`CalibrationError::Read`] if the file cannot be read; [`CalibrationError::NotOne`] if it is
    /// not a calibration, or one of another format or with other inputs.
    pub fn read(path: &Path) -> Result<Self, CalibrationError> {
        let text = files::read_to_string(path).map_err(|source| CalibrationError::Read {
            path: path.to_owned(),
            source,
        })?;
        let not_one = |reason: String| CalibrationError::NotOne {
            path: path.to_owned(),
            reason,
        };
        let mut read: Self =
            serde_json::from_str(&text).map_err(|error| not_one(error.to_string()))?;
        if read.format != FORMAT {
            return Err(not_one(format!(
                "its format is {}, not {FORMAT}",
                read.format
            )));
        }
        if read.inputs != INPUTS || read.model.len() != INPUTS.len() {
            return Err(not_one("it has other inputs".to_owned()));
        }
        read.hash = blake3::hash(text.as_bytes()).to_hex().to_string();
        Ok(read)
    }

    /// Says why the bounds of this calibration are not valid for answers of `scope`; `None` if they
    /// are.
    pub fn difference(&self, scope: &Scope) -> Option<String> {
        match &self.scope {
            None => Some("it is of other models".to_owned()),
            Some(own) => own.difference(scope),
        }
    }

    /// The calibration's name in messages.
    pub fn name(&self) -> String {
        match &self.scope {
            None => format!("the built-in calibration ({})", self.fitted_on),
            Some(_) => format!("the calibration of {} ({})", self.date, self.fitted_on),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_calibration_is_read_and_trusts_answers_that_the_opinion_confirms() {
        let built_in = Calibration::built_in();
        assert_eq!(built_in.inputs, INPUTS);
        assert_eq!(built_in.model.len(), INPUTS.len());
        assert!(built_in.n > 1_000 && built_in.name().contains(&built_in.fitted_on));
        let of = |agrees: f64| {
            let mut inputs = [None; INPUTS.len()];
            inputs[0] = Some(agrees);
            inputs[3] = Some(0.0);
            built_in.model.probability(&inputs)
        };
        assert!(of(1.0) > 0.85 && of(0.0) < 0.75, "{} {}", of(1.0), of(0.0));
    }

    #[test]
    fn a_file_that_is_no_calibration_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.json");
        let refused = |text: &str| {
            std::fs::write(&path, text).unwrap();
            let error = Calibration::read(&path).unwrap_err().to_string();
            assert!(error.contains("c.json"), "{error}");
            error
        };
        assert!(refused("{}").contains("is not a calibration (missing field"));
        assert!(refused("not json").contains("is not a calibration ("));
        let changed = |change: fn(&mut Calibration)| {
            let mut other = Calibration::built_in().clone();
            change(&mut other);
            refused(&serde_json::to_string(&other).unwrap())
        };
        assert!(changed(|other| other.format = 1).contains("its format is 1, not 2"));
        assert!(changed(|other| drop(other.inputs.pop())).contains("other inputs"));
    }
}
