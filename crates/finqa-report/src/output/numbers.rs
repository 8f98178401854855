//! Numbers for people, in the terminal and in reports.

/// A difference with its sign; one that rounds to 0 has none.
pub fn signed(x: f64, digits: usize) -> String {
    let text = format!("{x:+.digits$}");
    match text.contains(|c: char| ('1'..='9').contains(&c)) {
        true => text,
        false => format!("{:.digits$}", 0.0),
    }
}

/// McNemar's p.
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.001 {
        "< 0.001".to_owned()
    } else {
        format!("{p:.3}")
    }
}
