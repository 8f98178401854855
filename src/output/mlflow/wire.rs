//! The parts of MLflow's REST API 2.0 that are read and written here.

use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
pub(super) struct ExperimentReply {
    pub experiment: Experiment,
}

#[derive(Deserialize)]
pub(super) struct Experiment {
    pub experiment_id: String,
    #[serde(default)]
    pub lifecycle_stage: String,
}

#[derive(Deserialize)]
pub(super) struct CreatedExperiment {
    pub experiment_id: String,
}

#[derive(Deserialize)]
pub(super) struct RunReply {
    pub run: MlflowRun,
}

#[derive(Deserialize)]
pub(super) struct RunsReply {
    #[serde(default)]
    pub runs: Vec<MlflowRun>,
}

#[derive(Deserialize)]
pub(super) struct MlflowRun {
    pub info: RunInfo,
    #[serde(default)]
    pub data: RunData,
}

#[derive(Deserialize)]
pub(super) struct RunInfo {
    pub run_id: String,
    #[serde(default)]
    pub status: String,
    #[serde(default)]
    pub lifecycle_stage: String,
    #[serde(default)]
    pub artifact_uri: String,
}

#[derive(Default, Deserialize)]
pub(super) struct RunData {
    #[serde(default)]
    pub metrics: Vec<LatestMetric>,
    #[serde(default)]
    pub params: Vec<KeyValue>,
}

/// The newest point of a metric. Its value may be anything (`NaN` is written as a
/// word) and is not read.
#[derive(Deserialize)]
pub(super) struct LatestMetric {
    pub key: String,
    #[serde(default, deserialize_with = "integer")]
    pub step: i64,
}

/// Protobuf's JSON writes 64-bit integers as numbers or as text.
fn integer<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum NumberOrText {
        Number(i64),
        Text(String),
    }
    Ok(match NumberOrText::deserialize(deserializer)? {
        NumberOrText::Number(number) => number,
        NumberOrText::Text(text) => text.parse().unwrap_or_default(),
    })
}

/// A parameter or a tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KeyValue {
    pub key: String,
    pub value: String,
}

impl KeyValue {
    pub(crate) fn new(key: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            value: value.into(),
        }
    }
}

#[derive(Serialize)]
pub(super) struct Metric<'a> {
    pub key: &'a str,
    pub value: f64,
    pub timestamp: i64,
    pub step: i64,
}

#[derive(Default, Serialize)]
pub(super) struct LogBatch<'a> {
    pub run_id: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<Metric<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub params: &'a [KeyValue],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub tags: &'a [KeyValue],
}
