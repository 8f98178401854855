//! Identifies the file at a path, to notice that it was replaced or deleted.

use std::path::Path;

/// Device and inode. Where there are none, all files have one id, so that only a deleted file is
/// noticed.
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
