//! Formats numbers for people, for the terminal and for reports.

/// A difference with its sign. A difference that rounds to 0 has no sign.
pub fn signed(x: f64, digits: usize) -> String {
    let text = format!("{x:+.digits$}");
    if text.contains(|c: char| ('1'..='9').contains(&c)) {
        text
    } else {
        format!("{:.digits$}", 0.0)
    }
}

/// A p-value with three decimals, or `< 0.001`.
pub fn p_value(p: f64) -> String {
    if p < 0.001 {
        "< 0.001".to_owned()
    } else {
        format!("{p:.3}")
    }
}
