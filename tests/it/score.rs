//! Scoring, held to the figures that are known of real predictions.

mod behind;
mod files;
mod needs_data;
