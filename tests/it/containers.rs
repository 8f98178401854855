//! The containers get the settings and variables that the program reads; `.ci/containers --run`
//! builds and runs them.

use std::collections::BTreeSet;

use finqa_journal::settings::keys;
use regex::Regex;

use crate::architecture::{root, source_files};

/// The variables of a service of compose.yaml, each with its value.
fn environment(service: &str) -> Vec<(String, String)> {
    let compose = std::fs::read_to_string(root().join("compose.yaml")).unwrap();
    let lines = compose.lines();
    let service = lines
        .skip_while(|line| *line != format!("  {service}:"))
        .skip(1)
        .take_while(|line| line.is_empty() || line.starts_with("    "));
    let variables = service
        .skip_while(|line| !line.starts_with("    environment:"))
        .skip(1)
        .take_while(|line| line.starts_with("      ") || line.starts_with("    #"));
    let pairs = variables.filter_map(|line| line.trim().split_once(':'));
    pairs
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect()
}

#[test]
fn every_setting_passes_into_the_container() {
    let app = environment("app");
    let missing: Vec<_> = keys()
        .map(|key| format!("CONVFINQA_{}", key.to_uppercase()))
        // A name without a value: unset outside, it is unset inside.
        .filter(|name| !app.contains(&(name.clone(), String::new())))
        .collect();
    assert!(missing.is_empty(), "not in compose.yaml: {missing:?}");
    let known = keys().map(str::to_uppercase);
    // A variable without a setting.
    let known: BTreeSet<_> = known.chain(["ALLOW_HTTP".to_owned()]).collect();
    let set = app
        .iter()
        .filter_map(|(name, _)| name.strip_prefix("CONVFINQA_"));
    let gone: Vec<_> = set.filter(|name| !known.contains(*name)).collect();
    assert!(gone.is_empty(), "settings no longer: {gone:?}");
}

/// Keys, addresses and switches that are not settings: whatever variable the
/// sources name must be listed in a service.
#[test]
fn every_other_variable_passes_into_the_containers() {
    let name = Regex::new(
        r#""((?:AZURE|CLICOLOR|FINQA|HF|MLFLOW|NO|OPENAI|OTEL|RUST)_[A-Z_]+|CLICOLOR)""#,
    )
    .unwrap();
    let mut read = BTreeSet::new();
    for path in source_files() {
        let text = std::fs::read_to_string(path).unwrap();
        read.extend(name.captures_iter(&text).map(|found| found[1].to_owned()));
    }
    for known in [
        "AZURE_OPENAI_API_KEY", "FINQA_TOKEN", "MLFLOW_TRACKING_PASSWORD",
        "OTEL_EXPORTER_OTLP_ENDPOINT",
    ] {
        assert!(read.contains(known), "the sources read {known}: {read:?}");
    }
    let passed: BTreeSet<_> = ["app", "env"]
        .into_iter()
        .flat_map(environment)
        .map(|(name, _)| name)
        .collect();
    let missing: Vec<_> = read.difference(&passed).collect();
    assert!(missing.is_empty(), "not in compose.yaml: {missing:?}");
}
