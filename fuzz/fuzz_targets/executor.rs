//! Parsing, comparing and executing any text as a program over a table never panics.
#![no_main]

use finqa_core::program::official::{Evaluator, evaluate};
use finqa_core::program::{Program, equal};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let table: Vec<Vec<String>> = [
        ["", "2031", "2030"],
        ["fees", "$ 48300", "-40250 ( 40250 )"],
    ]
    .map(|row| row.map(str::to_string).to_vec())
    .to_vec();
    let _ = evaluate(text, &table, Evaluator::ConvFinQa);
    let _ = equal(text, text);
    if let Ok(program) = Program::parse(text) {
        let _ = program.execute(&table);
        let _ = program.execute_unrounded(&table);
    }
});
