//! Pages in a real browser, where one is at hand.

use std::path::Path;
use std::process::Command;

/// What a script ends with where it found no browser.
const NO_BROWSER: i32 = 3;

/// Drives a page in Chromium by a script of `tests/browser`; `None` with the
/// reason printed without one.
pub fn browse(script: &str, page: &Path, arguments: &[&str]) -> Option<String> {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser");
    let page = page.to_str().unwrap();
    let arguments = [&[page], arguments].concat();
    browse_by(Path::new("python3"), &scripts.join(script), &arguments)
}

/// The same by an interpreter with packages that the script needs.
/// `CONVFINQA_REQUIRE_BROWSER` makes a missing browser a failure.
pub fn browse_by(python: &Path, script: &Path, arguments: &[&str]) -> Option<String> {
    let required = std::env::var_os("CONVFINQA_REQUIRE_BROWSER").is_some();
    let output = Command::new(python)
        .arg(script)
        .args(arguments)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("NO_PROXY", "127.0.0.1,localhost")
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => {
            assert!(!required, "{}: {error}", python.display());
            println!("skipped: {} cannot be started ({error})", python.display());
            return None;
        }
    };
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if output.status.code() == Some(NO_BROWSER) && !required {
        println!("{text}");
        return None;
    }
    assert!(output.status.success(), "{text}");
    println!("{text}");
    Some(text)
}
