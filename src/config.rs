//! Settings: flags over environment over `convfinqa.toml` over defaults.
