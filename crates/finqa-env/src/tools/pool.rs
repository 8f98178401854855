//! Prepared databases, kept between calls.

use std::collections::VecDeque;

use parking_lot::Mutex;

use super::database::Database;

/// Idle databases by table; the least recently used one is dropped first.
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

    /// Keeps a database for the next call.
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
        // Closed outside the lock.
        drop(dropped);
    }
}
