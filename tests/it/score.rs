//! Scoring, held to the figures that are known of real predictions.

mod behind;
mod files;
mod forms;
mod needs_data;
mod rows;
