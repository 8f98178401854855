//! Which file is at a path, to notice when it is another one.

use std::path::Path;

/// Distinguishes a file from another one of the same name.
pub(super) type FileId = (u64, u64);

#[cfg(unix)]
pub(super) fn file_id(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    let file = std::fs::metadata(path).ok()?;
    Some((file.dev(), file.ino()))
}

#[cfg(not(unix))]
pub(super) fn file_id(path: &Path) -> Option<FileId> {
    path.is_file().then_some((0, 0))
}
