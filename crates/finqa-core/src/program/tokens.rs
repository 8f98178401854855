//! Splits a program into the official tokens. Prediction files for the leaderboard contain these
//! tokens too.

/// Splits a program at `", "`. Each piece is split again into the text up to and including `(`, the
/// text before `)`, and `)`. The last token is `EOF`. So `add(1,2)`, without a space, has one
/// argument and is not a valid step.
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

/// Joins tokens in the form of [`tokenise`] to a program. `EOF` is dropped.
///
/// ```
/// use finqa_core::program::tokens::join;
/// assert_eq!(join(["subtract(", "5829", "5735", ")", "EOF"]), "subtract(5829, 5735)");
/// ```
pub fn join<'t>(tokens: impl IntoIterator<Item = &'t str>) -> String {
    let mut program = String::new();
    for token in tokens.into_iter().filter(|token| *token != "EOF") {
        if !program.is_empty() && !program.ends_with('(') && token != ")" {
            program.push_str(", ");
        }
        program.push_str(token);
    }
    program
}

/// The tokens of a program, without `EOF`.
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
    use super::{join, tokenise};

    #[test]
    fn tokens_are_joined_to_the_program_that_they_were_made_of() {
        for program in [
            "subtract(206588, 181001), divide(#0, 181001)",
            "table_sum(revenue (net), none)",
            "60.94",
            "",
        ] {
            let tokens = tokenise(program);
            assert_eq!(join(tokens.iter().map(String::as_str)), program);
        }
        assert_eq!(
            join(["add(1, 2)", "divide(#0, 3)"]),
            "add(1, 2), divide(#0, 3)"
        );
    }

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
