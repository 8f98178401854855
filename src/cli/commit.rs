//! The commit that the program was built from.

use std::path::Path;
use std::process::{Command, Stdio};

use super::dotenv::variable;

/// The commit that this program was built from: what `CONVFINQA_COMMIT` says,
/// which a container's image sets, or that of the work tree that contains its file.
pub(crate) fn commit() -> Option<String> {
    if let Some(commit) = variable("CONVFINQA_COMMIT") {
        return Some(commit);
    }
    let program = std::env::current_exe().ok()?;
    // target/release/convfinqa, or target/debug/deps/…
    let tree = program
        .ancestors()
        .skip_while(|folder| folder.file_name().is_none_or(|name| name != "target"))
        .nth(1)?;
    tree.join("Cargo.toml").is_file().then(|| head(tree))?
}

fn head(tree: &Path) -> Option<String> {
    let output = Command::new("git")
        .args(["rev-parse", "HEAD"])
        .current_dir(tree)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let commit = text.trim();
    let hex = commit.len() >= 40 && commit.chars().all(|c| c.is_ascii_hexdigit());
    (output.status.success() && hex).then(|| commit.to_owned())
}
