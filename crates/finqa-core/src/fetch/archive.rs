//! Blob ids and the archive.

use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};

use sha1::{Digest, Sha1};
use tempfile::NamedTempFile;
use zip::ZipArchive;

use crate::files;

use super::DownloadError;
use super::options::{DownloadEvent, LARGEST, PublishedFile};

/// The git blob id of a file with these bytes: the SHA-1 of `blob <length>\0` and the bytes.
pub fn blob_id(bytes: &[u8]) -> String {
    let mut hasher = Sha1::new();
    hasher.update(format!("blob {}\0", bytes.len()));
    hasher.update(bytes);
    let hash = hasher.finalize();
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Checks that these bytes are the published file's; any pass if its blob id is not known.
pub(super) fn verify(
    bytes: &[u8],
    path: &Path,
    published: &PublishedFile,
) -> Result<(), DownloadError> {
    let Some(expected) = published.blob.as_ref() else {
        return Ok(());
    };
    let found = blob_id(bytes);
    match found == *expected {
        true => Ok(()),
        false => Err(DownloadError::WrongHash {
            path: path.to_owned(),
            expected: expected.clone(),
            found,
        }),
    }
}

/// The paths of the files, if all of them are there and verify.
pub(super) fn all_there(folder: &Path, files: &[PublishedFile]) -> Option<Vec<PathBuf>> {
    let intact = |file: &PublishedFile| {
        let path = folder.join(&file.name);
        let bytes = files::read(&path).ok()?;
        verify(&bytes, &path, file).ok().map(|()| path)
    };
    files.iter().map(intact).collect()
}

/// Unpacks the files into the archive's folder, each under its name only once it is verified.
pub(super) fn unpack(
    path: &Path,
    archive: &[u8],
    files: &[PublishedFile],
    progress: &mut (dyn FnMut(DownloadEvent) + Send),
) -> Result<Vec<PathBuf>, DownloadError> {
    let unreadable = |source| DownloadError::Archive {
        path: path.to_owned(),
        source,
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut archive = ZipArchive::new(Cursor::new(archive)).map_err(unreadable)?;
    // A name that cannot be read is not ours.
    let entries: Vec<String> = archive
        .file_names()
        .filter_map(|name| Some(name.ok()?.into_owned()))
        .collect();
    let mut out = Vec::new();
    for published in files {
        let name = published.name.clone();
        let Some(entry) = entry(&entries, &name) else {
            return Err(DownloadError::NotInArchive {
                path: path.to_owned(),
                name,
                found: entries.join(", "),
            });
        };
        let mut bytes = Vec::new();
        let entry = archive.by_name(entry).map_err(unreadable)?;
        let read = entry.take(LARGEST + 1).read_to_end(&mut bytes);
        read.map_err(|source| unreadable(source.into()))?;
        if bytes.len() as u64 > LARGEST {
            return Err(DownloadError::LargerThanAllowed {
                url: format!("{name} in {}", path.display()),
                limit: LARGEST,
            });
        }
        let target = folder.join(&name);
        verify(&bytes, &target, published)?;
        write(&bytes, &target)?;
        let bytes = bytes.len() as u64;
        progress(DownloadEvent::Unpacked { name, bytes });
        out.push(target);
    }
    Ok(out)
}

/// Writes a file whole or not at all.
///
/// # Errors
/// [`DownloadError::Write`].
pub fn write(bytes: &[u8], target: &Path) -> Result<(), DownloadError> {
    let written = || {
        let folder = target.parent().unwrap_or(Path::new("."));
        let mut file = NamedTempFile::new_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        files::let_others_read(file.as_file())?;
        file.persist(target)?;
        Ok(())
    };
    written().map_err(DownloadError::at(target))
}

/// The entry with this file name in any folder, but not a resource fork of macOS.
fn entry<'a>(entries: &'a [String], name: &str) -> Option<&'a str> {
    let mut entries = entries
        .iter()
        .filter(|entry| !entry.starts_with("__MACOSX"));
    let found = entries.find(|entry| entry.rsplit('/').next() == Some(name));
    found.map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blob_ids_are_gits() {
        // `git hash-object` of an empty file, and of `hello\n`.
        assert_eq!(blob_id(b""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(
            blob_id(b"hello\n"),
            "ce013625030ba8dba906f756967f9e9ca394464a"
        );
    }
}
