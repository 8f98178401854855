//! Keeps loaded databases between calls, so that a call does not have to load its table again.

use std::collections::VecDeque;

use parking_lot::Mutex;

use super::database::Database;

/// Idle databases, each with the number of its table. A table has several databases after parallel
/// calls. The least recently used database is at the front and is closed first.
#[derive(Debug)]
pub(super) struct DatabasePool {
    idle: Mutex<VecDeque<(usize, Database)>>,
    capacity: usize,
}

impl DatabasePool {
    pub(super) fn new(capacity: usize) -> Self {
        let idle = Mutex::new(VecDeque::new());
        Self { idle, capacity }
    }

    /// Takes the most recently used idle database of a table; `None` if there is none.
    pub(super) fn take(&self, table: usize) -> Option<Database> {
        let mut idle = self.idle.lock();
        let at = idle.iter().rposition(|(number, _)| *number == table)?;
        idle.remove(at).map(|(_, database)| database)
    }

    /// Returns a database to the pool, which closes the least recently used one if it is full.
    pub(super) fn put(&self, table: usize, database: Database) {
        let dropped = {
            let mut idle = self.idle.lock();
            idle.push_back((table, database));
            if idle.len() > self.capacity {
                idle.pop_front()
            } else {
                None
            }
        };
        // Close the database outside of the lock, so that other calls do not wait for it.
        drop(dropped);
    }
}
