//! `convfinqa ask` for several figures at once.

use crate::analyst_questions::{ask, opened};

/// One of the figures, or their sum, was the answer.
#[test]
fn one_figure_does_not_answer_for_two() {
    let place = opened();
    for question in [
        "What were net sales and cost of sales in 2031 and 2030?",
        "What were property and equipment and cash at the end of 2031?",
        "What were research and development and cash in 2031?",
        "What were assets and cash and cash equivalents at the end of 2031?",
        "What were total assets and total current liabilities at the end of 2031?",
        "What were both net sales and net income in 2031?",
    ] {
        let read = ask(&place, question);
        let sure = !read["answer"].is_null() && read["doubt"].is_null();
        assert!(!sure, "{question}: {read}");
    }
    for (question, answer) in [
        (
            "What were property and equipment at the end of 2031?",
            "450 million",
        ),
        ("What was research and development in 2031?", "90 million"),
        (
            "What were selling and administrative costs in 2031?",
            "110 million",
        ),
        (
            "What was the total of net sales and net income in 2031?",
            "1,144 million",
        ),
    ] {
        let read = ask(&place, question);
        assert_eq!(read["answer"], answer, "{question}: {read}");
        assert!(read["doubt"].is_null(), "{question}: {read}");
    }
}
