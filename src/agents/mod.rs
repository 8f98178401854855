//! The analyst, the critic, the deterministic checks, and their wiring.
