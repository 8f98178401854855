//! Reading any text as a number, as people and models write it, never panics.
#![no_main]

use finqa_core::number;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = number::literal(text);
    let _ = number::read(text);
    let _ = number::readings(text).count();
    let _ = (number::answer(text), number::whole(text), number::yes_or_no(text));
});
