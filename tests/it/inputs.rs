//! Tests of pipes and devices that the caller names on purpose, to read from and to write to.

#![cfg(unix)]

use std::io::Write;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::process::{Command, Stdio};

use crate::support::cli::{CommandExt, Workplace};

/// `<(command)` of a shell and `/dev/stdin` are pipes on purpose.
#[test]
fn a_pipe_that_the_caller_opened_is_read() {
    let place = Workplace::new();
    let page = "| | 2019 |\n|---|---|\n| Revenue | 1,250 |\n";
    let mut command = place.command();
    command.given("ask /dev/stdin 'what was revenue in 2019?'");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(page.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && shown.contains("1250"), "{shown}");
}

/// A link is followed; what is not a file is refused, and not replaced by one.
#[test]
fn an_output_is_a_file_or_a_link_to_one() {
    let place = Workplace::new();
    place.write("a.csv", "id,ground_truth,prediction\nx,1,1\n");
    let to = |name: &str| place.run(&format!("score a.csv --export-predictions {name}"));
    symlink("none", place.path("dangling")).unwrap();
    to("dangling").succeeds();
    assert!(place.read("none").contains("[{\"id\""));

    let fifo = place.path("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    to("fifo").fails(2, &["fifo", "not a regular file"]);
    let kind = std::fs::symlink_metadata(fifo).unwrap();
    assert!(kind.file_type().is_fifo());
}
