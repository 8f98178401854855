//! Every scoring rule, by its name.
