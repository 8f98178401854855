//! Pages in a real browser, where one is at hand.

use std::path::Path;
use std::process::Command;

/// Drives a page in Chromium by a script of `tests/browser`; `None` with the
/// reason printed without one.
pub fn browse(script: &str, page: &Path, arguments: &[&str]) -> Option<String> {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser");
    let required = std::env::var_os("CONVFINQA_REQUIRE_BROWSER").is_some();
    let output = Command::new("python3")
        .arg(scripts.join(script))
        .arg(page)
        .args(arguments)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => {
            assert!(!required, "python3: {error}");
            println!("skipped: python3 cannot be started ({error})");
            return None;
        }
    };
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if output.status.code() == Some(3) && !required {
        println!("{text}");
        return None;
    }
    assert!(output.status.success(), "{text}");
    println!("{text}");
    Some(text)
}
