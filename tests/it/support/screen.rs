//! Runs the binary in a terminal.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;

use rustix::pty::{self, OpenptFlags};
use rustix::termios::{self, Winsize};

use super::cli::Workplace;

/// Runs the binary with a terminal of so many columns as its stdin, stdout and stderr, and returns
/// what it writes.
pub fn in_terminal(
    place: &Workplace,
    columns: u16,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> String {
    let mut outside = pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)
        .map(File::from)
        .unwrap();
    pty::grantpt(&outside).unwrap();
    pty::unlockpt(&outside).unwrap();
    let name = pty::ptsname(&outside, Vec::new()).unwrap();
    let inside = File::options()
        .read(true)
        .write(true)
        .custom_flags(OpenptFlags::NOCTTY.bits().cast_signed())
        .open(OsStr::from_bytes(name.as_bytes()))
        .unwrap();
    let size = Winsize {
        ws_row: 24,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    termios::tcsetwinsize(&inside, size).unwrap();
    let mut command = place.command();
    command
        .args(arguments)
        .env("TERM", "xterm-256color")
        .envs(variables.iter().copied())
        .stdin(inside.try_clone().unwrap())
        .stdout(inside.try_clone().unwrap())
        .stderr(inside);
    let mut child = command.spawn().unwrap();
    // The command keeps the inner end open, which would make the read below wait for ever.
    drop(command);
    let mut written = Vec::new();
    // On Linux, reading the outer end fails once the last inner end is closed.
    let _ = outside.read_to_end(&mut written);
    let written = String::from_utf8(written).unwrap();
    assert!(child.wait().unwrap().success(), "{written}");
    written
}
