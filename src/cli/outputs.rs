//! Files that options name for output. They are written at the end of a command, and so are
//! checked before it asks or reads anything.

use std::path::{Path, PathBuf};

use crate::dataset::Source;
use crate::output::check_writable;
use crate::run::RunMeta;
use crate::settings::Settings;
use finqa_core::files;

use super::Failure;
use super::args::ControlArgs;
use super::exit::with_output_hint;
use super::settings::config_file;

/// A file to write, with the option that names it and its placeholder.
pub(super) type OutputOption<'a> = (&'static str, Option<&'a Path>);

/// Refuses an output that cannot be written, or that would replace an input or another output.
///
/// # Errors
/// [`Exit::Usage`](super::Exit::Usage), naming the path as it was given, and the option.
pub(super) fn check_outputs(
    outputs: &[OutputOption<'_>],
    inputs: &[PathBuf],
) -> anyhow::Result<()> {
    let mut written: Vec<&Path> = Vec::new();
    for (option, path) in outputs {
        let Some(path) = *path else { continue };
        let refused = |what: &str| {
            let path = path.display();
            let line = format!("{path}: {what}; choose another path with {option}");
            Err(Failure::usage(line).into())
        };
        if inputs.iter().any(|input| is_same_file(path, input)) {
            return refused("the command reads this file and would replace it");
        }
        if written.iter().any(|other| is_same_file(path, other)) {
            return refused("another option writes this file");
        }
        check_writable(path).map_err(with_output_hint(option))?;
        written.push(path);
    }
    Ok(())
}

/// The files that a run reads: settings, prices, prompts and data.
pub(super) fn inputs_of_run(
    settings: &Settings,
    control: &ControlArgs,
    resumed: Option<&RunMeta>,
) -> Vec<PathBuf> {
    let mut inputs = inputs(
        control.config.config.as_deref(),
        settings.questions.data_path.as_deref(),
    );
    inputs.extend(settings.budget.prices.clone());
    inputs.extend(resumed.and_then(|run| run.data_file.clone()));
    if let (None, Some(Source::Path(data))) = (&settings.questions.data_path, Source::downloaded())
    {
        inputs.push(data);
    }
    let prompts = settings.agents.prompts.iter();
    let prompts = prompts.filter_map(|folder| std::fs::read_dir(folder).ok());
    inputs.extend(prompts.flatten().flatten().map(|entry| entry.path()));
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

/// True if two paths lead to the same file, which need not exist.
fn is_same_file(a: &Path, b: &Path) -> bool {
    match (a.is_file(), b.is_file()) {
        (true, true) => same_file::is_same_file(a, b).unwrap_or_default(),
        _ if a.exists() || b.exists() => false,
        _ => place(a).is_some_and(|place_a| place(b) == Some(place_a)),
    }
}

/// The whole path of a file that does not exist yet.
fn place(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(files::resolve_links(path).ok()?).ok()?;
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
}
