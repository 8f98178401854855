//! Opens pages in a real browser. Tests that need one are ignored and have `needs_browser` in their
//! path; `tests/run.sh --all` runs them.

use std::path::Path;
use std::process::Command;

/// Runs a script of `tests/browser`, which opens a page in Chromium, and returns its output. Fails
/// the test if the script fails.
#[track_caller]
pub fn browse(script: &str, page: &Path, arguments: &[&str]) -> String {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser");
    let page = page.to_str().unwrap();
    let arguments = [&[page], arguments].concat();
    browse_with(Path::new("python3"), &scripts.join(script), &arguments)
}

/// Like [`browse`], but with any script and with an interpreter that has the packages it needs.
#[track_caller]
pub fn browse_with(python: &Path, script: &Path, arguments: &[&str]) -> String {
    let output = Command::new(python)
        .arg(script)
        .args(arguments)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("NO_PROXY", "127.0.0.1,localhost")
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}", python.display()));
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{text}");
    text
}
