//! Model text to typed answers and verdicts, each leniency named and recorded.
