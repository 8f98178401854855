//! Walks the chain of causes behind an error.

use std::error::Error;

/// The innermost cause of an error, or the error itself if it has no cause. It names what
/// really happened; the layers above it often repeat an address, which may contain a password.
pub fn innermost<'e>(error: &'e (dyn Error + 'static)) -> &'e (dyn Error + 'static) {
    causes(error).last().unwrap_or(error)
}

/// The causes behind an error, outermost first, without the error itself.
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
