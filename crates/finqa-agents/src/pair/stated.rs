//! Reads the value that an answer states in words or digits.
//!
//! A value is read only if it is certain which number is meant. Nothing is guessed from a sentence
//! with several numbers, or from one that explains why there is no answer.

use finqa_core::number::{self, Value};

/// The value of a stated answer, and the words that state it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StatedValue {
    /// The value: a percentage as its fraction, a yes or no as the word, a number without its scale
    /// word.
    pub(super) value: Value,
    /// The part of the text that is the value, without emphasis: `14.1%` for `about **14.1%**`. A
    /// sign that is written as a word becomes a minus: `-12.5%` for `a loss of 12.5%`.
    pub(super) text: String,
}

/// The value that an answer to `question` states. `None` if it states no value, or if it is not
/// clear which of its numbers is meant.
pub(super) fn find_value(text: &str, question: &str) -> Option<StatedValue> {
    if let Some(yes) = number::yes_or_no(text) {
        let word = if yes { "yes" } else { "no" };
        return Some(StatedValue {
            value: Value::Text(word.to_owned()),
            text: word.to_owned(),
        });
    }
    let reading = number::answer(text).ok()?;
    let value = reading.value_for(question);
    let mut words = number::plain(text.get(reading.span)?);
    if value < 0.0 && number::read(&words).is_some_and(|read| read.value > 0.0) {
        words.insert(0, '-');
    }
    Some(StatedValue {
        value: Value::Number(value),
        text: words,
    })
}

/// The value that a printed answer states: a percentage as its fraction, a yes or no as the word, a
/// number without its scale word. `None` if the text states no value, or if it is not clear which
/// of its numbers is meant.
pub fn printed_value(text: &str) -> Option<Value> {
    find_value(text, "").map(|stated| stated.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_where_it_is_certain_which_number_is_meant() {
        for (text, value, words) in [
            ("14.1%", 0.141, "14.1%"),
            ("approximately 14.1%", 0.141, "14.1%"),
            ("$1.2 billion", 1.2, "$1.2 billion"),
            ("$25,587 (14.1%)", 25587.0, "$25,587"),
            ("206,588 - 181,001 = 25,587", 25587.0, "25,587"),
            ("In 2009, revenue was $5 million.", 5.0, "$5 million"),
            ("2009 revenue was 5.5", 5.5, "5.5"),
            ("from step 2: 5.5", 5.5, "5.5"),
            ("2013", 2013.0, "2013"),
            ("in 2013", 2013.0, "2013"),
            ("(12.5)", -12.5, "(12.5)"),
            ("about **14.1\\%**", 0.141, "14.1%"),
            ("\\boxed{-5.2}", -5.2, "-5.2"),
            ("25 bps", 0.0025, "25 bps"),
            ("a loss of $45.2 million", -45.2, "-$45.2 million"),
            ("minus 12.5%", -0.125, "-12.5%"),
            ("negative 12.5%", -0.125, "-12.5%"),
            ("a loss of about **12.5%**", -0.125, "-12.5%"),
            ("$45.2 million loss", -45.2, "-$45.2 million"),
            ("minus -12.5%", -0.125, "-12.5%"),
            ("\u{25b3}12.5%", -0.125, "\u{25b3}12.5%"),
            ("12.5%-", -0.125, "12.5%-"),
        ] {
            let read = find_value(text, "").unwrap();
            assert_eq!(
                (read.value, read.text.as_str()),
                (Value::Number(value), words),
                "{text}"
            );
        }
    }

    #[test]
    fn the_size_of_a_loss_that_is_asked_for_has_no_sign() {
        let read = find_value("a loss of $45.2 million", "what was the net loss?").unwrap();
        let expected = (Value::Number(45.2), "$45.2 million".to_owned());
        assert_eq!((read.value, read.text), expected);
    }

    #[test]
    fn a_text_without_a_value_states_none() {
        for text in [
            "",
            "n/a",
            "it cannot be executed: step 0 divides by zero.",
            "it cannot be executed: 100 is no row",
            "The revenue of 2009 is not given; 2008 had 5.",
            "In 2009 the company grew.",
            "revenue rose from 100 to 114",
            "no change",
        ] {
            assert_eq!(find_value(text, ""), None, "{text}");
        }
    }

    #[test]
    fn a_word_is_yes_or_no_before_a_mark_too() {
        for (text, word) in [
            ("yes", "yes"),
            ("No.", "no"),
            ("Yes, it rose by 5.", "yes"),
            ("**True**", "yes"),
        ] {
            assert_eq!(
                printed_value(text),
                Some(Value::Text(word.to_owned())),
                "{text}"
            );
        }
    }
}
