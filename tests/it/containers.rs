//! Tests of the container files, as far as they can be read without an engine;
//! `.ci/containers --run` builds and runs them.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use convfinqa::settings::keys;
use regex::Regex;

use crate::architecture::{root, source_files};

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// Every source file of the program with its path below the root.
fn sources() -> Vec<(PathBuf, String)> {
    let files = source_files().into_iter().map(|path| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path.strip_prefix(root()).unwrap().to_owned(), text)
    });
    let files: Vec<_> = files.collect();
    assert!(files.len() > 100, "{} sources", files.len());
    files
}

/// The variables of a service of compose.yaml, each with its value.
fn environment(service: &str) -> Vec<(String, String)> {
    let compose = text("compose.yaml");
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
    let known: BTreeSet<_> = keys().map(str::to_uppercase).collect();
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
    for (_, text) in sources() {
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

#[test]
fn the_build_reads_what_dockerignore_lets_through_and_no_more() {
    let ignore = text(".dockerignore");
    let rules: Vec<_> = ignore
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    let (all, let_through) = rules.split_first().unwrap();
    assert_eq!(*all, "*", "everything is left out but for what is named");
    let named: Vec<_> = let_through
        .iter()
        .map(|rule| rule.strip_prefix('!').unwrap())
        .collect();
    let is_in = |path: &Path| named.iter().any(|rule| path.starts_with(rule));

    let include = Regex::new(r#"include_(?:str|bytes)!\(\s*"([^"]+)""#).unwrap();
    let mut included = 0;
    for (file, text) in sources() {
        for found in include.captures_iter(&text) {
            let path = plain(&file.parent().unwrap().join(&found[1]));
            // Only unit tests read those.
            if !path.starts_with("tests") {
                included += 1;
                assert!(is_in(&path), "{} is not let through", path.display());
            }
        }
    }
    assert!(included > 20, "{included} included files");
    // Cargo refuses a manifest that names a target without its file.
    for path in [
        "Cargo.toml", "Cargo.lock", "src/main.rs", "benches", "examples",
    ] {
        assert!(is_in(Path::new(path)), "{path} is not let through");
    }
    for path in [
        ".env", ".git", "CHANGELOG.md", "README.md", "compose.yaml", "data/train.json", "docs",
        "output", "target", "tests",
    ] {
        assert!(!is_in(Path::new(path)), "{path} is let through");
    }
}

/// The path without its `..`.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut so_far, part| {
        if part == Component::ParentDir {
            so_far.pop();
        } else {
            so_far.push(part);
        }
        so_far
    })
}

#[test]
fn the_build_asks_for_no_frontend_and_leaves_no_nameless_volume() {
    let dockerfile = text("Dockerfile");
    for line in dockerfile.lines() {
        assert!(!line.starts_with("# syntax="), "{line}");
        assert!(!line.starts_with("VOLUME"), "{line}");
    }
}
