//! Files that options name for output. They are written at the end of a command, and so are
//! checked before it asks or reads anything.

use std::path::{Path, PathBuf};

use crate::dataset::Source;
use crate::output::check_writable;
use crate::run::RunMeta;
use crate::settings::Settings;

use super::Failure;
use super::exit::with_output_hint;
use super::settings::config_file;

/// A file to write, with the option that names it and its placeholder.
pub(super) type OutputOption<'a> = (&'static str, Option<&'a Path>);

/// Refuses an output that cannot be written, or that would replace an input.
///
/// # Errors
/// [`Exit::Usage`](super::Exit::Usage), naming the path as it was given, and the option.
pub(super) fn check_outputs(
    outputs: &[OutputOption<'_>],
    inputs: &[PathBuf],
) -> anyhow::Result<()> {
    for (option, path) in outputs {
        let Some(path) = *path else { continue };
        let place = path.canonicalize().ok();
        let replaces = |input: &PathBuf| place.is_some() && input.canonicalize().ok() == place;
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

/// The files that a run reads: settings, prices and data.
pub(super) fn inputs_of_run(
    settings: &Settings,
    config: Option<&Path>,
    resumed: Option<&RunMeta>,
) -> Vec<PathBuf> {
    let mut inputs = inputs(config, settings.questions.data_path.as_deref());
    inputs.extend(settings.budget.prices.clone());
    inputs.extend(resumed.and_then(|run| run.data_file.clone()));
    if let (None, Some(Source::Path(data))) = (&settings.questions.data_path, Source::downloaded())
    {
        inputs.push(data);
    }
    inputs
}

/// The files that every command with settings reads, and its data.
pub(super) fn inputs(config: Option<&Path>, data: Option<&str>) -> Vec<PathBuf> {
    let settings = [config_file(config).to_owned(), ".env".into()];
    settings
        .into_iter()
        .chain(data.map(PathBuf::from))
        .collect()
}
