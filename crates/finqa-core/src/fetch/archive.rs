//! Blob ids and the archive.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use sha1::{Digest, Sha1};
use tempfile::NamedTempFile;
use zip::ZipArchive;

use crate::files;

use super::{DownloadError, DownloadEvent, PublishedFile};

/// No published file is a tenth of this; a hostile archive might be any size.
pub(super) const LARGEST: u64 = 1 << 30;

/// The git blob id of a file.
pub(super) fn blob_id(path: &Path) -> std::io::Result<String> {
    let file = files::open(path)?;
    let mut hasher = Sha1::new();
    hasher.update(format!("blob {}\0", file.metadata()?.len()));
    let mut reader = BufReader::with_capacity(64 * 1024, file);
    let mut buffer = [0_u8; 16 * 1024];
    loop {
        let n = reader.read(&mut buffer)?;
        if n == 0 {
            break;
        }
        hasher.update(buffer.get(..n).unwrap_or_default());
    }
    Ok(hasher
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

/// Checks that the file is the published one; any file passes if no id is known.
pub fn verify(path: &Path, published: &PublishedFile) -> Result<(), DownloadError> {
    let Some(expected) = &published.blob else {
        return Ok(());
    };
    let found = blob_id(path).map_err(|source| DownloadError::write(path, source))?;
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

/// True if every required file exists and, where an id is known, is the published one.
pub(super) fn all_there(folder: &Path, files: &[PublishedFile]) -> bool {
    files.iter().filter(|file| file.required).all(|file| {
        let path = folder.join(&file.name);
        path.is_file() && verify(&path, file).is_ok()
    })
}

/// The files that are there.
pub(super) fn present(folder: &Path, files: &[PublishedFile]) -> Vec<PathBuf> {
    files
        .iter()
        .map(|file| folder.join(&file.name))
        .filter(|path| path.is_file())
        .collect()
}

/// Unpacks the files into `folder`, each under its name only once it is verified.
pub(super) fn unpack(
    path: &Path,
    folder: &Path,
    files: &[PublishedFile],
    progress: &mut (dyn FnMut(DownloadEvent) + Send),
) -> Result<Vec<PathBuf>, DownloadError> {
    let unreadable = |source| DownloadError::Archive {
        path: path.to_owned(),
        source,
    };
    let file = files::open(path).map_err(|source| DownloadError::write(path, source))?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(unreadable)?;
    // A name that cannot be read is not ours.
    let entries: Vec<String> = archive
        .file_names()
        .filter_map(|name| Some(name.ok()?.into_owned()))
        .collect();
    let mut out = Vec::new();
    for published in files {
        let Some(name) = entry(&entries, &published.name) else {
            if published.required {
                return Err(DownloadError::NotInArchive {
                    path: path.to_owned(),
                    name: published.name.clone(),
                    found: entries.join(", "),
                });
            }
            progress(DownloadEvent::NotInArchive {
                name: published.name.clone(),
            });
            continue;
        };
        let target = folder.join(&published.name);
        let write = |source| DownloadError::write(&target, source);
        let mut unpacked = NamedTempFile::new_in(folder).map_err(write)?;
        let mut entry = archive.by_name(name).map_err(unreadable)?.take(LARGEST + 1);
        let bytes = copy(&mut entry, unpacked.as_file_mut(), path, &target)?;
        if bytes > LARGEST {
            return Err(DownloadError::TooLarge {
                path: path.to_owned(),
                name: published.name.clone(),
                limit: LARGEST,
            });
        }
        unpacked.as_file().sync_all().map_err(write)?;
        if let Err(DownloadError::WrongHash {
            expected, found, ..
        }) = verify(unpacked.path(), published)
        {
            return Err(DownloadError::WrongHash {
                path: target,
                expected,
                found,
            });
        }
        files::let_others_read(unpacked.as_file()).map_err(write)?;
        unpacked
            .persist(&target)
            .map_err(|failed| DownloadError::write(&target, failed.error))?;
        if published.blob.is_some() {
            progress(DownloadEvent::Verified {
                name: published.name.clone(),
            });
        }
        progress(DownloadEvent::Unpacked {
            name: published.name.clone(),
            bytes,
        });
        out.push(target);
    }
    Ok(out)
}

/// Copies, and distinguishes a broken archive from a full disk.
fn copy(
    entry: &mut impl Read,
    file: &mut File,
    archive: &Path,
    target: &Path,
) -> Result<u64, DownloadError> {
    let mut buffer = [0_u8; 16 * 1024];
    let mut bytes = 0;
    loop {
        let n = entry
            .read(&mut buffer)
            .map_err(|source| DownloadError::Archive {
                path: archive.to_owned(),
                source: zip::result::ZipError::Io(source),
            })?;
        if n == 0 {
            return Ok(bytes);
        }
        std::io::Write::write_all(file, buffer.get(..n).unwrap_or_default())
            .map_err(|source| DownloadError::write(target, source))?;
        bytes += n as u64;
    }
}

/// The entry with this file name in any folder, but not a resource fork of macOS.
fn entry<'a>(entries: &'a [String], name: &str) -> Option<&'a str> {
    entries
        .iter()
        .filter(|entry| !entry.starts_with("__MACOSX"))
        .find(|entry| entry.rsplit('/').next() == Some(name))
        .map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blob_ids_are_gits() {
        let file = NamedTempFile::new().unwrap();
        // `git hash-object` of an empty file, and of `hello\n`.
        assert_eq!(
            blob_id(file.path()).unwrap(),
            "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
        );
        std::fs::write(file.path(), "hello\n").unwrap();
        assert_eq!(
            blob_id(file.path()).unwrap(),
            "ce013625030ba8dba906f756967f9e9ca394464a"
        );
    }
}
