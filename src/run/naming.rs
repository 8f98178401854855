//! Finds the run that a user names.

use std::path::{Path, PathBuf};

use super::folder::FolderError;

/// Maximum number of ids that an error names.
const SHOWN: usize = 8;

/// The text by which a user names a run, as a path. The empty one is a prefix of every id.
pub(super) fn path_of(run: &str) -> Result<&Path, FolderError> {
    match run {
        "" => Err(FolderError::NoName),
        run => Ok(Path::new(run)),
    }
}

/// The one of `all` runs, oldest first, that is meant by its id, a prefix of its id, or `last`
/// for the newest.
pub(super) fn named<T>(
    run: &str,
    mut all: Vec<T>,
    id: impl Fn(&T) -> String,
    runs: PathBuf,
) -> Result<T, FolderError> {
    let mut found = match all.iter().position(|one| id(one) == run) {
        Some(at) => vec![all.swap_remove(at)],
        None if run == "last" => all.pop().into_iter().collect(),
        None => {
            all.retain(|one| id(one).starts_with(run));
            all
        }
    };
    match (found.pop(), found.len()) {
        (Some(one), 0) => Ok(one),
        (None, _) => Err(FolderError::NoSuchRun {
            run: run.to_owned(),
            folder: runs,
        }),
        (Some(newest), others) => {
            found.push(newest);
            let newest_first = found.iter().rev().take(SHOWN);
            let mut some: Vec<String> = newest_first.map(id).collect();
            if others + 1 > SHOWN {
                some.push(format!("{} more", others + 1 - SHOWN));
            }
            Err(FolderError::Ambiguous {
                run: run.to_owned(),
                folder: runs,
                count: others + 1,
                some: some.join(", "),
            })
        }
    }
}
