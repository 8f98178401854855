//! Finds golds that are not read as a number, yes or no. For `data check`.

use crate::dataset::{Dataset, Gold, QuestionKey};
use finqa_core::number::Value;

use super::quantity::Quantity;

/// A gold that is not read as a number, yes or no.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadGold {
    pub key: QuestionKey,
    /// The gold's text.
    pub text: String,
}

/// The printed answers that are not read as a number, yes or no, in file order. Golds with a
/// program or a value are left out, because [`check_printed`](super::check_printed) compares these.
pub fn unread_answers(dataset: &Dataset) -> Vec<UnreadGold> {
    unread(dataset, |gold| {
        let alone = gold.program.is_none() && gold.exe_ans.is_none();
        let answer = gold.answer.as_deref().filter(|_| alone)?;
        matches!(Quantity::parse(answer), Quantity::Word(_)).then_some(answer)
    })
}

/// The values (`exe_ans`) that are texts other than yes and no, in file order. No answer can equal
/// such a value under the official rules.
pub fn unread_values(dataset: &Dataset) -> Vec<UnreadGold> {
    unread(dataset, |gold| match &gold.exe_ans {
        Some(value @ Value::Text(text)) if value.yes_no().is_none() => Some(text.as_str()),
        _ => None,
    })
}

/// The golds of which `text` returns a text.
fn unread(dataset: &Dataset, text: impl Fn(&Gold) -> Option<&str>) -> Vec<UnreadGold> {
    let cases = dataset.records.iter().flat_map(|record| record.cases());
    let golds = cases.filter_map(|case| {
        Some(UnreadGold {
            key: case.question.key.clone(),
            text: text(&case.gold)?.to_owned(),
        })
    });
    golds.collect()
}
