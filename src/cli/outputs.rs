//! Checks the output files that options name. They are written at the end of a command, so they are
//! checked before the command asks or reads anything.

use std::path::Path;

use finqa_journal::run::RunFolder;
use finqa_report::output::check_writable;

use super::Failure;
use super::exit::with_output_hint;

/// An option with its placeholder, and the file that it names.
pub(super) type OutputOption<'a> = (&'static str, Option<&'a Path>);

/// Refuses an output that cannot be written or is in a run's folder. Also refuses one that would
/// replace one of the `inputs`: a file that the command reads, or the CSV in a folder.
///
/// # Errors
/// [`Exit::Usage`](super::Exit::Usage), with the path as the user gave it, and the option.
pub(super) fn check_outputs(outputs: &[OutputOption<'_>], inputs: &[&Path]) -> Result<(), Failure> {
    for (option, path) in outputs {
        let Some(path) = *path else { continue };
        // Resolve links, because writing follows them. A new path is taken as it is.
        let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let replaces = |input: &&Path| {
            let csv = input.join(RunFolder::CSV);
            let file = if input.is_dir() { &csv } else { *input };
            file.canonicalize().is_ok_and(|file| file == place)
        };
        let reason = if place.with_file_name(RunFolder::JOURNAL).is_file() {
            "this is in a run's folder, which holds only the run's own files"
        } else if inputs.iter().any(replaces) {
            "this file holds answers or records, and the command would replace it"
        } else {
            check_writable(path).map_err(with_output_hint(option))?;
            continue;
        };
        let path = path.display();
        let line = format!("{path}: {reason}; choose another path with {option}");
        return Err(Failure::usage(line));
    }
    Ok(())
}
