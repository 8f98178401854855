//! Creates, opens and closes the file of a journal.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, params};

use crate::run::run_meta::RunMeta;

use super::error::FORMAT;
use super::file_id::file_id;
use super::{Journal, JournalError};

/// Time for which SQLite waits for a lock that another process has on the file. After that, the
/// journal counts as in use. Set by hand.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

impl Journal {
    /// Creates the journal of a new run. `prompts` are the templates by file name; `None` without a
    /// chat model.
    pub fn create(
        path: &Path,
        meta: &RunMeta,
        prompts: Option<&BTreeMap<String, String>>,
    ) -> Result<Self, JournalError> {
        // Write the file under another name and rename it. A run that is killed here then has no
        // journal; an empty one would block `--resume`.
        let unfinished = path.with_extension("sqlite.new");
        let entry = |entry: &'static str| {
            move |source| JournalError::Entry {
                path: path.to_owned(),
                entry: entry.to_owned(),
                source,
            }
        };
        let json = serde_json::to_string(meta).map_err(entry("meta"))?;
        let prompts = prompts.map(serde_json::to_string).transpose();
        let prompts = prompts.map_err(entry("prompts"))?;
        let write = || {
            let connection = Connection::open(&unfinished)?;
            connection.execute_batch(
                "BEGIN;
                 CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
                 CREATE TABLE texts (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, content TEXT NOT NULL) STRICT;
                 CREATE TABLE calls (question INTEGER NOT NULL, seq INTEGER NOT NULL, json TEXT NOT NULL,
                                     PRIMARY KEY (question, seq)) STRICT;
                 CREATE TABLE answers (question INTEGER PRIMARY KEY, id TEXT NOT NULL, part TEXT NOT NULL,
                                       epoch INTEGER NOT NULL, outcome TEXT NOT NULL, json TEXT NOT NULL) STRICT;",
            )?;
            connection.pragma_update(None, "user_version", FORMAT)?;
            connection.execute("INSERT INTO meta VALUES ('run', ?1)", params![json])?;
            if let Some(json) = &prompts {
                connection.execute("INSERT INTO meta VALUES ('prompts', ?1)", params![json])?;
            }
            connection.execute_batch("COMMIT")?;
            connection.close().map_err(|(_, source)| source)
        };
        let rename = |source| JournalError::Rename {
            path: path.to_owned(),
            source,
        };
        // Remove the remains of a killed process. The caller holds the run's lock, so no other
        // process is writing these files.
        // The rollback journal goes first: one that is left alone would be applied to a new file
        // by SQLite.
        for suffix in ["-journal", ""] {
            let mut left = unfinished.clone().into_os_string();
            left.push(suffix);
            match std::fs::remove_file(left) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(rename(error)),
                _ => {}
            }
        }
        write().map_err(|source| JournalError::sqlite(path, source))?;
        std::fs::rename(&unfinished, path).map_err(rename)?;
        Self::open(path)
    }

    /// Opens the journal of an earlier run to continue it.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let mut journal = Self::connect(path)?.checked()?;
        // With a write-ahead log, a killed process loses nothing that was committed, and readers
        // (report, analyze) do not block the writer. With `synchronous=NORMAL`, SQLite syncs only
        // at checkpoints, so the last commits may be lost if the power fails.
        let pragma = |name, value| journal.connection.pragma_update(None, name, value);
        pragma("journal_mode", "WAL")
            .and_then(|()| pragma("synchronous", "NORMAL"))
            .map_err(|source| journal.sqlite_error(source))?;
        journal.writes = true;
        Ok(journal)
    }

    /// Opens a journal for reading. This works in a read-only folder too, unless a killed process
    /// left a log there.
    pub fn read(path: &Path) -> Result<Self, JournalError> {
        match Self::connect(path)?.checked() {
            Err(JournalError::Sqlite { path, reason })
                if reason.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) =>
            {
                Err(JournalError::Busy { path })
            }
            opened => opened,
        }
    }

    /// Opens the file for writing, or for reading if it is write-protected.
    fn connect(path: &Path) -> Result<Self, JournalError> {
        let sqlite = |source| JournalError::sqlite(path, source);
        // Without SQLITE_OPEN_CREATE, a missing journal is an error, not a new and empty file. No
        // mutex is needed, because only one thread at a time uses a connection.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(sqlite)?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(sqlite)?;
        Ok(Self {
            path: path.to_owned(),
            connection,
            file: file_id(path),
            writes: false,
        })
    }

    /// Checks that the file is a journal in the format that this program reads.
    fn checked(self) -> Result<Self, JournalError> {
        let found: i64 = self
            .connection
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .map_err(|source| self.sqlite_error(source))?;
        let path = self.path.clone();
        match found {
            0 => Err(JournalError::Empty { path }),
            FORMAT => Ok(self),
            found => Err(JournalError::Format { path, found }),
        }
    }
}

impl Journal {
    /// Closes a journal whose file will be moved.
    ///
    /// # Errors
    /// [`JournalError`] if a part of the journal is still in the log next to the file, because that
    /// part would be lost if only the file were moved.
    pub fn close(mut self) -> Result<(), JournalError> {
        self.writes = false;
        match self.leave_log() {
            Ok(mode) if mode == "delete" => Ok(()),
            Ok(_) => Err(JournalError::Busy {
                path: self.path.clone(),
            }),
            Err(source) => Err(self.sqlite_error(source)),
        }
    }

    /// Merges the log into the file, without waiting for readers. Returns SQLite's journal mode
    /// afterwards: `delete` on success, `wal` if the log is still in use.
    fn leave_log(&self) -> rusqlite::Result<String> {
        self.connection.busy_timeout(Duration::ZERO)?;
        let mode = |row: &rusqlite::Row<'_>| row.get(0);
        self.connection
            .pragma_update_and_check(None, "journal_mode", "DELETE", mode)
    }
}

impl Drop for Journal {
    /// Merges the log, so that the journal is one file, which any host can read, even in a
    /// read-only folder. If another process is reading the journal, the log remains, as after a
    /// kill.
    fn drop(&mut self) {
        if self.writes && file_id(&self.path) == self.file {
            let _ = self.leave_log();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A merged journal that is moved without its log would be damaged.
    #[test]
    fn a_journal_whose_log_is_still_needed_is_not_said_to_be_closed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.sqlite");
        let meta = RunMeta::default();
        drop(Journal::create(&path, &meta, None).unwrap());
        let journal = Journal::open(&path).unwrap();
        journal.unpause().unwrap();
        let reader = Connection::open(&path).unwrap();
        let read = "BEGIN; SELECT count(*) FROM answers;";
        reader
            .query_row("SELECT count(*) FROM answers", [], |_| Ok(()))
            .unwrap();
        reader.execute_batch(read).unwrap();
        assert!(journal.close().is_err());
        drop(reader);
        let journal = Journal::open(&path).unwrap();
        journal.close().unwrap();
        assert!(!path.with_extension("sqlite-wal").exists());
    }

    #[test]
    fn a_journal_that_is_there_holds_its_prompts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.sqlite");
        let meta = RunMeta::default();
        let prompts = BTreeMap::from([("analyst.txt".to_owned(), "Answer.".to_owned())]);
        let journal = Journal::create(&path, &meta, Some(&prompts)).unwrap();
        assert_eq!(journal.prompts().unwrap(), prompts);
        let offline = folder.path().join("offline.sqlite");
        let journal = Journal::create(&offline, &meta, None).unwrap();
        assert!(journal.prompts().unwrap().is_empty());

        // The remains of a process that was killed before the rename do not block a new journal.
        let killed = folder.path().join("killed.sqlite");
        std::fs::copy(&path, killed.with_extension("sqlite.new")).unwrap();
        std::fs::write(folder.path().join("killed.sqlite.new-journal"), "half").unwrap();
        let journal = Journal::create(&killed, &meta, Some(&prompts)).unwrap();
        assert_eq!(journal.prompts().unwrap(), prompts);
        // The message of SQLite is shown without the program's SQL.
        let twice = "CREATE TABLE meta (key TEXT)";
        let error = journal.sqlite(|connection| connection.execute_batch(twice));
        let line = error.unwrap_err().to_string();
        assert!(
            line.contains("already exists") && !line.contains("CREATE"),
            "{line}"
        );
    }
}
