//! Completions, and readers that go away.

use std::process::{Command, Stdio};

use crate::support::cli::Workplace;

#[cfg(unix)]
#[test]
fn bash_completes_commands_and_options() {
    let script = Workplace::new()
        .run("completions bash")
        .succeeds()
        .stdout
        .clone();
    let completed = |words: &[&str]| {
        let line = words.join(" ");
        let asked = format!(
            "{script}\nCOMP_WORDS=({line} {last}); COMP_CWORD={at}\n\
             _convfinqa convfinqa {current} {before}\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
            last = if line.ends_with(' ') { "''" } else { "" },
            at = words.len() - 1,
            current = words.last().unwrap(),
            before = words[words.len() - 2],
        );
        let output = Command::new("bash").args(["--norc", "-c", &asked]).output();
        let output = output.unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(completed(&["convfinqa", "re"]), "report");
    assert_eq!(completed(&["convfinqa", "compare", "--ht"]), "--html");
    assert_eq!(completed(&["convfinqa", "--color", "al"]), "always");
}

/// `| head` once ended the completions in a panic.
#[test]
fn a_reader_that_goes_away_is_not_an_error() {
    let place = Workplace::new();
    for arguments in [
        &["completions", "bash"][..],
        &["graph"],
        &["graph", "--format", "dot"],
        &["data", "show", "Single_QELM/2012/page_88.pdf-4"],
        &["data", "stats", "sample"],
        &["--data-path", "sample", "--n", "2"],
        &["--help"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let errors = writer.try_clone().unwrap();
        for (stdout, stderr) in [
            (Stdio::from(writer.try_clone().unwrap()), Stdio::piped()),
            (Stdio::from(writer), Stdio::from(errors)),
        ] {
            let mut command = place.command();
            let child = command.args(arguments).stdout(stdout).stderr(stderr);
            let ended = child.spawn().unwrap().wait_with_output().unwrap();
            let told = String::from_utf8_lossy(&ended.stderr);
            assert_eq!(ended.status.code(), Some(0), "{arguments:?}: {told}");
        }
    }
}
