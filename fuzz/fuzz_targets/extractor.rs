//! Reading any text as a model's reply never panics, and an analysis that was read from it is read
//! back the same from its own JSON.
#![no_main]

use finqa_agents::parse;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = parse::verdict(text);
    if let Ok(parsed) = parse::analysis(text) {
        let json = serde_json::to_string(&parsed).expect("an analysis is JSON");
        let again = parse::analysis(&json).expect("our own JSON is read");
        assert_eq!(again, parsed);
    }
});
