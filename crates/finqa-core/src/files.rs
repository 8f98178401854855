//! Opens files that a user named. Only regular files are read as data, because a FIFO without a
//! writer blocks forever and a device may never end.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::{Path, PathBuf};

/// Opens a regular file. A pipe is allowed only as a descriptor inherited from the caller
/// (`/dev/stdin`, or `<(command)` in a shell).
///
/// # Errors
/// The system's error, or `InvalidInput` for a FIFO, a socket or a device.
pub fn open(path: &Path) -> Result<File> {
    let kind = std::fs::metadata(path)?.file_type();
    // Let the system report that a folder cannot be read.
    if kind.is_file() || kind.is_dir() || is_descriptor(path) {
        File::open(path)
    } else {
        Err(Error::new(
            ErrorKind::InvalidInput,
            "it is not a regular file but a FIFO, a socket or a device",
        ))
    }
}

/// Reads a file opened by [`open`] into memory.
///
/// # Errors
/// As [`open`].
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a file opened by [`open`] as UTF-8 text.
///
/// # Errors
/// As [`open`], and `InvalidData` if the file is not UTF-8.
pub fn read_to_string(path: &Path) -> Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Resolves a path that is a symbolic link to the path that it finally names, which need not exist.
/// A writer that replaces a file by renaming needs this, because it must replace the link's target
/// and not the link.
///
/// # Errors
/// The system's error, or `InvalidInput` after 40 links. Linux stops at the same number, because so
/// many links usually form a cycle.
pub fn resolve_links(path: &Path) -> Result<PathBuf> {
    const LINKS: usize = 40;
    let mut place = path.to_owned();
    for _ in 0..LINKS {
        match std::fs::symlink_metadata(&place) {
            Ok(found) if found.is_symlink() => {
                let target = std::fs::read_link(&place)?;
                // A relative target starts at the link's folder, and an absolute one replaces the path.
                place.pop();
                place.push(target);
            }
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => return Ok(place),
        }
    }
    Err(Error::new(ErrorKind::InvalidInput, "too many links"))
}

/// True if a path names a file descriptor that this process inherited.
pub(crate) fn is_descriptor(path: &Path) -> bool {
    ["stdin", "stdout", "stderr"]
        .iter()
        .any(|name| path == Path::new("/dev").join(name))
        || path.starts_with("/dev/fd")
        || path.starts_with("/proc/self/fd")
}

/// Makes a file readable for all users. A result is first written to a temporary file, and
/// temporary files are created as private.
#[cfg(unix)]
pub fn let_others_read(file: &File) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

/// Does nothing, because these permissions exist only on Unix.
#[cfg(not(unix))]
pub fn let_others_read(_file: &File) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_refused_and_descriptors_are_not() {
        let error = open(Path::new("/dev/zero")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
        assert!(is_descriptor(Path::new("/dev/fd/63")));
        assert!(!is_descriptor(Path::new("/dev/fd2")));
        assert_eq!(
            open(Path::new("/none")).unwrap_err().kind(),
            ErrorKind::NotFound
        );
    }
}
