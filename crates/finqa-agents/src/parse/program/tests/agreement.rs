//! The readers of programs on the same text: the official one, the tree that is written
//! from it, and the lenient one for models.

use finqa_core::number::Value;
use finqa_core::program::{Expression, Op, Program};
use proptest::prelude::*;

use super::super::{Notes, program as read};

/// A program of the dataset's language, well spelled, without tables.
fn program() -> impl Strategy<Value = String> {
    let literal = prop_oneof![
        "-?(0|[1-9][0-9]{0,5})(\\.[0-9]{1,3})?",
        "[1-9][0-9]?(\\.[0-9]{1,2})?%",
        Just("const_m1".to_owned()),
        "const_[1-9]0{0,3}",
    ];
    let operation = prop_oneof![
        Just("add"),
        Just("subtract"),
        Just("multiply"),
        Just("divide"),
        Just("exp"),
        Just("greater"),
    ];
    let argument = (literal.clone(), any::<Option<prop::sample::Index>>());
    let step = (operation, argument.clone(), argument);
    let steps = prop::collection::vec(step, 1..6).prop_map(|steps| {
        let argument =
            |at: usize, (literal, index): (String, Option<prop::sample::Index>)| match index
                .filter(|_| at > 0)
            {
                Some(index) => format!("#{}", index.index(at)),
                None => literal,
            };
        let steps: Vec<String> = steps
            .into_iter()
            .enumerate()
            .map(|(at, (operation, a, b))| {
                format!("{operation}({}, {})", argument(at, a), argument(at, b))
            })
            .collect();
        steps.join(", ")
    });
    prop_oneof![1 => literal, 8 => steps]
}

fn bits(value: &Value) -> Result<u64, &str> {
    match value {
        Value::Number(x) => Ok(x.to_bits()),
        Value::Text(word) => Err(word),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_well_spelled_program_is_the_same_to_all_readers(text in program()) {
        let official = Program::parse(&text).unwrap();
        prop_assert_eq!(official.to_string(), text.as_str());
        let read = read(&text, &mut Notes::default());
        prop_assert_eq!(read.as_deref(), Some(text.as_str()));
        let written_out = Expression::<()>::parse(&text).unwrap();
        // The official code fails also for a step that nothing refers to.
        let official = Program::parse(&written_out.program()).unwrap();
        let last = official.last_step().map(|step| step.op);
        let compared = text.matches("greater").count() > usize::from(last == Some(Op::Greater));
        match (official.execute_unrounded(&[]), written_out.value()) {
            (Ok(executed), Some(value)) => prop_assert_eq!(bits(&executed), bits(&value)),
            (Err(_), None) => {}
            // Nothing is computed with yes or no, and an infinite step has no value.
            (Ok(_), None) => {
                let steps = official.execute_steps(&[]).unwrap();
                let infinite = steps
                    .iter()
                    .any(|step| step.number().is_some_and(|number| !number.is_finite()));
                prop_assert!(compared || infinite);
            }
            (Err(error), Some(value)) => prop_assert!(false, "{:?} is not {:?}", error, value),
        }
    }
}
