//! Plan, scheduler, journal and resume, events, summary.
