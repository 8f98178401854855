//! The causes of an error.

use std::error::Error;

/// The last of an error's causes, which says what really happened; the layers
/// above it often repeat an address, which may hold a password.
pub fn innermost<'e>(error: &'e (dyn Error + 'static)) -> &'e (dyn Error + 'static) {
    causes(error).last().unwrap_or(error)
}

/// The causes behind an error, itself not among them.
pub(crate) fn causes<'e>(
    error: &'e (dyn Error + 'static),
) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    let mut next = error.source();
    std::iter::from_fn(move || {
        let cause = next?;
        next = cause.source();
        Some(cause)
    })
}
