//! Identifies the file at a path, so that a file that was replaced or deleted is noticed.

use std::path::Path;

/// Device and inode. On systems without them, every file has the same id, so that only a deleted
/// file is noticed.
pub(super) type FileId = (u64, u64);

/// The id of the file at a path; `None` if no file can be found there.
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
