//! Templates, strict; the one place that decides what a model is shown.
