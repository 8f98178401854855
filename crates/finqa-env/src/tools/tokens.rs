//! Splits a SQL statement into tokens, and checks the rules for queries by these tokens.
//!
//! Comments are skipped, and a literal or a quoted name is a single opaque token, so that its
//! content neither satisfies nor breaks a rule. OpenEnv's `finqa_env` searches the text of the
//! statement, so that a comment with `in` passes as a filter.

/// A token outside comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SqlToken<'a> {
    /// A bare word: keyword or name.
    Word(&'a str),
    /// A literal, a quoted name or a number.
    Opaque,
    /// `*`
    Star,
    /// `.`
    Dot,
    /// `,`
    Comma,
    /// `;`, with its byte offset.
    Semicolon(usize),
    /// Anything else, one character at a time.
    Other(char),
}

impl SqlToken<'_> {
    fn is(&self, word: &str) -> bool {
        matches!(self, Self::Word(w) if w.eq_ignore_ascii_case(word))
    }
}

/// An upper bound for the number of terms to which a statement expands when `SQLite` replaces
/// columns by the terms of the subqueries that define them: the product of the numbers of terms of
/// all SELECTs. Usually, there are far fewer. Keywords other than the most frequent ones count as
/// terms, which only raises the bound.
pub(super) fn most_terms(tokens: &[SqlToken<'_>]) -> usize {
    const KEYWORDS: [&str; 6] = ["from", "where", "as", "and", "or", "with"];
    let is_term = |token: &&SqlToken<'_>| match token {
        SqlToken::Word(_) => !KEYWORDS.iter().any(|word| token.is(word)),
        SqlToken::Opaque => true,
        _ => false,
    };
    tokens
        .split(|token| token.is("select"))
        .map(|part| part.iter().filter(is_term).count().max(1))
        .fold(1, usize::saturating_mul)
}

/// Splits a statement into tokens. An unterminated comment or literal ends at the end of the text,
/// as in `SQLite`.
pub(super) fn tokens(sql: &str) -> Vec<SqlToken<'_>> {
    let mut found = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => end_of(rest, 2, "*/"),
            c if c.is_ascii_whitespace() => 1,
            '\'' | '"' | '`' => {
                found.push(SqlToken::Opaque);
                quoted(rest, first)
            }
            '[' => {
                found.push(SqlToken::Opaque);
                end_of(rest, 1, "]")
            }
            c if is_word(c) => {
                let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                let word = rest.get(..end).unwrap_or(rest);
                let number = c.is_ascii_digit();
                found.push(if number {
                    SqlToken::Opaque
                } else {
                    SqlToken::Word(word)
                });
                end
            }
            c => {
                found.push(match c {
                    '*' => SqlToken::Star,
                    '.' => SqlToken::Dot,
                    ',' => SqlToken::Comma,
                    ';' => SqlToken::Semicolon(sql.len() - rest.len()),
                    other => SqlToken::Other(other),
                });
                c.len_utf8()
            }
        };
        rest = rest.get(length..).unwrap_or("");
    }
    found
}

/// True if `SQLite` accepts the character in a bare name. It accepts all characters beyond ASCII.
fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$' || !c.is_ascii()
}

/// The length in bytes up to and including the first `end` after byte `from`; the length of the
/// text if there is no `end`.
fn end_of(text: &str, from: usize, end: &str) -> usize {
    text.get(from..)
        .and_then(|t| t.find(end))
        .map_or(text.len(), |at| from + at + end.len())
}

/// The length in bytes of the quoted text at the start. A doubled quote is one quote of its
/// content.
fn quoted(text: &str, quote: char) -> usize {
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c == quote && chars.next_if(|(_, next)| *next == quote).is_none() {
            return at + 1;
        }
    }
    text.len()
}

/// True if a `*` is an item of a select list: `*` or `t.*`, after `SELECT`, `DISTINCT`, `ALL` or a
/// comma. The `*` of `count(*)` or of a product does not count.
pub(super) fn selects_star(tokens: &[SqlToken<'_>]) -> bool {
    tokens.windows(2).any(|pair| match pair {
        [before, SqlToken::Star] => {
            matches!(before, SqlToken::Dot | SqlToken::Comma)
                || ["select", "distinct", "all"].iter().any(|w| before.is(w))
        }
        _ => false,
    })
}

/// True if the statement contains a word that OpenEnv's `finqa_env` counts as a filter. The `ALL`
/// of `UNION ALL` also counts.
pub(super) fn has_filter(tokens: &[SqlToken<'_>]) -> bool {
    const FILTERS: [&str; 11] = [
        "where", "having", "in", "exists", "any", "some", "all", "like", "between", "case",
        "filter",
    ];
    const NULL_TESTS: [&[&str]; 2] = [&["is", "null"], &["is", "not", "null"]];
    let is_test = |test: &&[&str]| {
        let is =
            |found: &[SqlToken<'_>]| found.iter().zip(*test).all(|(token, word)| token.is(word));
        tokens.windows(test.len()).any(is)
    };
    let is_filter = |token: &SqlToken<'_>| FILTERS.iter().any(|word| token.is(word));
    tokens.iter().any(is_filter) || NULL_TESTS.iter().any(is_test)
}

/// The byte offset at which the only statement ends; `None` if a token follows its semicolon.
pub(super) fn single_statement(sql: &str, tokens: &[SqlToken<'_>]) -> Option<usize> {
    let end = tokens
        .iter()
        .position(|t| matches!(t, SqlToken::Semicolon(_)));
    match (end, end.and_then(|end| tokens.get(end))) {
        (Some(end), Some(SqlToken::Semicolon(at))) => (end + 1 == tokens.len()).then_some(*at),
        _ => Some(sql.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn star(sql: &str) -> bool {
        selects_star(&tokens(sql))
    }

    fn filter(sql: &str) -> bool {
        has_filter(&tokens(sql))
    }

    #[test]
    fn star_is_refused_only_as_a_select_item() {
        for sql in [
            "select * from t where 1", "select  * from t", "SELECT\n*\nFROM t",
            "select/**/* from t", "select -- x\n * from t", "select a, * from t",
            "select t.* from t", "select t . * from t", "select \"t\".* from t",
            "select distinct * from t", "select all * from t", "select a from (select * from t)",
        ] {
            assert!(star(sql), "{sql}");
        }
        for sql in [
            "select count(*) from t where 1", "select a * 2 from t",
            "select a*b, (a)*2, 2*a, \"a\"*3 from t", "select 'select *' from t",
            "select a -- select *\n from t", "select \"select *\" from t",
        ] {
            assert!(!star(sql), "{sql}");
        }
    }

    #[test]
    fn terms_of_nested_selects_multiply() {
        let nested = tokens("select a, b from (select c, 'd' as e, f from t)");
        // The outer SELECT has 2 terms (a, b), the inner one 5 (c, 'd', e, f, t).
        assert_eq!(most_terms(&nested), 2 * 5);
    }

    #[test]
    fn filters_count_only_as_words_of_the_statement() {
        for sql in [
            "select a from t where a = 1",
            "select a from t union all select b from t",
            "select case when a then 1 end from t",
            "select a is null from t",
            "select a from t order by a is not null",
            "select a is null",
            "select sum(a) filter (x) from t",
            "select a from t group by a having a",
            "select a in(1) from t",
            "select a from t\twhere\na",
        ] {
            assert!(filter(sql), "{sql}");
        }
        for sql in [
            "select a from t",
            "select a from t -- where",
            "select a from t /* in */",
            "select 'log in' from t",
            "select \"all\" from t",
            "select [in] from t",
            "select `where` from t",
            "select where_x, a.inn from t",
            "select a from t group by a order by a limit 3",
            "",
        ] {
            assert!(!filter(sql), "{sql}");
        }
    }

    #[test]
    fn one_statement_may_end_with_a_semicolon_and_comments() {
        let one = |sql: &str| single_statement(sql, &tokens(sql));
        assert_eq!(one("select 1"), Some(8));
        assert_eq!(one("select 1; -- done\n /* x */ "), Some(8));
        assert_eq!(one("select ';' "), Some(11));
        assert_eq!(one("select 1; select 2"), None);
        assert_eq!(one("select 1;;"), None);
    }

    proptest! {
        /// A quoted text with any content is one opaque token.
        #[test]
        fn quoted_text_is_opaque(text in any::<String>(), quote in prop::sample::select(vec!['\'', '"', '`'])) {
            let doubled = text.replace(quote, &format!("{quote}{quote}"));
            let sql = format!("select {quote}{doubled}{quote}, a from t");
            let expected = [
                SqlToken::Word("select"), SqlToken::Opaque, SqlToken::Comma, SqlToken::Word("a"),
                SqlToken::Word("from"), SqlToken::Word("t"),
            ];
            prop_assert_eq!(tokens(&sql), expected);
        }

        #[test]
        fn comments_are_skipped(text in "[^*/\n]*") {
            let sql = format!("select a /*{text}*/ from t --{text}");
            prop_assert_eq!(tokens(&sql), tokens("select a from t"));
        }

        #[test]
        fn any_text_is_tokenised(text in any::<String>()) {
            let found = tokens(&text);
            prop_assert!(found.len() <= text.chars().count());
            let _ = (selects_star(&found), has_filter(&found), single_statement(&text, &found));
        }
    }
}
