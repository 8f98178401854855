//! Error analysis and comparison, over files and runs.

mod causes;
mod comparison;
mod needs_data;

use std::path::{Path, PathBuf};
use std::process::Output;

/// A CSV in a folder of its own.
fn csv(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn convfinqa(arguments: &[&str]) -> Output {
    let mut command = assert_cmd::Command::cargo_bin("convfinqa").unwrap();
    command.args(arguments).env_clear().output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}
