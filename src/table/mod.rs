//! Tables as filed, read into typed cells, repaired and rendered.
