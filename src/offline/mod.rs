//! The embedded pair: answers without a network or a key.
