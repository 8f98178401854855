//! The official tokenisation, also the form of a leaderboard file.

/// Splits at `", "`; inside a piece emits up to and including `(`, what is
/// before `)`, and `)`. Ends with `EOF`. So `add(1,2)`, without the space, has
/// one argument and is not a valid step.
///
/// ```
/// use finqa_core::program::tokens::tokenise;
/// assert_eq!(tokenise("subtract(5829, 5735)"), ["subtract(", "5829", "5735", ")", "EOF"]);
/// ```
pub fn tokenise(program: &str) -> Vec<String> {
    let mut tokens: Vec<String> = pieces(program).map(str::to_owned).collect();
    tokens.push("EOF".to_owned());
    tokens
}

/// The tokens without `EOF`, borrowed.
pub(super) fn pieces(program: &str) -> impl Iterator<Item = &str> {
    program.split(", ").flat_map(|piece| {
        let mut rest = piece;
        std::iter::from_fn(move || {
            let end = match rest.find(['(', ')']) {
                None => rest.len(),
                Some(0) => 1,
                Some(at) if rest.as_bytes().get(at) == Some(&b'(') => at + 1,
                Some(at) => at,
            };
            let (token, tail) = rest.split_at_checked(end)?;
            rest = tail;
            (!token.is_empty()).then_some(token)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::tokenise;

    #[test]
    fn splits_as_the_official_code_does() {
        assert_eq!(tokenise("add(1,2)"), ["add(", "1,2", ")", "EOF"]);
        assert_eq!(tokenise("60.94"), ["60.94", "EOF"]);
        assert_eq!(tokenise(""), ["EOF"]);
        assert_eq!(
            tokenise("table_sum(revenue (net), none)"),
            ["table_sum(", "revenue (", "net", ")", "none", ")", "EOF"]
        );
        assert_eq!(tokenise("a)(b"), ["a", ")", "(", "b", "EOF"]);
    }
}
