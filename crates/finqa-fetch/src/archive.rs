//! Verifies the published archive by its git blob id, and unpacks it.

use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};

use sha1::{Digest, Sha1};
use tempfile::NamedTempFile;
use zip::ZipArchive;

use finqa_core::files;

use crate::DownloadError;
use crate::options::PublishedFile;

/// The git blob id of a file with these bytes: the SHA-1 of `blob <length>\0` followed by the
/// bytes.
pub fn blob_id(bytes: &[u8]) -> String {
    let mut hasher = Sha1::new();
    hasher.update(format!("blob {}\0", bytes.len()));
    hasher.update(bytes);
    let hash = hasher.finalize();
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Checks the bytes against the published file's blob id. A file whose id is not known always
/// passes: it was unpacked from a verified archive, or the caller verifies it.
pub(crate) fn verify(
    bytes: &[u8],
    path: &Path,
    published: &PublishedFile,
) -> Result<(), DownloadError> {
    let Some(expected) = published.blob.as_ref() else {
        return Ok(());
    };
    let found = blob_id(bytes);
    if found == *expected {
        Ok(())
    } else {
        Err(DownloadError::WrongHash {
            path: path.to_owned(),
            expected: expected.clone(),
            found,
        })
    }
}

/// The paths of these files if each of them exists and passes [`verify`]; otherwise `None`. A file
/// that cannot be read counts as missing, and is then downloaded again.
pub(crate) fn all_there(folder: &Path, files: &[PublishedFile]) -> Option<Vec<PathBuf>> {
    let intact = |file: &PublishedFile| {
        let path = folder.join(&file.name);
        let bytes = files::read(&path).ok()?;
        verify(&bytes, &path, file).ok().map(|()| path)
    };
    files.iter().map(intact).collect()
}

/// Unpacks `files` from the verified archive into the folder of `path`, and refuses an entry of
/// more than `most` bytes. Returns the paths of the files.
pub(crate) fn unpack(
    path: &Path,
    archive: &[u8],
    files: &[PublishedFile],
    most: u64,
) -> Result<Vec<PathBuf>, DownloadError> {
    let unreadable = |reason: String| DownloadError::Archive {
        path: path.to_owned(),
        reason,
    };
    let mut archive =
        ZipArchive::new(Cursor::new(archive)).map_err(|error| unreadable(error.to_string()))?;
    // Skip entries whose names cannot be read; the names of the published files can be.
    let entries: Vec<String> = archive
        .file_names()
        .filter_map(|name| Some(name.ok()?.into_owned()))
        .collect();
    let mut out = Vec::new();
    for published in files {
        let name = &published.name;
        let missing = || unreadable(format!("it has no {name}, only {}", entries.join(", ")));
        let entry = entry(&entries, name).ok_or_else(missing)?;
        let mut bytes = Vec::new();
        let read = archive.by_name(entry).map_err(|error| error.to_string());
        let read = read.and_then(|entry| {
            // A hostile archive can unpack to far more than its own size, so read at most one byte
            // over the limit.
            let mut entry = entry.take(most.saturating_add(1));
            entry
                .read_to_end(&mut bytes)
                .map_err(|error| error.to_string())
        });
        if read.map_err(unreadable)? as u64 > most {
            return Err(unreadable(format!("{name} is larger than {most} bytes")));
        }
        let target = path.with_file_name(name);
        write(&bytes, &target)?;
        out.push(target);
    }
    Ok(out)
}

/// Writes a file through a temporary file and a rename, so that no reader sees part of it. Creates
/// the folder if it is missing.
///
/// # Errors
/// [`DownloadError::Write`].
pub fn write(bytes: &[u8], target: &Path) -> Result<(), DownloadError> {
    let written = || {
        // Only a root or an empty path has no parent.
        let folder = target.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        let mut file = NamedTempFile::new_in(folder)?;
        file.write_all(bytes)?;
        // Before the rename, so that no crash after it leaves the name without the bytes.
        file.as_file().sync_all()?;
        // A temporary file is private to its user.
        files::let_others_read(file.as_file())?;
        file.persist(target)?;
        Ok(())
    };
    written().map_err(DownloadError::at(target))
}

/// The first entry with this file name, in any folder except `__MACOSX`, where macOS puts resource forks
/// with the same names.
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
    fn an_entry_is_found_by_its_name_in_any_folder() {
        let entries = ["a/dev.json", "__MACOSX/b/train.json", "b/train.json"].map(str::to_owned);
        assert_eq!(entry(&entries, "train.json"), Some("b/train.json"));
        assert_eq!(entry(&entries, "test.json"), None);
    }

    #[test]
    fn an_entry_over_the_limit_is_refused_and_not_cut() {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let stored = zip::write::SimpleFileOptions::default();
        archive.start_file("data/train.json", stored).unwrap();
        archive.write_all(b"[1, 2, 3]").unwrap();
        let archive = archive.finish().unwrap().into_inner();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data.zip");
        let files = [PublishedFile::new("train.json", None)];
        let refused = unpack(&path, &archive, &files, 8).unwrap_err();
        assert!(refused.to_string().contains("train.json is larger than 8"));
        assert!(!folder.path().join("train.json").exists());
        let unpacked = unpack(&path, &archive, &files, 9).unwrap();
        assert_eq!(std::fs::read(&unpacked[0]).unwrap(), b"[1, 2, 3]");
    }

    #[test]
    fn blob_ids_are_gits() {
        // The outputs of `git hash-object` for an empty file and for `hello\n`.
        assert_eq!(blob_id(b""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(
            blob_id(b"hello\n"),
            "ce013625030ba8dba906f756967f9e9ca394464a"
        );
    }
}
