//! Tests of `dataset`.

use finqa_score::dataset::{Dataset, DatasetError, from_str};
use serde_json::{Value as Json, json};

mod cleaned;
mod download;
mod gold;
mod inspect;
mod load;
mod published;
mod select;

/// A record of an invented company with a stand-alone question and two turns.
fn record(id: &str) -> Json {
    json!({
        "id": id,
        "filename": "ZED/2001/page_1.pdf",
        "pre_text": ["zed is an invented company ."],
        "post_text": [],
        "table": [["", "2001"], ["sales", "10"]],
        "qa": {"question": "what were sales? \\n", "answer": "10", "program": "add(10, 0)", "exe_ans": 10},
        "annotation": {
            "dialogue_break": ["what were sales?", "and twice that?"],
            "turn_program": ["10", "multiply(10, const_2)"],
            "exe_ans_list": [10.0, "20"],
            "qa_split": [0, 0]
        }
    })
}

fn parse(json: &Json) -> Result<Dataset, DatasetError> {
    from_str("test.json", &json.to_string())
}

/// The error's whole chain in one line, which is what a person gets to see.
fn complaint<T>(result: Result<T, DatasetError>) -> String {
    let Err(error) = result else {
        panic!("bad input was accepted");
    };
    let mut line = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        line = format!("{line}: {cause}");
        source = cause.source();
    }
    assert!(!line.contains('\n'), "one line only: {line}");
    line
}
