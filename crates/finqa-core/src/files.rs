//! Opens files that a user named. A FIFO without a writer blocks forever and a device may
//! have no end, so neither is read as data.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::{Path, PathBuf};

/// Opens a regular file. A descriptor that the caller was started with
/// (`/dev/stdin`, `<(command)` of a shell) may be a pipe.
///
/// # Errors
/// The system's, or that the file is a FIFO, a socket or a device.
pub fn open(path: &Path) -> Result<File> {
    let kind = std::fs::metadata(path)?.file_type();
    // Opening a folder fails with the system's message.
    if kind.is_file() || kind.is_dir() || is_descriptor(path) {
        File::open(path)
    } else {
        Err(Error::new(
            ErrorKind::InvalidInput,
            "it is not a regular file but a FIFO, a socket or a device",
        ))
    }
}

/// The bytes of such a file.
///
/// # Errors
/// As [`open`].
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of such a file.
///
/// # Errors
/// As [`open`], and if it is not UTF-8.
pub fn read_to_string(path: &Path) -> Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// The place that a path leads to, through its links; nothing need be there.
///
/// # Errors
/// The system's, links that lead in a circle among them.
pub fn resolve_links(path: &Path) -> Result<PathBuf> {
    const LINKS: usize = 40;
    let mut place = path.to_owned();
    for _ in 0..LINKS {
        match std::fs::symlink_metadata(&place) {
            Ok(found) if found.is_symlink() => {
                let target = std::fs::read_link(&place)?;
                place.pop();
                place.push(target);
            }
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => return Ok(place),
        }
    }
    Err(Error::new(ErrorKind::InvalidInput, "too many links"))
}

/// True if a path names a descriptor that this process was started with.
pub fn is_descriptor(path: &Path) -> bool {
    ["stdin", "stdout", "stderr"]
        .iter()
        .any(|name| path == Path::new("/dev").join(name))
        || path.starts_with("/dev/fd")
        || path.starts_with("/proc/self/fd")
}

/// Lets other users read a file: a temporary one, which becomes a result, is private.
#[cfg(unix)]
pub fn let_others_read(file: &File) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

/// Lets other users read a file.
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
