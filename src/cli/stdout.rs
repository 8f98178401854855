//! Prints to standard output. Commands write their files and check their thresholds first, and
//! print last. A reader that closes the pipe early (`| head`) then affects neither files nor exit
//! codes.

use std::io::{ErrorKind, Write};

use finqa_report::output::terminal::harmless;

use super::{Exit, Failure};

/// Prints to standard output. Returns `false` if the reader has closed the pipe.
///
/// # Errors
/// Any other failure to write.
pub(super) fn print(
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<bool, Failure> {
    let mut stdout = std::io::stdout().lock();
    match write(&mut stdout).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::usage(format!(
            "cannot write to standard output: {error}"
        ))),
    }
}

/// Like [`print`], for a text with untrusted parts: escapes control and bidi characters.
pub(super) fn print_words(
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<bool, Failure> {
    let mut text = Vec::new();
    let written = write(&mut text);
    print(|out| {
        out.write_all(harmless(&String::from_utf8_lossy(&text)).as_bytes())?;
        written
    })
}

/// Prints the whole output of a command, as [`print_words`] does.
pub(super) fn print_text(text: &str) -> Result<Exit, Failure> {
    print_words(|out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Done)
}

/// Prints a value as indented JSON, as [`print`] does.
pub(super) fn print_json(value: &impl serde::Serialize) -> Result<bool, Failure> {
    print(|out| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        writeln!(out)
    })
}
