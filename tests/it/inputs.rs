//! Tests of what is not read as a file of data: a FIFO or a device is refused in
//! one line, because opening it would wait forever.

#![cfg(unix)]

use std::io::Write;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use rstest::rstest;

use crate::support::cli::{CommandExt, Workplace};

/// Makes a FIFO.
fn make_fifo(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

/// Makes a FIFO. A thread waits to write to it, so that a reader which should not
/// be there gets an empty file instead of waiting.
fn fifo(place: &Workplace, name: &str) {
    let path = place.path(name);
    make_fifo(&path);
    std::thread::spawn(move || drop(std::fs::OpenOptions::new().write(true).open(path)));
}

const REFUSAL: &str = "not a regular file";

#[rstest]
#[case::records("--data-path in", 3)]
#[case::settings_named("--config in", 2)]
#[case::prompts("--prompts prompts", 2)]
#[case::document("ask in 'what was revenue?'", 3)]
#[case::table("ask --table in 'what was revenue?'", 3)]
#[case::text("ask --text in 'what was revenue?'", 3)]
#[case::predictions("score in", 3)]
#[case::compared("compare in in", 3)]
#[case::analyzed("analyze in", 3)]
#[case::checked("data check --data-path in", 3)]
#[case::shown("data show x --data-path in", 3)]
#[case::environment("env check --data-path env", 3)]
#[case::built("env build --data-path in --output new", 3)]
fn a_fifo_is_refused_in_one_line(#[case] arguments: &str, #[case] code: i32) {
    let place = Workplace::new();
    for name in [
        "in", "prompts/critic_user.j2", "env/benchmark_questions/finqa.csv",
    ] {
        fifo(&place, name);
    }
    std::fs::create_dir_all(place.path("env/input_companies/acme")).unwrap();
    place.run(arguments).fails(code, &[REFUSAL]);
}

#[rstest]
#[case(".env")]
#[case("convfinqa.toml")]
fn a_fifo_in_the_working_folder_is_refused_in_one_line(#[case] name: &str) {
    let place = Workplace::new();
    fifo(&place, name);
    place.run("--n 1").fails(2, &[name, REFUSAL]);
}

#[test]
fn a_device_is_refused_in_one_line() {
    let place = Workplace::new();
    for (arguments, code) in [
        ("ask --text /dev/null 'what was revenue?'", 3),
        ("--data-path /dev/tty", 3),
        ("score /dev/null", 3),
    ] {
        place.run(arguments).fails(code, &[REFUSAL]);
    }
}

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
#[rstest]
#[case::junit("score a.csv --junit", "<testsuites")]
#[case::predictions("score a.csv --export-predictions", "[{\"id\"")]
fn an_output_is_a_file_or_a_link_to_one(#[case] arguments: &str, #[case] held: &str) {
    let place = Workplace::new();
    place.write("a.csv", "id,ground_truth,prediction\nx,1,1\n");
    let to = |name: &str| place.run(&format!("{arguments} {name}"));

    place.write("real", "before");
    symlink("real", place.path("link")).unwrap();
    to("link").succeeds();
    assert!(place.path("link").is_symlink());
    assert!(place.read("real").contains(held));

    symlink("none", place.path("dangling")).unwrap();
    to("dangling").succeeds();
    assert!(place.read("none").contains(held));

    make_fifo(&place.path("fifo"));
    to("fifo").fails(2, &["fifo", REFUSAL]);
    let kind = std::fs::symlink_metadata(place.path("fifo")).unwrap();
    assert!(kind.file_type().is_fifo());
}
