//! Files that options name for output. They are written at the end of a command, and so are
//! checked before it asks or reads anything.

use std::path::Path;

use crate::output::check_writable;

use super::Failure;
use super::exit::with_output_hint;

/// A file to write, with the option that names it and its placeholder.
pub(super) type OutputOption<'a> = (&'static str, Option<&'a Path>);

/// Refuses an output that cannot be written, or that would replace one of the files that the
/// command names as `inputs`.
///
/// # Errors
/// [`Exit::Usage`](super::Exit::Usage), naming the path as it was given, and the option.
pub(super) fn check_outputs(outputs: &[OutputOption<'_>], inputs: &[&Path]) -> anyhow::Result<()> {
    for (option, path) in outputs {
        let Some(path) = *path else { continue };
        let place = path.canonicalize().ok();
        let replaces = |input: &&Path| place.is_some() && input.canonicalize().ok() == place;
        if path.is_file() && inputs.iter().any(replaces) {
            let line = format!(
                "{}: the command reads this file and would replace it; choose another path with \
                 {option}",
                path.display()
            );
            return Err(Failure::usage(line).into());
        }
        check_writable(path).map_err(with_output_hint(option))?;
    }
    Ok(())
}
