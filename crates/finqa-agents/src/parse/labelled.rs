//! Reads lines such as `Answer: 14.1%` from replies that contain no JSON.

use finqa_core::number::plain;

use super::program::program;
use super::types::Analysis;
use super::unit::unit;

/// Reads labelled lines; all other lines become steps. If there are several answers, the last one
/// counts. `None` if there is neither an answer line nor a `\boxed{…}`.
pub(super) fn analysis(text: &str) -> Option<Analysis> {
    let mut found = Analysis::default();
    let mut program_text = None;
    for line in text.lines().map(str::trim) {
        match split(line) {
            Some(("answer" | "final answer", rest)) => found.answer = rest,
            Some(("program", rest)) => program_text = Some(rest),
            Some(("unit", rest)) => found.unit = unit(&rest),
            _ if line.is_empty() || line.starts_with("```") => {}
            _ => found.steps.push(line.to_string()),
        }
    }
    if found.answer.is_empty() {
        found.answer = boxed(text)?;
    }
    found.program = program_text.and_then(|text| program(&text));
    Some(found)
}

/// Splits `**Final Answer:** 14.1%` into `final answer` and `14.1%`. `None` if the label is unknown
/// or nothing follows it.
fn split(line: &str) -> Option<(&'static str, String)> {
    const LABELS: [&str; 4] = ["answer", "final answer", "program", "unit"];
    let (label, rest) = line.split_once([':', '：'])?;
    let label = label.trim_matches(|c: char| !c.is_alphabetic());
    let known = LABELS
        .into_iter()
        .find(|known| label.eq_ignore_ascii_case(known))?;
    let rest = rest.trim_matches(|c: char| "*`\"_,".contains(c) || c.is_whitespace());
    let rest = boxed(rest).unwrap_or_else(|| rest.to_string());
    (!rest.is_empty()).then_some((known, rest))
}

/// The content of the last `\boxed{…}`, without the LaTeX around its words and figures. `None`
/// without a box, or if its content is empty or longer than 200 characters. The limit is set by
/// hand.
fn boxed(text: &str) -> Option<String> {
    let (_, inside) = text.rsplit_once("\\boxed{")?;
    let mut depth = 1;
    let end = inside.char_indices().take(200).find(|(_, c)| {
        depth += i32::from(*c == '{') - i32::from(*c == '}');
        depth == 0
    });
    let inside = plain(inside.get(..end?.0)?);
    (!inside.is_empty()).then_some(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_in_a_box_are_without_latex() {
        for (text, answer) in [
            ("so \\boxed{\\text{yes}}.", "yes"),
            ("\\boxed{25{,}587}", "25,587"),
            ("Final answer: \\boxed{\\textbf{14.1\\%}}", "14.1%"),
            ("**Answer：** \u{2011}5.2％", "\u{2011}5.2％"),
        ] {
            let read = analysis(text).unwrap();
            assert_eq!(read.answer, answer, "{text}");
        }
    }
}
