//! Splits program text at separating commas, but not at commas inside figures.

use super::super::lenient::separates_thousands;

/// Splits `text` at separators outside parentheses. A comma inside a figure (`206,588`) separates
/// only if `inside_figures` is set. `None` if the parentheses do not match.
pub(super) fn pieces<'a>(
    text: &'a str,
    separators: &[char],
    inside_figures: bool,
) -> Option<Vec<&'a str>> {
    let mut depth = 0_usize;
    let mut start = 0;
    let mut out = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            _ if depth == 0 && separators.contains(&c) => {
                if c == ',' && !inside_figures && separates_thousands(text, at) {
                    continue;
                }
                out.push(text.get(start..at)?);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    out.push(text.get(start..)?);
    (depth == 0).then_some(out)
}

/// Splits the arguments of a call. If there are more than two pieces, some commas may be part of
/// figures. The pieces are then joined to two arguments if there is exactly one way to do so, or
/// exactly one way with a space after the separating comma. If there is no way, each piece is an
/// argument. If there are several ways, the result is `None`.
pub(super) fn arguments(text: &str) -> Option<Vec<String>> {
    let pieces = pieces(text, &[','], true)?;
    let trimmed = || pieces.iter().map(|p| p.trim().to_string()).collect();
    if pieces.len() <= 2 {
        return Some(trimmed());
    }
    let ways: Vec<(String, String)> = (1..pieces.len())
        .filter_map(|cut| {
            let (left, right) = pieces.split_at(cut);
            (is_argument(left) && is_argument(right)).then(|| (left.join(","), right.join(",")))
        })
        .collect();
    // In `206,588, 181,001`, the space shows which comma separates the arguments.
    let spaced: Vec<_> = ways.iter().filter(|(_, r)| r.starts_with(' ')).collect();
    let (left, right) = match (ways.as_slice(), spaced.as_slice()) {
        ([], _) => return Some(trimmed()),
        ([one], _) => one,
        (_, [one]) => *one,
        _ => return None,
    };
    Some(vec![left.trim().to_string(), right.trim().to_string()])
}

/// True if the pieces form one argument. They are a single piece, or a figure whose commas separate
/// thousands.
fn is_argument(pieces: &[&str]) -> bool {
    if pieces.len() == 1 {
        return true;
    }
    let text = pieces.join(",");
    let text = text.trim();
    let figure = text
        .trim_start_matches(['-', '−', '$', ' '])
        .trim_end_matches('%');
    let whole = figure.split_once('.').map_or(figure, |(whole, decimals)| {
        if decimals.bytes().all(|b| b.is_ascii_digit()) {
            whole
        } else {
            ""
        }
    });
    let mut groups = whole.split(',');
    let digits = |group: &str| group.bytes().all(|b| b.is_ascii_digit());
    groups
        .next()
        .is_some_and(|first| (1..=3).contains(&first.len()) && digits(first))
        && groups.all(|group| group.len() == 3 && digits(group))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_of_figures_and_of_lists() {
        let args = |text| arguments(text);
        assert_eq!(args("206,588, 181,001").unwrap(), ["206,588", "181,001"]);
        assert_eq!(args("1,234,5,678").unwrap(), ["1,234", "5,678"]);
        assert_eq!(args("1,234").unwrap(), ["1", "234"]);
        assert_eq!(args("100, 200, 300").unwrap(), ["100", "200", "300"]);
        assert_eq!(args("100,200,300"), None);
        assert_eq!(args("206,588,181,001"), None);
        assert_eq!(args("1,234.5, #0").unwrap(), ["1,234.5", "#0"]);
        assert_eq!(args("f(a, b), 1,000").unwrap(), ["f(a, b)", "1,000"]);
    }
}
