//! Error analysis and comparison, over files and runs.

mod causes;
mod comparison;
mod needs_data;
