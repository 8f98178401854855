//! Loaded databases that are kept between calls, so that a call need not load its table again.

use std::collections::VecDeque;

use parking_lot::Mutex;

use super::database::Database;

/// Idle databases, each with the number of its table. A table has several after calls that ran at
/// the same time. The least recently used one is at the front, and is closed first.
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

    /// The most recently used idle database of a table.
    pub(super) fn take(&self, table: usize) -> Option<Database> {
        let mut idle = self.idle.lock();
        let at = idle.iter().rposition(|(number, _)| *number == table)?;
        idle.remove(at).map(|(_, database)| database)
    }

    /// Returns a database for the next call.
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
        // Close the database after the lock is released.
        drop(dropped);
    }
}
