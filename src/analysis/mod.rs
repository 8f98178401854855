//! Offline error analysis, comparison of runs.
