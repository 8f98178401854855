//! Formats numbers for people, in the terminal and in reports.

/// A difference with its sign, but without one if it rounds to 0.
pub fn signed(x: f64, digits: usize) -> String {
    let text = format!("{x:+.digits$}");
    match text.contains(|c: char| ('1'..='9').contains(&c)) {
        true => text,
        false => format!("{:.digits$}", 0.0),
    }
}

/// A p-value with three decimals; below 0.001 only that bound.
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.001 {
        "< 0.001".to_owned()
    } else {
        format!("{p:.3}")
    }
}
